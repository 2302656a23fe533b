"""Faults while clients work. Each function causes one fault, waits until it has had an effect and clients
are served again where possible, and repairs it.

The functions wait for events: for another leader, and for a number of further acknowledged writes
(ledger.more). So each of them also asserts that a cluster with a majority continues to work.
"""
from nodes import until

FEW, SOME = 60, 250  # acknowledged writes


def another_leads(nodes, old):
    """Wait until the other nodes have a leader, even if the old one still believes that it leads."""
    def another_leader():
        return any(node.is_running() and not node.stopped and node.leads() for node in nodes.others(old))
    until(another_leader)


def kill_leader(nodes, ledger, chance):
    victim = nodes.leader()
    victim.kill()
    another_leads(nodes, victim)
    ledger.more(SOME)
    victim.start()


def kill_follower(nodes, ledger, chance):
    victim = chance.choice(nodes.followers())
    victim.kill()
    ledger.more(SOME)
    victim.start()


def kill_all(nodes, ledger, chance):
    for node in nodes.nodes:
        node.kill()
    for node in chance.sample(nodes.nodes, len(nodes.nodes)):
        node.start()
    ledger.more(FEW)


def stop_leader_gracefully(nodes, ledger, chance):
    victim = nodes.leader()
    code = victim.terminate()
    assert code == 0, f"{victim.name} ended with {code}"
    ledger.more(SOME)
    victim.start()


def pause_leader(nodes, ledger, chance):
    victim = nodes.leader()
    victim.pause()
    another_leads(nodes, victim)
    ledger.more(FEW)
    victim.go_on()


def pause_follower(nodes, ledger, chance):
    victim = chance.choice(nodes.followers())
    victim.pause()
    ledger.more(FEW)
    victim.go_on()


def isolate_leader(nodes, ledger, chance):
    victim = nodes.leader()
    nodes.isolate(victim)
    another_leads(nodes, victim)
    until(lambda: not victim.leads())
    ledger.more(FEW)
    nodes.heal()


def mute_leader(nodes, ledger, chance):
    """The leader receives from the others, but its messages do not arrive."""
    victim = nodes.leader()
    nodes.isolate(victim, hears=True)
    another_leads(nodes, victim)
    ledger.more(FEW)
    nodes.heal()


def deafen_leader(nodes, ledger, chance):
    """The others receive from the leader, but their messages do not arrive."""
    victim = nodes.leader()
    nodes.isolate(victim, sends=True)
    another_leads(nodes, victim)
    ledger.more(FEW)
    nodes.heal()


def isolate_follower(nodes, ledger, chance):
    nodes.isolate(chance.choice(nodes.followers()))
    ledger.more(SOME)
    nodes.heal()


def one_way(nodes, ledger, chance):
    nodes.cut_one_way(chance)
    ledger.more(SOME)
    nodes.heal()


def separate_all(nodes, ledger, chance):
    for node in nodes.nodes:
        nodes.isolate(node)
    until(lambda: not any(node.leads() for node in nodes.nodes))
    nodes.heal()


