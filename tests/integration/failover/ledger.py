"""Clients that record the results they received, and the check that all of them were true.

Each client sends a request to a random node, once. Retries are left to the servers. So if two jobs have the
same marker, or two workers got the same attempt, it is the fault of a server. Two kinds of client do retry,
in the ways that the contract provides: by the name of an operation with an unknown outcome, and by an
idempotency key.
"""
import collections
import random
import threading
import time

from nodes import PATIENCE_S, until

CERTAIN = {"LEADER_UNAVAILABLE", "FORWARD_LOOP"}  # the request had no effect
QUEUES = ["red", "green", "blue"]
STATES = {"pending", "active", "held", "completed", "retrying", "dead", "cancelled", "scheduled"}
CLIENTS = 6
ENOUGH = 500  # writes per round
WISE = {f"client-{i}" for i in range(2, CLIENTS)}  # clients that avoid a node that is known to be in trouble


def payload_of(chance, marker):
    """Return a payload. Some are so long that they are stored separately from the changing part of the job."""
    return {"m": marker, "text": "x" * chance.choice((0, 0, 3000))}


class Ledger:
    def __init__(self, nodes, seed):
        self.nodes, self.seed = nodes, seed
        self.lock = threading.Lock()
        self.made = {}         # marker -> job id, of successful responses
        self.not_made = set()  # markers of requests that certainly failed
        self.unique = {}       # key -> job ids in responses
        self.claims = {}       # (job, attempt) -> client
        self.acked = {}        # job -> (client, attempt) whose result was accepted
        self.failed = {}       # job -> the last attempt whose failure was accepted
        self.cancelled = set()
        self.groups = {}       # batch id -> ids of its jobs
        self.counts = collections.Counter()
        self.longest = 0.0     # longest time between two acknowledged writes of this round, in seconds
        self.last = None
        self.wrong = []
        self.stopping = threading.Event()
        self.threads = []
        self.next_marker = 0

    # --- clients ---

    def start(self, count=CLIENTS):
        self.stopping.clear()
        self.longest, self.last = 0.0, time.monotonic()
        self.threads = [threading.Thread(target=self._run, args=(i,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def writes(self):
        """Return the number of acknowledged writes."""
        with self.lock:
            return self.counts["enqueued"] + self.counts["acked"] + self.counts["failed"]

    def more(self, count, seconds=PATIENCE_S):
        """Wait until count more writes are acknowledged, which shows that clients are served."""
        want = self.writes() + count

        def acknowledged_writes():
            if self.broken:
                raise AssertionError(f"a client broke: {self.broken}")
            return self.writes() >= want
        until(acknowledged_writes, seconds)

    broken = None

    def _run(self, number):
        chance = random.Random(f"{self.seed}/{number}/{self.counts.total()}")
        works = [self._enqueue, self._enqueue, self._enqueue_many, self._group, self._unique, self._keyed,
                 self._work, self._work, self._work, self._work_many, self._cancel]
        try:
            enough = self.writes() + ENOUGH
            while not self.stopping.is_set():
                chance.choice(works)(chance, f"client-{number}")
                if self.writes() > enough:
                    self.stopping.wait(0.05)  # the check reads every job, so a long round creates few more
        except BaseException as e:  # noqa: BLE001
            self.broken = repr(e)
            raise

    def _call(self, chance, client, path, body, headers=None):
        """Send a request to a random node. Returns (status, answer). Status 0 means that there was no response and
        the outcome is unknown."""
        node = chance.choice(self.nodes)
        if node.in_trouble and client in WISE:  # otherwise all clients would soon wait there
            node = chance.choice([n for n in self.nodes if not n.in_trouble] or self.nodes)
        try:
            status, answer, _ = node.call("POST", path, body, timeout=25, headers=headers)
        except OSError:
            with self.lock:
                self.counts["no answer"] += 1
            self.stopping.wait(0.05)  # the node is down: use other nodes
            return 0, {}
        if status >= 400:
            with self.lock:
                self.counts[answer.get("code") if isinstance(answer, dict) else str(status)] += 1
        return status, answer

    def _marker(self):
        with self.lock:
            self.next_marker += 1
            return self.next_marker

    def _note(self, word, count=1):
        """Count an acknowledged write. The caller holds the lock."""
        self.counts[word] += count
        now = time.monotonic()
        self.longest, self.last = max(self.longest, now - self.last), now

    def _make(self, chance, client, path, body, markers, headers=None):
        """Create jobs. If the outcome is unknown, send the request again with the operation's name, as the response
        asks."""
        for _ in range(3):
            status, answer = self._call(chance, client, path, body, headers)
            if status != 503 or answer.get("code") != "UNKNOWN_OUTCOME":
                break
            headers = {**(headers or {}), "X-Corvo-Operation": answer["error"].rsplit(" ", 1)[1]}
        again = headers is not None
        with self.lock:
            if status in (200, 201):
                ids = answer["job_ids"] if "job_ids" in answer else [answer["job_id"]]
                self._note("enqueued", len(markers))
                self.made.update(zip(markers, ids))
                return ids, answer
            if status >= 400 and answer.get("code") in CERTAIN and not again:
                self.not_made.update(markers)
        return [], answer

    def _enqueue(self, chance, client):
        marker = self._marker()
        self._make(chance, client, "/api/v1/enqueue", {
            "queue": chance.choice(QUEUES), "payload": payload_of(chance, marker)}, [marker])

    def _enqueue_many(self, chance, client):
        markers = [self._marker() for _ in range(3)]
        queue = chance.choice(QUEUES)
        self._make(chance, client, "/api/v1/enqueue/batch",
                   {"jobs": [{"queue": queue, "payload": payload_of(chance, m)} for m in markers]}, markers)

    def _group(self, chance, client):
        """Enqueue a batch. When all its jobs have ended, one callback job is created, once."""
        markers = [self._marker() for _ in range(2)]
        ids, answer = self._make(chance, client, "/api/v1/enqueue/batch", {
            "jobs": [{"queue": "red", "payload": {"m": m}} for m in markers],
            "batch": {"callback_queue": "callbacks"}}, markers)
        if ids:
            with self.lock:
                self.groups[answer["batch_id"]] = ids

    def _keyed(self, chance, client):
        """Send the same request with the same key to two nodes. It must create one job."""
        marker = self._marker()
        told = set()
        for _ in range(2):
            ids, _ = self._make(chance, client, "/api/v1/enqueue", {"queue": "green", "payload": {"m": marker}},
                                [marker], {"Idempotency-Key": f"{self.seed}-{marker}"})
            told.update(ids)
        if len(told) > 1:
            with self.lock:
                self.wrong.append(f"one Idempotency-Key made {told}")

    def _unique(self, chance, client):
        key = f"key-{chance.randrange(1000)}"
        status, answer = self._call(chance, client, "/api/v1/enqueue", {
            "queue": "unique", "payload": {"k": key}, "unique_key": key, "unique_period": 86400})
        if status in (200, 201):
            with self.lock:
                self._note("unique")
                self.unique.setdefault(key, set()).add(answer["job_id"])

    def _note_claim(self, job, client):
        claim = (job["job_id"], job["attempt"])
        with self.lock:
            self._note("claimed")
            if claim in self.claims:
                self.wrong.append(f"{claim} went to {self.claims[claim]} and to {client}")
            self.claims[claim] = client

    def _work(self, chance, client):
        status, job = self._call(chance, client, "/api/v1/fetch", {
            "queues": QUEUES, "worker_id": client, "hostname": "here", "timeout": 1,
            "lease_duration": 600})
        if status != 200 or not job.get("job_id"):
            return
        self._note_claim(job, client)
        id, attempt = job["job_id"], job["attempt"]
        if chance.random() < 0.8:
            status, _ = self._call(chance, client, f"/api/v1/ack/{id}",
                                   {"result": {"by": client}, "lease_token": job.get("lease_token")})
            if status == 200:
                self._note_ack(id, client, attempt)
        else:
            status, _ = self._call(chance, client, f"/api/v1/fail/{id}",
                                   {"error": "chance", "lease_token": job.get("lease_token")})
            if status == 200:
                with self.lock:
                    self._note("failed")
                    self.failed[id] = max(attempt, self.failed.get(id, 0))

    def _note_ack(self, id, client, attempt):
        with self.lock:
            self._note("acked")
            if id in self.acked:
                self.wrong.append(f"{id} was completed by {self.acked[id]} and by {(client, attempt)}")
            self.acked[id] = (client, attempt)

    def _work_many(self, chance, client):
        status, answer = self._call(chance, client, "/api/v1/fetch/batch", {
            "queues": [*QUEUES, "callbacks"], "worker_id": client, "hostname": "here", "timeout": 1,
            "count": 4, "lease_duration": 600})
        if status != 200 or not answer.get("jobs"):
            return
        for job in answer["jobs"]:
            self._note_claim(job, client)
        status, done = self._call(chance, client, "/api/v1/ack/batch", {"acks": [
            {"job_id": job["job_id"], "result": {"by": client}, "lease_token": job.get("lease_token")}
            for job in answer["jobs"]]})
        if status == 200 and done.get("acked") == len(answer["jobs"]):
            for job in answer["jobs"]:
                self._note_ack(job["job_id"], client, job["attempt"])

    def _cancel(self, chance, client):
        with self.lock:
            ids = list(self.made.values())[-20:]
        if not ids:
            return
        job = chance.choice(ids)
        status, answer = self._call(chance, client, f"/api/v1/jobs/{job}/cancel", {})
        if status == 200:
            with self.lock:
                self._note("cancelled")
                self.cancelled.add(job)

    # --- the check ---

    def check(self, jobs):
        """Return what is wrong. jobs: all jobs, from the state of one node."""
        wrong = list(self.wrong)
        by_marker = collections.defaultdict(list)
        by_key = collections.defaultdict(list)
        by_group = collections.defaultdict(list)
        by_id = {}
        for job in jobs:
            payload = job.get("payload") or {}
            if job["id"] in by_id:
                wrong.append(f"{job['id']} is there twice")
            if job["state"] not in STATES:
                wrong.append(f"{job['id']} is in the state {job['state']}")
            by_id[job["id"]] = job
            if "m" in payload:
                by_marker[payload["m"]].append(job["id"])
            if "k" in payload:
                by_key[payload["k"]].append(job["id"])
            if job["queue"] == "callbacks":
                by_group[payload["batch"]["batch_id"]].append(job["id"])
        wrong += self._check_made(by_marker)
        wrong += self._check_unique(by_key)
        wrong += self._check_groups(by_group, by_id)
        wrong += self._check_ends(by_id)
        return wrong

    def _check_made(self, by_marker):
        wrong = []
        for marker, ids in by_marker.items():
            if len(ids) > 1:
                wrong.append(f"marker {marker} is in {len(ids)} jobs: {ids}")
            if marker in self.not_made:
                wrong.append(f"marker {marker} certainly failed, and is in {ids}")
        for marker, job in self.made.items():
            if by_marker.get(marker) != [job]:
                wrong.append(f"marker {marker} was told to be in {job}, is in {by_marker.get(marker)}")
        return wrong

    def _check_unique(self, by_key):
        wrong = [f"unique key {key} is in {ids}" for key, ids in by_key.items() if len(ids) > 1]
        for key, told in self.unique.items():
            if told != set(by_key.get(key, [])):
                wrong.append(f"unique key {key}: told {told}, is in {by_key.get(key)}")
        return wrong

    def _check_groups(self, by_group, by_id):
        wrong = []
        for group, callbacks in by_group.items():
            if len(callbacks) > 1:
                wrong.append(f"batch {group} called back {len(callbacks)} times: {callbacks}")
        for group, ids in self.groups.items():
            ended = all(by_id[id]["state"] in ("completed", "cancelled", "dead") for id in ids if id in by_id)
            if ended != (group in by_group):
                states = [by_id.get(id, {}).get("state") for id in ids]
                wrong.append(f"batch {group} of {states} has called back {len(by_group.get(group, []))} times")
        return wrong

    def _check_ends(self, by_id):
        wrong = []
        for id, (client, attempt) in self.acked.items():
            job = by_id.get(id, {})
            if (job.get("state"), job.get("result"), job.get("attempt")) != ("completed", {"by": client}, attempt):
                wrong.append(f"{id} was completed by {client} in attempt {attempt}, is {job.get('state')} with "
                             f"{job.get('result')} in attempt {job.get('attempt')}")
        for id in self.cancelled:
            if by_id.get(id, {}).get("state") != "cancelled":
                wrong.append(f"{id} was cancelled, is {by_id.get(id, {}).get('state')}")
        for id, attempt in self.failed.items():
            job = by_id.get(id, {})
            if "state" not in job or (job["state"] == "active" and job["attempt"] <= attempt):
                wrong.append(f"{id} has failed in attempt {attempt}, is {job.get('state')} "
                             f"in attempt {job.get('attempt')}")
        for id, attempt in self.claims:
            if by_id.get(id, {}).get("attempt", -1) < attempt:
                wrong.append(f"{id} was claimed for attempt {attempt}, is in {by_id.get(id, {}).get('attempt')}")
        return wrong
