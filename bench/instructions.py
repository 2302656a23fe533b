#!/usr/bin/env python3
"""Count the instructions that the server executes per operation, with Callgrind.

Times vary on a shared machine. The number of instructions of fixed work does not. One client sends one
request after another on one connection, so that every request is a separate log entry. The operations
called busy are sent 32 at a time, as by many clients, and share entries. Only the threads that a request
passes are counted: those with an event loop and the view's readers. Other threads do work that depends on
the time.

    instructions.py PROGRAM              count, and compare with instructions.json beside this file
    instructions.py PROGRAM --write      count, and write that file
    instructions.py PROGRAM OTHER        count both, and compare them

The run fails if an operation costs over 3 % more than in the comparison. If a higher cost has a good reason,
write the file in the same commit and explain why. Under other load a request costs up to 2 % more, because
sleeping threads must be woken. So if an operation seems too expensive, everything is counted again, and the
lowest of up to three counts is used.
"""
import argparse
import concurrent.futures
import http.client
import json
import pathlib
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from running import Client, Server  # noqa: E402

KEPT = pathlib.Path(__file__).resolve().with_name("instructions.json")
TOLERANCE = 0.03
ROUNDS = 3
OPERATIONS = 2000
SEARCHES = 50
BATCHES = 20
BATCH = 100
STREAMED = 2000
BUSY = 12800
UNDER_WAY = 32
PATIENCE_S = 120
LEASE_S = 3600  # a server under Callgrind is slow; no lease may end during the count
PAYLOAD = {"to": "someone@example.org", "template": "welcome", "text": "x" * 40}


class Work:
    """The operations. They run in an order in which each finds the jobs that it needs."""

    def __init__(self, program, client):
        self.program, self.client = program, client
        self.jobs = []
        self.busy = self.answers = None

    def send_busily(self, path, body):
        """Send the same request UNDER_WAY times, and read all responses. Exits if a request fails."""
        if self.busy is None:
            self.busy = socket.create_connection((self.client.connection.host, self.client.connection.port),
                                                 timeout=PATIENCE_S)
            self.answers = self.busy.makefile("rb")
        text = json.dumps(body)
        request = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
        self.busy.sendall(request * UNDER_WAY)
        for _ in range(UNDER_WAY):
            self.expect_success(path)

    def expect_success(self, path):
        """Read the next response of the busy connection. Exits if it is not a success."""
        try:
            status = self.answers.readline().decode()
            headers = http.client.parse_headers(self.answers)
            data = self.answers.read(int(headers.get("Content-Length", 0)))
        except OSError as e:
            sys.exit(f"POST {path}: {e}")
        if not status.startswith("HTTP/1.1 20"):
            sys.exit(f"POST {path}: {status.strip() or 'the server hung up'} {data!r}")

    def enqueue_busy(self):
        self.send_busily("/api/v1/enqueue", {"queue": "later", "payload": {"n": 1},
                                             "scheduled_at": "2100-01-01T00:00:00Z"})

    def enqueue_push_busy(self):
        self.send_busily("/api/v1/enqueue", {"queue": "push", "payload": {"n": 1},
                                             "scheduled_at": "2100-01-01T00:00:00Z",
                                             "push": {"url": "http://127.0.0.1:1/"}})

    def create_busy(self):
        self.send_busily("/jobs", {"type": "unico", "timestamp": 4102444800, "payload": {"n": 1},
                                   "webhook_url": "http://127.0.0.1:1/"})

    def enqueue(self):
        self.client.post("/api/v1/enqueue", {"queue": "mail", "payload": PAYLOAD})

    def become_busy(self):
        """Make queues, buffers and tables grow to their final size."""
        for _ in range(10):
            self.enqueue_busy()
            self.create_busy()
            self.enqueue_push_busy()

    def use_a_key(self):
        key = self.client.post("/api/v1/auth/keys", {"name": "bench", "role": "admin"})["api_key"]
        self.client.headers["X-API-Key"] = key

    def write_what_waits(self):
        """Write the commits that are still in the window (src/kv): rebuilding the view writes them first."""
        self.client.post("/api/v1/admin/rebuild-sqlite", {})

    def fetch(self):
        self.jobs.append(self.client.post("/api/v1/fetch", {
            "queues": ["mail"], "worker_id": "w1", "timeout": 1, "lease_duration": LEASE_S})["job_id"])

    def heartbeat(self):
        """Extend the lease of the job that is acknowledged next. This shortens it to a minute."""
        self.client.post("/api/v1/heartbeat", {"jobs": {self.jobs[-1]: {}}, "worker_id": "w1"})

    def ack(self):
        self.client.post(f"/api/v1/ack/{self.jobs.pop()}", {})

    def get_job(self):
        self.client.get(f"/api/v1/jobs/{self.jobs[-1]}")

    def enqueue_batch(self):
        self.client.post("/api/v1/enqueue/batch",
                         {"jobs": [{"queue": "bulk", "payload": PAYLOAD}] * BATCH})

    def fetch_batch(self):
        found = self.client.post("/api/v1/fetch/batch", {
            "queues": ["bulk"], "worker_id": "w1", "count": BATCH, "timeout": 1, "lease_duration": LEASE_S})["jobs"]
        self.jobs = [job["job_id"] for job in found]

    def search(self):
        self.client.post("/api/v1/jobs/search", {"queue": "mail", "state": ["pending"], "limit": 20})

    def lifecycle_stream(self):
        """Run lifecycles over a stream, ten jobs per frame: the acks of the previous jobs and the fetch of the next
        ones."""
        connection = self.client.connection
        subprocess.run([self.program, "bench", "--server", f"http://{connection.host}:{connection.port}",
                        "--protocol", "stream", "--jobs", str(STREAMED), "--concurrency", "1", "--threads", "1",
                        *(word for what in ("enqueue", "fetch", "ack") for word in (f"--{what}-batch-size", "10"))],
                       check=True, stdout=subprocess.DEVNULL)

    def lifecycle_batch(self):
        self.enqueue_batch()
        self.fetch_batch()
        self.client.post("/api/v1/ack/batch", {"acks": [{"job_id": job} for job in self.jobs]})


