"""The serial model: what a random kernel computes, in Python, without CUDA, MPI or the translator.

Every thread of every rank is a Python generator that runs the kernel's statements and yields where
threads meet: at MPI calls of the grid and at __syncthreads(). `simulate` moves all threads of a rank
to their next meeting, checks that all that are still there meet in the same one with the same
arguments (else the kernel is not legal, and the generator has a bug), and carries it out. A call that
one thread makes for itself is carried out while that thread is on its way.

A statement has two texts: `cuda`, lines for the kernel, and Python code run on `env`, the variables of
one function call of one thread. Integers are unsigned and wrap as C's do: see generator.py.
"""
import functools
import operator

BREAK, CONTINUE, RETURN = "break", "continue", "return"
MASK = 0xFFFFFFFF
GLOBALS = {"M": MASK, "M64": MASK << 32 | MASK}


def code(text, mode="eval"):
    return compile(text, "<kernel>", mode)


def indent(lines):
    return ["  " + line for line in lines]


class Simple:
    """A statement without a meeting in it: its text, and what it does as Python."""

    suspends = False

    def __init__(self, cuda, python):
        self.cuda = [cuda]
        self.python = code(python, "exec")

    def run(self, env):
        exec(self.python, GLOBALS, env)

    def calls(self):
        return []


class Jump:
    suspends = False

    def __init__(self, kind):
        self.cuda, self.kind = [kind + ";"], kind

    def run(self, env):
        return self.kind


class Return:
    suspends = False

    def __init__(self, cuda, python="None"):
        self.cuda, self.python = [cuda], code(python)

    def run(self, env):
        env["result"] = eval(self.python, GLOBALS, env)
        return RETURN


class Meeting:
    """An MPI call, or __syncthreads(): all living threads come, with the same `arguments`."""

    suspends = True
    alone = False  # one thread makes the call for itself: nobody else comes

    def __init__(self, kind, cuda, arguments="()", stores=""):
        self.kind, self.cuda = kind, cuda.splitlines()
        self.arguments = code(arguments)
        self.stores = code(stores, "exec")  # with the result in `got`

    def steps(self, env):
        got = yield self, eval(self.arguments, GLOBALS, env)
        env["got"] = got
        exec(self.stores, GLOBALS, env)


class Call:
    """Calls a device function; the result is then in env[result]. Its text is part of another's."""

    suspends = True
    cuda = []

    def __init__(self, function, arguments, result):
        self.function, self.result = function, result
        self.arguments = code("(%s)" % "".join(a + "," for a in arguments))

    def steps(self, env):
        inner = dict(env["base"], base=env["base"])
        inner.update(zip(self.function.parameters, eval(self.arguments, GLOBALS, env)))
        yield from run(self.function.body, inner)
        env[self.result] = inner.get("result")


def run(statement, env):
    """Runs a statement; the generator's value says how it ended: None or a jump."""
    if not statement.suspends:
        return statement.run(env)
    return (yield from statement.steps(env))


class Compound:
    """A statement made of others. `parts` are those; a subclass has steps(env)."""

    def __init__(self, *parts):
        self.parts = parts
        self.suspends = any(part.suspends for part in parts)

    def run(self, env):
        """For one without meetings: the steps, which yield nothing."""
        steps = self.steps(env)
        try:
            next(steps)
        except StopIteration as end:
            return end.value
        raise AssertionError("a meeting in a statement without any")


class Block(Compound):
    def __init__(self, statements, braces=True):
        super().__init__(*statements)
        lines = [line for s in statements for line in s.cuda]
        self.cuda = ["{", *indent(lines), "}"] if braces else lines

    def steps(self, env):
        for statement in self.parts:
            end = (yield from statement.steps(env)) if statement.suspends else statement.run(env)
            if end:
                return end


class If(Compound):
    def __init__(self, condition, then, otherwise=None, declared=""):
        super().__init__(*([then, otherwise] if otherwise else [then]))
        self.condition = code(condition[1])
        self.cuda = ["if (%s%s) {" % (declared, condition[0]), *then.cuda[1:-1], "}"]
        if otherwise:
            self.cuda[-1:] = ["} else {", *otherwise.cuda[1:-1], "}"]

    def steps(self, env):
        if eval(self.condition, GLOBALS, env):
            return (yield from run(self.parts[0], env))
        if len(self.parts) > 1:
            return (yield from run(self.parts[1], env))


class ShortCircuit(Compound):
    """if (FIRST && (CALL) && LAST) or if (FIRST || (CALL) || LAST), the call made where C++ does."""

    def __init__(self, first, both, call, call_text, last, then):
        super().__init__(call, then)
        self.first, self.both, self.last = code(first[1]), both, code(last[1])
        glue = " && " if both else " || "
        self.cuda = ["if (%s) {" % glue.join([first[0], call_text, last[0]]), *then.cuda[1:-1], "}"]

    def steps(self, env):
        holds = bool(eval(self.first, GLOBALS, env))
        if holds == self.both:
            yield from run(self.parts[0], env)
            holds = bool(eval(self.last, GLOBALS, env))
        if holds:
            return (yield from run(self.parts[1], env))


