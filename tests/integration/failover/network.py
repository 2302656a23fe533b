"""The network between the nodes, and how to cut it. There are two kinds of network that a test may break.

Namespaces: each node has a separate network namespace, with a cable to the test's namespace, which forwards
packets between them. What A sends to B is dropped there. The whole test runs in namespaces that end with it
(enter). So it needs no root where users may create namespaces, leaves nothing behind however it ends, and
any number of such tests can run at the same time.

Proxies, where namespaces are not allowed: all nodes are on loopback, and each connection between them passes
through this process, which can hold back what A sends to B.
"""
import asyncio
import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading

INSIDE = "CORVO_FAILOVER_INSIDE"
HTTP_PORT, RAFT_PORT = 8080, 9400
UNSHARE = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
# All operations that namespaces must support. The names of network namespaces are kept in /run.
TRIAL = ("mount -t tmpfs none /run && ip netns add trial && ip -n trial link set lo up && "
         "ip rule add from 192.0.2.1 to 192.0.2.2 blackhole && echo 1 > /proc/sys/net/ipv4/ip_forward && "
         "ip link add trial type veth peer name eth0 netns trial")


def enter(wanted=None):
    """Run the test again in new namespaces, if this process may create them. wanted: "namespaces" or "proxies", to
    accept only this kind. Prints which kind is used."""
    if os.environ.get(INSIDE):
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
        # The first process of a PID namespace has no default signal handler.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
        print("network: each node in a network namespace of its own", flush=True)
        return
    why = "as it was asked for"
    if wanted != "proxies":
        for command in (UNSHARE, [*UNSHARE, "--user", "--map-root-user"]):
            tried = subprocess.run([*command, "sh", "-c", TRIAL], capture_output=True, text=True)
            if tried.returncode == 0:
                os.environ[INSIDE] = "1"
                sys.stdout.flush()
                os.execvp(command[0], [*command, sys.executable, *sys.orig_argv[1:]])
        why = f"network namespaces are not allowed here: {tried.stderr.strip()}"
        if wanted == "namespaces":
            sys.exit(why)
    print(f"network: proxies of ours between the nodes ({why})", flush=True)


def network(count):
    return Namespaces(count) if os.environ.get(INSIDE) else Proxies(count)


class Namespaces:
    """Node i has the address 192.0.2.(4 i + 2). The test's namespace has the address before it."""
    kind = "namespaces"
    libc = ctypes.CDLL(None, use_errno=True)
    NEWNET = 0x40000000
    made = 0

    def __init__(self, count):
        self.count, self.rules = count, set()
        Namespaces.made += 1
        self.names = [f"n{Namespaces.made}-{i + 1}" for i in range(count)]

    def start(self, nodes):
        del nodes
        pathlib.Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        self.own = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        self.spaces = []
        self._ip("link set lo up", "route replace local 10.77.0.0/16 dev lo")
        for i, name in enumerate(self.names):
            self._ip(f"netns add {name}", f"link add {name} type veth peer name eth0 netns {name}",
                     f"addr add {self._address(i, 1)}/30 dev {name}", f"link set {name} up")
            self._ip(f"addr add {self._address(i, 2)}/30 dev eth0", "link set eth0 up", "link set lo up",
                     f"route add default via {self._address(i, 1)}", space=name)
            self.spaces.append(os.open(f"/run/netns/{name}", os.O_RDONLY | os.O_CLOEXEC))

    def stop(self):
        self.heal()
        for fd in (self.own, *self.spaces):
            os.close(fd)
        self._ip(*(f"netns del {name}" for name in self.names))

    @staticmethod
    def _address(i, which):
        return f"192.0.2.{4 * i + which}"

    @staticmethod
    def _ip(*lines, space=None):
        done = subprocess.run(["ip", *(["-n", space] if space else []), "-batch", "-"],
                              input="\n".join(lines), capture_output=True, text=True)
        assert done.returncode == 0, (lines, done.stderr)

    # --- a node ---

    def command(self, number):
        """Return the command prefix that runs a program on the node's machine."""
        return ["nsenter", f"--net=/run/netns/{self.names[number - 1]}"]

    def settings(self, number):
        own = self._address(number - 1, 2)
        return ["--bind", f"0.0.0.0:{HTTP_PORT}", "--http-advertise", self.url(number),
                "--raft-bind", f"{own}:{RAFT_PORT}", "--open-access"]

    def url(self, number):
        """Return the URL of the node's API for other nodes."""
        return f"http://{self._address(number - 1, 2)}:{HTTP_PORT}"

    def own_url(self, number):
        return f"http://127.0.0.1:{HTTP_PORT}"

    @staticmethod
    def host(n):
        """Return an address of this process as nodes see it. There are many."""
        return f"10.77.{n // 200}.{n % 200 + 1}"

    def connect(self, number, timeout):
        """Return a connection from the node's own machine, which no cut affects. A socket stays in the namespace in
        which it was created, even if its thread leaves it."""
        self._enter(self.spaces[number - 1])
        try:
            s = socket.socket()
        finally:
            self._enter(self.own)
        try:
            s.settimeout(timeout)
            s.connect(("127.0.0.1", HTTP_PORT))
        except BaseException:
            s.close()
            raise
        return s

    def _enter(self, space):
        if Namespaces.libc.setns(space, Namespaces.NEWNET) != 0:
            raise RuntimeError(f"setns: {os.strerror(ctypes.get_errno())}")

    # --- cuts ---

    def cut(self, sender, receiver):
        """Drop everything that sender sends to receiver. They do not notice anything else."""
        way = (f"from {self._address(sender.number - 1, 2)} "
               f"to {self._address(receiver.number - 1, 2)}")
        if way not in self.rules:
            self._ip(f"rule add {way} blackhole pref 100")
            self.rules.add(way)

    def heal(self):
        if self.rules:
            self._ip(*(f"rule del {way} blackhole pref 100" for way in self.rules))
            self.rules.clear()


