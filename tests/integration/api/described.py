"""Check that responses match the server's OpenAPI document.

Every response of every black-box test is checked here. A successful JSON response must match the schema of
its operation and status in /openapi.json: required members are present, and unknown members are not. So code
generated from the document can rely on it.
"""
import json
import re
import urllib.parse

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}
TIME = re.compile(r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z\Z")


class Description:
    """The OpenAPI document of one build of the server, read once."""

    def __init__(self, document):
        self.document = document
        self.literal, self.patterns = {}, []
        for path, item in document["paths"].items():
            if "{" in path:
                segments = [None if s.startswith("{") else s for s in path.split("/")]
                self.patterns.append((segments, item))
            else:
                self.literal[path] = item

    def operation(self, method, target):
        path = urllib.parse.urlsplit(target).path
        item = self.literal.get(path)
        if item is None:
            parts = path.split("/")
            fits = [(segments, item) for segments, item in self.patterns
                    if len(segments) == len(parts)
                    and all(s in (None, p) for s, p in zip(segments, parts))]
            item = min(fits, key=lambda fit: [s is None for s in fit[0]])[1] if fits else {}
        return item.get(method.lower())

    def check(self, method, target, status, body):
        """Fail if the response does not match its description."""
        operation = self.operation(method, target)
        if operation is None:
            return
        answer = operation["responses"].get(str(status))
        if answer is None:
            raise AssertionError(f"{method} {target}: status {status} is not described")
        schema = answer.get("content", {}).get("application/json", {}).get("schema")
        if schema is None:
            raise AssertionError(f"{method} {target}: JSON at {status} is not described")
        where = f"{method} {target} {status}"
        self.fits(schema, json.loads(body), where)

    def follow(self, schema):
        while "$ref" in schema:
            node = self.document
            for part in schema["$ref"][2:].split("/"):
                node = node[part]
            schema = node
        return schema

    def fits(self, schema, value, where):
        schema = self.follow(schema)
        if "anyOf" in schema:
            self.fits_any(schema["anyOf"], value, where)
            return
        types = schema.get("type", [])
        types = [types] if isinstance(types, str) else types
        if types and not any(TYPES[t](value) for t in types):
            raise AssertionError(f"{where} is {value!r}, which is no {' or '.join(types)}")
        if "enum" in schema and value not in schema["enum"]:
            raise AssertionError(f"{where} is {value!r}, which is none of {schema['enum']}")
        if schema.get("format") == "date-time" and value is not None and not TIME.match(value):
            raise AssertionError(f"{where} is {value!r}, which is no time")
        if isinstance(value, dict):
            self.members_fit(schema, value, where)
        elif isinstance(value, list) and "items" in schema:
            for i, item in enumerate(value):
                self.fits(schema["items"], item, f"{where}[{i}]")

    def fits_any(self, schemas, value, where):
        failures = []
        for schema in schemas:
            try:
                self.fits(schema, value, where)
                return
            except AssertionError as failure:
                failures.append(str(failure))
        raise AssertionError("; or ".join(failures))

    def members_fit(self, schema, value, where):
        known, others = schema.get("properties"), schema.get("additionalProperties")
        for name in schema.get("required", []):
            if name not in value:
                raise AssertionError(f"{where} has no {name}")
        for name, member in value.items():
            if known is not None and name in known:
                self.fits(known[name], member, f"{where}.{name}")
            elif isinstance(others, dict):
                self.fits(others, member, f"{where}.{name}")
            elif known is not None:
                raise AssertionError(f"{where} has {name}, which is not described")
