#!/usr/bin/env python3
"""Count what of the server runs how often, for the release build to be optimised for.

Runs the profile build under the loads that the release shall be fast at: jobs one by one and in
batches, over HTTP/1.1 and HTTP/2, from the request to the ack. Does nothing when that was done
before, unless asked to do it --again.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/profile"
CORVO = FOLDER / "corvo"
COUNTS = FOLDER / "counts"
DONE = COUNTS / "complete"

ONE_BY_ONE = ["--enqueue-batch-size=1", "--fetch-batch-size=1", "--ack-batch-size=1"]
LOADS = [
    ["--jobs=60000", "--concurrency=64", *ONE_BY_ONE],
    ["--jobs=20000", "--concurrency=64", "--http2", *ONE_BY_ONE],
    ["--jobs=200000", "--concurrency=16"],
]


def cmake(*args):
    subprocess.run(["cmake", *args], check=True, cwd=ROOT, stdout=subprocess.DEVNULL)


def build():
    print("building the server that counts", flush=True)
    cmake("--preset", "profile")
    cmake("--build", "--preset", "profile", "-j", str(os.cpu_count() or 2), "--target", "corvo")


def port_of(server):
    """The server says it in the last line of its start."""
    for line in server.stderr:
        record = json.loads(line)
        if record["msg"] == "corvo server ready":
            return record["port"]
    sys.exit("the server did not start")


def run_loads(folder):
    print("running it", flush=True)
    server = subprocess.Popen([CORVO, "server", "--bind=127.0.0.1:0", f"--data-dir={folder}/data",
                               "--rate-limit-enabled=false", "--log-format=json"],
                              stderr=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{port_of(server)}"
        for load in LOADS:
            subprocess.run([CORVO, "bench", f"--server={url}", f"--save={folder}/report", *load],
                           check=True, stdout=subprocess.DEVNULL)
    finally:
        server.send_signal(signal.SIGTERM)  # it writes the counts when it ends
        server.communicate()
    if server.returncode != 0:
        sys.exit(f"the server ended with {server.returncode}")


def main():
    if DONE.exists() and "--again" not in sys.argv[1:]:
        return
    build()
    shutil.rmtree(COUNTS, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        run_loads(folder)
    if not any(COUNTS.glob("*.gcda")):
        sys.exit(f"nothing was counted in {COUNTS}")
    if (ROOT / "build/release/build.ninja").exists():
        cmake("--build", "--preset", "release", "--target", "clean")  # it does not know the counts
    DONE.touch()


main()
