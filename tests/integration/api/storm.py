#!/usr/bin/env python3
"""Send random requests by the hundred thousand to a server built with AddressSanitizer.

  storm.py --binary PATH [--requests N] [--seed N]

Body sizes range from zero to beyond the limit. Requests are sent over HTTP/1.1, pipelined, and over HTTP/2, many
streams at once. Some requests are damaged (test_mutations.py). The run fails if the server aborts, sends an
incomplete response, exceeds its memory limit or leaks. After every 200,000 requests the server is stopped,
which checks for leaks, started, killed with SIGKILL and started again. Every acknowledged job of a witness
queue must still exist. Then a server with an empty folder continues, because long lists would take most of the
time. A failure reports the seed.
"""
import argparse
import json
import multiprocessing
import os
import random
import socket
import sys
import time

import http2_client as h2
from harness import PATIENCE_S, Server, metric
from test_mutations import check_answers, check_status, examples, mutate, originals, request, send_damaged

SENDERS = 3
GROUP = 16  # requests in flight at once on a connection
DAMAGED = 0.05  # share of the requests
MEMORY_LIMIT = 128 << 20
RESIDENT_MAX = 2 << 30  # AddressSanitizer's shadow and quarantine included
BODY_LIMIT = 16 << 20
WITNESSES = 200
LIFE = 200_000  # requests per server
# One tenth of them is enough: a fetch waits if there is no job, and the others read everything.
RARE = ("/api/v1/fetch", "/api/v1/admin/backup", "/api/v1/audit-logs", "/jobs?", "/metrics")
VALUES = [None, True, 0, -1, 1.5, 1e308, 2**63, -(2**63), "", "x", "\0", "\ud800", "\u00e9" * 50,
          [], {}, [[]] * 20, {"a": {"b": {"c": []}}}, [""] * 1000, "2099-01-01T00:00:00Z", "1h"]


def body_size(rng):
    """Return a size: usually small, sometimes up to slightly above the limit."""
    most = rng.choices((0, 300, 1 << 12, 1 << 18, BODY_LIMIT + 1000), (10, 60, 26, 3.9, 0.1))[0]
    return rng.randrange(most + 1)


def spoil(rng, value):
    """Return the value with some of its parts replaced."""
    if rng.random() < 0.08:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        return {k: spoil(rng, v) for k, v in value.items() if rng.random() > 0.03}
    if isinstance(value, list):
        return [spoil(rng, v) for v in value] * rng.choice((1, 1, 1, 1, 2, 50))
    return value


def random_request(rng, kinds):
    method, path, body = rng.choice(kinds)
    if path.startswith(RARE) and rng.random() < 0.9:
        return random_request(rng, kinds)
    if path.startswith("/api/v1/fetch"):
        body = {**body, "timeout": 1}
    elif path == "/api/v1/enqueue" and rng.random() < 0.8:
        body = {**body, "scheduled_at": None, "unique_key": None, "chain": None}  # so that it can be fetched
    if body is None:
        return method, path, b""
    body = spoil(rng, body)
    size = body_size(rng)
    if isinstance(body, dict) and size > 300:
        body = {**body, rng.choice(("payload", "filler", "result")): "y" * size}
    raw = json.dumps(body).encode()
    return method, path, b"" if size == 0 else raw


def over_http1(port, group):
    data = b"".join(
        b"%s %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s"
        % (method.encode(), path.encode(), len(body), body) for method, path, body in group)
    data += request("GET", "/livez", headers=b"Connection: close\r\n")
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S + 60) as s:
        s.setblocking(True)
        got, sent = b"", 0
        try:
            while sent < len(data):  # read meanwhile, because the server may wait until we read
                sent += s.send(data[sent:sent + (1 << 16)])
                s.setblocking(False)
                try:
                    while piece := s.recv(1 << 20):
                        got += piece
                except BlockingIOError:
                    pass
                s.setblocking(True)
            while piece := s.recv(1 << 20):
                got += piece
        except (ConnectionResetError, BrokenPipeError):
            return  # a refused body ends the connection
    check_answers(got)


