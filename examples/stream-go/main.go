// Command stream-go is a handler for agentmaild that stays (handler_mode =
// "stream"): an event a line in, an answer a line out.
package main

import (
	"encoding/json"
	"os"
)

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for e := map[string]any{}; in.Decode(&e) == nil && e["version"] == 1.0; clear(e) {
		answer := map[string]any{"event": e["event"]} // without an action the rest is left to the owner
		if x, _ := e["exchange"].(map[string]any); e["type"] == "request" && x["offering"] == "chat" {
			answer["action"] = map[string]any{"type": "respond", "text": "We have your message, and a person will read it."}
		}
		_ = out.Encode(answer) // where it cannot be written, there is no next event
	}
}
