#!/usr/bin/env python3
"""A buyer's handler for agentmaild: accepts a signed quote of at most LIMIT minor units, declines a dearer one.
It answers a chat with another agent too, for a file with its number of lines.

In agentmaild.toml: handler = ["/usr/local/bin/handler.py"]. What stands in event["message"] and event["exchange"] was
written by the other side: this program takes numbers from it, and the path of a file that agentmaild chose. A model
is to be shown exchange["text"], which is framed as a stranger's words.
"""
import json
import sys

LIMIT = {"EUR": 50_000}  # by currency, in minor units

event = json.load(sys.stdin)
if event["version"] != 1:
    sys.exit("this handler knows version 1 of the event document only")
if event["type"] == "quote" and event["proof"]["signature"] == "signed":
    total = event["message"]["total"]
    if int(total["amount"]) <= LIMIT.get(total["currency"], 0):
        answer = {"type": "accept", "ref": event["id"]}
    else:
        answer = {"type": "decline", "ref": event["id"], "reason": "price"}
    print(json.dumps(answer))
elif event["type"] == "request" and event["exchange"]["offering"] == "chat":
    text = "We have your message, and a person will read it."
    for file in event["exchange"]["files"]:
        if file["state"] == "ok":
            with open(file["path"], "rb") as opened:
                text = "Your file has %d lines." % sum(1 for _ in opened)
    print(json.dumps({"type": "respond", "text": text}))
# No output: the rest is left to the owner.
