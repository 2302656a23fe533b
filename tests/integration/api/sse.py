"""A client of the event stream that reads frames as they arrive.

It reads the chunks of the response itself, because the contract guarantees that each frame is exactly one
chunk.
"""
import json
import socket

from harness import PATIENCE_S


class Frame:
    """One frame. data is decoded; event is None if there is no such line."""

    def __init__(self, text):
        lines = text.split("\n")
        assert lines[-2:] == ["", ""], f"a frame ends with a blank line: {text!r}"
        fields = [line.split(": ", 1) for line in lines[:-2]]
        names = [name for name, _ in fields]
        assert names in (["id", "event", "data"], ["id", "data"]), text
        self.text, self.id = text, int(fields[0][1])
        self.event = fields[1][1] if len(fields) == 3 else None
        self.data = json.loads(fields[-1][1])

    def __repr__(self):
        return repr(self.text)


class Stream:
    """An open stream. Frames are read one at a time, in the order of arrival."""

    def __init__(self, server, query="", headers=None, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(("127.0.0.1", server.port))
        lines = [f"GET /api/v1/events{query} HTTP/1.1", "Host: localhost"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        self.buffer = b""
        head = self._until(b"\r\n\r\n").decode().split("\r\n")
        self.status = int(head[0].split()[1])
        self.headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in head[1:-2])}
        self.position = None  # of a frame without data: where a stream with a tail begins

    def _is_event(self, text):
        if text.startswith("id: ") and text.count("\n") == 2:
            self.position = int(text[4:])
            return False
        return not text.startswith(":")

    def _more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise EOFError("the server closed the stream")
        self.buffer += data

    def _until(self, mark):
        while mark not in self.buffer:
            self._more()
        at = self.buffer.index(mark) + len(mark)
        taken, self.buffer = self.buffer[:at], self.buffer[at:]
        return taken

    def chunk(self):
        """Return the text of the next chunk, or None at the end of the response."""
        size = int(self._until(b"\r\n"), 16)
        while len(self.buffer) < size + 2:
            self._more()
        taken, self.buffer = self.buffer[:size], self.buffer[size + 2:]
        return taken.decode() if size else None

    def next(self):
        """Return the next frame. Skips comments and positions."""
        text = self.chunk()
        while text is not None and not self._is_event(text):
            text = self.chunk()
        if text is None:
            raise EOFError("the answer is over")
        return Frame(text)

    def take(self, count):
        return [self.next() for _ in range(count)]

    def ids(self, count):
        """Return the numbers of the next frames without decoding the rest: fast enough for many."""
        found = []
        while len(found) < count:
            text = self.chunk()
            if text is None:
                raise EOFError("the answer is over")
            if self._is_event(text):
                found.append(int(text[4:text.index("\n")]))
        return found

    def rest(self):
        """Return the numbers of all frames up to the end, and whether the response ended properly."""
        found = []
        try:
            while True:
                found += self.ids(1)
        except EOFError as end:
            return found, "answer is over" in str(end)
        except ConnectionError:
            return found, False

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
