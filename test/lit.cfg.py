# This project's test suite: translate/ (the translator's output and messages), gmpicxx/ (commands),
# run/ (programs under mpiexec), package/ (what is installed), docs/, setup/ (quickstart, check). Unit
# tests (runtime/) and GPU runs (gpu/) are suites of their own. Everything a test may say is set up in
# cmake/lit/gmpi.cfg.py, which users' tests load too.
import os
import platform
import shlex
import shutil
import subprocess

# `--param one-run-with=openmpi`: of what is run with several numbers of ranks, one run is enough with that MPI: with
# three, where that is one of them. Those are left out with the other then.
once = lit_config.params.get("one-run-with")
if once:
    config.gmpi_max_ranks = "-3" if once == (config.gmpi_suite_suffix[1:] or "mpich") else "4/3"
lit_config.load_config(config, os.path.join(config.gmpi_source_dir, "cmake/lit/gmpi.cfg.py"))
config.name = "gmpi" + config.gmpi_suite_suffix
config.available_features.add("suite" + config.gmpi_suite_suffix) # suite-thread: under ThreadSanitizer
config.available_features.add(platform.machine()) # x86_64, aarch64
config.test_source_root = os.path.join(config.gmpi_source_dir, "test")
config.test_exec_root = os.path.join(config.gmpi_binary_dir, "test")
excludes = {"Inputs", "gpu", "runtime", "CMakeLists.txt"}

def is_current(header, level):
    """Whether none of the files that `header`, precompiled at that level, was made of is younger: g++ does not
    look."""
    try:
        made = os.path.getmtime(os.path.join(header + ".gch", level))
        with open("%s.gch.%s.d" % (header, level)) as depfile:
            sources = depfile.read().partition(":")[2].replace("\\\n", " ").split()
        return all(os.path.getmtime(source) <= made for source in sources)
    except OSError:
        return False


# Headers that test/CMakeLists.txt has compiled; g++ ignores them where its flags differ.
config.gmpi_precompiled = ""
precompiled = os.path.join(config.gmpi_binary_dir, "test", "precompiled")
if all(is_current(os.path.join(precompiled, "cuda_runtime.h"), level) for level in ("O0", "O1")):
    config.gmpi_precompiled = "-iquote " + precompiled
else:
    lit_config.note("the precompiled headers are missing or out of date, and not used: build gmpi-precompiled")
config.substitutions = [(name, command + " " + config.gmpi_precompiled if name == "%compile-cpu" else command)
                        for name, command in config.substitutions]


def compile_with_open_mpi():
    """%compile-cuda against Open MPI's headers, whatever MPI this build is for; where Open MPI is not
    installed, a command that does nothing."""
    wrapper = shutil.which("mpicxx.openmpi")
    words = shlex.split(dict(config.substitutions)["%compile-cuda"])
    if not wrapper or words == ["true"]:
        return "true"
    folders = subprocess.run([wrapper, "--showme:incdirs"], capture_output=True, text=True, check=True)
    with open(config.gmpi_conf_path) as conf:
        own = [line.partition(": ")[2].strip() for line in conf if line.startswith("mpi.compile: ")]
    return shlex.join([word for word in words if word not in own] +
                      ["-I" + folder for folder in folders.stdout.split()])


# Before the shorter name, which lit would find in it.
config.substitutions.insert(0, ("%compile-cuda-openmpi", compile_with_open_mpi()))
config.substitutions += [
    ("%source-dir", config.gmpi_source_dir),
    ("%binary-dir", config.gmpi_binary_dir),
    ("%cmake-generator", config.gmpi_cmake_generator),
    ("%cmake", config.gmpi_cmake),
    ("%lit", config.gmpi_lit),
]
# A build without the tool tests what depends on its MPI and its compiler flags; the rest was tested
# where the tool was built.
if config.gmpi_build_tool:
    config.available_features.add("tool")
else:
    excludes |= {"translate", "gmpicxx", "package", "docs", "setup"}
config.excludes = excludes
