#!/usr/bin/env python3
"""Measure the bytes that the server writes to files for a lifecycle: enqueue, fetch, ack.

Counts the bytes passed to write (`wchar`) per thread, because a block device counts whole pages and
the writes of other processes too. The server is stopped at the end, so that data that is still in
memory is written and counted.

    bytes.py PROGRAM [--jobs N] [--payload BYTES]...

Measures two orders: `at once`, where workers process jobs as soon as they are enqueued, so that much
data is overwritten in memory before it is written; and `backlog`, where all jobs wait before the first
is fetched.
"""
import argparse
import collections
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from running import PATIENCE_S, Client, Server, output  # noqa: E402

SOCKETS = ("http", "signals")


def written(pid):
    """Return the bytes by thread name, of the threads that are running, and of the whole process."""
    by_name = collections.Counter()
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            name = (task / "comm").read_text().strip()
            by_name[name.split(".")[0].split(":")[0]] += wchar(task)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return by_name, wchar(pathlib.Path(f"/proc/{pid}"))


def wchar(folder):
    for line in (folder / "io").read_text().splitlines():
        if line.startswith("wchar:"):
            return int(line.split()[1])
    raise RuntimeError("no wchar")


def is_over(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def await_that(what, test):
    end = time.monotonic() + 10 * PATIENCE_S
    while not test():
        if time.monotonic() > end:
            sys.exit(f"{what} does not come")
        time.sleep(0.1)


def metric(text, name):
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name + " "))


def view_is_level(client):
    text = client.stream("/metrics").decode()
    return all(metric(text, f"corvo_sqlite_mirror_{name}") == 0 for name in ("lag_updates", "text_lag"))


def await_quiet(pid):
    """Wait until nothing is written. The first files of the log are filled with zeros when they are created, which
    no job causes."""
    before = -1
    while before != wchar(pathlib.Path(f"/proc/{pid}")):
        before = wchar(pathlib.Path(f"/proc/{pid}"))
        time.sleep(1)


def measure(program, jobs, payload, at_once):
    with Server(program) as server:
        client = Client(server)
        pid = server.process.pid
        await_quiet(pid)
        first_by_name, first_total = written(pid)
        order = ["--combined"] if at_once else []
        output(program, "bench", "--server", f"http://127.0.0.1:{server.port}", "--jobs", str(jobs),
               "--payload-bytes", str(payload), "--concurrency", "16", "--enqueue-batch-size", "1",
               "--fetch-batch-size", "1", "--ack-batch-size", "1", "--separate-fetch", *order)
        await_that("the view", lambda: view_is_level(client))
        by_name, total = written(pid)
        server.process.terminate()
        await_that("the end", lambda: is_over(pid))
        whole = wchar(pathlib.Path(f"/proc/{pid}"))
        by_name.subtract(first_by_name)
        for name in SOCKETS:
            del by_name[name]
        by_name["stop"] = whole - total
        return sum(by_name.values()), by_name


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("--jobs", type=int, default=10000)
    p.add_argument("--payload", type=int, action="append")
    args = p.parse_args()
    print(f"{'order':<8} {'payload':>7} {'bytes/job':>10}   by thread")
    for payload in args.payload or (100, 10000):
        for at_once in (True, False):
            whole, by_name = measure(args.program, args.jobs, payload, at_once)
            parts = ", ".join(f"{n} {v / args.jobs:.0f}" for n, v in by_name.most_common() if v >= args.jobs)
            print(f"{'at once' if at_once else 'backlog':<8} {payload:>7} {whole / args.jobs:>10.0f}   {parts}", flush=True)


if __name__ == "__main__":
    main()
