#!/bin/sh
# A Corvo worker in shell, with curl and jq. For real work prefer: corvo work --queue Q --exec CMD
#
#   CORVO_URL=http://localhost:8080 sh worker.sh emails [--once]
set -eu
base="${CORVO_URL:-http://localhost:8080}/api/v1"
queue=$1

call() {
    curl -sS --fail-with-body -H 'Content-Type: application/json' \
        ${CORVO_API_KEY:+-H "X-API-Key: $CORVO_API_KEY"} "$base$1" -d "$2"
}

# Your code: the payload comes on standard input, the result goes to standard output as JSON.
handle() {
    jq -c '{greeted: (.to // "nobody")}'
}

while :; do
    job=$(call /fetch "{\"queues\":[\"$queue\"],\"worker_id\":\"$(hostname)-$$\",\"timeout\":30}") || { sleep 1; continue; }
    id=$(printf '%s' "$job" | jq -r '.job_id // empty')
    [ -n "$id" ] || continue
    token=$(printf '%s' "$job" | jq .lease_token)
    if result=$(printf '%s' "$job" | jq -c .payload | handle); then
        call "/ack/$id" "{\"result\":$result,\"lease_token\":$token}" >/dev/null || { sleep 1; continue; }
    else
        call "/fail/$id" "{\"error\":\"exit status $?\",\"lease_token\":$token}" >/dev/null || { sleep 1; continue; }
    fi
    [ "${2:-}" != --once ] || exit 0
done
