import os
import shutil

config.name = "my-kernels"
config.test_source_root = os.path.dirname(__file__)
prefix = os.path.dirname(os.path.dirname(shutil.which("gmpi-translate")))
lit_config.load_config(config, os.path.join(prefix, "share/gmpi/lit/gmpi.cfg.py"))
config.suffixes = [".test"]
