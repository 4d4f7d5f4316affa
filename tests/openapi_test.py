#!/usr/bin/env python3
"""Every route of /fairlead/v1 in the code stands in web/rm/openapi.json, and the other way round. What they answer is compared by
process/commands_test.py."""
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATHS = json.loads((ROOT / "web/rm/openapi.json").read_text())["paths"]


def routes_of_the_code():
    """{(method, first word, last fixed word or None)} as the two daemons' dispatchers compare them."""
    own = (ROOT / "src/process/rm/web_own.cc").read_text()
    own = own[own.index("void Web::Own("):own.index("Document Web::OwnCluster")]
    routes = set()
    for condition in re.findall(r"if \((what == .*?)\) (?:return|\{)", own, re.S):
        what = re.search(r'what == "([\w.-]+)"', condition).group(1)
        method = re.search(r'request\.method == "(\w+)"', condition)
        fixed = re.search(r'path\[\d\] == "(\w+)"', condition)
        routes.add((method.group(1) if method else "GET", what, fixed.group(1) if fixed else None))
    logs = (ROOT / "src/process/nm/web.cc").read_text()
    routes.update(("GET", word, None) for word in re.findall(r'path\[1\] == "v1" && path\[2\] == "(\w+)"', logs) if word != "node")
    return routes


def routes_of_the_document():
    routes = set()
    for path, methods in PATHS.items():
        words = path.strip("/").split("/")
        fixed = words[-1] if len(words) > 1 and not words[-1].startswith("{") else None
        routes.update((method.upper(), words[0], fixed) for method in methods if method in ("get", "put", "post", "delete"))
    return routes


class OpenApi(unittest.TestCase):
    def test_code_and_document_have_the_same_routes(self):
        self.assertGreater(len(routes_of_the_code()), 8)
        self.assertEqual(routes_of_the_code(), routes_of_the_document())

    def test_each_name_in_a_path_is_a_parameter(self):
        for path, methods in PATHS.items():
            for method in (value for name, value in methods.items() if name != "servers"):
                named = {one["name"] for one in method.get("parameters", []) if one["in"] == "path"}
                self.assertEqual(named, set(re.findall(r"{(\w+)}", path)), path)


if __name__ == "__main__":
    unittest.main()
