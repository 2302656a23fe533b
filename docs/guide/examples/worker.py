#!/usr/bin/env python3
"""A Corvo worker in Python, standard library only.

    CORVO_URL=http://localhost:8080 python3 worker.py emails [--once]
"""
import json
import os
import signal
import socket
import sys
import threading
import urllib.request

BASE = os.environ.get("CORVO_URL", "http://localhost:8080") + "/api/v1"
WORKER = f"{socket.gethostname()}-{os.getpid()}"
stopping = threading.Event()


def call(path, body):
    headers = {"Content-Type": "application/json"}
    if "CORVO_API_KEY" in os.environ:
        headers["X-API-Key"] = os.environ["CORVO_API_KEY"]
    request = urllib.request.Request(BASE + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=45) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def handle(job):
    """Your code. Raise to fail the attempt; return a value to store it as the result."""
    return {"greeted": job["payload"].get("to", "nobody")}


def heartbeats(job, done, cancelled):
    """Renew the lease until the job is done; notice a cancellation."""
    while not done.wait(job["lease_duration"] / 3):
        try:
            answer = call("/heartbeat", {"jobs": {job["job_id"]: {}}})
        except OSError as error:
            print("heartbeat:", error, file=sys.stderr)
            continue
        if answer["jobs"].get(job["job_id"], {}).get("status") == "cancel":
            cancelled.set()
            return


def work(job):
    done, cancelled = threading.Event(), threading.Event()
    beat = threading.Thread(target=heartbeats, args=(job, done, cancelled), daemon=True)
    beat.start()
    token = {"lease_token": job["lease_token"]}
    try:
        result = handle(job)
    except Exception as error:  # whatever it was, the server decides about the next attempt
        call(f"/fail/{job['job_id']}", {"error": f"{type(error).__name__}: {error}", **token})
    else:
        if not cancelled.is_set():
            call(f"/ack/{job['job_id']}", {"result": result, **token})
    finally:
        done.set()
        beat.join()


def main():
    queue, once = sys.argv[1], "--once" in sys.argv
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    while not stopping.is_set():
        try:
            job = call("/fetch", {"queues": [queue], "worker_id": WORKER, "hostname": socket.gethostname(),
                                  "timeout": 30})
            if job and job.get("job_id"):
                work(job)
                if once:
                    return
        except OSError as error:  # no connection, no answer in time, or a status that is not a success
            print("trying again:", error, file=sys.stderr)
            stopping.wait(1)


main()
