#!/usr/bin/env python3
"""Compare the protocols of a server: HTTP, RPC, streams and the binary worker protocol.

Starts one durable server on free ports. corvo bench sends the same jobs with each protocol, in alternating
order, forwards and backwards. Shows medians of the rounds: jobs per second, and the server's CPU time for
1,000 jobs, which depends least on other users of the machine. If the host took more of the processors than
lib/calm.py allows, a measurement is repeated. The ratios are medians of the ratios within each round, whose
two measurements follow one another, so that a slow moment affects both.

Then one worker at a time waits for a job that is enqueued over HTTP, with each protocol in turn. The time is
from before the enqueue is sent until the job's first byte arrives. The time that this program needs to read
the response, which differs between protocols, is not included.
"""
import argparse
import json
import pathlib
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # leave no files behind in the source tree
from lib.calm import Calm
from lib.running import ENVIRONMENT, PATIENCE_S, Client, await_view, free_port, percentiles, running

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/integration/api"))
from http2_client import Connection

HANDED_OVER = 300  # jobs for a waiting worker, with each protocol
CONNECTIONS = 6

ONE = ("--enqueue-batch-size", "1", "--fetch-batch-size", "1", "--ack-batch-size", "1")
TEN = ("--fetch-batch-size", "10", "--ack-batch-size", "10")

# Name, phase that is reported, flags.
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

# Name, two rows of WAYS, and the wanted ratio.
RATIOS = [
    ("gRPC enqueues / HTTP/2 with JSON", 2, 1, 1.0),
    ("streams / single HTTP/1.1 requests", 6, 3, 2.0),
    ("binary protocol / streams", 7, 6, 1.2),
]


