"""Errors (contract 1.6, 1.5): every code that can be reached, wrong types, limits.

Codes of job operations in the wrong state are in test_state_table.py.
"""
import http.client
import json
import unittest

from harness import ApiTest, PATIENCE_S, Server, unique

MISSING = "job_00000000000000000000000000"

# Every route that accepts a JSON object, with an existing path.
BODY_ROUTES = ["/api/v1/enqueue", "/api/v1/enqueue/batch", "/api/v1/fetch", "/api/v1/fetch/batch",
               "/api/v1/ack/batch", f"/api/v1/ack/{MISSING}", f"/api/v1/fail/{MISSING}",
               "/api/v1/heartbeat", "/api/v1/jobs/bulk-get", f"/api/v1/jobs/{MISSING}/move",
               f"/api/v1/jobs/{MISSING}/hold", f"/api/v1/jobs/{MISSING}/replay",
               "/api/v1/queues/errors/concurrency", "/api/v1/queues/errors/throttle",
               "/api/v1/schedules", "/api/v1/batch"]

# A known field of each kind, and values of the wrong type for it.
WRONG_TYPES = {
    "queue": [1, True, [], {}], "priority": [True, [], {}], "unique_key": [1, [], {}, False],
    "unique_period": ["1", 1.5, [], True], "max_retries": ["3", 2.5, [], {}, True],
    "retry_backoff": [1, [], {}], "retry_base_delay": [5, [], {}], "retry_max_delay": [5, True],
    "scheduled_at": [1771581605, [], {}, True], "expire_after": [60, []],
    "agent": [[], "x", 1, True], "parent_id": [1, []], "chain_id": [1], "chain_step": ["1", []],
    "depends_on": ["x", {}, [1], [[]]], "chain": [[], "x"], "chain_config": [[], "x", 5],
    "batch_id": [1, []],
}


