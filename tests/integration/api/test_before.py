"""A data folder of an earlier version can be opened, and nothing in it is lost or changed.

make_before.py created the folder (tests/golden/before-*.tar.gz) with the program of that version, whose server was
killed. expected.json contains what that server reported.
"""
import json
import pathlib
import shutil
import tarfile
import tempfile
import unittest

from harness import Server, wait_until

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden"

# States that change by themselves once a server runs, through leases and retry times.
MOVES = {"active"}


def without_more(said, expected):
    """Return the reported value, reduced to the members that were reported then. New members may have been added."""
    if isinstance(expected, dict) and isinstance(said, dict):
        return {k: without_more(said.get(k), v) for k, v in expected.items()}
    if isinstance(expected, list) and isinstance(said, list) and len(said) == len(expected):
        return [without_more(a, b) for a, b in zip(said, expected)]
    return said


class Before(unittest.TestCase):
    def folder(self, archive):
        folder = tempfile.mkdtemp(prefix="corvo-before-")
        self.addCleanup(shutil.rmtree, folder)
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        return pathlib.Path(folder)

    def compare(self, api, expected):
        for job in expected["jobs"]:
            if job["state"] not in MOVES:
                self.assertEqual(without_more(api.must(api.get(f"/api/v1/jobs/{job['id']}")), job), job)
        queues = {q["name"]: q for q in api.must(api.get("/api/v1/queues"))}
        for queue in expected["queues"]:
            self.assertEqual(without_more(queues[queue["name"]], queue), queue)
        for path in ("schedules", "webhooks", "approval-policies"):
            rows = expected["policies" if path == "approval-policies" else path]
            self.assertEqual(without_more(api.must(api.get(f"/api/v1/{path}")), rows), rows)
        batch = expected["batch"]
        if batch is not None:
            self.assertEqual(without_more(api.must(api.get(f"/api/v1/batch/{batch['id']}")), batch), batch)

    def test_it_opens(self):
        archives = sorted(GOLDEN.glob("before-*.tar.gz"))
        self.assertTrue(archives)
        for archive in archives:
            with self.subTest(archive.name):
                folder = self.folder(archive)
                expected = json.loads((folder / "expected.json").read_text())
                with Server("--retention", "0", "--rate-limit-enabled=false", data_dir=str(folder / "data")) as server:
                    api = server.client()  # an open server is still reachable on its own machine
                    self.compare(api, expected)
                    ids = {j["id"] for j in expected["jobs"] if j["queue"] == "mail"}
                    found = wait_until(lambda: api.must(api.post("/api/v1/jobs/search", {"queue": "mail", "limit": 200}))["jobs"])
                    self.assertEqual({j["id"] for j in found}, ids)
                    server.kill()  # a state after a crash must be as good
                    server.start()
                    self.compare(api, expected)
                    api.must(api.post("/api/v1/queues/mail/resume"))
                    done = set()
                    while len(done) < len(ids):
                        job = api.must(api.post("/api/v1/fetch", {"queues": ["mail"], "worker_id": "new", "timeout": 5}))
                        api.must(api.post(f"/api/v1/ack/{job['job_id']}", {}))
                        done.add(job["job_id"])
                    self.assertEqual(done, ids)
                    again = api.must(api.post("/api/v1/enqueue", {"queue": "chain", "payload": {}}), 201)
                    self.assertNotIn(again["job_id"], {j["id"] for j in expected["jobs"]})


if __name__ == "__main__":
    unittest.main()
