// One exchange when the device is idle, so that MPI has set up what it needs once; one while its
// default stream waits; one while a kernel runs. Each has memory of its own: the first message of
// an allocation is the one that MPI may have to map. At last one while a kernel runs, in the place
// of memory that MPI has mapped and that was freed since: what it has to unmap.
#include "gpu_aware_trial.hpp"

#include "../mpi/mpi_library.hpp"
#include "../proxy/report.hpp"
#include "busy_device.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace gmpi::gpu_aware {

namespace {

constexpr int message_bytes = 1 << 20;
constexpr double idle_seconds = 30;

/// What came of an exchange, the worst first: all ranks are told the worst of all.
enum Outcome {
  refused,
  wrong,
  impossible,
  waits_for_stream,
  waits_for_kernel,
  waits_to_unmap,
  good
};

const char *text_of(Outcome outcome) {
  switch (outcome) {
  case refused:
    return "the trial at start had an error of MPI";
  case wrong:
    return "the trial at start has received something else than was sent";
  case impossible:
    return "the trial at start could not be made";
  case waits_for_stream:
    return "in the trial at start MPI has waited for the default stream, which waited for it";
  case waits_for_kernel:
    return "in the trial at start MPI has waited for a kernel, which waited for it";
  case waits_to_unmap:
    return "in the trial at start MPI has waited for a kernel before it let go of freed memory "
           "(GMPI_GPU_AWARE=1 asserts that it need not)";
  default:
    return "";
  }
}

std::vector<void *> &memory() {
  static std::vector<void *> &memory = *new std::vector<void *>;
  return memory;
}

/// Messages to, and from, the ranks at some distances in the ring of all.
class Exchange {
public:
  Exchange(MPI_Comm comm, std::vector<int> distances)
      : comm_(comm), distances_(std::move(distances)) {
    PMPI_Comm_rank(comm, &rank_);
    PMPI_Comm_size(comm, &size_);
    const std::size_t bytes = 2 * distances_.size() * std::size_t(message_bytes);
    void *place = nullptr;
    if (cudaMalloc(&place, bytes) != cudaSuccess) {
      cudaGetLastError();
      return;
    }
    memory().push_back(place);
    memory_ = static_cast<unsigned char *>(place);
    cudaMemset(memory_, 0, bytes);
    for (std::size_t i = 0; i < distances_.size(); ++i)
      cudaMemset(sent(i), mark(rank_, distances_[i]), message_bytes);
    cudaDeviceSynchronize();
  }

  /// All ranks have done with it. Other memory may take its place then.
  void free() {
    cudaFree(memory_);
    memory().pop_back();
  }

  bool has_memory() const { return memory_ != nullptr; }

  /// Starts them all. False where MPI refuses one.
  bool start() {
    bool good = true;
    for (std::size_t i = 0; i < distances_.size(); ++i) {
      const int to = (rank_ + distances_[i]) % size_;
      requests_.push_back(MPI_REQUEST_NULL);
      good &= PMPI_Irecv(received(i), message_bytes, MPI_BYTE, from(i), int(i), comm_,
                         &requests_.back()) == MPI_SUCCESS;
      requests_.push_back(MPI_REQUEST_NULL);
      good &= PMPI_Isend(sent(i), message_bytes, MPI_BYTE, to, int(i), comm_, &requests_.back()) ==
              MPI_SUCCESS;
    }
    return good;
  }

  /// Waits for all of them; `idle` is called once they have taken longer than the device is busy.
  template <class Idle> bool finish(Idle idle) {
    const auto begin = std::chrono::steady_clock::now();
    bool good = true, told = false;
    for (MPI_Request &request : requests_)
      for (int done = 0; !done && request != MPI_REQUEST_NULL;) {
        if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
          good = false;
          break;
        }
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
        if (!told && passed.count() > trial_seconds) {
          told = true;
          idle();
        }
        if (passed.count() > trial_seconds + idle_seconds)
          fatal("MPI has not delivered a message of device memory in %.0f s, though the device is "
                "idle; GMPI_GPU_AWARE=0 keeps it from being given any",
                idle_seconds);
      }
    return good;
  }

