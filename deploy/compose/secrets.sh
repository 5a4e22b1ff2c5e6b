#!/bin/sh
# Makes the secrets that docker-compose.yml mounts, once; those that are there stay. The directory is the user's alone; the files
# are readable, because each container has a user of its own.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 700 secrets
secret() {
  [ -s "secrets/$1" ] || printf '%s\n' "$2" >"secrets/$1"
  chmod 644 "secrets/$1"
}
random() { od -An -N"${1:-24}" -v -tx1 /dev/urandom | tr -d ' \n'; }
secret clickhouse_password "$(random)"
secret grafana_password "$(random)"
secret imap 'imap://demo:demo@mail:1143/INBOX?tls=off&tenant=demo'
# Nobody is told of mails until projects are named here: docs/mail.md#answers-by-mail.
secret answers '{"smtp": "smtp://mail:1025?tls=off", "from": "tallyhouse@demo.invoices.example", "desk": "http://127.0.0.1:8090", "projects": []}'
secret desk_key "$(random 32)"
secret desk_client_secret '' # what the provider gave the desk, if anything
