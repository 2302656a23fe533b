#!/usr/bin/env python3
"""Measure how long a job takes to reach a waiting worker, and how late scheduled jobs arrive.

  latency.py CORVO [ROUNDS [SCHEDULED]]

Starts a separate durable server on a free port. The first part enqueues one job at a time while one worker
waits in a long poll. The time is from before the enqueue is sent until the worker has the job, so it includes
one flush to disk and the work of this program. The second part schedules many jobs within the same few seconds
and measures how long after its due time each job reached a worker.
"""
import datetime
import sys
import threading
import time

sys.dont_write_bytecode = True  # leave no files behind in the source tree
from lib.calm import Calm
from lib.running import Client, Server, percentiles

REPEATS = 10


def handed_over(server, rounds):
    producer, took = Client(server), []
    ready, got = threading.Semaphore(0), threading.Semaphore(0)
    started = [0.0]

    def work():
        worker = Client(server)
        for _ in range(rounds):
            ready.release()
            job = worker.post("/api/v1/fetch", {"queues": ["latency"], "timeout": 60})
            took.append(time.perf_counter() - started[0])
            worker.post(f"/api/v1/ack/{job['job_id']}", {})
            got.release()

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(rounds):
        ready.acquire()
        while producer.get("/api/v1/cluster/status")["admission_stats"]["fetches_waiting"] == 0:
            pass
        started[0] = time.perf_counter()
        producer.post("/api/v1/enqueue", {"queue": "latency", "payload": {"n": 1}})
        got.acquire()
    thread.join()
    return took


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


def measure(program, rounds=1000, scheduled=100000):
    calm = Calm(REPEATS)
    with Server(program) as server:
        calm.measure(lambda: handed_over(server, rounds),
                     lambda took: percentiles("enqueue to waiting worker", took))
        calm.measure(lambda: lateness(server, scheduled),
                     lambda late: percentiles(f"lateness of {scheduled} scheduled jobs", late))
    calm.report()


if __name__ == "__main__":
    measure(sys.argv[1], *(int(count) for count in sys.argv[2:4]))
