// Keeps what the main thread waits for.
#include "host_wait.hpp"

#include <mpi.h>

#include <mutex>
#include <thread>

namespace gmpi {

namespace {

struct Host {
  std::mutex mutex;
  std::thread::id main;
  bool alone = false; ///< the main thread makes all MPI calls and launches
  std::uint64_t waits = 0;
  HostWaitState state;
};

Host &host() {
  static Host &value = *new Host; // outlives exit handlers that wait for a device
  return value;
}

bool record(HostWaitState state) {
  cudaGetDevice(&state.device);
  std::lock_guard lock(host().mutex);
  if (host().main != std::this_thread::get_id() || host().state.number != 0)
    return false;
  state.number = ++host().waits;
  host().state = state;
  return true;
}

} // namespace

HostWait::HostWait() : recorded_(record({0, true, 0, nullptr, false})) {}
HostWait::HostWait(cudaStream_t stream)
    : recorded_(record({0, false, 0, canonical(stream), false})) {}

HostWait::~HostWait() {
  if (!recorded_)
    return;
  std::lock_guard lock(host().mutex);
  host().state = {};
}

void note_main_thread(int thread_level) {
  std::lock_guard lock(host().mutex);
  host().main = std::this_thread::get_id();
  host().alone = thread_level <= MPI_THREAD_FUNNELED;
}

void note_launching_thread() {
  std::lock_guard lock(host().mutex);
  if (host().main != std::this_thread::get_id())
    host().alone = false;
}

HostWaitState host_wait_state() {
  std::lock_guard lock(host().mutex);
  HostWaitState state = host().state;
  state.speaks_for_program = host().alone;
  return state;
}

cudaStream_t canonical(cudaStream_t stream) {
  return stream == cudaStreamLegacy ? nullptr : stream;
}

} // namespace gmpi
