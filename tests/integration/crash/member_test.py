#!/usr/bin/env python3
"""Cut the power of one member of a cluster again and again, and check that it comes back and that nothing is lost.

    member_test.py --binary PATH --shim PATH [--cycles N] [--seed N] [--keep]

Three servers form a cluster. The disk of one of them, the victim, loses what was not flushed (lossy_disk.py).
Logs are short, so that a victim that was down for a while has to fetch a checkpoint. A cycle: enqueue jobs while
the victim is down, start it, and kill it: before any of the changes that it makes to its files when it starts and
installs a checkpoint, at a random moment, or while it leads and takes jobs. Then the disk loses data.

The victim must start after every power cut. Now and then it is left alone until it has all entries. Then its state
must have the same hash as the leader's, and it must have every job that was ever acknowledged.

At the end the victim's disk ignores all flushes. That must be noticed, because otherwise the cycles before have
proved nothing.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from children import environment
from lossy_disk import LossyDisk

PATIENCE_S = 120
SETTLE_EVERY = 4
CARELESS_TRIES = 20
BATCH = 40             # jobs in a request
PAYLOAD_BYTES = 2000
LOG_BYTES = 1 << 17    # of a segment, and between two snapshots: two requests


class Trouble(Exception):
    """The victim has not survived a power cut."""


def until(what, seconds=PATIENCE_S, pause=0.02):
    """Wait until what() returns a true value, and return it. A node that does not respond has not done it."""
    end = time.monotonic() + seconds
    while True:
        try:
            got = what()
        except (OSError, http.client.HTTPException):
            got = None
        if got:
            return got
        if time.monotonic() > end:
            raise Trouble(f"waited {seconds} s for {what.__name__}")
        time.sleep(pause)


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Node:
    def __init__(self, binary, root, number):
        self.binary, self.name = binary, f"node-{number}"
        self.folder, self.log = root / self.name, root / f"{self.name}.log"
        self.http_port, self.raft_port = free_ports(2)
        self.process = None
        self.log_from = 0  # where the log of the present process begins
        self.folder.mkdir()
        self.log.touch()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http_port}"

    def start(self, *extra, env=None):
        args = [str(self.binary), "server", "--data-dir", str(self.folder), "--node-id", self.name,
                "--bind", f"127.0.0.1:{self.http_port}", "--raft-bind", f"127.0.0.1:{self.raft_port}",
                "--cluster-secret", "a secret of sixteen or more characters", "--rate-limit-enabled=false",
                "--http-threads", "1", "--free-space-min", "0", "--segment-bytes", str(LOG_BYTES),
                "--snapshot-log-bytes", str(LOG_BYTES), *extra]
        self.log_from = self.log.stat().st_size
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(args, stdout=log, stderr=log, env=environment(env))

    def kill(self):
        if self.process:
            self.process.kill()
            self.process.wait()

    def log_now(self):
        with open(self.log, "rb") as log:
            log.seek(self.log_from)
            return log.read()

    def call(self, method, path, body=None):
        conn = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=10)
        try:
            conn.request(method, path, body=None if body is None else json.dumps(body),
                         headers={"Content-Type": "application/json"})
            answer = conn.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text[:1] in (b"{", b"[") else text
        finally:
            conn.close()

    def status(self):
        return self.call("GET", "/api/v1/cluster/status")[1]


class Test:
    def __init__(self, args, root):
        self.random = random.Random(args.seed)
        self.nodes = [Node(args.binary, root, i + 1) for i in range(3)]
        self.first, _, self.victim = self.nodes
        self.disk = LossyDisk(args.shim, self.victim.folder, root / "journal")
        self.jobs = []     # ids of acknowledged jobs
        self.led = 0       # times that the victim was killed as the leader
        self.installs = self.at_change = self.settled = 0
        self.settle_s = 2.0    # a start of the victim until it has all entries
        self.settle_changes = 500

    def form(self):
        def leads():
            return self.first.status()["state"] == "Leader"

        def all_vote():
            return sum(row["voter"] for row in self.first.status()["nodes"]) == 3

        self.first.start("--durable=false")  # its process is never killed, so it loses nothing
        until(leads)
        for node in self.nodes[1:]:
            if node is self.victim:
                self.start_victim("--join", self.first.url)
            else:
                node.start("--durable=false", "--join", self.first.url)
        until(all_vote)

    def enqueue(self, node, times=1):
        """Enqueue jobs, and remember those that were acknowledged."""
        for _ in range(times):
            payload = {"bytes": self.random.randbytes(PAYLOAD_BYTES // 2).hex()}
            body = {"jobs": [{"queue": "q", "payload": payload} for _ in range(BATCH)]}
            try:
                status, answer = node.call("POST", "/api/v1/enqueue/batch", body)
            except (OSError, http.client.HTTPException):
                continue
            if status == 201:
                self.jobs += answer["job_ids"]

    # --- the victim ---

    def start_victim(self, *extra, kill_at=None):
        env = {}
        self.disk.prepare(env, kill_at)
        for path in self.victim.folder.glob("view.db*"):
            path.unlink()  # SQLite uses calls that lossy_disk.c does not intercept
        self.victim.start(*extra, env=env)

    def check_runs(self):
        if self.victim.process.poll() is not None:
            raise Trouble(f"the victim ended:\n{self.victim.log_now().decode()[-2000:]}")

    def wait(self, seconds):
        """Wait, and enqueue jobs now and then."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.check_runs()
            if self.random.random() < 0.2:
                self.enqueue(self.first)
            time.sleep(min(left, 0.05))

    def until_killed(self):
        """Wait until the victim has made as many changes as were asked for. It may need fewer."""
        end = time.monotonic() + 2 * self.settle_s
        while self.victim.process.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        if self.victim.process.poll() not in (None, -signal.SIGKILL):
            self.check_runs()
        self.at_change += self.victim.process.poll() is not None

    def until_leads(self):
        """Let the victim lead and take jobs."""
        def leads():
            self.check_runs()
            self.first.call("POST", "/api/v1/cluster/transfer", {"node_id": self.victim.name})
            return self.victim.status()["state"] == "Leader"

        until(leads, pause=0.2)
        self.enqueue(self.victim, self.random.randrange(4))
        self.led += 1

    def until_settled(self):
        def has_all():
            self.check_runs()
            seen = self.victim.status()
            wanted = self.first.status()
            if seen["applied_index"] != wanted["commit_index"]:
                return False
            ours, theirs = seen["state_hash"], wanted["state_hash"]
            if ours["index"] != theirs["index"]:  # hashes are compared every sixteen entries
                self.first.call("POST", f"/api/v1/queues/p/{self.random.choice(['pause', 'resume'])}")
                return False
            if ours["hash"] != theirs["hash"]:
                raise Trouble(f"the victim has another state: {ours}, {theirs}")
            return True

        def is_up():
            self.check_runs()
            return self.victim.status()["applied_index"] == self.first.status()["commit_index"]

        began = time.monotonic()
        until(is_up)
        self.settle_s = time.monotonic() - began
        self.settle_changes = self.disk.count()
        until(has_all)
        missing = [job for job in self.random.sample(self.jobs, min(len(self.jobs), 50)) + self.jobs[-BATCH:]
                   if self.victim.call("GET", f"/api/v1/jobs/{job}")[0] != 200]
        if missing:
            raise Trouble(f"acknowledged jobs are missing: {missing}")
        self.settled += 1

    def cut_power(self, lies=False):
        self.victim.kill()
        self.installs += self.victim.log_now().count(b"checkpoint fetched")
        self.disk.lose(self.random, lies)

    def cycle(self, number, lies=False):
        self.cut_power(lies)
        self.enqueue(self.first, self.random.choice([0, 1, 4, 8]))
        kind = 0 if number % SETTLE_EVERY == SETTLE_EVERY - 1 else self.random.random()
        if kind == 0:
            self.start_victim()
            self.until_settled()
        elif kind < 0.6:
            self.start_victim(kill_at=self.random.randint(1, self.settle_changes))
            self.until_killed()
        elif kind < 0.8:
            self.start_victim()
            self.until_leads()
        else:
            self.start_victim()
            self.wait(self.random.uniform(0, 1.3 * self.settle_s))

    def lying_disk_is_caught(self):
        for number in range(CARELESS_TRIES):
            try:
                self.cycle(number, lies=True)
            except Trouble:
                return True
        return False

    def end(self):
        for node in self.nodes:
            node.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--cycles", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    parser.add_argument("--keep", action="store_true", help="leave the folders where they are")
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    root = pathlib.Path(tempfile.mkdtemp(prefix="corvo-member-"))
    test = Test(args, root)
    failed = number = 0
    try:
        test.form()
        for number in range(args.cycles):
            test.cycle(number)
        print(f"{args.cycles} power cuts survived, {test.at_change} before a chosen change, {test.led} of the leader; "
              f"{test.installs} checkpoints fetched, {len(test.jobs)} jobs acknowledged, {test.settled} comparisons; "
              f"{test.disk.lost_writes} writes and {test.disk.lost_names} names were at the disk's mercy", flush=True)
        if not test.lying_disk_is_caught():
            print("a disk that ignores flushes was not noticed")
            failed = 1
    except Trouble as e:
        print(f"cycle {number + 1}: {e}")
        failed = 1
    finally:
        test.end()
    if args.keep or failed:
        print(f"folders: {root}")
    else:
        shutil.rmtree(root)
    print("failed" if failed else "passed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
