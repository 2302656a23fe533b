#!/usr/bin/env python3
"""Fail if a file in src/ includes a header that src/LAYERS does not allow.

A module is a folder of src/. It may have drawers: subfolders, one level deep, which share the module's line in
LAYERS and the prefix of its names.
"""
import fnmatch
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent / "src"
modules, outside, guarded = {}, {}, set()
for line in (root / "LAYERS").read_text().splitlines():
    line = line.split("#")[0].strip()
    if not line:
        continue
    name, rest = line.split(":", 1)
    uses, _, headers = rest.partition("|")
    unknown = set(uses.split()) - set(modules)
    if unknown:
        sys.exit(f"LAYERS: {name} names {sorted(unknown)}, which is not above it")
    if not list((root / name).glob("*.c")):
        sys.exit(f"LAYERS: {name} is an empty room")
    modules[name] = set(uses.split()) | {name}
    outside[name] = headers.split()
    guarded |= set(headers.split())

problems = []
for path in sorted(root.rglob("*.[ch]")):
    module = path.relative_to(root).parts[0]
    if path.parent == root:
        continue  # main.c
    if module not in modules:
        problems.append(f"src/{module} is not in LAYERS")
        continue
    if len(path.relative_to(root).parts) > 3:
        problems.append(f"{path.relative_to(root.parent)}: a drawer has no drawers")
    for number, line in enumerate(path.read_text().splitlines(), 1):
        ours = re.match(r'#include "(\w+)/(?:\w+/)?(\w+)\.h"', line)
        theirs = re.match(r"#include <([^>]+)>", line)
        where = f"{path.relative_to(root.parent)}:{number}"
        if ours and ours[1] not in modules[module]:
            problems.append(f"{where}: {module} may not use {ours[1]}")
        elif ours and ours[1] != module and ours[2].endswith("_int"):
            problems.append(f"{where}: {ours[2]}.h belongs to {ours[1]} alone")
        elif theirs and any(fnmatch.fnmatch(theirs[1], g) for g in guarded) and not any(
                fnmatch.fnmatch(theirs[1], g) for g in outside[module]):
            problems.append(f"{where}: {module} may not include <{theirs[1]}>")
print("\n".join(problems), end="\n" if problems else "")
sys.exit(bool(problems))
