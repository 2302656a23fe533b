#!/usr/bin/env python3
"""Fail if a module has more files that call each other in circles than KNOWN allows.

The argument is the build folder. A file depends on another file if it calls a function of it. A table that only
lists functions of other files (routes, commands) is data and does not count. Files in a circle can only be
understood together. KNOWN contains the number of files in circles per module: each group is one object in several
files. The numbers may only decrease.
"""
import pathlib
import sys

sys.dont_write_bytecode = True  # leave no files behind in the source tree
from objects import symbols

KNOWN = {
    "binary": 5, "cluster": 4, "engine": 8, "http": 5,
    "kv": 3, "push": 4, "raftnet": 3, "relay": 2, "store": 2,
    "webhook": 2,
}


def reach(graph, start):
    """Return all files that can be reached from a file."""
    seen, todo = set(), [start]
    while todo:
        for other in graph[todo.pop()] - seen:
            seen.add(other)
            todo.append(other)
    return seen


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    files = symbols(build)
    home = {symbol: name for name, (defined, _) in files.items() for symbol, kind in defined.items() if kind == "T"}
    graph = {name: {home[s] for s in used if s in home and home[s].parts[1] == name.parts[1]} - {name}
             for name, (_, used) in files.items()}
    circles = {}
    for name in files:
        if name in reach(graph, name):
            circles.setdefault(name.parts[1], []).append(name.stem)
    problems = [f"src/{module}: {len(names)} files call each other in circles, at most {KNOWN.get(module, 0)}: "
                + " ".join(sorted(names)) for module, names in sorted(circles.items()) if len(names) > KNOWN.get(module, 0)]
    print("\n".join(problems), end="\n" if problems else "")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