class Loop(Compound):
    """for, while and do: start, condition before or after the body, step."""

    def __init__(self, body, start="", before="True", step="", after="True", head="", tail=""):
        super().__init__(body)
        self.start, self.step = code(start, "exec"), code(step, "exec")
        self.before, self.after = code(before), code(after)
        self.cuda = [head + " {", *body.cuda[1:-1], "}" + tail]

    def steps(self, env):
        exec(self.start, GLOBALS, env)
        while eval(self.before, GLOBALS, env):
            end = yield from run(self.parts[0], env)
            if end == BREAK:
                return
            if end == RETURN:
                return end
            exec(self.step, GLOBALS, env)
            if not eval(self.after, GLOBALS, env):
                return


class Switch(Compound):
    """Cases 0, 1 ... and default; each says whether it falls through into the next."""

    def __init__(self, value, blocks, falls):
        super().__init__(*blocks)
        self.value, self.falls = code(value[1]), falls
        self.cuda = ["switch (%s) {" % value[0]]
        for number, block in enumerate(blocks):
            name = "default" if number == len(blocks) - 1 else "case %du" % number
            self.cuda += [name + ": {", *block.cuda[1:-1], "}" if falls[number] else "} break;"]
        self.cuda.append("}")

    def steps(self, env):
        at = min(eval(self.value, GLOBALS, env), len(self.parts) - 1)
        while at < len(self.parts):
            end = yield from run(self.parts[at], env)
            if end == BREAK:
                return
            if end or not self.falls[at]:
                return end
            at += 1


# --- all threads of all ranks -------------------------------------------------------------------------
class Illegal(Exception):
    """Threads do not meet as they must: the generator's fault."""


def threads_of(kernel, rank, size, memory):
    for block in range(kernel.blocks):
        shared = [0] * kernel.threads
        for index in range(kernel.threads):
            number = block * kernel.threads + index
            base = dict(memory, rank=rank, size=size, thread=number, tid=index, bid=block, sh=shared,
                        bd=kernel.threads, n=kernel.blocks * kernel.threads)
            yield run(kernel.body, dict(base, base=base))


class AloneCall(Meeting):
    alone = True


def meet(threads, answer):
    """Moves threads on; the meeting they come to and its arguments, and who is still there. Yields the
    calls that threads make for themselves on the way."""
    at, living = None, []
    for thread in threads:
        try:
            arrived = thread.send(answer)
            while arrived[0].alone:
                arrived = thread.send((yield arrived))
        except StopIteration:
            continue
        living.append(thread)
        if at is not None and (arrived[0] is not at[0] or arrived[1] != at[1]):
            raise Illegal("%s %r beside %s %r" % (at[0].cuda, at[1], arrived[0].cuda, arrived[1]))
        at = arrived
    return at, living


def rank_steps(kernel, rank, size, memory):
    """A rank: yields its MPI calls that need other ranks."""
    living, answer = list(threads_of(kernel, rank, size, memory)), None
    while True:
        at, living = yield from among_ranks(meet(living, answer))
        if at is None:
            return
        answer = yield from answer_to(at)


def answer_to(at):
    """Yields the call if it needs other ranks."""
    if at[0].kind == "self":  # a message from the rank to itself
        return at[1][0]
    if at[0].kind != "local":
        return (yield at)


def among_ranks(meeting):
    """Carries out the calls that a generator yields; its value."""
    answer = None
    while True:
        try:
            at = meeting.send(answer)
        except StopIteration as end:
            return end.value
        answer = yield from answer_to(at)


def communicate(kind, values, memories):
    """What each rank's call gives, of what all of them brought."""
    size = len(values)
    if kind == "sum":
        return [sum(value for value, in values) & MASK] * size
    if kind == "bxor":
        return [functools.reduce(operator.xor, (value for value, in values))] * size
    if kind == "bcast":
        return [values[root][0] for _, root in values]
    if kind == "ring":
        return [values[(rank + size - 1) % size][0] for rank in range(size)]
    if kind == "copy":  # everyone's mem to the next one's ext
        sent = [list(memory["mem"]) for memory in memories]
        for rank, memory in enumerate(memories):
            memory["ext"][:] = sent[(rank + size - 1) % size]
    return [None] * size


def simulate(kernel, size):
    """What the threads of each rank write to `out`."""
    n = kernel.blocks * kernel.threads
    memories = [{"mem": [0] * n, "ext": [0] * n, "out": [0] * n, "inbox": [0] * 64} for _ in range(size)]
    ranks = [rank_steps(kernel, rank, size, memories[rank]) for rank in range(size)]
    answers = [None] * size
    while True:
        calls = []
        for rank, answer in zip(ranks, answers):
            try:
                calls.append(rank.send(answer))
            except StopIteration:
                calls.append(None)
        if all(call is None for call in calls):
            return [memory["out"] for memory in memories]
        if None in calls or any(call[0] is not calls[0][0] for call in calls):
            raise Illegal("the ranks make different calls")
        answers = communicate(calls[0][0].kind, [call[1] for call in calls], memories)
