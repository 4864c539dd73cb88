package daemon

import (
	"log/slog"
	"time"

	systemd "github.com/coreos/go-systemd/v22/daemon"
)

// toSystemd tells the supervisor that NOTIFY_SOCKET names, if there is one,
// what becomes of the daemon (sd_notify(3)).
func toSystemd(log *slog.Logger) func(string) {
	return func(state string) {
		if _, err := systemd.SdNotify(false, state); err != nil {
			log.Warn("the supervisor cannot be told", "error", err)
		}
	}
}

// tell tells the supervisor a state.
func (d *Daemon) tell(state string) {
	if d.world.Notify != nil {
		d.world.Notify(state)
	}
}

// watchdog gives a tick whenever the supervisor is to hear that the daemon is
// alive, twice in the time that it waits. It is told by the loop of Run, so
// that one which hangs is not alive.
func (d *Daemon) watchdog() (ticks <-chan time.Time, stop func()) {
	if d.world.Watchdog == 0 {
		return nil, func() {}
	}
	ticker := time.NewTicker(d.world.Watchdog / 2)
	return ticker.C, ticker.Stop
}
