# The unit tests: every program NAME_test in this build folder's test/runtime, run by lit, so that one
# runner counts everything. `bin/lit test/runtime` runs them alone.
import os

import lit.formats

lit_config.load_config(config, os.path.join(config.gmpi_source_dir, "cmake/lit/gmpi.cfg.py"))
config.name = "gmpi-runtime" + config.gmpi_suite_suffix
config.test_source_root = config.test_exec_root = os.path.join(
    config.gmpi_binary_dir, "test", "runtime")
config.test_format = lit.formats.GoogleTest(".", "_test", run_under=["timeout", "-k", "5", "300"])
