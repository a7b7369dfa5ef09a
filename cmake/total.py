"""Adds up lit's result files; prints `N passed, N failed, N skipped`, as the last line of ./check.

Exits with 1 if a test failed, if a result is missing, or if no test ran at all: a run of nothing must
not pass for a run of everything.
"""
import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main(files):
    passed = failed = skipped = 0
    for name in files:
        with open(name) as results:
            tests = json.load(results)["tests"]
        for test in tests:
            if test["code"] in PASSED:
                passed += 1
            elif test["code"] in SKIPPED:
                # A test left out by the filter is not part of this run.
                skipped += test["code"] != "EXCLUDED"
            else:
                failed += 1
                print("%s: %s" % (test["code"], test["name"]))
    if passed + failed == 0:
        print("No test ran.")
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
