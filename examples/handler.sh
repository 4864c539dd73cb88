#!/bin/sh
# A handler for agentmaild: declines every offer of times with the reason
# "timing", answers a chat with another agent, for a file with its number of
# lines, and leaves everything else to the owner. In agentmaild.toml:
#   handler = ["/usr/local/bin/handler.sh"]
#
# The event is one line of JSON. agentmaild itself writes the members up to
# "id", always in this order, and no text of the other side stands among them,
# and of "exchange" those up to the path of the first file. The expressions below
# are tied to the beginning of the line and read no further, so that nothing
# written into "message" can steer them.
set -eu
export LC_ALL=C # bytes, whatever the text is

IFS= read -r event
case $event in
'{"version":1,'*) ;;
*) echo 'this handler knows version 1 of the event document only' >&2; exit 1 ;;
esac

begin='^{"version":1,"event":"[0-9a-f]*","inbox":"[^"]*","at":[0-9]*,'
offer=$(printf '%s\n' "$event" | sed -n "s/$begin"'"type":"propose_times","id":"\([0-9a-f-]*\)",.*/\1/p')
if [ -n "$offer" ]; then
	printf '{"type":"decline","ref":"%s","reason":"timing"}\n' "$offer"
	exit
fi

chat="$begin"'"type":"request","id":"[^"]*","proof":{[^{}]*},"exchange":{"from":"[^"]*","kind":"request","offering":"chat","files":\['
file=$(printf '%s\n' "$event" | sed -n "s/$chat"'{"state":"ok","path":"\([^"]*\)".*/\1/p')
if [ -n "$file" ]; then
	printf '{"type":"respond","text":"Your file has %d lines."}\n' "$(wc -l <"$file")"
elif printf '%s\n' "$event" | grep -q "$chat"; then
	echo '{"type":"respond","text":"We have your message, and a person will read it."}'
fi
# No output: nothing is to be done.
