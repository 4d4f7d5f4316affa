#!/usr/bin/env python3
"""embed.py OUT FUNCTION VERSION [NAME=]FILE...: writes a C++ source with the files' bytes, looked up by FUNCTION (process/http/static_file.h).
Where a page says @VERSION@ it gets Fairlead's."""
import gzip
import hashlib
import pathlib
import sys

TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
         ".json": "application/json"}


def main():
    out, function, version, *names = sys.argv[1:]
    arrays, rows = [], []
    for number, word in enumerate(names):
        name, _, file = word.rpartition("=")
        path = pathlib.Path(file)
        data = path.read_bytes()
        if path.suffix == ".gz":
            path, data = path.with_suffix(""), gzip.decompress(data)
        if path.suffix == ".html":
            data = data.replace(b"@VERSION@", version.encode())
        arrays.append(f"constexpr char kFile{number}[] = {{{','.join(str(byte if byte < 128 else byte - 256) for byte in data)}}};")
        tag = hashlib.sha256(data).hexdigest()[:16]
        rows.append(f'    {{"{name or path.name}", "{TYPES[path.suffix]}", "\\"{tag}\\"", {{kFile{number}, sizeof(kFile{number})}}}},')
    space, _, bare = function.rpartition("::")
    pathlib.Path(out).write_text("\n".join([
        '#include "process/http/static_file.h"', "", f"namespace {space} {{", "namespace {", *arrays,
        "constexpr fairlead::process::http::StaticFile kFiles[] = {", *rows, "};", "}  // namespace", "",
        f"const fairlead::process::http::StaticFile* {bare}(std::string_view name) {{",
        "  for (const auto& file : kFiles) {", "    if (file.name == name) return &file;", "  }", "  return nullptr;", "}", "",
        f"}}  // namespace {space}", ""]))


if __name__ == "__main__":
    main()