def flapping(nodes, ledger, chance):
    """Cut and heal repeatedly: packets are lost in bursts."""
    for _ in range(8):
        nodes.cut_one_way(chance)
        ledger.more(FEW // 4)
        nodes.heal()
        ledger.more(FEW // 4)


def beside(nodes, chance):
    """Sometimes add a second fault that does not keep nodes from working. Returns its name or None. mend() ends it."""
    which = chance.choice([None, None, None, "wrong clocks", "slow disks"])
    for node in nodes.every:
        if which == "wrong clocks":
            node.trouble(clock_s=chance.uniform(-120, 120))
        elif which == "slow disks":
            node.trouble(disk_s=chance.choice([0, 0.001, 0.004]))
    return which


def mend(nodes):
    for node in nodes.every:
        node.trouble()


def slow_disk(nodes, ledger, chance):
    victim = chance.choice(nodes.nodes)
    seconds, writes = chance.choice([(0.005, FEW), (0.05, FEW // 4), (0.4, 3), (1.5, 3)])
    victim.trouble(disk_s=seconds)
    ledger.more(writes)
    victim.trouble()


def full_disk(nodes, ledger, chance):
    """Fill the disk, almost or completely. The node refuses writes or exits, but loses nothing."""
    victim = chance.choice(nodes.nodes)
    victim.disk.fill(chance.choice([0, 1 << 20, 12 << 20, 40 << 20]))

    def is_full():
        try:
            return not victim.is_running() or victim.status()["space"]["level"] != "ok"
        except (OSError, KeyError, TypeError):
            return False
    until(is_full)
    if not (victim.is_running() and victim.leads()):
        ledger.more(FEW)
    victim.disk.empty()
    if not victim.is_running():
        ledger.counts["nodes ended by a full disk"] += 1
        victim.start()

    def has_space():
        try:
            return victim.status()["space"]["level"] == "ok"
        except (OSError, KeyError, TypeError):
            return False
    until(has_space)


def skew_clocks(nodes, ledger, chance):
    for _ in range(2):
        for node in nodes.nodes:
            node.trouble(clock_s=chance.uniform(-120, 120))
        ledger.more(FEW)
        nodes.leader().call("POST", "/api/v1/cluster/transfer", {})
        ledger.more(FEW)
    mend(nodes)
    ledger.more(FEW)


def transfer(nodes, ledger, chance):
    for _ in range(3):
        nodes.leader().call("POST", "/api/v1/cluster/transfer", {})
        ledger.more(FEW)


def add_and_remove(nodes, ledger, chance):
    """A fourth node joins, serves, and is removed."""
    new = nodes.spare
    new.start(join=nodes.leader().url)
    until(lambda: nodes.members().get(new.name, {}).get("voter"))
    until(new.answers)
    nodes.nodes.append(new)
    ledger.more(SOME)
    if chance.random() < 0.5:
        nodes.leader().kill() if nodes.leader() is new else chance.choice(nodes.others(new)).kill()
        ledger.more(FEW)
        for node in nodes.nodes:
            if not node.is_running():
                node.start()
    remove(nodes, new)
    new.kill()
    nodes.nodes.remove(new)
    ledger.more(FEW)
    new.forget()


def remove(nodes, node):
    """Remove the node. Retries until it is not in the list any more, because a leader that lost its leadership may
    not have done it."""
    def removed():
        asked = leader_of_others(nodes, node)
        if asked is None or node.name not in nodes_of(asked):
            return asked is not None
        try:
            asked.call("DELETE", f"/api/v1/cluster/nodes/{node.name}", timeout=10)
        except OSError:
            pass
        return False
    until(removed, pause=0.2)


def leader_of_others(nodes, node):
    """Return the leader among the other nodes, or else any of them, because it forwards requests."""
    others = [n for n in nodes.others(node) if n.is_running()]
    return next((n for n in others if n.leads()), None) or next((n for n in others if n.answers()), None)


def nodes_of(asked):
    try:
        return {row["id"] for row in asked.status()["nodes"]}
    except (OSError, KeyError):
        return set()


def replace(nodes, ledger, victim):
    """Remove the node, delete its data, and let it join again under its name."""
    remove(nodes, victim)
    ledger.more(FEW)
    victim.kill()
    victim.forget()
    victim.start(join=",".join(node.url for node in nodes.others(victim)))
    until(nodes.all_vote)
    ledger.more(FEW)


def replace_follower(nodes, ledger, chance):
    replace(nodes, ledger, chance.choice(nodes.followers()))


def replace_leader(nodes, ledger, chance):
    replace(nodes, ledger, nodes.leader())


NEMESES = [kill_leader, transfer, pause_leader, isolate_leader, kill_follower, one_way, full_disk,
           stop_leader_gracefully, isolate_follower, skew_clocks, mute_leader, add_and_remove, kill_all,
           deafen_leader, slow_disk, pause_follower, replace_follower, separate_all, flapping, replace_leader]
