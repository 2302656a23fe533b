#!/usr/bin/env bash
# Install what the comparison needs and is missing: Debian packages, detected by their programs, and the
# pinned packages for Node.
#
#   setup.sh FOLDER     FOLDER: where node_modules is installed
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=$1

missing=()
need() { command -v "$1" >/dev/null || missing+=("$2"); }
need beanstalkd beanstalkd
need redis-server redis-server
need node nodejs
need npm npm
compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || missing+=(postgresql)

if [ ${#missing[@]} -gt 0 ]; then
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    echo "installing: ${missing[*]}"
    $sudo apt-get update -qq
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi

mkdir -p "$folder"
if ! cmp -s "$here/package-lock.json" "$folder/package-lock.json" || [ ! -d "$folder/node_modules" ]; then
    rm -rf "$folder/node_modules" "$folder/package-lock.json"
    # Use the versions of the lock file. "npm ci" is too strict, because not every system has all optional packages. Do
    # not run install scripts of packages: the only one would build a faster decoder, and there is another decoder
    # without it.
    cp "$here/package.json" "$here/package-lock.json" "$folder/"
    if ! (cd "$folder" && npm install --no-save --omit=optional --ignore-scripts --no-audit --no-fund --loglevel error); then
        rm -rf "$folder/node_modules" # an incomplete folder would count as complete the next time
        exit 1
    fi
fi
