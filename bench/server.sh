#!/usr/bin/env bash
# Corvo over HTTP against beanstalkd, each as a server of its own, with the same generator beside it
# on the same machine; in rounds, so that a slow moment hits both. Prints rates and their ratios.
# Overload is twice as many requests a second as batches just went through, from eight times as many
# clients, with as many writes let in at a time as there were clients before. What the host took of
# the processors is printed at the end: where that is more than a few percent, this says little.
#
#   server.sh [FOLDER [SECONDS [ROUNDS]]]   FOLDER: with the executables
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
bin=${1:-$here/../build/release/bench}
seconds=${2:-4}
rounds=${3:-7}
corvo=$bin/../corvo
connections=256
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT

if ! command -v beanstalkd >/dev/null; then
    echo "beanstalkd is not installed: make deps" >&2
    exit 1
fi

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Wait until somebody listens there.
await_port() {
    python3 - "$1" <<'PY'
import socket, sys, time
end = time.monotonic() + 20
while True:
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1]))).close()
        break
    except OSError:
        if time.monotonic() > end:
            sys.exit("no server on port " + sys.argv[1])
        time.sleep(0.02)
PY
}

# start NAME COMMAND…: PORT in the arguments is replaced by a free one, which goes into port.
start() {
    local name=$1
    shift
    port=$(free_port)
    "${@//PORT/$port}" >"$work/$name.log" 2>&1 &
    pids+=($!)
    await_port "$port"
}

stop() {
    kill "${pids[@]}"
    wait "${pids[@]}" 2>/dev/null || true
    pids=()
}

start_corvo() {
    start corvo "$corvo" server --bind 127.0.0.1:PORT --data-dir "$work/corvo" \
        --rate-limit-enabled=false --log-level error "$@"
}

# A fresh server for each measurement: rate MODE of one round, on a line of its own.
measure() {
    local mode=$1
    case $mode in
    *-overload) start_corvo --raft-max-pending "$connections" ;;
    corvo-*) start_corvo ;;
    *-fsync) mkdir -p "$work/binlog"; start beanstalkd beanstalkd -l 127.0.0.1 -p PORT -b "$work/binlog" -f0 ;;
    *) start beanstalkd beanstalkd -l 127.0.0.1 -p PORT ;;
    esac
    local clients=$connections
    local rate=()
    if [[ $mode == *-overload ]]; then
        clients=$((connections * 8))
        rate=(0 $(($(tail -n 1 "$work/${mode%-overload}.rates") * 2 / 100)))
    fi
    local plain=${mode%-fsync}
    "$bin/load_bench" "${plain%-overload}" "$port" "$clients" "$seconds" "${rate[@]}" >>"$work/lines"
    printf '  %-22s %s\n' "$mode" "$(tail -n 1 "$work/lines" | cut -d ' ' -f 2- | sed 's/^ *//')"
    tail -n 1 "$work/lines" | awk '{print $4}' >>"$work/$mode.rates"
    [[ $mode != *-overload ]] || grep VmHWM "/proc/${pids[0]}/status" | awk '{print $2 / 1024}' >>"$work/memory"
    stop
    rm -rf "$work/corvo" "$work/binlog"
}

# Of the processors, in ticks since the start of the machine: taken by the host, and all.
ticks() { awk '/^cpu / {print $9, $2 + $3 + $4 + $5 + $6 + $7 + $8 + $9}' /proc/stat; }

before=$(ticks)
modes=(corvo-enqueue beanstalk-put beanstalk-put-fsync corvo-batch corvo-batch-overload
    corvo-lifecycle beanstalk-lifecycle)
for ((round = 1; round <= rounds; round++)); do
    echo "round $round of $rounds, $connections connections, $seconds s each"
    for mode in "${modes[@]}"; do
        measure "$mode"
    done
done

median() { sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
# Within a round, because the machine is not as fast in the next.
ratio() {
    local sorted
    sorted=$(paste "$work/$1.rates" "$work/$2.rates" | awk '{print $1 / $2}' | sort -n)
    printf '%-52s %6.2f  (wanted %s; rounds %.2f to %.2f)\n' "$3" "$(median <<<"$sorted")" "$4" \
        "$(head -n 1 <<<"$sorted")" "$(tail -n 1 <<<"$sorted")"
}
echo
echo "medians of $rounds rounds"
ratio corvo-enqueue beanstalk-put "durable enqueue / beanstalkd put in memory" 0.75
ratio corvo-enqueue beanstalk-put-fsync "durable enqueue / beanstalkd put with fsync" 5
ratio corvo-lifecycle beanstalk-lifecycle "durable lifecycle / beanstalkd's in memory" 0.6
median <"$work/corvo-batch.rates" |
    awk '{printf "%-52s %6.0f  (wanted 300000)\n", "durable enqueue in batches of 100, jobs/s", $1}'
ratio corvo-batch-overload corvo-batch "goodput at twice the rate of the peak / peak" 0.9
awk '{if ($1 > max) max = $1} END {printf "%-52s %6.0f\n", "peak memory of the server then, MiB", max}' \
    "$work/memory"
echo
"$here/latency.py" "$corvo"
echo
echo "$before $(ticks)" |
    awk '{printf "%-52s %6.1f\n", "taken by the host of the processors, %", 100 * ($3 - $1) / ($4 - $2)}'
