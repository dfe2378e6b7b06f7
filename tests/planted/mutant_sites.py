"""Places in C files where a mutant can be, found in the syntax tree of libclang. mutate.py chooses among them."""
import collections
import ctypes
import json
import pathlib
import re
import shlex

import clang.cindex as clang

from mutant_build import runs
from mutant_names import Site, number

Kind = clang.CursorKind

RELATIONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", "<<": ">>", ">>": "<<"}
ROUNDING = {"floor": "ceil", "ceil": "floor", "rint": "floor", "nearbyint": "floor", "roundeven": "floor",
            "trunc": "floor", "round": "trunc", "fmax": "fmin", "fmin": "fmax"}
# Without these statements no result differs: only threads that race and memory that leaks, which sanitizers tell.
UNSEEN = re.compile(r"nd4c_lock_acquire|(free|release)_\w+|\w*(free|release|destroy|deallocate|_give)$|__builtin_prefetch")
# A call that allocates more than it needs is no error.
ALLOCATES = re.compile(r"nd4c_(region_make|allocate|recycle_take|malloc|calloc)|malloc|calloc")
# Nothing inside these is an expression that is computed when the program runs.
CONSTANT = {Kind.ENUM_DECL, Kind.STATIC_ASSERT, Kind.FIELD_DECL, Kind.STRUCT_DECL, Kind.UNION_DECL, Kind.TYPEDEF_DECL}
ASSIGNMENTS = {Kind.COMPOUND_ASSIGNMENT_OPERATOR}
POINTERS = {clang.TypeKind.POINTER, clang.TypeKind.INCOMPLETEARRAY, clang.TypeKind.CONSTANTARRAY}


def file_location(location):
    """(file, offset) where it is written: of an argument of a macro that is the call of the macro."""
    file, offset = ctypes.c_void_p(), ctypes.c_uint()
    clang.conf.lib.clang_getFileLocation(location, ctypes.byref(file), None, None, ctypes.byref(offset))
    if not file.value:
        return None
    return clang.File(ctypes.cast(file, clang.c_object_p)).name, offset.value


