#!/usr/bin/env python3
"""Compare Corvo with other job servers: the same jobs, on the same machine, one server at a time.

Every measurement starts a new server on loopback, with a free port and a new folder. The servers take
turns, so that a slow moment of the machine affects all of them. Prints the medians and their ratios, Corvo
to each peer. docs/benchmarks.md explains how to read them.

The folders are created in the directory for temporary files (TMPDIR), which should be on a disk.

  run.py --bin FOLDER --modules FOLDER [--jobs N] [--concurrency N] [--rounds N] [PEER…]
"""
import argparse
import glob
import json
import os
import pathlib
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True  # leave no files behind in the source tree
sys.path.insert(0, str(HERE.parent))
from lib.running import PATIENCE_S, free_port, output, running

BATCH = 100


class Peer:
    """A server and its client. `measure` returns the jobs per second of both phases."""

    name = setting = ""
    batches = True

    def __init__(self, args):
        self.args = args

    def version(self):
        raise NotImplementedError

    def measure(self, folder, batch):
        raise NotImplementedError

    def rates(self, seconds):
        return {phase: self.args.jobs / seconds[phase] for phase in ("enqueue", "process")}


class Corvo(Peer):
    name, setting = "Corvo", "one node, fsync before every response"

    def version(self):
        return output(self.args.bin / "corvo", "version").split()[1]

    def measure(self, folder, batch):
        port, corvo = free_port(), self.args.bin / "corvo"
        with running(folder, port, corvo, "server", "--bind", f"127.0.0.1:{port}", "--data-dir",
                     f"{folder}/data", "--rate-limit-enabled=false", "--log-level", "error"):
            report = json.loads(output(
                corvo, "bench", "--server", f"http://127.0.0.1:{port}", "--jobs", str(self.args.jobs),
                "--concurrency", str(self.args.concurrency), "--payload-bytes", "60", "--save",
                f"{folder}/report.json", "--output", "json",
                *(flag for kind in ("enqueue", "fetch", "ack") for flag in (f"--{kind}-batch-size", str(batch)))))
        if report["lifecycle"]["completed"] != self.args.jobs:
            raise RuntimeError(f"Corvo completed {report['lifecycle']['completed']} jobs")
        return {"enqueue": report["enqueue"]["ops_per_sec"], "process": report["lifecycle"]["ops_per_sec"]}


class Beanstalkd(Peer):
    name, setting, batches = "beanstalkd", "in memory", False

    def version(self):
        return output("beanstalkd", "-v").split()[1]

    def flags(self, folder):
        return ()

    def measure(self, folder, batch):
        port, rates = free_port(), {}
        with running(folder, port, "beanstalkd", "-l", "127.0.0.1", "-p", str(port), *self.flags(folder)):
            for phase, mode in (("enqueue", "beanstalk-put"), ("process", "beanstalk-drain")):
                line = output(self.args.bin / "bench" / "load_bench", mode, str(port), str(self.args.concurrency),
                              str(PATIENCE_S * 10), str(self.args.jobs))
                rates[phase] = float(line.split("connections")[1].split()[0])
        return rates


class BeanstalkdFsync(Beanstalkd):
    setting = "log with fsync (-f0)"

    def flags(self, folder):
        os.mkdir(f"{folder}/log")
        return ("-b", f"{folder}/log", "-f0")


class NodePeer(Peer):
    package = ""

    def package_version(self):
        path = self.args.modules / "node_modules" / self.package / "package.json"
        return json.loads(path.read_text())["version"]

    def client(self, port, batch):
        line = output("node", HERE / "client.cjs", self.package, str(port), str(self.args.jobs),
                      str(self.args.concurrency), str(batch),
                      env={**os.environ, "NODE_PATH": str(self.args.modules / "node_modules")})
        result = json.loads(line)
        if result["left"] != 0:
            raise RuntimeError(f"{self.name} left {result['left']} jobs")
        return self.rates(result)


class BullMq(NodePeer):
    name, package, setting = "BullMQ", "bullmq", "appendonly, appendfsync always"

    def version(self):
        redis = output("redis-server", "--version").split("v=")[1].split()[0]
        return f"{self.package_version()} on Redis {redis}"

    def measure(self, folder, batch):
        port = free_port()
        with running(folder, port, "redis-server", "--bind", "127.0.0.1", "--port", str(port), "--dir", folder,
                     "--appendonly", "yes", "--appendfsync", "always", "--save", ""):
            return self.client(port, batch)


