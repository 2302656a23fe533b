"""The basis of the black-box tests of the HTTP API: a server, a client and a test case.

The server is the real binary in a separate process, with a temporary folder and a port that the system
chose. Whoever starts a server stops it, and stopping checks that it exits with status 0. The client speaks
plain HTTP over persistent connections, one per thread, and checks in every response what the contract
guarantees for all responses. Nothing here waits for a fixed time: a test waits for a line in the server's
log, for a long poll, or for a condition with a deadline.

The environment variable CORVO_BINARY names the binary.
"""
import email.utils
import http.client
import itertools
import json
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from children import environment, pause  # noqa: F401
from described import Description

# Timeout for things that should happen at once: long enough for a sanitizer build on a busy machine. A successful run
# never waits this long.
PATIENCE_S = 30

ID = re.compile(r"\A[0-9a-z]{26}\Z")
TIME = re.compile(r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{0,8}[1-9])?Z\Z")
TIMING = re.compile(r"\Aproc;dur=\d+\.\d{3}\Z")

# The version of this tree, which the program under test must report.
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../VERSION"), encoding="ascii") as _file:
    VERSION = _file.read().strip()

_numbers = itertools.count(1)
_descriptions = {}


def unique(prefix):
    """Return a name that no other test of this run uses."""
    return f"{prefix}.{next(_numbers)}"


def binary():
    path = os.environ.get("CORVO_BINARY", "")
    if not os.access(path, os.X_OK):
        raise RuntimeError(f"CORVO_BINARY names no program: {path!r}")
    return path


def allow_files(wanted):
    """Raise this process's limit of open files to at least this number."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        raise AssertionError(f"the test needs {wanted} open files and may have {hard}")
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def set_limits(limits):
    """Return a function that sets resource limits in a new process, or None without limits."""
    def call():
        for which, most in limits.items():
            resource.setrlimit(which, (most, most))
    return call if limits else None


def run_command(*args, env=None, limits=None):
    """Run the binary until it ends, for servers that refuse to start."""
    return subprocess.run([binary(), *args], env=environment(env), capture_output=True, text=True,
                          timeout=PATIENCE_S, check=False, preexec_fn=set_limits(limits))


def wait_until(condition, what="the condition", patience_s=PATIENCE_S):
    """Call condition() repeatedly until it returns a true value, and return that. Fails after the deadline."""
    deadline = time.monotonic() + patience_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come within {patience_s} s")
        time.sleep(0.01)


SEGMENT_BYTES = str(4 << 20)

# Sanitizers keep freed memory for a while. Tests that measure a server's memory must avoid that.
LEAN = {"ASAN_OPTIONS": "quarantine_size_mb=1"}


def own_address():
    """Return an address of this machine that is not loopback, or None."""
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(("203.0.113.1", 9))  # sends nothing
        address = probe.getsockname()[0]
    except OSError:
        return None
    finally:
        probe.close()
    return None if address.startswith("127.") else address


def metric(api, name):
    """Return the value of a metric. Labels are part of its name."""
    for line in api.get("/metrics").body.decode().splitlines():
        if line.startswith(name + " "):
            return int(line.split()[1])
    raise AssertionError(f"no metric {name}")


class Server:
    """A server process. Without a data_dir it gets a temporary folder, which is removed at the end.

    A search waits for the view as long as a test would: on a busy machine the view may lag, and tests of
    results must not depend on that. Tests of the lag set --view-wait themselves.

    Segments of the log are small: each is filled with zeros before it is used, and at the default of
    64 MiB that would take most of the time of a short test.
    """

    bind = ("--bind", "127.0.0.1:0")
    up = ("corvo server ready",)  # log messages that show that the server is up
    lobby_port = None             # port of its API, for messages without a port
    stdout = subprocess.DEVNULL

    def __init__(self, *args, env=None, data_dir=None, limits=None):
        self.binary = binary()
        self.limits = limits
        self.folder = data_dir or tempfile.mkdtemp(prefix="corvo-api-")
        self.owns_folder = data_dir is None
        self.args, self.env = args, env
        self.lines, self.process, self.reader, self.port = [], None, None, None
        self.start()

    def start(self):
        self.port, self.ready = None, threading.Event()
        self.process = subprocess.Popen(
            [self.binary, "server", *self.bind, "--data-dir", self.folder,
             "--free-space-min", "0", "--view-wait", f"{PATIENCE_S}s",
             "--segment-bytes", SEGMENT_BYTES, *self.args],
            env=environment(self.env), stdin=subprocess.DEVNULL, stdout=self.stdout,
            stderr=subprocess.PIPE, text=True, errors="replace",
            preexec_fn=set_limits(self.limits))
        self.reader = threading.Thread(target=self._read, args=(self.process, self.ready))
        self.reader.start()
        self.ready.wait(PATIENCE_S)
        if self.port is None:
            self.discard()
            raise AssertionError("the server did not come up" + self.log())

    def _read(self, process, ready):
        for line in process.stderr:
            self.lines.append(line)
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if record.get("msg") in self.up:
                self.port = record.get("port", self.lobby_port)
                ready.set()
        process.stderr.close()
        ready.set()

    def log(self):
        return "; its log:\n" + "".join(self.lines[-200:])

    def events(self, name=None):
        """Return the log's records, or only those with this message."""
        records = [json.loads(line) for line in self.lines if line.startswith("{")]
        return [r for r in records if name in (None, r.get("msg"))]

    def check_alive(self, dying_s=0):
        """Fail if the server has ended or ends within dying_s. A dying server closes its sockets before it ends."""
        try:
            self.process.wait(dying_s)
        except subprocess.TimeoutExpired:
            return
        self.reader.join()
        raise AssertionError(f"the server died with {self.process.returncode}" + self.log())

    def client(self, **headers):
        return Client(self, headers)

    def description(self):
        """Return the OpenAPI document of this binary, or None if it has none."""
        if self.binary not in _descriptions:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
            connection.request("GET", "/openapi.json")
            response = connection.getresponse()
            body = response.read()
            connection.close()
            if response.status != 200:
                return None
            _descriptions[self.binary] = Description(json.loads(body))
        return _descriptions[self.binary]

    def check_described(self, method, path, answer):
        """Check that a successful JSON response matches the OpenAPI document."""
        kind = answer.headers.get("content-type")
        if method != "HEAD" and kind == "application/json" and answer.status < 300 \
                and path.startswith(("/api/", "/healthz", "/livez", "/readyz")):
            description = self.description()
            if description is not None:
                description.check(method, path, answer.status, answer.body)

    def terminate(self):
        """Send SIGTERM. The exit status must be 0."""
        self.process.send_signal(signal.SIGTERM)
        self.wait_stopped()

    def wait_stopped(self):
        try:
            code = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the server did not stop" + self.log()) from None
        self.reader.join()
        if code != 0:
            raise AssertionError(f"the server ended with {code}" + self.log())

    def kill(self):
        """Send SIGKILL. Acknowledged data must survive it."""
        self.process.kill()
        self.process.wait()
        self.reader.join()

    def discard(self):
        """End the process if necessary, and remove its folder."""
        if self.process.poll() is None:
            self.kill()
        self.reader.join()
        if self.owns_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def stop(self):
        try:
            self.check_alive()
            self.terminate()
        finally:
            self.discard()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.stop()
        else:
            self.discard()


