package daemon

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentmaild/agentmaild/config"
	"github.com/agentmaild/agentmaild/party"
	systemd "github.com/coreos/go-systemd/v22/daemon"
)

const metricsTable = "[metrics]\nlisten = \"127.0.0.1:0\"\n"

// metricsAt waits until metrics are shown, and returns where.
func (r *rig) metricsAt() string {
	r.t.Helper()
	r.logged(`msg="metrics are shown"`)
	r.mu.Lock()
	defer r.mu.Unlock()
	return regexp.MustCompile(`msg="metrics are shown" address=(\S+)`).FindStringSubmatch(strings.Join(r.lines, ""))[1]
}

// get asks the metrics listener.
func (r *rig) get(address, path string) (int, string) {
	r.t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + address + path)
	check(r.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(r.t, err)
	return response.StatusCode, string(text)
}

// TestMetrics counts what a running daemon does, over a reload of the inbox.
func TestMetrics(t *testing.T) {
	r := newRig(t)
	signal, _, stop := r.reloadable(r.config(metricsTable, r.box("good", r.server.IMAP().Port, ""), r.box("dead", 1, "")))
	r.logged("not being watched", "inbox=dead")
	address := r.metricsAt()
	receive := func(subject string) {
		t.Helper()
		r.forget()
		check(t, r.server.Append("good@seller.test", []byte("From: a@b.test\r\nSubject: "+subject+"\r\n\r\nHello.\r\n"), time.Time{}))
		r.logged("msg=received", "inbox=good")
	}
	receive("one")
	if status, body := r.get(address, "/healthz"); status != http.StatusOK {
		t.Errorf("healthz: %d %s", status, body)
	}
	if status, body := r.get(address, "/readyz"); status != http.StatusServiceUnavailable || body != "inbox dead: the mailbox is not connected\n" {
		t.Errorf("readyz: %d %q", status, body)
	}
	signal(stateDir + "[metrics]\nlisten = \"127.0.0.1:1\"\n" + strings.ReplaceAll(r.box("good", r.server.IMAP().Port, ""), "Seller Ltd", "Other Ltd"))
	r.logged("level=WARN", "in force after a restart only", "keys=metrics")
	r.logged(`msg="configuration reloaded"`, `stopped="good, dead"`, "started=good")
	receive("two")
	want := `agentmaild_mails_total{inbox="good",verdict="plain",code="none"} 2`
	for { // the count follows the log
		status, body := r.get(address, "/metrics")
		if status != http.StatusOK || strings.Contains(body, "dead") {
			t.Fatalf("%d %s", status, body)
		}
		if strings.Contains(body, want+"\n") {
			break
		}
	}
	if _, body := r.get(address, "/readyz"); body != "ok\n" {
		t.Errorf("readyz: %q", body)
	}
	check(t, stop())
}

// TestMetricsTaken ends the daemon where the address is not to be had, and
// gives the listeners back that were open.
func TestMetricsTaken(t *testing.T) {
	r := newRig(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	defer taken.Close()
	cfg := r.config(strings.Replace(metricsTable, "127.0.0.1:0", taken.Addr().String(), 1), r.box("good", 1, ""))
	d, err := New(cfg, r.world())
	check(t, err)
	if err := d.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "opening metrics.listen: ") {
		t.Errorf("Run returned %v", err)
	}
	if _, err := net.Dial("unix", cfg.SocketPath()); err == nil {
		t.Error("the control socket is open")
	}
}

// TestSupervisor tells systemd's socket of ready, alive, reloading and
// stopping, in this order.
func TestSupervisor(t *testing.T) {
	r := newRig(t)
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	check(t, err)
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	next := func() string {
		t.Helper()
		buffer := make([]byte, 1000)
		n, err := socket.Read(buffer)
		check(t, err)
		return string(buffer[:n])
	}
	after := func(known string) string { // what comes after signs of life
		t.Helper()
		for {
			if state := next(); state != known {
				return state
			}
		}
	}
	w := r.world()
	w.Notify, w.Watchdog = toSystemd(w.Log), 10*time.Millisecond
	cfg := r.config(r.box("good", 1, ""))
	d, err := New(cfg, w)
	check(t, err)
	signals := make(chan os.Signal)
	d.ReloadOn(signals, func() (*config.Config, error) { return cfg, nil })
	stop := r.run(d)
	if state := next(); state != systemd.SdNotifyReady {
		t.Errorf("at first: %q", state)
	}
	if state := next(); state != systemd.SdNotifyWatchdog {
		t.Errorf("then: %q", state)
	}
	go func() { signals <- syscall.SIGHUP }()
	if state := after(systemd.SdNotifyWatchdog); !regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=[0-9]+\n$`).MatchString(state) {
		t.Errorf("at the reload: %q", state)
	}
	if state := after(systemd.SdNotifyWatchdog); state != systemd.SdNotifyReady {
		t.Errorf("after the reload: %q", state)
	}
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	if state := after(systemd.SdNotifyWatchdog); state != systemd.SdNotifyStopping {
		t.Errorf("at the end: %q", state)
	}
	check(t, <-ended)

	check(t, socket.Close())
	toSystemd(w.Log)(systemd.SdNotifyReady)
	r.logged("level=WARN", "the supervisor cannot be told")
}

// TestNewWorldIsSupervised reads what systemd wants, and counts fetches.
func TestNewWorldIsSupervised(t *testing.T) {
	r := newRig(t)
	cfg := r.config(r.box("good", 1, ""))
	t.Setenv("WATCHDOG_PID", "")
	for _, c := range []struct {
		usec string
		want time.Duration
		ok   bool
	}{{"", 0, true}, {"60000000", time.Minute, true}, {"soon", 0, false}} {
		t.Setenv("WATCHDOG_USEC", c.usec)
		w, err := NewWorld(cfg, r)
		if (err == nil) != c.ok || w.Watchdog != c.want {
			t.Errorf("%q: %s, %v", c.usec, w.Watchdog, err)
		}
		if c.ok && (w.Notify == nil || w.Fetches() != party.Fetches{}) {
			t.Errorf("%q: %+v", c.usec, w)
		}
	}
}
