# The ids in Diagnostics.def, the pages in docs/diagnostics and the ids that tests expect must be the
# same sets. Prints what is missing where.
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
table = (root / "tool/translate/Diagnostics.def").read_text()
ids = {name.replace("_", "-") for name in re.findall(r"^GMPI_DIAGNOSTIC\((\w+)", table, re.M)}
pages = {page.stem for page in (root / "docs/diagnostics").glob("*.md")} - {"README"}
tests = set()
for path in (root / "test/translate").rglob("*"):
    if path.suffix in (".cu", ".test"):
        tests |= set(re.findall(r"\[?gmpi-([a-z-]+)\]", path.read_text()))

sets = {"Diagnostics.def": ids, "docs/diagnostics": pages, "the tests": tests}
everything = set().union(*sets.values())
missing = [f"{name} lack {id}" for name, has in sets.items() for id in sorted(everything - has)]
print("\n".join(missing) or f"{len(ids)} ids: all the same")
sys.exit(bool(missing))
