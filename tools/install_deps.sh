#!/usr/bin/env bash
# Install the packages of packages.txt that are missing; says nothing when there is nothing to do.
# A package whose command is there already counts as installed, wherever it came from: npm of another
# Node.js, for example, and Debian's cannot be installed side by side.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
while read -r package; do
    status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || command -v "$package" >/dev/null || missing+=("$package")
done < <(sed 's/#.*//' packages.txt | awk 'NF')

if [ ${#missing[@]} -gt 0 ]; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    echo "installing: ${missing[*]}"
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
