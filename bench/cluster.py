#!/usr/bin/env python3
"""Compare a cluster of three nodes with a single node, and measure the effects of a lost leader on clients.

  cluster.py CORVO [--jobs N] [--rounds N] [--kills N] [--stops N] [--standby-jobs N] [--only PART,…]

All nodes and clients share this machine. Every node flushes to its disk before it responds. Parts:

  rates    jobs per second, latencies and the CPU time of the leader per job: of a single node, of three
           through the leader, and of three through a follower. Medians of rounds, which alternate
  kills    time from kill -9 of the leader to the first acknowledgement of a write that began after it
  stops    after SIGTERM to the leader: the longest time without an acknowledged write, and failed requests
  standby  time from the start of an empty node until it votes. It fetches --standby-jobs jobs, most of them as
           a checkpoint
"""
import argparse
import contextlib
import http.client
import json
import pathlib
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # leave no files behind in the source tree
from lib.calm import ticks
from lib.running import ENVIRONMENT, cpu_s, percentile

PARTS = ["rates", "kills", "stops", "standby"]
ONE = ("--enqueue-batch-size", "1", "--fetch-batch-size", "1", "--ack-batch-size", "1")
PATIENCE_S = 120
FAIL_S = 30           # timeout of a request
SNAPSHOT = ("--snapshot-log-bytes", str(32 << 20))  # so that a new node fetches a checkpoint, not the whole log
AFTER_STOP_S = 1.0    # how long clients continue after a leader has ended
SECRET = "a secret for the nodes of one bench"


def until(what, said):
    end = time.monotonic() + PATIENCE_S
    while True:
        got = what()
        if got:
            return got
        if time.monotonic() > end:
            sys.exit(f"waited {PATIENCE_S} s: {said}")
        time.sleep(0.01)


def free_port():
    """Return a port below the range that the system assigns to connections: a node that was stopped must find its
    port free."""
    while True:
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("127.0.0.1", random.randrange(10000, 32000)))
            return s.getsockname()[1]


