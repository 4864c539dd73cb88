package demo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/agentmaild/agentmaild/envelope/agentmsg"
	"github.com/agentmaild/agentmaild/inbox"
)

// The texts that are translated.
const (
	letter     = "Good morning. We take the mugs.\n"
	translated = "Guten Morgen. Wir nehmen die Becher.\n"
)

// translate is the second act: a request with a file, which is worked on, needs
// an answer, and is done with another file.
func (p *play) translate() error {
	p.say("\n══ A task ══\n\nThe two have each other's name card now. The buyer's agent has a letter translated by the seller's.")
	source, errSource := p.file("letter.txt", letter)
	result, errResult := p.file("letter-de.txt", translated)
	if err := errors.Join(errSource, errResult, p.know(p.buyer, p.seller), p.know(p.seller, p.buyer)); err != nil {
		return err
	}
	asked, err := p.act(p.buyer, p.seller, inbox.Action{
		Type: inbox.ActRequest, To: sellerAddress, Offering: "translate", Text: "Please translate the letter.", Files: []string{source},
	})
	if err != nil {
		return err
	}
	begun, err := p.act(p.seller, p.buyer, inbox.Action{Type: inbox.ActRespond, Request: asked.ID, Status: agentmsg.StatusWorking, Text: "We have begun."})
	if err != nil {
		return err
	}
	_, err = p.act(p.seller, p.buyer, inbox.Action{Type: inbox.ActRespond, Request: asked.ID, Status: agentmsg.StatusInputRequired, Text: "Into which language?"})
	if err != nil {
		return err
	}
	told, err := p.act(p.buyer, p.seller, inbox.Action{
		Type: inbox.ActRequest, To: sellerAddress, Offering: "translate", Task: begun.Task, Text: "Into German, please.",
	})
	if err != nil {
		return err
	}
	_, err = p.act(p.seller, p.buyer, inbox.Action{Type: inbox.ActRespond, Request: told.ID, Text: "Here it is.", Files: []string{result}})
	if err != nil {
		return err
	}
	return p.finished(begun.Task)
}

// know puts the name card of one side into the contact book of another.
func (p *play) know(s, other *side) error {
	return s.inbox().PutContact(inbox.Contact{Agent: other.inbox().AgentID(), Name: title(other.name), Addresses: []string{addressOf(other.name)}})
}

// file writes a file that is to be sent.
func (p *play) file(name, text string) (string, error) {
	path := filepath.Join(p.dir, name)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// finished prints where the task stands at both sides, which must agree, and
// compares the file that came with the one that was sent.
func (p *play) finished(id string) error {
	p.say("\n── How it stands ──")
	ours, err := p.buyer.inbox().Task(id)
	if err != nil {
		return err
	}
	theirs, err := p.seller.inbox().Task(id)
	if err != nil {
		return err
	}
	if ours.State != agentmsg.StatusCompleted || theirs.State != ours.State {
		return fmt.Errorf("the two sides do not agree: the task is %s and %s", ours.State, theirs.State)
	}
	last := ours.Messages[len(ours.Messages)-1]
	if len(last.Files) != 1 {
		return fmt.Errorf("%d files came", len(last.Files))
	}
	got, err := os.ReadFile(last.Files[0].Path)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, []byte(translated)) {
		return errors.New("another file came than was sent")
	}
	p.say("Both sides have task %.8s… as %s. The buyer has %s:\n  %s", id, ours.State, last.Files[0].Name, got[:len(got)-1])
	p.result.Task = ours
	p.result.Task.Messages = nil // the mails have them
	return nil
}
