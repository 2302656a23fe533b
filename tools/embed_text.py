#!/usr/bin/env python3
"""Embed a text file in a C file.

    embed_text.py FILE SYMBOL HEADER OUT.gen.c
"""
import pathlib
import sys

source, symbol, header, out = sys.argv[1:]
ESCAPED = {ord("\n"): "\\n", ord('"'): '\\"', ord("\\"): "\\\\", ord("?"): "\\?"}
lines = ["".join(ESCAPED.get(b, chr(b) if 32 <= b < 127 else f"\\{b:03o}") for b in line)
         for line in pathlib.Path(source).read_bytes().splitlines(keepends=True)]
text = "\n".join(f'    "{line}"' for line in lines)
pathlib.Path(out).parent.mkdir(parents=True, exist_ok=True)
pathlib.Path(out).write_text(f"""/* Made by tools/embed_text.py from {pathlib.Path(source).name}. */
#include "{header}"

static const char text[] =
{text};

const struct str {symbol} = {{.ptr = text, .len = sizeof text - 1}};
""", encoding="ascii")