class Node:
    def __init__(self, program, folder, number, flags=()):
        self.name, self.port, self.raft_port = f"node-{number}", free_port(), free_port()
        self.folder, self.log = folder / self.name, folder / f"{self.name}.log"
        self.url = f"http://127.0.0.1:{self.port}"
        self.words = [program, "server", "--bind", f"127.0.0.1:{self.port}", "--data-dir", str(self.folder),
                      "--node-id", self.name, "--raft-bind", f"127.0.0.1:{self.raft_port}",
                      "--cluster-secret", SECRET, "--rate-limit-enabled=false", "--log-format", "json", *flags]
        self.process = None

    def start(self, join=None):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.words + (["--join", join.url] if join else []),
                                            stdout=log, stderr=log, env=ENVIRONMENT)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def status(self):
        """Return the node's status, or an empty object if it does not respond."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/api/v1/cluster/status")
            answer = connection.getresponse()
            return json.loads(answer.read()) if answer.status == 200 else {}
        except (OSError, http.client.HTTPException):
            return {}
        finally:
            connection.close()

    def leads(self):
        return self.is_running() and self.status().get("state") == "Leader"

    def cpu_s(self):
        """Return the CPU time of the process so far."""
        return cpu_s(self.process.pid)


class Cluster:
    def __init__(self, program, folder, count, flags=()):
        self.program, self.folder = program, folder
        folder.mkdir()
        self.nodes = [Node(program, folder, i + 1, flags) for i in range(count)]

    def __enter__(self):
        self.nodes[0].start()
        until(self.nodes[0].leads, "the first node leads")
        for node in self.nodes[1:]:
            node.start(join=self.nodes[0])
        self.wait_voters()
        return self

    def __exit__(self, kind, *_):
        for node in self.nodes:
            if node.is_running():
                node.process.kill()
            node.process.wait()
            if kind is not None:
                print(f"--- {node.name}\n" + node.log.read_text(errors="replace")[-1500:], file=sys.stderr)

    def leader(self):
        return until(lambda: next((n for n in self.nodes if n.leads()), None), "there is a leader")

    def others(self, node):
        return [n for n in self.nodes if n is not node]

    def wait_voters(self):
        """Wait until all nodes vote, have caught up and know the URL of the leader."""
        def all_vote():
            status = self.leader().status()
            rows = status.get("nodes", [])
            return len(rows) == len(self.nodes) and all(
                row["voter"] and row["status"] == "healthy" for row in rows) and all(
                node.status().get("leader_url") == status["leader_url"] for node in self.nodes)
        until(all_vote, "all nodes vote")


# --- rates ---

def bench(program, node, leader, jobs):
    """Return the report of corvo bench, with the CPU time that the leader used per job."""
    before = leader.cpu_s()
    done = subprocess.run([program, "bench", "--server", node.url, "--jobs", str(jobs), "--concurrency", "64",
                           "--output", "json", *ONE], env=ENVIRONMENT, check=True, capture_output=True, text=True)
    report = json.loads(done.stdout)
    for phase in ("enqueue", "lifecycle"):
        if report[phase]["completed"] != jobs:
            sys.exit(f"{phase}: {report[phase]['completed']} of {jobs} jobs")
    report["leader_us"] = (leader.cpu_s() - before) * 1e6 / jobs
    return report


def rates(options, folder):
    ways = ["one node", "three nodes, through the leader", "three nodes, through a follower"]
    found = {way: [] for way in ways}
    with Cluster(options.program, folder / "one", 1) as one, Cluster(options.program, folder / "three", 3) as three:
        for _ in range(options.rounds):
            leader = three.leader()
            found[ways[0]].append(bench(options.program, one.nodes[0], one.nodes[0], options.jobs))
            found[ways[1]].append(bench(options.program, leader, leader, options.jobs))
            found[ways[2]].append(bench(options.program, three.others(leader)[0], leader, options.jobs))
    print(f"{'':<34} {'phase':<10} {'jobs/s':>8} {'p50 ms':>8} {'p99 ms':>8} {'leader CPU µs per job':>22} {'ratio':>6}")
    base = None
    for way, runs in found.items():
        for phase in ("enqueue", "lifecycle"):
            median = {key: statistics.median(run[phase][key] for run in runs)
                      for key in ("ops_per_sec", "p50_us", "p99_us")}
            print(f"{way:<34} {phase:<10} {median['ops_per_sec']:>8.0f} {median['p50_us'] / 1000:>8.2f} "
                  f"{median['p99_us'] / 1000:>8.2f}")
        leader_us = statistics.median(run["leader_us"] for run in runs)
        base = base or leader_us
        print(f"{way:<34} {'both':<10} {'':>8} {'':>8} {'':>8} {leader_us:>22.1f} {leader_us / base:>6.2f}"
              f"{'  (wanted at most 1.35)' if way == ways[1] else ''}")


# --- loss of the leader ---

class Writer(threading.Thread):
    """Enqueues one job after another through one node. Records when each request began and ended, and whether it was
    acknowledged."""

    def __init__(self, node, over):
        super().__init__()
        self.node, self.over, self.rows, self.errors = node, over, [], []
        self.start()

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port, timeout=FAIL_S)
        body = json.dumps({"queue": "bench", "payload": {"n": 1}})
        while not self.over.is_set():
            began = time.monotonic()
            try:
                connection.request("POST", "/api/v1/enqueue", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                text = answer.read()
                done = answer.status == 201
                if not done:
                    self.errors.append(f"{answer.status} {text[:120]!r}")
            except (OSError, http.client.HTTPException) as e:
                done = False
                self.errors.append(repr(e))
                connection.close()
                self.over.wait(0.02)
            self.rows.append((began, time.monotonic(), done))
        connection.close()


@contextlib.contextmanager
def writers(nodes):
    over = threading.Event()
    threads = [Writer(node, over) for node in nodes]
    try:
        until(lambda: all(t.rows and t.rows[-1][2] for t in threads), "writes are acknowledged")
        yield threads
    finally:
        over.set()
        for thread in threads:
            thread.join()


def kill_once(cluster):
    victim = cluster.leader()
    with writers(cluster.others(victim)) as threads:
        killed = time.monotonic()
        victim.process.kill()
        victim.process.wait()

        def next_write():
            ends = [end for t in threads for began, end, done in t.rows[-50:] if done and began > killed]
            return min(ends, default=None)
        took = until(next_write, "a write is acknowledged") - killed
    errors = [e for t in threads for e in t.errors]
    victim.start()
    cluster.wait_voters()
    return took, errors


def stop_once(cluster):
    """Stop the leader with SIGTERM. Returns the longest time without an acknowledged write through the other nodes,
    the errors there, the errors at the leader, and how long the leader took to end."""
    victim = cluster.leader()
    others = cluster.others(victim)
    with writers([*others, *others, victim]) as threads:
        stopped = time.monotonic()
        victim.process.terminate()
        if victim.process.wait(PATIENCE_S) != 0:
            sys.exit(f"{victim.name} ended with {victim.process.returncode}")
        ended = time.monotonic()
        time.sleep(AFTER_STOP_S)
    *through_others, own = threads
    ends = sorted(end for t in through_others for _, end, done in t.rows if done)
    before = max(end for end in ends if end <= stopped)
    gaps = [after - before for before, after in zip(ends, ends[1:]) if after > before and after > stopped]
    errors = [e for t in through_others for e in t.errors]
    own_errors = [e for e in own.errors if "refused" not in e]
    victim.start()
    cluster.wait_voters()
    return max(gaps), errors, own_errors, ended - stopped


def show_errors(kind, errors):
    print(f"  {kind}: {len(errors)}" + "".join(f"\n    {e}" for e in sorted(set(errors))[:5]))


def kills(options, folder):
    took, errors = [], []
    with Cluster(options.program, folder / "kills", 3) as cluster:
        for _ in range(options.kills):
            seconds, failed = kill_once(cluster)
            took.append(seconds)
            errors += failed
    print(f"kill -9 of the leader to the next acknowledged write, {len(took)} times: p50 {percentile(took, 0.5):.0f} ms "
          f"(wanted 1500)   p99 {percentile(took, 0.99):.0f} ms (wanted 3000)   max {percentile(took, 1):.0f} ms")
    show_errors("failed requests through the other nodes", errors)


def stops(options, folder):
    rows = []
    with Cluster(options.program, folder / "stops", 3) as cluster:
        for _ in range(options.stops):
            rows.append(stop_once(cluster))
    gaps = [row[0] for row in rows]
    print(f"graceful stop of the leader, the longest time without an acknowledged write, {len(gaps)} times: p50 "
          f"{percentile(gaps, 0.5):.0f} ms   p99 {percentile(gaps, 0.99):.0f} ms (wanted 300)   "
          f"max {percentile(gaps, 1):.0f} ms")
    print(f"  from SIGTERM to the end of the process: p50 {percentile([row[3] for row in rows], 0.5):.0f} ms   "
          f"max {percentile([row[3] for row in rows], 1):.0f} ms")
    show_errors("failed requests through the other nodes (wanted 0)", [e for row in rows for e in row[1]])
    show_errors("requests without an answer at the node that stopped", [e for row in rows for e in row[2]])


# --- a new node ---

def fill(node, jobs):
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=FAIL_S)
    made = 0
    while made < jobs:
        count = min(1000, jobs - made)
        connection.request("POST", "/api/v1/enqueue/batch", json.dumps({"jobs": [
            {"queue": f"bench.{n % 10}", "payload": {"n": made + n, "text": "x" * 64}} for n in range(count)]}),
            {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 201:
            sys.exit(f"enqueue: {answer.status} {text!r}")
        made += count
    connection.close()


def standby(options, folder):
    with Cluster(options.program, folder / "standby", 3, SNAPSHOT) as cluster:
        fill(cluster.leader(), options.standby_jobs)
        cluster.wait_voters()
        new = Node(options.program, cluster.folder, 4, SNAPSHOT)
        cluster.nodes.append(new)
        began = time.monotonic()
        new.start(join=cluster.leader())

        def votes():
            rows = cluster.leader().status().get("nodes", [])
            return any(row["id"] == new.name and row["voter"] for row in rows)
        until(votes, "the new node votes")
        took = time.monotonic() - began
        cluster.wait_voters()
        fetched = new.status()["checkpoint_fetch"]
    if fetched["fetched_total"] == 0:
        sys.exit("the new node fetched no checkpoint: there are too few jobs for a snapshot")
    print(f"an empty node with {options.standby_jobs} jobs to fetch votes after {took:.1f} s (wanted 15); its "
          f"checkpoint has {fetched['bytes_total'] / 1e6:.0f} MB")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("program", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--jobs", type=int, default=50000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--stops", type=int, default=100)
    parser.add_argument("--standby-jobs", type=int, default=1000000)
    parser.add_argument("--only", default=",".join(PARTS), help="comma-separated parts")
    options = parser.parse_args()
    parts = options.only.split(",")
    if set(parts) - set(PARTS):
        sys.exit(f"no such part: {', '.join(sorted(set(parts) - set(PARTS)))}")
    for part in parts:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-bench-"))
        taken, spent = ticks()
        try:
            globals()[part](options, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        taken, spent = (now - before for now, before in zip(ticks(), (taken, spent)))
        print(f"  the host took {100 * taken / max(1, spent):.1f} % of the processors\n", flush=True)


if __name__ == "__main__":
    main()
