"""Carries out the commands of docs/performance.md on this machine, one behind the other.

    python3 docs/measure.py [--programs=DIR] [--mpirun=COMMAND] [--only=TEXT] [--seconds=N] [--list] OUT

A command is an indented line with `mpirun`; N in it is 1, 16 and 132. --programs says where gmpi-bench
and the samples are (.), --mpirun what stands for `mpirun`, --only takes the commands that have TEXT in
them, --seconds ends what takes longer (300). What a command prints goes to OUT/NN-PROGRAM.txt, the
tables of gmpi-bench to OUT/NN-PROGRAM.json as well. At the end: a line for each, with its exit status and
seconds, and exit status 1 where one has failed: what has GMPI_GPU_AWARE=1 needs an MPI library that
takes device memory. --list only prints the commands.

The page is the only place where a command is named, and each table stands below its own.
"""
import argparse
import os
import pathlib
import re
import shlex
import subprocess
import time

page = pathlib.Path(__file__).resolve().parent / "performance.md"

COMMAND = re.compile(r"    (?P<environment>(?:[A-Z_]+=\S+ )*)mpirun (?P<rest>.*?)(?: +#.*)?$")
BLOCKS = ["1", "16", "132"]


def options():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--programs", default=".")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("out", nargs="?")
    given = parser.parse_args()
    if not given.list and not given.out:
        parser.error("OUT is missing: the folder for what the commands print")
    return given


class Command:
    """One command of the page, for one number of blocks."""

    def __init__(self, environment, words):
        self.environment, self.words = environment, words
        at = next(i for i, word in enumerate(words) if word.startswith("./"))
        self.program = words[at][2:]
        self.name = self.program + ("-" + words[at + 1] if self.is_bench() else "")

    def is_bench(self):
        return self.program == "gmpi-bench"

    def __str__(self):
        return " ".join(self.environment + ["mpirun"] + self.words)

    def line(self, given, json):
        words = [os.path.join(given.programs, word[2:]) if word.startswith("./") else word
                 for word in self.words]
        return shlex.split(given.mpirun) + words + (["--json", json] if self.is_bench() else [])


def commands():
    """Each once, in the page's order."""
    found = {}
    for line in page.read_text().splitlines():
        match = COMMAND.match(line)
        if not match:
            continue
        words = shlex.split(match["rest"])
        for blocks in BLOCKS if "N" in words else [""]:
            command = Command(match["environment"].split(),
                              [blocks if word == "N" else word for word in words])
            found.setdefault(str(command), command)
    return list(found.values())


def carry_out(given, command, number):
    """Exit status, or what stands for it, and seconds. Nothing of the command is left running."""
    name = os.path.join(given.out, "%02d-%s" % (number, command.name))
    environment = dict(os.environ, **dict(word.split("=", 1) for word in command.environment))
    limit = ["timeout", "-k", "5", str(given.seconds)]
    begin = time.time()
    with open(name + ".txt", "w") as text:
        print(command, file=text, flush=True)
        status = subprocess.run(limit + command.line(given, name + ".json"), env=environment, stdout=text,
                                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL).returncode
    return "ended" if status in (124, 137) else status, time.time() - begin


def main():
    given = options()
    chosen = [command for command in commands() if given.only in str(command)]
    if not chosen:
        raise SystemExit("measure.py: no command of performance.md has '%s' in it" % given.only)
    if given.list:
        print("\n".join(map(str, chosen)))
        return
    os.makedirs(given.out, exist_ok=True)
    results = []
    for number, command in enumerate(chosen, 1):
        print(command, flush=True)
        results.append((command, *carry_out(given, command, number)))
    print("\n%-8s %8s  command" % ("status", "seconds"))
    for command, status, seconds in results:
        print("%-8s %8.1f  %s" % (status, seconds, command))
    raise SystemExit(any(status != 0 for _, status, _ in results))


if __name__ == "__main__":
    main()
