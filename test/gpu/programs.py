"""The end-to-end programs of test/run, read off their RUN lines, for machines without lit or Clang.

What can be carried there:
    RUN: %gmpicxx [%all-lowerings] SOURCE... -o %t
    RUN: [env NAME=VALUE...] [%each-lowering] %ranks N[-M] %t ARGUMENTS
    RUN: [env NAME=VALUE...] [not] %mpiexec -n N %t ARGUMENTS [2>&1 | FileCheck %s OPTIONS]
    RUN: %if !gpu || gpu-aware %{ any of these %}
Any other RUN line is kept in left_out, so that nothing is left out silently.

Every program is translated with both lowerings and each RUN line is run with either, unless the line sets
GMPI_LOWER, or unsets it (env -u GMPI_LOWER), or the program says what it is for:
    LOWERINGS: queue (why)
"""
import glob
import os
import re
import shlex

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, "test", "run")
NAMED_BY_FOLDER = ["gpu_aware", "hangs"] # whose programs have names like gpu_aware-NAME
LOWERINGS = ["queue", "split"]

FOR_GPU_AWARE = re.compile(r"%if !gpu \|\| gpu-aware %\{ (.*) %\}")

RUN_LINE = re.compile(r"(?:env (-u GMPI_LOWER )?((?:\S+=\S+ )*))?(not )?(%each-lowering )?"
                      r"(?:%ranks (\d)(?:-(\d))?|%mpiexec -n (\d)) %t ?(.*)")


class Run:
    def __init__(self, found, lowerings):
        unset, settings, fails, compared, first, last, ranks, rest = found.groups()
        arguments, piped, checked = rest.partition("2>&1 | FileCheck %s")
        self.environment = dict(setting.split("=", 1) for setting in (settings or "").split())
        # None: GMPI_LOWER is not set, or the RUN line sets it.
        decided = unset or "GMPI_LOWER" in self.environment or "--compare" in arguments
        # Split kernels do not carry messages themselves.
        self.lowerings = [None] if decided else ["queue"] if "GMPI_PEER" in self.environment else lowerings
        self.is_compared = bool(compared)
        self.fails = bool(fails)
        self.max_ranks = int(last or first or ranks)
        self.exact_ranks = ranks is not None
        self.arguments = shlex.split(arguments)
        named = re.search(r"--check-prefix(?:es)?=(\S+)", checked)
        self.prefixes = (named.group(1).split(",") if named else ["CHECK"]) if piped else []

    def title(self, lowering):
        settings = dict(self.environment, **({"GMPI_LOWER": lowering} if lowering else {}))
        return " ".join(["%s=%s" % setting for setting in settings.items()] + self.arguments)


class Program:
    def __init__(self, path, gpu_aware):
        self.path = path
        self.name = os.path.splitext(os.path.basename(path))[0]
        folder = os.path.basename(os.path.dirname(path))
        if folder in NAMED_BY_FOLDER:
            self.name = folder + "-" + self.name
        self.sources, self.runs, self.left_out = [], [], []
        with open(path) as file:
            self.lines = file.read().splitlines()
        self.runs_on_gpus = not any(re.search(r"UNSUPPORTED: gpu$", line) for line in self.lines)
        said = re.search(r"^(?://\s*)?LOWERINGS: (\w+)", "\n".join(self.lines), re.MULTILINE)
        self.lowerings = [said.group(1)] if said else LOWERINGS
        for line in self.lines:
            found = re.match(r"(?://\s*)?RUN:\s*(.*)", line)
            if found:
                self.read(FOR_GPU_AWARE.sub(r"\1", found.group(1)) if gpu_aware else found.group(1))

    def read(self, line):
        compiled = re.fullmatch(r"%gmpicxx (?:%all-lowerings )?([^-]\S* ?.*) -o %t", line)
        run = RUN_LINE.fullmatch(line)
        if compiled and not self.sources:
            names = {"%s": self.path, "%S": os.path.dirname(self.path), "%source-dir": ROOT}
            text = re.sub(r"%(source-dir|s|S)\b", lambda name: names[name.group()], compiled.group(1))
            self.sources = [path for word in shlex.split(text) for path in sorted(glob.glob(word)) or [word]]
        elif run and not self.left_out_build() and ">" not in run.group(8).replace("2>&1 | FileCheck %s", ""):
            self.runs.append(Run(run, self.lowerings))
        else:
            self.left_out.append(line)

    def left_out_build(self):
        """Whether %t is by now another program than the one that is carried."""
        return any(line.startswith("%gmpicxx") for line in self.left_out)

    def missing_text(self, run, output):
        """The first of the run's CHECK lines (plain, -SAME, -NEXT: in order; -DAG: anywhere; -NOT: not behind the last match)
        that the output does not keep to; None where it keeps to all."""
        position = 0
        directive = re.compile(r"\s*(?://\s*)?(?:%s)(-SAME|-NEXT|-DAG|-NOT)?:\s*(.*?)\s*$" % "|".join(run.prefixes or ["^"]))
        for number, line in enumerate(self.lines, 1):
            found = directive.match(line)
            if not found:
                continue
            kind, text = found.groups()
            anywhere = kind in ("-DAG", "-NOT")
            begin = 0 if kind == "-DAG" else position
            matched = re.compile(as_regex(text, number), re.MULTILINE).search(output, begin)
            if bool(matched) == (kind == "-NOT"):
                return text
            if not anywhere:
                position = matched.end()
        return None


def as_regex(text, line):
    """FileCheck's {{regex}}, [[@LINE+n]] and [[NAME:regex]] (not kept) as one regular expression."""
    parts = re.split(r"(\{\{.*?\}\}|\[\[.*?\]\])", text)
    for i, part in enumerate(parts):
        if part.startswith("{{"):
            parts[i] = "(?:%s)" % part[2:-2]
        elif part.startswith("[[@LINE"):
            parts[i] = str(line + int(part[7:-2] or 0))
        elif part.startswith("[["):
            parts[i] = "(?:%s)" % (part[2:-2].partition(":")[2] or ".*?")
        else:
            parts[i] = re.sub(r"(\\ )+", r"[ \\t]+", re.escape(part)) # FileCheck: any space is as good
    return "".join(parts)


def nvcc_command(nvcc, architecture, source, includes):
    """nvcc's command line but for what to make; source: a translated file, and the folder it came from."""
    translated, folder = source
    command = [nvcc, "-std=c++17", "-arch=" + architecture, "-rdc=true", "-x", "cu", translated]
    command += ["-I" + path for path in [os.path.join(ROOT, "runtime", "include")] + includes]
    command += ["-Xcompiler=-iquote", "-Xcompiler=" + (folder or ".")]
    return command + ["-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX"]


def programs(only=(), gpu_aware=False):
    """`gpu_aware`: also those that need an MPI library which takes device pointers."""
    patterns = ["*.cu", "*.test", "split/*.cu", "hangs/*.cu"] + (["gpu_aware/*.cu"] if gpu_aware else [])
    paths = sorted(path for pattern in patterns for path in glob.glob(os.path.join(FOLDER, pattern)))
    found = [program for program in (Program(path, gpu_aware) for path in paths) if program.runs_on_gpus]
    return [program for program in found if not only or program.name in only]
