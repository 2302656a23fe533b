#!/usr/bin/env python3
"""How far is the search index behind while jobs come and go at a steady rate?

    lag.py PROGRAM [--rate JOBS] [--seconds S] [--payload BYTES]

Starts a durable server of its own and runs lifecycles in batches of 64 against it, at about the rate
(0: as fast as it goes). In the first half nobody searches, in the second half a client searches by an
index five times a second. Twice a second the lag is read from the metrics; in seconds it is the number
of changed jobs that the index does not know, divided by the jobs that end in a second. CPU time is per
job, of the view's writer, of the rest of the server, and of the load generator.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is left behind in the source tree
from lib.running import Client, Server, cpu_s, percentile

STREAMS, BATCH, SAMPLE_S, SEARCH_S, WAITING = 64, 64, 0.5, 0.2, 4096


def writer_cpu_s(pid):
    return sum(cpu_s(pid, task.name) for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
               if (task / "comm").read_text().strip() == "view")


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


def report(name, samples, rate):
    lags = sorted(s["lag_updates"] for s in samples)
    middle, most = lags[len(lags) // 2], lags[-1]
    print(f"{name}: lag p50 {middle:.0f} jobs ({middle / rate:.2f} s), max {most:.0f} ({most / rate:.2f} s); "
          f"full text max {max(s['text_lag'] for s in samples):.0f} texts")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("program")
    p.add_argument("--rate", type=int, default=50000)
    p.add_argument("--seconds", type=int, default=120)
    p.add_argument("--payload", type=int, default=100)
    args = p.parse_args()
    work = ["--work-duration", f"{STREAMS * 1000000 // args.rate}us"] if args.rate > 0 else []
    with Server(args.program) as server:
        client, pid = Client(server), server.process.pid
        begin, over, took = threading.Event(), threading.Event(), []
        searcher = threading.Thread(target=search, args=(server, begin, over, took))
        searcher.start()
        writer, whole = writer_cpu_s(pid), cpu_s(pid)
        load = subprocess.Popen(
            [args.program, "bench", "--server", f"http://127.0.0.1:{server.port}", "--duration", f"{args.seconds}s",
             "--jobs", str(WAITING), "--concurrency", str(STREAMS), "--payload-bytes", str(args.payload), *work,
             "--output", "json"], stdout=subprocess.PIPE, text=True)
        start, halves = time.monotonic(), ([], [])
        while load.poll() is None:
            late = time.monotonic() - start > args.seconds / 2
            if late:
                begin.set()
            halves[late].append(metrics(client))
            time.sleep(SAMPLE_S)
        writer, whole = writer_cpu_s(pid) - writer, cpu_s(pid) - whole
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
    print(f"{rate:.0f} lifecycles/s; CPU per job: writer {writer / jobs * 1e6:.1f} µs, rest of the server "
          f"{(whole - writer) / jobs * 1e6:.1f}, generator {answer['generator_cpu_ms_per_1000']:.1f}; "
          f"writer {writer / args.seconds:.2f} of a processor")
    report("without searches", halves[0], rate)
    report("with searches", halves[1], rate)
    print(f"searches: {len(took)}, p50 {percentile(took, 0.5):.1f} ms, p99 {percentile(took, 0.99):.1f} ms; "
          f"after the load the index was complete in {drained:.1f} s")


if __name__ == "__main__":
    main()
