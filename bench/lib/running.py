"""Start servers for a measurement, an HTTP client for Corvo, and percentiles of latencies."""
import collections
import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PATIENCE_S = 60

# Settings of the caller's server (for example CORVO_ADMIN_PASSWORD) must not reach the servers of a bench.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("CORVO_")}


_given = set()


def free_port():
    """Return a port that nobody listens on, a different one each time."""
    while True:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        if port not in _given:
            _given.add(port)
            return port


def await_port(port, process):
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{process.args[0]} does not listen") from None
            time.sleep(0.02)


def await_view(port):
    """Wait until the search index has processed all changes of the last measurement, so that the next one is not
    charged for them."""
    lag = "corvo_sqlite_mirror_lag_updates "
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/metrics")
        lines = connection.getresponse().read().decode().splitlines()
        connection.close()
        if all(float(line[len(lag):]) == 0 for line in lines if line.startswith(lag)):
            return
        time.sleep(0.1)


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


@contextlib.contextmanager
def running(folder, port, *command, stop=signal.SIGTERM, **options):
    """Run a server until the end of the block. Its output goes to a file, which is printed if the block fails."""
    log = pathlib.Path(folder) / "server.log"
    options.setdefault("env", ENVIRONMENT)
    with open(log, "wb") as out, subprocess.Popen(command, stdout=out, stderr=out, **options) as process:
        try:
            await_port(port, process)
            yield process
        except Exception:
            sys.stderr.write(log.read_text(errors="replace")[-4000:])
            raise
        finally:
            process.send_signal(stop)
            try:
                process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()


def cpu_s(pid, thread=None):
    """Return the CPU time of a process, or of one of its threads, since its start."""
    stat = pathlib.Path(f"/proc/{pid}/stat" if thread is None else f"/proc/{pid}/task/{thread}/stat")
    fields = stat.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, program, *before, flags=()):
        """before: the command of a program that runs the server, for example a profiler."""
        self.folder = tempfile.TemporaryDirectory(prefix="corvo-bench-")
        self.command = [*before, program, "server", "--bind", "127.0.0.1:0", "--data-dir", self.folder.name,
                        "--rate-limit-enabled=false", "--log-format", "json", *flags]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            record = json.loads(line)
            if record["msg"] == "corvo server ready":
                self.port = record["port"]
                break
        else:
            sys.exit("the server did not start")
        # drain the pipe: when it is full, the server drops log lines
        threading.Thread(target=collections.deque, args=(self.process.stderr, 0), daemon=True).start()

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()


class Client:
    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        self.headers = {}

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, body):
        return self.ask("POST", path, json.dumps(body))

    def stream(self, path):
        """Read a streamed response to its end."""
        self.connection.request("GET", path)
        return self.connection.getresponse().read()

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body, self.headers)
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status not in (200, 201, 202):
            sys.exit(f"{path}: {answer.status} {data!r}")
        return json.loads(data)


def percentile(seconds, p):
    """Return the percentile in milliseconds."""
    values = sorted(seconds)
    return values[min(len(values) - 1, int(len(values) * p))] * 1000


def percentiles(name, seconds):
    return (f"{name:<34} {len(seconds):>7}   p50 {percentile(seconds, 0.5):8.3f} ms   "
            f"p90 {percentile(seconds, 0.9):8.3f}   p99 {percentile(seconds, 0.99):8.3f}   "
            f"max {percentile(seconds, 1):8.3f}")
