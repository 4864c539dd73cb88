#!/usr/bin/env python3
"""A handler for agentmaild that stays (handler_mode = "stream"): an event a line in, an answer a line out."""
import json
import sys

for line in sys.stdin:
    event = json.loads(line)
    if event["version"] != 1:
        sys.exit("this handler knows version 1 of the event document only")
    answer = {"event": event["event"]}  # without an action the rest is left to the owner
    if event["type"] == "request" and event["exchange"]["offering"] == "chat":
        answer["action"] = {"type": "respond", "text": "We have your message, and a person will read it."}
    print(json.dumps(answer), flush=True)