class Parsing(ApiTest):
    def test_bodies_that_are_not_json(self):
        """1.6 PARSE_ERROR: message "invalid JSON"."""
        for path in BODY_ROUTES:
            for body in (b"{", b"nonsense", b'{"a":}', b"{'a':1}", b'{"a":1', b'{"a":01}',
                         b'{"a":"\x01"}', b'{"a":"\xff"}', b'{"queue":"x",}', b"\xef\xbb\xbf{"):
                with self.subTest(path=path, body=body):
                    self.refused(self.api.post(path, body), 400, "PARSE_ERROR", "invalid JSON")

    def test_bodies_of_another_shape(self):
        """1.6 PARSE_ERROR: not JSON of the right shape."""
        for path in BODY_ROUTES:
            for body in (b"[]", b'"x"', b"5", b"true"):
                with self.subTest(path=path, body=body):
                    self.refused(self.api.post(path, body), 400, "PARSE_ERROR")

    def test_bodies_that_are_missing(self):
        """1.5: an empty body where an object is needed → 400 PARSE_ERROR."""
        for path in ("enqueue", "enqueue/batch", "fetch", "fetch/batch", "ack/batch",
                     f"fail/{MISSING}", "heartbeat", "jobs/bulk-get", f"jobs/{MISSING}/move",
                     "queues/errors/concurrency", "queues/errors/throttle", "schedules"):
            for body in (None, b"", b" \n"):
                with self.subTest(path=path, body=body):
                    self.refused(self.api.post(f"/api/v1/{path}", body), 400, "PARSE_ERROR")

    def test_wrong_types(self):
        """1.5: wrong JSON type for a known field → 400 PARSE_ERROR; alone and in a batch."""
        for field, values in WRONG_TYPES.items():
            for value in values:
                with self.subTest(field=field, value=value):
                    job = {"queue": self.queue, field: value}
                    self.refused(self.api.post("/api/v1/enqueue", job), 400, "PARSE_ERROR")
                    self.refused(self.api.post("/api/v1/enqueue/batch", {"jobs": [job]}), 400,
                                 "PARSE_ERROR")
        self.assertNotIn(self.queue, self.api.queues())

    def test_the_message_names_the_field(self):
        answer = self.api.post("/api/v1/enqueue/batch",
                               {"jobs": [{"queue": "a"}, {"queue": "b", "max_retries": "x"}]})
        self.refused(answer, 400, "PARSE_ERROR", "invalid JSON: jobs[1].max_retries")

    def test_nesting_is_bounded(self):
        """The limit is that of the value, wherever it is in the request."""
        def nested(depth):
            return b"[" * depth + b"]" * depth

        queue, fine, say = self.queue.encode(), nested(512), "nested more than 512 deep"
        for depth in (513, 600, 100000):
            job = b'{"queue":"%s","payload":%s}' % (queue, nested(depth))
            self.refused(self.api.post("/api/v1/enqueue", job), 400, "VALIDATION_ERROR", f"payload: {say}")
            self.refused(self.api.post("/api/v1/enqueue/batch", b'{"jobs":[%s]}' % job), 400,
                         "VALIDATION_ERROR", f"jobs[0].payload: {say}")
            self.refused(self.api.post(f"/api/v1/webhooks/{self.queue}", nested(depth)), 400,
                         "VALIDATION_ERROR", f"payload: {say}")
            self.refused(self.api.post("/api/v1/enqueue", b'{"queue":"%s","other":%s}' % (queue, nested(depth + 40))),
                         400, "PARSE_ERROR")
        self.assertNotIn(self.queue, self.api.queues())
        for path, body in (("enqueue", b'{"queue":"%s","payload":%s}' % (queue, fine)),
                           (f"webhooks/{self.queue}", fine)):
            job_id = self.api.must(self.api.post(f"/api/v1/{path}", body), 201)["job_id"]
            self.assertIn(fine, self.api.get(f"/api/v1/jobs/{job_id}").body)
        step = b'{"queue":"%s","payload":{"a":%s}}' % (queue, nested(511))
        for member in (b'"on_failure":%s', b'"on_exit":%s', b'"on_exit":null%.0s'):
            chain = b'{"steps":[%s,%s],%s}' % (step, step, member % step)
            self.api.must(self.api.post("/api/v1/enqueue", b'{"queue":"%s","chain":%s}' % (queue, chain)), 201)
            chain = chain.replace(nested(511), nested(512))
            answer = self.api.post("/api/v1/enqueue", b'{"queue":"%s","chain":%s}' % (queue, chain))
            self.refused(answer, 400, "VALIDATION_ERROR", say)
        active = self.active(self.queue + ".active")
        for beats, path in ((b'{"%s":{"%s":%s}}', "jobs"), (b'[{"job_id":"%s","%s":%s}]', "jobs[0]"),
                            (b'[{"job_id":"%s","%s":"%s"}]', "jobs[0]")):
            for field in (b"progress", b"checkpoint"):
                body = b'{"jobs":%s}' % (beats % (active.encode(), field, fine))
                self.api.must(self.api.post("/api/v1/heartbeat", body))
                self.refused(self.api.post("/api/v1/heartbeat", body.replace(fine, nested(513))), 400,
                             "VALIDATION_ERROR", say)
        self.refused(self.api.post(f"/api/v1/ack/{active}", b'{"result":%s}' % nested(513)), 400,
                     "VALIDATION_ERROR", f"result: {say}")
        self.api.must(self.api.post(f"/api/v1/ack/{active}", b'{"result":%s}' % fine))

    def test_numbers_out_of_range(self):
        for field, value in (("max_retries", 10**30), ("max_retries", 2**40),
                             ("unique_period", 10**30), ("chain_step", 10**12)):
            with self.subTest(field=field, value=value):
                answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, field: value})
                self.assertEqual(answer.status, 400)
                self.assertIn(answer.json["code"], ("VALIDATION_ERROR", "PARSE_ERROR"))

    def test_messages_tell_the_limits_that_hold(self):
        """A queue may not be empty; unique_period has no lower limit, and 0 or less means the default."""
        for fields, message in (({"queue": "x" * 256}, "queue: expected 1 to 255 bytes, got 256"),
                                ({"queue": "x" * 999}, "queue: expected 1 to 255 bytes, got 999"),
                                ({"unique_period": 2**31}, "unique_period: expected at most 2147483647, got 2147483648")):
            answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, **fields})
            self.refused(answer, 400, "VALIDATION_ERROR", message)


