#!/usr/bin/env bash
# Format every C file of the repository. With --check, only report files that are not formatted.
set -euo pipefail
cd "$(dirname "$0")/.."
files=$(git ls-files -co --exclude-standard '*.c' '*.h' | while read -r f; do [ -f "$f" ] && echo "$f"; done)
if [ "${1:-}" = --check ]; then
    # shellcheck disable=SC2086
    clang-format-14 --dry-run -Werror $files
else
    # shellcheck disable=SC2086
    clang-format-14 -i $files
fi
