#!/usr/bin/env bash
# install.sh [mail|net|container|unit|page|node]... : one apt-get call, no man-db trigger, no fsync; default: mail
set -euo pipefail
declare -A S=([mail]="dovecot-imapd dovecot-lmtpd postfix rspamd openssl iproute2" [net]="iptables" [container]="podman buildah runc" [unit]="systemd" [page]="chromium openssl" [node]="nodejs")
[ $# -gt 0 ] || set -- mail
p=(); for k; do p+=(${S[$k]}); done
missing=(); for x in "${p[@]}"; do dpkg -s "$x" >/dev/null 2>&1 || missing+=("$x"); done
[ ${#missing[@]} -gt 0 ] || exit 0
export DEBIAN_FRONTEND=noninteractive
echo 'man-db man-db/auto-update boolean false' | debconf-set-selections
echo 'postfix postfix/main_mailer_type select No configuration' | debconf-set-selections
[ -e /usr/sbin/policy-rc.d ] || printf '#!/bin/sh\nexit 101\n' | install -m 755 /dev/stdin /usr/sbin/policy-rc.d   # never start the system services
apt-get update -qq
apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 -o Dpkg::Options::=--force-unsafe-io "${missing[@]}" >/dev/null
