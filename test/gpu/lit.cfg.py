# The end-to-end tests of test/run once more, compiled for the cuda device and run on a GPU. Without a
# GPU each is counted as skipped. With `--param compute-sanitizer=memcheck` (or racecheck, synccheck,
# initcheck) every rank runs under compute-sanitizer; with `--param gpu-aware=yes` what needs an MPI library
# that takes device pointers runs, too. For a machine without Clang: translate-all here, run-on-gpu there.
import os

config.gmpi_device = "cuda"
config.gmpi_max_ranks = 2
tool = lit_config.params.get("compute-sanitizer")
if tool:
    config.gmpi_checker = "compute-sanitizer --tool %s --error-exitcode 99" % tool
lit_config.load_config(config, os.path.join(config.gmpi_source_dir, "cmake/lit/gmpi.cfg.py"))
config.name = "gmpi-gpu" + config.gmpi_suite_suffix
config.test_source_root = os.path.join(config.gmpi_source_dir, "test", "run")
config.test_exec_root = os.path.join(config.gmpi_binary_dir, "test", "gpu")
if lit_config.params.get("gpu-aware"):
    config.available_features.add("gpu-aware")
config.unsupported = "gpu" not in config.available_features
config.substitutions += [
    ("%source-dir", config.gmpi_source_dir),
    ("%binary-dir", config.gmpi_binary_dir),
]
