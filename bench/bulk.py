#!/usr/bin/env python3
"""Measure whether an operation on very many jobs delays other requests.

  bulk.py CORVO [JOBS [SECONDS]]

Starts a separate durable server and fills a queue. Then four clients enqueue single jobs into another
queue, one after the other with a pause: first for some seconds on an idle server, then while a bulk
operation cancels everything in the first queue, until it ends. The second p99 may be at most three times
the first.
"""
import sys
import threading
import time

sys.dont_write_bytecode = True  # leave no files behind in the source tree
from lib.running import Client, Server, percentile, percentiles

CLIENTS, PAUSE_S, BATCH, BUDGET = 4, 0.004, 1000, 3.0


def fill(server, count):
    client = Client(server)
    jobs = {"jobs": [{"queue": "crowd", "payload": {"n": n}} for n in range(BATCH)]}
    for _ in range(0, count, BATCH):
        client.post("/api/v1/enqueue/batch", jobs)


def enqueue_until(server, over):
    """Enqueue single jobs until the event is set. Return the latencies."""
    took, lock = [], threading.Lock()

    def work():
        client, mine = Client(server), []
        while not over.is_set():
            start = time.perf_counter()
            client.post("/api/v1/enqueue", {"queue": "single", "payload": {"n": 1}})
            mine.append(time.perf_counter() - start)
            time.sleep(PAUSE_S)
        with lock:
            took.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took


def main():
    program = sys.argv[1]
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else 1000000
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 10
    with Server(program) as server:
        fill(server, jobs)
        client = Client(server)
        client.post("/api/v1/jobs/search", {"queue": "crowd", "limit": 1})  # wait until the view has caught up
        over = threading.Event()
        threading.Timer(seconds, over.set).start()
        alone = enqueue_until(server, over)
        print(percentiles("single enqueues, alone", alone), flush=True)

        task = client.post("/api/v1/jobs/bulk", {"filter": {"queue": "crowd"}, "action": "cancel",
                                                 "async": True})["bulk_operation_id"]
        over, ended = threading.Event(), {}

        def watch():
            start = time.perf_counter()
            watcher = Client(server)
            watcher.stream(f"/api/v1/bulk/{task}/progress")
            ended.update(watcher.get(f"/api/v1/bulk/{task}"))
            ended["seconds"] = time.perf_counter() - start
            over.set()

        threading.Thread(target=watch).start()
        beside = enqueue_until(server, over)
        print(percentiles("single enqueues, beside the bulk", beside))
    print(f"the bulk: {ended['status']}, {ended['affected']} jobs in {ended['seconds']:.1f} s")
    ratio = percentile(beside, 0.99) / percentile(alone, 0.99)
    print(f"p99 beside it / alone {ratio:.2f}  (wanted at most {BUDGET:.0f})")


main()
