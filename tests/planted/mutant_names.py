"""The names of mutants, by which tests/planted/equivalent.txt excuses them. mutate.py reads it, and tools.mutant_names tests
it; it needs no libclang."""
import collections

# One place: `text`[start:end] of the file becomes `changed` in the mutant. `line` is its line, `function` what it is in. It is
# the `ordinal`-th, from 1, of the `alike` places whose mutants have the same file, function, kind and text.
Site = collections.namedtuple("Site", "file start end line function kind original changed statement ordinal alike",
                              defaults=(1, 1))


def text_of(site):
    original, changed = " ".join(site.original.split()), " ".join(site.changed.split())
    return f"{site.file} | {site.function} | {site.kind} | {original} -> {changed}".rstrip()


def number(sites):
    """All sites of a file, in order, with their ordinals."""
    alike, numbered = collections.Counter(map(text_of, sites)), []
    seen = collections.Counter()
    for site in sorted(sites):
        text = text_of(site)
        seen[text] += 1
        numbered.append(site._replace(ordinal=seen[text], alike=alike[text]))
    return numbered


def key_of(site):
    """Names a mutant by its text, so that it keeps its name when other lines change. Where several are alike the name says
    which of how many it is: another one beside them takes their names away, and with them what excused one of them."""
    return text_of(site) + (f" | {site.ordinal} of {site.alike}" if site.alike > 1 else "")


def file_of(key):
    return key.split(" | ")[0]


def read_equivalent(text):
    """{key: reason}. A line: the mutant as the table names it, ' # ', and why no test can tell it from the original. What
    precedes the first empty line tells that to readers."""
    known = {}
    for line in text.partition("\n\n")[2].splitlines():
        key, mark, reason = line.partition(" # ")
        key, reason = key.strip(), reason.strip()
        if not mark or not key or not reason:
            raise ValueError(f"expected a mutant, ' # ' and the reason: {line}")
        if key in known:
            raise ValueError(f"two lines excuse one mutant: {key}")
        known[key] = reason
    return known


def stale(known, sites):
    """Keys that name none of the sites."""
    named = set(map(key_of, sites))
    return [key for key in known if key not in named]
