#!/usr/bin/env python3
"""A rolling upgrade from an earlier version to this one, under load.

  upgrade.py --binary build/release/corvo --before COMMIT [--work build/before]

Builds the earlier commit (once), starts three nodes of it and clients with a ledger, and restarts the nodes
with this version, one after another, followers first. Leadership moves between nodes while the versions are
mixed. Then all results that the clients received must be true on every node, as after a round of chaos. At
the end one node is restarted with the earlier version. The output shows whether that works or is refused.
Neither may harm the cluster.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import chaos  # noqa: E402
import network  # noqa: E402
from ledger import Ledger  # noqa: E402
from nemeses import FEW, SOME  # noqa: E402
from nodes import Nodes, until  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]


def full_name(commit):
    return subprocess.run(["git", "-C", ROOT, "rev-parse", "--verify", f"{commit}^{{commit}}"], check=True,
                          capture_output=True, text=True).stdout.strip()


def build(commit, work):
    """Build the server of the commit, without the web interface, which is not needed. Returns its path."""
    folder = work / commit[:12]
    source, made, program = folder / "source", folder / "made", folder / "corvo"
    if program.exists():
        return program
    print(f"upgrade: building {commit[:12]} in {folder}", flush=True)
    shutil.rmtree(source, ignore_errors=True)
    source.mkdir(parents=True)
    archive = subprocess.Popen(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", source], stdin=archive.stdout, check=True)
    if archive.wait() != 0:
        sys.exit(f"upgrade: git archive {commit} failed")
    env = {**os.environ, "CCACHE_BASEDIR": str(source), "CCACHE_NOHASHDIR": "1"}
    launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    subprocess.run(["cmake", "-S", source, "-B", made, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                    "-DCORVO_NPM=OFF", *launcher], env=env, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", made, "--target", "corvo"], env=env, check=True)
    shutil.copy2(made / "corvo", folder / "corvo.new")
    os.replace(folder / "corvo.new", program)
    return program


def versions(nodes):
    names = [subprocess.run([node.binary, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
             for node in nodes.nodes]
    return ", ".join(f"{node.name}: {name}" for node, name in zip(nodes.nodes, names))


def restart(nodes, node, binary):
    """Stop the node as an operator would, and start it with the other program."""
    code = node.terminate()
    assert code == 0, f"{node.name} ended with {code}"
    node.binary = binary
    node.start()


def caught_up(nodes, node):
    """True if the node serves clients and the leader reports it as a healthy voter."""
    row = nodes.members().get(node.name, {})
    return node.answers() and row.get("voter") and row.get("status") == "healthy"


def move_leadership(nodes, ledger):
    """Transfer leadership twice, so that each version leads."""
    for _ in range(2):
        nodes.leader().call("POST", "/api/v1/cluster/transfer", {})
        ledger.more(FEW)


def forward(nodes, ledger, binary):
    ledger.start()
    try:
        ledger.more(SOME)
        for node in [*nodes.followers(), nodes.leader()]:
            began = time.monotonic()
            restart(nodes, node, binary)
            until(lambda node=node: caught_up(nodes, node))
            print(f"  {node.name} restarted in {time.monotonic() - began:.1f} s", flush=True)
            move_leadership(nodes, ledger)
            ledger.more(SOME)
    finally:
        ledger.stop()


def back(nodes, ledger, before, binary):
    """Restart a node with the earlier version. Returns what happens to it."""
    victim = nodes.followers()[0]
    ledger.start()
    try:
        ledger.more(FEW)
        restart(nodes, victim, before)

        def outcome():
            if not victim.is_running():
                return f"it refuses to start: {last_words(victim)}"
            row = nodes.members().get(victim.name, {})
            if row.get("status") in ("outdated", "quarantined"):
                return f"it takes no part: its status is {row['status']}"
            return "it works" if caught_up(nodes, victim) else None
        said = until(outcome)
        ledger.more(SOME)  # the other nodes continue in any case
    finally:
        ledger.stop()
    if said == "it works":
        report(nodes, ledger, "one node with the earlier version again")
        restart(nodes, victim, binary)
    else:
        if victim.is_running():
            victim.terminate()
        victim.binary = binary
        victim.start()
    return said


def work(nodes, ledger):
    """Let clients write while all nodes vote, because a state hash covers only what was applied since the start."""
    until(nodes.all_vote)
    ledger.start()
    try:
        ledger.more(FEW)
    finally:
        ledger.stop()


def last_words(node):
    return node.log.read_text(errors="replace").strip().splitlines()[-1][:300]


def report(nodes, ledger, what):
    jobs, wrong = chaos.check(nodes, ledger)
    assert not wrong, f"{what}:\n" + "\n".join(wrong[:20])
    counts = ", ".join(f"{count} {word}" for word, count in sorted(ledger.counts.items(), key=str))
    print(f"  {what}: {jobs} jobs, all as they should be; {counts}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--binary", required=True, type=pathlib.Path)
    parser.add_argument("--before", required=True, help="commit of the earlier version")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/before")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--network", choices=["namespaces", "proxies"])
    options = parser.parse_args()
    before, binary = build(full_name(options.before), options.work.resolve()), options.binary.resolve()
    network.enter(options.network)
    print(f"upgrade: from {options.before}, seed {options.seed}", flush=True)
    with Nodes(before) as nodes:
        ledger = Ledger(nodes.nodes, options.seed)
        print(f"  {versions(nodes)}", flush=True)
        forward(nodes, ledger, binary)
        print(f"  {versions(nodes)}", flush=True)
        report(nodes, ledger, "after the upgrade")
        said = back(nodes, ledger, before, binary)
        work(nodes, ledger)
        report(nodes, ledger, "after the way back and forth")
    print(f"upgrade: passed. Back to {options.before}: {said}.")


if __name__ == "__main__":
    main()
