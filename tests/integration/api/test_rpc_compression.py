"""Compressed messages (rpc.md 4.4), and the limit of messages in every form."""
import gzip
import json

from harness import ApiTest
from test_rpc import BASE, Stream, envelope, envelopes


class Compression(ApiTest):
    settings = ("--no-compression=false", "--rate-limit-enabled=false")

    def call(self, body, kind="application/json", **headers):
        return self.api.send("POST", BASE + "Enqueue", body, {"Content-Type": kind, **headers})

    def test_a_bare_message(self):
        body = gzip.compress(b'{"queue":"q","payloadJson":"[' + b"1," * 9999 + b'1]"}')
        answer = self.call(body, **{"Content-Encoding": "gzip"})
        self.assertEqual((answer.status, answer.headers["content-encoding"]), (200, "gzip"), answer)
        self.assertEqual(json.loads(gzip.decompress(answer.body))["status"], "pending")
        self.assertEqual(answer.headers["accept-encoding"], "gzip,identity")

    def test_an_answer_for_whoever_accepts_it(self):
        answer = self.call(b'{"queue":"q"}', **{"Accept-Encoding": "br, gzip"})
        self.assertEqual(json.loads(gzip.decompress(answer.body))["status"], "pending")
        for accepted in ("br", "identity", ""):
            answer = self.call(b'{"queue":"q"}', **{"Accept-Encoding": accepted})
            self.assertNotIn("content-encoding", answer.headers)
            self.assertEqual(json.loads(answer.body)["status"], "pending")

    def test_errors_are_plain(self):
        answer = self.call(gzip.compress(b"{}"), **{"Content-Encoding": "gzip"})
        self.assertEqual((answer.status, json.loads(answer.body)["message"]), (400, "queue is required"))

    def test_what_cannot_be_read(self):
        good = gzip.compress(b'{"queue":"q"}')
        for body in (b"plain", good[:-9], good + b"rest", b"\x1f\x8b"):
            with self.subTest(body):
                self.assertEqual(self.call(body, **{"Content-Encoding": "gzip"}).status, 400)
        answer = self.call(good, **{"Content-Encoding": "br"})
        self.assertEqual((answer.status, json.loads(answer.body)["message"]),
                         (501, "unknown compression: supported encodings are gzip, identity"))
        self.assertEqual(self.call(good, **{"Content-Encoding": "gzip"}).status, 200)

    def test_an_empty_body_is_not_decompressed(self):
        answer = self.api.send("POST", BASE + "GetServerInfo", b"",
                               {"Content-Type": "application/proto", "Content-Encoding": "gzip"})
        self.assertEqual(answer.status, 200)

    def test_a_bomb_is_refused(self):
        bomb = gzip.compress(b" " * (80 << 20), 9)  # 80 KB that expand to 80 MiB
        self.assertEqual(self.call(bomb, **{"Content-Encoding": "gzip"}).status, 429)
        answer = self.api.send("POST", BASE + "Enqueue", envelope(bomb, 1),
                               {"Content-Type": "application/grpc-web", "Grpc-Encoding": "gzip"})
        self.assertIn(b"grpc-status: 8\r\n", answer.body)

    def test_the_limit_is_that_of_the_message(self):
        """1.4: it is the same with an envelope and compressed."""
        limit = 64 << 20
        for size, status in ((limit, 200), (limit + 1, 429)):
            message = b'{"queue":"q"}'.ljust(size)
            packed = gzip.compress(message, 1)
            web = {"kind": "application/grpc-web+json"}
            for body, headers in ((message, {}), (packed, {"Content-Encoding": "gzip"}),
                                  (envelope(message), web), (envelope(packed, 1), {"Grpc-Encoding": "gzip", **web})):
                with self.subTest(size=size, **headers):
                    answer = self.call(body, **headers)
                    refused = b"the message is larger than 67108864 bytes" in answer.body
                    self.assertEqual((answer.status, refused),
                                     (200 if "kind" in headers else status, status != 200), answer)

    def test_the_flag_of_each_message_counts(self):
        message = b"\x0a\x01q"
        for body, flag in ((envelope(gzip.compress(message), 1), 1), (envelope(message), 0)):
            answer = self.api.send("POST", BASE + "Enqueue", body,
                                   {"Content-Type": "application/grpc-web", "Grpc-Encoding": "gzip"})
            (flags, raw), (last, trailers) = envelopes(answer.body)
            self.assertEqual((flags, last, trailers), (1, 0x80, b"grpc-status: 0\r\n"))
            self.assertIn(b"pending", gzip.decompress(raw))
        answer = self.api.send("POST", BASE + "Enqueue", envelope(gzip.compress(message), 1),
                               {"Content-Type": "application/grpc-web"})
        self.assertIn(b"grpc-status: 13\r\n", answer.body)

    def test_a_stream(self):
        stream = Stream(self.server, [("connect-content-encoding", "gzip")])
        self.addCleanup(stream.close)
        stream.send(envelope(gzip.compress(b'{"requestId":"1"}'), 1) + envelope(b'{"requestId":"2"}'))
        self.assertEqual([stream.next(), stream.next()], [{"requestId": "1"}, {"requestId": "2"}])
        stream.send(envelope(b"no gzip", 1))
        self.assertEqual(stream.next()[0]["error"]["code"], "invalid_argument")
