"""A receiver of webhooks: an HTTP server on a thread that records the requests.

A function returns the response to each request. It may also wait, so that a test can delay a delivery.
"""
import hashlib
import hmac
import http.server
import json
import threading

from harness import wait_until


class Delivery:
    """One request as it was received."""

    def __init__(self, path, headers, body):
        self.path, self.body = path, body
        self.headers = {name.lower(): value for name, value in headers.items()}

    @property
    def json(self):
        return json.loads(self.body) if self.body else None

    @property
    def event(self):
        return self.json["event"]

    def is_signed_with(self, secret):
        mac = hmac.new(secret.encode(), self.body, hashlib.sha256).hexdigest()
        return self.headers.get("x-corvo-signature") == "sha256=" + mac


class Receiver:
    """answer(delivery) returns the status, or the status and headers."""

    def __init__(self, answer=lambda delivery: 200):
        self.answer, self.deliveries, self.lock = answer, [], threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                delivery = Delivery(self.path, self.headers, body)
                with outer.lock:
                    outer.deliveries.append(delivery)
                status = outer.answer(delivery)
                status, headers = status if isinstance(status, tuple) else (status, {})
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                # The length that a GET would return. A HEAD has no body.
                self.send_header("Content-Length", "1234" if self.command == "HEAD" else "0")
                self.end_headers()

            do_HEAD = do_POST

            def log_message(self, *_):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                pass  # a sender was killed

        self.server = Quiet(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def url(self, path="/hook"):
        return f"http://127.0.0.1:{self.port}{path}"

    def taken(self, path=None):
        with self.lock:
            return [d for d in self.deliveries if path in (None, d.path)]

    def wait_for(self, count, path=None):
        """Wait until there are count deliveries, and return them."""
        wait_until(lambda: len(self.taken(path)) >= count,
                   f"{count} deliveries; there are {len(self.taken(path))}")
        return self.taken(path)

    def wait_for_events(self, seqs, path=None):
        """Wait until each of these events has arrived at least once, and return the deliveries."""
        wanted = set(seqs)
        wait_until(lambda: wanted <= {d.event["seq"] for d in self.taken(path)},
                   f"all of {len(wanted)} events")
        return self.taken(path)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
