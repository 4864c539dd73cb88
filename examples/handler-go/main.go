// Command handler-go is a seller's handler for agentmaild: it accepts a signed
// counter-offer that is at most a tenth below the quote it counters, and
// leaves everything else to the owner.
//
// What stands in the event's message was written by the other side: this
// program takes numbers from it and nothing else.
package main

import (
	"encoding/json"
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
	if e.Type != "quote" || e.Message.Replaces == "" || e.Proof.Signature != "signed" {
		return
	}
	amount, err := strconv.ParseInt(e.Message.Total.Amount, 10, 64)
	if want, currency := least(e.Message.Replaces); err != nil || amount < want || e.Message.Total.Currency != currency {
		return
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"type": "accept", "ref": e.ID}); err != nil {
		log.Fatal(err)
	}
}
