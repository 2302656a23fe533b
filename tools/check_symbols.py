#!/usr/bin/env python3
"""Fail if two files of src/ have the same name, or if a file exports a symbol without the file's prefix.

The argument is the build folder. Other names that a file may export: the exact name of the file; functions that
the module's own header declares (engine_submit of engine/engine.h); and, in files that begin with the same word
(machine_questions.c), functions that the header of that word declares (machine_next_tick of fsm/machine.h). Files
in a module's drawers (src/cli/top/) belong to the module.
"""
import pathlib
import sys

sys.dont_write_bytecode = True  # leave no files behind in the source tree
from objects import ROOT, symbols

problems, seen = [], {}
for source in sorted((ROOT / "src").rglob("*.c")):
    name = source.relative_to(ROOT)
    if seen.setdefault(source.name, name) != name:
        problems.append(f"{name} has the name of {seen[source.name]}")
for name, (defined, _) in symbols(pathlib.Path(sys.argv[1]).resolve()).items():
    stem, module = name.stem, name.parts[1]
    words = stem.split("_")
    bases = ["_".join(words[:i]) for i in range(1, len(words))]
    roofs = tuple(b + "_" for b in bases if (ROOT / name.parent / (b + ".h")).exists())
    for symbol in defined:
        if symbol.startswith("__odr_asan."):
            continue  # AddressSanitizer adds one for each variable
        if symbol != stem and not symbol.startswith((stem + "_", module + "_", *roofs)):
            problems.append(f"{name} exports {symbol}")
print("\n".join(problems), end="\n" if problems else "")
sys.exit(bool(problems))
