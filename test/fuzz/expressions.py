"""Variables and expressions of random kernels: see generator.py for what their classes mean."""
import contextlib

from model import Simple

SAME, RANK, THREAD = 0, 1, 2

# How a type is declared, read as an unsigned number, and assigned one: CUDA and Python. %(x)s is the
# variable, %(e)s the expression. `list`: Python keeps it in a list, so that it can be referred to.
TYPES = {
    "u": ("unsigned %(x)s = %(e)s;", [("%(x)s", "%(x)s", "%(x)s = %(e)s;", "%(x)s = %(e)s")]),
    "d": ("double %(x)s = %(e)s %% 1000u;",
          [("(unsigned)%(x)s", "int(%(x)s)", "%(x)s = %(x)s * 0.5 + %(e)s %% 1000u;",
            "%(x)s = %(x)s * 0.5 + %(e)s %% 1000")]),
    "l": ("unsigned long long %(x)s = %(e)s;",
          [("(unsigned)(%(x)s >> 9)", "(%(x)s >> 9 & M)", "%(x)s = %(x)s * 6364136223846793005ull + %(e)s;",
            "%(x)s = (%(x)s * 6364136223846793005 + %(e)s) & M64")]),
    "c": ("unsigned char %(x)s = (unsigned char)(%(e)s);",
          [("(unsigned)%(x)s", "%(x)s", "%(x)s = (unsigned char)(%(e)s);", "%(x)s = %(e)s & 255")]),
    "s": ("Sample %(x)s{%(e)s, 0.5, {3u, 4u}};",
          [("%(x)s.a", "%(x)s[0]", "%(x)s.a = %(e)s;", "%(x)s[0] = %(e)s"),
           ("(unsigned)%(x)s.b", "int(%(x)s[1])", "%(x)s.b = %(e)s %% 1000u * 0.5;",
            "%(x)s[1] = %(e)s %% 1000 * 0.5"),
           ("%(x)s.c[1]", "%(x)s[3]", "%(x)s.c[1] = %(e)s;", "%(x)s[3] = %(e)s")]),
    "a": ("unsigned %(x)s[3] = {%(e)s, 1u, 2u};",
          [("%(x)s[%(i)s %% 3u]", "%(x)s[%(j)s %% 3]", "%(x)s[%(i)s %% 3u] = %(e)s;",
            "%(x)s[%(j)s %% 3] = %(e)s")]),
    "v": ("uint4 %(x)s = make_uint4(%(e)s, 1u, 2u, 3u);",
          [("%(x)s.x", "%(x)s[0]", "%(x)s.x = %(e)s;", "%(x)s[0] = %(e)s"),
           ("%(x)s.w", "%(x)s[3]", "%(x)s.w = %(e)s;", "%(x)s[3] = %(e)s")]),
}
STARTS = {"u": "%s", "d": "float(%s %% 1000)", "l": "%s", "c": "%s & 255", "s": "[%s, 0.5, 3, 4]",
          "a": "[%s, 1, 2]", "v": "[%s, 1, 2, 3]"}


class Variable:
    """`name` in CUDA may be another variable's, in another scope; `python` is its own."""

    def __init__(self, name, python, type, of, fixed, cell):
        self.name, self.python, self.type, self.of = name, python, type, of
        self.fixed = fixed  # not to be assigned: a counter, a const
        self.cell = cell    # a number that Python keeps in a list of one, to be referred to

    def read_python(self):
        return self.python + "[0]" if self.cell else self.python

    def set(self, value):
        return "%s = [%s]" % (self.python, value) if self.cell else "%s = %s" % (self.python, value)

    def store(self, value):
        return "%s = %s" % (self.read_python(), value)


