#!/usr/bin/env bash
# Check that a claim does not cost more when more jobs wait. Counts the instructions per claim with Callgrind,
# inside machine_apply, with 10 and with many waiting jobs. Each count uses a newly opened store: ten claims per
# entry, no documents in memory. Of the many jobs, 80 are claimed: documents are read 16 at a time, so the first
# ten claims pay for others.
#
#   claim_flat.sh MACHINE_BENCH [JOBS]     JOBS: 5000000 by default
set -euo pipefail
shopt -s inherit_errexit

bench=$1
jobs=${2:-5000000}
budget=1.3
export LD_BIND_NOW=1 # resolve symbols at start, so that this is not counted as part of a claim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# count JOBS CLAIMS: print the instructions per claim of CLAIMS claims, with JOBS jobs waiting
count() {
    "$bench" --fill "$work/$1" "$1"
    valgrind --tool=callgrind --instr-atstart=no --toggle-collect=machine_apply \
        --callgrind-out-file="$work/$1.out" "$bench" --claims "$work/$1" "$2" 2>"$work/$1.log"
    awk -v claims="$2" '/^totals:/ { print $2 / claims }' "$work/$1.out"
    rm -rf "${work:?}/$1"
}

few=$(count 10 10)
many=$(count "$jobs" 80)
awk -v few="$few" -v many="$many" -v jobs="$jobs" -v budget="$budget" 'BEGIN {
        printf "%10d waiting: %8.0f instructions per claim\n", 10, few
        printf "%10d waiting: %8.0f instructions per claim\n", jobs, many
        printf "ratio %.2f, budget %.1f\n", many / few, budget
        exit many / few > budget
    }'
