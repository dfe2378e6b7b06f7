"""Checks the links of the built site: every file and every anchor that a page names is there. External addresses are
not opened; their form is checked. build_site.py calls check()."""

import html.parser
import pathlib
import re
import urllib.parse

EXTERNAL = re.compile(r"https?://[a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+(:\d+)?(/[^\s<>\"]*)?(#\S*)?")


class Reader(html.parser.HTMLParser):
    """The anchors of a page, and what it refers to."""

    def __init__(self):
        super().__init__()
        self.anchors, self.targets = set(), []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(value for key, value in attributes if key in ("id", "name") and value)
        if tag == "a" and values.get("href"):
            self.targets.append(values["href"])
        if tag in ("img", "script") and values.get("src"):
            self.targets.append(values["src"])
        if tag == "link" and values.get("rel") != "canonical" and values.get("href"):
            self.targets.append(values["href"])


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def check(site):
    """What is wrong, a line for each link."""
    site = pathlib.Path(site)
    pages = {path.resolve(): read(path) for path in site.rglob("*.html") if path.name != "404.html"}
    wrong, seen = [], 0
    for path, page in sorted(pages.items()):
        for target in dict.fromkeys(page.targets):
            seen += 1
            fault = broken(path, target, pages)
            if fault:
                wrong.append("%s: link to '%s': %s" % (path.relative_to(site.resolve()), target, fault))
    return wrong, seen


def broken(path, target, pages):
    """Why a link leads nowhere; None for one that is right."""
    if target.startswith(("mailto:", "data:", "javascript:")):
        return None
    if re.match(r"[a-z]+:|//", target):
        return None if EXTERNAL.fullmatch(target) else "expected an address like https://host.name/path"
    place, _, anchor = target.partition("#")
    place = urllib.parse.unquote(place.split("?")[0])
    if place.startswith("/"):
        return "expected a relative link: the site may be served from any folder"
    aim = (path.parent / place).resolve() if place else path
    aim = aim / "index.html" if aim.is_dir() else aim
    if not aim.exists():
        return "there is no such file"
    if anchor and aim in pages and urllib.parse.unquote(anchor) not in pages[aim].anchors:
        return "the page has no such anchor"
    return None
