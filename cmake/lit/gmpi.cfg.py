# The lit configuration for tests of translated programs. This project's own tests load it, and so,
# from the installation, do its users': docs/testing-your-rewrites.md shows how. It reads gmpi.conf,
# the same file gmpicxx reads, and offers
#   %gmpi-translate  %gmpicxx  %mpiexec  %ranks  %device  %compile-cuda  %assemble-cuda  %compile-cpu
#   %all-lowerings  %each-lowering
# FileCheck, not and split-file on PATH, and the features cpu, cuda, nvcc, gpu, two-gpus, mpich, openmpi,
# lower-queue and so on.
import os
import re
import shutil
import subprocess
import sys

import lit.formats


def read_conf(path):
    """gmpi.conf as {key: [values]}, with $PREFIX replaced by the folder two levels above it."""
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(path))))
    conf = {}
    with open(path) as lines:
        for line in lines:
            key, colon, value = line.strip().partition(": ")
            if colon and not key.startswith("#"):
                conf.setdefault(key, []).append(value.replace("$PREFIX", prefix))
    return conf


def count_gpus():
    try:
        out = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    return out.stdout.count("GPU ") if out.returncode == 0 else 0


def offered_lowerings(translator):
    """Those that the translator's help names after --lower."""
    try:
        told = subprocess.run([translator, "--help"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired):
        told = ""
    option = "".join(re.findall(r"--lower=.*", told))
    return [name for name in ["queue", "split", "stream"] if name in option] or ["queue"]


def first(key):
    return gmpi_conf.get(key, [""])[0]


def quoted(words):
    return " ".join("'%s'" % word if " " in word else word for word in words)


# Callers may have set gmpi_conf_path (else: the gmpi.conf of the installation this file is part of),
# gmpi_tool_dir (where the programs are) and gmpi_device (the device %gmpicxx compiles for) in config.
here = os.path.dirname(os.path.abspath(__file__))
conf_path = getattr(config, "gmpi_conf_path", os.path.join(here, "..", "gmpi.conf"))
gmpi_conf = read_conf(conf_path)
tool_dir = getattr(config, "gmpi_tool_dir", None) or first("bin")
device = getattr(config, "gmpi_device", "cpu")
family = first("mpi.family")

config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".cu", ".test"]
config.excludes = ["Inputs"]

# --- programs on PATH -------------------------------------------------------------------------------
llvm_bin = gmpi_conf.get("llvm-bin", [])
tool_conf = os.path.join(tool_dir, "..", "share", "gmpi", "gmpi.conf")
if not llvm_bin and os.path.exists(tool_conf):  # a build of the runtime alone: the translator's build
    llvm_bin = read_conf(tool_conf).get("llvm-bin", [])
