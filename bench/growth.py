#!/usr/bin/env python3
"""Measure what depends on the number of jobs, queues and schedules, and what should not.

    growth.py PROGRAM [--only waiting,finished,queues,schedules] [--jobs N] [--queues N] [--schedules N]

waiting     the time of a start with --jobs waiting jobs, the memory per job, and the CPU time of a fetch and
            ack with few jobs and with all of them waiting
finished    the rate of lifecycles and the server's CPU time per lifecycle before, during and after the removal of
            --jobs finished jobs, and the disk space before the removal and once it no longer changes
queues      the CPU time of requests that clients send every second, with few and with --queues queues: a page of
            queues, the metrics, the throughput, the status. Also the CPU time of an idle second
schedules   the time from the start of a minute until the last job of --schedules schedules for that minute is created
"""
import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "lib"))
from running import Client, Server, await_view, cpu_s  # noqa: E402

UNDER_WAY = 200
ASKED = 200  # repetitions of a request


def resident_mb(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def send_all(port, path, bodies):
    """POST each of the bodies, with many requests in flight."""
    sent = answered = 0
    bodies = iter(bodies)
    more = True
    with socket.create_connection(("127.0.0.1", port)) as s:
        while more or answered < sent:
            texts = []
            while more and sent - answered + len(texts) < UNDER_WAY:
                body = next(bodies, None)
                more = body is not None
                if more:
                    text = json.dumps(body)
                    texts.append(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(text)}\r\n\r\n{text}")
            s.sendall("".join(texts).encode())
            sent += len(texts)
            data = s.recv(1 << 20)
            if not data or b"HTTP/1.1 4" in data or b"HTTP/1.1 5" in data:
                sys.exit(f"{path}: {data[:500]!r}")
            answered += data.count(b"HTTP/1.1 20")


def enqueue(client, queues, count):
    """Enqueue jobs that are due now, spread over the queues. Jobs for later would not wait in line."""
    batch = 1000
    for first in range(0, count, batch):
        client.post("/api/v1/enqueue/batch", {"jobs": [
            {"queue": queues[(first + i) % len(queues)], "payload": {"n": first + i}}
            for i in range(min(batch, count - first))]})


def metric(client, name):
    client.connection.request("GET", "/api/v1/metrics")
    text = client.connection.getresponse().read().decode()
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.split("{")[0].split(" ")[0] == name)


def ran_s(pid):
    """Return the CPU time of the current threads of a process. More precise than cpu_s."""
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def each_us(server, count, what):
    """Return the server's CPU time per call of `what`, in microseconds."""
    began = ran_s(server.process.pid)
    for _ in range(count):
        what()
    return (ran_s(server.process.pid) - began) / count * 1e6


def lifecycle(client, queue):
    job = client.post("/api/v1/fetch", {"queues": [queue], "worker_id": "w", "timeout": 1})["job_id"]
    client.post(f"/api/v1/ack/{job}", {})


def restart(server):
    """Restart the server on the same folder. Return the time until it is ready."""
    server.stop()
    began = time.monotonic()
    server.start()
    return time.monotonic() - began


def idle_ms(server):
    """Return the CPU time of an idle second, after the work of earlier requests is done."""
    last = cpu_s(server.process.pid)
    while True:
        time.sleep(1)
        now = cpu_s(server.process.pid)
        if now - last < 0.05:
            return (now - last) * 1000
        last = now


def measure_waiting(options):
    with Server(options.program) as server:
        client = Client(server)
        enqueue(client, ["few"], 2 * ASKED)
        idle_ms(server)
        before = each_us(server, ASKED, lambda: lifecycle(client, "few"))
        began = time.monotonic()
        enqueue(client, ["many"], options.jobs)
        print(f"waiting: {options.jobs} jobs enqueued in {time.monotonic() - began:.0f} s")
        idle_ms(server)  # wait until the indexing and compaction of the new jobs are done
        after = each_us(server, ASKED, lambda: lifecycle(client, "many"))
        index = metric(client, "corvo_index_bytes")
        print(f"waiting: fetch and ack {before:.0f} µs of CPU with few jobs, {after:.0f} µs with all")
        print(f"waiting: {index / options.jobs:.1f} bytes of index for each, {resident_mb(server.process)} MB resident")
        took = restart(server)
        client = Client(server)
        lifecycle(client, "many")
        print(f"waiting: started again in {took:.1f} s, {resident_mb(server.process)} MB resident")


def load(server, *flags):
    """Run lifecycles in batches. Return the load generator's report, and the server's CPU time per lifecycle."""
    began = cpu_s(server.process.pid)
    out = subprocess.run([server.command[0], "bench", "--server", f"http://127.0.0.1:{server.port}",
                          "--concurrency", "64", "--payload-bytes", "100", "--output", "json", *flags],
                         check=True, stdout=subprocess.PIPE, text=True).stdout
    answer = json.loads(out)["combined"]
    return answer, (cpu_s(server.process.pid) - began) / answer["completed"] * 1e6


