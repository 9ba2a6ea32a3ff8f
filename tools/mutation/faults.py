# SPDX-License-Identifier: Apache-2.0
"""Faults that can be planted in a C file: what to replace, and by what.

A file is parsed with the options it is compiled with (libclang), so faults
follow the syntax tree and its types: the wrong member of a struct is one of
the same type, a condition is a whole operand. Only code that stands in the
file itself is changed, never what a macro expands to. Left out, because no
test should look at it: log lines, the arguments of a format (which decide the
words of an error, not which error it is), and the branches of common/mutant.h.

Each replacement keeps the number of lines, so that a fault that changes no
machine code makes the same object file."""

import collections
import re

import clang.cindex
from clang.cindex import CursorKind as Kind
from clang.cindex import TypeKind

Fault = collections.namedtuple(
    "Fault", "path line function kind start end old new")

COMPARISONS = {
    "<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="),
    ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
}
LOGIC = {"&&": "||", "||": "&&"}
ARITHMETIC = {
    "+": "-", "-": "+", "*": "/", "/": "*", "%": "/",
    "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<",
}
ASSIGNMENTS = {
    "+=": ("-=", "="), "-=": ("+=", "="), "*=": ("=",), "/=": ("=",),
    "%=": ("=",), "|=": ("&=", "="), "&=": ("|=", "="), "^=": ("=",),
    "<<=": (">>=",), ">>=": ("<<=",),
}
EQUALITY = {"strcmp", "strncmp", "strcasecmp", "memcmp"}  # where only 0 counts
LOGS = {"fby_error", "fby_warn", "fby_info", "fby_debug"}
INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|[0-9]+)([uUlL]*)$")
SIGNED_TYPES = {TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG,
                TypeKind.SHORT, TypeKind.SCHAR}
UNSIGNED_TYPES = {TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG,
                  TypeKind.USHORT, TypeKind.UCHAR}


def fixed_arguments(cursor):
    """How many arguments a call has before those of its format; None where it
    has no format."""
    callee = cursor.referenced if cursor.kind == Kind.CALL_EXPR else None
    if (callee is None or callee.type.kind != TypeKind.FUNCTIONPROTO or
            not callee.type.is_function_variadic()):
        return None
    return len(list(callee.type.argument_types()))


