"""Adds up lit's result files; prints `N passed, N failed, N skipped`, as the last line of ./check. Before
it, each test that failed with the last lines of what it has said: who keeps only an output's end has them.

Reads the files that lit writes for --xunit-xml-output: those for -o leave out what GoogleTest skipped.
Exits with 1 if a test failed, if a result is missing, or if no test ran at all: a run of nothing must
not pass for a run of everything.
"""
import sys
import xml.etree.ElementTree

NOT_SELECTED = "Test not selected"  # lit's reason for a test that the filter leaves out

LAST_LINES = 20


def main(files):
    passed = failed = skipped = 0
    for name in files:
        for test in xml.etree.ElementTree.parse(name).iter("testcase"):
            skip = test.find("skipped")
            failure = test.find("failure")
            if failure is not None:
                failed += 1
                print("FAIL: %s/%s" % (test.get("classname"), test.get("name")))
                for line in (failure.text or "").rstrip().splitlines()[-LAST_LINES:]:
                    print("    " + line)
            elif skip is None:
                passed += 1
            elif not skip.get("message", "").startswith(NOT_SELECTED):
                skipped += 1
    if passed + failed == 0:
        print("No test ran.")
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