def disk_mb(folder):
    """Return the disk space of the files. Each inode counts once."""
    stats = [os.stat(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names]
    return sum({s.st_ino: s.st_blocks for s in stats}.values()) * 512 // 1_000_000


def settled_disk_mb(folder):
    """Wait until the disk space no longer changes, because the view and RocksDB free space later. Return the space
    and the time of the last change."""
    size, since = disk_mb(folder), time.monotonic()
    while time.monotonic() < since + SETTLED_S:
        time.sleep(1)
        now = disk_mb(folder)
        if now != size:
            size, since = now, time.monotonic()
    return size, since


LOAD_S, PURGE_AFTER_S, SETTLED_S = 20, 60, 60


def measure_finished(options):
    purged = "corvo_scheduler_purge_jobs_total"
    with Server(options.program) as server:
        began = time.monotonic()
        load(server, "--combined", "--jobs", str(options.jobs))
        await_view(server.port)
        print(f"finished: {options.jobs} jobs in {time.monotonic() - began:.0f} s")
        server.stop()
        server.command += ["--retention", "10s", "--retention-interval", "1h"]
        server.start()
        client, started = Client(server), time.monotonic()
        before = disk_mb(server.folder.name)
        rates = {}

        def measure(name):
            answer, us = load(server, "--duration", f"{LOAD_S}s", "--jobs", "16384")
            rates[name] = answer["completed"] / LOAD_S
            print(f"finished: {name + ' the removal':<20} {rates[name]:8.0f} lifecycles/s, {us:5.1f} µs of CPU of the server")

        measure("before")
        if metric(client, purged) > 0:
            sys.exit("the removal began too early")
        while metric(client, purged) == 0:
            if time.monotonic() > started + 2 * PURGE_AFTER_S:
                sys.exit("the removal did not begin")
            time.sleep(0.1)
        began, count = time.monotonic(), metric(client, purged)
        measure("during")
        count = metric(client, purged) - count
        print(f"finished: removed at {count / (time.monotonic() - began):.0f} jobs/s meanwhile")
        while metric(client, purged) < options.jobs:
            if metric(client, "corvo_scheduler_purge_errors_total") > 0:
                sys.exit("the removal failed")
            time.sleep(0.5)
        print(f"finished: all removed after {time.monotonic() - began:.0f} s")
        after, settled = settled_disk_mb(server.folder.name)
        print(f"finished: {before} MB on the disk before, {after} MB {max(0, settled - began):.0f} s after it began")
        measure("after")
        print(f"finished: during the removal {rates['during'] * 2 / (rates['before'] + rates['after']):.2f} of before and after")


ASKED_EVERY_SECOND = ["/api/v1/queues?limit=50", "/api/v1/metrics", "/api/v1/metrics/throughput", "/api/v1/cluster/status"]


def measure_queues(options):
    with Server(options.program) as server:
        client = Client(server)
        for count in (100, options.queues):
            enqueue(client, [f"queue-{i}" for i in range(count)], count)
            print(f"queues: {count}: idle {idle_ms(server):.0f} ms of CPU in a second")
            for path in ASKED_EVERY_SECOND:
                began = time.monotonic()
                us = each_us(server, 20, lambda path=path: client.stream(path))
                print(f"queues: {count}: {path:<28} {us:10.0f} µs of CPU, {(time.monotonic() - began) / 20 * 1e6:10.0f} µs")


def measure_schedules(options):
    with Server(options.program) as server:
        client = Client(server)
        send_all(server.port, "/api/v1/schedules", (
            {"name": f"s{i}", "queue": "minute", "cron": "* * * * *", "payload": {"n": i}} for i in range(options.schedules)))
        made = metric(client, "corvo_throughput_enqueued_total")
        while True:  # wait for a minute that begins after all schedules exist
            next_minute = (int(time.time()) // 60 + 1) * 60
            time.sleep(max(0, next_minute - 2 - time.time()))
            made = metric(client, "corvo_throughput_enqueued_total")
            if time.time() < next_minute:
                break
        began = cpu_s(server.process.pid)
        while metric(client, "corvo_throughput_enqueued_total") < made + options.schedules:
            if time.time() > next_minute + 50:
                sys.exit(f"only {metric(client, 'corvo_throughput_enqueued_total') - made:.0f} jobs were made")
            time.sleep(0.01)
        print(f"schedules: {options.schedules} of one minute: all jobs made {time.time() - next_minute:.2f} s after its "
              f"start, {cpu_s(server.process.pid) - began:.2f} s of CPU")


PARTS = {"waiting": measure_waiting, "finished": measure_finished, "queues": measure_queues, "schedules": measure_schedules}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("program")
    parser.add_argument("--only", default=",".join(PARTS))
    parser.add_argument("--jobs", type=int, default=10_000_000)
    parser.add_argument("--queues", type=int, default=100_000)
    parser.add_argument("--schedules", type=int, default=100_000)
    options = parser.parse_args()
    for part in options.only.split(","):
        PARTS[part](options)


if __name__ == "__main__":
    main()
