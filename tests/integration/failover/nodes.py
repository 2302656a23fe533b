"""
Three real nodes on one machine, with proxies of ours between their peer ports.

Network namespaces need rights that a test does not have, so partitions are made by the proxies: what
node A says to node B goes through one of its own, which can be cut in that direction alone.
"""
import asyncio
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import children  # noqa: E402

SECRET = "a secret of sixteen or more characters"


def free_ports(count):
    """Ports that nobody listens on, below those that the system hands out for connections."""
    ports, base = [], 10000 + os.getpid() % 2000 * 8
    while len(ports) < count:
        base = base + 1 if base < 32000 else 10000
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", base))
                ports.append(base)
            except OSError:
                pass
    return ports


def until(what, seconds=20.0, pause=0.02):
    """Wait for an event: what() becomes true."""
    end = time.monotonic() + seconds
    while True:
        got = what()
        if got:
            return got
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {getattr(what, '__name__', what)}")
        time.sleep(pause)


class Node:
    def __init__(self, binary, folder, number, ports):
        self.binary, self.number = binary, number
        self.name = f"node-{number}"
        self.folder = folder / self.name
        self.http_port, self.raft_port, self.http_proxy, self.raft_proxy = ports
        self.process = None
        self.log = folder / f"{self.name}.log"
        self.stopped = False

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http_port}"

    def start(self, join=None, extra=()):
        args = [str(self.binary), "server", "--data-dir", str(self.folder), "--node-id", self.name,
                "--bind", f"127.0.0.1:{self.http_port}",
                "--http-advertise", f"http://127.0.0.1:{self.http_proxy}",
                "--raft-bind", f"127.0.0.1:{self.raft_port}",
                "--raft-advertise", f"127.0.0.1:{self.raft_proxy}",
                "--cluster-secret", SECRET, "--log-format", "json", "--rate-limit-enabled=false",
                "--durable=false", "--http-threads", "2", "--shutdown-timeout", "5s",
                "--segment-bytes", str(4 << 20), *extra]
        if join:
            args += ["--join", join]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(args, stdout=log, stderr=log,
                                            env=children.environment())
        self.stopped = False

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.stopped = False

    def pause(self):
        children.pause(self.process)
        self.stopped = True

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)
        self.stopped = False

    def terminate(self):
        self.process.terminate()
        return self.process.wait(timeout=30)

    def call(self, method, path, body=None, timeout=30.0, headers=None):
        """(status, answer, headers); raises OSError when there is no answer."""
        conn = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=timeout)
        try:
            data = None if body is None else json.dumps(body)
            conn.request(method, path, body=data,
                         headers={"Content-Type": "application/json", **(headers or {})})
            answer = conn.getresponse()
            text = answer.read()
            parsed = json.loads(text) if text[:1] in (b"{", b"[") else text.decode()
            return answer.status, parsed, dict(answer.getheaders())
        except http.client.HTTPException as e:
            raise ConnectionError(str(e)) from e
        finally:
            conn.close()

    def status(self):
        return self.call("GET", "/api/v1/cluster/status", timeout=3)[1]

    def answers(self):
        """It is a member and serves its API; probes are answered before."""
        try:
            return self.call("GET", "/api/v1/cluster/status", timeout=2)[0] == 200
        except OSError:
            return False

    def leads(self):
        try:
            return self.status().get("state") == "Leader"
        except (OSError, AttributeError):
            return False


def owner_of(port):
    """The process that has a connection from this local port, among children of this one."""
    with open("/proc/net/tcp", encoding="ascii") as rows:
        for row in rows.readlines()[1:]:
            fields = row.split()
            if int(fields[1].split(":")[1], 16) == port and fields[9] != "0":
                return f"socket:[{fields[9]}]"
    return None


class Network:
    """Proxies in front of every node's ports. What one node sends another can be held back."""

    def __init__(self, nodes):
        self.nodes, self.blocked = nodes, set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.tasks = set()

    def start(self):
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self.loop).result()

    def stop(self):
        asyncio.run_coroutine_threadsafe(self._close(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    def cut(self, sender, receiver):
        self.blocked.add((sender.number, receiver.number))

    def isolate(self, node):
        for other in self.nodes:
            if other is not node:
                self.cut(node, other)
                self.cut(other, node)

    def heal(self):
        self.blocked.clear()

    async def _listen(self):
        self.changed = asyncio.Event()
        self.servers = []
        for node in self.nodes:
            for proxy, port in ((node.http_proxy, node.http_port),
                                (node.raft_proxy, node.raft_port)):
                def accept(reader, writer, node=node, port=port):
                    task = asyncio.ensure_future(self._connect(node, port, reader, writer))
                    self.tasks.add(task)
                    task.add_done_callback(self.tasks.discard)
                self.servers.append(await asyncio.start_server(accept, "127.0.0.1", proxy))

    async def _close(self):
        for server in self.servers:
            server.close()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def _who(self, port):
        """The node that has opened the connection."""
        inode = owner_of(port)
        for node in self.nodes:
            if inode is None or not node.is_running():
                continue
            for fd in pathlib.Path(f"/proc/{node.process.pid}/fd").iterdir():
                try:
                    if os.readlink(fd) == inode:
                        return node.number
                except OSError:
                    pass
        return 0

    async def _connect(self, node, port, reader, writer):
        sender = self._who(writer.get_extra_info("peername")[1])
        try:
            while (sender, node.number) in self.blocked:
                await asyncio.sleep(0.02)
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        try:
            await asyncio.gather(self._pump(reader, there_writer, (sender, node.number)),
                                 self._pump(there_reader, writer, (node.number, sender)))
        finally:
            writer.close()
            there_writer.close()

    async def _pump(self, reader, writer, way):
        """What is held back comes late, as in a network."""
        try:
            while True:
                data = await reader.read(65536)
                while way in self.blocked:
                    await asyncio.sleep(0.02)
                if not data:
                    break
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.close()


class Nodes:
    def __init__(self, binary, count=3):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-cluster-"))
        ports = free_ports(4 * count)
        self.nodes = [Node(binary, self.folder, i + 1, ports[4 * i:4 * i + 4])
                      for i in range(count)]
        self.net = Network(self.nodes)

    def __enter__(self):
        try:
            self.net.start()
            self.nodes[0].start()
            until(self.nodes[0].leads)
            for node in self.nodes[1:]:
                node.start(join=self.nodes[0].url)
            until(self.all_vote, 40)
            for node in self.nodes:
                until(node.answers)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def all_vote(self):
        votes = self.nodes[0].log.read_text(errors="replace").count('"member becomes a voter"')
        return votes == len(self.nodes) - 1

    def leader(self, timeout=20.0):
        def one():
            return next((n for n in self.nodes if n.is_running() and not n.stopped and n.leads()),
                        None)
        return until(one, timeout)

    def followers(self):
        leader = self.leader()
        return [n for n in self.nodes if n is not leader]

    def __exit__(self, kind, value, trace):
        for node in self.nodes:
            if node.is_running():
                if node.stopped:
                    node.go_on()
                node.kill()
        self.net.stop()
        if kind is not None:
            for node in self.nodes:
                print(f"--- {node.name}: last lines of its log")
                print("\n".join(line[:300] for line in
                                node.log.read_text(errors="replace").splitlines()[-12:]))
        shutil.rmtree(self.folder, ignore_errors=True)
