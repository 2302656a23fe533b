#!/usr/bin/env bash
# Run clang-tidy on src/ as the "clang" preset compiles it. Findings are errors. --analyze adds the static analyzer, which
# takes too long for the gate.
set -euo pipefail
cd "$(dirname "$0")/.."
checks=(--checks=-clang-analyzer-*)
[ "${1:-}" != --analyze ] || checks=()
cmake --preset clang >/dev/null
git ls-files -co --exclude-standard 'src/*.c' | while read -r f; do [ -f "$f" ] && echo "$f"; done |
    xargs -P "$(nproc)" -n 4 clang-tidy-14 --quiet --warnings-as-errors='*' -p build/clang "${checks[@]}" 2>/dev/null
