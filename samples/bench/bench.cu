// What bench.h declares.
#include "bench.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <ctime>

namespace bench {

double Options::number(const char *name, double otherwise) const {
  for (const auto &number : numbers) // of an option given twice the last one counts
    if (number.first == name)
      otherwise = number.second;
  return otherwise;
}

int Options::integer(const char *name, int otherwise) const {
  return static_cast<int>(number(name, otherwise));
}

// --- samples ------------------------------------------------------------------------------------

/// Between the two nearest values of a sorted list.
static double percentile(const std::vector<double> &sorted, double share) {
  double place = share * (sorted.size() - 1);
  std::size_t below = static_cast<std::size_t>(place);
  std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

Sample Sample::of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {percentile(values, 0.5), percentile(values, 0.1), percentile(values, 0.9)};
}

Sample Sample::into(double amount) const { return {amount / median, amount / p90, amount / p10}; }

Sample Bench::of_slowest_rank(std::vector<double> times) const {
  MPI_Allreduce(MPI_IN_PLACE, times.data(), static_cast<int>(times.size()), MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);
  return Sample::of(times);
}

int Bench::iterations(std::size_t bytes, int most) const {
  int share = bytes <= 64 << 10 ? 1 : bytes <= 16 << 20 ? 10 : 50;
  return options.integer("iterations", std::max(1, most / share));
}

int Bench::blocks() const {
  int device, multiprocessors;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  return options.integer("blocks", std::min(132, 4 * multiprocessors));
}

std::vector<std::size_t> Bench::sizes(std::size_t least, std::size_t most) const {
  if (!options.sizes.empty())
    return options.sizes;
  std::vector<std::size_t> found;
  least = static_cast<std::size_t>(options.number("min", static_cast<double>(least)));
  most = static_cast<std::size_t>(options.number("max", static_cast<double>(most)));
  for (std::size_t bytes = std::min(least, most); bytes <= most; bytes *= 8)
    found.push_back(bytes);
  if (found.back() != most)
    found.push_back(most);
  return found;
}

// --- the machine ---------------------------------------------------------------------------------

/// The version of the NVIDIA driver, as its kernel module says it; empty where there is none.
static std::string driver_version() {
  std::string version;
  std::FILE *file = std::fopen("/proc/driver/nvidia/version", "r");
  char word[100];
  while (file != nullptr && version.empty() && std::fscanf(file, "%99s", word) == 1)
    if (std::isdigit(static_cast<unsigned char>(word[0])) && std::strchr(word, '.') != nullptr)
      version = word;
  if (file != nullptr)
    std::fclose(file);
  return version;
}

struct Machine {
  std::string gpu, driver, cuda, mpi, date;
};

static Machine machine() {
  int device, version, length;
  cudaDeviceProp properties;
  CUDA_CHECK(cudaGetDevice(&device));
  CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  CUDA_CHECK(cudaRuntimeGetVersion(&version));
  char library[MPI_MAX_LIBRARY_VERSION_STRING], date[40];
  MPI_Get_library_version(library, &length);
  std::string mpi = library; // not `length` letters: Open MPI counts the 0 at the end
  mpi = mpi.substr(0, mpi.find('\n'));
  std::replace(mpi.begin(), mpi.end(), '\t', ' ');
  std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return {properties.name, driver_version(),
          std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10), mpi, date};
}

/// What the columns' names say of the way that kernels' messages take.
constexpr const char *transports =
    "queue, split: messages by way of the proxy and the hosts' MPI; peer: from kernel to kernel";

static std::string text_of(const Machine &m, int ranks) {
  return m.gpu + (m.driver.empty() ? "" : ", driver " + m.driver) + ", CUDA " + m.cuda + ", " +
         m.mpi + ", " + std::to_string(ranks) + (ranks == 1 ? " rank, " : " ranks, ") + m.date +
         "\n" + transports + "\n\n";
}

// --- tables -------------------------------------------------------------------------------------

/// Three digits at least, without an exponent.
static std::string digits(double value) {
  char text[40];
  int behind = value == std::floor(value) && std::fabs(value) < 1e15 ? 0
               : std::fabs(value) < 10                               ? 3
               : std::fabs(value) < 100                              ? 2
               : std::fabs(value) < 1000                             ? 1
                                                                     : 0;
  std::snprintf(text, sizeof text, "%.*f", behind, value);
  return text;
}

static std::string text_of(const Cell &cell) {
  switch (cell.kind) {
  case Cell::Kind::none:
    return "-";
  case Cell::Kind::word:
    return cell.word;
  case Cell::Kind::number:
    return digits(cell.sample.median);
  case Cell::Kind::sample:
    break;
  }
  return digits(cell.sample.median) + " [" + digits(cell.sample.p10) + " " +
         digits(cell.sample.p90) + "]";
}

static int size_of_world() {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

static int rank_in_world() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// --- transports ----------------------------------------------------------------------------------

constexpr const char *kernel_only = "gmpi_assert_kernel_only"; // the runtime's info key

bool kernels_carry(MPI_Comm comm) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm_get_info(comm, &info);
  char value[8] = "";
  int found = 0;
  MPI_Info_get(info, kernel_only, sizeof(value) - 1, value, &found);
  MPI_Info_free(&info);
  return found && std::string(value) == "true";
}