class Finder:
    """Collects the faults of one file."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.function = ""
        self.symmetric = set()  # where calls begin whose arguments may swap
        self.faults = {}

    def source(self, cursor):
        return self.text[cursor.extent.start.offset:cursor.extent.end.offset]

    def add(self, kind, start, end, new):
        old = self.text[start:end]
        if new.strip() == old.strip():
            return
        new += "\n" * (old.count("\n") - new.count("\n"))
        line = self.text.count("\n", 0, start) + 1
        self.faults.setdefault((start, end, new), Fault(
            self.path, line, self.function, kind, start, end, old, new))

    def replace(self, kind, cursor, new):
        self.add(kind, cursor.extent.start.offset, cursor.extent.end.offset,
                 new)

    def operator(self, left, right):
        """The operator between two operands, and where it stands; None where
        a macro hides it."""
        start, end = left.extent.end.offset, right.extent.start.offset
        between = self.text[start:end]
        found = re.fullmatch(r"[\s)]*([-+*/%&|^<>=!]+)[\s(]*", between)
        if start > end or not found:
            return None, 0, 0
        return (found.group(1), start + found.start(1), start + found.end(1))

    # One method for each kind of syntax.

    def binary(self, cursor):
        left, right = cursor.get_children()
        sign, start, end = self.operator(left, right)
        if sign is None:
            return
        for new in COMPARISONS.get(sign, ()):
            self.add("comparison", start, end, new)
        if sign in ("==", "!=") and left.spelling in EQUALITY:
            self.symmetric.add(left.extent.start.offset)
        if sign in LOGIC:
            self.add("logic", start, end, LOGIC[sign])
            self.replace("operand dropped", cursor, self.source(left))
            self.replace("operand dropped", cursor, self.source(right))
        elif sign in ARITHMETIC:
            self.add("arithmetic", start, end, ARITHMETIC[sign])
            self.replace("operand dropped", cursor, self.source(left))

    def compound_assignment(self, cursor):
        left, right = cursor.get_children()
        sign, start, end = self.operator(left, right)
        for new in ASSIGNMENTS.get(sign, ()):
            self.add("assignment", start, end, new)

    def unary(self, cursor):
        text = self.source(cursor)
        for old, new in (("++", "--"), ("--", "++")):
            if text.startswith(old):
                self.replace("increment", cursor, new + text[2:])
            elif text.endswith(old):
                self.replace("increment", cursor, text[:-2] + new)
        if text.startswith("!"):
            self.replace("condition", cursor, "(" + text[1:] + ")")

    def condition(self, cursor):
        condition = next(cursor.get_children())
        text = self.source(condition)
        if not text or "FBY_MUTANT" in text:
            return
        self.replace("condition", condition, "!(" + text + ")")
        if cursor.kind == Kind.IF_STMT:
            self.replace("condition", condition, "1")
        self.replace("condition", condition, "0")

    def statement(self, cursor):
        """An expression, break or continue that is a statement by itself."""
        if cursor.kind == Kind.CALL_EXPR and cursor.spelling in LOGS:
            return
        if (cursor.kind.is_expression() or cursor.kind in (
                Kind.BREAK_STMT, Kind.CONTINUE_STMT)) and self.source(cursor):
            self.replace("removed", cursor, "")

    def block(self, cursor):
        for child in cursor.get_children():
            self.statement(child)

    def returned(self, cursor):
        value = next(cursor.get_children(), None)
        if value is None:
            self.replace("removed", cursor, "")
            return
        text = self.source(value)
        kind = value.type.get_canonical().kind
        if re.fullmatch(r"!?\w+|", text):
            negated = {"true": "false", "false": "true"}.get(text)
            if negated or INTEGER.match(text) or not text:
                return  # a constant
        if kind == TypeKind.POINTER and text != "NULL":
            self.replace("returned", value, "NULL")
        elif kind == TypeKind.BOOL or self.is_condition(value):
            self.replace("returned", value, "!(" + text + ")")
        elif kind in SIGNED_TYPES | UNSIGNED_TYPES:
            self.replace("returned", value, "(" + text + ") + 1")

    def is_condition(self, value):
        parts = list(value.get_children())
        return (value.kind == Kind.BINARY_OPERATOR and len(parts) == 2 and
                self.operator(*parts)[0] in {*COMPARISONS, *LOGIC})

    def integer(self, cursor):
        text = self.source(cursor)
        if text in ("true", "false"):
            self.replace("constant", cursor,
                         "false" if text == "true" else "true")
            return
        found = INTEGER.match(text)
        if not found:
            return
        value = int(found.group(1), 0 if text[:2] in ("0x", "0X") else 10)
        for new in {value + 1, value - 1, 0}:
            if new >= 0:
                self.replace("constant", cursor, str(new) + found.group(2))

    def name(self, cursor):
        constant = cursor.referenced
        if (constant is None or constant.kind != Kind.ENUM_CONSTANT_DECL or
                self.source(cursor) != cursor.spelling):
            return
        enum = constant.semantic_parent
        others = [c.spelling for c in enum.get_children()
                  if c.spelling != cursor.spelling]
        if others and not re.match(r"$|.*(unnamed|anonymous)", enum.spelling):
            at = [c.spelling for c in enum.get_children()].index(
                cursor.spelling)
            self.replace("constant", cursor, others[at % len(others)])
            self.replace("constant", cursor, others[at - 1])
        else:
            self.replace("constant", cursor, "(" + cursor.spelling + " + 1)")
            self.replace("constant", cursor, "(" + cursor.spelling + " - 1)")

    def member(self, cursor):
        field = cursor.referenced
        text = self.source(cursor)
        if (field is None or field.kind != Kind.FIELD_DECL or
                not text.endswith(cursor.spelling)):
            return
        alike = [f.spelling for f in field.semantic_parent.get_children()
                 if f.kind == Kind.FIELD_DECL and f.type.get_canonical() ==
                 field.type.get_canonical()]
        if len(alike) > 1:
            other = alike[(alike.index(cursor.spelling) + 1) % len(alike)]
            self.replace("member", cursor,
                         text[:-len(cursor.spelling)] + other)

    def initialiser(self, cursor):
        """A designated member left out: it is zero then."""
        for child in cursor.get_children():
            text = self.source(child)
            end = child.extent.end.offset
            comma = re.match(r"\s*,", self.text[end:])
            if comma and re.match(r"\.\w+\s*=", text):
                self.add("removed", child.extent.start.offset,
                         end + comma.end(), "")

    def call(self, cursor):
        if cursor.spelling in LOGS:
            return
        if cursor.extent.start.offset in self.symmetric:
            return
        arguments = [a for a in cursor.get_arguments() if a is not None]
        arguments = arguments[:fixed_arguments(cursor)]
        for left, right in zip(arguments, arguments[1:]):
            a, b = self.source(left), self.source(right)
            between = self.text[left.extent.end.offset:
                                right.extent.start.offset]
            if (a and b and between.strip() == "," and
                    left.type.get_canonical() == right.type.get_canonical()):
                self.add("arguments swapped", left.extent.start.offset,
                         right.extent.end.offset, b + "," + " " + a)

    def children(self, cursor):
        """The parts of `cursor` to visit."""
        children = list(cursor.get_children())
        if cursor.kind == Kind.CALL_EXPR and cursor.spelling in LOGS:
            return []
        if cursor.kind == Kind.CASE_STMT:
            self.statement(children[1])
            return children[1:]
        fixed = fixed_arguments(cursor)
        return children if fixed is None else children[1:1 + fixed]

    def visit(self, cursor):
        visitor = VISITORS.get(cursor.kind)
        if visitor is not None:
            visitor(self, cursor)
        for child in self.children(cursor):
            self.visit(child)


VISITORS = {
    Kind.BINARY_OPERATOR: Finder.binary,
    Kind.COMPOUND_ASSIGNMENT_OPERATOR: Finder.compound_assignment,
    Kind.UNARY_OPERATOR: Finder.unary,
    Kind.IF_STMT: Finder.condition,
    Kind.WHILE_STMT: Finder.condition,
    Kind.CONDITIONAL_OPERATOR: Finder.condition,
    Kind.COMPOUND_STMT: Finder.block,
    Kind.RETURN_STMT: Finder.returned,
    Kind.INTEGER_LITERAL: Finder.integer,
    Kind.DECL_REF_EXPR: Finder.name,
    Kind.MEMBER_REF_EXPR: Finder.member,
    Kind.INIT_LIST_EXPR: Finder.initialiser,
    Kind.CALL_EXPR: Finder.call,
}


def faults_of(path, source, options):
    """All faults of the file `source`, named `path` in the tree, in the order
    of the text. `options` are the compiler's."""
    text = source.read_text(encoding="ascii")
    unit = clang.cindex.Index.create().parse(str(source), args=options)
    errors = [str(d) for d in unit.diagnostics if d.severity >= d.Error]
    if errors:
        raise ValueError(f"{path}: libclang cannot parse it: {errors[0]}")
    finder = Finder(path, text)
    for cursor in unit.cursor.get_children():
        if (cursor.kind == Kind.FUNCTION_DECL and cursor.is_definition() and
                cursor.location.file.name == str(source)):
            finder.function = cursor.spelling
            finder.visit(cursor)
    return sorted(finder.faults.values(), key=lambda f: (f.start, f.end, f.new))


def choose(faults, n, seed_random):
    """All faults in a random order in which every place comes once before any
    comes again, so that a place with many constants weighs no more."""
    places = collections.defaultdict(list)
    for fault in faults:
        places[fault.path, fault.start, fault.kind].append(fault)
    order = list(places.values())
    seed_random.shuffle(order)
    for place in order:
        seed_random.shuffle(place)
    turn = 0
    chosen = []
    while len(chosen) < n and any(len(p) > turn for p in order):
        chosen.extend(p[turn] for p in order if len(p) > turn)
        turn += 1
    return chosen
