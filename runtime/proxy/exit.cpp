// Acts after all exit handlers and destructors: one of them may yet call MPI_Finalize.
#include "exit.hpp"

#include "proxy.hpp"
#include "report.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace gmpi {

namespace {

std::atomic<bool> watched{false}, expected{false};
std::atomic<pid_t> process{0}; ///< a forked child is not the rank
std::atomic<int> exit_status{-1};

void note_status(int status, void *) { exit_status = status; }

/// Programs that fail are left to the launcher, which ends the job with their status.
[[gnu::destructor]] void at_exit() {
  if (!watched || process != getpid())
    return;
  int finalized = 0, size = 1;
  PMPI_Finalized(&finalized);
  if (finalized)
    return;
  Proxy::abandon();
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (expected || exit_status != 0 || size == 1)
    return;
  std::fflush(stdout);
  fatal("the program ends without MPI_Finalize; the other ranks cannot go on");
}

} // namespace

void watch_exit() {
  process = getpid();
  if (!watched.exchange(true))
    on_exit(note_status, nullptr);
}

void expect_exit() { expected = true; }

void end_job(MPI_Comm communicator, int error_code) {
  expect_exit();
  // MPICH's mpiexec drops what has not gone through its pipes when the abort arrives.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  PMPI_Abort(communicator, error_code);
  std::_Exit(1);
}

} // namespace gmpi
