#!/usr/bin/env bash
# Run clang-tidy on src/ as the "clang" preset compiles it. Findings are errors. With --deep its analyzer follows calls
# as deep as it can, which takes five times as long.
set -euo pipefail
cd "$(dirname "$0")/.."
depth=(--extra-arg=-Xclang --extra-arg=-analyzer-config --extra-arg=-Xclang --extra-arg=mode=shallow)
[ "${1:-}" != --deep ] || depth=()
cmake --preset clang >/dev/null
git ls-files -co --exclude-standard 'src/*.c' | while read -r f; do [ -f "$f" ] && echo "$f"; done |
    xargs -P "$(nproc)" -n 4 clang-tidy-14 --quiet --warnings-as-errors='*' -p build/clang "${depth[@]}" 2>/dev/null
