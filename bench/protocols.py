#!/usr/bin/env python3
"""The ways to talk to a server side by side: HTTP, RPC, streams and the binary worker protocol.

  protocols.py CORVO [JOBS [ROUNDS]]

One durable server on free ports of its own; corvo bench sends the same jobs in each way, in turns.
Shown are medians of the rounds: jobs per second, how many times the first row of its kind that is,
and the processor time of the server for 1,000 jobs, which depends least on who else uses the machine.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is left behind in the source tree
from lib.calm import ticks
from lib.running import ENVIRONMENT, free_port, running

ONE = ("--enqueue-batch-size", "1", "--fetch-batch-size", "1", "--ack-batch-size", "1")
TEN = ("--fetch-batch-size", "10", "--ack-batch-size", "10")

# Name, phase that counts, flags. Ratios are to the first row of the phase.
WAYS = [
    ("HTTP/1.1, one job each", "enqueue", ONE),
    ("HTTP/2, one job each", "enqueue", ("--http2", *ONE)),
    ("gRPC, one job each", "enqueue", ("--protocol", "rpc", *ONE)),
    ("HTTP/1.1, one job each", "lifecycle", ONE),
    ("HTTP/1.1, batches of 10", "lifecycle", TEN),
    ("gRPC, batches of 10", "lifecycle", ("--protocol", "rpc", *TEN)),
    ("streams, 10 jobs a frame", "lifecycle", ("--protocol", "stream", *TEN)),
    ("binary, credits for 10", "lifecycle", ("--protocol", "binary", *TEN)),
]


def measure(program, port, rpc_port, jobs, flags):
    done = subprocess.run(
        [program, "bench", "--server", f"http://127.0.0.1:{port}", "--rpc-address", f"127.0.0.1:{rpc_port}",
         "--jobs", str(jobs), "--concurrency", "64", "--output", "json", *flags],
        env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 50000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    found = [[] for _ in WAYS]
    with tempfile.TemporaryDirectory(prefix="corvo-bench-") as folder:
        taken, spent = ticks()
        port, rpc_port = free_port(), free_port()
        with running(folder, port, program, "server", "--bind", f"127.0.0.1:{port}", "--data-dir", f"{folder}/data",
                     "--rpc-bind", f"127.0.0.1:{rpc_port}", "--rate-limit-enabled=false"):
            for _ in range(rounds):
                for i, (_, phase, flags) in enumerate(WAYS):
                    found[i].append(measure(program, port, rpc_port, jobs, flags)[phase])
    print(f"{'':<28} {'phase':<10} {'jobs/s':>9} {'ratio':>6} {'server CPU ms per 1,000':>24} {'p50 ms':>8} {'p99 ms':>8}")
    first = {}
    for (name, phase, _), runs in zip(WAYS, found):
        median = {key: statistics.median(run[key] for run in runs)
                  for key in ("ops_per_sec", "server_cpu_ms_per_1000", "p50_us", "p99_us")}
        base = first.setdefault(phase, median["ops_per_sec"])
        print(f"{name:<28} {phase:<10} {median['ops_per_sec']:>9.0f} {median['ops_per_sec'] / base:>6.2f} "
              f"{median['server_cpu_ms_per_1000']:>24.1f} {median['p50_us'] / 1000:>8.2f} {median['p99_us'] / 1000:>8.2f}")
    taken, spent = (now - before for now, before in zip(ticks(), (taken, spent)))
    print(f"the host took {100 * taken / spent:.1f} % of the processors")


main()
