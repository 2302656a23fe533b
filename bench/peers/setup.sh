#!/usr/bin/env bash
# Install what the comparison needs and is missing: Debian packages, by the programs that they bring,
# and the pinned packages for Node.
#
#   setup.sh FOLDER     FOLDER: where node_modules goes
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
    # As the lock file says, but "npm ci" is too strict: not every system has all optional packages. No
    # scripts of strangers either: the one there is would build a faster decoder, for which there is another.
    cp "$here/package.json" "$here/package-lock.json" "$folder/"
    if ! (cd "$folder" && npm install --no-save --omit=optional --ignore-scripts --no-audit --no-fund --loglevel error); then
        rm -rf "$folder/node_modules" # half of it would be taken for all of it the next time
        exit 1
    fi
fi
