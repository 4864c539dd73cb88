// Command stream-go is a handler for agentmaild that stays (handler_mode =
// "stream"): an event a line in, an answer a line out.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"
)

type event struct {
	Version     int
	Event, Type string
	Exchange    struct{ Offering string }
}

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var e event
		if err := in.Decode(&e); errors.Is(err, io.EOF) {
			return
		} else if err != nil || e.Version != 1 {
			log.Fatal("this handler knows version 1 of the event document only")
		}
		answer := map[string]any{"event": e.Event} // without an action the rest is left to the owner
		if e.Type == "request" && e.Exchange.Offering == "chat" {
			answer["action"] = map[string]string{"type": "respond", "text": "We have your message, and a person will read it."}
		}
		if err := out.Encode(answer); err != nil {
			log.Fatal(err)
		}
	}
}
