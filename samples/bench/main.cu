// gmpi-bench: what MPI in kernels costs, beside its limits and what others do, measured in one run.
//
//   gmpi-bench list
//   [mpiexec -n 2] gmpi-bench NAME [--OPTION NUMBER...] [--json FILE]
//   gmpi-bench plot FILE.json... -o FILE.png
#include "../common/refuse.h"
#include "bench.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace {

[[noreturn]] void refuse_bench(const std::string &sentence) { refuse("gmpi-bench: " + sentence); }

struct Experiment {
  const char *name, *line;
  int least_ranks, most_ranks; // 0: any number
  const char *takes;           // options beside those that all take
  void (*run)(bench::Bench &);
};

constexpr Experiment experiments[] = {
    {"summary", "messages and collective calls: in kernels, by hand, by others", 2, 2,
     "max blocks threads", experiments::summary},
    {"launch", "kernel launches from the host and from a kernel", 1, 1, "", experiments::launch},
    {"attribute", "asking the proxy: round trip by scope, questions a second", 1, 1,
     "blocks threads", experiments::attribute},
    {"ksync", "two running kernels on one GPU, and the way to the host", 1, 1, "",
     experiments::ksync},
    {"pingpong", "a message to the other kernel and back, by size", 2, 2,
     "min max blocks threads compute", experiments::pingpong},
    {"exchange", "messages each way, by the calls that trade them, and by size", 2, 2,
     "min max blocks threads messages", experiments::exchange},
    {"bandwidth", "windows of messages, GB/s by size", 2, 2, "min max blocks threads window",
     experiments::bandwidth},
    {"msgrate", "8-byte messages a second by number of threads", 2, 2, "blocks threads",
     experiments::msgrate},
    {"overlap", "communication hidden by computation of the same kernel", 2, 2,
     "min max blocks threads compute", experiments::overlap},
    {"collectives", "Barrier, Bcast, Allreduce and Alltoall by size", 1, 0,
     "min max blocks threads", experiments::collectives},
    {"halo", "a step of neighbour exchange in two and three dimensions", 1, 0, "max blocks threads",
     experiments::halo},
    {"split", "suspending a split kernel, by what lives across the call", 1, 0, "blocks threads",
     experiments::split},
    {"dormant", "what a kernel pays for an MPI call that it does not make", 1, 1,
     "blocks threads size", experiments::dormant},
};

struct Option {
  const char *name, *meaning;
  double least, most;
  const char *unit = ""; // may stand behind the number
};

constexpr Option known_options[] = {
    {"repeat", "times that each thing is measured", 1, 10000},
    {"iterations", "exchanges or calls of one measurement", 1, 1e6},
    {"min", "bytes, the smallest message", 1, 1 << 28},
    {"max", "bytes, the largest message", 1, 1 << 28},
    {"blocks", "blocks of a grid", 1, 65535},
    {"threads", "threads of a block", 1, 512},
    {"window", "messages under way at a time", 1, 64},
    {"messages", "messages each way, instead of 1 and then 6", 1, 16},
    {"size", "points of a stencil in each dimension", 1, 1024},
    {"compute", "microseconds that a kernel computes", 0, 1e6, "us"},
};
constexpr char taken_by_all[] = "repeat iterations";

bool is_word_of(const std::string &word, const char *list) {
  return (" " + std::string(list) + " ").find(" " + word + " ") != std::string::npos;
}

double parse_number(const Option &option, const char *text) {
  char *end = nullptr;
  double value = text == nullptr ? 0 : std::strtod(text, &end);
  if (text == nullptr || end == text || (*end != '\0' && std::strcmp(end, option.unit) != 0) ||
      value != std::floor(value) || value < option.least || value > option.most) {
    char sentence[200];
    std::snprintf(sentence, sizeof sentence, "--%s (%s) takes a whole number from %.0f to %.0f.",
                  option.name, option.meaning, option.least, option.most);
    refuse_bench(sentence);
  }
  return value;
}

