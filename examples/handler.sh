#!/bin/sh
# A handler for agentmaild: declines every offer of times with the reason
# "timing" and leaves everything else to the owner. In agentmaild.toml:
#   handler = ["/usr/local/bin/handler.sh"]
#
# The event is one line of JSON. agentmaild itself writes the members up to
# "id", always in this order, and no text of the other side stands among them.
# The expression below is tied to the beginning of the line and reads no
# further, so that nothing written into "message" can steer it.
set -eu
export LC_ALL=C # bytes, whatever the text is

IFS= read -r event
case $event in
'{"version":1,'*) ;;
*) echo 'this handler knows version 1 of the event document only' >&2; exit 1 ;;
esac

offer=$(printf '%s\n' "$event" | sed -n \
	's/^{"version":1,"event":"[0-9a-f]*","inbox":"[^"]*","at":[0-9]*,"type":"propose_times","id":"\([0-9a-f-]*\)",.*/\1/p')

# No output: nothing is to be done.
[ -n "$offer" ] || exit 0
printf '{"type":"decline","ref":"%s","reason":"timing"}\n' "$offer"
