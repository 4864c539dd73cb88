//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgents has a stranger admitted and a task done over Postfix and Dovecot.
func TestAgents(t *testing.T) {
	s := startStack(t)
	s.agents()
}

// TestAgentsCyrus does so with the buyer's mail on Cyrus.
func TestAgentsCyrus(t *testing.T) {
	s := startStack(t, "CYRUS=1")
	s.agents()
}

// agents plays a knock and a task between two daemons, each of which is killed
// again and again.
func (s *stack) agents() {
	s.t.Helper()
	buyer, seller := s.side("buyer"), s.side("seller")
	buyerID, sellerID := buyer.newAgent(), seller.newAgent(`offerings = ["translate"]`)
	sides := []*side{buyer, seller}
	for _, d := range sides {
		d.start()
	}
	buyer.knocks(seller, buyerID, sellerID)

	buyer.run("contacts", "put", sellerID, "--address", sellerAddress)
	agenda := buyer.file("agenda.txt", "09:00 Welcome\r\nFrom here on\n.\n")
	request := buyer.acts("request", "--to", sellerAddress, "translate", "--text", "Please translate.\n.\nFrom here on --boundary", "--file", agenda).ID
	seller.kill()
	seller.launch()
	seller.until("the request", func() bool { return seller.request(request) != nil })
	seller.spooled("agenda.txt", "09:00 Welcome\r\nFrom here on\n.\n")

	task := seller.acts("respond", request, "--status", "working").Task
	buyer.until("working", func() bool { return buyer.task(task).State == "working" })
	buyer.kill()
	buyer.launch()
	seller.answering("respond", request, "--status", "input_required", "--text", "Into which language?")
	buyer.until("the question", func() bool { return buyer.task(task).State == "input_required" })
	seller.kill()
	more := buyer.acts("request", "--to", sellerAddress, "translate", "--task", task, "--text", "French.").ID
	seller.launch()
	seller.until("the language", func() bool { return seller.request(more) != nil })
	seller.answering("respond", request, "--status", "working")
	seller.answering("respond", request, "--text", "Voilà.", "--file", seller.file("ordre.txt", "09:00 Bienvenue\n"))
	buyer.kill()
	buyer.launch()
	for _, d := range sides {
		d.until("the end of the task", func() bool { return d.task(task).State == "completed" })
		if got := d.task(task); len(got.Updates) != 4 || got.Asker != buyerID || got.Asked != sellerID {
			s.t.Errorf("the %s: the task is %+v", d.name, got)
		}
		if list := d.waiting(); len(list) > 0 {
			s.t.Errorf("the %s: waiting: %+v", d.name, list)
		}
	}
	buyer.spooled("ordre.txt", "09:00 Bienvenue\n")
	cancelled := buyer.acts("request", "--to", sellerAddress, "translate", "--text", "Another.").ID
	seller.until("another request", func() bool { return seller.request(cancelled) != nil })
	second := seller.acts("respond", cancelled, "--status", "working").Task
	buyer.until("its task", func() bool { return buyer.task(second).State == "working" })
	buyer.acts("task", "cancel", second, "--reason", "superseded")
	for _, d := range sides {
		d.until("the cancel", func() bool { return d.task(second).State == "canceled" })
		d.letters()
	}
}

// knocks has the buyer, whom nobody knows, ask for something in vain, knock,
// and be admitted: then what it asked for comes through.
func (d *side) knocks(seller *side, own, sellerID string) {
	d.t.Helper()
	early := d.acts("request", "--to", sellerID, "--address", sellerAddress, "chat", "--text", "Hello?").ID
	d.acts("request", "--to", sellerID, "--address", sellerAddress, "knock", "--text", "May I come in?")
	seller.until("the message and the knock", func() bool { return len(seller.waiting()) == 2 })
	seller.kill()
	seller.launch()
	seller.until("the daemon", func() bool { _, err := seller.try("waiting", "list"); return err == nil })
	seller.run("waiting", "approve", "knock-"+own)
	seller.until("what waited", func() bool { return seller.request(early) != nil })
	seller.answering("respond", early, "--text", "Welcome.")
	d.until("the answers", func() bool {
		list := d.requests()
		return len(list) == 2 && list[0].Answer == "completed" && list[1].Answer == "completed"
	})
}

// acted is what an action of Agent Emailing came to.
type acted struct{ ID, Task string }

func (d *side) acts(args ...string) (a acted) {
	d.t.Helper()
	d.decode(d.run(append(args, "--json")...), &a)
	return a
}

// answering is acts by a daemon that may just be starting.
func (d *side) answering(args ...string) {
	d.t.Helper()
	d.until("the daemon", func() bool { _, err := d.try("waiting", "list"); return err == nil })
	d.acts(args...)
}

// request is one of the other side's, nil while it has not come.
func (d *side) request(id string) *sentRequest {
	for _, r := range d.requests() {
		if r.ID == id {
			return &r
		}
	}
	return nil
}

type sentRequest struct {
	ID, Answer, Task string
	Delivery         *struct{ State string }
}

// requests are those that came and went; none while the daemon is starting.
func (d *side) requests() (list []sentRequest) {
	d.t.Helper()
	if out, err := d.try("request", "list", "--json"); err == nil {
		d.decode(out, &list)
	}
	return list
}

// taskShown is what the tests look at.
type taskShown struct {
	State, Asker, Asked string
	Updates             []struct{ State string }
	Messages            []sentRequest
}

func (d *side) task(id string) (t taskShown) {
	d.t.Helper()
	if out, err := d.try("task", "show", id, "--json"); err == nil {
		d.decode(out, &t)
	}
	return t
}

// letters sees that all mail of the inbox went out.
func (d *side) letters() {
	d.t.Helper()
	for _, r := range d.requests() {
		if r.Delivery != nil {
			d.until("its mail", func() bool { return d.request(r.ID).Delivery.State == "sent" })
		}
	}
}

// file writes a file to be sent.
func (d *side) file(name, text string) string {
	d.t.Helper()
	d.write(name, text)
	return filepath.Join(filepath.Dir(d.config), name)
}

// spooled looks for the one file of a name in the spool.
func (d *side) spooled(name, text string) {
	d.t.Helper()
	files, err := filepath.Glob(filepath.Join(d.state(), "spool", "*", "*", name))
	if err != nil || len(files) != 1 {
		d.t.Fatalf("the %s: the spool has %v, %v", d.name, files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil || string(data) != text {
		d.t.Errorf("the %s: %s is %q, %v", d.name, name, data, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 || !strings.HasSuffix(files[0], name) {
		d.t.Errorf("the %s: %s has mode %v, %v", d.name, name, info.Mode(), err)
	}
}