def free_ports(count):
    """Return ports that nobody listens on, below the range that the system assigns to connections."""
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


def owner_of(port):
    """Return the connected socket with this local port, as /proc/PID/fd shows it, or None."""
    with open("/proc/net/tcp", encoding="ascii") as rows:
        for row in rows.readlines()[1:]:
            fields = row.split()
            if int(fields[1].split(":")[1], 16) == port and fields[9] != "0":
                return f"socket:[{fields[9]}]"
    return None


class Proxies:
    """A proxy in front of every port of a node. What one node sends another can be held back, and then arrives late."""
    kind = "proxies"

    def __init__(self, count):
        ports = free_ports(4 * count)
        self.ports = [ports[4 * i:4 * i + 4] for i in range(count)]
        self.blocked = set()
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.tasks = set()

    def start(self, nodes):
        self.nodes = nodes
        self.thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self.loop).result()

    def stop(self):
        asyncio.run_coroutine_threadsafe(self._close(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    # --- a node ---

    def command(self, number):
        del number
        return []

    def settings(self, number):
        http_port, raft_port, _, raft_proxy = self.ports[number - 1]
        return ["--bind", f"127.0.0.1:{http_port}", "--http-advertise", self.url(number),
                "--raft-bind", f"127.0.0.1:{raft_port}", "--raft-advertise", f"127.0.0.1:{raft_proxy}"]

    def url(self, number):
        return f"http://127.0.0.1:{self.ports[number - 1][2]}"

    def own_url(self, number):
        return f"http://127.0.0.1:{self.ports[number - 1][0]}"

    @staticmethod
    def host(n):
        return f"127.1.{n // 200}.{n % 200 + 1}"

    def connect(self, number, timeout):
        return socket.create_connection(("127.0.0.1", self.ports[number - 1][0]), timeout)

    # --- cuts ---

    def cut(self, sender, receiver):
        self.blocked.add((sender.number, receiver.number))

    def heal(self):
        self.blocked.clear()

    # --- connections ---

    async def _listen(self):
        self.servers = []
        for node in self.nodes:
            http_port, raft_port, http_proxy, raft_proxy = self.ports[node.number - 1]
            for proxy, port in ((http_proxy, http_port), (raft_proxy, raft_port)):
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
        """Return the number of the node that opened the connection, or 0."""
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
        """Copy data. What is held back arrives late, as in a network."""
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
