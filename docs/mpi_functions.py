"""Writes docs/mpi-functions.md from runtime/mpi/functions.def; with --check, tells whether it is current.

The table of functions is the only place where a function is named; this page is derived from it.
"""
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parent.parent
table = root / "runtime" / "mpi" / "functions.def"
page = root / "docs" / "mpi-functions.md"

KINDS = {
    "blocking": "returns when the operation is done (`MPI_Iprobe`: when it has looked)",
    "collective": "called by every rank of the communicator; returns when done",
    "nonblocking": "returns a request",
    "completion": "waits for, or tests, requests",
    "local": "asks nobody else; synchronises nothing",
    "terminal": "does not return",
}

HEAD = """# MPI functions in kernels

Made from `runtime/mpi/functions.def` by `python3 docs/mpi_functions.py`; a test keeps the two in step.

These functions may be called in `__global__` and `__device__` code, with MPI's own arguments. Every
other `MPI_` name in device code is refused by name. *Carried out as* is the nonblocking function the
proxy starts on the host; where none stands, the runtime has code of its own for it.

| function | arguments | kind | carried out as |
| --- | --- | --- | --- |
"""


def rows():
    text = re.sub(r"//[^\n]*", "", table.read_text())
    pattern = r"^GMPI_FUNCTION(_0)?\((\w+),\s*(\w+),\s*(\w+)(?:,\s*\(([^)]*)\))?\)"
    for match in re.finditer(pattern, text, re.M | re.S):
        bare, name, start, kind, roles = match.groups()
        arguments = ", ".join(role.strip() for role in (roles or "").split(","))
        start = "" if bare or start == "None" else "`MPI_%s`" % start
        yield "| `MPI_%s` | %s | %s | %s |" % (name, arguments, kind, start)


def render():
    kinds = "".join("- *%s*: %s\n" % item for item in KINDS.items())
    return HEAD + "\n".join(rows()) + "\n\nKinds:\n\n" + kinds


if __name__ == "__main__":
    if "--check" in sys.argv[1:]:
        if not page.exists() or page.read_text() != render():
            sys.exit("docs/mpi-functions.md is not current: run python3 docs/mpi_functions.py")
        print("docs/mpi-functions.md is current")
    else:
        page.write_text(render())
