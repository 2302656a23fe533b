#!/usr/bin/env python3
"""Embed a page, with its style and its script inlined, in a C file.

    embed_page.py PAGE.html STYLE.css SCRIPT.js SYMBOL HEADER OUT.gen.c

The page contains the placeholders {{style}} and {{script}}. The C file also has the
Content-Security-Policy that allows exactly this style and this script.
"""
import base64
import hashlib
import pathlib
import sys

html, css, js, symbol, header, out = sys.argv[1:]


def read(name):
    return pathlib.Path(name).read_text(encoding="utf-8")


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def literal(text):
    """Return a C string with one line of the text per line, and bytes outside ASCII in octal."""
    lines = []
    for line in text.splitlines(keepends=True):
        escaped = "".join(
            {10: "\\n", 34: '\\"', 92: "\\\\", 63: "\\?"}.get(b, chr(b) if 32 <= b < 127 else f"\\{b:03o}")
            for b in line.encode())
        lines.append(f'    "{escaped}"')
    return "\n".join(lines)


style, script = read(css), read(js)
for inner, end in ((style, "</style"), (script, "</script")):
    if end in inner:
        sys.exit(f"embed_page.py: {end} would end the element that it is put into")
page = read(html).replace("{{style}}", style).replace("{{script}}", script)
policy = (f"default-src 'none'; connect-src 'self'; style-src {digest(style)}; script-src {digest(script)}; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
pathlib.Path(out).parent.mkdir(parents=True, exist_ok=True)
pathlib.Path(out).write_text(f"""/* Made by tools/embed_page.py from {", ".join(pathlib.Path(p).name for p in (html, css, js))}. */
#include "{header}"

static const char page[] =
{literal(page)};

const struct str {symbol} = {{.ptr = page, .len = sizeof page - 1}};

const char {symbol}_policy[] = "{policy}";
""", encoding="utf-8")
