#!/usr/bin/env bash
# Does a claim cost more when more jobs wait? Instructions per claim, counted by Callgrind inside
# machine_apply, with 10 and with many waiting jobs, each from a store that was opened anew: the
# same number of claims in one entry, none of the documents in memory.
#
#   claim_flat.sh MACHINE_BENCH [JOBS]     JOBS: 5000000 unless said
set -euo pipefail

bench=$1
many=${2:-5000000}
claims=10
budget=1.3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

count() {
    "$bench" --fill "$work/$1" "$1"
    valgrind --tool=callgrind --instr-atstart=no --toggle-collect=machine_apply \
        --callgrind-out-file="$work/$1.out" "$bench" --claims "$work/$1" "$claims" 2>"$work/$1.log"
    awk '/^totals:/ { print $2 }' "$work/$1.out"
    rm -rf "${work:?}/$1"
}

few_total=$(count "$claims")
many_total=$(count "$many")
awk -v few="$few_total" -v many="$many_total" -v claims="$claims" -v jobs="$many" \
    -v budget="$budget" 'BEGIN {
        printf "%10d waiting: %8.0f instructions per claim\n", claims, few / claims
        printf "%10d waiting: %8.0f instructions per claim\n", jobs, many / claims
        printf "ratio %.2f, budget %.1f\n", many / few, budget
        exit many / few > budget
    }'