def measure(program, port, rpc_port, jobs, flags):
    done = subprocess.run(
        [program, "bench", "--server", f"http://127.0.0.1:{port}", "--rpc-address", f"127.0.0.1:{rpc_port}",
         "--jobs", str(jobs), "--concurrency", "64", "--output", "json", *flags],
        env=ENVIRONMENT, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def arrival(connection):
    """Wait until data arrives. Return the time."""
    connection.recv(1, socket.MSG_PEEK)
    return time.perf_counter()


class Fetch:
    """A parked fetch."""

    def __init__(self, server, _):
        self.connection = Client(server).connection

    def wait(self):
        self.connection.request("POST", "/api/v1/fetch", json.dumps({"queues": ["handed"], "timeout": 60}))

    def take(self):
        when = arrival(self.connection.sock)
        return json.loads(self.connection.getresponse().read())["job_id"], when


class Stream:
    """A lifecycle stream. Its fetch ends without jobs after --idle-fetch-sleep, and is sent again."""

    def __init__(self, server, _):
        self.connection = Connection(server.port, PATIENCE_S)
        self.connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # like the other connections
        self.stream = self.connection.open("/corvo.v1.WorkerService/StreamLifecycle",
                                           [("content-type", "application/connect+json")])
        self.seen = 0

    def wait(self):
        frame = json.dumps({"queues": ["handed"], "fetchCount": 1}).encode()
        self.connection.data(self.stream, b"\0" + struct.pack(">I", len(frame)) + frame)

    def answer(self):
        while True:
            body = self.connection.body.get(self.stream, b"")[self.seen:]
            if len(body) >= 5 and len(body) >= 5 + struct.unpack(">I", body[1:5])[0]:
                size, = struct.unpack(">I", body[1:5])
                self.seen += 5 + size
                return json.loads(body[5:5 + size])
            self.when = arrival(self.connection.socket)
            self.connection.read()

    def take(self):
        while not (jobs := self.answer().get("jobs")):
            self.wait()
        return jobs[0]["jobId"], self.when


class Binary:
    """A subscription with one credit."""

    def __init__(self, _, rpc_port):
        self.socket = socket.create_connection(("127.0.0.1", rpc_port), PATIENCE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")

    def wait(self):
        asked = struct.pack("<HI", 1, 30000) + b"\1w\1\6handed"
        self.socket.sendall(struct.pack("<BII", 2, 1, len(asked)) + asked)

    def take(self):
        when = arrival(self.socket)
        _, _, size = struct.unpack("<BII", self.input.read(9))
        payload = self.input.read(size)
        return payload[3:3 + payload[2]].decode(), when


def handed_over(server, rpc_port):
    """Measure how long a waiting worker needs to get a job. Uses several connections per protocol, because it is
    chance whether a connection shares the producer's thread."""
    producer = Client(server)
    ways = [[kind(server, rpc_port) for _ in range(CONNECTIONS)] for kind in (Fetch, Stream, Binary)]
    took = [[] for _ in ways]
    for n in range(HANDED_OVER):
        for workers, times in zip(ways, took):
            way = workers[n % CONNECTIONS]
            way.wait()
            while producer.get("/api/v1/cluster/status")["admission_stats"]["fetches_waiting"] == 0:
                pass
            started = time.perf_counter()
            producer.connection.request("POST", "/api/v1/enqueue", json.dumps({"queue": "handed", "payload": {"n": 1}}))
            job, when = way.take()
            times.append(when - started)
            producer.connection.getresponse().read()
            producer.post(f"/api/v1/ack/{job}", {})
    return [(type(workers[0]).__name__.lower(), times) for workers, times in zip(ways, took)]


def one_round(number, calm, measure_way):
    """Run every other round backwards, so that neither of two neighbours is always first."""
    order = range(len(WAYS)) if number % 2 == 0 else reversed(range(len(WAYS)))
    found = [None] * len(WAYS)
    for i in order:
        name, phase, _ = WAYS[i]
        found[i] = calm.measure(lambda: measure_way(i), lambda got: f"  {name:<26} {phase:<10} {got['ops_per_sec']:>8.0f} jobs/s")
    return found


def report(rounds):
    print(f"\n{'medians of ' + str(len(rounds)) + ' rounds':<28} {'phase':<10} {'jobs/s':>9} {'server CPU ms per 1,000':>24} "
          f"{'p50 ms':>8} {'p99 ms':>8}")
    for (name, phase, _), runs in zip(WAYS, zip(*rounds)):
        median = {key: statistics.median(run[key] for run in runs)
                  for key in ("ops_per_sec", "server_cpu_ms_per_1000", "p50_us", "p99_us")}
        print(f"{name:<28} {phase:<10} {median['ops_per_sec']:>9.0f} {median['server_cpu_ms_per_1000']:>24.1f} "
              f"{median['p50_us'] / 1000:>8.2f} {median['p99_us'] / 1000:>8.2f}")
    for title, ours, theirs, wanted in RATIOS:
        ratios = [found[ours]["ops_per_sec"] / found[theirs]["ops_per_sec"] for found in rounds]
        print(f"{title:<39} {statistics.median(ratios):>8.2f}  (wanted {wanted}; rounds {min(ratios):.2f} to "
              f"{max(ratios):.2f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="the corvo to measure, of a release build")
    parser.add_argument("--jobs", type=int, default=50000, help="in each measurement (%(default)s)")
    parser.add_argument("--rounds", type=int, default=15, help="of all ways (%(default)s)")
    args = parser.parse_args()
    program = str(pathlib.Path(args.program).resolve())
    calm, rounds = Calm(args.rounds * len(WAYS)), []
    with tempfile.TemporaryDirectory(prefix="corvo-bench-") as folder:
        port, rpc_port = free_port(), free_port()
        with running(folder, port, program, "server", "--bind", f"127.0.0.1:{port}", "--data-dir", f"{folder}/data",
                     "--rpc-bind", f"127.0.0.1:{rpc_port}", "--rate-limit-enabled=false") as server:
            server.port = port

            def measure_way(i):
                _, phase, flags = WAYS[i]
                await_view(port)
                return measure(program, port, rpc_port, args.jobs, flags)[phase]

            for number in range(args.rounds):
                print(f"round {number + 1} of {args.rounds}, {args.jobs} jobs each", flush=True)
                rounds.append(one_round(number, calm, measure_way))
            waited = handed_over(server, rpc_port)
    report(rounds)
    for name, times in waited:
        print(percentiles(f"enqueue to a waiting {name}", times))
    calm.report()


main()
