#!/usr/bin/env python3
"""Embed the built web interface in a C file.

    embed_assets.py DIST ABSENT.html OUT.gen.c [HEADER NAME]

DIST is the folder with the built interface. A file may have compressed forms next to it, FILE.gz and
FILE.br. If there is no DIST/index.html, ABSENT.html is embedded instead. The table is ui_table of
ui/ui_table_int.h, or NAME of HEADER.
"""
import hashlib
import pathlib
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
COMPRESSED = (".gz", ".br")
BYTES_PER_LINE = 32


def literal(data):
    """Return a C string with every byte in octal, so that no byte needs special treatment."""
    lines = []
    for at in range(0, len(data), BYTES_PER_LINE):
        lines.append('    "' + "".join(f"\\{b:03o}" for b in data[at:at + BYTES_PER_LINE]) + '"')
    return "\n".join(lines) or '    ""'


def forms(path):
    """Return the file's content and its compressed forms. A form is empty if it is missing or not smaller."""
    plain = path.read_bytes()
    out = [plain]
    for suffix in COMPRESSED:
        other = path.with_name(path.name + suffix)
        data = other.read_bytes() if other.exists() else b""
        out.append(data if len(data) < len(plain) else b"")
    return out


def assets(dist, absent):
    index = dist / "index.html"
    if not index.exists():
        return [("index.html", absent)]
    found = [p for p in dist.rglob("*") if p.is_file() and p.suffix not in COMPRESSED]
    return sorted(((p.relative_to(dist).as_posix(), p) for p in found),
                  key=lambda item: item[0].encode())


def main():
    dist, absent, out = (pathlib.Path(a) for a in sys.argv[1:4])
    header, name_of_table = sys.argv[4:6] if len(sys.argv) > 4 else ("ui/ui_table_int.h", "ui_table")
    strings, rows = [], []
    found = assets(dist, absent)
    for number, (name, path) in enumerate(found):
        if path.suffix not in TYPES:
            sys.exit(f"embed_assets.py: {name}: no media type is known for it")
        parts = forms(path)
        views = []
        for form, data in zip(("plain", "gzip", "brotli"), parts):
            if data or form == "plain":
                strings.append(f"static const char {form}_{number}[] =\n{literal(data)};\n")
                views.append(f".{form} = {{{form}_{number}, sizeof {form}_{number} - 1}}")
        etag = hashlib.sha256(parts[0]).hexdigest()[:20]
        rows.append("    {" + ",\n     ".join(
            [f'.path = {{"{name}", {len(name)}}}',
             f'.type = {{"{TYPES[path.suffix]}", {len(TYPES[path.suffix])}}}',
             f'.etag = {{"W/\\"{etag}\\"", {len(etag) + 4}}}', *views]) + "},")
    built = "true" if (dist / "index.html").exists() else "false"
    text = "\n".join(["/* Made by tools/embed_assets.py. */", f'#include "{header}"', "",
                      *strings, f"const struct ui_asset {name_of_table}_rows[] = {{", *rows, "};",
                      f"const size_t {name_of_table}_count = {len(rows)};",
                      f"const bool {name_of_table}_built = {built};", ""])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(text, encoding="ascii")


main()
