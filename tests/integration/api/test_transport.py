"""The transport (contract 1.1 to 1.5): connections, framing, headers, start and stop."""
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import http2_client
from harness import (PATIENCE_S, VERSION, ApiTest, RawConnection, Server, environment, run_command,
                     wait_until)


def request(method, path, body=b"", *headers):
    """Return the bytes of a request."""
    lines = [f"{method} {path} HTTP/1.1", "Host: test", *headers]
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class Http1(ApiTest):
    def raw(self):
        connection = RawConnection(self.server)
        self.addCleanup(connection.__exit__)
        return connection

    def enqueue_body(self):
        return json.dumps({"queue": self.queue, "payload": {"x": 1}}).encode()

    def test_connections_are_kept(self):
        """1.1: keep-alive on all responses, errors and 204 included."""
        raw = self.raw()
        for path, status in (("/healthz", 200), ("/nothing", 404), ("/api/v1/enqueue", 405)):
            raw.send(request("GET", path))
            self.assertEqual(raw.read_answer().status, status)
        raw.send(request("POST", "/api/v1/enqueue", b"{"))
        self.assertEqual(raw.read_answer().status, 400)
        raw.send(request("POST", "/api/v1/fetch",
                         json.dumps({"queues": [self.queue], "timeout": 1}).encode()))
        answer = raw.read_answer()
        self.assertEqual(answer.status, 204)
        self.assertNotIn("content-length", answer.headers)
        raw.send(request("GET", "/healthz"))
        self.assertEqual(raw.read_answer().status, 200)

    def test_close_is_honoured(self):
        raw = self.raw()
        raw.send(request("GET", "/healthz", b"", "Connection: close"))
        answer = raw.read_answer()
        self.assertEqual((answer.status, answer.headers["connection"]), (200, "close"))
        self.assertTrue(raw.at_end())

    def test_http_1_0(self):
        raw = self.raw()
        raw.send(b"GET /healthz HTTP/1.0\r\n\r\n")
        self.assertEqual(raw.read_answer().status, 200)
        self.assertTrue(raw.at_end())

    def test_pipelined_requests_are_answered_in_order(self):
        """1.1: pipelined HTTP/1.1 requests are answered in order, also behind a slow one."""
        raw = self.raw()
        fetch = json.dumps({"queues": [self.queue], "timeout": 1}).encode()
        raw.send(request("POST", "/api/v1/fetch", fetch)
                 + b"".join(request("POST", "/api/v1/enqueue", self.enqueue_body())
                            for _ in range(20))
                 + request("GET", "/nothing") + request("GET", "/api/v1/info"))
        first = raw.read_answer()
        self.assertIn(first.status, (200, 204))
        for _ in range(20):
            self.assertEqual(raw.read_answer().status, 201)
        self.assertEqual(raw.read_answer().status, 404)
        self.assertIn("server_version", raw.read_answer().json)

    def test_a_request_in_pieces(self):
        raw = self.raw()
        data = request("POST", "/api/v1/enqueue", self.enqueue_body())
        for i in range(len(data)):
            raw.send(data[i:i + 1])
        self.assertEqual(raw.read_answer().status, 201)

    def test_a_client_that_shuts_its_side_is_answered(self):
        """Requests sent before are answered, because a client would repeat a write without a response. The server
        does not wait for anything, because the client may have disconnected."""
        search = json.dumps({"queue": self.queue}).encode()
        cases = (("GET", "/healthz", b"", 200),
                 ("POST", "/api/v1/enqueue", self.enqueue_body(), 201),
                 ("POST", "/api/v1/jobs/search", search, 200))
        for method, path, body, status in cases:
            with self.subTest(path):
                raw = self.raw()
                raw.send(request(method, path, body))
                raw.shut()
                self.assertEqual(raw.read_answer().status, status)
                self.assertTrue(raw.at_end())
        raw = self.raw()
        poll = json.dumps({"queues": [self.queue + "-none"], "timeout": 60}).encode()
        raw.send(request("POST", "/api/v1/fetch", poll))
        wait_until(lambda: self.api.fetches_waiting() == 1, "the poll being parked")
        raw.shut()
        self.assertEqual(raw.read_answer().status, 204)
        self.assertTrue(raw.at_end())

    def test_chunked_bodies(self):
        """1.1: chunked bodies, with extensions and trailers."""
        body = self.enqueue_body()
        raw = self.raw()
        raw.send(b"POST /api/v1/enqueue HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        for i in range(0, len(body), 7):
            part = body[i:i + 7]
            raw.send(b"%x;ext=1\r\n%s\r\n" % (len(part), part))
        raw.send(b"0\r\nX-Trailer: t\r\n\r\n")
        answer = raw.read_answer()
        self.assertEqual(answer.status, 201)
        self.assertEqual(self.api.job(answer.json["job_id"])["payload"], {"x": 1})
        raw.send(request("GET", "/healthz"))
        self.assertEqual(raw.read_answer().status, 200)

    def test_expect_100_continue(self):
        """1.1: Expect: 100-continue is supported; a refusal is sent without it."""
        body = self.enqueue_body()
        raw = self.raw()
        raw.send(b"POST /api/v1/enqueue HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                 b"Content-Length: %d\r\n\r\n" % len(body))
        self.assertEqual(raw.read_head()[0], 100)
        raw.send(body)
        self.assertEqual(raw.read_answer().status, 201)
        raw = self.raw()
        raw.send(b"POST /api/v1/nothing HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                 b"Content-Length: 5\r\n\r\n")
        self.assertEqual(raw.read_answer().status, 404)

    def test_a_body_that_is_answered_before_it_has_come(self):
        """1.1 keep-alive on all responses: an unread body is discarded, up to 1 MiB."""
        size = 900_000
        with RawConnection(self.server) as raw:
            for framing, body in ((f"Content-Length: {size}", b"x" * size),
                                  ("Transfer-Encoding: chunked",
                                   b"%x\r\n" % size + b"x" * size + b"\r\n0\r\n\r\n")):
                raw.send(f"POST /api/v1/nothing HTTP/1.1\r\nHost: t\r\n{framing}\r\n\r\n".encode())
                answer = raw.read_answer()
                self.assertEqual(answer.status, 404)
                self.assertNotIn("connection", answer.headers)
                raw.send(body)
            raw.send(b"GET /api/v1/queues HTTP/1.1\r\nHost: t\r\n\r\n")
            self.assertEqual(raw.read_answer().status, 200)
            raw.send(b"POST /api/v1/nothing HTTP/1.1\r\nHost: t\r\nContent-Length: 2000000\r\n\r\n")
            answer = raw.read_answer()
            self.assertEqual((answer.status, answer.headers["connection"]), (404, "close"))
            self.assertTrue(raw.at_end())

    def test_a_body_too_large_is_refused_before_it_comes(self):
        """1.5: over the limit → 413, nothing truncated; the response is sent before the body arrives."""
        raw = self.raw()
        raw.send(b"POST /api/v1/enqueue HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
        self.assertEqual(raw.read_answer().status, 413)

    def test_requests_that_are_malformed(self):
        """Each gets the JSON error body with a matching status, and the connection ends."""
        for data in (b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
                     b"GET /healthz HTTP/1.1\r\n\r\n",
                     b"GET /healthz HTTP/1.1\r\nHost: x\r\nBad Header: 1\r\n\r\n",
                     b"POST /api/v1/enqueue HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
                     b"POST /api/v1/enqueue HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
                     b"Transfer-Encoding: chunked\r\n\r\n",
                     b"POST /api/v1/enqueue HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
                     b"POST /api/v1/enqueue HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
                     b"\r\nzz\r\n",
                     b"GET /" + b"x" * 20000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                     b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 200 + b"\r\n"):
            with self.subTest(data[:60]):
                raw = self.raw()
                raw.send(data)
                answer = raw.read_answer()
                self.assertIn(answer.status, (400, 414, 431, 501, 505))
                self.assertEqual(set(answer.json), {"error", "code"})
                self.assertTrue(raw.at_end())
        self.assertEqual(self.api.get("/healthz").status, 200)

    def test_paths_that_cannot_be_decoded(self):
        """They get a response like every other error, and the connection stays open."""
        raw = self.raw()
        for path in (b"/api/v1/jobs/a%00b", b"/api/v1/jobs/%", b"/%zz", b"/api/v1/queues/%2"):
            with self.subTest(path):
                raw.send(b"GET %s HTTP/1.1\r\nHost: x\r\nX-Request-Id: bad\r\n\r\n" % path)
                answer = raw.read_answer()
                self.assertEqual((answer.status, answer.json["code"]), (400, "VALIDATION_ERROR"))
                self.assertEqual(answer.headers["x-request-id"], "bad")
                self.assertIn("server-timing", answer.headers)

    def test_empty_lines_before_a_request(self):
        """RFC 9112 2.2: some clients end a body with an empty line."""
        for lines in (1, 2, 3):
            with self.subTest(lines):
                raw = self.raw()
                for _ in range(2):
                    raw.send(b"\r\n" * lines + b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
                    self.assertEqual(raw.read_answer().status, 200)

    def test_browsers_may_send_and_read_our_headers(self):
        answer = self.api.request("OPTIONS", "/api/v1/enqueue", None, {
            "Origin": "https://ui.example", "Access-Control-Request-Method": "POST"})
        allowed = answer.headers["access-control-allow-headers"].split(", ")
        exposed = answer.headers["access-control-expose-headers"].split(", ")
        self.assertLessEqual({"Idempotency-Key", "X-Corvo-Api", "X-Corvo-Namespace"}, set(allowed))
        self.assertLessEqual({"X-Corvo-View-Lag", "X-Corvo-Next-Cursor", "X-Request-Id",
                              "Retry-After"}, set(exposed))

    def test_head(self):
        """1.1: HEAD like GET without body."""
        for path in ("/healthz", "/api/v1/queues", "/api/v1/info", "/nothing"):
            with self.subTest(path):
                got = self.api.get(path)
                head = self.api.request("HEAD", path)
                self.assertEqual((head.status, head.body), (got.status, b""))
                self.assertEqual(head.headers["content-type"], got.headers["content-type"])
                self.assertEqual(head.headers["content-length"], got.headers["content-length"])

    def test_options(self):
        """24.52 OPTIONS any path 200 with Access-Control-Allow-Origin: *; 1.4: empty body."""
        for path in ("/api/v1/enqueue", "/healthz", "/no/such/path", "/"):
            answer = self.api.request("OPTIONS", path, headers={
                "Origin": "https://ui.example", "Access-Control-Request-Method": "POST"})
            self.assertEqual((answer.status, answer.body), (200, b""))
        raw = self.raw()
        raw.send(b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertEqual(raw.read_answer().status, 200)

    def test_the_request_id(self):
        """1.3: X-Request-Id is echoed, or one is generated."""
        answer = self.api.get("/healthz", {"X-Request-Id": "abc-123"})
        self.assertEqual(answer.headers["x-request-id"], "abc-123")
        ids = {self.api.get("/healthz").headers["x-request-id"] for _ in range(20)}
        self.assertEqual(len(ids), 20)

    def test_no_compression(self):
        """1.1: no compression, whatever Accept-Encoding contains (checked in every response)."""
        answer = self.api.get("/openapi.json", {"Accept-Encoding": "gzip, br, deflate"})
        self.assertEqual(answer.status, 200)
        self.assertIn("openapi", answer.json)

    def test_the_content_type_of_a_request_is_not_checked(self):
        """1.3: request Content-Type is not checked."""
        for kind in ("text/plain", "application/x-www-form-urlencoded", "nonsense"):
            answer = self.api.post("/api/v1/enqueue", self.enqueue_body(), {"Content-Type": kind})
            self.assertEqual(answer.status, 201)

    def test_a_boolean_in_a_query_is_one_of_four_words(self):
        """1.5: anything else is refused, also nothing."""
        for value in ("true", "false", "1", "0"):
            self.assertEqual(self.api.get(f"/healthz?ready={value}").status, 200, value)
        queue = self.queue
        self.api.enqueue(queue)
        for query in ("async", "async=", "async=yes", "async=TRUE", "async=2", "async=%20true", "confirm=no"):
            with self.subTest(query):
                self.refused(self.api.delete(f"/api/v1/queues/{queue}?{query}"), 400, "VALIDATION_ERROR",
                             f"invalid {query.partition('=')[0]}: expected true, false, 1 or 0")
        self.assertEqual(self.api.queue(queue)["pending"], 1)

    def test_queries_are_ignored_where_none_is_meant(self):
        self.assertEqual(self.api.get("/api/v1/queues?x=1&y").status, 200)
        self.assertEqual(self.api.get("/healthz?").status, 200)


def curl(*args):
    return subprocess.run(["curl", "--silent", "--show-error", "--max-time", "60", *args],
                          env=environment(), capture_output=True, text=True, timeout=90,
                          check=True).stdout


def curl_has_http2():
    if shutil.which("curl") is None:
        return False
    version = subprocess.run(["curl", "--version"], env=environment(), capture_output=True, text=True,
                             check=False)
    return "HTTP2" in version.stdout


@unittest.skipUnless(curl_has_http2(), "curl with HTTP/2 is not installed")
class Http2(ApiTest):
    FORMAT = "\n%{http_version} %{http_code} %{content_type}"

    def url(self, path):
        return f"http://127.0.0.1:{self.server.port}{path}"

    def post(self, mode, path, body):
        text = curl(mode, "-w", self.FORMAT, "-d", body, self.url(path))
        document, _, last = text.rpartition("\n")
        version, status, kind = last.split(" ", 2)
        return version, int(status), kind, document

    def test_prior_knowledge_and_upgrade(self):
        """1.1: cleartext HTTP/2 by prior knowledge and by Upgrade: h2c."""
        for mode in ("--http2-prior-knowledge", "--http2"):
            with self.subTest(mode):
                text = curl(mode, "-w", self.FORMAT, self.url("/api/v1/info"))
                document, _, last = text.rpartition("\n")
                self.assertEqual(last, "2 200 application/json")
                self.assertIn("server_version", json.loads(document))

    def test_a_job_from_beginning_to_end(self):
        for mode in ("--http2-prior-knowledge", "--http2"):
            with self.subTest(mode):
                body = json.dumps({"queue": self.queue, "payload": {"big": 12345678901234567890}})
                version, status, kind, document = self.post(mode, "/api/v1/enqueue", body)
                self.assertEqual((status, kind), (201, "application/json"))
                if mode == "--http2-prior-knowledge":
                    self.assertEqual(version, "2")
                job_id = json.loads(document)["job_id"]
                fetched = json.loads(self.post(mode, "/api/v1/fetch",
                                               json.dumps({"queues": [self.queue]}))[3])
                self.assertEqual((fetched["job_id"], fetched["payload"]),
                                 (job_id, {"big": 12345678901234567890}))
                self.assertEqual(self.post(mode, f"/api/v1/ack/{job_id}", "{}")[1], 200)
                self.assertEqual(self.api.state(job_id), "completed")

    def test_errors_and_headers(self):
        text = curl("--http2-prior-knowledge", "-i", self.url("/api/v1/jobs/x"))
        head, _, body = text.partition("\n\n")
        self.assertTrue(head.startswith("HTTP/2 404"))
        for line in ("access-control-allow-origin: *", "server-timing: proc;dur=",
                     "x-request-id: ", "content-type: application/json"):
            self.assertIn(line, head.lower())
        self.assertEqual(json.loads(body)["code"], "NOT_FOUND")

    def test_an_empty_answer(self):
        body = json.dumps({"queues": [self.queue], "timeout": 1})
        self.assertEqual(self.post("--http2-prior-knowledge", "/api/v1/fetch", body)[1], 204)


class Http2Streams(ApiTest):
    def setUp(self):
        super().setUp()
        self.h2 = http2_client.Connection(self.server.port, PATIENCE_S)
        self.addCleanup(self.h2.close)

    def post(self, path, body):
        return self.h2.request("POST", path, json.dumps(body).encode())

    def test_upgrade(self):
        """1.1: HTTP/2 by Upgrade: h2c; the response to the upgrade request is on stream 1."""
        h2 = http2_client.Connection(self.server.port, PATIENCE_S, "/api/v1/info")
        self.addCleanup(h2.close)
        status, body = h2.answer(1)
        self.assertEqual((status, json.loads(body)["api_version"]), (200, VERSION))
        self.assertEqual(h2.answer(h2.request("GET", "/healthz"))[0], 200)

    def test_as_many_streams_as_promised(self):
        """1.1: 2048 concurrent streams per connection."""
        max_concurrent_streams = 3
        self.assertEqual(self.h2.settings[max_concurrent_streams], 2048)
        streams = [self.h2.request("GET", f"/api/v1/jobs/x{n}") for n in range(2000)]
        for n, stream in enumerate(streams):
            status, body = self.h2.answer(stream)
            self.assertEqual((status, json.loads(body)["error"]), (404, f'job "x{n}" not found'))

    def test_writes_on_many_streams(self):
        streams = [self.post("/api/v1/enqueue", {"queue": self.queue, "payload": n})
                   for n in range(500)]
        ids = []
        for stream in streams:
            status, body = self.h2.answer(stream)
            self.assertEqual(status, 201)
            ids.append(json.loads(body)["job_id"])
        self.assertEqual(len(set(ids)), 500)
        self.assertEqual([self.api.job(i)["payload"] for i in ids[:3]], [0, 1, 2])

    def test_a_waiting_stream_holds_up_nobody(self):
        poll = self.post("/api/v1/fetch", {"queues": [self.queue], "timeout": PATIENCE_S})
        for _ in range(3):
            self.assertEqual(self.h2.answer(self.h2.request("GET", "/healthz"))[0], 200)
        self.assertNotIn(poll, self.h2.ended)
        status, body = self.h2.answer(self.post("/api/v1/enqueue", {"queue": self.queue}))
        self.assertEqual(status, 201)
        job_id = json.loads(body)["job_id"]
        status, body = self.h2.answer(poll)
        self.assertEqual((status, json.loads(body)["job_id"]), (200, job_id))

    def test_a_stream_that_is_reset_claims_nothing(self):
        """8.1: client gone → stop; on HTTP/2, a stream that is reset counts as gone."""
        poll = self.post("/api/v1/fetch", {"queues": [self.queue], "timeout": 60})
        wait_until(lambda: self.api.fetches_waiting() == 1, "the poll being parked")
        self.h2.reset(poll)
        wait_until(lambda: self.api.fetches_waiting() == 0, "the poll being given up")
        job_id = self.api.enqueue(self.queue)
        self.assertEqual(self.api.state(job_id), "pending")

    def test_large_bodies_both_ways(self):
        """Bodies larger than a frame and its window arrive complete."""
        text = "x" * 200000
        body = json.dumps({"queue": self.queue, "payload": text}).encode()
        stream, self.h2.next = self.h2.next, self.h2.next + 2
        block = http2_client.encode([(":method", "POST"), (":scheme", "http"),
                                     (":path", "/api/v1/enqueue"), (":authority", "x")])
        self.h2.send(http2_client.frame(http2_client.HEADERS, http2_client.END_HEADERS, stream,
                                        block))
        for at in range(0, len(body), 16384):
            last = at + 16384 >= len(body)
            self.h2.send(http2_client.frame(
                http2_client.DATA, http2_client.END_STREAM if last else 0, stream,
                body[at:at + 16384]))
        status, answer = self.h2.answer(stream)
        self.assertEqual(status, 201)
        path = f"/api/v1/jobs/{json.loads(answer)['job_id']}"
        status, answer = self.h2.answer(self.h2.request("GET", path))
        self.assertEqual((status, json.loads(answer)["payload"]), (200, text))


class Stopping(unittest.TestCase):
    def test_answers_parked_polls(self):
        """1.1 graceful stop: long polls return "no job" early; exit 0."""
        with Server("--shutdown-timeout", "30s") as server:
            api = server.client()
            one, many = api.poll("nothing"), api.poll("nothing", path="/api/v1/fetch/batch")
            wait_until(lambda: api.fetches_waiting() == 2, "both polls being parked")
            server.terminate()
            self.assertEqual((one.result().status, one.result().body), (204, b""))
            self.assertEqual(many.result().json, {"jobs": []})
            server.start()

    def test_closes_idle_connections_and_takes_no_new_ones(self):
        server = Server()
        with RawConnection(server) as raw:
            raw.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertEqual(raw.read_answer().status, 200)
            server.stop()
            self.assertTrue(raw.at_end())
        with self.assertRaises(OSError):
            RawConnection(server)

    def test_a_second_server_on_the_same_folder_is_refused(self):
        with Server() as server:
            left = pathlib.Path(server.folder) / "state.7"  # a start removes folders that are not in use
            left.mkdir()
            second = run_command("server", "--bind", "127.0.0.1:0", "--data-dir", server.folder)
            self.assertEqual(second.returncode, 1)
            self.assertIn("not started", second.stderr)
            self.assertIn("another process uses the data directory", second.stderr)
            self.assertTrue(left.exists())
            self.assertEqual(server.client().get("/healthz").status, 200)

    def test_a_port_that_is_taken_is_named(self):
        with Server() as server:
            folder = tempfile.mkdtemp(prefix="corvo-api-")
            try:
                second = run_command("server", "--bind", f"127.0.0.1:{server.port}",
                                     "--data-dir", folder)
                self.assertEqual(second.returncode, 1)
                self.assertIn(str(server.port), second.stderr)
            finally:
                shutil.rmtree(folder)


class Settings(unittest.TestCase):
    def test_errors_name_the_setting(self):
        for args, env, words in (
                (["--no-such-thing", "1"], {}, ["no-such-thing"]),
                (["--raft-max-pending", "many"], {}, ["raft-max-pending", "many"]),
                (["--rate-limit-read-rps", "1e99"], {}, ["rate-limit-read-rps", "1e99"]),
                (["--shutdown-timeout", "soon"], {}, ["shutdown-timeout", "soon"]),
                (["--durable=perhaps"], {}, ["durable", "perhaps"]),
                (["--bind"], {}, ["bind"]),
                (["--data-dir", ""], {}, ["data-dir", "directory"]),
                ([], {"CORVO_DATA_DIR": ""}, ["data-dir", "directory"]),
                (["--data-dir", "d" * 600], {}, ["data-dir", "512"]),
                (["--memory-limit", "1000"], {}, ["memory-limit", "33554432"]),
                (["--tls-cert", "x.pem"], {}, ["tls-key"]),
                (["--raft-shards", "0"], {}, ["raft-shards must be >= 1"]),
                (["--bootstrap=false"], {}, ["bootstrap"]),
                (["--discover", "dns"], {}, ["discover-dns-name"]),
                (["--discover", "mdns"], {}, ['unsupported discover mode "mdns"']),
                (["--stream-max-fps", "fast"], {}, ["stream-max-fps", "fast"]),
                (["--raft-bind", "9000"], {}, ["raft-bind"]),
                (["--oidc-issuer-url", "https://id.example"], {}, ["oidc-client-id"]),
                (["--oidc-issuer-url", "https://id.example", "--oidc-client-id", "c",
                  "--saml-header-auth"], {}, ["saml-header-auth"]),
                (["--config", "/no/such/file"], {}, ["config", "/no/such/file"]),
                (["stray"], {}, ["stray"]),
                ([], {"CORVO_MAX_BODY_SIZE": "tiny"}, ["max-body-size", "tiny"])):
            with self.subTest(args=args, env=env):
                done = run_command("server", *args, env=env)
                self.assertEqual(done.returncode, 1)
                for word in (*words, "usage: corvo server"):
                    self.assertIn(word, done.stderr)

    def test_a_wrong_file_names_the_setting(self):
        for text, words in (("no-such-thing = 1\n", ["no-such-thing"]),
                            ("durable = perhaps\n", ["durable", "perhaps"]),
                            ("config = other.conf\n", ["config", "cannot name another one"]),
                            ("\ufeffno-such-thing = 1\n", ["'no-such-thing'"]),
                            ("just words\n", ["just words"])):
            with self.subTest(text), tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
                file.write(text)
                file.flush()
                done = run_command("server", "--config", file.name)
                self.assertEqual(done.returncode, 1)
                for word in words:
                    self.assertIn(word, done.stderr)

    def test_flags_win_over_the_environment_and_that_over_the_file(self):
        """Each source sets the payload limit. The one with the highest precedence is used."""
        with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
            file.write("# limits\nmax-payload-size = 10   # of the file\nnode-id = from-file\n"
                       "admin-password =  secret#1 \n")
            file.flush()
            env = {"CORVO_MAX_PAYLOAD_SIZE": "20", "CORVO_CONFIG": file.name}
            for args, given, limit in ((["--max-payload-size", "30"], env, 30),
                                             ([], env, 20),
                                             (["--config=" + file.name], {}, 10)):
                with self.subTest(limit), Server(*args, env=given) as server:
                    api = server.client(**{"X-API-Key": "secret#1"})
                    answer = api.post("/api/v1/enqueue", {"queue": "q", "payload": "x" * limit})
                    self.assertEqual(answer.status, 413)
                    self.assertIn(f"max {limit}", answer.json["error"])
                    api.enqueue("q", "x" * (limit - 2))
                    self.assertEqual(server.events("corvo server ready")[0]["node_id"], "from-file")

    def test_flags_of_other_servers_of_this_api_are_taken(self):
        """cli.md 9: a command line for one of them works."""
        with Server("--raft-bind", ":9400", "--bootstrap", "--raft-shards", "1",
                    "--raft-max-fetch-inflight", "64", "--apply-multi-mode", "grouped",
                    "--apply-timeout", "10s", "--apply-batch-max", "1024", "--apply-batch-window",
                    "8ms", "--apply-batch-min-wait", "100us", "--apply-batch-extend-at", "64",
                    "--apply-sub-batch-max", "1024", "--snapshot-threshold", "4096", "--stream-max-inflight", "2048",
                    "--stream-max-open", "4096", "--stream-max-fps", "500",
                    "--fetch-poll-interval", "100ms", "--idle-fetch-sleep", "100ms",
                    "--no-compression", "--license-key", "x", "--raft-store", "badger",
                    "--otel-enabled=false", "--otel-endpoint", "collector:4318",
                    "--saml-header-auth=false") as server:
            server.client().enqueue("flags")

    def test_what_has_no_effect_is_said_once(self):
        """cli.md 9: it does not prevent the start."""
        given = {"raft-shards": "2", "scheduler-interval": "2s", "snapshot-interval": "2m",
                 "license-key": "no-license", "license-public-key": "no-key"}
        with Server(*[f"--{name}={value}" for name, value in given.items()], "--apply-batch-max", "1024",
                    env={"CORVO_SNAPSHOT_THRESHOLD": "100"}) as server:
            server.client().enqueue("flags")
            warned = server.events("setting without effect")
            self.assertEqual(sorted(e["setting"] for e in warned), sorted([*given, "snapshot-threshold"]))
            self.assertEqual({e["level"] for e in warned}, {"WARN"})
            self.assertNotIn("no-license", "".join(server.lines))

    def test_the_status_shows_the_settings_of_the_pipeline(self):
        """config-and-metrics.md 3, 4, 5 and 12: the values that were set, otherwise the defaults, or a substitute
        for an invalid value."""
        names = ("snapshot_threshold", "snapshot_interval", "apply_batch_extend_at", "apply_batch_min_wait",
                 "apply_batch_window", "apply_max_fetch_queue_inflight")
        for args, values in (
                ((), (4096, "1m0s", 64, "100µs", "8ms", 64)),
                (("--snapshot-threshold", "7", "--snapshot-interval", "5m", "--apply-batch-extend-at", "9",
                  "--apply-batch-min-wait", "250us", "--apply-batch-window", "3ms", "--raft-max-fetch-inflight", "5"),
                 (7, "5m0s", 9, "250µs", "3ms", 5)),
                (("--snapshot-threshold", "0", "--snapshot-interval", "0", "--apply-batch-extend-at=-1",
                  "--apply-batch-min-wait", "1s", "--apply-batch-window", "0", "--raft-max-fetch-inflight", "0"),
                 (4096, "1m0s", 32, "2ms", "2ms", 32))):
            with self.subTest(args), Server(*args) as server:
                status = server.client().get("/api/v1/cluster/status").json
                self.assertEqual(tuple(status[name] for name in names), values)
                self.assertEqual(status["sqlite_mirror"]["queue_capacity"], 131072)

    def test_zero_or_less_is_the_default(self):
        """config-and-metrics.md 3, 7 and 8: settings that fall back to their default."""
        with Server("--raft-max-pending", "0", "--raft-max-fetch-inflight=-1",
                    "--stream-max-inflight=-1", "--stream-max-fps=-1", "--rate-limit-read-rps", "0",
                    "--rate-limit-read-burst=-1", "--rate-limit-write-rps", "-2.5",
                    "--rate-limit-write-burst", "0") as server:
            api = server.client()
            for _ in range(3):
                api.enqueue("fall-back")
            self.assertEqual(api.must(api.get("/api/v1/cluster/status"))["apply_max_pending"],
                             16384)

    def test_the_address_that_peers_are_told(self):
        """config-and-metrics.md 2: 127.0.0.1:port for wildcard binds, else the bind."""
        for args, told in (((), "127.0.0.1:9000"), (("--raft-bind", ":9400"), "127.0.0.1:9400"),
                           (("--raft-bind", "0.0.0.0:9401"), "127.0.0.1:9401"),
                           (("--raft-bind", "[::]:9402"), "127.0.0.1:9402"),
                           (("--raft-bind", "node1:9400"), "node1:9400"),
                           (("--raft-bind", ":9400", "--raft-advertise", "n2:7"), "n2:7")):
            with self.subTest(args), Server(*args) as server:
                status = server.client().get("/api/v1/cluster/status").json
                self.assertEqual((status["leader_addr"], status["nodes"][0]["address"]),
                                 (told, told))

    def test_the_url_that_others_are_told(self):
        """20.1: http_url of each node."""
        with Server("--http-advertise", "https://jobs.example.com") as server:
            status = server.client().get("/api/v1/cluster/status").json
            self.assertEqual(status["nodes"][0]["http_url"], "https://jobs.example.com")
        with Server() as server:
            status = server.client().get("/api/v1/cluster/status").json
            self.assertEqual(status["nodes"][0]["http_url"], f"http://127.0.0.1:{server.port}")

    def test_help(self):
        for args in (["--help"], ["server", "--help"], ["server", "-h"]):
            done = run_command(*args)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("usage", done.stdout)
        self.assertIn("--max-payload-size", done.stdout)
        self.assertEqual(run_command().returncode, 0)
        self.assertEqual(run_command("explode").returncode, 1)

    def test_settings_of_other_servers_are_accepted(self):
        with Server("--snapshot-threshold", "4096", "--apply-multi-mode=grouped",
                    "--raft-store", "bolt", "--sqlite-mirror-async=false") as server:
            api = server.client()
            self.assertEqual(api.get("/healthz").status, 200)
            # config-and-metrics.md 2, 12: reported as given.
            status = api.must(api.get("/api/v1/cluster/status"))
            self.assertEqual((status["raft_store"], status["sqlite_mirror_async"],
                              status["sqlite_mirror"]["async"]), ("bolt", False, False))

    def test_the_advertised_address_is_where_the_node_listens_unless_that_is_everywhere(self):
        for args, address in ((("--raft-bind", "127.0.0.1:9401"), "127.0.0.1:9401"),
                              (("--raft-bind", ":9402"), "127.0.0.1:9402"),
                              (("--raft-bind", "0.0.0.0:9403"), "127.0.0.1:9403"),
                              (("--raft-bind", "[::]:9404"), "127.0.0.1:9404"),
                              (("--raft-bind", ":9405", "--raft-advertise", "node1:9405"), "node1:9405"),
                              ((), "127.0.0.1:9000")):
            with self.subTest(args), Server(*args) as server:
                status = server.client().get("/api/v1/cluster/status").json
                self.assertEqual(status["leader_addr"], address)

    def test_the_log_says_which_settings_are_in_force_and_no_secret(self):
        with Server("--admin-password", "s3cret", "--retention", "2h", "--rate-limit-read-rps", "0.5",
                    env={"CORVO_HTTP_THREADS": "3"}) as server:
            said = server.events("starting corvo server")[0]
            self.assertEqual(
                {name: said[name] for name in ("admin_password", "retention", "rate_limit_read_rps", "http_threads",
                                               "bind", "durable", "raft_advertise", "version")},
                {"admin_password": True, "retention": "7200000ms", "rate_limit_read_rps": "0.5", "http_threads": 3,
                 "bind": "127.0.0.1:0", "durable": True, "raft_advertise": "127.0.0.1:9000", "version": VERSION})
            self.assertNotIn("s3cret", "".join(server.lines))

    def test_the_log_says_how_raft_was_started(self):
        with Server("--raft-max-pending", "77", "--election-timeout", "700ms") as server:
            said = server.events("raft cluster started")[0]
            self.assertEqual((said["level"], said["raft_max_pending"], said["election_timeout_ms"]), ("INFO", 77, 700))

    def test_a_level_that_is_none_is_info(self):
        with Server("--log-level", "loud") as server:
            self.assertEqual(server.events("corvo server ready")[0]["level"], "INFO")

    def test_bootstrap_wins_over_join(self):
        for args in (("--join", "127.0.0.1:1"), ("--discover", "dns", "--discover-dns-name", "x.invalid")):
            with self.subTest(args), Server("--bootstrap=true", *args) as server:
                server.client().enqueue("joined")
                self.assertEqual(server.events("join skipped")[0]["level"], "WARN")

    def test_the_log_as_text_has_the_form_of_the_contract(self):
        with tempfile.NamedTemporaryFile() as no_folder:
            done = run_command("server", "--log-format", "text", "--data-dir", no_folder.name)
        first, last = (done.stderr.splitlines()[at] for at in (0, -1))
        when = r"time=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
        self.assertRegex(first, when + r' level=INFO msg="starting corvo server" version=0\.3\.0 commit=\S+ '
                         r'date=\S+ bind=:8080 data_dir=')
        self.assertRegex(last, when + r' level=ERROR msg="not started" error=".+"$')

    def test_a_line_of_the_log_is_whole_whatever_is_in_it(self):
        with tempfile.NamedTemporaryFile() as no_folder:
            for form, begin in (("text", "time="), ("json", '{"time":')):
                done = run_command("server", "--data-dir", no_folder.name + "/" + "\x01" * 400,
                                   "--log-format", form, "--health-ok-word", "n" * 100000)
                lines = done.stderr.splitlines()
                with self.subTest(form):
                    self.assertEqual(len(lines), 2, done.stderr[:1000])
                    self.assertTrue(all(line.startswith(begin) for line in lines))
                    self.assertIn("n" * 2048, lines[0])
                    self.assertIn("not started", lines[1])

    def test_the_log_says_whose_request_it_was(self):
        """1.3: the log contains X-Request-Id and the name of the client's library."""
        with Server("--log-level", "debug") as server:
            api = server.client(**{"X-Corvo-Client-Name": "corvo-go",
                                   "X-Corvo-Client-Version": "0.3.0"})
            self.assertEqual(api.get("/api/v1/queues", {"X-Request-Id": "mine-7"}).status, 200)

            def logged(name):
                return [r for r in server.events(name) if r["request_id"] == "mine-7"]
            request = wait_until(lambda: logged("http request"))[0]
            self.assertEqual((request["path"], request["status"]), ("/api/v1/queues", 200))
            client = wait_until(lambda: logged("sdk client request"))[0]
            self.assertEqual((client["client_name"], client["client_version"],
                              client["procedure"]), ("corvo-go", "0.3.0", "/api/v1/queues"))

    def test_the_log_is_json_and_says_where(self):
        with Server("--node-id", "n-7") as server:
            ready = server.events("corvo server ready")[0]
            self.assertEqual((ready["port"], ready["node_id"], ready["data_dir"]),
                             (server.port, "n-7", server.folder))


class Concurrent(ApiTest):
    def test_many_connections_at_once(self):
        """200 clients with one connection each are all served."""
        raws = [RawConnection(self.server) for _ in range(200)]
        try:
            for raw in raws:
                raw.send(request("POST", "/api/v1/enqueue",
                                 json.dumps({"queue": self.queue}).encode()))
            ids = {raw.read_answer().json["job_id"] for raw in raws}
            self.assertEqual(len(ids), 200)
        finally:
            for raw in raws:
                raw.__exit__()

    def test_a_client_that_stops_halfway_disturbs_nobody(self):
        with RawConnection(self.server) as raw:
            raw.send(b"POST /api/v1/enqueue HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\n{")
            self.api.enqueue(self.queue)
        self.assertEqual(self.api.queue(self.queue)["enqueued"], 1)
        self.assertEqual(self.api.get("/healthz").status, 200)


if __name__ == "__main__":
    unittest.main()
