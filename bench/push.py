#!/usr/bin/env python3
"""Measure jobs that the server delivers: calls per second, lateness, a hanging host, memory, and the rate of creation.

  push.py --binary PATH [--jobs N] [--due-window S] [--hanging N] [--targets N] [--create N [--rounds N]]

Enqueues N jobs that are due within a window of S seconds, and --hanging more for a host that never responds. Waits
until all of the first N have been called, and prints calls per second and the lateness of each call relative to its
due time. With a window of 0 all jobs are due at once, so the rate is the server's maximum. The targets
(bench/push_target) respond at once and record the times of the calls.

--create also compares the rates of POST /jobs and POST /api/v1/enqueue, in turns. The enqueued job is one that a
worker would fetch, which is less work, or the same job as that of POST /jobs, which the server delivers.
"""
import argparse
import array
import json
import multiprocessing
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import http.client

sys.dont_write_bytecode = True  # leave no files behind in the source tree
from lib import pipeline
from lib.running import await_view


class Target:
    """A process that receives the calls (push_target.c)."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.good, self.hole = (int(self.process.stdout.readline()) for _ in range(2))

    def calls(self):
        """Return a list of (lateness, time) of the calls, in seconds."""
        connection = http.client.HTTPConnection("127.0.0.1", self.good, timeout=120)
        connection.request("GET", "/report")
        numbers = array.array("d", connection.getresponse().read())
        connection.close()
        return list(zip(numbers[::2], numbers[1::2]))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def request(port, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request(method, path, None if body is None else json.dumps(body))
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    if answer.status >= 400:
        raise RuntimeError(f"{path}: {answer.status} {text[:300]}")
    return json.loads(text)


def start_server(binary, folder, *args):
    log = open(os.path.join(folder, "log"), "w+", encoding="utf-8")
    server = subprocess.Popen([binary, "server", "--bind", "127.0.0.1:0", "--data-dir", os.path.join(folder, "data"),
                               "--rate-limit-enabled=false", "--shutdown-drain", "0s", "--free-space-min", "0", *args],
                              stderr=log)
    port = None
    while port is None:
        if server.poll() is not None:
            raise RuntimeError(open(log.name, encoding="utf-8").read())
        time.sleep(0.1)
        found = re.search(r'"corvo server ready".*"port":(\d+)', open(log.name, encoding="utf-8").read())
        port = int(found.group(1)) if found else None
    return server, port


def processor_time(server):
    """Return the CPU seconds of all threads of the server, which do not include other processes."""
    with open(f"/proc/{server.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(server):
    with open(f"/proc/{server.pid}/status", encoding="ascii") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read())[1]) * 1024


def enqueue(port, options, goods, hole, first):
    """Enqueue all jobs, in batches of 1000. The last options.hanging jobs go to the host that hangs."""
    for start in range(0, options.jobs + options.hanging, 1000):
        jobs = []
        for n in range(start, min(start + 1000, options.jobs + options.hanging)):
            hangs = n >= options.jobs
            due = first + (n % options.jobs) / options.jobs * options.due_window
            when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(due)) + f"{due % 1:.6f}"[1:] + "Z"
            jobs.append({"queue": "push", "payload": {"due": due}, "scheduled_at": when, "max_retries": 1,
                         "push": {"url": f"http://127.0.0.1:{hole if hangs else goods[n % len(goods)]}/", "timeout": "60s"}})
        request(port, "POST", "/api/v1/enqueue/batch", {"jobs": jobs})


def deliver(options, folder):
    program = options.target or os.path.join(os.path.dirname(options.binary), "bench/push_target")
    targets = [Target(program) for _ in range(options.targets)]
    server, port = start_server(options.binary, folder)
    try:
        empty, began = resident(server), time.monotonic()
        first = time.time() + 3 + (options.jobs + options.hanging) / 10000
        enqueue(port, options, [t.good for t in targets], targets[0].hole, first)
        print(f"enqueued {options.jobs + options.hanging} jobs in {time.monotonic() - began:.1f} s; "
              f"{(resident(server) - empty) / (options.jobs + options.hanging):.0f} bytes of memory each while they wait")
        calls, used = [], processor_time(server)
        while len(calls) < options.jobs:
            time.sleep(0.5)
            calls = [call for target in targets for call in target.calls()]
        late = sorted(late for late, _ in calls)
        span = max(at for _, at in calls) - first
        print(f"calls {len(late)}, early {sum(1 for x in late if x < 0)}, "
              f"late p50 {late[len(late) // 2] * 1000:.0f} ms, p99 {late[len(late) * 99 // 100] * 1000:.0f} ms, "
              f"max {late[-1] * 1000:.0f} ms; {len(late) / span:.0f} calls/s from the first due time to the last call; "
              f"{(processor_time(server) - used) / len(late) * 1e6:.0f} us of processor time each")
    finally:
        server.terminate()
        server.wait()
        for target in targets:
            target.close()


# Jobs for later: one that a worker fetches, and one that the server delivers, created in both ways.
KINDS = {
    "enqueue": ("/api/v1/enqueue", '{"queue":"q","payload":{"n":1},"scheduled_at":"2100-01-01T00:00:00Z"}'),
    "enqueue with push": ("/api/v1/enqueue", '{"queue":"p","payload":{"n":1},"scheduled_at":"2100-01-01T00:00:00Z",'
                                             '"push":{"url":"http://127.0.0.1:1/"}}'),
    "jobs": ("/jobs", '{"type":"unico","timestamp":4102444800,"webhook_url":"http://127.0.0.1:1/","payload":{"n":1}}'),
}


def create_one(server, port, kind, jobs):
    """Create jobs with four clients. Return the jobs per second, and the CPU time per job in microseconds."""
    path, body = KINDS[kind]
    await_view(port)
    began, before = time.monotonic(), processor_time(server)
    clients = [multiprocessing.Process(target=pipeline.post, args=(port, path, body, jobs // 4)) for _ in range(4)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
        if client.exitcode != 0:
            raise RuntimeError(f"{kind}: a client failed")
    return jobs / (time.monotonic() - began), (processor_time(server) - before) / jobs * 1e6


def create(options, folder):
    """Compare the kinds in rounds, forwards and backwards in turn. Ratios are calculated within a round."""
    server, port = start_server(options.binary, folder, "--queue-job-limit", "100000000", "--queue-memory-limit", "100GB")
    rounds = []
    try:
        for n in range(options.rounds):
            kinds = list(KINDS) if n % 2 == 0 else list(KINDS)[::-1]
            rounds.append({kind: create_one(server, port, kind, options.create) for kind in kinds})
    finally:
        server.terminate()
        server.wait()
    for kind in KINDS:
        rate, cost = (statistics.median(r[kind][i] for r in rounds) for i in (0, 1))
        print(f"create: POST {kind:<17} {rate:.0f}/s, {cost:.1f} us of processor time each")
    for kind in ("enqueue", "enqueue with push"):
        rates = sorted(r["jobs"][0] / r[kind][0] for r in rounds)
        costs = [r[kind][1] / r["jobs"][1] for r in rounds]
        print(f"create: jobs to {kind}: ratio of the rates {statistics.median(rates):.2f} "
              f"(rounds {rates[0]:.2f} to {rates[-1]:.2f}), of the processor times {statistics.median(costs):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--jobs", type=int, default=20000)
    parser.add_argument("--due-window", type=float, default=2.0)
    parser.add_argument("--hanging", type=int, default=0)
    parser.add_argument("--targets", type=int, default=1, help="processes that are called")
    parser.add_argument("--target", help="what is called, instead of bench/push_target beside the binary")
    parser.add_argument("--create", type=int, default=0, help="jobs to create in each turn")
    parser.add_argument("--rounds", type=int, default=11, help="of turns to create")
    options = parser.parse_args()
    for run in ([deliver] if options.jobs > 0 else []) + ([create] if options.create > 0 else []):
        folder = tempfile.mkdtemp(prefix="corvo-push-bench-")
        try:
            run(options, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
