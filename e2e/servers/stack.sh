#!/usr/bin/env bash
# stack.sh run DIR : the world (DNS, key pages, what the submission server is to refuse), Dovecot and Postfix under one foreground
# script; prints "ready" when every port answers, and ends all of it on SIGTERM or SIGINT or when one part dies.
#   CYRUS=1   mail for buyer.test goes to Cyrus (Dovecot still checks the logins of the submission)
#   RSPAMD=1  the MX has Rspamd add Authentication-Results
#   NOPAGES=1 nobody shows key pages: port 443 is for who is tested
# Needs root, for Postfix and port 443. Run it inside netfault.sh: no port can collide there, and nothing survives it.
. "$(dirname "$0")/lib.sh"
D=$2; mkdir -p "$D"; chmod 755 "$D"; pids=()
stop() { trap - TERM INT EXIT
  for p in "${pids[@]}"; do kill -TERM -- "-$p" 2>/dev/null || true; done
  for _ in $(seq 25); do alive=; for p in "${pids[@]}"; do kill -0 -- "-$p" 2>/dev/null && alive=1; done; [ -z "$alive" ] && break; sleep 0.02; done
  for p in "${pids[@]}"; do kill -KILL -- "-$p" 2>/dev/null || true; done
  exit 0; }
trap stop TERM INT EXIT
part() { local n=$1; shift; setsid "$@" > "$D/$n.out" 2>&1 & pids+=($!); }
"$HERE/certs.sh" "$D/tls"; touch "$D/zone.txt" "$D/access.txt"; mkdir -p "$D/pages"; ports=443 https=$H:443
[ -z "${NOPAGES:-}" ] || ports='' https=''
part world "$WORLD_BIN" -dns "$H:$DNS_PORT" -zone "$D/zone.txt" -https "$https" -pages "$D/pages" -cert "$D/tls/cert.pem" -key "$D/tls/key.pem" \
  -policy "$H:$POLICY_PORT" -access "$D/access.txt"
part dovecot "$HERE/dovecot.sh" run "$D"
[ -z "${CYRUS:-}" ] || { part cyrus "$HERE/cyrus.sh" run "$D"; ports="$ports $CYRUS_IMAPS_PORT $CYRUS_LMTP_PORT"; }
[ -z "${RSPAMD:-}" ] || { part rspamd "$HERE/rspamd.sh" run "$D"; ports="$ports $MILTER_PORT"; }
for _ in $(seq 250); do [ -s "$D/users/passwd" ] && break; sleep 0.02; done
part postfix "$HERE/postfix.sh" run "$D"
for p in $DNS_PORT $POLICY_PORT $IMAPS_PORT $LMTP_PORT $SASL_PORT $MX_PORT $SUBMISSIONS_PORT $ports; do wait_tcp "$p" 15; done
echo ready
wait -n || true
