package handler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// openWait is how long the program's output may stay open after its end.
const openWait = time.Second

// run runs the program in a process group of its own, which is killed whole
// at the time limit and at the program's end: what it starts does not outlive
// it, unless it leaves the group (setsid), which the service manager sees to.
func (h *Handler) run(ctx context.Context, input []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, h.Timeout)
	defer cancel()
	cmd := exec.Command(h.Command[0], h.Command[1:]...)
	stdout, stderr := limited{limit: maxOutput}, limited{limit: maxStderr}
	cmd.Stdin, cmd.Env, cmd.WaitDelay = bytes.NewReader(input), environment(), openWait
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	left, err := runGroup(ctx, cmd, &stdout, &stderr)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Errorf("it ran longer than %s and was killed%s", h.Timeout, stderr.words())
	case left:
		return nil, errors.New("it ended and left a process behind that held its output open")
	case err != nil:
		return nil, fmt.Errorf("running %s: %w%s", h.Command[0], err, stderr.words())
	case stdout.over:
		return nil, fmt.Errorf("its output is larger than %d bytes", maxOutput)
	}
	return stdout.kept.Bytes(), nil
}

// runGroup runs a program that leads a process group, and tells whether it
// left its output open. The group is killed before its leader is reaped: from
// then on the number could be that of somebody else's.
func runGroup(ctx context.Context, cmd *exec.Cmd, stdout, stderr io.Writer) (left bool, err error) {
	out, err := newOutput(stdout, stderr)
	if err != nil {
		return false, err
	}
	defer out.end()
	cmd.Stdout, cmd.Stderr = out.write[0], out.write[1]
	err = cmd.Start()
	out.begin()
	if err != nil {
		return false, err
	}
	ended := make(chan struct{})
	go func() { awaitEnd(cmd.Process.Pid); close(ended) }()
	select {
	case <-ended:
		left = out.stays()
	case <-ctx.Done():
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly there is nobody left
	<-ended
	return left, cmd.Wait()
}

// awaitEnd waits until a child has ended, and leaves it to be reaped.
func awaitEnd(pid int) {
	const byPID = 1    // P_PID
	var info [128]byte // siginfo_t
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// output is the two pipes that a program writes to.
type output struct {
	read, write [2]*os.File
	to          [2]io.Writer
	copied      chan struct{} // closed when both were read to their end
}

func newOutput(stdout, stderr io.Writer) (*output, error) {
	o := &output{to: [2]io.Writer{stdout, stderr}, copied: make(chan struct{})}
	for i := range o.read {
		var err error
		if o.read[i], o.write[i], err = os.Pipe(); err != nil {
			closeAll(append(o.read[:i], o.write[:i]...))
			return nil, fmt.Errorf("opening a pipe: %w", err)
		}
	}
	return o, nil
}

// begin copies what comes; the ends that are written to are the program's
// alone now.
func (o *output) begin() {
	closeAll(o.write[:])
	var both sync.WaitGroup
	for i, r := range o.read {
		both.Go(func() { _, _ = io.Copy(o.to[i], r) })
	}
	go func() { both.Wait(); close(o.copied) }()
}

// stays tells whether somebody holds a pipe open for a while yet.
func (o *output) stays() bool {
	select {
	case <-o.copied:
		return false
	case <-time.After(openWait):
		return true
	}
}

// end reads what is left. A process that left the group may hold a pipe open
// for ever, and is not waited for.
func (o *output) end() {
	o.stays()
	closeAll(o.read[:])
	<-o.copied
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}
