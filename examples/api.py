#!/usr/bin/env python3
"""Asks for a quote over the API and waits for it: AGENTMAILD_TOKEN=amt_… examples/api.py INBOX ADDRESS"""
import json, os, sys, urllib.request, uuid

inbox, seller = sys.argv[1:]
base = os.environ.get("AGENTMAILD_API", "http://127.0.0.1:8465") + "/v1/inboxes/" + inbox
head = {"Authorization": "Bearer " + os.environ["AGENTMAILD_TOKEN"], "Content-Type": "application/json"}

def call(path, body=None, **more):
    data = json.dumps(body).encode() if body else None
    return urllib.request.urlopen(urllib.request.Request(base + path, data, {**head, **more}))

events = call("/events/stream")  # before the question, so that no answer is missed
action = {"type": "ask_quote", "to": seller, "items": [{"description": "Ceramic mug, white", "quantity": 200}]}
done = json.load(call("/actions", action, **{"Idempotency-Key": str(uuid.uuid4())}))
print("the owner is asked first: " + done["waiting"] if "waiting" in done else "asked " + done["to"], flush=True)
for event in (json.loads(line[6:]) for line in events if line.startswith(b"data: ")):
    if event["kind"] == "received" and event.get("type") == "quote" and event["message"]["from"]["address"] == seller:
        print("quoted {amount} {currency} by".format(**event["message"]["total"]), seller, event["signature"], event["proof"]["domain"])
        break