  bool is_right() const {
    std::vector<unsigned char> host(message_bytes);
    for (std::size_t i = 0; i < distances_.size(); ++i) {
      if (cudaMemcpy(host.data(), received(i), host.size(), cudaMemcpyDeviceToHost) != cudaSuccess)
        return false;
      const auto wanted = static_cast<unsigned char>(mark(from(i), distances_[i]));
      for (unsigned char byte : host)
        if (byte != wanted)
          return false;
    }
    return true;
  }

private:
  int from(std::size_t i) const { return (rank_ + size_ - distances_[i] % size_) % size_; }
  unsigned char *sent(std::size_t i) const { return memory_ + 2 * i * message_bytes; }
  unsigned char *received(std::size_t i) const { return sent(i) + message_bytes; }
  /// Never 0, which the memory holds at first.
  static int mark(int rank, int distance) { return 1 + (rank * 3 + distance) % 255; }

  MPI_Comm comm_;
  std::vector<int> distances_;
  int rank_ = 0, size_ = 1;
  unsigned char *memory_ = nullptr;
  std::vector<MPI_Request> requests_;
};

int worst_of_all(int outcome, MPI_Comm comm) {
  int worst = outcome;
  PMPI_Allreduce(&outcome, &worst, 1, MPI_INT, MPI_MIN, comm);
  return worst;
}

/// `busy`: null where the device is idle. `frees`: its memory, at the end.
Outcome exchange(MPI_Comm comm, const std::vector<int> &distances, const Busy *busy,
                 bool frees = false) {
  Exchange messages(comm, distances);
  if (worst_of_all(messages.has_memory(), comm) == 0) // nobody begins what somebody cannot do
    return impossible;
  std::unique_ptr<Occupation> occupation;
  if (busy != nullptr)
    occupation = occupy_device(*busy, trial_seconds);
  if (worst_of_all(busy == nullptr || occupation != nullptr, comm) == 0)
    return impossible;
  bool accepted = messages.start();
  accepted &= messages.finish([&] { occupation.reset(); });
  const bool in_time = busy == nullptr || (occupation != nullptr && occupation->lasts());
  occupation.reset();
  const Outcome outcome = !accepted               ? refused
                          : !messages.is_right()  ? wrong
                          : in_time               ? good
                          : *busy == Busy::stream ? waits_for_stream
                                                  : waits_for_kernel;
  const auto worst = static_cast<Outcome>(worst_of_all(outcome, comm));
  if (frees)
    messages.free();
  return worst;
}

/// To as many of the next ranks as a host has, for some may share a GPU and, where there are
/// several hosts, to one beyond. Not to the own rank.
std::vector<int> distances_in(MPI_Comm comm, int host) {
  constexpr int most = 15;
  int size = 1, largest = host;
  PMPI_Comm_size(comm, &size);
  PMPI_Allreduce(&host, &largest, 1, MPI_INT, MPI_MAX, comm);
  std::vector<int> distances;
  for (int distance = 1; distance < std::min(largest, most); ++distance)
    distances.push_back(distance);
  if (largest < size)
    distances.push_back(largest);
  return distances;
}

} // namespace

std::string make_trial(int host, bool frees, bool &own_messages) {
  MPI_Comm comm = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const std::vector<int> others = distances_in(comm, host);
  std::vector<int> all = others;
  all.push_back(0);
  Outcome outcome = exchange(comm, all, nullptr);
  const Busy stream = Busy::stream, kernel = Busy::kernel;
  if (outcome == good)
    outcome = exchange(comm, all, &stream);
  if (outcome == good)
    outcome = exchange(comm, all, &kernel);
  own_messages = outcome == good;
  // CUDA copies within a device by a kernel, which finds no room beside one that fills it.
  if (outcome == waits_for_kernel && !others.empty())
    outcome = exchange(comm, others, &kernel);
  // What MPI has mapped of another rank's it may find freed, and other memory in its place.
  if (outcome == good && frees && !others.empty()) {
    outcome = exchange(comm, others, nullptr, true);
    if (outcome == good && exchange(comm, others, &kernel) != good)
      outcome = waits_to_unmap;
  }
  PMPI_Comm_free(&comm);
  return text_of(outcome);
}

void end_trial() {
  for (void *place : memory())
    cudaFree(place);
  memory().clear();
}

} // namespace gmpi::gpu_aware