class Finder:
    """Collects the places of one file in one translation unit."""

    def __init__(self, path, name, source):
        self.path, self.name, self.source = str(path), name, source
        self.sites = {}

    def offsets(self, cursor):
        """Start and end in the file; None: it is elsewhere."""
        start, end = file_location(cursor.extent.start), file_location(cursor.extent.end)
        if start is None or end is None or start[0] != self.path or end[0] != self.path or start[1] >= end[1]:
            return None
        return start[1], end[1]

    def read(self, place):
        return self.source[place[0]:place[1]].decode()

    def add(self, place, kind, function, changed, statement=False):
        original = self.read(place)
        if "#" in original or "//" in original or "/*" in original or len(original) > 300:
            return
        line = self.source.count(b"\n", 0, place[0]) + 1
        self.sites.setdefault((place, kind), Site(self.name, *place, line, function, kind, original, changed, statement))

    # -- the kinds of change ---------------------------------------------------------------------------------------

    def binary(self, cursor, function):
        children = list(cursor.get_children())
        whole = self.offsets(cursor)
        parts = [self.offsets(child) for child in children]
        if whole is None or len(parts) != 2 or None in parts or not whole[0] <= parts[0][0] <= parts[0][1] <= parts[1][0]:
            return
        left, right = self.read((whole[0], parts[0][1])), self.read((parts[1][0], whole[1]))
        operator = self.read((parts[0][1], parts[1][0])).strip()
        pointers = any(child.type.kind in POINTERS for child in children)
        if operator in RELATIONS:
            self.add(whole, "relation", function, f"{left} {RELATIONS[operator]} {right}")
        elif operator in ARITHMETIC and not pointers:
            self.add(whole, "arithmetic", function, f"({left}) {ARITHMETIC[operator]} ({right})")
        elif operator == "&&":
            self.add(whole, "left condition", function, right)
            self.add(whole, "right condition", function, left)
        elif operator == "||":
            self.add(whole, "alternative", function, f"({left}) && ({right})")

    def literal(self, cursor, function):
        place = self.offsets(cursor)
        if place is None:
            return
        text = self.read(place)
        if cursor.kind == Kind.FLOATING_LITERAL:
            self.add(place, "number", function, f"({text} * 1.01{'f' if text[-1] in 'fF' else ''})")
        elif re.fullmatch(r"(0|[1-9]\d*)[uUlL]*", text):
            self.add(place, "number", function, f"({text} + 1)")

    def subscript(self, cursor, function):
        children = list(cursor.get_children())
        place = self.offsets(children[1]) if len(children) == 2 else None
        named = children[1].referenced if len(children) == 2 else None
        if named is not None and named.kind == Kind.ENUM_CONSTANT_DECL and named.enum_value == 0:
            return
        if place is not None and not re.fullmatch(r"\d+", self.read(place)):
            self.add(place, "index", function, "0")

    def call(self, cursor, function):
        place = self.offsets(cursor)
        match = re.match(r"(\w+?)(f?)\(", self.read(place)) if place is not None else None
        if match and match.group(1) in ROUNDING:
            self.add(place, "rounding", function, ROUNDING[match.group(1)] + self.read(place)[len(match.group(1)):])

    def condition(self, cursor, function):
        children = list(cursor.get_children())
        place = self.offsets(children[0]) if children else None
        if place is not None:
            self.add(place, "negation", function, f"!({self.read(place)})")

    def dropped(self, cursor, function):
        """A statement whose effect goes: a call or an assignment that no macro has written."""
        place = self.offsets(cursor)
        called = cursor.spelling if cursor.kind == Kind.CALL_EXPR else ""
        if place is None or self.source[place[1]:place[1] + 1] != b";" or not self.read(place).startswith(called):
            return
        if UNSEEN.match(called):
            return
        self.add((place[0], place[1] + 1), "statement", function, "", statement=True)

    def bound(self, cursor, function):
        """One round less of a loop that counts. Of `i < n && more` only the comparison changes."""
        for child in list(cursor.get_children())[:-1]:
            for place in self.terms(child):
                match = re.fullmatch(r"(\w+) < (.+)", self.read(place), re.S)
                if match:
                    self.add(place, "bound", function, f"{match.group(1)} < ({match.group(2)}) - 1")

    def terms(self, cursor):
        """The places of what a condition joins by && and ||, without parentheses around it."""
        children = list(cursor.get_children())
        if cursor.kind == Kind.UNEXPOSED_EXPR and len(children) == 1:
            return self.terms(children[0])
        place, parts = self.offsets(cursor), [self.offsets(child) for child in children]
        if cursor.kind != Kind.BINARY_OPERATOR or place is None or len(parts) != 2 or None in parts:
            return []
        if self.read((parts[0][1], parts[1][0])).strip() in ("&&", "||"):
            return [term for child in children for term in self.terms(child)]
        return [place]

    # -- the walk --------------------------------------------------------------------------------------------------

    def statements(self, cursor, function):
        for child in cursor.get_children():
            assigns = child.kind == Kind.BINARY_OPERATOR and re.match(r"[^=!<>]*[^=!<>]=[^=]", self.text_of(child))
            if child.kind in ASSIGNMENTS or child.kind == Kind.CALL_EXPR or assigns:
                self.dropped(child, function)

    def text_of(self, cursor):
        place = self.offsets(cursor)
        return "" if place is None else self.read(place)

    def walk(self, cursor, function):
        kind = cursor.kind
        if kind in CONSTANT or (kind == Kind.VAR_DECL and cursor.storage_class == clang.StorageClass.STATIC):
            return
        visits = {Kind.BINARY_OPERATOR: self.binary, Kind.INTEGER_LITERAL: self.literal,
                  Kind.FLOATING_LITERAL: self.literal, Kind.ARRAY_SUBSCRIPT_EXPR: self.subscript,
                  Kind.CALL_EXPR: self.call, Kind.IF_STMT: self.condition, Kind.CONDITIONAL_OPERATOR: self.condition,
                  Kind.FOR_STMT: self.bound, Kind.COMPOUND_STMT: self.statements}
        if kind in visits:
            visits[kind](cursor, function)
        children = list(cursor.get_children())
        if kind == Kind.CALL_EXPR and ALLOCATES.match(cursor.spelling):
            children = [child for child in children if child.kind != Kind.INTEGER_LITERAL]
        if kind == Kind.VAR_DECL and cursor.type.kind in POINTERS:
            children = children[-1:] if children and children[-1].kind == Kind.INIT_LIST_EXPR else []
        if kind == Kind.CASE_STMT:
            children = children[1:]
        for child in children:
            self.walk(child, function)


def read_commands(build):
    """{file: [arguments of a compile command, for the parser]}: kernels have one for each level that this processor runs."""
    commands = collections.defaultdict(list)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        kept = [word for word in words[1:] if re.match(r"-[DIUm]|-std|-isystem", word)]
        if not commands[entry["file"]] or runs(entry["command"]):
            commands[entry["file"]].append(kept)
    return commands


def parse(unit, arguments):
    index = clang.Index.create()
    return index.parse(str(unit), args=[*arguments, "-Wno-everything"])


def find(root, files_of_unit, commands, clang_headers):
    """Places of mutants by file. files_of_unit: {C file: names of the files to search in it}."""
    found = collections.defaultdict(dict)
    for unit, names in files_of_unit.items():
        finders = {str(root / name): Finder(root / name, name, (root / name).read_bytes()) for name in names}
        for arguments in commands[str(unit)]:
            for cursor in parse(unit, arguments + clang_headers).cursor.get_children():
                finder = finders.get(cursor.location.file.name if cursor.location.file else None)
                if finder is not None and cursor.kind == Kind.FUNCTION_DECL and cursor.is_definition():
                    for child in cursor.get_children():
                        if child.kind == Kind.COMPOUND_STMT and finder.text_of(child).startswith("{"):  # no macro's
                            finder.walk(child, cursor.spelling)
        for finder in finders.values():
            found[finder.name].update(finder.sites)
    return {name: number(sites.values()) for name, sites in found.items()}
