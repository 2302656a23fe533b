"""A server of one's own, a client of it, and what its answers took."""
import http.client
import json
import subprocess
import sys
import tempfile


class Server:
    def __init__(self, program):
        self.folder = tempfile.TemporaryDirectory(prefix="corvo-bench-")
        self.process = subprocess.Popen(
            [program, "server", "--bind", "127.0.0.1:0", "--data-dir", self.folder.name,
             "--rate-limit-enabled=false", "--log-format", "json"], stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            record = json.loads(line)
            if record["msg"] == "corvo server ready":
                self.port = record["port"]
                break
        else:
            sys.exit("the server did not start")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.folder.cleanup()


class Client:
    def __init__(self, server):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)

    def get(self, path):
        return self.ask("GET", path)

    def post(self, path, body):
        return self.ask("POST", path, json.dumps(body))

    def stream(self, path):
        """Read an answer that comes bit by bit, to its end."""
        self.connection.request("GET", path)
        return self.connection.getresponse().read()

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body)
        answer = self.connection.getresponse()
        data = answer.read()
        if answer.status not in (200, 201, 202):
            sys.exit(f"{path}: {answer.status} {data!r}")
        return json.loads(data)


def percentiles(name, seconds):
    """Print them, in milliseconds; the p99 is given back."""
    values = sorted(seconds)
    at = lambda p: values[min(len(values) - 1, int(len(values) * p))] * 1000
    print(f"{name:<34} {len(values):>7}   p50 {at(0.5):8.3f} ms   p90 {at(0.9):8.3f}"
          f"   p99 {at(0.99):8.3f}   max {values[-1] * 1000:8.3f}")
    return at(0.99)
