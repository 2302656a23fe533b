#!/usr/bin/env bash
# Install the program, its manual pages, completions, systemd unit and sample configuration.
#
#   install.sh install BINARY | uninstall
#
# PREFIX (/usr/local) is the target folder. SYSCONFDIR (/etc) is the folder of the configuration. DESTDIR is put
# in front of every path, for packages. An existing configuration is never overwritten, and uninstall removes it
# only if it is unchanged. Data in /var/lib/corvo is never touched.
set -euo pipefail
cd "$(dirname "$0")/.."

PREFIX=${PREFIX:-/usr/local}
SYSCONFDIR=${SYSCONFDIR:-/etc}
root=${DESTDIR:-}$PREFIX
bin=$root/bin/corvo
man=$root/share/man/man1
bash_completion=$root/share/bash-completion/completions/corvo
zsh_completion=$root/share/zsh/site-functions/_corvo
fish_completion=$root/share/fish/vendor_completions.d/corvo.fish
unit=$root/lib/systemd/system/corvo.service
sample=$root/share/doc/corvo/corvo.conf
conf=${DESTDIR:-}$SYSCONFDIR/corvo/corvo.conf

put() { # MODE FILE, with the content from standard input
    install -D -m "$1" /dev/stdin "$2"
    echo "  $2"
}

install_all() {
    local corvo=$1 pages
    echo "installing $("$corvo" version)"
    put 755 "$bin" <"$corvo"
    pages=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf '$pages'" EXIT
    "$corvo" man --dir "$pages"
    install -d "$man"
    install -m 644 "$pages"/*.1 "$man"
    echo "  $man/corvo*.1"
    "$corvo" completion bash | put 644 "$bash_completion"
    "$corvo" completion zsh | put 644 "$zsh_completion"
    "$corvo" completion fish | put 644 "$fish_completion"
    sed -e "s|@bindir@|$PREFIX/bin|" -e "s|@sysconfdir@|$SYSCONFDIR|" packaging/corvo.service.in | put 644 "$unit"
    "$corvo" server --sample-config | put 644 "$sample"
    if [ -e "$conf" ]; then
        echo "  $conf is kept as it is"
    else
        put 600 "$conf" <"$sample" # it may contain a password
    fi
}

uninstall_all() {
    if [ -e "$conf" ] && cmp -s "$conf" "$sample"; then
        rm -f "$conf"
        rmdir --ignore-fail-on-non-empty "$(dirname "$conf")"
    elif [ -e "$conf" ]; then
        echo "kept because it was changed: $conf"
    fi
    rm -f "$bin" "$man"/corvo.1 "$man"/corvo-*.1 "$bash_completion" "$zsh_completion" "$fish_completion" \
        "$unit" "$sample"
    if [ -d "$(dirname "$sample")" ]; then
        rmdir --ignore-fail-on-non-empty "$(dirname "$sample")"
    fi
}

case ${1:-} in
install) install_all "$2" ;;
uninstall) uninstall_all ;;
*) echo "usage: install.sh install BINARY | uninstall" >&2; exit 2 ;;
esac
