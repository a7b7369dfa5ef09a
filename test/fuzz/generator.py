"""Random kernels, legal for the scope analysis and without data races; the same for the same seed.

Every value and every place in the control flow has a class:
    SAME   the same in all threads of all ranks: MPI calls that need other ranks are made under it
    RANK   the same in all threads of a rank: under it, calls that the rank makes with itself
    THREAD differs from thread to thread: under it, no calls
A variable of a class is assigned only where control is of that class or a wider one.
Shared and global memory is written only to a thread's own element, between two meetings.

An expression is a pair of texts, CUDA and Python, of an unsigned number.
"""
from expressions import RANK, SAME, THREAD, Expressions
from model import BREAK, CONTINUE, AloneCall, Block, Call, If, Jump, Loop, Meeting, Return, ShortCircuit, Simple, Switch

COMM = "MPI_COMM_WORLD"
STANDARD = "mem, ext, inbox, rank, size, next, previous"
PARAMETERS = ("unsigned *mem, unsigned *ext, unsigned *inbox, unsigned rank, unsigned size, int next, "
              "int previous")


class Function:
    """A kernel or a device function: text, body, and what a call of it costs."""


class Context:
    """Where a statement stands."""

    def __init__(self, control=SAME, breaks=None, continues=None, depth=0, times=1, returns=True):
        self.control = control      # the class of the control flow that leads here
        self.breaks = breaks        # the class under which break may stand; None: it may not
        self.continues = continues
        self.depth, self.times = depth, times
        self.returns = returns      # threads may return here

    def inner(self, control=None, **changes):
        new = Context(**{**self.__dict__, "depth": self.depth + 1, **changes})
        new.control = max(self.control, SAME if control is None else control)
        return new

    def loop(self, control, times):
        """A break or continue must be one for all that run the loop."""
        control = max(self.control, control)
        return self.inner(control, breaks=control, continues=control, times=self.times * times)


