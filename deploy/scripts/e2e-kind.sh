#!/usr/bin/env bash
# Build the image, deploy three nodes to a kind cluster, and check them. Requires docker, kind and kubectl.
#
#   e2e-kind.sh
#
# Always prints the logs of the nodes. KEEP=1 leaves the kind cluster running.
set -euo pipefail
cd "$(dirname "$0")/../.."
name=corvo-e2e

finish() {
    kubectl logs -l app=scheduled-db --tail=100 --prefix || true
    if [ "${KEEP:-0}" = 0 ]; then kind delete cluster --name "$name"; fi
}

docker build -t corvo:latest -f deploy/Dockerfile .
kind create cluster --name "$name" --config deploy/k8s/kind.yaml
trap finish EXIT
kind load docker-image corvo:latest --name "$name"
kubectl create secret generic scheduled-db-secret --from-literal=cluster-secret="$(openssl rand -hex 16)"
kubectl apply -k deploy/k8s/overlays/e2e
kubectl rollout status statefulset/scheduled-db --timeout=90s

urls=()
for i in 0 1 2; do
    kubectl port-forward "pod/scheduled-db-$i" "$((18080 + i)):8080" >/dev/null &
    urls+=("http://127.0.0.1:$((18080 + i))")
done
deploy/scripts/check-cluster.sh "${urls[@]}"
