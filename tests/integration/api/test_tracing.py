"""Spans for OpenTelemetry (config-and-metrics.md 13.1), as a collector receives them."""
import json
import os
import struct
import tempfile
import time
import unittest

from harness import PATIENCE_S, Server, unique, wait_until
from receiver import Receiver
from test_cluster import Cluster

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED, NOT_SAMPLED = (f"00-{TRACE}-{PARENT}-{flags}" for flags in ("01", "00"))
SERVER, INTERNAL, ERROR = 2, 1, 2  # SpanKind, StatusCode


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Return the fields of a protobuf message: lists of values by number."""
    at, found = 0, {}
    while at < len(data):
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif wire == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("a field ends after its message")
        else:
            raise ValueError(f"wire type {wire}")
        found.setdefault(number, []).append(value)
    return found


def attributes(pairs):
    found = {}
    for pair in map(fields, pairs):
        value = fields(pair[2][0])
        found[pair[1][0].decode()] = value[1][0].decode() if 1 in value else value[3][0]
    return found


class Span:
    def __init__(self, data, scope, resource):
        f = fields(data)
        self.scope, self.resource = scope, resource
        self.trace, self.id = f[1][0].hex(), f[2][0].hex()
        self.parent = f[4][0].hex() if 4 in f else None
        self.name, self.kind = f[5][0].decode(), f[6][0]
        self.start, self.end = f[7][0], f[8][0]
        self.attributes = attributes(f[9])
        status = fields(f[15][0]) if 15 in f else {}
        self.code = status.get(3, [0])[0]
        self.message = status.get(2, [b""])[0].decode()

    def __repr__(self):
        return f"{self.name} {self.attributes}"


def spans_of(body):
    """Return the spans of an ExportTraceServiceRequest."""
    found = []
    for resource_spans in map(fields, fields(body)[1]):
        resource = attributes(fields(resource_spans[1][0])[1])
        for scope_spans in map(fields, resource_spans[2]):
            scope = fields(scope_spans[1][0])[1][0].decode()
            found += [Span(data, scope, resource) for data in scope_spans.get(2, [])]
    return found


class Collector(Receiver):
    def endpoint(self):
        return f"127.0.0.1:{self.port}"

    def spans(self, name=None):
        """Return the spans of all requests that were accepted."""
        return [s for d in self.taken("/v1/traces") for s in spans_of(d.body) if name in (None, s.name)]

    def span(self, name):
        """Wait for the only span with this name."""
        wait_until(lambda: self.spans(name), f"a span {name}; there are {self.spans()}")
        found = self.spans(name)
        assert len(found) == 1, found
        return found[0]


def traced(collector, *args):
    return Server("--otel-enabled", "--otel-endpoint", collector.endpoint(), *args)


class Requests(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.collector = Collector()
        cls.server = traced(cls.collector, "--node-id", "traced")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()
        cls.collector.close()

    def setUp(self):
        self.api = self.server.client()
        self.queue = unique("q")

    def spans_in(self, trace, count):
        """Wait for this many spans of a trace, and return them by name."""
        def look():
            return [s for s in self.collector.spans() if s.trace == trace]
        wait_until(lambda: len(look()) >= count, f"{count} spans of {trace}; there are {look()}")
        return {s.name: s for s in look()}

    def trace(self, flags="01"):
        """Return the id of a new trace, and its header."""
        trace = os.urandom(16).hex()
        return trace, {"traceparent": f"00-{trace}-{PARENT}-{flags}"}

    def test_a_request_and_its_operation(self):
        trace, header = self.trace()
        before = time.time_ns()
        answer = self.api.post("/api/v1/enqueue", {"queue": self.queue}, headers=header)
        after = time.time_ns()
        self.assertEqual(answer.status, 201)
        spans = self.spans_in(trace, 2)
        request, operation = spans["POST /api/v1/enqueue"], spans["raft.apply"]
        self.assertEqual((request.scope, request.kind, request.parent), ("corvo/http", SERVER, PARENT))
        self.assertEqual(request.attributes, {"http.method": "POST", "http.path": "/api/v1/enqueue",
                                              "http.status_code": 201})
        self.assertEqual((operation.scope, operation.kind, operation.parent), ("corvo/store", INTERNAL, request.id))
        self.assertEqual(list(operation.attributes), ["corvo.op_type"])
        self.assertEqual((request.code, operation.code), (0, 0))
        self.assertLessEqual(before - 10**9, request.start)
        self.assertLessEqual(request.start, operation.start)
        self.assertLess(operation.start, operation.end)
        self.assertLessEqual(request.end, after + 10**9)
        self.assertEqual(request.resource["service.name"], "corvo-server")
        self.assertEqual(request.resource["service.instance.id"], "traced")

    def test_without_a_header_a_request_begins_a_trace(self):
        for header in ({}, {"traceparent": "00-xyz"}, {"traceparent": f"00-{'0' * 32}-{PARENT}-01"}):
            with self.subTest(header):
                path = f"/api/v1/queues/{unique('none')}"
                self.api.get(path, headers=header)
                span = self.collector.span(f"GET {path}")
                self.assertIsNone(span.parent)
                self.assertNotEqual(span.trace, "0" * 32)
                self.assertEqual(span.attributes["http.status_code"], 404)
                self.assertEqual(span.code, 0)  # the client's mistake is not the server's error

    def test_a_caller_that_does_not_record_its_trace(self):
        quiet, header = self.trace("00")
        self.assertEqual(self.api.post("/api/v1/enqueue", {"queue": self.queue}, headers=header).status, 201)
        trace, header = self.trace()
        self.api.post("/api/v1/enqueue", {"queue": self.queue}, headers=header)
        self.spans_in(trace, 2)
        self.assertEqual([s for s in self.collector.spans() if s.trace == quiet], [])

    def test_a_refused_operation_has_the_reason(self):
        job = self.api.enqueue(self.queue)
        trace, header = self.trace()
        self.assertEqual(self.api.post(f"/api/v1/ack/{job}", {}, headers=header).status, 400)
        operation = self.spans_in(trace, 2)["raft.apply"]
        self.assertEqual(operation.code, ERROR)
        self.assertIn("active", operation.message)

    def test_a_fetch_that_finds_nothing_applies_nothing(self):
        trace, header = self.trace()
        self.assertEqual(self.api.post("/api/v1/fetch", {"queues": [self.queue], "worker_id": "w", "timeout": 1},
                                       headers=header).status, 204)
        later, header = self.trace()
        self.api.post("/api/v1/enqueue", {"queue": self.queue}, headers=header)
        self.spans_in(later, 2)
        self.assertEqual(list(self.spans_in(trace, 1)), ["POST /api/v1/fetch"])

    def test_rpc(self):
        trace, header = self.trace()
        path = "/corvo.v1.WorkerService/Enqueue"
        answer = self.api.post(path, {"queue": self.queue, "payloadJson": "{}"},
                               headers={"content-type": "application/json", **header})
        self.assertEqual(answer.status, 200)
        spans = self.spans_in(trace, 2)
        self.assertEqual(spans["raft.apply"].parent, spans[f"POST {path}"].id)

    def test_a_path_is_text(self):
        """A byte that is not UTF-8 would make the collector refuse all spans sent with it."""
        mark = unique("bytes")
        self.api.get(f"/{mark}%ff%c3%a9")
        self.collector.span(f"GET /{mark}?\u00e9")


class Sending(unittest.TestCase):
    def test_what_was_collected_is_sent_at_the_end(self):
        with Collector() as collector:
            server = traced(collector)
            server.client().get("/healthz")
            server.stop()
            self.assertEqual(len(collector.spans("GET /healthz")), 1)

    def test_a_collector_that_is_busy_gets_the_spans_again(self):
        for status in (429, 503):
            answers = iter([status])
            with self.subTest(status), Collector(lambda _: next(answers, 200)) as collector:
                with traced(collector) as server:
                    server.client().get("/healthz")
                    first, second = collector.wait_for(2)[:2]
                    self.assertEqual(first.body, second.body)
                    self.assertEqual(first.headers["content-type"], "application/x-protobuf")
                    self.assertEqual(server.events("trace spans dropped"), [])

    def test_spans_that_are_refused_are_dropped_and_reported(self):
        answers = iter([400])
        with Collector(lambda _: next(answers, 200)) as collector, traced(collector) as server:
            api = server.client()
            api.get("/healthz")
            collector.wait_for(1)
            wait_until(lambda: server.events("trace spans dropped"), "the warning")
            dropped = server.events("trace spans dropped")[0]
            self.assertEqual((dropped["level"], dropped["spans"]), ("WARN", 1))
            self.assertIn("400", dropped["reason"])
            api.get("/livez")
            collector.span("GET /livez")

    def test_the_server_works_without_its_collector(self):
        with Collector() as collector:
            endpoint = collector.endpoint()
        server = Server("--otel-enabled", "--otel-endpoint", endpoint)
        api = server.client()
        for _ in range(100):
            api.enqueue("q")
        self.assertEqual(api.queue("q")["pending"], 100)
        server.stop()
        self.assertIn("trace spans dropped", [e["msg"] for e in server.events()])

    def test_a_collector_that_does_not_answer_does_not_prevent_the_end(self):
        def never(_):
            time.sleep(PATIENCE_S)
            return 200
        with Collector(never) as collector:
            server = traced(collector)
            server.client().get("/healthz")
            collector.wait_for(1)
            began = time.monotonic()
            server.terminate()
            self.assertLess(time.monotonic() - began, PATIENCE_S)
            self.assertEqual(server.events("trace spans dropped")[0]["reason"], "the server has stopped")
            server.discard()
            collector.server.block_on_close = False

    def test_off_by_default(self):
        with Collector() as collector:
            with Server("--otel-endpoint", collector.endpoint()) as server:
                server.client().get("/healthz")
            self.assertEqual(collector.taken(), [])

    def test_an_endpoint_must_be_an_address(self):
        for endpoint in ("collector", "https://collector:4318", "http://collector:4318/v1/traces", ":4318"):
            with self.subTest(endpoint):
                with self.assertRaises(AssertionError) as raised:
                    Server("--otel-enabled", "--otel-endpoint", endpoint)
                self.assertIn("otel-endpoint", str(raised.exception))


class Printing(Server):
    """A server whose standard output is a file."""

    def __init__(self, *args):
        with tempfile.TemporaryFile("w+") as self.stdout:
            super().__init__(*args)
            self.output = os.fdopen(os.dup(self.stdout.fileno()))

    def printed(self):
        self.output.seek(0)
        text = self.output.read()
        spans, decoder = [], json.JSONDecoder()
        while text.strip():
            text = text.lstrip()
            span, end = decoder.raw_decode(text)
            spans.append(span)
            text = text[end:]
        return spans


class Printed(unittest.TestCase):
    def test_without_a_collector_spans_are_printed(self):
        server = Printing("--otel-enabled")
        api = server.client()
        api.post("/api/v1/enqueue", {"queue": 'a "b"'}, headers={"traceparent": SAMPLED})
        api.post("/api/v1/enqueue", {"queue": "q"}, headers={"traceparent": NOT_SAMPLED})
        api.get('/%22%7B%5C%22,')
        api.close()
        server.stop()
        spans = {s["Name"]: s for s in server.printed()}
        spans.pop("GET /openapi.json", None)  # the harness reads it once for each program
        server.output.close()
        self.assertEqual(len(spans), 3, list(spans))
        request, operation = spans["POST /api/v1/enqueue"], spans["raft.apply"]
        self.assertEqual(request["SpanContext"]["TraceID"], TRACE)
        self.assertEqual(request["Parent"]["SpanID"], PARENT)
        self.assertEqual(operation["Parent"], request["SpanContext"])
        self.assertIn({"Key": "http.status_code", "Value": {"Type": "INT64", "Value": 201}}, request["Attributes"])
        self.assertEqual(request["InstrumentationScope"]["Name"], "corvo/http")
        self.assertIn('GET /"{\\",', spans)


class Forwarded(unittest.TestCase):
    def test_the_spans_of_both_nodes_are_one_trace(self):
        with Collector() as collector, \
                Cluster(3, "--otel-enabled", "--otel-endpoint", collector.endpoint()) as cluster:
            follower = cluster.followers()[0]
            answer = follower.api.post("/api/v1/enqueue", {"queue": "q"}, headers={"traceparent": SAMPLED})
            self.assertEqual(answer.status, 201)

            def look():
                return [s for s in collector.spans() if s.trace == TRACE]
            wait_until(lambda: len(look()) == 3, f"three spans; there are {look()}")
            by_parent = {s.parent: s for s in look()}
            first = by_parent[PARENT]
            second = by_parent[first.id]
            self.assertEqual((first.name, second.name), ("POST /api/v1/enqueue",) * 2)
            self.assertEqual(first.resource["service.instance.id"], follower.name)
            self.assertEqual(second.resource["service.instance.id"], cluster.leader().name)
            self.assertEqual(by_parent[second.id].name, "raft.apply")
