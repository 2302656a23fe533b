#!/usr/bin/env python3
"""Fail when two files of src/ have one name, or one exports a symbol that does not begin with it.

Takes the build folder. A file's one entry function may also have exactly the file's name; what a
module's own header declares (engine_submit of engine/engine.h) may stand in any file of it, and what
the header of a file's first word declares (machine_next_tick of fsm/machine.h) in any file that begins
with that word (machine_questions.c). The files of a module's drawers (src/cli/top/) are files of the
module.
"""
import pathlib
import subprocess
import sys

root, build = pathlib.Path(__file__).resolve().parent.parent, pathlib.Path(sys.argv[1])
problems, seen, looked_at = [], {}, 0
for source in sorted((root / "src").rglob("*.c")):
    name = source.relative_to(root)
    if seen.setdefault(source.name, name) != name:
        problems.append(f"{name} has the name of {seen[source.name]}")
for obj in sorted([*build.rglob("src/*/*.c.o"), *build.rglob("src/*/*/*.c.o")]):
    name = pathlib.Path(*obj.parts[obj.parts.index("src", len(build.parts)):]).with_suffix("")
    if not (root / name).exists():
        continue  # of a file that was moved or removed since
    looked_at += 1
    stem, module = name.stem, name.parts[1]
    words = stem.split("_")
    bases = ["_".join(words[:i]) for i in range(1, len(words))]
    roofs = tuple(b + "_" for b in bases if (root / name.parent / (b + ".h")).exists())
    out = subprocess.run(["nm", "-g", "--defined-only", obj], capture_output=True, text=True, check=True)
    for symbol in (line.split()[-1] for line in out.stdout.splitlines()):
        if symbol.startswith("__odr_asan."):
            continue  # AddressSanitizer's mark beside each variable
        if symbol != stem and not symbol.startswith((stem + "_", module + "_", *roofs)):
            problems.append(f"{name} exports {symbol}")
if looked_at == 0:
    problems.append(f"no object files below {build}")
print("\n".join(problems), end="\n" if problems else "")
sys.exit(bool(problems))
