"""A small HTTP/2 client: many requests at once over one plain-text connection.

It implements only what the tests need. Headers are sent without compression, and the server is told to use
an empty header table. So the status, which is the first header of a response, can be read without a
complete decoder.
"""
import base64
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW_UPDATE = 0, 1, 3, 4, 6, 7, 8
END_STREAM, END_HEADERS, ACK = 1, 4, 1
HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE = 1, 4
WINDOW_DEFAULT = 65535
FRAME_BYTES = 16384
STATIC_STATUS = {8: 200, 9: 204, 10: 206, 11: 304, 12: 400, 13: 404, 14: 500}


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(
        ">I", stream) + payload


def literal(text):
    """Encode a string of a header, without Huffman coding; up to 16 KiB."""
    data = text.encode()
    if len(data) < 127:
        return bytes((len(data),)) + data
    rest, out = len(data) - 127, [127]
    while rest >= 128:
        out.append(rest % 128 + 128)
        rest //= 128
    return bytes(out + [rest]) + data


def encode(headers):
    return b"".join(b"\0" + literal(name) + literal(value) for name, value in headers)


def digits(data):
    """Decode Huffman-coded digits: a status contains nothing else."""
    bits = "".join(f"{byte:08b}" for byte in data)
    text = ""
    while len(bits) >= 5 and not set(bits) == {"1"}:
        if bits[:2] == "00":
            text, bits = text + str(int(bits[:5], 2)), bits[5:]
        else:
            text, bits = text + str(int(bits[:6], 2) - 0b011001 + 3), bits[6:]
    return text


def status_of(block):
    while block[0] & 0xe0 == 0x20:  # a change of the table's size
        block = block[1:]
    if block[0] & 0x80:
        return STATIC_STATUS[block[0] & 0x7f]
    length, coded = block[1] & 0x7f, block[1] & 0x80
    value = block[2:2 + length]
    return int(digits(value) if coded else value)


class Connection:
    """The client numbers the streams. Responses are collected as they arrive.

    With upgrade_path, the connection begins as HTTP/1.1 with a GET of that path and an upgrade to HTTP/2. The
    response to the GET is that of stream 1."""

    def __init__(self, port, timeout, upgrade_path=None):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.next, self.status, self.body, self.ended = 1, {}, {}, set()
        self.settings, self.room = {}, {0: WINDOW_DEFAULT}  # how much may be sent, in total and per stream
        settings = struct.pack(">HIHI", HEADER_TABLE_SIZE, 0, INITIAL_WINDOW_SIZE, (1 << 31) - 1)
        if upgrade_path is not None:
            self.upgrade(upgrade_path, settings)
        self.send(PREFACE + frame(SETTINGS, 0, 0, settings))
        while not self.settings:
            self.read()

    def upgrade(self, path, settings):
        coded = base64.urlsafe_b64encode(settings).rstrip(b"=").decode()
        self.send(f"GET {path} HTTP/1.1\r\nHost: test\r\nConnection: Upgrade, HTTP2-Settings\r\n"
                  f"Upgrade: h2c\r\nHTTP2-Settings: {coded}\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.read_exactly(1)
        if not head.startswith(b"HTTP/1.1 101 "):
            raise AssertionError(f"the server does not change the protocol: {head!r}")
        self.next = 3

    def send(self, data):
        self.socket.sendall(data)

    def request(self, method, path, body=b""):
        """Send a request. Returns its stream."""
        stream, self.next = self.next, self.next + 2
        block = encode([(":method", method), (":scheme", "http"), (":path", path),
                        (":authority", "test")])
        self.send(frame(HEADERS, END_HEADERS | (0 if body else END_STREAM), stream, block))
        self.room[stream] = self.settings.get(INITIAL_WINDOW_SIZE, WINDOW_DEFAULT)
        self.send_body(stream, body)
        return stream

    def send_body(self, stream, body):
        """Send the whole body, as the server's flow control allows."""
        at = 0
        while at < len(body) and stream not in self.ended:
            count = min(FRAME_BYTES, self.room[0], self.room[stream], len(body) - at)
            if count <= 0:
                self.read()
                continue
            last = at + count == len(body)
            self.send(frame(DATA, END_STREAM if last else 0, stream, body[at:at + count]))
            self.room[0], self.room[stream], at = (
                self.room[0] - count, self.room[stream] - count, at + count)

    def open(self, path, headers):
        """Begin a POST whose body is sent with data(). Returns its stream."""
        stream, self.next = self.next, self.next + 2
        block = encode([(":method", "POST"), (":scheme", "http"), (":path", path),
                        (":authority", "test"), *headers])
        self.send(frame(HEADERS, END_HEADERS, stream, block))
        self.room[stream] = self.settings.get(INITIAL_WINDOW_SIZE, WINDOW_DEFAULT)
        return stream

    def data(self, stream, body, last=False):
        self.send(frame(DATA, END_STREAM if last else 0, stream, body))

    def reset(self, stream):
        self.send(frame(RESET, 0, stream, struct.pack(">I", 8)))

    def read_exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self.socket.recv(count - len(data))
            if not piece:
                raise AssertionError("the server closed the connection")
            data += piece
        return data

    def read(self):
        """Read the next frame."""
        head = self.read_exactly(9)
        length, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        stream, payload = int.from_bytes(head[5:], "big"), self.read_exactly(length)
        if kind == SETTINGS and not flags & ACK:
            for at in range(0, length, 6):
                key, value = struct.unpack(">HI", payload[at:at + 6])
                self.settings[key] = value
            self.send(frame(SETTINGS, ACK, 0))
        elif kind == PING and not flags & ACK:
            self.send(frame(PING, ACK, 0, payload))
        elif kind == WINDOW_UPDATE:
            self.room[stream] = self.room.get(stream, 0) + int.from_bytes(payload, "big")
        elif kind == HEADERS:
            if stream not in self.status:  # later ones are trailers
                self.status[stream] = status_of(payload)
        elif kind == DATA:
            self.body[stream] = self.body.get(stream, b"") + payload
            if length:
                self.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", length)))
        elif kind == RESET and stream in self.ended:
            pass  # after its response, the server does not want the rest of the body
        elif kind == GOAWAY and payload[4:8] == bytes(4):
            pass  # it stops accepting streams and finishes the open ones
        elif kind in (RESET, GOAWAY):
            raise AssertionError(f"the server refused: frame {kind} with {payload!r}")
        if kind in (HEADERS, DATA) and flags & END_STREAM:
            self.ended.add(stream)

    def answer(self, stream):
        """Return status and body, once the response is complete."""
        while stream not in self.ended:
            self.read()
        return self.status[stream], self.body.get(stream, b"")

    def close(self):
        self.socket.close()