KernelsComm::KernelsComm() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, kernel_only, "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm_);
  MPI_Info_free(&info);
  available_ = kernels_carry(comm_);
}

std::string long_messages() {
  auto way = [](bool split) {
    const std::string why = gmpi::why_staged(split);
    return why.empty() ? "MPI moves them from device memory" : "staged (" + why + ")";
  };
  const std::string queue = way(false), split = way(true);
  return "Long messages: " +
         (queue == split ? "queue and split: " + queue : "queue: " + queue + "; split: " + split) +
         ".";
}

// --- printing -----------------------------------------------------------------------------------

std::string note(const std::vector<std::string> &sentences) {
  std::string text;
  for (const std::string &sentence : sentences)
    text += (text.empty() || sentence.empty() ? "" : " ") + sentence;
  return text;
}

Bench::Bench(std::string experiment, Options options)
    : options(std::move(options)), rank(rank_in_world()), ranks(size_of_world()),
      experiment_(std::move(experiment)), prints_(rank == 0) {}

std::vector<Table> Bench::tables_of(void (*experiment)(Bench &), Options options) {
  Bench other(experiment_, std::move(options));
  other.prints_ = false;
  experiment(other);
  wrong_ = wrong_ || other.wrong_;
  return other.tables_;
}

void Bench::print(const std::string &text) const {
  if (prints_) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  }
}

void Bench::table(std::string title, std::vector<Column> columns, std::string note) {
  std::string text = tables_.empty() ? text_of(machine(), ranks) : "\n";
  text += title + "; medians [10th and 90th percentile]\n" + (note.empty() ? "" : note + "\n");
  widths_.clear();
  for (const Column &column : columns) {
    bool is_sample = column.role != Role::x && column.role != Role::info;
    widths_.push_back(std::max<std::size_t>(column.heading().size(), is_sample ? 20 : 8) + 2);
    text += std::string(widths_.back() - column.heading().size(), ' ') + column.heading();
  }
  print(text + "\n");
  tables_.push_back({std::move(title), std::move(note), std::move(columns), {}});
}

void Bench::row(std::vector<Cell> cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    std::string text = text_of(cells[i]);
    line += std::string(text.size() < widths_[i] ? widths_[i] - text.size() : 1, ' ') + text;
  }
  print(line + "\n");
  tables_.back().rows.push_back(std::move(cells));
}

// --- JSON ---------------------------------------------------------------------------------------

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char letter : text) {
    if (letter == '"' || letter == '\\')
      result += '\\';
    result += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return result + "\"";
}

static std::string json_of(const Cell &cell) {
  auto number = [](double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return std::isfinite(value) ? std::string(text) : std::string("null");
  };
  switch (cell.kind) {
  case Cell::Kind::none:
    return "null";
  case Cell::Kind::word:
    return quoted(cell.word);
  case Cell::Kind::number:
    return number(cell.sample.median);
  case Cell::Kind::sample:
    break;
  }
  return "{\"median\": " + number(cell.sample.median) + ", \"p10\": " + number(cell.sample.p10) +
         ", \"p90\": " + number(cell.sample.p90) + "}";
}

/// What each element is made into, in brackets.
template <class T, class Make> static std::string json_list(const std::vector<T> &list, Make make) {
  std::string result;
  for (const T &element : list)
    result += (result.empty() ? "" : ", ") + make(element);
  return "[" + result + "]";
}

static std::string json_of(const Table &table) {
  static const char *const roles[] = {"x", "ours", "peer", "limit", "info"};
  std::string columns = json_list(table.columns, [](const Column &column) {
    return "{\"name\": " + quoted(column.name) + ", \"unit\": " + quoted(column.unit) +
           ", \"role\": \"" + roles[static_cast<int>(column.role)] + "\"}";
  });
  std::string rows = json_list(table.rows, [](const std::vector<Cell> &row) {
    return "\n   " + json_list(row, [](const Cell &cell) { return json_of(cell); });
  });
  return "\n {\"title\": " + quoted(table.title) + ", \"note\": " + quoted(table.note) +
         ",\n  \"columns\": " + columns + ",\n  \"rows\": " + rows + "}";
}

static std::string json_of(const Machine &m, int ranks) {
  return "{\"gpu\": " + quoted(m.gpu) + ", \"driver\": " + quoted(m.driver) +
         ", \"cuda\": " + quoted(m.cuda) + ", \"mpi\": " + quoted(m.mpi) +
         ", \"ranks\": " + std::to_string(ranks) + ", \"date\": " + quoted(m.date) + "}";
}

bool Bench::write_json() const {
  if (rank != 0 || options.json.empty())
    return true;
  std::string text =
      "{\"experiment\": " + quoted(experiment_) + ",\n\"machine\": " + json_of(machine(), ranks) +
      ",\n\"transports\": " + quoted(transports) +
      ",\n\"tables\": " + json_list(tables_, [](const Table &table) { return json_of(table); }) +
      "}\n";
  std::FILE *file = std::fopen(options.json.c_str(), "w");
  bool written = file != nullptr && std::fputs(text.c_str(), file) >= 0;
  written = file != nullptr && std::fclose(file) == 0 && written;
  if (!written)
    std::fprintf(stderr, "gmpi-bench: '%s' cannot be written.\n", options.json.c_str());
  return written;
}

} // namespace bench
