import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
broken = []
for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if "://" not in target and not (page.parent / target).exists():
            broken.append("%s: %s" % (page.relative_to(root), target))
print("\n".join(broken) if broken else "all links lead somewhere")
sys.exit(bool(broken))
