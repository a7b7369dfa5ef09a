"""ranks.py LAUNCHER CHECKER LIMIT N[-M] PROGRAM ARGUMENTS...: runs an MPI program with N to M ranks in turn.

What `%ranks` in a test stands for. No run has more than LIMIT ranks; the first that fails ends it. With -LIMIT there
is one run, with as many of N to M as are no more than that, or with N. With LIMIT/K there is none with K ranks, if
there are others.
LAUNCHER and CHECKER (compute-sanitizer, say; may be empty) are one argument each, of several words. Of more
ranks than there are cores each has, on the cpu device, one thread that runs blocks: more would take turns.
"""
import os
import shlex
import subprocess
import sys

launcher, checker, limit, ranks, *program = sys.argv[1:]
first, _, last = ranks.partition("-")
limit, _, elsewhere = limit.partition("/")
numbers, limit = range(int(first), int(last or first) + 1), int(limit)
counts = {min(n, limit) for n in numbers} if limit > 0 else {max(int(first), min(numbers[-1], -limit))}
counts = sorted(counts - {int(elsewhere or 0)} or counts)
for count in counts:
    command = shlex.split(launcher) + ["-n", str(count)] + shlex.split(checker) + program
    environment = dict(os.environ)
    if count > (os.cpu_count() or 1):
        environment.setdefault("GMPI_CPU_THREADS", "1")
    status = subprocess.run(command, env=environment).returncode
    if status != 0:
        print("exit status %d: %s" % (status, shlex.join(command)), file=sys.stderr)
        sys.exit(status if status > 0 else 1)
