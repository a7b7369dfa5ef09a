// What the experiments of gmpi-bench share: options, medians with their spread, tables that are
// printed and written as JSON, memory, and data that shows where a byte is wrong.
//
// An experiment is one function in a file of its own name, registered in main.cu. All ranks call
// it. It makes tables, and adds their rows while it measures; rank 0 prints them.
#pragma once

#include "../common/sample.h"

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gmpi {
/// libgmpi's: why long messages of kernels for the queue, or of split ones, are staged; "": they
/// are not.
const char *why_staged(bool split);
} // namespace gmpi

namespace bench {

/// What the command line says: numbers by name ("max" for --max), and the name of the JSON file.
struct Options {
  std::vector<std::pair<std::string, double>> numbers;
  std::string json;               ///< empty: none is written
  std::vector<std::size_t> sizes; ///< in bytes, in place of those from --min to --max, if any

  double number(const char *name, double otherwise) const;
  int integer(const char *name, int otherwise) const;
};

/// What was measured several times: the median and the percentiles around it.
struct Sample {
  double median, p10, p90;

  /// Of values in any order; there is one at least.
  static Sample of(std::vector<double> values);
  /// `amount` divided by each value: a rate.
  Sample into(double amount) const;
};

/// A place in a table: a number, a word, a sample, or nothing (printed as "-").
struct Cell {
  enum class Kind { none, number, word, sample } kind = Kind::none;
  Sample sample = {};
  std::string word;

  Cell() = default;
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Cell(Number value) : kind(Kind::number) {
    double number = static_cast<double>(value);
    sample = {number, number, number};
  }
  Cell(Sample sample) : kind(Kind::sample), sample(sample) {}
  Cell(const char *word) : kind(Kind::word), word(word) {}
};

/// What a column holds; `plot` draws a limit as a dashed line, and nothing that is `info`.
enum class Role { x, ours, peer, limit, info };

struct Column {
  std::string name, unit; ///< the unit may be empty
  Role role;

  std::string heading() const { return unit.empty() ? name : name + " (" + unit + ")"; }
};

struct Table {
  std::string title, note;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
};

/// One run of one experiment on this rank.
class Bench {
public:
  Bench(std::string experiment, Options options);

  const Options options;
  const int rank, ranks;

  /// Begins a table: prints its title and headings. The note explains what is absent, if anything.
  void table(std::string title, std::vector<Column> columns, std::string note = "");
  /// Adds a row to the table begun last, and prints it.
  void row(std::vector<Cell> cells);

  /// The tables of another experiment, of which nothing is printed. Every rank calls it.
  std::vector<Table> tables_of(void (*experiment)(Bench &), Options options);

  /// Says what is wrong with the data, and has every rank end with exit status 1.
  void wrong(const std::string &what);
  /// The same of so many bytes, cells, ...; nothing where there are none.
  void wrong(const std::string &what, std::size_t count, const std::string &things);
  /// Whether any rank has found wrong data. Every rank calls it.
  bool any_wrong() const;

  /// Writes the tables to --json's file; false, with a sentence, where that cannot be done.
  bool write_json() const;

  /// Microseconds of one of the `iterations` that `once()` carries out and waits for: --repeat
  /// times (11), after one to warm up. Of each time the slowest rank's counts. Every rank calls it.
  template <class Once> Sample measure(long long iterations, Once once) const {
    std::vector<double> times;
    for (int i = -1; i < options.integer("repeat", 11); ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      double start = MPI_Wtime();
      once();
      double seconds = MPI_Wtime() - start;
      if (i >= 0)
        times.push_back(1e6 * seconds / iterations);
    }
    return of_slowest_rank(times);
  }

  /// Of a grid: --blocks, or 132, or fewer where the device is so small that they may not be
  /// resident at once.
  int blocks() const;
  /// Of a block: --threads, or 256.
  int threads() const { return options.integer("threads", 256); }
  /// --iterations, or what this size is worth: `most`, and fewer above 64 KiB and 16 MiB.
  int iterations(std::size_t bytes, int most) const;
  /// The same of what kernels do with no host on the way: so many that a launch does not count.
  int iterations_between_kernels(std::size_t bytes) const { return iterations(bytes, 1000); }
  /// From --min (or `least`) to --max (or `most`) bytes; each is eight times the one before, the
  /// last one perhaps less. Where options.sizes has any, those.
  std::vector<std::size_t> sizes(std::size_t least, std::size_t most) const;

private:
  Sample of_slowest_rank(std::vector<double> times) const;
  void print(const std::string &text) const;

