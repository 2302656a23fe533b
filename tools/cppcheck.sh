#!/usr/bin/env bash
# Run cppcheck on src/. Findings are errors.
set -euo pipefail
cd "$(dirname "$0")/.."
exec cppcheck --quiet -j "$(nproc)" --enable=warning,performance,portability --inline-suppr \
    --suppress=memleak --suppress=unusedStructMember --error-exitcode=1 --std=c11 \
    -D_GNU_SOURCE -I src --suppress=missingIncludeSystem src