class Answer:
    """An HTTP response: status, headers by lower-case name, and the body as bytes and decoded."""

    def __init__(self, status, headers, body):
        self.status, self.body = status, body
        self.headers = {name.lower(): value for name, value in headers}

    @property
    def json(self):
        return json.loads(self.body)

    def raw(self, key):
        """Return the text of one member of a compact object exactly as it was sent."""
        text = self.body.decode()
        at = text.index(f'"{key}":') + len(key) + 3
        _, end = json.JSONDecoder().raw_decode(text, at)
        return text[at:end]

    def __repr__(self):
        return f"{self.status} {self.body[:2000]!r}"


class Client:
    """A client of one server. Several threads may use it at once."""

    def __init__(self, server, headers=None):
        self.server = server
        self.headers = dict(headers or {})
        self.local = threading.local()

    def with_headers(self, **headers):
        named = {k.replace("_", "-"): v for k, v in headers.items()}
        return Client(self.server, {**self.headers, **named})

    def close(self):
        connection = getattr(self.local, "connection", None)
        if connection is not None:
            connection.close()
        self.local.connection = None

    def _connection(self):
        connection = getattr(self.local, "connection", None)
        if connection is None or connection.port != self.server.port:
            self.close()
            connection = http.client.HTTPConnection("127.0.0.1", self.server.port,
                                                    timeout=PATIENCE_S + 60)
            self.local.connection = connection
        return connection

    def send(self, method, path, body=None, headers=None):
        """Send a request. A body that is neither bytes nor None is sent as JSON."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body, separators=(",", ":")).encode()
        connection = self._connection()
        try:
            connection.request(method, path, body, {**self.headers, **(headers or {})})
            response = connection.getresponse()
            answer = Answer(response.status, response.getheaders(), response.read())
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        check_common(method, path, answer)
        self.server.check_described(method, path, answer)
        return answer

    def request(self, method, path, body=None, headers=None):
        """Send a request. If the connection fails because the server has ended, the failure includes the server's
        log."""
        try:
            return self.send(method, path, body, headers)
        except (OSError, http.client.HTTPException):
            self.server.check_alive(dying_s=1)
            raise

    def get(self, path, headers=None):
        return self.request("GET", path, headers=headers)

    def post(self, path, body=None, headers=None):
        return self.request("POST", path, body, headers)

    def put(self, path, body=None):
        return self.request("PUT", path, body)

    def delete(self, path, body=None):
        return self.request("DELETE", path, body)

    # Operations of the API. Each returns the decoded body and fails on an unexpected status.

    def must(self, answer, *statuses):
        if answer.status not in (statuses or (200,)):
            raise AssertionError(f"expected {statuses or (200,)}, got {answer}")
        return answer.json if answer.body else None

    def enqueue(self, queue, payload=None, **fields):
        """Return the new job's id."""
        body = {"queue": queue, **fields}
        if payload is not None:
            body["payload"] = payload
        return self.must(self.post("/api/v1/enqueue", body), 201)["job_id"]

    def enqueue_batch(self, jobs, **fields):
        return self.must(self.post("/api/v1/enqueue/batch", {"jobs": jobs, **fields}), 201)

    def fetch(self, *queues, timeout=PATIENCE_S, **fields):
        """Return a claimed job. There must be one before the timeout."""
        body = {"queues": list(queues), "worker_id": "w", "timeout": timeout, **fields}
        return self.must(self.post("/api/v1/fetch", body), 200)

    def poll(self, *queues, path="/api/v1/fetch"):
        """Start a waiting fetch in the background. result() returns its response."""
        return Later(self.post, path, {"queues": list(queues), "timeout": PATIENCE_S})

    def fetches_waiting(self):
        """Return the number of long polls that the server has parked."""
        status = self.must(self.get("/api/v1/cluster/status"))
        return status["admission_stats"]["fetches_waiting"]

    def fetch_batch(self, *queues, count=1, timeout=PATIENCE_S, **fields):
        body = {"queues": list(queues), "count": count, "timeout": timeout, **fields}
        return self.must(self.post("/api/v1/fetch/batch", body), 200)["jobs"]

    def ack(self, job_id, **fields):
        return self.must(self.post(f"/api/v1/ack/{job_id}", fields))

    def fail(self, job_id, error="broken", **fields):
        return self.must(self.post(f"/api/v1/fail/{job_id}", {"error": error, **fields}))

    def heartbeat(self, jobs):
        return self.must(self.post("/api/v1/heartbeat", {"jobs": jobs}))

    def job(self, job_id):
        return self.must(self.get(f"/api/v1/jobs/{job_id}"))

    def state(self, job_id):
        return self.job(job_id)["state"]

    def act(self, job_id, action, **fields):
        """action: retry, cancel, hold, approve, reject, move or replay."""
        return self.must(self.post(f"/api/v1/jobs/{job_id}/{action}", fields or None), 200, 201)

    def queues(self):
        """Return all queues by name."""
        return {q["name"]: q for q in self.must(self.get("/api/v1/queues"))}

    def queue(self, name):
        return self.must(self.get("/api/v1/queues/" + urllib.parse.quote(name, safe="")))

    def is_claimable(self, queue):
        """True if a fetch would get a job from the queue at once. That job is then claimed.

        A second queue with one job avoids waiting for a timeout."""
        other = unique("witness")
        witness = self.enqueue(other)
        job = self.fetch(queue, other)
        if job["queue"] == other:
            self.ack(witness)
            return False
        self.must(self.delete(f"/api/v1/jobs/{witness}"))
        return True

    def wait_for_state(self, job_id, state):
        return wait_until(lambda: self.state(job_id) == state, f"{job_id} becoming {state}")


