"""What a failed MPI program has said itself, apart from what its launcher says about the failure.

mpirun encloses its paragraphs in lines of dashes, MPICH's mpiexec its own in lines of equals signs; a few
sentences follow without. As a program: standard input's lines, the launcher's left out.
"""
import re
import sys

RULE = re.compile(r"\s*(-{20,}|={20,})\s*$")
SENTENCE = re.compile(r"YOUR APPLICATION TERMINATED WITH|This typically refers to a problem with|"
                      r"Please see the FAQ page for debugging|\[(mpiexec|proxy:[^]]*)@|"
                      r"\[[^]]*\] \d+ more process(es)? (has|have) sent help message|"
                      r"\[[^]]*\] Set MCA parameter \"orte_base_help_aggregate\"|"
                      r"Primary job +terminated normally|mpi(run|exec) (detected|noticed) that|^mpirun: ")


def own_lines(text):
    """The program's lines; a rule that nothing closes hides no more than itself."""
    lines = text.splitlines()
    rules = [i for i, line in enumerate(lines) if RULE.match(line)]
    hidden = set(rules)
    for begin, end in zip(rules[::2], rules[1::2]):
        hidden.update(range(begin, end))
    return [line for i, line in enumerate(lines) if i not in hidden and not SENTENCE.search(line)]


def last_words(text, count):
    """The last lines of the program's own, or, where it has said nothing, of the launcher's."""
    own = [line for line in own_lines(text) if line.strip()]
    return (own or text.splitlines())[-count:]


if __name__ == "__main__":
    print("\n".join(own_lines(sys.stdin.read())))
