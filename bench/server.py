#!/usr/bin/env python3
"""Compare Corvo over HTTP with beanstalkd, each in a separate server process, with the same load generator.

  server.py [FOLDER [SECONDS [ROUNDS]]]   FOLDER: with the executables

The servers take turns in rounds, so that a slow moment of the machine affects both. Prints rates, and the
medians of the ratios within each round. For the overload, eight times as many clients send twice as many
requests per second as the batches measurement reached. The server then admits as many writes at a time as
there were clients before.
"""
import pathlib
import shutil
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True  # leave no files behind in the source tree
import latency
from lib.calm import Calm
from lib.running import free_port, output, running

CONNECTIONS, BATCH = 256, 100
OVERLOAD_CLIENTS, OVERLOAD_RATE = 8, 2


class Bench:
    def __init__(self, folder, seconds):
        self.folder, self.seconds = folder, seconds
        self.corvo = folder.parent / "corvo"
        self.memory_mib = 0.0

    def load(self, port, mode, clients=CONNECTIONS, requests_per_second=0):
        line = output(self.folder / "load_bench", mode, str(port), str(clients), str(self.seconds), "0",
                      str(requests_per_second))
        return float(line.split("connections")[1].split()[0])

    def corvo_rate(self, work, mode, flags=(), **load):
        port = free_port()
        with running(work, port, self.corvo, "server", "--bind", f"127.0.0.1:{port}", "--data-dir", f"{work}/data",
                     "--rate-limit-enabled=false", "--log-level", "error", *flags) as process:
            rate = self.load(port, mode, **load)
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        self.memory_mib = max(self.memory_mib, int(status.split("VmHWM:")[1].split()[0]) / 1024)
        return rate

    def beanstalkd_rate(self, work, mode, flags=()):
        port = free_port()
        with running(work, port, "beanstalkd", "-l", "127.0.0.1", "-p", str(port), *flags):
            return self.load(port, mode)


# How each rate is measured: the bench, a new folder, and the rates of the round so far.
RATES = {
    "enqueue": lambda b, work, _: b.corvo_rate(work, "corvo-enqueue"),
    "beanstalkd put": lambda b, work, _: b.beanstalkd_rate(work, "beanstalk-put"),
    "beanstalkd put, fsync": lambda b, work, _: b.beanstalkd_rate(work, "beanstalk-put", ("-b", work, "-f0")),
    "batches": lambda b, work, _: b.corvo_rate(work, "corvo-batch"),
    "batches, overload": lambda b, work, rates: b.corvo_rate(
        work, "corvo-batch", ("--raft-max-pending", str(CONNECTIONS)), clients=CONNECTIONS * OVERLOAD_CLIENTS,
        requests_per_second=int(rates["batches"] / BATCH * OVERLOAD_RATE)),
    "lifecycle": lambda b, work, _: b.corvo_rate(work, "corvo-lifecycle"),
    "lifecycle, next": lambda b, work, _: b.corvo_rate(work, "corvo-next"),
    "beanstalkd lifecycle": lambda b, work, _: b.beanstalkd_rate(work, "beanstalk-lifecycle"),
}

RATIOS = [
    ("durable enqueue / beanstalkd put in memory", "enqueue", "beanstalkd put", 0.95),
    ("durable enqueue / beanstalkd put with fsync", "enqueue", "beanstalkd put, fsync", 7),
    ("durable lifecycle / beanstalkd's in memory", "lifecycle", "beanstalkd lifecycle", 0.6),
    ("durable lifecycle with next / beanstalkd's in memory", "lifecycle, next", "beanstalkd lifecycle", 1.0),
    ("goodput at twice the rate of the peak / peak", "batches, overload", "batches", 0.9),
]


def one_round(bench, calm):
    rates = {}
    for name, measure in RATES.items():
        def once():
            work = tempfile.mkdtemp(prefix="corvo-bench-")
            try:
                return measure(bench, work, rates)
            finally:
                shutil.rmtree(work)
        rates[name] = calm.measure(once, lambda rate: f"  {name:<22} {rate:>8.0f} jobs/s")
    return rates


def report(rounds, memory_mib):
    print(f"\nmedians of {len(rounds)} rounds")
    for title, ours, theirs, wanted in RATIOS:
        ratios = [rates[ours] / rates[theirs] for rates in rounds]
        print(f"{title:<50} {statistics.median(ratios):>8.2f}  (wanted {wanted}; rounds {min(ratios):.2f} to "
              f"{max(ratios):.2f})")
    batches = statistics.median(rates["batches"] for rates in rounds)
    print(f"{'durable enqueue in batches of 100, jobs/s':<50} {batches:>8.0f}  (wanted 300000)")
    print(f"{'peak memory of the server, MiB':<50} {memory_mib:>8.0f}")


def main():
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here / "../build/release/bench").resolve()
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 15
    if shutil.which("beanstalkd") is None:
        sys.exit("beanstalkd is not installed: make deps")
    bench, calm, done = Bench(folder, seconds), Calm(rounds * len(RATES)), []
    for number in range(1, rounds + 1):
        print(f"round {number} of {rounds}, {CONNECTIONS} connections, {seconds} s each", flush=True)
        done.append(one_round(bench, calm))
    report(done, bench.memory_mib)
    calm.report()
    print()
    latency.measure(bench.corvo)


if __name__ == "__main__":
    main()