def is_rpc(path):
    """Is it a method of the RPC service? Its responses have different formats."""
    return path.startswith("/corvo.v1.") and path.count("/") == 2


SCHEDULER = re.compile(r"\A/(jobs|health|ready|join|debug/cluster|metrics)(?=[/?]|\Z)")


def check_common(method, path, answer):
    """Check what every response must have (contract 1.3, 1.4). On the paths of Scheduled-DB, scheduler.md 2.1
    defines the allowed methods."""
    headers = answer.headers
    # Except if the Scheduled-DB API is off, or the request fails before its path is examined.
    face = SCHEDULER.match(path) and headers.get("access-control-allow-headers") == "Content-Type, Authorization"
    wanted = {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, POST, DELETE, OPTIONS" if face else "GET, POST, PUT, DELETE, OPTIONS",
        "access-control-expose-headers": "Server-Timing, Retry-After, X-Request-Id, "
                                         "X-Corvo-View-Lag, X-Corvo-Next-Cursor, Grpc-Status, "
                                         "Grpc-Message, Grpc-Status-Details-Bin",
    }
    for name, value in wanted.items():
        if headers.get(name) != value:
            raise AssertionError(f"header {name} is {headers.get(name)!r}, not {value!r}")
    allowed = set(headers.get("access-control-allow-headers", "").split(", "))
    if not face and not allowed >= {"Content-Type", "Authorization", "X-API-Key", "X-Corvo-Namespace",
                                    "Last-Event-ID", "X-Request-Id"}:
        raise AssertionError(f"allowed headers are {allowed}")
    if not TIMING.match(headers.get("server-timing", "")):
        raise AssertionError(f"Server-Timing is {headers.get('server-timing')!r}")
    if not headers.get("x-request-id"):
        raise AssertionError("X-Request-Id is missing")
    if abs(email.utils.parsedate_to_datetime(headers.get("date", "")).timestamp() - time.time()) > PATIENCE_S:
        raise AssertionError(f"Date is {headers['date']!r}")
    if "content-encoding" in headers:
        if is_rpc(path):  # RPC clients may request it, and check responses themselves
            return
        raise AssertionError("answers are not compressed")
    if headers.get("content-type", "").startswith("application/json") and method != "HEAD":
        if headers["content-type"] != "application/json" and not is_rpc(path):
            raise AssertionError(f"Content-Type is {headers['content-type']}")
        # Over RPC, only errors of requests without a protocol have the format of this API.
        lines = 0 if is_rpc(path) and not re.search(rb'"code":"[A-Z_]+"}\s*$', answer.body) else 1
        if len(answer.body) - len(answer.body.rstrip(b"\n")) != lines:
            raise AssertionError(f"the body does not end with {lines} newline: {answer.body[-20:]!r}")
        json.loads(answer.body)