class PgBoss(NodePeer):
    name, package, setting = "pg-boss", "pg-boss", "fsync and synchronous_commit on"

    def __init__(self, args):
        super().__init__(args)
        self.programs = pathlib.Path(sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1])

    def version(self):
        postgres = output(self.programs / "postgres", "--version").split()[2]
        return f"{self.package_version()} on PostgreSQL {postgres}"

    def measure(self, folder, batch):
        port, data = free_port(), f"{folder}/data"
        # PostgreSQL refuses to run as root.
        options = {}
        if os.getuid() == 0:
            shutil.chown(folder, "postgres", "postgres")
            options = {"user": "postgres", "group": "postgres", "extra_groups": []}
        output(self.programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", cwd=folder, **options)
        with running(folder, port, self.programs / "postgres", "-D", data, "-p", str(port), "-c",
                     "listen_addresses=127.0.0.1", "-c", f"unix_socket_directories={folder}", "-c",
                     f"max_connections={self.args.concurrency + 20}", stop=signal.SIGINT, cwd=folder, **options):
            return self.client(port, batch)


PEERS = {"corvo": Corvo, "beanstalkd": Beanstalkd, "beanstalkd-fsync": BeanstalkdFsync, "bullmq": BullMq,
         "pg-boss": PgBoss}


def machine():
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    load = os.getloadavg()[0]
    disk = output("findmnt", "-n", "-o", "FSTYPE", "-T", tempfile.gettempdir()).strip()
    if disk == "tmpfs":
        print("warning: temporary files are in memory, where fsync costs nothing: set TMPDIR", file=sys.stderr)
    return (f"{os.cpu_count()} cores ({model}), {memory:.0f} GB, {disk}, Linux {platform.release()}, "
            f"load {load:.1f} before the run")


def table(title, peers, rates):
    """Print a table of the medians with minimum and maximum, and the ratio of Corvo's median to the peer's."""
    print(f"\n{title}\n")
    print("| Server | Setting | Enqueue, jobs/s | Corvo ÷ server | Process, jobs/s | Corvo ÷ server |")
    print("|---|---|---:|---:|---:|---:|")
    middle = {p.key: {phase: statistics.median(r[phase] for r in rates[p.key]) for phase in ("enqueue", "process")}
              for p in peers if rates.get(p.key)}
    for p in peers:
        if p.key not in middle:
            continue
        cells = []
        for phase in ("enqueue", "process"):
            rate = middle[p.key][phase]
            ratio = f"{middle['corvo'][phase] / rate:.2f}" if "corvo" in middle else "-"
            each = [r[phase] for r in rates[p.key]]
            cells += [f"{rate:,.0f} ({min(each):,.0f}\u2013{max(each):,.0f})", ratio]
        print(f"| {p.name} {p.version()} | {p.setting} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--modules", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=10000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("peers", nargs="*", metavar="PEER", help=f"of {', '.join(PEERS)}; all unless given")
    args = parser.parse_args()
    args.bin, args.modules = args.bin.resolve(), args.modules.resolve()
    peers = []
    for key in args.peers or PEERS:
        peers.append(PEERS[key](args))
        peers[-1].key = key
    print(f"machine: {machine()}")
    print(f"node {output('node', '--version').strip()}; {args.jobs} jobs with a payload of about 60 bytes, "
          f"{args.concurrency} requests under way, medians of {args.rounds} rounds")
    for title, batch in (("One job per request", 1), (f"Batches of {BATCH}", BATCH)):
        rates = {}
        for number in range(args.rounds):
            for p in peers:
                if batch > 1 and not p.batches:
                    continue
                folder = tempfile.mkdtemp(prefix="corvo-peers-")
                try:
                    rates.setdefault(p.key, []).append(p.measure(folder, batch))
                finally:
                    shutil.rmtree(folder, ignore_errors=True)
                last = rates[p.key][-1]
                print(f"  round {number + 1}, batch {batch}: {p.name} ({p.setting}): enqueue {last['enqueue']:,.0f}/s, "
                      f"process {last['process']:,.0f}/s", file=sys.stderr, flush=True)
        table(title, peers, rates)


if __name__ == "__main__":
    main()