class Limits(ApiTest):
    def test_field_limits(self):
        """1.5: defensive field limits → 400 VALIDATION_ERROR."""
        tags = {f"k{n}": "v" for n in range(65)}
        rows = [("queue", "x" * 256), ("queue", "a\x00b"), ("queue", "a\nb"), ("queue", "a\x7fb"),
                ("unique_key", "x" * 513), ("tags", tags), ("tags", {"k" * 129: "v"}),
                ("tags", {"k": "v" * 1025}), ("tags", []), ("tags", "x"),
                ("tags", 5), ("depends_on", [MISSING] * 1001), ("max_retries", -1),
                ("retry_backoff", "sometimes")]
        for field, value in rows:
            with self.subTest(field=field, value=str(value)[:40]):
                answer = self.api.post("/api/v1/enqueue", {"queue": self.queue, field: value})
                self.refused(answer, 400, "VALIDATION_ERROR", field)
        self.assertNotIn(self.queue, self.api.queues())

    def test_what_just_fits(self):
        tags = {f"k{n}": "v" for n in range(62)}
        tags["k" * 128] = "v" * 1024
        tags[""] = ""
        job_id = self.api.enqueue("x" * 255, unique_key="x" * 512, tags=tags)
        self.assertEqual(self.api.job(job_id)["tags"], tags)

    def test_tags_are_measured_without_their_escapes(self):
        """1.5: key ≤ 128, value ≤ 1024 bytes, however the text is escaped."""
        fits, long_key, long_value = {"é" * 64: "é" * 512}, {"é" * 65: "v"}, {"k": "é" * 513}
        for ascii_only in (True, False):
            with self.subTest(ascii_only=ascii_only):
                def enqueue(tags, ascii_only=ascii_only):
                    body = json.dumps({"queue": self.queue, "tags": tags},
                                      ensure_ascii=ascii_only)
                    return self.api.post("/api/v1/enqueue", body.encode())

                job_id = self.api.must(enqueue(fits), 201)["job_id"]
                self.assertEqual(self.api.job(job_id)["tags"], fits)
                self.refused(enqueue(long_key), 400, "VALIDATION_ERROR", "tags has a key")
                self.refused(enqueue(long_value), 400, "VALIDATION_ERROR", "tags has a value")

    def test_fetch_limits(self):
        """1.5: worker_id, hostname ≤ 255; queues per fetch ≤ 256."""
        for path in ("/api/v1/fetch", "/api/v1/fetch/batch"):
            for fields in ({"worker_id": "x" * 256}, {"hostname": "x" * 256},
                           {"queues": ["q"] * 257}, {"queues": ["x" * 256]}, {"queues": [""]}):
                with self.subTest(path=path, fields=str(fields)[:40]):
                    body = {"queues": [self.queue], "timeout": 1, **fields}
                    self.refused(self.api.post(path, body), 400, "VALIDATION_ERROR")
        job_id = self.api.enqueue(self.queue)
        job = self.api.fetch(*(f"q{n}" for n in range(255)), self.queue, worker_id="x" * 255,
                             hostname="y" * 255)
        self.assertEqual(job["job_id"], job_id)
        for body in ({"queues": "q"}, {"queues": [1]}, {"queues": ["q"], "timeout": "1"},
                     {"queues": ["q"], "worker_id": 5}):
            self.refused(self.api.post("/api/v1/fetch", body), 400, "PARSE_ERROR")

    def test_a_large_checkpoint(self):
        """1.5: checkpoint ≤ 1 MiB → 413."""
        answer = self.api.post("/api/v1/enqueue",
                               {"queue": self.queue, "checkpoint": "x" * (1 << 20)})
        self.refused(answer, 413, "PAYLOAD_TOO_LARGE")
        self.api.enqueue(self.queue, checkpoint="x" * ((1 << 20) - 2))

    def test_a_body_of_sixteen_megabytes(self):
        """1.5: one limit, 16 MiB; at the limit it is read, over it 413."""
        job = b'{"queue":"%s"}' % self.queue.encode()
        body = job + b" " * ((16 << 20) - len(job))
        self.api.must(self.api.post("/api/v1/enqueue", body), 201)
        self.refused(self.api.post("/api/v1/enqueue", body + b" "), 413, "PAYLOAD_TOO_LARGE",
                     "16777216")


