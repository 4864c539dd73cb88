#!/usr/bin/env python3
"""A buyer's handler for agentmaild: accepts a signed quote of at most LIMIT minor units, declines a dearer one.

In agentmaild.toml: handler = ["/usr/local/bin/handler.py"]. What stands in event["message"] was written by the other
side: this program takes numbers from it and nothing else.
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
# No output: the rest is left to the owner.