def over_http2(port, group):
    connection = h2.Connection(port, PATIENCE_S + 60)
    try:
        streams = [connection.request(method, path, body) for method, path, body in group]
        for stream in streams:
            status, body = connection.answer(stream)
            check_status(status, body)
    finally:
        connection.close()


def send(port, seed, count, job):
    """Send requests from a separate process. Returns None or a description of the failure."""
    rng = random.Random(seed)
    queue = f"storm.{seed}"
    kinds, pool = examples(queue, job), originals(queue, job)
    done = 0
    while done < count:
        try:
            if rng.random() < DAMAGED * GROUP / (1 + DAMAGED * GROUP):
                done += 1
                send_damaged(port, mutate(rng, pool))
                continue
            group = [random_request(rng, kinds) for _ in range(GROUP)]
            done += GROUP
            rng.choice((over_http1, over_http2))(port, group)
            if rng.random() < 0.005:
                over_http1(port, [("DELETE", f"/api/v1/queues/{queue}", b"")])
        except (AssertionError, OSError, ValueError) as e:
            return f"seed {seed}, request {done}: {e!r}"
    return None


def resident(server):
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as f:
        fields = dict(line.split(":", 1) for line in f)
    return int(fields["VmHWM"].split()[0]) << 10


def rage(server, seed, count):
    """Send the requests while observing the server's memory. Returns the peak memory."""
    api = server.client()
    job = api.enqueue("storm.job")
    with multiprocessing.Pool(SENDERS) as pool:
        rounds = [pool.apply_async(send, (server.port, seed + i, count // SENDERS, job))
                  for i in range(SENDERS)]
        over = False
        while not over:
            rounds[0].wait(2)
            over = all(r.ready() for r in rounds)
            server.check_alive()
            used = metric(api, "corvo_request_memory_bytes")
            if used > 2 * MEMORY_LIMIT:
                raise AssertionError(f"requests hold {used} bytes")
            if problems := [r.get() for r in rounds if r.ready() and r.get()]:
                raise AssertionError("; ".join(problems) + server.log())
    peak = resident(server)
    if peak > RESIDENT_MAX:
        raise AssertionError(f"the server had {peak} bytes in memory")
    return peak


def live(seed, count):
    """Run one server with count requests. Returns its peak memory."""
    env = {"ASAN_OPTIONS": "quarantine_size_mb=64:abort_on_error=1"}
    with Server("--rate-limit-enabled=false", "--memory-limit", str(MEMORY_LIMIT), "--retention",
                "1s", "--retention-interval", "5s", env=env) as server:
        peak = rage(server, seed, count)
        server.terminate()  # exit status 0: no leak
        server.start()
        api = server.client()
        witnesses = [api.enqueue("storm.witness") for _ in range(WITNESSES)]
        server.kill()
        server.start()
        found = server.client().post("/api/v1/jobs/bulk-get", {"job_ids": witnesses}).json["jobs"]
        if len(found) != WITNESSES:
            raise AssertionError(f"{WITNESSES - len(found)} acknowledged jobs are missing")
    print(f"storm: {count} requests passed, peak memory {peak >> 20} MiB", flush=True)
    return peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--binary", required=True)
    parser.add_argument("--requests", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    args = parser.parse_args()
    os.environ["CORVO_BINARY"] = os.path.abspath(args.binary)
    print(f"storm: {args.requests} requests, seed {args.seed}", flush=True)
    started = time.monotonic()
    lives = max(1, args.requests // LIFE)
    peaks = [live(args.seed + n * SENDERS, args.requests // lives) for n in range(lives)]
    print(f"storm: passed in {time.monotonic() - started:.0f} s; peak memory "
          f"{max(peaks) >> 20} MiB", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