class Routing(ApiTest):
    def test_unknown_paths(self):
        """1.6: unknown path → 404 NOT_FOUND."""
        for path in ("/api", "/api/v1", "/api/v1/", "/api/v1/nothing", "/api/v2/enqueue",
                     "/api/v1/enqueue/", "/api/v1//enqueue", "/api/v1/jobs", "/api/v1/jobs/",
                     "/api/v1/jobs/x/y/z", "/api/v1/queues/", "/favicon.ico", "/api/v1/ENQUEUE",
                     "/api/v1/queues/x/explode", "/.%2e/api/v1/queues"):
            for method in ("GET", "POST", "DELETE"):
                with self.subTest(path=path, method=method):
                    self.refused(self.api.request(method, path), 404, "NOT_FOUND")

    def test_wrong_methods(self):
        """1.6: wrong method → 405 METHOD_NOT_ALLOWED with Allow."""
        for method, path, allow in (
                ("GET", "/api/v1/enqueue", {"POST"}), ("DELETE", "/api/v1/fetch", {"POST"}),
                ("POST", "/api/v1/queues", {"GET"}), ("PUT", "/api/v1/queues/x", {"GET", "DELETE"}),
                ("GET", "/api/v1/queues/x/pause", {"POST"}),
                ("GET", "/api/v1/queues/x/throttle", {"POST", "DELETE"}),
                ("PATCH", "/api/v1/schedules", {"GET", "POST"}),
                ("POST", "/api/v1/schedules/x", {"GET", "PUT", "DELETE"}),
                ("POST", f"/api/v1/jobs/{MISSING}", {"GET", "DELETE"}),
                ("POST", "/healthz", {"GET"}), ("BREW", "/api/v1/info", {"GET"})):
            with self.subTest(method=method, path=path):
                answer = self.api.request(method, path)
                self.refused(answer, 405, "METHOD_NOT_ALLOWED")
                allowed = {word.strip() for word in answer.headers["allow"].split(",")}
                self.assertEqual(allowed, allow | {"OPTIONS"} | ({"HEAD"} if "GET" in allow else set()))

    def test_literal_segments_win(self):
        """22: /ack/batch before /ack/{job_id}, /jobs/bulk-get before /jobs/{id}."""
        self.refused(self.api.post("/api/v1/ack/batch", {}), 400, "VALIDATION_ERROR",
                     "acks array is required")
        self.assertEqual(self.api.must(self.api.post("/api/v1/jobs/bulk-get", {})), {"jobs": []})
        self.refused(self.api.post("/api/v1/ack/batches", {}), 404, "NOT_FOUND")

    def test_messages_are_text_whatever_was_sent(self):
        """Errors that repeat input are valid JSON and UTF-8."""
        for path in ("%FF%FE", "%C3", "%22%5C%0A", "%C3%A4" * 200, "a" + "%F0%9F%98%80" * 60):
            for answer in (self.api.get(f"/api/v1/jobs/{path}"),
                           self.api.get(f"/api/v1/schedules/{path}"),
                           self.api.get(f"/api/v1/queues/{path}"),
                           self.api.post(f"/api/v1/queues/{path}/explode")):
                with self.subTest(path=path, answer=answer):
                    self.assertIn(answer.status, (400, 404))
                    self.assertEqual(set(json.loads(answer.body.decode())), {"error", "code"})

    def test_queue_actions_on_names_that_are_no_text(self):
        for name in ("%FF", "%01", "a%0Ab", "%7F", "x" * 256):
            for action in ("pause", "resume", "drain", "clear"):
                with self.subTest(name=name, action=action):
                    answer = self.api.post(f"/api/v1/queues/{name}/{action}")
                    self.refused(answer, 400, "VALIDATION_ERROR")


class AdminPassword(ApiTest):
    settings = ("--admin-password", "s3cret")

    def test_a_credential_is_needed(self):
        """1.6 UNAUTHORIZED: missing and wrong credentials; open routes stay open."""
        self.refused(self.api.get("/api/v1/queues"), 401, "UNAUTHORIZED", "missing API key")
        for headers in ({"X-API-Key": "wrong"}, {"Authorization": "Bearer s3cre"},
                        {"X-API-Key": "s3cret s3cret"}):
            self.refused(self.api.get("/api/v1/queues", headers), 401, "UNAUTHORIZED",
                         "invalid API key")
        for path in ("/healthz", "/api/v1/info", "/docs", "/openapi.json"):
            self.assertEqual(self.api.get(path).status, 200)
        # Authentication is checked before the path.
        self.refused(self.api.get("/api/v1/nothing"), 401, "UNAUTHORIZED", "missing API key")
        self.refused(self.api.put("/api/v1/queues"), 401, "UNAUTHORIZED", "missing API key")
        self.refused(self.api.put("/api/v1/info"), 405, "METHOD_NOT_ALLOWED")
        self.refused(self.api.get("/nothing"), 404, "NOT_FOUND")
        self.assertEqual(self.api.request("OPTIONS", "/api/v1/queues").status, 200)


