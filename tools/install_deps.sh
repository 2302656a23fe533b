#!/usr/bin/env bash
# Install the missing packages of parts of packages.txt. Prints nothing if all are installed.
#
#   install_deps.sh PART… [--optional PART…]
#
# If a part after --optional cannot be installed, only a warning is printed. A package counts as installed if a
# command with its name exists, wherever it came from. For example, npm of another Node.js and Debian's npm
# cannot be installed side by side.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
export PATH="${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/sbin:/sbin" # dpkg needs ldconfig

packages_of() {
    awk -v part="[$1]" '{ sub(/#.*/, "") } /^\[/ { inside = $1 == part; known += inside; next }
        inside && NF { print $1 } END { exit !known }' packages.txt ||
        { echo "install_deps.sh: packages.txt has no part [$1]" >&2; exit 2; }
}

missing_of() {
    local package status packages
    packages=$(packages_of "$1")
    for package in $packages; do
        status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
        [ "$status" = installed ] || command -v "$package" >/dev/null || echo "$package"
    done
}

as_root() {
    if [ "$(id -u)" = 0 ]; then env "$@"; else sudo env "$@"; fi
}

# Count the packages in apt's output: on a terminal in one line that is updated, else in a line now and then.
show_progress() {
    local line total="?" fetched=0 unpacked=0 ready=0 step=40
    while IFS= read -r line; do
        case $line in
        *" newly installed, "*) [[ $line =~ ([0-9]+)" newly installed" ]] && total=${BASH_REMATCH[1]} ;;
        Get:*) [ "$total" != "?" ] || continue; fetched=$((fetched + 1)) ;;
        "Unpacking "*) unpacked=$((unpacked + 1)) ;;
        "Setting up "*) ready=$((ready + 1)) ;;
        *) continue ;;
        esac
        if [ -t 1 ]; then
            printf '\r  of %s packages: %d downloaded, %d unpacked, %d set up ' "$total" "$fetched" "$unpacked" "$ready"
        elif [ $(((fetched + unpacked + ready) % step)) = 0 ]; then
            printf '  of %s packages: %d downloaded, %d unpacked, %d set up\n' "$total" "$fetched" "$unpacked" "$ready"
        fi
    done
    if [ -t 1 ] && [ "$total" != "?" ]; then echo; fi
}

apt_get() {
    as_root LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 "$@"
}

# Install the packages. On failure print the last lines of apt's output.
install() {
    local log ok=yes
    log=$(mktemp)
    echo "installing: $*"
    { apt_get update && apt_get install --no-install-recommends "$@"; } 2>&1 | tee "$log" | show_progress || ok=""
    [ -n "$ok" ] || tail -n 20 "$log" >&2
    rm -f "$log"
    [ -n "$ok" ]
}

needed_text="" optional_text="" behind=""
for part in "$@"; do
    if [ "$part" = --optional ]; then
        behind=yes
    elif [ -n "$behind" ]; then
        optional_text+=" $(missing_of "$part")"
    else
        needed_text+=" $(missing_of "$part")"
    fi
done
read -r -d '' -a needed <<<"$needed_text" || true
read -r -d '' -a optional <<<"$optional_text" || true
if [ ${#needed[@]} -gt 0 ]; then
    install "${needed[@]}"
fi
if [ ${#optional[@]} -gt 0 ] && ! install "${optional[@]}"; then
    echo "continuing without: ${optional[*]}"
fi
