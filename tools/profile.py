#!/usr/bin/env python3
"""Count how often each part of the server runs, so that the release build can be optimized for it.

Runs the profile build under the loads that the release should be fast at: jobs one by one and in batches,
over HTTP/1.1, HTTP/2, calls and streams of the RPC service and the binary protocol, from the request to the
ack; jobs that the server delivers; searches. Does nothing if the counts exist already, except with --again.
"""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True  # leave no files behind in the source tree
sys.path.insert(0, str(ROOT / "bench"))
from lib import pipeline
from lib.running import ENVIRONMENT, Server, free_port

FOLDER = ROOT / "build/profile"
CORVO = FOLDER / "corvo"
COUNTS = FOLDER / "counts"
DONE = COUNTS / "complete"

TEN = ["--fetch-batch-size=10", "--ack-batch-size=10"]
ONE_BY_ONE = ["--enqueue-batch-size=1", "--fetch-batch-size=1", "--ack-batch-size=1"]
LOADS = [
    ("60,000 jobs one by one", ["--jobs=60000", "--concurrency=64", *ONE_BY_ONE]),
    ("20,000 jobs one by one over HTTP/2", ["--jobs=20000", "--concurrency=64", "--http2", *ONE_BY_ONE]),
    ("200,000 jobs in batches", ["--jobs=200000", "--concurrency=16"]),
    ("20,000 jobs by RPC calls, one by one", ["--jobs=20000", "--concurrency=64", "--protocol=rpc", *ONE_BY_ONE]),
    ("20,000 jobs by RPC calls, in batches", ["--jobs=20000", "--concurrency=64", "--protocol=rpc", *TEN]),
    ("50,000 jobs by RPC streams", ["--jobs=50000", "--concurrency=64", "--protocol=stream", *TEN]),
    ("50,000 jobs by the binary protocol", ["--jobs=50000", "--concurrency=64", "--protocol=binary", *TEN]),
]
# Path, body, number of requests. Several requests are in flight at a time.
REQUESTS = [
    ("20,000 jobs to be delivered", "/jobs",
     '{"type":"unico","timestamp":4102444800,"webhook_url":"http://127.0.0.1:1/","payload":{"n":1}}', 20000),
    ("500 searches", "/api/v1/jobs/search", '{"queue":"bench.q","state":["completed"],"limit":20}', 500),
]


def cmake(*args, **options):
    subprocess.run(["cmake", *args], check=True, cwd=ROOT, **options)


def build():
    print("profile: building the server that counts", flush=True)
    cmake("--preset", "profile", stdout=subprocess.DEVNULL)
    # ninja shows its progress
    cmake("--build", "--preset", "profile", "-j", str(os.cpu_count() or 2), "--target", "corvo")


def run_loads():
    rpc_address = f"127.0.0.1:{free_port()}"
    with Server(CORVO, flags=("--rpc-bind", rpc_address)) as server:
        count = len(LOADS) + len(REQUESTS)
        for number, (what, load) in enumerate(LOADS, 1):
            print(f"profile: load {number} of {count}: {what}", flush=True)
            subprocess.run([CORVO, "bench", f"--server=http://127.0.0.1:{server.port}",
                            f"--rpc-address={rpc_address}", "--save=/dev/null", *load], env=ENVIRONMENT, check=True,
                           stdout=subprocess.DEVNULL)
        for number, (what, *request) in enumerate(REQUESTS, len(LOADS) + 1):
            print(f"profile: load {number} of {count}: {what}", flush=True)
            pipeline.post(server.port, *request)
    if server.process.returncode != 0:  # it writes the counts when it exits
        sys.exit(f"the server ended with {server.process.returncode}")


def main():
    if DONE.exists() and "--again" not in sys.argv[1:]:
        return
    build()
    shutil.rmtree(COUNTS, ignore_errors=True)
    run_loads()
    if not any(COUNTS.glob("*.gcda")):
        sys.exit(f"nothing was counted in {COUNTS}")
    if (ROOT / "build/release/build.ninja").exists():
        # ninja does not know that the objects depend on the counts
        cmake("--build", "--preset", "release", "--target", "clean", stdout=subprocess.DEVNULL)
    DONE.touch()


main()