class AdminPasswordForms(ApiTest):
    settings = ("--admin-password", "s3cret/+=")

    def test_every_header_is_good(self):
        """1.3: X-API-Key, Bearer in any case, cookie (percent-decoded)."""
        for headers in ({"X-API-Key": "s3cret/+="}, {"Authorization": "Bearer s3cret/+="},
                        {"Authorization": "bEARER  s3cret/+= "},
                        {"X-API-Key": " s3cret/+= "},
                        {"Cookie": "a=b; corvo_api_key=s3cret%2F%2B%3D; c=d"},
                        {"Cookie": "corvo_api_key=s3cret%2F%2B%3D"}):
            with self.subTest(headers):
                self.assertEqual(self.api.get("/api/v1/queues", headers).status, 200)
        headers = {"X-API-Key": "wrong", "Authorization": "Bearer s3cret/+="}
        self.refused(self.api.get("/api/v1/queues", headers), 401, "UNAUTHORIZED")


class RateLimit(unittest.TestCase):
    def test_a_burst_of_one(self):
        """24.53 limiter burst 1 → second GET 429 RATE_LIMITED with Retry-After."""
        with Server("--rate-limit-loopback", "--rate-limit-read-burst", "1",
                    "--rate-limit-read-rps", "0.0001",
                    "--rate-limit-write-burst", "3", "--rate-limit-write-rps", "0.0001") as server:
            api = server.client()
            self.assertEqual(api.get("/api/v1/queues").status, 200)
            answer = api.get("/api/v1/queues")
            self.assertEqual((answer.status, answer.json), (429, {
                "error": "rate limit exceeded", "code": "RATE_LIMITED"}))
            self.assertEqual(answer.headers["retry-after"], "1")
            # A refused request uses no tokens, and a batch costs as many tokens as it has jobs.
            queue = unique("limited")
            batch = [{"queue": queue}] * 2
            self.assertEqual(len(api.enqueue_batch(batch)["job_ids"]), 2)
            self.assertEqual(api.post("/api/v1/enqueue/batch", {"jobs": batch}).status, 429)
            self.assertEqual(api.post("/api/v1/enqueue", {"queue": queue}).status, 201)
            self.assertEqual(api.post("/api/v1/enqueue", {"queue": queue}).status, 429)
            # A forwarding header does not make it a different client.
            proxied = api.with_headers(X_Forwarded_For="203.0.113.9")
            self.assertEqual(proxied.get("/api/v1/queues").status, 429)
            # Everything below the base path is limited.
            for path in ("/api/v1/info", "/api/v1/nothing"):
                self.assertEqual(api.get(path).status, 429)
            # An invented credential does not make it a different client.
            for headers in ({"X_API_Key": "another"}, {"Authorization": "Bearer another"},
                            {"Authorization": "Basic Zm9v"}, {"Cookie": "corvo_api_key=x"}):
                self.assertEqual(api.with_headers(**headers).get("/api/v1/queues").status, 429)
            # Open routes and OPTIONS are not limited.
            for _ in range(3):
                self.assertEqual(api.get("/healthz").status, 200)
                self.assertEqual(api.get("/docs").status, 200)
                self.assertEqual(api.request("OPTIONS", "/api/v1/queues").status, 200)
            # Another address has separate buckets.
            other = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S,
                                               source_address=("127.0.0.2", 0))
            other.request("GET", "/metrics")
            text = other.getresponse().read().decode()
            other.close()
            for route, count in (("/api/v1/queues", 6), ("/api/v1/info", 1), ("/unknown", 1)):
                self.assertIn("corvo_rate_limit_throttled_total"
                              f'{{method="GET",route="{route}"}} {count}', text)

    def test_costs_are_capped_at_the_bucket(self):
        """1.5: limiter cost is capped at the bucket size."""
        with Server("--rate-limit-loopback", "--rate-limit-write-burst", "5",
                    "--rate-limit-write-rps", "0.0001") as server:
            api = server.client()
            self.assertEqual(len(api.enqueue_batch([{"queue": "q"}] * 50)["job_ids"]), 50)
            self.assertEqual(api.post("/api/v1/enqueue", {"queue": "q"}).status, 429)

    def test_batches_are_limited_whatever_becomes_of_them(self):
        """1.2: the limiter comes before the credential and the body, on every route."""
        with Server("--rate-limit-loopback", "--admin-password", "s3cret",
                    "--rate-limit-write-burst", "3", "--rate-limit-write-rps", "0.0001") as server:
            good = server.client(**{"X-API-Key": "s3cret"})
            rows = (("/api/v1/enqueue/batch", server.client(), {"jobs": []}, [401] * 3 + [429]),
                    # the same address, so the same bucket
                    ("/api/v1/fetch/batch", server.client(**{"X-API-Key": "guess"}), {},
                     [429] * 4),
                    ("/api/v1/ack/batch", good, b'{"acks":', [400] * 3 + [429]))
            for path, api, body, statuses in rows:
                with self.subTest(path):
                    answers = [api.post(path, body).status for _ in range(4)]
                    self.assertEqual(answers, statuses)

    def test_callers_on_this_machine(self):
        """26: a loopback caller without a credential is not limited."""
        with Server("--open-access", "--rate-limit-read-burst", "1",
                    "--rate-limit-read-rps", "0.0001") as server:
            api = server.client()
            for _ in range(3):
                self.assertEqual(api.get("/api/v1/queues").status, 200)
            proxied = api.with_headers(X_Forwarded_For="203.0.113.9")
            self.assertEqual([proxied.get("/api/v1/queues").status for _ in range(2)], [200, 429])
            self.assertEqual(api.with_headers(X_API_Key="x").get("/api/v1/queues").status, 429)
            self.assertEqual(api.get("/api/v1/queues").status, 200)

    def test_clients_of_a_trusted_proxy(self):
        """1.2, 1.7: in requests from a trusted proxy, the first entry of X-Forwarded-For is the client. From others
        it is ignored."""
        with Server("--open-access", "--trusted-proxies", "127.0.0.1", "--rate-limit-read-burst", "1",
                    "--rate-limit-read-rps", "0.0001") as server:
            def ask(source, forwarded):
                connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S,
                                                        source_address=(source, 0))
                connection.request("GET", "/api/v1/queues", headers={"X-Forwarded-For": forwarded})
                status = connection.getresponse().status
                connection.close()
                return status
            for source, forwarded, status in (
                    ("127.0.0.1", "203.0.113.9", 200), ("127.0.0.1", "203.0.113.9, 10.0.0.1", 429),
                    ("127.0.0.1", "203.0.113.10", 200), ("127.0.0.1", "somebody", 200),
                    ("127.0.0.1", "somebody else", 429),
                    ("127.0.0.2", "203.0.113.11", 200), ("127.0.0.2", "203.0.113.12", 429)):
                with self.subTest(source=source, forwarded=forwarded):
                    self.assertEqual(ask(source, forwarded), status)

    def test_guesses_slow_down(self):
        """A password cannot be guessed by trying, clients with a valid key continue, and the log stays short."""
        with Server("--admin-password", "s3cret") as server:
            right = server.client(**{"X-API-Key": "s3cret"})
            self.assertEqual(right.get("/api/v1/queues").status, 200)
            answers = [server.client(**{"X-API-Key": f"guess {n}"}).get("/api/v1/queues").status
                       for n in range(60)]
            self.assertEqual(answers[:20], [401] * 20)
            self.assertIn(429, answers)
            self.assertEqual(set(answers), {401, 429})
            self.assertEqual(right.get("/api/v1/queues").status, 200)
            self.assertEqual(server.client().get("/api/v1/queues").status, 401)
            told = [line for line in server.lines if "invalid credentials" in line]
            self.assertEqual(len(told), 1, told)


if __name__ == "__main__":
    unittest.main()
