"""A parser of Prometheus' text format that is stricter than a scraper."""
import re

SAMPLE = re.compile(r'\A([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)\Z')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|\Z)')
SUFFIXES = ("_bucket", "_sum", "_count")


class Family:
    def __init__(self, name):
        self.name, self.help, self.type = name, None, None
        self.samples = {}  # (name, sorted labels) -> value

    def value(self, **labels):
        return self.samples[self.name, tuple(sorted(labels.items()))]

    def labels(self):
        """Return the names of its labels, without le."""
        return {tuple(key for key, _ in labels if key != "le") for _, labels in self.samples}


def labels_of(text):
    found, end = [], 0
    for match in LABEL.finditer(text):
        assert match.start() == end, f"labels that nobody can read: {text}"
        found.append(match.group(1, 2))
        end = match.end()
    assert end == len(text), f"labels that nobody can read: {text}"
    assert len({key for key, _ in found}) == len(found), f"a label twice: {text}"
    return tuple(sorted(found))


def check_histogram(family):
    """Require buckets that are cumulative and consistent, for each set of labels."""
    series = {}
    for (name, labels), value in family.samples.items():
        rest = tuple(pair for pair in labels if pair[0] != "le")
        series.setdefault(rest, {}).setdefault(name[len(family.name):], []).append((dict(labels).get("le"), value))
    for labels, parts in series.items():
        where = f"{family.name} {labels}"
        bounds = [float(bound) for bound, _ in parts["_bucket"]]
        counts = [count for _, count in parts["_bucket"]]
        assert bounds == sorted(set(bounds)) and bounds[-1] == float("inf"), f"bounds of {where}: {bounds}"
        assert counts == sorted(counts), f"buckets of {where} are not cumulative: {counts}"
        assert [count for _, count in parts["_count"]] == [counts[-1]], f"_count of {where} is not that of +Inf"
        assert len(parts["_sum"]) == 1, f"_sum of {where}"


def parse(text):
    """Return the families by name. Each must have one HELP, one TYPE and then all of its samples, without
    duplicates."""
    families, family = {}, None
    assert text.endswith("\n"), "the last line does not end"
    for line in text.splitlines():
        if line.startswith("# "):
            _, word, name, rest = line.split(" ", 3)
            if word == "HELP":
                assert name not in families, f"{name} comes again"
                family = families[name] = Family(name)
                family.help = rest
            else:
                assert (word, family.name, family.type) == ("TYPE", name, None) and not family.samples, line
                assert rest in ("counter", "gauge", "histogram"), line
                family.type = rest
            continue
        match = SAMPLE.match(line)
        assert match, f"a line that nobody can read: {line}"
        name, labels, value = match.group(1), labels_of(match.group(2) or ""), float(match.group(3))
        if family.type == "histogram":
            assert name in [family.name + suffix for suffix in SUFFIXES], f"{line} is among those of {family.name}"
        else:
            assert name == family.name, f"{line} is among those of {family.name}"
        assert (name, labels) not in family.samples, f"twice: {line}"
        assert family.type == "gauge" or value >= 0, line
        family.samples[name, labels] = value
    for family in families.values():
        assert family.type is not None, f"{family.name} has no TYPE"
        if family.type == "histogram":
            check_histogram(family)
    return families
