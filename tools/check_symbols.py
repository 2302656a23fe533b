#!/usr/bin/env python3
"""Fail if two files of src/ have the same name, or if a file exports a symbol without the file's prefix.

The argument is the build folder. Other names that a file may export: the exact name of the file; functions that
the module's own header declares (engine_submit of engine/engine.h); and, in files that begin with the same word
(machine_questions.c), functions that the header of that word declares (machine_next_tick of fsm/machine.h). Files
in a module's drawers (src/cli/top/) belong to the module.
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
        continue  # the source file was moved or removed
    looked_at += 1
    stem, module = name.stem, name.parts[1]
    words = stem.split("_")
    bases = ["_".join(words[:i]) for i in range(1, len(words))]
    roofs = tuple(b + "_" for b in bases if (root / name.parent / (b + ".h")).exists())
    out = subprocess.run(["nm", "-g", "--defined-only", obj], capture_output=True, text=True, check=True)
    for symbol in (line.split()[-1] for line in out.stdout.splitlines()):
        if symbol.startswith("__odr_asan."):
            continue  # AddressSanitizer adds one for each variable
        if symbol != stem and not symbol.startswith((stem + "_", module + "_", *roofs)):
            problems.append(f"{name} exports {symbol}")
if looked_at == 0:
    problems.append(f"no object files below {build}")
print("\n".join(problems), end="\n" if problems else "")
sys.exit(bool(problems))