  std::string experiment_;
  std::vector<Table> tables_;
  std::vector<std::size_t> widths_; // of the columns of the last table
  bool wrong_ = false, prints_;
};

/// pool: the device's, of which other processes can map none.
enum class Memory { device, pool, pinned };

/// Memory for `size` elements, all bytes 0.
template <class T> class Array {
public:
  explicit Array(std::size_t size, Memory memory = Memory::device) : memory_(memory) {
    void *data = nullptr;
    if (memory == Memory::device)
      CUDA_CHECK(cudaMalloc(&data, size * sizeof(T)));
    else if (memory == Memory::pool)
      CUDA_CHECK(cudaMallocAsync(&data, size * sizeof(T), nullptr));
    else
      CUDA_CHECK(cudaHostAlloc(&data, size * sizeof(T), cudaHostAllocMapped));
    CUDA_CHECK(cudaMemset(data, 0, size * sizeof(T)));
    CUDA_CHECK(cudaDeviceSynchronize());
    data_ = static_cast<T *>(data);
  }
  ~Array() { (void)(memory_ == Memory::pinned ? cudaFreeHost(data_) : cudaFree(data_)); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;

  T *data() const { return data_; }

private:
  Memory memory_;
  T *data_;
};

/// A stream that does not wait for the default one.
class Stream {
public:
  Stream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  Stream(const Stream &) = delete;
  Stream &operator=(const Stream &) = delete;

  operator cudaStream_t() const { return stream_; }
  void synchronize() const { CUDA_CHECK(cudaStreamSynchronize(stream_)); }

private:
  cudaStream_t stream_;
};

/// While it lives, kernels that have this lowering ("queue", "split") are launched with it.
class PreferredLowering {
public:
  explicit PreferredLowering(const char *name) { gmpi::prefer_lowering(name); }
  ~PreferredLowering() { gmpi::prefer_lowering(""); }
  PreferredLowering(const PreferredLowering &) = delete;
  PreferredLowering &operator=(const PreferredLowering &) = delete;
};

/// Whether kernels carry this communicator's messages themselves: the peer transport.
bool kernels_carry(MPI_Comm comm);

/// MPI_COMM_WORLD's ranks once more, for kernels alone: where the GPUs reach each other, kernels
/// carry its messages themselves.
class KernelsComm {
public:
  KernelsComm();
  ~KernelsComm() { MPI_Comm_free(&comm_); }
  KernelsComm(const KernelsComm &) = delete;
  KernelsComm &operator=(const KernelsComm &) = delete;

  /// Whether they do.
  bool available() const { return available_; }
  /// That they do not; empty where they do.
  std::string why_not() const {
    return available_ ? "" : "Peer: the runtime does not let kernels carry messages here.";
  }
  MPI_Comm get() const { return comm_; }

private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  bool available_ = false;
};

/// Which way the kernels' long messages take by queue and by split, for a table's note.
std::string long_messages();

/// A table's note: those of these sentences that are not empty.
std::string note(const std::vector<std::string> &sentences);

/// Ends the job with a sentence: a probe has waited in vain, and would again.
[[noreturn]] void give_up(const char *sentence);

/// Waits for the kernels launched so far; ends the job where one could not be launched.
void synchronize();

/// Copies to memory of the device or the host. (cudaMemcpy alone may return earlier: before what it
/// has read is where kernels of other streams look for it.)
template <class T> void write(T *to, const std::vector<T> &from) {
  CUDA_CHECK(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyDefault));
  CUDA_CHECK(cudaDeviceSynchronize());
}

/// `size` elements of the device's or the host's memory.
template <class T> std::vector<T> read(const T *from, std::size_t size) {
  std::vector<T> elements(size);
  CUDA_CHECK(cudaMemcpy(elements.data(), from, size * sizeof(T), cudaMemcpyDefault));
  return elements;
}

/// Writes bytes that depend on place and seed; on the device or the host.
void fill(unsigned char *memory, std::size_t bytes, int seed);
/// Bytes that are not what fill() has written there, each raised by `added`.
std::size_t wrong_bytes(const unsigned char *memory, std::size_t bytes, int seed, int added = 0);

/// Microseconds that a launch of an empty kernel and waiting for it take.
Sample launch_and_synchronise(const Bench &bench);

} // namespace bench

/// Each in the file of its name.
namespace experiments {
void summary(bench::Bench &);
void launch(bench::Bench &);
void attribute(bench::Bench &);
void ksync(bench::Bench &);
void pingpong(bench::Bench &);
void exchange(bench::Bench &);
void bandwidth(bench::Bench &);
void msgrate(bench::Bench &);
void overlap(bench::Bench &);
void collectives(bench::Bench &);
void halo(bench::Bench &);
void split(bench::Bench &);
void dormant(bench::Bench &);
} // namespace experiments
