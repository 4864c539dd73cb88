#!/bin/sh
# A handler that brings every negotiation to its end: a quote for an ask, a
# counter-offer for a quote of 550.00, and it accepts any other. Of the shell
# alone, without a process more: its time is part of what is measured.
IFS= read -r event
kind=${event#*'"type":"'} kind=${kind%%\"*}
id=${event#*'"id":"'} id=${id%%\"*}
thread=${event##*'"thread":{"id":"'} thread=${thread%%\"*}
# offer MEMBER ID CENTS CENTS: a quote, with its unit price and its total.
offer() {
	echo '{"type":"quote","'"$1"'":"'"$2"'","items":[{"description":"Ceramic mug","quantity":200,"unit":"piece",' \
		'"unit_price":{"amount":"'"$3"'","currency":"EUR"}}],"total":{"amount":"'"$4"'","currency":"EUR"}}'
}
case $kind:$event in
ask_quote:*) offer thread "$thread" 275 55000 ;;
quote:*'"amount":"55000"'*) offer replaces "$id" 250 50000 ;;
quote:*) echo '{"type":"accept","ref":"'"$id"'"}' ;;
esac
