"""Markers: deployments, first use of a version, and versions of workers."""
from harness import ApiTest, Server, unique, wait_until


class Markers(ApiTest):
    def markers(self, api=None, query=""):
        api = api or self.api
        return api.must(api.get("/api/v1/markers" + query))

    def test_a_deployment_is_marked_listed_and_deleted(self):
        queue = unique("markers")
        made = self.api.must(self.api.post("/api/v1/markers", {"text": " deployed 1.4.2 ", "queue": queue}), 201)
        self.assertEqual((made["kind"], made["text"], made["queue"]), ("deploy", "deployed 1.4.2", queue))
        self.assert_time(made["at"])
        self.assertIn(made, self.markers())
        self.assertIn(made, self.markers(query=f"?queue={queue}"))
        self.assertNotIn(made, self.markers(query=f"?queue={unique('other')}"))
        self.assertNotIn(made, self.markers(query="?from=7d&to=1h"))
        self.api.must(self.api.delete(f"/api/v1/markers/{made['id']}"))
        self.assertNotIn(made, self.markers())
        self.refused(self.api.delete(f"/api/v1/markers/{made['id']}"), 404, "NOT_FOUND", "marker not found")

    def test_a_time_may_be_given(self):
        made = self.api.must(self.api.post("/api/v1/markers", {"text": "then", "at": "2026-01-02T03:04:05Z"}), 201)
        self.assertEqual(made["at"], "2026-01-02T03:04:05Z")
        found = self.markers(query="?from=2026-01-02T00:00:00Z&to=2026-01-03T00:00:00Z")
        self.assertEqual([marker["text"] for marker in found], ["then"])

    def test_what_is_not_right_is_refused(self):
        for body, message in (({}, "text"), ({"text": "  "}, "text is required"), ({"text": "x" * 201}, "text"),
                              ({"text": "a\u0001"}, "text"), ({"text": "x", "at": "soon"}, "at")):
            with self.subTest(body):
                self.refused(self.api.post("/api/v1/markers", body), 400, "VALIDATION_ERROR", message)
        self.refused(self.api.get("/api/v1/markers?from=soon"), 400, "VALIDATION_ERROR", "from, to: must be a time")

    def test_namespaces_have_their_own(self):
        ns = unique("markers").replace(".", "-")
        other = type(self).server.client().with_headers(X_Corvo_Namespace=ns)
        made = other.must(other.post("/api/v1/markers", {"text": ns}), 201)
        self.assertIn(made, self.markers(other))
        mine = self.api.must(self.api.post("/api/v1/markers", {"text": unique("mine")}), 201)
        self.assertNotIn(mine["id"], [marker["id"] for marker in self.markers(other)])

    def test_a_namespace_does_not_displace_the_markers_of_another(self):
        """20.10: at most 1,000 are kept; the oldest of the namespace that has the most are deleted first."""
        server = Server("--rate-limit-enabled=false")
        self.addCleanup(server.discard)
        few, many = (server.client().with_headers(X_Corvo_Namespace=ns) for ns in ("few", "many"))
        for number in range(3):
            few.must(few.post("/api/v1/markers", {"text": f"few {number}"}), 201)
        for number in range(1000):
            many.must(many.post("/api/v1/markers", {"text": f"many {number}"}), 201)
        few.must(few.post("/api/v1/markers", {"text": "few 3"}), 201)
        texts = [[marker["text"] for marker in self.markers(api) if marker["kind"] == "deploy"] for api in (few, many)]
        self.assertEqual(texts[0], [f"few {number}" for number in range(4)])
        self.assertEqual(texts[1], [f"many {number}" for number in range(4, 1000)])

    def test_new_versions_are_marked_once(self):
        server = Server()
        self.addCleanup(server.discard)
        api = server.client()
        version = api.must(api.get("/api/v1/info"))["server_version"]
        wait_until(lambda: ("server", version) in [(m["kind"], m["text"]) for m in self.markers(api)])
        for worker in ("a", "b"):
            api.enqueue("q")
            api.fetch("q", worker_id=worker, version="1.4.2")
        api.enqueue("q")
        api.fetch("q", worker_id="a", version="1.5.0")
        server.terminate()
        server.start()
        found = [(m["kind"], m["text"]) for m in self.markers(server.client()) if m["kind"] == "worker"]
        self.assertEqual(found, [("worker", "1.4.2"), ("worker", "1.5.0")])


class WorkerVersions(ApiTest):
    def worker(self, name):
        workers = self.api.must(self.api.get(f"/api/v1/workers?prefix={name}"))
        return next(worker for worker in workers if worker["id"] == name)

    def test_a_worker_has_the_version_it_sends(self):
        queue, name = unique("versions"), unique("worker")
        job = self.api.enqueue(queue, max_retries=1)
        self.api.fetch(queue, worker_id=name, version="1.4.2")
        self.assertEqual(self.worker(name)["version"], "1.4.2")
        self.api.fail(job, error="it broke")
        self.assertEqual(self.api.job(job)["errors"][0]["worker_version"], "1.4.2")
        groups = self.api.must(self.api.get(f"/api/v1/errors?queue={queue}"))["groups"]
        self.assertEqual(groups[0]["versions"], [{"version": "1.4.2", "count": 1}])

    def test_a_header_says_it_as_well(self):
        queue, name = unique("versions"), unique("worker")
        self.api.enqueue(queue)
        self.api.with_headers(X_Corvo_Client_Version="0.3.0").fetch(queue, worker_id=name)
        self.assertEqual(self.worker(name)["version"], "0.3.0")

    def test_one_that_says_nothing_has_none(self):
        queue, name = unique("versions"), unique("worker")
        job = self.api.enqueue(queue, max_retries=1)
        self.api.fetch(queue, worker_id=name)
        self.assertNotIn("version", self.worker(name))
        self.api.fail(job, error="it broke")
        self.assertNotIn("versions", self.api.must(self.api.get(f"/api/v1/errors?queue={queue}"))["groups"][0])

    def test_a_version_has_a_limit(self):
        self.refused(self.api.post("/api/v1/fetch", {"queues": ["q"], "timeout": 1, "version": "x" * 65}), 400,
                     "VALIDATION_ERROR", "version")
