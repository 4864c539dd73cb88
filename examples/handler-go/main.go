// Command handler-go is a seller's handler for agentmaild: it accepts a signed
// counter-offer that is at most a tenth below the quote it counters, answers a
// chat with another agent, for a file with its number of lines, and leaves
// everything else to the owner.
//
// What stands in the event's message and exchange was written by the other
// side: this program takes numbers from it, and the path of a file that
// agentmaild chose.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
)

// event is what is needed of the document on standard input.
type event struct {
	Version int                        `json:"version"`
	Type    string                     `json:"type"`
	ID      string                     `json:"id"`
	Proof   struct{ Signature string } `json:"proof"`
	Message struct {
		Replaces string                            `json:"replaces"`
		Total    struct{ Amount, Currency string } `json:"total"`
	} `json:"message"`
	Exchange struct {
		Offering string                         `json:"offering"`
		Files    []struct{ State, Path string } `json:"files"`
	} `json:"exchange"`
}

// least is what this seller takes for an offer of its own, in minor units. A
// real one would look the offer up; here all of them were for 550.00 EUR.
func least(string) (amount int64, currency string) { return 55000 - 5500, "EUR" }

func main() {
	log.SetFlags(0)
	var e event
	if err := json.NewDecoder(os.Stdin).Decode(&e); err != nil || e.Version != 1 {
		log.Fatal("this handler knows version 1 of the event document only")
	}
	var answer map[string]string
	switch {
	case e.Type == "quote" && e.Message.Replaces != "" && e.Proof.Signature == "signed":
		answer = e.bargain()
	case e.Type == "request" && e.Exchange.Offering == "chat":
		answer = e.chat()
	}
	if answer == nil {
		return
	}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		log.Fatal(err)
	}
}

// bargain accepts what is not too little.
func (e *event) bargain() map[string]string {
	amount, err := strconv.ParseInt(e.Message.Total.Amount, 10, 64)
	if want, currency := least(e.Message.Replaces); err != nil || amount < want || e.Message.Total.Currency != currency {
		return nil
	}
	return map[string]string{"type": "accept", "ref": e.ID}
}

// chat answers another agent.
func (e *event) chat() map[string]string {
	text := "We have your message, and a person will read it."
	for _, file := range e.Exchange.Files {
		if file.State != "ok" {
			continue
		}
		content, err := os.ReadFile(file.Path)
		if err != nil {
			log.Fatal(err)
		}
		text = fmt.Sprintf("Your file has %d lines.", bytes.Count(content, []byte("\n")))
	}
	return map[string]string{"type": "respond", "text": text}
}
