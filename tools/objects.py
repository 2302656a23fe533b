"""The symbols of the object files of src/, for check_symbols.py and check_circles.py."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def symbols(build):
    """Return the symbols that each source file defines, with their kinds, and those that it uses from other files:
    {path: ({symbol: kind}, {symbol})}. build is the build folder."""
    sources = {}
    for obj in sorted([*build.rglob("src/*/*.c.o"), *build.rglob("src/*/*/*.c.o")]):
        name = pathlib.Path(*obj.parts[obj.parts.index("src", len(build.parts)):]).with_suffix("")
        if (ROOT / name).exists():  # otherwise the source file was moved or removed
            sources[str(obj)] = name
    if not sources:
        sys.exit(f"no object files below {build}")
    found = {name: ({}, set()) for name in sources.values()}
    # One process for all files. A process for each takes twenty times as long.
    listing = subprocess.run(["nm", "-A", "-g", *sources], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        path, _, rest = line.partition(":")
        *address, kind, symbol = rest.split()
        defined, used = found[sources[path]]
        if address:
            defined[symbol] = kind
        else:
            used.add(symbol)
    return found