path = [tool_dir] + llvm_bin + [config.environment.get("PATH", os.environ["PATH"])]
config.environment["PATH"] = os.pathsep.join(path)
for name in ["HOME", "TMPDIR", "CUDA_VISIBLE_DEVICES", "LD_LIBRARY_PATH", "CCACHE_DIR", "CUDA_HOME"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

# --- features ---------------------------------------------------------------------------------------
nvcc = first("nvcc") or shutil.which("nvcc") or ""
gpus = count_gpus() if nvcc else 0
config.available_features |= set(gmpi_conf.get("device", []))
if family:
    config.available_features.add(family)
if nvcc:
    config.available_features.add("nvcc")
if gpus >= 1:
    config.available_features.add("gpu")
if gpus >= 2:
    config.available_features.add("two-gpus")

# What --lower may say. `--param lower=queue` tests that one alone.
lowerings = lit_config.params.get("lower", "").split(",")
if lowerings == [""]:
    lowerings = offered_lowerings(os.path.join(tool_dir, "gmpi-translate"))
config.available_features |= {"lower-" + name for name in lowerings}

# --- running under MPI ------------------------------------------------------------------------------
# A run that hangs is ended, its launcher and all its ranks. GMPI_TEST_TIMEOUT: seconds a run may take.
seconds = os.environ.get("GMPI_TEST_TIMEOUT", "120")
mpiexec = [first("mpi.exec") or "mpiexec"]
if family == "openmpi":
    mpiexec = ["sh", os.path.join(here, "openmpi-session.sh")] + mpiexec
    mpiexec += ["--allow-run-as-root", "--oversubscribe"]
    config.environment["OMPI_MCA_btl_vader_single_copy_mechanism"] = "none"
    config.environment["OMPI_MCA_rmaps_base_oversubscribe"] = "1"
    if device == "cpu":  # on one host it is what Open MPI chooses; looking for others takes half of a start
        config.environment["OMPI_MCA_pml"] = os.environ.get("OMPI_MCA_pml", "ob1")
mpiexec = ["timeout", "-k", "5", seconds] + mpiexec
# Ranks of many tests at once on few cores slow each other down more than they gain. Two are let run even
# there: a third of such a test's time is the compiler's. Ranks that wait for seconds, and do nothing, need no core.
lit_config.parallelism_groups.setdefault("mpi", max(2, (os.cpu_count() or 2) // 2))
lit_config.parallelism_groups.setdefault("waits", 4)

# --- what tests say ---------------------------------------------------------------------------------
mpi_flags = gmpi_conf.get("mpi.compile", []) + ["-DMPICH_SKIP_MPICXX", "-DOMPI_SKIP_MPICXX"]
includes = ["-I" + folder for folder in gmpi_conf.get("include", [])]
cpu_includes = ["-I" + folder for folder in gmpi_conf.get("cpu.include", [])]

compile_cpu = [first("host-compiler") or "g++", "-x", "c++", "-std=c++17", "-fsyntax-only", "-Wall"]
compile_cpu += ["-DGMPI_DEVICE_CPU=1"] + cpu_includes + includes + mpi_flags
compile_cpu += ["-include", "cuda_runtime.h"]
compile_cuda = assemble_cuda = ["true"]
if nvcc:
    common = [nvcc, "-std=c++17", "-rdc=true", "-x", "cu", "-c", "-o", "%t.compiled.o"] + includes + mpi_flags
    assemble_cuda = common + ["-arch=sm_90"]
    # To PTX, as fast as nvcc can, and without what is behind the MPI calls, is a sixth of that.
    compile_cuda = common + ["-arch=compute_90", "-DGMPI_CALLS_ELSEWHERE"]
    if "--Ofast-compile" in subprocess.run([nvcc, "--help"], capture_output=True, text=True).stdout:
        compile_cuda.append("--Ofast-compile=max") # CUDA 13

# `%ranks 1-4 PROGRAM` runs it with 1, 2, 3 and 4 ranks. A suite may set gmpi_max_ranks (LIMIT of ranks.py), and
# gmpi_checker, a command under which every rank runs.
checker = getattr(config, "gmpi_checker", "")
max_ranks = getattr(config, "gmpi_max_ranks", 4)
config.substitutions.append(("%ranks", "%s %s '%s' '%s' %s" % (
    sys.executable, os.path.join(here, "ranks.py"), " ".join(mpiexec), checker, max_ranks)))
# `%gmpicxx %all-lowerings` builds a program with every lowering, `%each-lowering %ranks 1-3 PROGRAM`
# runs it with one after the other and compares what they print.
config.substitutions += [
    ("%all-lowerings", "--lower=" + ",".join(lowerings)),
    ("%each-lowering", "%s %s %s" % (sys.executable, os.path.join(here, "lowerings.py"),
                                     ",".join(lowerings))),
]
if checker:
    config.substitutions += [("%%mpiexec -n %d " % ranks, "%%mpiexec -n %d %s " % (ranks, checker))
                             for ranks in range(1, 9)]

config.substitutions += [
    ("%gmpi-translate", os.path.join(tool_dir, "gmpi-translate")),
    ("%gmpicxx", quoted([os.path.join(tool_dir, "gmpicxx"), "--conf=" + os.path.abspath(conf_path),
                         "--device=" + device])),
    ("%mpiexec", quoted(mpiexec)),
    ("%compile-cuda", quoted(compile_cuda)),
    ("%assemble-cuda", quoted(assemble_cuda)),
    ("%compile-cpu", quoted(compile_cpu)),
    ("%device", device),
]

# --- sanitizers, where this GMPI was built with one -------------------------------------------------
# MPI libraries leak and race by design; suppressions keep the reports about this project's code.
# A library that a program loads has a copy of the runtime's variables, and uses the program's.
config.environment["ASAN_OPTIONS"] = "detect_leaks=0:detect_stack_use_after_return=0:detect_odr_violation=1"
suppressions = os.path.join(here, "tsan.supp")
config.environment["TSAN_OPTIONS"] = "suppressions=%s:halt_on_error=0:exitcode=66" % suppressions
# UCX, under MPICH and Open MPI, would hook madvise(), which every ending thread calls when
# ThreadSanitizer has forgotten it already: a crash.
config.environment["UCX_MEM_EVENTS"] = "no"