class ApiTest(unittest.TestCase):
    """Tests that share one server. Each uses separate queues."""

    # More network threads than a small machine would have, so that tests cover their interaction.
    settings = ("--rate-limit-enabled=false", "--http-threads", "3")
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.settings)
        cls.api = cls.server.client()

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def setUp(self):
        self.queue = unique(self.id().rsplit(".", 1)[-1][:60])

    def refused(self, answer, status, code, message=None):
        """Check an error response. The body has exactly these keys. message is a part of its text."""
        self.assertEqual(answer.status, status, answer)
        self.assertEqual(answer.headers["content-type"], "application/json")
        keys = {"error", "code"} | ({"retry_after_ms"} if code == "OVERLOADED" else set())
        self.assertEqual(set(answer.json), keys, answer)
        self.assertEqual(answer.json["code"], code, answer)
        self.assertIsInstance(answer.json["error"], str)
        self.assertNotEqual(answer.json["error"], "")
        if message is not None:
            self.assertIn(message, answer.json["error"])

    def not_claimable(self, queue=None):
        self.assertFalse(self.api.is_claimable(queue or self.queue), "a job was handed out")

    def active(self, queue=None, payload=None, **fields):
        """Enqueue and claim a job. Return its id."""
        queue = queue or self.queue
        job_id = self.api.enqueue(queue, payload, **fields)
        self.assertEqual(self.api.fetch(queue)["job_id"], job_id)
        return job_id

    def assert_id(self, text, prefix):
        self.assertTrue(text.startswith(prefix), text)
        self.assertRegex(text[len(prefix):], ID)

    def assert_time(self, text):
        self.assertRegex(text, TIME)


class Later:
    """Work on a separate thread, such as a long poll. result() waits for its end."""

    def __init__(self, work, *args):
        self.value, self.failure = None, None
        self.thread = threading.Thread(target=self._run, args=(work, args))
        self.thread.start()

    def _run(self, work, args):
        try:
            self.value = work(*args)
        except BaseException as failure:  # raised again by result()
            self.failure = failure

    def result(self):
        self.thread.join()
        if self.failure is not None:
            raise self.failure
        return self.value


def in_threads(count, work):
    """Run work(i) in count threads at once. Return the results, or raise the first failure."""
    running = [Later(work, i) for i in range(count)]
    for one in running:
        one.thread.join()
    return [one.result() for one in running]


class RawConnection:
    """A socket to the server, for requests that http.client does not send."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE_S)
        self.file = self.socket.makefile("rb")

    def send(self, data):
        self.socket.sendall(data)

    def shut(self):
        """Stop sending, but continue to read."""
        self.socket.shutdown(socket.SHUT_WR)

    def read_head(self):
        """Read the status and headers of a response."""
        line = self.file.readline()
        if not line:
            raise AssertionError("the connection was closed instead of an answer")
        headers = {}
        while (field := self.file.readline()) not in (b"\r\n", b""):
            name, _, value = field.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return int(line.split()[1]), headers

    def read_answer(self, head=False):
        status, headers = self.read_head()
        length = 0 if head or status in (204, 304) else int(headers.get("content-length", 0))
        return Answer(status, headers.items(), self.file.read(length))

    def at_end(self):
        """True if the server closes the connection without sending more."""
        return self.file.read() == b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        self.socket.close()
