#!/usr/bin/env bash
# Check that the nodes form one cluster and that every node sees the jobs created on the others. Print a few metrics.
#
#   check-cluster.sh URL…        API address of each node, for example http://127.0.0.1:12080
set -euo pipefail

[ $# -gt 0 ] || { sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2; }
PATIENCE_S=${PATIENCE_S:-90}

# wait_for DESCRIPTION COMMAND…: wait until the command succeeds. On a timeout, print the description and exit.
wait_for() {
    local what=$1 end=$((SECONDS + PATIENCE_S))
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$SECONDS" -lt "$end" ] || { echo "failed: $what" >&2; exit 1; }
        sleep 0.2
    done
    echo "ok: $what"
}

leaders() {
    local url count=0
    for url in "$@"; do
        if curl -fsS "$url/health" | grep -q '"role":"leader"'; then count=$((count + 1)); fi
    done
    [ "$count" = 1 ]
}

members() { [ "$(curl -fsS "$1/debug/cluster" | grep -o '"id":' | wc -l)" -ge "$2" ]; }

for url in "$@"; do wait_for "$url is ready" curl -fsS "$url/ready"; done
wait_for "one of $# nodes leads" leaders "$@"
for url in "$@"; do wait_for "$url knows all members" members "$url" $#; done

ids=()
for url in "$@"; do
    id=check-$RANDOM-$RANDOM
    curl -fsS -X POST "$url/jobs" -d "{\"id\":\"$id\",\"type\":\"unico\",\"timestamp\":4102444800}" >/dev/null
    ids+=("$id")
    echo "ok: job created through $url"
done
for id in "${ids[@]}"; do
    for url in "$@"; do wait_for "$url knows job $id" curl -fsS "$url/jobs/$id"; done
    curl -fsS -X DELETE "$1/jobs/$id"
done
echo "metrics of $1:"
curl -fsS "$1/metrics" | grep -E '^scheduled_db_(cluster_nodes|jobs_by_status|queue_job_count|worker_active|nodes_discovered)'
