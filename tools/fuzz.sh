#!/usr/bin/env bash
# Run every fuzz target of the fuzz build for the given number of seconds, starting from its corpus. New inputs stay in
# build/fuzz/corpus/. A crash ends the run and leaves its input there.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}
for target in build/fuzz/tests/*_fuzz; do
    thing=$(basename "$target" _fuzz)
    found=build/fuzz/corpus/$thing
    mkdir -p "$found"
    echo "== $thing"
    "$target" -max_total_time="$seconds" -artifact_prefix="$found/crash-" -print_final_stats=0 \
        "$found" "tests/fuzz/corpus/$thing" 2>&1 | tail -n 2
done
