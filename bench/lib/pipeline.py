"""Requests on one connection, several in flight at a time."""
import socket

UNDER_WAY = 32


def post(port, path, text, count):
    """Send the same request count times. Each must succeed."""
    one = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()
    with socket.create_connection(("127.0.0.1", port)) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sent = answered = 0
        success, data = b"HTTP/1.1 20", b""
        while answered < count:
            n = min(UNDER_WAY - (sent - answered), count - sent)
            if n > 0:
                s.sendall(one * n)
                sent += n
            received = s.recv(1 << 16)
            if not received:
                raise RuntimeError("the server hung up")
            data = data[1 - len(success):] + received  # the text may be split between two reads
            answered += data.count(success)
