"""Real nodes on one machine: three that form a cluster, and a spare one that can join it."""
import errno
import http.client
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import children  # noqa: E402
from network import network  # noqa: E402

SECRET = "a secret of sixteen or more characters"
DISK_BYTES = 512 << 20       # of each node, if file systems can be mounted
PATIENCE_S = 120.0           # for an event, on a busy machine
FREE_SPACE_MIN = 64 << 20    # below this the server accepts no new jobs


def until(what, seconds=PATIENCE_S, pause=0.02):
    """Wait until what() returns a true value, and return it."""
    end = time.monotonic() + seconds
    while True:
        got = what()
        if got:
            return got
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s for {getattr(what, '__name__', what)}")
        time.sleep(pause)


class Disk:
    """The folder with a node's data. If a file system can be mounted there, it can be filled."""

    def __init__(self, folder, own):
        self.folder, self.own = folder, own
        folder.mkdir()
        if own:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", folder], check=True)

    def fill(self, leave=0):
        """Fill the disk at once so that `leave` bytes are free. Repeats, because the node writes and frees space
        meanwhile."""
        with open(self.folder / "ballast", "ab") as f:
            while (more := self.free() - leave) > 0:
                try:
                    os.posix_fallocate(f.fileno(), os.fstat(f.fileno()).st_size, more)
                except OSError as e:
                    if e.errno != errno.ENOSPC:
                        raise

    def free(self):
        now = os.statvfs(self.folder)
        return now.f_bavail * now.f_frsize

    def empty(self):
        (self.folder / "ballast").unlink(missing_ok=True)

    def remove(self):
        if self.own:
            subprocess.run(["umount", self.folder], check=True)


class Node:
    def __init__(self, binary, folder, number, net, shim=None):
        self.binary, self.number, self.net, self.shim = binary, number, net, shim
        self.name = f"node-{number}"
        self.disk = Disk(folder / self.name, net.kind == "namespaces")
        self.folder = self.disk.folder / "data"
        self.control = folder / f"{self.name}.control"
        self.process = None
        self.log = folder / f"{self.name}.log"
        self.stopped = False
        self.cut_off = False
        self.trouble()

    @property
    def url(self):
        """Return the URL of the node's API for other nodes."""
        return self.net.url(self.number)

    @property
    def in_trouble(self):
        """True if the node is paused or cut off. Clients that notice this prefer another node."""
        return self.stopped or self.cut_off

    # --- process ---

    def start(self, join=None, extra=()):
        args = [*self.net.command(self.number), str(self.binary), "server", "--data-dir", str(self.folder),
                "--node-id", self.name, *self.net.settings(self.number),
                "--cluster-secret", SECRET, "--log-format", "json", "--rate-limit-enabled=false",
                f"--durable={'true' if self.disk.own else 'false'}", "--http-threads", "2",
                "--shutdown-timeout", "5s", "--inprogress-timeout", "5s",
                "--segment-bytes", str(4 << 20),
                "--free-space-min", str(FREE_SPACE_MIN), *extra]
        if join:
            args += ["--join", join]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(args, stdout=log, stderr=log, env=self._environment())
        self.stopped = False

    def _environment(self):
        if self.shim is None:
            return children.environment()
        asan = f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0"
        return children.environment({
            "LD_PRELOAD": str(self.shim), "NEMESIS_CONTROL": str(self.control),
            "NEMESIS_DIR": str(self.folder), "ASAN_OPTIONS": asan})

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.stopped = False

    def pause(self):
        self.stopped = True  # set first, so that clients that avoid the node are not too late
        children.pause(self.process)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)
        self.stopped = False

    def terminate(self):
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE_S)

    def forget(self):
        """Delete the node's data."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def trouble(self, clock_s=0.0, disk_s=0.0):
        """Make the node's clock wrong and its disk slow from now on (nemesis.c)."""
        self.control.touch()
        with open(self.control, "r+b") as f:
            f.write(struct.pack("<qq", int(clock_s * 1e9), int(disk_s * 1e6)))

    def events(self, msg):
        """Return the lines of the node's log with this message."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line["msg"] == msg]

    # --- API ---

    def connect(self, timeout=30.0):
        return self.net.connect(self.number, timeout)

    def call(self, method, path, body=None, timeout=30.0, headers=None):
        """Return (status, answer, headers). Raises OSError if there is no response."""
        conn = http.client.HTTPConnection("127.0.0.1", timeout=timeout)
        try:
            conn.sock = self.connect(timeout)
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

    def command(self, *words):
        """Run a command of the CLI on the node's machine."""
        return subprocess.run([*self.net.command(self.number), str(self.binary), *words, "--server",
                               self.net.own_url(self.number)], capture_output=True, text=True,
                              env=children.environment())

    def status(self):
        return self.call("GET", "/api/v1/cluster/status", timeout=3)[1]

    def answers(self):
        """True if the node is a member and serves its API. Probes are answered earlier."""
        try:
            return self.call("GET", "/api/v1/cluster/status", timeout=2)[0] == 200
        except OSError:
            return False

    def state(self):
        """Return the Raft state, or None if the node does not respond."""
        try:
            return self.status().get("state")
        except (OSError, AttributeError):
            return None

    def leads(self):
        return self.state() == "Leader"


