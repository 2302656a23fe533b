"""The same invalid job through every interface: each refuses it for the same reason and stores nothing of it."""
import json
import struct

from harness import ApiTest, Server, unique
from test_binary import ERROR, Client, enqueue, job

MAX = 1000  # bytes of a payload
RESERVED = "scheduled-db"
TARGET = {"url": "http://127.0.0.1:1/"}


def payload(size):
    """Return JSON of this size in bytes."""
    return "x" * (size - 2)


class Doors(ApiTest):
    """Each by_… method sends a job through one interface ("door") and returns (status, message). It supports some
    members of a job, and ignores those that it cannot send."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--rate-limit-enabled=false", "--max-payload-size", str(MAX), "--rpc-bind", "127.0.0.1:0")
        cls.addClassCleanup(cls.server.stop)
        cls.api = cls.server.client()

    @classmethod
    def tearDownClass(cls):
        pass

    def sent(self, path, body):
        answer = self.api.post(path, body)
        return answer.status, answer.json.get("error", "") if answer.body else ""

    def by_enqueue(self, fields):
        return self.sent("/api/v1/enqueue", fields)

    def by_list(self, fields):
        return self.sent("/api/v1/enqueue", {"jobs": [{"queue": self.queue}, fields]})

    def by_batch(self, fields):
        return self.sent("/api/v1/enqueue/batch", {"jobs": [fields]})

    def by_ingest(self, fields):
        return self.sent("/api/v1/webhooks/" + fields["queue"], fields.get("payload", {}))

    def by_schedule(self, fields):
        return self.sent("/api/v1/schedules", {"name": unique("s"), "cron": "0 0 1 1 *", **fields})

    def by_schedule_update(self, fields):
        name = unique("s")
        self.api.must(self.api.post("/api/v1/schedules", {"name": name, "cron": "0 0 1 1 *", "queue": self.queue}), 201)
        answer = self.api.put("/api/v1/schedules/" + name, fields)
        return answer.status, answer.json.get("error", "")

    def by_step(self, fields, place="steps", **more):
        chain = {"steps": [{"queue": self.queue}, {"queue": self.queue}]}
        if place == "steps":
            chain["steps"][1] = fields
        else:
            chain[place] = fields
        key = "chain_config" if more.get("raw") else "chain"
        status, error = self.sent("/api/v1/enqueue", {"queue": self.queue, key: chain})
        if status != 201:
            self.assertIn(f"{key}.steps[1]" if place == "steps" else f"{key}.{place}", error)
        return status, error

    def by_raw_step(self, fields):
        return self.by_step(fields, raw=True)

    def by_on_failure(self, fields):
        return self.by_step(fields, "on_failure")

    def by_on_exit(self, fields):
        return self.by_step(fields, "on_exit")

    def by_callback(self, fields):
        return self.sent("/api/v1/enqueue/batch", {"jobs": [{"queue": self.queue}], "batch": {
            "callback_" + key: value for key, value in fields.items()}})

    def by_open_batch(self, fields):
        return self.sent("/api/v1/batch", {"callback_" + key: value for key, value in fields.items()})

    def by_rpc(self, fields):
        message = {"queue": fields["queue"], "payloadJson": json.dumps(fields.get("payload", {}))}
        answer = self.api.send("POST", "/corvo.v1.WorkerService/Enqueue", json.dumps(message).encode(),
                               {"Content-Type": "application/json"})
        return answer.status, json.loads(answer.body).get("message", "")

    def by_binary(self, fields):
        client = Client(self.server)
        try:
            client.send(1, enqueue(job(fields["queue"], json.dumps(fields.get("payload", {})))))
            kind, _, answer = client.next()
            return (400, answer.decode(errors="replace")) if kind == ERROR else (
                201 if struct.unpack("<HB", answer[:3]) == (1, 0) else 400, "")
        finally:
            client.close()

    def by_move(self, fields):
        job_id = self.api.enqueue(self.queue)
        return self.sent(f"/api/v1/jobs/{job_id}/move", {"queue": fields["queue"]})

    def by_bulk_move(self, fields):
        job_id = self.api.enqueue(self.queue)
        return self.sent("/api/v1/jobs/bulk", {"action": "move", "job_ids": [job_id], "move_to_queue": fields["queue"]})

    everywhere = ("enqueue", "list", "batch", "ingest", "schedule", "schedule_update", "step", "raw_step", "on_failure",
                  "on_exit", "callback", "open_batch", "rpc", "binary")
    whole = ("enqueue", "list", "batch", "schedule", "schedule_update")  # these accept every member of a job
    targets = whole + ("step", "on_failure", "on_exit")

    def try_each(self, doors, fields, ok, word=None, status=400):
        for door in doors:
            with self.subTest(door=door, fields=str(fields)[:80]):
                found, error = getattr(self, "by_" + door)({"queue": self.queue, **fields})
                self.assertEqual(found < 300, ok, (found, error))
                if not ok:
                    self.assertIn(word, error)
                    if door not in ("rpc", "binary"):
                        self.assertEqual(found, status, error)

    def test_the_payload_limit(self):
        """1.5"""
        self.try_each(self.everywhere, {"payload": payload(MAX)}, True)
        self.try_each(self.everywhere, {"payload": payload(MAX + 1)}, False,
                      f"payload too large: {MAX + 1} bytes (max {MAX})", 413)

    def test_the_reserved_queue(self):
        """scheduler.md 21.2: it is reserved for the jobs of POST /jobs."""
        for api in (self.api, self.api.with_headers(X_Corvo_Namespace="acme")):
            self.api, kept = api, self.api
            self.try_each(self.everywhere + ("move", "bulk_move"), {"queue": RESERVED}, False, "is reserved")
            self.api = kept
        self.try_each(("enqueue", "rpc", "move"), {"queue": "acme::" + RESERVED}, False, "is reserved")
        self.assertFalse([name for name in self.api.queues() if RESERVED in name])

    def test_names_of_queues(self):
        for name, word in (("q" * 257, "queue"), ("q\n", "queue")):
            doors = [d for d in self.everywhere if d not in ("ingest", "rpc", "binary")]
            self.try_each(doors, {"queue": name}, False, word)
        self.try_each(("rpc", "binary"), {"queue": "q\x01q"}, False, "queue")

    def test_numbers_and_words(self):
        for fields, word in (({"max_retries": -1}, "max_retries"), ({"priority": "urgent"}, "priority"),
                             ({"unique_key": "k" * 2000}, "unique_key"), ({"tags": ["a"]}, "tags"),
                             ({"tags": {"k" * 129: "v"}}, "tags"), ({"tags": {"k": "v" * 1025}}, "tags"),
                             ({"tags": {str(n): "v" for n in range(65)}}, "tags")):
            self.try_each(self.whole, fields, False, word)

    def test_targets(self):
        for push, word in (({}, "push.url"), ({"url": "ftp://x/"}, "push.url"), ({"url": "http://u:p@h/"}, "credentials"),
                           ({**TARGET, "auth": {"type": "magic"}}, "push.auth.type"),
                           ({**TARGET, "headers": {"bad name": "x"}}, "push.headers"),
                           ({**TARGET, "method": "GE T"}, "push.method"),
                           ({**TARGET, "timeout": "48h"}, "timeout"),
                           ({**TARGET, "success_below": 100}, "success_below")):
            self.try_each(self.targets, {"push": push}, False, word)


class Ignored(ApiTest):
    """A member that would be overridden by another one is refused, not ignored."""

    def test_batch_id_beside_batch(self):
        open_batch = self.api.must(self.api.post("/api/v1/batch", {"callback_queue": self.queue}), 201)["batch_id"]
        job, batch = {"queue": self.queue}, {"callback_queue": self.queue + "-done"}
        for path, body, message in (
                ("/api/v1/enqueue/batch", {"jobs": [job, {**job, "batch_id": open_batch}], "batch": batch},
                 "jobs[1]: batch_id and batch cannot both be set"),
                ("/api/v1/enqueue", {"jobs": [{**job, "batch_id": open_batch}], "batch": batch},
                 "jobs[0]: batch_id and batch cannot both be set"),
                ("/api/v1/enqueue", {**job, "batch_id": open_batch, "batch": batch}, "batch is for a list of jobs"),
                ("/api/v1/enqueue", {**job, "batch": batch}, "batch is for a list of jobs"),
                ("/api/v1/enqueue", {"jobs": [job], "batch_id": open_batch}, "batch_id and jobs cannot both be set"),
                ("/api/v1/enqueue/batch", {"jobs": [job], "batch_id": open_batch}, "batch_id and jobs cannot both be set"),
                ("/api/v1/enqueue", {"jobs": [job], "priority": "high"}, "priority and jobs cannot both be set"),
        ):
            with self.subTest(path=path, body=body):
                self.refused(self.api.post(path, body), 400, "VALIDATION_ERROR", message)
        self.assertNotIn(self.queue, self.api.queues())
        self.assertEqual(self.api.must(self.api.get("/api/v1/batch/" + open_batch))["total"], 0)
        # Empty values do not contradict anything.
        self.api.must(self.api.post("/api/v1/enqueue", {**job, "batch": None, "batch_id": None}), 201)
        self.api.must(self.api.post("/api/v1/enqueue/batch", {"jobs": [{**job, "batch_id": ""}], "batch": batch}), 201)
