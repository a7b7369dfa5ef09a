// Asks the library, has the trial made, and keeps what came of it.
#include "gpu_aware.hpp"

#include "../mpi/mpi_library.hpp"
#include "../proxy/settings.hpp"
#include "../queue/context.hpp"
#include "../split/host_calls.hpp"
#include "busy_device.hpp"
#include "gpu_aware_trial.hpp"

#include <algorithm>

// Open MPI and MVAPICH have the first, MPICH and its relatives the second, some neither. It may be
// in the program, too: so they are looked up where the program is linked, or starts.
extern "C" {
[[gnu::weak]] int MPIX_Query_cuda_support(void);
[[gnu::weak]] int MPIX_GPU_query_support(int gpu_type, int *is_supported);
}

namespace gmpi::gpu_aware {

namespace {

constexpr int gpu_support_cuda = 0; // MPICH's MPIX_GPU_SUPPORT_CUDA

struct State {
  bool library_says_so = false;
  bool own_messages = true;
  std::string against[2] = {"MPI_Init has not been called", "MPI_Init has not been called"};

  std::string &of(launch::Lowering lowering) {
    return against[lowering == launch::Lowering::split];
  }
};

State &state() {
  static State &state = *new State;
  return state;
}

bool library_is_gpu_aware() {
  int supported = 0;
  if (MPIX_Query_cuda_support != nullptr && MPIX_Query_cuda_support() == 1)
    return true;
  return MPIX_GPU_query_support != nullptr &&
         MPIX_GPU_query_support(gpu_support_cuda, &supported) == MPI_SUCCESS && supported;
}

/// In a rank's own words; what keeps one from it keeps all.
enum Wish { refused, not_aware, wanted };

Wish own_wish() {
  if (!state().library_says_so && settings().gpu_aware != GpuAware::on)
    return not_aware;
  return settings().gpu_aware == GpuAware::off ? refused : wanted;
}

const char *text_of(Wish wish) {
  return wish == refused ? "GMPI_GPU_AWARE is neither auto nor 1"
                         : "the MPI library does not say that it takes them";
}

int least_of_all(int value) {
  int least = value;
  PMPI_Allreduce(&value, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return least;
}

} // namespace

void start(int host) {
  State &now = state();
  now.library_says_so = library_is_gpu_aware();
  std::string &queue = now.of(launch::Lowering::queue), &split = now.of(launch::Lowering::split);
  const auto wish = static_cast<Wish>(least_of_all(own_wish()));
  if (wish != wanted) {
    queue = split = text_of(wish);
    return;
  }
  const bool asserted = least_of_all(settings().gpu_aware == GpuAware::on) != 0;
  queue = make_trial(host, !asserted, now.own_messages);
  // Kernels of both may be in flight, and one thread makes all of their MPI calls: where one call
  // does not return while a kernel runs, the others are not made either.
  split = asserted ? "" : queue;
  now.own_messages |= !queue.empty(); // what the trial has said does not matter then
  if (queue.empty() && !remote_writes_need_no_flush())
    queue = "what other devices write there would have to be flushed";
  if (queue.empty() && !split::calls_are_wrapped())
    queue = "the program is linked without the runtime's linker options";
}

void stop() { end_trial(); }

const std::string &against(launch::Lowering lowering) { return state().of(lowering); }

std::uint64_t above(launch::Lowering lowering) {
  if (!against(lowering).empty())
    return never_direct;
  return std::max<std::uint64_t>(settings().gpu_aware_above, inline_bytes);
}

bool takes_own_messages() { return state().own_messages; }

bool library_calls_cuda() {
  return state().library_says_so || settings().gpu_aware == GpuAware::on;
}

} // namespace gmpi::gpu_aware

const char *gmpi::why_staged(bool split) {
  return gpu_aware::against(split ? launch::Lowering::split : launch::Lowering::queue).c_str();
}
