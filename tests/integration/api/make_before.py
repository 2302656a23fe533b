#!/usr/bin/env python3
"""Create a data folder for test_before.py, with the program of an earlier version.

    make_before.py PROGRAM OUT.tar.gz

The folder has jobs in every state, records of every kind, a checkpoint and a log after it. The server is killed
at the end. expected.json contains what the server reported about all of it.
"""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request

FAR = "2100-01-01T00:00:00Z"


class Old:
    def __init__(self, program, folder):
        self.log = pathlib.Path(folder, "log")
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(
                [program, "server", "--bind", "127.0.0.1:0", "--data-dir", os.path.join(folder, "data"), "--log-format", "json",
                 "--rate-limit-enabled=false", "--segment-bytes", "262144", "--snapshot-log-bytes", "65536"], stderr=out)
        while b"corvo server ready" not in self.log.read_bytes():
            time.sleep(0.05)
        ready = next(line for line in self.log.read_text().splitlines() if "corvo server ready" in line)
        self.base = f"http://127.0.0.1:{json.loads(ready)['port']}/api/v1"

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(urllib.request.Request(self.base + path, data, method=method)) as answer:
            return json.load(answer)

    def post(self, path, body=None):
        return self.ask("POST", path, body or {})

    def put(self, queue, **fields):
        return self.post("/enqueue", {"queue": queue, **fields})["job_id"]

    def take(self, queue, **fields):
        job = self.post("/fetch", {"queues": [queue], "worker_id": "w1", "hostname": "h1", "timeout": 1, **fields})
        return job["job_id"]


def fill(s):
    """Create jobs in every state. Return the ids of all jobs."""
    ids = [s.put("mail", payload={"n": n, "text": "é" * n}, priority=("normal", "high", "critical")[n % 3],
                 tags={"tenant": f"t{n % 4}"}, max_retries=1 + n % 5) for n in range(60)]
    ids += [s.put("mail", payload={"u": n}, unique_key=f"key-{n}", unique_period=3600 * 24 * 3650) for n in range(3)]
    ids += [s.put("later", payload={}, scheduled_at=FAR) for _ in range(3)]
    for n in range(4):
        ids.append(s.put("done", payload={"n": n}))
        s.post(f"/ack/{s.take('done')}", {"result": {"sum": n}, "usage": {"model": "m", "input_tokens": n, "cost_usd": 0.5}})
    for n in range(3):
        ids.append(s.put("broken", max_retries=1))
        s.post(f"/fail/{s.take('broken')}", {"error": f"error {n}", "backtrace": "at line 1"})
    ids.append(s.put("again", max_retries=5, retry_base_delay="8760h", retry_max_delay="87600h"))
    s.post(f"/fail/{s.take('again')}", {"error": "try again"})
    ids.append(s.put("stopped"))
    s.post(f"/jobs/{ids[-1]}/cancel")
    ids.append(s.put("held"))
    s.post(f"/jobs/{ids[-1]}/hold")
    first = s.put("chain", payload={"step": 1})
    ids += [first, s.put("chain", depends_on=[first])]
    ids.append(s.put("steps", chain={"steps": [{"queue": "steps", "payload": {"a": 1}}, {"queue": "steps2", "payload": {"b": 2}}]}))
    made = s.post("/enqueue/batch", {"jobs": [{"queue": "many", "payload": {"i": i}} for i in range(5)],
                                     "batch": {"callback_queue": "after"}})
    ids += made["job_ids"]
    return ids, made.get("batch_id")


def kept(member):
    """Leave out large files that are created again: the reserved space and RocksDB's log."""
    name = os.path.basename(member.name)
    return None if name.startswith(("reserve", "LOG")) else member


def main():
    program, out = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="corvo-before-") as folder:
        s = Old(program, folder)
        ids, batch = fill(s)
        s.post("/queues/mail/pause")
        s.post("/queues/later/concurrency", {"max": 3})
        s.post("/queues/later/throttle", {"rate": 10, "window_ms": 1000})
        s.post("/schedules", {"name": "yearly", "cron": "0 0 29 2 *", "queue": "sched", "payload": {"from": "schedule"}})
        s.post("/webhooks", {"url": "http://127.0.0.1:9/hook", "events": ["completed"], "enabled": False})
        s.post("/approval-policies", {"name": "careful", "mode": "all", "enabled": True, "queue": "careful"})
        while s.ask("GET", "/cluster/status").get("snapshot", {}).get("count", 0) == 0:
            s.put("filler", payload={"text": "x" * 20000})
        ids += [s.put("tail", payload={"n": n}) for n in range(5)]
        expected = {"jobs": [s.ask("GET", f"/jobs/{i}") for i in ids],
                    "queues": [q for q in s.ask("GET", "/queues") if q["name"] != "filler"],
                    "schedules": s.ask("GET", "/schedules"), "webhooks": s.ask("GET", "/webhooks"),
                    "policies": s.ask("GET", "/approval-policies"), "batch": s.ask("GET", f"/batch/{batch}") if batch else None}
        s.process.kill()
        s.process.wait()
        pathlib.Path(folder, "expected.json").write_text(json.dumps(expected, indent=1))
        with tarfile.open(out, "w:gz", compresslevel=9) as tar:
            for name in ("data", "expected.json"):
                tar.add(os.path.join(folder, name), name, filter=kept)


main()
