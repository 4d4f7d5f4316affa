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
    """{(method, path)} of the resource manager's table, and the logs that node agents serve."""
    own = (ROOT / "src/process/rm/web_own.cc").read_text()
    routes = {(method, f"/{path}") for method, path in re.findall(r'\{"([A-Z]+)", "([^"]+)",', own)}
    logs = (ROOT / "src/process/nm/web.cc").read_text()
    described = re.search(r"/// /fairlead/v1(/logs/APPLICATION)\[(/CONTAINER/FILE)\]\nbool IsAppLogs", logs)
    return routes | {("GET", "/logs/{app}"), ("GET", "/logs/{app}/{container}/{file}")} if described else routes


def routes_of_the_document():
    return {(method.upper(), path) for path, methods in PATHS.items() for method in methods if method != "servers"}


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