class Nodes:
    def __init__(self, binary, count=3, shim=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="corvo-cluster-"))
        self.net = network(count + 1)
        every = [Node(binary, self.folder, i + 1, self.net, shim) for i in range(count + 1)]
        self.nodes, self.spare = every[:-1], every[-1]
        self.every = every

    def __enter__(self):
        try:
            self.net.start(self.every)
            self.nodes[0].start()
            until(self.nodes[0].leads)
            for node in self.nodes[1:]:
                node.start(join=self.nodes[0].url)
            until(self.all_vote)
            for node in self.nodes:
                until(node.answers)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return self

    def members(self):
        """Return the rows of the members by name, as the leader knows them."""
        try:
            return {row["id"]: row for row in self.leader().status()["nodes"]}
        except (OSError, KeyError):
            return {}

    def all_vote(self):
        """True if the members are exactly these nodes and all of them vote."""
        return {name: row["voter"] for name, row in self.members().items()} == {
            node.name: True for node in self.nodes}

    def leader(self, timeout=PATIENCE_S):
        def one():
            return next((n for n in self.nodes if n.is_running() and not n.stopped and n.leads()),
                        None)
        return until(one, timeout)

    def followers(self):
        leader = self.leader()
        return [n for n in self.nodes if n is not leader]

    def others(self, node):
        return [n for n in self.nodes if n is not node]

    def isolate(self, node, sends=False, hears=False):
        """Cut the node off from all others, in both directions or, with sends or hears, in one."""
        node.cut_off = True
        for other in self.others(node):
            if not sends:
                self.net.cut(node, other)
            if not hears:
                self.net.cut(other, node)

    def cut_one_way(self, chance):
        sender, receiver = chance.sample(self.nodes, 2)
        for node in (sender, receiver):
            node.cut_off = not node.leads()
        self.net.cut(sender, receiver)

    def heal(self):
        self.net.heal()
        for node in self.every:
            node.cut_off = False

    def __exit__(self, kind, value, trace):
        for node in self.every:
            if node.is_running():
                node.kill()  # also if it is paused
        self.net.stop()
        try:
            if kind is not None:
                self.show_logs()
        finally:
            for node in self.every:
                node.disk.remove()
            shutil.rmtree(self.folder, ignore_errors=True)

    def show_logs(self):
        for node in self.every:
            if node.log.exists():
                print(f"--- {node.name}: last lines of its log")
                print("\n".join(line[:300] for line in
                                node.log.read_text(errors="replace").splitlines()[-12:]))