class Generator(Expressions):
    most_meetings = 50  # of a thread, in one run of the kernel

    def __init__(self, random, name):
        super().__init__(random)
        self.name, self.functions, self.meetings, self.inboxes = name, [], 0, 0
        self.in_kernel = False

    # --- statements -----------------------------------------------------------------------------------
    def statements(self, context, count):
        with self.scope():
            made = []
            for _ in range(count):
                made += self.statement(context)
                if isinstance(made[-1], (Jump, Return)):
                    break
            return Block(made)

    def statement(self, context):
        self.used = set()
        choices = [(self.declare, 5), (self.assign, 6), (self.jump, 1)]
        if context.depth < 4:
            choices += [(self.branch, 3), (self.loop, 3), (self.switch, 1)]
        if context.control == THREAD:
            return self.chosen(choices)(context)
        if self.in_kernel and self.shares:
            choices += [(self.write_shared, 1)]
        if self.has_room(context):
            choices += [(self.message_to_self, 2), (self.alone, 3)]
            if context.control == SAME:
                choices += [(self.meet, 8), (self.call_in_condition, 1), (self.copy_memory, 1)]
                choices += [(self.request, 1)] if context.depth < 4 else []
                choices += [(self.call, 3)] if self.functions else []
        return self.chosen(choices)(context)

    def chosen(self, choices):
        return self.random.choices([c for c, _ in choices], [weight for _, weight in choices])[0]

    def has_room(self, context, meetings=1):
        return self.meetings + meetings * context.times <= self.most_meetings

    def count(self, context, meetings=1):
        self.meetings += meetings * context.times

    def declare(self, context):
        return [self.declaration(context.control)]

    def assign(self, context):
        targets = self.assignable(context.control)
        if not targets or self.random.random() < 0.3:
            value = self.expression(THREAD)
            return [Simple("h = h * 31u + %s;" % value[0], "h = (h * 31 + %s) & M" % value[1])]
        variable = self.random.choice(targets)
        return [self.assignment(variable, self.expression(variable.of))]

    def jump(self, context):
        kinds = []
        if context.breaks == context.control:
            kinds.append(Jump(BREAK))
        if context.continues == context.control:
            kinds.append(Jump(CONTINUE))
        if not kinds:
            return self.early_return(context) if context.returns else self.assign(context)
        of = context.control
        condition = self.expression(of, 1)
        return [If(self.rarely(condition), Block([self.random.choice(kinds)]))]

    def early_return(self, context):
        """In the kernel: of some threads, or all. In a function: of all, with a value."""
        if self.in_kernel:
            of = SAME if context.control == SAME and self.random.random() < 0.2 else THREAD
            leave = Block([self.write_out(), Return("return;")])
        elif context.control == SAME:
            of, value = SAME, self.expression(self.result_of)
            leave = Block([Return("return %s;" % value[0], value[1])])
        else:
            return self.assign(context)
        condition = self.rarely(self.expression(of, 1))
        if self.in_kernel and of == THREAD:
            stays = ("blockIdx.x * blockDim.x + threadIdx.x != %du && " % self.survivor,
                     "thread != %d and " % self.survivor)
            condition = stays[0] + condition[0], stays[1] + condition[1]
        return [If(condition, leave)]

    def rarely(self, value):
        divisor = self.random.choice([3, 5, 7])
        at = self.random.randrange(divisor)
        return "%s %% %du == %du" % (value[0], divisor, at), "%s %% %d == %d" % (value[1], divisor, at)

    def control_class(self, context):
        return max(context.control, self.random.choice([SAME, SAME, RANK, THREAD]))

    def branch(self, context):
        of = self.control_class(context)
        value = self.expression(of)
        condition = "%s %% 3u != 0u" % value[0], "%s %% 3 != 0" % value[1]
        inner = context.inner(of)
        then = self.statements(inner, self.random.randint(1, 3))
        otherwise = self.statements(inner, self.random.randint(1, 3)) if self.random.random() < 0.5 else None
        return [If(condition, then, otherwise)]

    def loop(self, context):
        of = self.control_class(context)
        times = self.random.randint(2, 3)
        value, extra = self.expression(of, 1), self.random.randint(0, 1)
        bound = ("%s %% %du + %du" % (value[0], times, extra), "%s %% %d + %d" % (value[1], times, extra))
        inner = context.loop(of, max(1, times - 1 + extra))
        with self.scope():
            counter = self.new_variable("u", inner.control, fixed=True)
            c, p = counter.name, counter.python
            make = self.random.choice([self.for_loop, self.while_loop, self.do_loop])
            return make(c, p, bound, lambda: self.statements(inner, self.random.randint(1, 4)))

    def for_loop(self, c, p, bound, body):
        if self.random.random() < 0.5:  # the bound evaluated each time: of what does not change
            limit = self.new_variable("u", THREAD, fixed=True, hidden=True)
            head = "for (unsigned %s = 0, %s = %s; %s < %s; ++%s)" % (c, limit.name, bound[0], c, limit.name, c)
            start = "%s = %s; %s = 0" % (limit.python, bound[1], p)
            return [Loop(body(), start, "%s < %s" % (p, limit.python), "%s += 1" % p, head=head)]
        head = "for (unsigned %s = %s; %s > 0u; --%s)" % (c, bound[0], c, c)
        return [Loop(body(), "%s = %s" % (p, bound[1]), "%s > 0" % p, "%s -= 1" % p, head=head)]

    def while_loop(self, c, p, bound, body):
        """The counter falls in the condition, so that continue cannot skip it."""
        start = Simple("unsigned %s = %s + 1u;" % (c, bound[0]), "%s = %s + 1" % (p, bound[1]))
        inner = body()
        loop = Loop(inner, "%s -= 1" % p, "%s > 0" % p, "%s -= 1" % p, head="while (--%s > 0u)" % c)
        return [Block([start, loop])]

    def do_loop(self, c, p, bound, body):
        start = Simple("unsigned %s = %s + 1u;" % (c, bound[0]), "%s = %s + 1" % (p, bound[1]))
        loop = Loop(body(), step="%s -= 1" % p, after="%s > 1" % p, head="do", tail=" while (--%s > 1u);" % c)
        return [Block([start, loop])]

    def switch(self, context):
        of = self.control_class(context)
        value, count = self.expression(of, 1), self.random.randint(2, 3)
        inner = context.inner(of)
        inner.breaks = inner.control
        blocks = [self.statements(inner, self.random.randint(1, 3)) for _ in range(count)]
        falls = [self.random.random() < 0.3 for _ in blocks[1:]] + [False]
        modulus = count + self.random.randint(0, 1)
        return [Switch(("%s %% %du" % (value[0], modulus), "%s %% %d" % (value[1], modulus)), blocks, falls)]

    # --- meetings -------------------------------------------------------------------------------------
    def write_shared(self, context):
        self.count(context)
        value = self.expression(THREAD)
        kept = self.fresh("s") # before anybody writes: it may be of what the others have written last
        keep = Simple("unsigned %s = %s;" % (kept, value[0]), "%s = %s" % (kept, value[1]))
        write = Simple("sh[threadIdx.x] = %s;" % kept, "sh[tid] = %s" % kept)
        last = self.meet(context) if context.control == SAME and self.has_room(context) else [self.sync()]
        return [keep, self.sync(), write, *last]

    def sync(self):
        return Meeting("local", "__syncthreads();")

    def meet(self, context):
        self.count(context)
        call, _ = self.some_call(context, "%s;")
        return call

    def some_call(self, context, form, kinds=("sum", "bxor", "bcast", "ring", "ring", "barrier")):
        """Statements that end in a call of all ranks, whose text is `form`; and its text alone."""
        kind = self.random.choice(kinds)
        if kind == "barrier":
            text = "MPI_Barrier(%s)" % COMM
            return [Meeting("barrier", form % text)], text
        value = self.expression(RANK)
        if kind == "bcast":
            root, target = self.expression(SAME, 1), self.new_variable("u", SAME)
            before = [Simple("unsigned %s = %s;" % (target.name, value[0]), target.set(value[1]))]
            text = "MPI_Bcast(&%s, 1, MPI_UNSIGNED, %s %% size, %s)" % (target.name, root[0], COMM)
            given = "(%s, %s %% size)" % (target.read_python(), root[1])
            return before + [Meeting(kind, form % text, given, target.store("got"))], text
        before, target = self.uniform_variable(context, SAME if kind != "ring" else RANK)
        source = self.new_variable("u", RANK)
        before = before + [Simple("unsigned %s = %s;" % (source.name, value[0]), source.set(value[1]))]
        tag = self.random.randint(0, 99)
        if kind == "ring":
            text = ("MPI_Sendrecv(&%s, 1, MPI_UNSIGNED, next, %d, &%s, 1, MPI_UNSIGNED, previous, %d, %s, "
                    "MPI_STATUS_IGNORE)" % (source.name, tag, target.name, tag, COMM))
        else:
            text = "MPI_Allreduce(&%s, &%s, 1, MPI_UNSIGNED, MPI_%s, %s)" % (source.name, target.name,
                                                                            kind.upper(), COMM)
        given = "(%s,)" % source.read_python()
        return before + [Meeting(kind, form % text, given, target.store("got"))], text

    def uniform_variable(self, context, of):
        """A variable to receive into: one that is there, or a new one."""
        there = [v for v in self.assignable(context.control) if v.of == of and v.type == "u"]
        if there and self.random.random() < 0.6:
            variable = self.random.choice(there)
            self.used.add(variable.name)
            return [], variable
        value = self.expression(of, 1)
        variable = self.new_variable("u", of)
        return [Simple("unsigned %s = %s;" % (variable.name, value[0]), variable.set(value[1]))], variable

    def message_to_self(self, context):
        """Made by each rank as often as it likes: the only call under control that ranks differ in."""
        self.count(context)
        before, target = self.uniform_variable(context, RANK)
        value, source = self.expression(RANK), self.new_variable("u", RANK)
        before.append(Simple("unsigned %s = %s;" % (source.name, value[0]), source.set(value[1])))
        if self.random.random() < 0.5:
            text = "MPI_Allreduce(&%s, &%s, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_SELF);" % (source.name, target.name)
        else:
            text = ("MPI_Sendrecv(&%s, 1, MPI_UNSIGNED, rank, 100, &%s, 1, MPI_UNSIGNED, rank, 100, %s, "
                    "MPI_STATUS_IGNORE);" % (source.name, target.name, COMM))
        return before + [Meeting("self", text, "(%s,)" % source.read_python(), target.store("got"))]

    def alone(self, context):
        """Calls that one thread makes for itself. What it receives is its own or, after the next
        meeting, everyone's."""
        calls = self.random.randint(1, 2)
        self.count(context, calls)
        value = self.expression(THREAD)
        target = self.new_variable("u", THREAD, cell=False)
        before = [Simple("unsigned %s = %s;" % (target.name, value[0]), target.set(value[1]))]
        inner, made = context.inner(THREAD, breaks=None, continues=None, returns=False), []
        to_all = context.control == SAME and self.has_room(context, 3) and self.random.random() < 0.3
        place = self.inboxes
        if to_all:
            self.inboxes += 1
        with self.scope():
            for call in range(calls):
                made += [self.statements(inner, 1)] if self.random.random() < 0.3 else []
                value = self.expression(THREAD)
                self.used.add(target.name)
                source = self.new_variable("u", THREAD, cell=False)
                made.append(Simple("unsigned %s = %s;" % (source.name, value[0]), source.set(value[1])))
                made.append(self.call_alone(context, source, "inbox[%d]" % place if to_all else target.name,
                                            "inbox[%d] = got" % place if to_all else target.store("got")))
        chosen = If(("blockIdx.x * blockDim.x + threadIdx.x == %du" % self.survivor,
                     "thread == %d" % self.survivor), Block(made))
        # Then the grid meets: what the analysis takes to be written by one thread differs until there.
        self.count(context)
        after = [self.statements(inner, self.random.randint(1, 2))] if self.random.random() < 0.6 else []
        if context.control == SAME:
            after.append(Meeting("barrier", "MPI_Barrier(%s);" % COMM))
        else:
            after.append(Meeting("self", "MPI_Barrier(MPI_COMM_SELF);", "(0,)"))
        if not to_all:
            return before + [chosen, *after]
        use = Simple("h = h * 31u + inbox[%d];" % place, "h = (h * 31 + inbox[%d]) & M" % place)
        return before + [chosen, *after, use, *self.meet(context)]

    def call_alone(self, context, source, target, stores):
        """With the other ranks where all are here, else with itself."""
        tag, ring = self.random.randint(400, 499), context.control == SAME
        peers = ("next", "previous") if ring else ("rank", "rank")
        text = ("MPI_Sendrecv(&%s, 1, MPI_UNSIGNED, %s, %d, &%s, 1, MPI_UNSIGNED, %s, %d, %s, MPI_STATUS_IGNORE);"
                % (source.name, peers[0], tag, target, peers[1], tag, COMM))
        if not ring and self.random.random() < 0.3:
            text = "MPI_Allreduce(&%s, &%s, 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_SELF);" % (source.name, target)
        return AloneCall("ring" if ring else "self", text, "(%s,)" % source.read_python(), stores)

    def copy_memory(self, context):
        """Each thread writes its element of mem; all of it goes to the next rank's ext."""
        self.count(context, 2)
        value = self.expression(THREAD)
        write = Simple("mem[blockIdx.x * blockDim.x + threadIdx.x] = %s;" % value[0], "mem[thread] = %s" % value[1])
        copy = ("MPI_Sendrecv(mem, gridDim.x * blockDim.x, MPI_UNSIGNED, next, 200, ext, gridDim.x * "
                "blockDim.x, MPI_UNSIGNED, previous, 200, %s, MPI_STATUS_IGNORE);" % COMM)
        return [Meeting("barrier", "MPI_Barrier(%s);" % COMM), write, Meeting("copy", copy)]

    def request(self, context):
        """Isend and Irecv, statements, then both are waited for. No jump leaves the statements."""
        self.count(context, 4)
        place, self.inboxes = self.inboxes, self.inboxes + 1
        value, source = self.expression(RANK), self.new_variable("u", RANK)
        before = Simple("unsigned %s = %s;" % (source.name, value[0]), source.set(value[1]))
        r, pending = self.fresh("r"), self.fresh("p")
        start = Meeting("ring", "MPI_Request %s[2];\n"
                        "MPI_Irecv(inbox + %d, 1, MPI_UNSIGNED, previous, %d, %s, &%s[0]);\n"
                        "MPI_Isend(&%s, 1, MPI_UNSIGNED, next, %d, %s, &%s[1]);"
                        % (r, place, 300 + place, COMM, r, source.name, 300 + place, COMM, r),
                        "(%s,)" % source.read_python(), "%s = got" % pending)
        inner = context.inner(breaks=None, continues=None, returns=False)
        inside = self.statements(inner, self.random.randint(1, 3))
        wait = "MPI_Waitall(2, %s, MPI_STATUSES_IGNORE);" % r
        if self.random.random() < 0.5:
            wait = "MPI_Wait(%s + 1, MPI_STATUS_IGNORE);\nMPI_Wait(%s, MPI_STATUS_IGNORE);" % (r, r)
        use = Simple("h = h * 31u + inbox[%d];" % place, "h = (h * 31 + %s) & M" % pending)
        return [before, start, inside, Meeting("local", wait), use]

    def call_in_condition(self, context):
        self.count(context)
        first, last = self.expression(SAME, 1), self.expression(SAME, 1)
        # not bcast: where it is left out, the ranks' values stay different
        calls, text = self.some_call(context, "%s", ["sum", "bxor", "ring", "barrier"])
        text += " == MPI_SUCCESS"
        both = self.random.random() < 0.5
        text = text if both else text.replace("==", "!=")
        *before, call = calls
        then = self.statements(context.inner(), self.random.randint(1, 2))
        return before + [ShortCircuit(("%s %% 3u != 0u" % first[0], "%s %% 3 != 0" % first[1]), both, call, text,
                                      ("%s %% 3u != 1u" % last[0], "%s %% 3 != 1" % last[1]), then)]

    # --- functions ------------------------------------------------------------------------------------
    def call(self, context):
        """x = EXPRESSION + f(...): the expression is of what the function cannot change."""
        function = self.random.choice(self.functions)
        if not self.has_room(context, function.meetings):
            return self.meet(context)
        self.count(context, function.meetings)
        start = self.expression(THREAD, 1)
        referred = self.new_variable("u", THREAD, cell=True)
        before = Simple("unsigned %s = %s;" % (referred.name, start[0]), referred.set(start[1]))
        self.used.add(referred.name)
        same, rank, own = self.expression(SAME), self.expression(RANK), self.expression(THREAD)
        text = "%s(%s, %s, %s, %s, %s)" % (function.name, STANDARD, same[0], rank[0], own[0], referred.name)
        result = self.fresh("c")
        call = Call(function, [same[1], rank[1], own[1], referred.python], result)
        target = self.new_variable("u", function.result_of)
        add = self.literal()
        use = Simple("unsigned %s = %s + %s;" % (target.name, add[0], text),
                     target.set("(%s + %s) & M" % (add[1], result)))
        return [before, call, use]

    def device_function(self, number):
        f, self.in_kernel, self.meetings = Function(), False, 0
        f.name = "%s_f%d" % (self.name, number)
        f.result_of = self.result_of = self.random.choice([SAME, RANK, THREAD])
        with self.scope():
            own = [self.new_variable("u", of) for of in (SAME, RANK, THREAD)]
            reference = self.new_variable("u", THREAD, cell=True)
            f.parameters = [v.python for v in own + [reference]]
            for v in own:
                v.cell = False
            h = Simple("unsigned h = 1u;", "h = 1")
            body = self.statements(Context(), self.random.randint(2, 5))
            end = Simple("%s += h;" % reference.name, "{0}[0] = ({0}[0] + h) & M".format(reference.python))
            value = self.expression(f.result_of)
            f.body = Block([h, body, end, Return("return %s;" % value[0], value[1])])
        f.meetings = self.meetings
        f.text = ["__device__ unsigned %s(%s, unsigned %s, unsigned %s, unsigned %s, unsigned &%s) {"
                  % (f.name, PARAMETERS, *[v.name for v in own], reference.name), *f.body.cuda[1:-1], "}"]
        return f

    def write_out(self):
        text, python = "h", "h"
        for v in self.readable(THREAD):
            value = self.read(v)
            text, python = "(%s) * 7u + %s" % (text, value[0]), "((%s) * 7 + %s) & M" % (python, value[1])
        return Simple("out[blockIdx.x * blockDim.x + threadIdx.x] = %s;" % text, "out[thread] = %s" % python)

    def kernel(self):
        k = Function()
        k.name, k.blocks = self.name, self.random.randint(1, 3)
        k.threads = self.random.choice([1, 2, 3, 5])
        self.survivor = self.random.randrange(k.blocks * k.threads)  # all ranks keep this thread
        self.shares = self.random.random() < 0.5  # uses __shared__ memory
        for number in range(self.random.choice([0, 1, 1, 2])):
            self.most_meetings = 12
            self.functions.append(self.device_function(number))
        self.most_meetings, self.meetings, self.in_kernel = 50, 0, True
        begin = Block([Simple("unsigned h = blockIdx.x * 100u + threadIdx.x;", "h = bid * 100 + tid"),
                       Simple("__shared__ unsigned sh[8];", ""),
                       Simple("sh[threadIdx.x] = threadIdx.x;", "sh[tid] = tid"), self.sync()], braces=False)
        with self.scope():
            statements = []
            for _ in range(self.random.randint(6, 14)):
                statements += self.statement(Context())
            k.body = Block([begin, *statements, self.write_out()])
        k.text = [line for f in self.functions for line in f.text]
        k.text += ["__global__ void %s(unsigned *out, %s) {" % (k.name, PARAMETERS), *k.body.cuda[1:-1], "}"]
        return k
