#!/usr/bin/env bash
# rspamd.sh run DIR : a milter on $MILTER_PORT that checks DKIM, SPF and DMARC by the DNS server on $DNS_PORT and writes one
# Authentication-Results field. No Redis, no controller, nothing read from /etc/rspamd. Foreground, unprivileged; SIGTERM stops it.
. "$(dirname "$0")/lib.sh"
D=$2; U=${RSPAMD_USER:-nobody}; G=$(id -gn "$U"); R=$D/rs; mkdir -p "$R"/{run,db,log}
# What it asks about beside DKIM; without an answer every mail waits two seconds.
for d in buyer.test seller.test; do printf '%s. 60 IN TXT "v=spf1 ip4:127.0.0.1 -all"\n_dmarc.%s. 60 IN TXT "v=DMARC1; p=reject; adkim=s"\n' $d $d; done >> "$D/zone.txt"
printf "test\ncom\norg\nnet\nexample\n" > "$R/tld.dat"
cat > "$R/rspamd.conf" <<C
options {
  pidfile = "$R/run/rspamd.pid";
  filters = "dkim";
  local_addrs = [];
  check_local = true;
  dns { nameserver = ["$H:$DNS_PORT"]; timeout = 1s; retransmits = 2; sockets = 4; }
  hs_cache_dir = "$R/db";
  url_tld = "$R/tld.dat";  # the stock list costs 11 s of pattern compiling at start
  max_lua_urls = 0;
}
logging { type = "console"; level = "notice"; }
worker "rspamd_proxy" {
  bind_socket = "$H:$MILTER_PORT";
  milter = yes; timeout = 20s; count = 1; max_retries = 1;
  upstream "local" { default = yes; self_scan = yes; }
}
worker "normal" { count = 0; enabled = false; }
actions { reject = 999; add_header = 998; greylist = null; }
modules { path = "/usr/share/rspamd/plugins"; }
dkim { dkim_cache_size = 0; dkim_cache_expire = 1s; trusted_only = false; skip_multi = false; }
spf { spf_cache_size = 0; }
dmarc { reporting { enabled = false; } }
milter_headers {
  use = ["authentication-results"]; skip_local = false; skip_authenticated = true;
  # Only a hundredth one would be removed: forged fields stay, for the daemon to tell apart.
  routines { authentication-results { header = "Authentication-Results"; remove = 100; } }
}
C
chown -R "$U:$G" "$R"
exec setpriv --reuid="$U" --regid="$G" --clear-groups rspamd -f -c "$R/rspamd.conf" --var=DBDIR="$R/db" --var=RUNDIR="$R/run" --var=LOGDIR="$R/log"