# name of the method, number of calls, jobs per call
PLAN = [("enqueue", OPERATIONS, 1), ("search", SEARCHES, 1), ("fetch", OPERATIONS, 1), ("get_job", OPERATIONS, 1),
        ("heartbeat", OPERATIONS, 1), ("ack", OPERATIONS, 1),
        ("lifecycle_batch", BATCHES, BATCH), ("lifecycle_stream", 1, STREAMED)]
# Jobs for later with many requests in flight: one that a worker fetches, and one that the server delivers, created in
# both ways (scheduler.md 2.3).
BUSY_PLAN = [(name, BUSY // UNDER_WAY, UNDER_WAY) for name in ("enqueue_busy", "create_busy", "enqueue_push_busy")]


class Counted(Server):
    """A server under Callgrind. Its counts can be reset and read."""

    def __init__(self, program):
        self.counts = tempfile.TemporaryDirectory(prefix="corvo-counts-")
        super().__init__(program, "valgrind", "-q", "--tool=callgrind", "--separate-threads=yes",
                         f"--callgrind-out-file={self.counts.name}/out", "--log-file=/dev/null")

    def control(self, what):
        subprocess.run(["callgrind_control", what, str(self.process.pid)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def begin(self):
        self.control("-z")

    def end(self):
        self.control("-d")
        total = 0
        for path in pathlib.Path(self.counts.name).iterdir():
            text = path.read_text()
            lines = [line for line in text.splitlines() if line.startswith(("totals:", "summary:"))]
            if lines and ("uv_run" in text or "reader_main" in text) and "writer_main" not in text:
                total += int(lines[0].split()[1])
            path.unlink()
        return total

    def __exit__(self, *args):
        super().__exit__(*args)
        self.counts.cleanup()


def measure(program, plan, prepare=lambda work: None):
    """Count the operations of the plan with a new server, because the cost of an operation depends on the content of
    the store."""
    costs = {}
    with Counted(program) as server:
        work = Work(program, Client(server))
        prepare(work)
        for _ in range(OPERATIONS // 20):
            work.enqueue()  # do the work that happens only once
        for name, times, jobs in plan:
            operation = getattr(work, name)
            work.write_what_waits()  # so that no operation is charged for earlier work
            server.begin()
            for _ in range(times):
                operation()
            costs[name] = round(server.end() / times / jobs)
    return costs


def count(program):
    """Count the operations, and an enqueue by a caller with a key. Two servers run at a time."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        measured = [pool.submit(measure, program, *what) for what in (
            (PLAN,), (BUSY_PLAN, Work.become_busy), (PLAN[:1], Work.use_a_key))]
        costs, busy, with_key = (m.result() for m in measured)
    return {**costs, "enqueue_with_key": with_key["enqueue"], **busy}


def is_dearer(name, cost, before):
    return cost > before.get(name, cost) * (1 + TOLERANCE)


def count_until_cheap(program, before):
    """Return the lowest counts of up to three rounds. Stops when no operation seems more expensive than before."""
    costs = count(program)
    for _ in range(ROUNDS - 1):
        if not any(is_dearer(name, cost, before) for name, cost in costs.items()):
            break
        costs = {name: min(cost, costs[name]) for name, cost in count(program).items()}
    return costs


def show(costs, before):
    print(f"{'instructions':<17} {'before':>9} {'now':>9}   ratio")
    for name, cost in costs.items():
        print(f"{name:<17} {before.get(name, 0):>9} {cost:>9}   {cost / before.get(name, cost):5.3f}"
              f"{'   dearer' if is_dearer(name, cost, before) else ''}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("other", nargs="?", help="a program to compare with, instead of the file")
    parser.add_argument("--write", action="store_true", help="write the file")
    args = parser.parse_args()
    if args.write:
        rounds = [count(args.program) for _ in range(ROUNDS)]
        costs = {name: min(costs[name] for costs in rounds) for name in rounds[0]}
        KEPT.write_text(json.dumps(costs, indent=2) + "\n")
        print(KEPT.read_text(), end="")
        return 0
    before = count(args.other) if args.other else json.loads(KEPT.read_text())
    costs = count_until_cheap(args.program, before)
    show(costs, before)
    return 1 if any(is_dearer(name, cost, before) for name, cost in costs.items()) else 0


sys.exit(main())
