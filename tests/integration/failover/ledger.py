"""
Clients that write down what they were told, and the check that all of it was true.

Each asks a node chosen by chance and asks once: whatever has to be asked again is the servers'
business. So a marker that is in two jobs, or an attempt that two workers got, is a server's fault.
"""
import collections
import random
import threading

CERTAIN = {"LEADER_UNAVAILABLE", "FORWARD_LOOP"}  # it has not happened
QUEUES = ["red", "green", "blue"]


class Ledger:
    def __init__(self, nodes, seed):
        self.nodes, self.seed = nodes, seed
        self.lock = threading.Lock()
        self.made = {}         # marker -> job id, for answers of success
        self.not_made = set()  # markers of those that certainly failed
        self.unique = {}       # key -> job ids that were told
        self.claims = {}       # (job, attempt) -> client
        self.ended = {}        # job -> the state that a success has promised
        self.counts = collections.Counter()
        self.wrong = []
        self.stopping = threading.Event()
        self.threads = []
        self.next_marker = 0

    # --- clients ---

    def start(self, count=6):
        self.stopping.clear()
        self.threads = [threading.Thread(target=self._run, args=(i,)) for i in range(count)]
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def _run(self, number):
        chance = random.Random(f"{self.seed}/{number}/{self.counts.total()}")
        works = [self._enqueue, self._enqueue, self._batch, self._unique, self._work, self._work,
                 self._work, self._cancel]
        while not self.stopping.is_set():
            chance.choice(works)(chance, f"client-{number}")

    def _call(self, chance, path, body):
        """(status, answer): status 0 when there was none, so that nothing is known."""
        node = chance.choice(self.nodes)
        try:
            status, answer, _ = node.call("POST", path, body, timeout=25)
        except OSError:
            self.counts["no answer"] += 1
            self.stopping.wait(0.05)  # the node is down: others are asked
            return 0, {}
        if status >= 400:
            self.counts[answer.get("code") if isinstance(answer, dict) else status] += 1
        return status, answer

    def _marker(self):
        with self.lock:
            self.next_marker += 1
            return self.next_marker

    def _note_made(self, status, answer, markers, ids):
        with self.lock:
            if status in (200, 201):
                self.counts["enqueued"] += len(markers)
                self.made.update(zip(markers, ids(answer)))
            elif status >= 400 and answer.get("code") in CERTAIN:
                self.not_made.update(markers)

    def _enqueue(self, chance, client):
        marker = self._marker()
        status, answer = self._call(chance, "/api/v1/enqueue",
                                    {"queue": chance.choice(QUEUES), "payload": {"m": marker}})
        self._note_made(status, answer, [marker], lambda a: [a["job_id"]])

    def _batch(self, chance, client):
        markers = [self._marker() for _ in range(3)]
        queue = chance.choice(QUEUES)
        status, answer = self._call(chance, "/api/v1/enqueue/batch", {
            "jobs": [{"queue": queue, "payload": {"m": m}} for m in markers]})
        self._note_made(status, answer, markers, lambda a: a["job_ids"])

    def _unique(self, chance, client):
        key = f"key-{chance.randrange(1000)}"
        status, answer = self._call(chance, "/api/v1/enqueue", {
            "queue": "unique", "payload": {"k": key}, "unique_key": key, "unique_period": 86400})
        if status in (200, 201):
            with self.lock:
                self.counts["unique"] += 1
                self.unique.setdefault(key, set()).add(answer["job_id"])

    def _work(self, chance, client):
        status, job = self._call(chance, "/api/v1/fetch", {
            "queues": QUEUES, "worker_id": client, "hostname": "here", "timeout": 1,
            "lease_duration": 600})
        if status != 200 or not job.get("job_id"):
            return
        claim = (job["job_id"], job["attempt"])
        with self.lock:
            self.counts["claimed"] += 1
            if claim in self.claims:
                self.wrong.append(f"{claim} went to {self.claims[claim]} and to {client}")
            self.claims[claim] = client
        if chance.random() < 0.8:
            status, _ = self._call(chance, f"/api/v1/ack/{job['job_id']}",
                                   {"result": {"by": client}, "lease_token": job.get("lease_token")})
            self._note_end(status, job["job_id"], {"completed"}, "acked")
        else:
            status, answer = self._call(chance, f"/api/v1/fail/{job['job_id']}",
                                        {"error": "chance", "lease_token": job.get("lease_token")})
            self._note_end(status, job["job_id"],
                           {"retrying", "pending", "active", "dead", "completed", "cancelled"},
                           "failed")

    def _cancel(self, chance, client):
        with self.lock:
            ids = list(self.made.values())[-20:]
        if not ids:
            return
        job = chance.choice(ids)
        status, answer = self._call(chance, f"/api/v1/jobs/{job}/cancel", {})
        if status == 200 and answer.get("status") in ("cancelled", None):
            self._note_end(status, job, {"cancelled"}, "cancelled")

    def _note_end(self, status, job, states, word):
        if status == 200:
            with self.lock:
                self.counts[word] += 1
                if len(states) == 1:
                    self.ended[job] = states

    # --- the check ---

    def check(self, jobs):
        """jobs: every job there is, by the state of one node."""
        wrong = list(self.wrong)
        by_marker = collections.defaultdict(list)
        by_key = collections.defaultdict(list)
        by_id = {}
        for job in jobs:
            payload = job.get("payload") or {}
            if job["id"] in by_id:
                wrong.append(f"{job['id']} is there twice")
            by_id[job["id"]] = job
            if "m" in payload:
                by_marker[payload["m"]].append(job["id"])
            if "k" in payload:
                by_key[payload["k"]].append(job["id"])
        for marker, ids in by_marker.items():
            if len(ids) > 1:
                wrong.append(f"marker {marker} is in {len(ids)} jobs: {ids}")
            if marker in self.not_made:
                wrong.append(f"marker {marker} certainly failed, and is in {ids}")
        for marker, job in self.made.items():
            if by_marker.get(marker) != [job]:
                wrong.append(f"marker {marker} was told to be in {job}, is in {by_marker.get(marker)}")
        for key, ids in by_key.items():
            if len(ids) > 1:
                wrong.append(f"unique key {key} is in {ids}")
        for key, told in self.unique.items():
            if told != set(by_key.get(key, [])):
                wrong.append(f"unique key {key}: told {told}, is in {by_key.get(key)}")
        for job, states in self.ended.items():
            state = by_id.get(job, {}).get("state")
            if state not in states:
                wrong.append(f"{job} was told to be {states}, is {state}")
        return wrong
