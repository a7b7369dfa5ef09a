# The example of docs/transform.md, "Split kernels", is what the translator makes of it: the same but for
# white space and the number that stands for the file.
import pathlib
import re
import subprocess
import sys

root, translator, folder = sys.argv[1:]
text = (pathlib.Path(root) / "docs/transform.md").read_text().split("## Split kernels")[1]
before, after = re.findall(r"^```cuda\n(.*?)^```", text, re.M | re.S)[:2]
source = pathlib.Path(folder) / "relax.cu"
output = pathlib.Path(folder) / "out.cu"
source.write_text("#include <mpi.h>\n" + before)
subprocess.run([translator, "--lower=split", "--cuda-path=none", source, "-o", output], check=True)


def plain(code):
    return re.sub(r"\s+", "", re.sub(r"\{0x[0-9a-f]+,", "{FILE,", code))


if plain(after) not in plain(output.read_text()):
    sys.exit("docs/transform.md does not show what comes out:\n" + output.read_text())
print("the example is true")
