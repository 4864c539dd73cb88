#!/usr/bin/env bash
# cyrus.sh fetch    unpacks Cyrus IMAP 3.6 without installing it, since its package and Dovecot's exclude each other; 11 MB, once, into $CYRUS_ROOT
# cyrus.sh run DIR  foreground, unprivileged: IMAPS $CYRUS_IMAPS_PORT, LMTP $CYRUS_LMTP_PORT; SIGTERM stops it
. "$(dirname "$0")/lib.sh"
if [ "$1" = fetch ]; then
  [ ! -d "$CYRUS_ROOT" ] || exit 0
  mkdir -p "$CYRUS_ROOT.new/deb"; cd "$CYRUS_ROOT.new/deb"
  apt-get update -qq
  # shellcheck disable=SC2046 # one word a package
  apt-get download -qq -o APT::Sandbox::User=root $(apt-get install -s --no-install-recommends cyrus-imapd sasl2-bin | awk '/^Inst/{print $2}')
  for d in *.deb; do dpkg-deb -x "$d" ..; done
  rm -r ../deb; mv "$CYRUS_ROOT.new" "$CYRUS_ROOT"; exit 0
fi
D=$2; C=$D/cy; U=${CYRUS_USER:-nobody}; R=$CYRUS_ROOT; B=$R/usr/lib/cyrus/bin
export LD_LIBRARY_PATH=$R/usr/lib/x86_64-linux-gnu:$R/lib/x86_64-linux-gnu SASL_PATH=$R/usr/lib/x86_64-linux-gnu/sasl2
mkdir -p "$C"/{conf/{db,socket,proc,log,user,quota,sync,sieve,ptclient,lock,msg},spool,run,sieve}; "$HERE/certs.sh" "$D/tls"
for u in agent-a@buyer.test:pw-a agent-a2@buyer.test:pw-a2; do
  n=${u%%:*}; printf '%s' "${u#*:}" | "$R/usr/sbin/saslpasswd2" -p -c -f "$C/sasldb2" -u "${n#*@}" "${n%@*}"; done
# Without its own suppression of duplicates: the tests look for them.
cat > "$C/imapd.conf" <<E
configdirectory: $C/conf
defaultpartition: default
partition-default: $C/spool
sievedir: $C/sieve
servername: mda.test
cyrus_user: $U
admins: cyrus
virtdomains: userid
unixhierarchysep: yes
altnamespace: yes
duplicatesuppression: no
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: $C/sasldb2
sasl_mech_list: PLAIN LOGIN SCRAM-SHA-1 SCRAM-SHA-256
autocreate_post: 1
autocreate_quota: 0
autocreate_inbox_folders: Drafts|Sent|Archive|Junk|Trash
autocreate_subscribe_folders: Drafts|Sent|Archive|Junk|Trash
xlist-drafts: Drafts
xlist-sent: Sent
xlist-archive: Archive
xlist-junk: Junk
xlist-trash: Trash
idlesocket: $C/run/idle
notifysocket: $C/run/notify
lmtpsocket: $C/run/lmtp
proc_path: $C/run/proc
mboxname_lockpath: $C/run/lock
conversations: 1
lmtp_over_quota_perm_failure: 0
postmaster: postmaster
tls_server_cert: $D/tls/cert.pem
tls_server_key: $D/tls/key.pem
tls_sessions_db_path: $C/run/tls_sessions.db
duplicate_db_path: $C/run/deliver.db
statuscache_db_path: $C/run/statuscache.db
syslog_prefix: cyrus-test
E
cat > "$C/cyrus.conf" <<E
START {
  recover cmd="$B/ctl_cyrusdb -C $C/imapd.conf -r"
}
SERVICES {
  imaps cmd="$B/imapd -C $C/imapd.conf -s -U 30" listen="$H:$CYRUS_IMAPS_PORT" prefork=1 proto=tcp4
  lmtp  cmd="$B/lmtpd -C $C/imapd.conf -a" listen="$H:$CYRUS_LMTP_PORT" prefork=1 proto=tcp4
}
DAEMON {
  idled cmd="$B/idled -C $C/imapd.conf"
}
EVENTS {
}
E
chown -R "$U" "$C"
exec setpriv --reuid="$U" --regid="$(id -gn "$U")" --clear-groups "$B/master" -D -C "$C/imapd.conf" -M "$C/cyrus.conf" -p "$C/run/master.pid" -L "$C/run/master.log"
