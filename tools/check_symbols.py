#!/usr/bin/env python3
"""Fail when two files of src/ have one name, or one exports a symbol that does not begin with it.

Takes the build folder. A file's one entry function may also have exactly the file's name; and what
a module's own header declares (engine_submit of engine/engine.h) may stand in any file of it.
"""
import pathlib
import subprocess
import sys

problems, seen = [], {}
for obj in sorted(pathlib.Path(sys.argv[1]).rglob("src/*/*.c.o")):
    stem, module = obj.name.removesuffix(".c.o"), obj.parent.name
    if seen.setdefault(stem, module) != module:
        problems.append(f"{module}/{stem}.c has the name of {seen[stem]}/{stem}.c")
    out = subprocess.run(["nm", "-g", "--defined-only", obj], capture_output=True, text=True, check=True)
    for symbol in (line.split()[-1] for line in out.stdout.splitlines()):
        if symbol != stem and not symbol.startswith((stem + "_", module + "_")):
            problems.append(f"{module}/{stem}.c exports {symbol}")
if not seen:
    problems.append(f"no object files below {sys.argv[1]}")
print("\n".join(problems), end="\n" if problems else "")
sys.exit(bool(problems))