/// The options from argv[2] on, for this experiment.
bench::Options parse(const Experiment &experiment, int argc, char **argv) {
  bench::Options options;
  for (int i = 2; i < argc; i += 2) {
    const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
    std::string name = std::strncmp(argv[i], "--", 2) == 0 ? argv[i] + 2 : "";
    auto known = std::find_if(std::begin(known_options), std::end(known_options),
                              [&](const Option &option) { return option.name == name; });
    if (name == "json" && value != nullptr)
      options.json = value;
    else if (name == "json")
      refuse_bench("--json takes the name of a file.");
    else if (known != std::end(known_options) &&
             (is_word_of(name, taken_by_all) || is_word_of(name, experiment.takes)))
      options.numbers.emplace_back(name, parse_number(*known, value));
    else
      refuse_bench(std::string("'") + experiment.name + "' has no option '" + argv[i] + "'.");
  }
  if (options.number("min", 1) > options.number("max", 1 << 28))
    refuse_bench("--min is more than --max.");
  return options;
}

int list() {
  for (const Experiment &experiment : experiments)
    std::printf("%-12s %s\n", experiment.name, experiment.line);
  std::printf("\nOptions, each with a number:\n");
  for (const Option &option : known_options) {
    std::string takers;
    for (const Experiment &experiment : experiments)
      if (is_word_of(option.name, experiment.takes))
        takers += std::string(takers.empty() ? "" : " ") + experiment.name;
    std::printf("--%-10s %s (%s)\n", option.name, option.meaning,
                takers.empty() ? "all" : takers.c_str());
  }
  std::printf("--json FILE  writes the tables there, too (all)\n");
  return 0;
}

/// GMPI_BENCH_PLOT of the environment, or plot.py beside the program, or the one that the build
/// names.
std::string plot_script() {
  if (const char *chosen = std::getenv("GMPI_BENCH_PLOT"))
    return chosen;
  char program[4096] = "";
  if (readlink("/proc/self/exe", program, sizeof program - 1) > 0)
    if (char *slash = std::strrchr(program, '/')) {
      std::string beside(program, slash + 1);
      if (access((beside + "plot.py").c_str(), R_OK) == 0)
        return beside + "plot.py";
    }
#ifdef GMPI_BENCH_PLOT
  return GMPI_BENCH_PLOT;
#else
  return "plot.py";
#endif
}

/// Becomes plot.py; returns where that cannot be.
int plot(int argc, char **argv) {
  std::string script = plot_script();
  if (access(script.c_str(), R_OK) != 0)
    refuse_bench("'" + script + "' cannot be read; GMPI_BENCH_PLOT=FILE says where plot.py is.");
  std::string interpreter = "python3";
  std::vector<char *> arguments = {interpreter.data(), script.data()};
  arguments.insert(arguments.end(), argv + 2, argv + argc);
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "gmpi-bench: plot needs python3.\n");
  return 1;
}

const Experiment &find_experiment(const char *name) {
  for (const Experiment &experiment : experiments)
    if (!std::strcmp(experiment.name, name))
      return experiment;
  refuse_bench(std::string("there is no experiment '") + name + "'; `gmpi-bench list` names them.");
}

void check_ranks(const Experiment &experiment) {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (experiment.most_ranks == 0 ||
      (ranks >= experiment.least_ranks && ranks <= experiment.most_ranks))
    return;
  char sentence[200];
  std::snprintf(sentence, sizeof sentence, "'%s' takes %d rank%s: mpiexec -n %d gmpi-bench %s",
                experiment.name, experiment.least_ranks, experiment.least_ranks == 1 ? "" : "s",
                experiment.least_ranks, experiment.name);
  refuse_bench(sentence);
}

/// Columns that are the queue's would show another transport.
void check_transport() {
  if (bench::kernels_carry(MPI_COMM_WORLD))
    refuse_bench("GMPI_PEER=1 is not for this program: it measures the peer transport beside the "
                 "queue, in columns of its own.");
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2)
    refuse_bench(
        "say `gmpi-bench list`, `gmpi-bench NAME [options]` or `gmpi-bench plot FILE.json... -o "
        "FILE.png`.");
  if (!std::strcmp(argv[1], "list"))
    return list();
  if (!std::strcmp(argv[1], "plot"))
    return plot(argc, argv);
  MPI_Init(&argc, &argv);
  const Experiment &experiment = find_experiment(argv[1]);
  check_transport();
  bool done;
  {
    bench::Bench bench(experiment.name, parse(experiment, argc, argv));
    check_ranks(experiment);
    experiment.run(bench);
    done = bench.write_json();
    done = !bench.any_wrong() && done;
  }
  MPI_Finalize();
  return done ? 0 : 1;
}
