#!/usr/bin/env bash
# Run all benches with the release build. bench/README.md explains the results.
#
#   run.sh [FOLDER]     FOLDER: with the executables; build/release/bench by default
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
bin=${1:-$here/../build/release/bench}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

echo "== node: Raft and log alone"
"$bin/node_bench" --dir "$work/node"
echo
echo "== machine: state machine and store alone"
"$bin/machine_bench" --dir "$work/machine"
echo
echo "== engine: all of it, without a network"
"$bin/engine_bench" --dir "$work/engine"
echo
echo "== engine: lifecycles without and with the view beside it"
"$bin/engine_bench" --dir "$work/engine" --view --seconds 60 --rounds 1
echo
echo "== view: filling and asking the copy in SQLite"
"$bin/view_bench" --dir "$work/view"
echo
echo "== a claim, with few and with many jobs waiting"
"$here/claim_flat.sh" "$bin/machine_bench"
echo
echo "== server: over HTTP, beside beanstalkd"
"$here/server.py" "$bin"
echo
echo "== server: single enqueues beside a bulk operation"
"$here/bulk.py" "$bin/../corvo"
echo
echo "== server: bytes written for a lifecycle"
"$here/bytes.py" "$bin/../corvo"
