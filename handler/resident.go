package handler

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	endWait     = 2 * time.Second // that a resident program has to end once its input is closed
	firstRest   = time.Second     // before a program that failed is started anew; it doubles with each time
	longestRest = time.Minute
)

// resident is a program that stays and answers one event after the other.
type resident struct {
	cmd    *exec.Cmd
	input  *os.File
	lines  *bufio.Reader
	output *os.File
	errors *os.File
	says   *complaints
	ended  chan struct{} // closed when the program has ended and is reaped

	mu   sync.Mutex // guards gone: from then on the number of the group could be that of somebody else's
	gone bool
	end  error // of the program; to be read when it has ended
}

// reply is the line that answers an event.
type reply struct {
	Event  string         `json:"event"` // its number
	Action jsontext.Value `json:"action"`
}

// converse gives a resident program an event and reads its answer: an action,
// or nil. A program that does not answer in time, or with anything but one line
// about this event, is killed, and started anew with the next one.
func (h *Handler) converse(ctx context.Context, event string, input []byte) ([]byte, error) {
	if err := h.rest(ctx); err != nil {
		return nil, err
	}
	answer, err := h.exchangeLines(ctx, event, input)
	if err != nil {
		h.dismiss(0)
		h.failures++
		h.notBefore = h.Now().Add(min(firstRest<<min(h.failures-1, 10), longestRest))
		return nil, err
	}
	h.failures = 0
	return answer, nil
}

// rest waits until a program that failed may be started again.
func (h *Handler) rest(ctx context.Context) error {
	if h.failures == 0 {
		return nil
	}
	timer := time.NewTimer(h.notBefore.Sub(h.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (h *Handler) exchangeLines(ctx context.Context, event string, input []byte) ([]byte, error) {
	r, err := h.present()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", h.Command[0], err)
	}
	r.says.begin()
	r.until(time.Now().Add(h.Timeout))
	stop := context.AfterFunc(ctx, func() { r.until(time.Now()) })
	defer stop()
	_, written := r.input.Write(input)
	line, err := r.lines.ReadSlice('\n') // one that answered and ended had no need to read all
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && !r.over():
		return nil, fmt.Errorf("it gave no answer within %s and was killed%s", h.Timeout, r.says.words())
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("its answer is longer than %d bytes%s", maxOutput, r.says.words())
	case err != nil:
		return nil, r.silent(errors.Join(err, written))
	}
	var answer reply
	if err := json.Unmarshal(line, &answer, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("its line is no answer: %w", err)
	}
	if answer.Event != event {
		return nil, fmt.Errorf("it answered event %.20q and was asked about %s", answer.Event, event)
	}
	if answer.Action.Kind() == jsontext.KindNull {
		return nil, nil
	}
	return bytes.Clone(answer.Action), nil
}

// over tells whether the program has ended. Its output may be open still.
func (r *resident) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// silent is why a program gave no answer that has ended, or has closed its
// output.
func (r *resident) silent(cause error) error {
	select {
	case <-r.ended:
		if r.end != nil {
			cause = r.end
		} else {
			cause = errors.New("exit status 0")
		}
	case <-time.After(openWait):
	}
	select {
	case <-r.says.over: // or its last words might be missing
	case <-time.After(openWait):
	}
	return fmt.Errorf("it ended without an answer: %w%s", cause, r.says.words())
}

// until bounds how long the pipes are waited for.
func (r *resident) until(t time.Time) {
	_ = r.input.SetWriteDeadline(t)
	_ = r.output.SetReadDeadline(t)
}

// present is the program, started where it is not there.
func (h *Handler) present() (*resident, error) {
	if r := h.resident; r != nil && !r.over() {
		return r, nil
	} else if r != nil { // between two events
		h.Log.Warn("the handler ended and is started again", "inbox", h.Inbox.Name(), "error", r.end)
		h.dismiss(0)
	}
	r, err := h.start()
	if err == nil {
		h.resident = r
	}
	return r, err
}

// start runs the program in a process group of its own.
func (h *Handler) start() (*resident, error) {
	var read, write [3]*os.File // input, output, errors
	for i := range read {
		var err error
		if read[i], write[i], err = os.Pipe(); err != nil {
			closeAll(append(read[:i:i], write[:i]...))
			return nil, fmt.Errorf("opening a pipe: %w", err)
		}
	}
	cmd := exec.Command(h.Command[0], h.Command[1:]...)
	cmd.Env, cmd.SysProcAttr = environment(), &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = read[0], write[1], write[2]
	err := cmd.Start()
	closeAll([]*os.File{read[0], write[1], write[2]})
	if err != nil {
		closeAll([]*os.File{write[0], read[1], read[2]})
		return nil, err
	}
	says := &complaints{over: make(chan struct{}), log: func(line string) { h.Log.Warn("the handler says", "inbox", h.Inbox.Name(), "text", line) }}
	r := &resident{
		cmd: cmd, input: write[0], output: read[1], errors: read[2], says: says, ended: make(chan struct{}),
		lines: bufio.NewReaderSize(read[1], maxOutput+len("\n")),
	}
	go says.read(r.errors)
	go r.watch()
	return r, nil
}

// watch reaps the program when it ends, and ends what it left behind. Its
// output is read no longer than a while from then on: a process that left the
// group may hold it open.
func (r *resident) watch() {
	awaitEnd(r.cmd.Process.Pid)
	r.mu.Lock()
	_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) // mostly there is nobody left
	r.end, r.gone = r.cmd.Wait(), true
	r.mu.Unlock()
	close(r.ended)
	time.AfterFunc(openWait, func() { r.until(time.Now()) })
}

// dismiss ends the program: its input is closed, and after a while it is killed
// with its process group.
func (h *Handler) dismiss(wait time.Duration) {
	r := h.resident
	if r == nil {
		return
	}
	h.resident = nil
	_ = r.input.Close()
	select {
	case <-r.ended:
	case <-time.After(wait):
		r.mu.Lock()
		if !r.gone {
			_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		}
		r.mu.Unlock()
		<-r.ended
	}
	closeAll([]*os.File{r.output, r.errors})
	<-r.says.over
}
