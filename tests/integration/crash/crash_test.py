#!/usr/bin/env python3
"""Kill an engine again and again, and check that nothing it acknowledged is lost.

    crash_test.py --child PATH --shim PATH [--cycles N] [--seed N] [--keep]

A cycle: start crash_child, compare the state that it finds with the results that the clients of all
earlier runs received (crash_model.py), let its clients work, kill it with SIGKILL at a random moment,
sometimes while it is still starting. The cycles are divided among four ways of running:

    whole log    no snapshots: the log contains everything from its first entry. Now and then it is
                 replayed from there into an empty state, which must have the same hash and digest
    snapshots    very small segments and snapshots, so that many kills hit a snapshot in progress. A
                 lost state is restored from the snapshot and the log, with the same hash
    soon         like snapshots, with jobs that become due all the time
    lossy disk   the disk loses what was not flushed (lossy_disk.py)

At the end the lossy disk is tried with an engine that does not flush. It must be caught losing
something, because otherwise the cycles before have proved nothing.
"""
import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from children import environment
from crash_model import Dump, Mismatch, Model
import lossy_disk

START_PATIENCE_S = 120
CARELESS_TRIES = 10


class Child:
    """A running crash_child and the lines that it has written."""

    def __init__(self, command, env):
        self.lines, self.found = [], threading.Event()
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        env=env)
        self.errors = b""
        self.readers = [threading.Thread(target=self.read_lines),
                        threading.Thread(target=self.read_errors)]
        for reader in self.readers:
            reader.start()

    def read_lines(self):
        for line in self.process.stdout:
            if line.endswith(b"\n"):
                self.lines.append(line[:-1].decode())
                if line == b"E\n":
                    self.found.set()
        self.found.set()

    def read_errors(self):
        self.errors = self.process.stderr.read()

    def end(self):
        code = self.process.wait()
        for reader in self.readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def kill(self):
        self.process.kill()
        code = self.end()
        if code != -9:
            raise Mismatch(f"the child ended by itself with {code}:\n{self.errors.decode()[-4000:]}")


class Way:
    """One way of running, with a separate folder and model."""

    def __init__(self, test, name, options):
        self.test, self.name, self.options, self.disk = test, name, options, None
        self.dir = test.root / name.replace(" ", "-")
        self.dir.mkdir()
        self.model = Model()
        self.start_s = 0.2  # duration of a start, measured
        self.verified = self.snapshots = self.early = 0

    def command(self, folder, *extra):
        return [self.test.child, str(folder), "--seed", str(self.test.next_run()), *self.options,
                *extra]

    def let_run(self, child):
        """Wait until the moment of the kill."""
        began = time.monotonic()
        if self.test.random.random() < 0.25:
            time.sleep(self.test.random.uniform(0, self.start_s * 1.2))
            self.early += 0 if child.found.is_set() else 1
            return
        if not child.found.wait(START_PATIENCE_S):
            raise Mismatch("the child does not start")
        self.start_s = time.monotonic() - began
        time.sleep(self.test.random.uniform(0, self.test.work_s))

    def cycle(self):
        env = environment()
        if self.disk:
            self.disk.prepare(env)
        child = Child(self.command(self.dir), env)
        try:
            self.let_run(child)
        finally:
            child.kill()
        self.snapshots += len(re.findall(rb"msg=\"snapshot taken\"", child.errors))
        self.take_in(child.lines)
        if self.disk:
            self.disk.lose(self.test.random)

    def take_in(self, lines):
        """Compare the state that the child found, if it was printed completely. Then read the operations after it."""
        end = lines.index("E") if "E" in lines else None
        if end is None:
            return
        self.compare(Dump(lines[:end]))
        for line in lines[end + 1:]:
            self.model.hear(line, "--soon" in self.options)

    def compare(self, dump):
        self.model.resolve(dump)
        self.model.check(dump)
        self.verified += 1

    def dump(self, folder):
        child = Child(self.command(folder, "--dump"), environment())
        if child.end() != 0:
            raise Mismatch(f"the state cannot be opened:\n{child.errors.decode()[-4000:]}")
        return Dump(child.lines[:-1])

    def settle(self):
        """Compare once more, without a kill. Where the clock has no effect, compare also with the state that the log
        (or snapshot and log) alone produces."""
        copy = self.dir.with_name(self.dir.name + "-copy")
        shutil.copytree(self.dir, copy, ignore=shutil.ignore_patterns("state*"))
        alone = self.dump(copy)
        shutil.rmtree(copy)
        whole = self.dump(self.dir)
        self.compare(whole)
        if "--soon" not in self.options and sorted(alone.lines) != sorted(whole.lines):
            raise Mismatch(f"replayed {alone.head}, stored {whole.head}")


class Test:
    def __init__(self, args, root):
        self.child, self.root = args.child, root
        self.random = random.Random(args.seed)
        self.run = 0
        self.work_s = args.work_seconds

    def next_run(self):
        self.run += 1
        return self.run


def cycle_counts(total):
    """Return the number of cycles of each way: a quarter for the lossy disk, a third of the rest for each other way."""
    lossy = max(total // 4, 1)
    third = (total - lossy) // 3
    return [total - lossy - 2 * third, third, third, lossy]


def run_way(way, cycles):
    """Return the number of successful cycles, and whether all were successful."""
    for n in range(cycles):
        try:
            way.cycle()
            if (n + 1) % 6 == 0 or n + 1 == cycles:
                way.settle()
        except Mismatch as e:
            print(f"{way.name}: cycle {n + 1}: {e}")
            return n, False
    return cycles, True


def lossy_way(test, name, options, shim):
    way = Way(test, name, options)
    way.disk = lossy_disk.LossyDisk(shim, way.dir, test.root / f"{way.dir.name}.journal")
    return way


def careless_is_caught(way):
    for _ in range(CARELESS_TRIES):
        try:
            way.cycle()
        except Mismatch:
            return True
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--child", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--cycles", type=int, default=48)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)))
    parser.add_argument("--work-seconds", type=float, default=1.0)
    parser.add_argument("--keep", action="store_true", help="leave the folders where they are")
    args = parser.parse_args()
    print(f"seed {args.seed}", flush=True)
    root = pathlib.Path(tempfile.mkdtemp(prefix="corvo-crash-"))
    test = Test(args, root)
    small = ["--snapshot-bytes", "20000"]
    ways = [
        Way(test, "whole log", []),
        Way(test, "snapshots", small),
        Way(test, "soon", small + ["--soon"]),
    ]
    ways.append(lossy_way(test, "lossy disk", small, args.shim))
    passed = failed = 0
    for way, cycles in zip(ways, cycle_counts(args.cycles), strict=True):
        began = time.monotonic()
        fine, all_fine = run_way(way, cycles)
        passed += fine
        failed += 0 if all_fine else 1
        print(f"{way.name}: {fine} of {cycles} kills survived, {way.early} during start, "
              f"{way.snapshots} snapshots, {way.model.answered} operations answered, "
              f"{way.verified} comparisons of up to {len(way.model.jobs)} jobs, "
              f"{time.monotonic() - began:.1f} s", flush=True)
    lossy = ways[-1].disk
    print(f"lossy disk: {lossy.lost_writes} writes and {lossy.lost_names} names were at its mercy")
    if careless_is_caught(lossy_way(test, "careless", small + ["--careless"], args.shim)):
        passed += 1
    else:
        print("careless: an engine that does not flush was not caught")
        failed += 1
    if args.keep or failed:
        print(f"folders: {root}")
    else:
        shutil.rmtree(root)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
