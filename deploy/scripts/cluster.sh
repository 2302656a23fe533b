#!/usr/bin/env bash
# Start, stop and inspect a cluster on this machine.
#
#   cluster.sh start|stop|status|env [dev|docker|prod]
#
# Variables, with the defaults of the preset dev:
#   CLUSTER_SIZE 3         1 to 10 nodes
#   BASE_RAFT_PORT 12000   port of node 1 for other nodes; each further node uses the next port
#   BASE_HTTP_PORT 12080   API port of node 1 (default: BASE_RAFT_PORT + HTTP_PORT_OFFSET)
#   HTTP_PORT_OFFSET 80
#   DATA_BASE_DIR ./data   directory with one subdirectory per node
#   LOG_BASE_DIR ./logs    directory with one log file per node
#   TEST_HOST 127.0.0.1    address that the nodes listen on
#   CORVO corvo            path of the corvo binary
#   CLUSTER_SECRET         secret shared by the nodes, at least 16 characters
#   VALIDATE_ENV 1         0: do not check these variables first
# The presets docker (3 nodes, 7000/8000) and prod (5 nodes, 9000/9080) change the first three.
# CLUSTER_NODE_i ("raft_host:port,http_host:port") is derived from the bases unless it is set.
set -euo pipefail

preset() { : "${CLUSTER_SIZE:=$1}" "${BASE_RAFT_PORT:=$2}" "${BASE_HTTP_PORT:=$3}"; }
command=${1:-} name=${2:-dev}
: "${HTTP_PORT_OFFSET:=80}"
if [ -n "${BASE_RAFT_PORT:-}" ]; then : "${BASE_HTTP_PORT:=$((BASE_RAFT_PORT + HTTP_PORT_OFFSET))}"; fi
case $name in
dev) preset 3 12000 12080 ;;
docker) preset 3 7000 8000 ;;
prod) preset 5 9000 9080 ;;
*) echo "cluster.sh: unknown preset '$name': expected dev, docker or prod" >&2; exit 2 ;;
esac
: "${DATA_BASE_DIR:=./data}" "${LOG_BASE_DIR:=./logs}" "${TEST_HOST:=127.0.0.1}" "${CORVO:=corvo}" "${VALIDATE_ENV:=1}"
: "${CLUSTER_SECRET:=a-secret-for-trying-out}"

fail() { echo "cluster.sh: $1" >&2; exit 2; }

check_port() {
    [[ ${!1} =~ ^[0-9]+$ ]] && [ "${!1}" -ge 1024 ] && [ $((${!1} + CLUSTER_SIZE - 1)) -le 65535 ] ||
        fail "$1 is '${!1}': the ports of all nodes must be between 1024 and 65535"
}

check() {
    [[ $CLUSTER_SIZE =~ ^[0-9]+$ ]] && [ "$CLUSTER_SIZE" -ge 1 ] && [ "$CLUSTER_SIZE" -le 10 ] ||
        fail "CLUSTER_SIZE is '$CLUSTER_SIZE': expected 1 to 10"
    check_port BASE_RAFT_PORT
    check_port BASE_HTTP_PORT
    local apart=$((BASE_RAFT_PORT - BASE_HTTP_PORT))
    [ "${apart#-}" -ge "$CLUSTER_SIZE" ] || fail "BASE_RAFT_PORT and BASE_HTTP_PORT: the ports overlap"
}

derive() {
    local i variable
    peers=""
    for ((i = 1; i <= CLUSTER_SIZE; i++)); do
        variable=CLUSTER_NODE_$i
        : "${!variable:=$TEST_HOST:$((BASE_RAFT_PORT + i - 1)),$TEST_HOST:$((BASE_HTTP_PORT + i - 1))}"
        export "${variable?}"
        peers+="${peers:+,}${!variable%%,*}"
    done
}

http_of() {
    local variable=CLUSTER_NODE_$1
    echo "${!variable#*,}"
}

start_node() {
    local i=$1 variable=CLUSTER_NODE_$1 raft http
    raft=${!variable%%,*} http=${!variable#*,}
    mkdir -p "$DATA_BASE_DIR/node-$i" "$LOG_BASE_DIR"
    NODE_ID=node-$i DATA_DIR=$DATA_BASE_DIR/node-$i HTTP_HOST=${http%:*} HTTP_PORT=${http##*:} \
        RAFT_HOST=${raft%:*} RAFT_PORT=${raft##*:} RAFT_ADVERTISE_HOST=${raft%:*} \
        DISCOVERY_STRATEGY=static PEERS=$peers BOOTSTRAP_EXPECT=$CLUSTER_SIZE CORVO_CLUSTER_SECRET=$CLUSTER_SECRET \
        "$CORVO" server >>"$LOG_BASE_DIR/node-$i.log" 2>&1 &
    echo $! >"$DATA_BASE_DIR/node-$i.pid"
}

case $command in
start | status | stop | env) ;;
*) sed -n '2,/^set /s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
if [ "$VALIDATE_ENV" != 0 ]; then check; fi
derive
case $command in
start)
    for ((i = 1; i <= CLUSTER_SIZE; i++)); do start_node "$i"; done
    for ((i = 1; i <= CLUSTER_SIZE; i++)); do
        until curl -fsS "http://$(http_of "$i")/ready" >/dev/null 2>&1; do
            kill -0 "$(cat "$DATA_BASE_DIR/node-$i.pid")" 2>/dev/null || { tail -5 "$LOG_BASE_DIR/node-$i.log" >&2; exit 1; }
            sleep 0.2
        done
        echo "node-$i: http://$(http_of "$i")"
    done
    ;;
status)
    for ((i = 1; i <= CLUSTER_SIZE; i++)); do
        echo "node-$i: $(curl -fsS "http://$(http_of "$i")/debug/cluster" 2>/dev/null || echo "no response")"
    done
    ;;
stop)
    for ((i = 1; i <= CLUSTER_SIZE; i++)); do
        pid=$(cat "$DATA_BASE_DIR/node-$i.pid" 2>/dev/null) || continue
        kill "$pid" 2>/dev/null || true
        while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
        rm -f "$DATA_BASE_DIR/node-$i.pid"
    done
    ;;
env)
    for ((i = 1; i <= CLUSTER_SIZE; i++)); do
        variable=CLUSTER_NODE_$i
        echo "$variable=${!variable}"
    done
    ;;
esac
