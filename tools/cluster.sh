#!/usr/bin/env bash
# Run three nodes on this machine until Ctrl-C, for experiments. Their data stays in the folder.
#   cluster.sh BINARY FOLDER
set -euo pipefail
binary=$1 folder=$2 secret=a-secret-for-trying-out pids=()
stop() { for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done; wait; }
trap stop EXIT
mkdir -p "$folder"
for i in 1 2 3; do
    join=()
    [ "$i" = 1 ] || join=(--join 127.0.0.1:8081)
    "$binary" server --data-dir "$folder/n$i" --node-id "n$i" --bind "127.0.0.1:808$i" \
        --raft-bind "127.0.0.1:940$i" --cluster-secret "$secret" "${join[@]}" \
        >"$folder/n$i.log" 2>&1 &
    pids+=($!)
done
# A node that was a member before is not ready until a majority is running.
for i in 1 2 3; do
    until grep -q "corvo server ready" "$folder/n$i.log"; do
        kill -0 "${pids[i - 1]}" 2>/dev/null || { cat "$folder/n$i.log"; exit 1; }
        sleep 0.1
    done
    echo "n$i: http://127.0.0.1:808$i, process ${pids[i - 1]}, log $folder/n$i.log"
done
cat <<TEXT

Try:
  $binary cluster status --server http://127.0.0.1:8081
  $binary enqueue mail '{"to":"you"}' --server http://127.0.0.1:8081
  kill -9 ${pids[0]}      # then ask another node who leads
  $binary cluster verify --server http://127.0.0.1:8082

Ctrl-C stops them.
TEXT
wait
