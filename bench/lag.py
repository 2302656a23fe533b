#!/usr/bin/env python3
"""Measure how far the search index lags behind at a steady rate of jobs.

    lag.py PROGRAM [--rate JOBS] [--seconds S] [--payload BYTES] [--load PROGRAM]

Starts a separate durable server and runs lifecycles in batches of 64 against it, at --rate jobs per second
(0: without a limit). In the first half there are no searches. In the second half a client runs an indexed
search five times a second. The lag is read from the metrics twice a second. In seconds, it is the number of
changed jobs that the index does not have, divided by the number of jobs that finish per second. CPU time is
shown for the view's writer, the rest of the server and the load generator, in processors and per job. The
wanted values are printed next to the measured ones. --load: another program that generates the load.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # leave no files behind in the source tree
from lib.running import Client, Server, cpu_s, percentile

STREAMS, SAMPLE_S, SEARCH_S, WAITING = 64, 0.5, 0.2, 16384
WANTED_LAG_S, WANTED_SEARCH_MS, WANTED_RATE = 2, 50, 0.99


def writer_cpu_s(pid):
    return sum(cpu_s(pid, task.name) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
               if (task / "comm").read_text().strip() == "view")


def idle_s():
    """Return the time that all processors together were idle since boot."""
    return int(pathlib.Path("/proc/stat").read_text().split()[4]) / os.sysconf("SC_CLK_TCK")


def metrics(client):
    values = {}
    for line in client.stream("/metrics").decode().splitlines():
        name, _, value = line.rpartition(" ")
        if name.startswith("corvo_sqlite_mirror_"):
            values[name.removeprefix("corvo_sqlite_mirror_")] = float(value)
    return values


def search(server, begin, over, took):
    client = Client(server)
    begin.wait()
    while not over.is_set():
        start = time.perf_counter()
        client.post("/api/v1/jobs/search", {"queue": "bench.q", "state": ["completed"], "limit": 50})
        took.append(time.perf_counter() - start)
        time.sleep(SEARCH_S)


def row(name, measured, wanted="", met=None):
    print(f"{name:<28} {measured:<44} {wanted:<14} {'' if met is None else 'yes' if met else 'NO'}")


def report_lag(name, samples, rate):
    lags = sorted(s["lag_updates"] for s in samples)
    middle, most = lags[len(lags) // 2], lags[-1]
    row(f"lag {name}", f"p50 {middle:.0f} jobs ({middle / rate:.2f} s), max {most:.0f} ({most / rate:.2f} s)",
        f"max {WANTED_LAG_S} s", most / rate <= WANTED_LAG_S)
    row("  full text", f"max {max(s['text_lag'] for s in samples):.0f} texts")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("--rate", type=int, default=50000)
    p.add_argument("--seconds", type=int, default=120)
    p.add_argument("--payload", type=int, default=100)
    p.add_argument("--load")
    args = p.parse_args()
    with Server(args.program) as server:
        client, pid = Client(server), server.process.pid
        begin, over, took = threading.Event(), threading.Event(), []
        searcher = threading.Thread(target=search, args=(server, begin, over, took))
        searcher.start()
        writer, whole, idle = writer_cpu_s(pid), cpu_s(pid), idle_s()
        load = subprocess.Popen(
            [args.load or args.program, "bench", "--server", f"http://127.0.0.1:{server.port}",
             "--duration", f"{args.seconds}s", "--jobs", str(WAITING), "--concurrency", str(STREAMS),
             "--payload-bytes", str(args.payload), "--rate", str(args.rate), "--output", "json"],
            stdout=subprocess.PIPE, text=True)
        start, halves = time.monotonic(), ([], [])
        while load.poll() is None:
            late = time.monotonic() - start > args.seconds / 2
            if late:
                begin.set()
            halves[late].append(metrics(client))
            time.sleep(SAMPLE_S)
        writer, whole, idle = writer_cpu_s(pid) - writer, cpu_s(pid) - whole, idle_s() - idle
        over.set()
        begin.set()
        searcher.join()
        answer = json.load(load.stdout)["combined"]
        end = time.monotonic()
        while metrics(client)["lag_updates"] > 0:
            time.sleep(0.05)
        drained = time.monotonic() - end
    jobs = answer["completed"]
    rate = jobs / args.seconds
    row("", "measured", "wanted")
    row("lifecycles/s", f"{rate:.0f}", f"{args.rate}" if args.rate else "",
        rate >= args.rate * WANTED_RATE if args.rate else None)
    for name, seconds in (("writer of the view", writer), ("rest of the server", whole - writer),
                          ("generator", answer["generator_cpu_ms_per_1000"] * jobs / 1e6)):
        row(f"CPU: {name}", f"{seconds / args.seconds:.2f} processors, {seconds / jobs * 1e6:.1f} µs per job")
    row("CPU: idle", f"{idle / args.seconds:.2f} of {os.cpu_count()} processors")
    report_lag("without searches", halves[0], rate)
    report_lag("with searches", halves[1], rate)
    p99 = percentile(took, 0.99)
    row("searches by an index", f"{len(took)}, p50 {percentile(took, 0.5):.1f} ms, p99 {p99:.1f} ms",
        f"p99 {WANTED_SEARCH_MS} ms", p99 <= WANTED_SEARCH_MS)
    row("index complete", f"{drained:.1f} s after the load")


if __name__ == "__main__":
    main()
