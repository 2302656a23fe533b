#!/usr/bin/env python3
"""Measure how long a job takes to reach a waiting worker, and how late scheduled jobs arrive.

  latency.py CORVO [ROUNDS [SCHEDULED]]

Starts a separate durable server on a free port. The first part is handover_bench, which is expected in the folder
bench next to CORVO. The second part schedules many jobs within the same few seconds and measures how long after
its due time each job reached a worker.
"""
import datetime
import pathlib
import sys
import threading
import time

sys.dont_write_bytecode = True  # leave no files behind in the source tree
from lib.calm import Calm
from lib.running import Client, Server, output, percentiles

REPEATS = 10


def lateness(server, count, over_s=10):
    """Schedule count jobs, spread over over_s seconds that begin after all of them are enqueued. Return how late
    they arrived."""
    producer, late, lock = Client(server), [], threading.Lock()
    first = time.time() + max(5.0, count / 20000)
    due = [first + over_s * n / count for n in range(count)]
    stamp = lambda t: datetime.datetime.fromtimestamp(t, datetime.timezone.utc).isoformat()
    for at in range(0, count, 1000):
        producer.post("/api/v1/enqueue/batch", {"jobs": [
            {"queue": "due", "payload": {"at": t}, "scheduled_at": stamp(t)}
            for t in due[at:at + 1000]]})
    if time.time() > first:
        sys.exit("the jobs were due before they were all enqueued: schedule fewer")

    def work():
        worker = Client(server)
        while not done.is_set():
            jobs = worker.post("/api/v1/fetch/batch",
                               {"queues": ["due"], "count": 100, "timeout": 1})["jobs"]
            now = time.time()
            with lock:
                late.extend(now - job["payload"]["at"] for job in jobs)
                if len(late) >= count:
                    done.set()
            if jobs:
                worker.post("/api/v1/ack/batch", {"acks": [{"job_id": j["job_id"]} for j in jobs]})

    done = threading.Event()
    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    in_time = done.wait(over_s + 120)
    done.set()
    for worker in workers:
        worker.join()
    if not in_time:
        sys.exit(f"only {len(late)} of {count} scheduled jobs came")
    return late


def measure(program, rounds=2000, scheduled=100000):
    calm = Calm(REPEATS)
    handover = pathlib.Path(program).resolve().parent / "bench/handover_bench"
    with Server(program) as server:
        calm.measure(lambda: output(handover, str(server.port), str(rounds)), str.strip)
        calm.measure(lambda: lateness(server, scheduled),
                     lambda late: percentiles(f"lateness of {scheduled} scheduled jobs", late))
    calm.report()


if __name__ == "__main__":
    measure(sys.argv[1], *(int(count) for count in sys.argv[2:4]))