class Expressions:
    def __init__(self, random):
        self.random, self.numbers, self.scopes = random, 0, [[]]
        self.used = set()  # names that this statement uses: it may not declare others of these names

    # --- variables and their scopes -------------------------------------------------------------------
    @contextlib.contextmanager
    def scope(self):
        self.scopes.append([])
        yield
        self.scopes.pop()

    def fresh(self, letter):
        self.numbers += 1
        return "%s%d" % (letter, self.numbers)

    def new_variable(self, type, of, fixed=False, cell=None, hidden=False):
        python = self.fresh("v")
        name = python
        taken = {v.name for scope in self.scopes[-2:] for v in scope}  # a header's, too
        outer = [v.name for scope in self.scopes[1:-2] for v in scope if v.name not in taken | self.used]
        if outer and not hidden and self.random.random() < 0.2:
            name = self.random.choice(outer)  # shadows it
        if cell is None:
            cell = type == "u" and not fixed and self.random.random() < 0.3
        variable = Variable(name, python, type, of, fixed, cell)
        if not hidden:
            self.scopes[-1].append(variable)
        return variable

    def visible(self):
        found = {}
        for scope in self.scopes:
            for variable in scope:
                found[variable.name] = variable
        return list(found.values())

    def readable(self, of):
        return [v for v in self.visible() if v.of <= of]

    def assignable(self, control):
        return [v for v in self.visible() if v.of >= control and not v.fixed]

    def declaration(self, control):
        of = max(control, self.random.choice([SAME, RANK, THREAD, THREAD, THREAD]))
        referable = [v for v in self.visible() if v.of == THREAD and (v.cell or v.type == "a") and not v.fixed]
        kind = self.random.choice("uuuudlcsavrpfk") if of == THREAD else "u"
        if kind in "rp" and referable:
            return self.reference(kind, self.random.choice(referable))
        value = self.expression(of)
        if kind == "f" and referable:
            return self.lambda_of(self.random.choice(referable))
        if kind == "k":
            variable = self.new_variable("u", of, fixed=True)
            return Simple("const auto %s = %s;" % (variable.name, value[0]), variable.set(value[1]))
        kind = kind if kind in TYPES else "u"
        variable = self.new_variable(kind, of)
        return Simple(TYPES[kind][0] % {"x": variable.name, "e": value[0]}, variable.set(STARTS[kind] % value[1]))

    def reference(self, kind, to):
        """A reference or a pointer to a number, or to an element of an array."""
        text, place = to.name, to.python
        self.used.add(to.name)
        if to.type == "a":
            value = self.expression(THREAD, 1)
            text, python = "%s[%s %% 3u]" % (text, value[0]), "(%s, %s %% 3)" % (place, value[1])
        else:
            python = "(%s, 0)" % place
        variable = self.new_variable(kind, THREAD, cell=False)
        form = "unsigned &%s = %s;" if kind == "r" else "unsigned *%s = &%s;"
        return Simple(form % (variable.name, text), "%s = %s" % (variable.python, python))

    def lambda_of(self, captured):
        self.used.add(captured.name)
        by_reference = self.random.random() < 0.5
        variable = self.new_variable("f", THREAD, fixed=True, cell=False)
        python = captured.python if by_reference else "list(%s)" % captured.python
        inner_text = captured.name if captured.type == "u" else captured.name + "[1]"
        variable.body = "q[0]" if captured.type == "u" else "q[1]"
        text = "auto %s = [%s%s](unsigned q) { return q * 3u + %s; };" % (
            variable.name, "&" if by_reference else "", captured.name, inner_text)
        return Simple(text, "%s = %s" % (variable.python, python))

    def read(self, v):
        """Its value, as an unsigned number."""
        self.used.add(v.name)
        if v.type == "r":
            return v.name, "%s[0][%s[1]]" % (v.python, v.python)
        if v.type == "p":
            return "(*%s)" % v.name, "%s[0][%s[1]]" % (v.python, v.python)
        if v.type == "f":
            at = v.body.replace("q", v.python, 1)
            return "%s(5u)" % v.name, "((15 + %s) & M)" % at
        index = self.literal()
        form = self.random.choice(TYPES[v.type][1])
        python = v.read_python()
        return (form[0] % {"x": v.name, "i": index[0]}, form[1] % {"x": python, "j": index[1]})

    def assignment(self, v, value):
        if v.type in "rp":
            star = "*" if v.type == "p" else ""
            return Simple("%s%s = %s;" % (star, v.name, value[0]), "%s[0][%s[1]] = %s" % (v.python, v.python, value[1]))
        index = self.expression(v.of, 0)
        form = self.random.choice(TYPES[v.type][1])
        return Simple(form[2] % {"x": v.name, "e": value[0], "i": index[0]},
                      form[3] % {"x": v.read_python(), "e": value[1], "j": index[1]})

    # --- expressions ----------------------------------------------------------------------------------
    def literal(self):
        number = self.random.randint(0, 9) if self.random.random() < 0.7 else self.random.getrandbits(32)
        return "%du" % number, str(number)

    def leaf(self, of):
        variables = self.readable(of)
        roll = self.random.random()
        if variables and roll < 0.6:
            return self.read(self.random.choice(variables))
        if roll < 0.75:
            return self.literal()
        leaves = [("size", "size")]
        if of >= RANK:
            leaves += [("rank", "rank"), ("ext[0]", "ext[0]")]
        if of == THREAD:
            index, step = "blockIdx.x * blockDim.x + threadIdx.x", self.random.randint(0, 3)
            leaves += [("threadIdx.x", "tid"), ("blockIdx.x", "bid"), ("(%s)" % index, "thread"), ("h", "h"),
                       ("ext[(%s + %du) %% (gridDim.x * blockDim.x)]" % (index, step),
                        "ext[(thread + %d) %% n]" % step)]
            if self.in_kernel and self.shares:
                leaves.append(("sh[(threadIdx.x + %du) %% blockDim.x]" % step, "sh[(tid + %d) %% bd]" % step))
        return self.random.choice(leaves)

    def expression(self, of, depth=2):
        if depth == 0 or self.random.random() < 0.25:
            return self.leaf(of)
        a, b = self.expression(of, depth - 1), self.expression(of, depth - 1)
        roll = self.random.random()
        if roll < 0.7:
            operator = self.random.choice(["+", "-", "*", "^", "&", "|"])
            return "(%s %s %s)" % (a[0], operator, b[0]), "((%s %s %s) & M)" % (a[1], operator, b[1])
        if roll < 0.8:
            operator = self.random.choice(["%% %du", ">> %du"]) % self.random.randint(2, 7)
            return "(%s %s)" % (a[0], operator), "(%s %s)" % (a[1], operator[:-1])
        operator = self.random.choice(["<", ">=", "==", "!="])
        c = self.expression(of, 0)
        return ("(%s %s %s ? %s : %s)" % (a[0], operator, b[0], b[0], c[0]),
                "(%s if %s %s %s else %s)" % (b[1], a[1], operator, b[1], c[1]))
