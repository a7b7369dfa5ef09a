"""lowerings.py LOWERING,... COMMAND...: runs a test's command once with each lowering (GMPI_LOWER).

What `%each-lowering` in a test stands for. The first run that fails ends it; so does one that prints
anything else on stdout than the first did (lowerings may differ in speed, never in results), and one in
which a kernel took another lowering because it does not have this one.
"""
import difflib
import os
import shlex
import subprocess
import sys

lowerings, *command = sys.argv[1:]
first = None
for lowering in lowerings.split(","):
    environment = dict(os.environ, GMPI_LOWER=lowering)
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    print("GMPI_LOWER=%s:\n%s" % (lowering, done.stdout), end="", flush=True)
    if done.returncode != 0:
        print("exit status %d: GMPI_LOWER=%s %s" % (done.returncode, lowering, shlex.join(command)),
              file=sys.stderr)
        sys.exit(done.returncode if done.returncode > 0 else 1)
    if "GMPI_LOWER is '%s', but" % lowering in done.stdout + done.stderr:
        print("a kernel does not have the lowering '%s'" % lowering, file=sys.stderr)
        sys.exit(1)
    lines = done.stdout.splitlines(keepends=True)
    if first is None:
        first = lowering, lines
    elif lines != first[1]:
        sys.stderr.writelines(difflib.unified_diff(first[1], lines, first[0], lowering))
        sys.exit(1)
