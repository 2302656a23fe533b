"""Helpers for the tests of the command line. They build on the harness of the API's tests.

Corvo runs the program to its end. Running is a program that continues. Terminal runs the program on a
terminal. FakeServer replaces a server where the response must be known exactly: it has a table of routes
and a list of the requests it received.
"""
import fcntl
import http.server
import json
import os
import pty
import queue
import select
import signal
import socket
import struct
import subprocess
import termios
import threading
import time
import unittest
import urllib.parse

from harness import PATIENCE_S, Server, binary, environment, unique


class Corvo:
    """The program with the settings for one server."""

    def __init__(self, url, **env):
        self.env = {"CORVO_URL": url, **env}

    def run(self, *args, stdin="", env=None):
        """Run the program with text (or the bytes of a file) on standard input."""
        return subprocess.run([binary(), *args], input=stdin, capture_output=True, text=True, errors="replace",
                              timeout=PATIENCE_S, check=False,
                              env=environment({**self.env, **(env or {})}))

    def start(self, *args, **options):
        return Running(self, args, **options)

    def pipe(self, first, second):
        """Run first | second as the shell does. Returns the result of the second program."""
        env = environment(self.env)
        with subprocess.Popen([binary(), *first], env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as one:
            done = subprocess.run([binary(), *second], stdin=one.stdout, capture_output=True,
                                  text=True, timeout=PATIENCE_S, check=False, env=env)
            one.stdout.close()
        return done


class Running:
    """A running program. Its lines are read as they arrive."""

    def __init__(self, corvo, args, env=None):
        self.process = subprocess.Popen(
            [binary(), *args], env=environment({**corvo.env, **(env or {})}),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines, self.errors = queue.Queue(), queue.Queue()
        self.readers = [threading.Thread(target=self._read, args=pair) for pair in
                        ((self.process.stdout, self.lines), (self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def _read(stream, into):
        for line in stream:
            into.put(line)
        stream.close()

    def line(self):
        return self.lines.get(timeout=PATIENCE_S)

    def error_line(self):
        return self.errors.get(timeout=PATIENCE_S)

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        try:
            return self.process.wait(PATIENCE_S)
        finally:
            self.discard()

    def discard(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for reader in self.readers:
            reader.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.discard()


class Terminal:
    """The program with a terminal as its input, output and errors."""

    def __init__(self, corvo, *args, env=None, stdin=None, columns=0):
        master, slave = pty.openpty()
        if columns > 0:
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
        self.master, self.text = master, ""
        self.process = subprocess.Popen(
            [binary(), *args], env=environment({**corvo.env, "TERM": "xterm", **(env or {})}),
            stdin=slave if stdin is None else stdin, stdout=slave, stderr=slave,
            start_new_session=True)
        os.close(slave)

    def _more(self, deadline):
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([self.master], [], [], left)[0]:
            raise AssertionError(f"the terminal says no more than {self.text!r}")
        try:
            piece = os.read(self.master, 65536)
        except OSError:  # Linux reports this error when nobody has the other end open
            piece = b""
        self.text += piece.decode()
        return bool(piece)

    def expect(self, part):
        """Wait until the screen has shown the text."""
        deadline = time.monotonic() + PATIENCE_S
        while part not in self.text:
            if not self._more(deadline):
                raise AssertionError(f"ended without {part!r}: {self.text!r}")

    def type(self, text):
        os.write(self.master, text.encode())

    def finish(self):
        """Return everything that the program showed, and its exit status."""
        deadline = time.monotonic() + PATIENCE_S
        while self._more(deadline):
            pass
        code = self.process.wait(PATIENCE_S)
        os.close(self.master)
        self.master = None
        return self.text.replace("\r\n", "\n"), code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.master is not None:
            os.close(self.master)


class Request:
    def __init__(self, method, path, headers, body):
        parts = urllib.parse.urlsplit(path)
        self.method, self.raw_path, self.body = method, parts.path, body
        self.path = urllib.parse.unquote(parts.path)
        self.query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self.headers = {k.lower(): v for k, v in headers.items()}

    @property
    def json(self):
        return json.loads(self.body)


def relay(one, other):
    """Copy bytes in both directions until one side ends."""
    while True:
        for ready in select.select([one, other], [], [])[0]:
            piece = ready.recv(65536)
            if not piece:
                return
            (other if ready is one else one).sendall(piece)


class FakeServer:
    """Routes map "METHOD /path" (below /api/v1) to a response: a value for 200, a (status, value) pair, a list
    of Steps for successive requests, or a function of the request, which may also return a generator of
    bytes to stream. With streams_to, a port, HTTP/2 connections are relayed to a real server."""

    def __init__(self, routes, streams_to=None):
        self.routes, self.requests, self.lock = routes, [], threading.Lock()
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle(self):
                peek = socket.MSG_PEEK | socket.MSG_WAITALL
                if streams_to is not None and self.connection.recv(3, peek) == b"PRI":
                    with socket.create_connection(("127.0.0.1", streams_to)) as real:
                        relay(self.connection, real)
                else:
                    super().handle()

            def handle_any(self):
                length = int(self.headers.get("Content-Length", 0))
                request = Request(self.command, self.path, self.headers, self.rfile.read(length))
                fake.answer(self, request)

            do_GET = do_POST = do_PUT = do_DELETE = handle_any

            def log_message(self, *args):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # some tests disconnect their client during a request

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def _choose(self, request):
        with self.lock:
            self.requests.append(request)
            key = f"{request.method} {request.path.removeprefix('/api/v1')}"
            answer = self.routes.get(key, (404, {"error": f"no route {key}", "code": "NOT_FOUND"}))
            if isinstance(answer, list) and answer and isinstance(answer[0], Step):
                answer = answer.pop(0).answer if len(answer) > 1 else answer[0].answer
        return answer(request) if callable(answer) else answer

    def answer(self, handler, request):
        answer = self._choose(request)
        status, value = answer if isinstance(answer, tuple) else (200, answer)
        if hasattr(value, "__next__"):
            handler.send_response(status)
            handler.send_header("Content-Type", "text/event-stream")
            handler.send_header("Connection", "close")
            handler.end_headers()
            for piece in value:
                handler.wfile.write(piece)
                handler.wfile.flush()
            handler.close_connection = True
            return
        body = value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def asked(self, key):
        """Return the received requests with this method and path."""
        method, path = key.split(" ")
        with self.lock:
            return [r for r in self.requests
                    if r.method == method and r.path.removeprefix("/api/v1") == path]

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Step:
    """One of several responses that a route returns in turn. The last one is repeated."""

    def __init__(self, answer):
        self.answer = answer


def frame(data, event=None, number=None):
    """Return a server-sent event."""
    head = (f"id: {number}\n" if number is not None else "") + (f"event: {event}\n" if event else "")
    return f"{head}data: {json.dumps(data)}\n\n".encode()


class CliTest(unittest.TestCase):
    maxDiff = None

    def ok(self, done, stdout=None):
        """Require success and no output on standard error. Returns the standard output."""
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        if stdout is not None:
            self.assertEqual(done.stdout, stdout)
        return done.stdout

    def failed(self, done, message, code=1):
        """Require a failure with the message on standard error and no standard output."""
        self.assertEqual(done.returncode, code, done)
        self.assertIn(message, done.stderr)
        self.assertEqual(done.stdout, "")


class LiveTest(CliTest):
    """Tests against a real server, shared by the class."""

    settings = ("--rate-limit-enabled=false",)

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.settings)
        cls.api = cls.server.client()
        cls.corvo = Corvo(f"http://127.0.0.1:{cls.server.port}")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def setUp(self):
        self.queue = unique(self.id().rsplit(".", 1)[-1][:60])

    def enqueue(self, *flags, payload="{}"):
        out = self.ok(self.corvo.run("enqueue", self.queue, payload, "--output", "json", *flags))
        return json.loads(out)["job_id"]


class FakeTest(CliTest):
    def serve(self, routes, **options):
        fake = FakeServer(routes, **options)
        self.addCleanup(fake.close)
        return fake, Corvo(fake.url)


__all__ = ["Corvo", "Running", "Terminal", "FakeServer", "Step", "frame", "CliTest", "LiveTest",
           "FakeTest", "signal", "unique", "json", "PATIENCE_S", "binary", "environment", "Server"]
