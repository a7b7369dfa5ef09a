// An MPI library that takes device pointers, but waits for the device to be idle before it moves them: the
// trial at start finds that out within its time, and data is staged. The program's MPI_Isend plays it:
// with messages of 1 MiB, as the trial's are, on all ranks or on one.
// UNSUPPORTED: gpu
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_GPU_AWARE=auto %mpiexec -n 2 %t all 2>&1 | FileCheck %s -DHOW=queue
// RUN: env GMPI_STATS=1 GMPI_LOWER=split GMPI_GPU_AWARE=auto %mpiexec -n 2 %t one 2>&1 | FileCheck %s -DHOW=split
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_GPU_AWARE=1 %mpiexec -n 2 %t one 2>&1 | FileCheck %s -DHOW=queue
// RUN: env GMPI_STATS=1 GMPI_LOWER=split GMPI_GPU_AWARE=1 %mpiexec -n 2 %t all 2>&1 | FileCheck %s --check-prefix=TRUSTED
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_GPU_AWARE=auto %mpiexec -n 2 %t wrong 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: env GMPI_STALL=1 GMPI_TIMEOUT=4 GMPI_LOWER=queue GMPI_GPU_AWARE=auto not %mpiexec -n 2 %t later 2>&1 | FileCheck %s --check-prefix=HANGS
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_GPU_AWARE=auto %mpiexec -n 2 %t own 2>&1 | FileCheck %s --check-prefixes=OWN,OWN-QUEUE
// RUN: env GMPI_STATS=1 GMPI_LOWER=split GMPI_GPU_AWARE=auto %mpiexec -n 2 %t own 2>&1 | FileCheck %s --check-prefixes=OWN,OWN-SPLIT
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_GPU_AWARE=auto %mpiexec -n 2 %t freed 2>&1 | FileCheck %s --check-prefix=FREED
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_GPU_AWARE=1 %mpiexec -n 2 %t freed 2>&1 | FileCheck %s --check-prefix=TRUSTED
//
// CHECK-DAG: gmpi: rank 0: device pointers are not given to MPI in [[HOW]]: 1 calls: in the trial at start MPI has waited for the default stream, which waited for it
// CHECK-DAG: gmpi: rank 1: device pointers are not given to MPI in [[HOW]]: 1 calls: in the trial at start MPI has waited for the default stream, which waited for it
// CHECK-DAG: {{^}}ok
//
// Who says GMPI_GPU_AWARE=1 is trusted where no kernel waits.
// TRUSTED-DAG: gmpi: rank 0: gpu-aware: 1 calls, 1048576 bytes sent
// TRUSTED-DAG: {{^}}ok
//
// WRONG-DAG: gmpi: rank 0: device pointers are not given to MPI in queue: 1 calls: the trial at start has received something else than was sent
// WRONG-DAG: {{^}}ok
//
// What the trial has not shown: a wait that is for ever is told, though not by the proxy, which waits.
// HANGS-DAG: gmpi: rank {{[01]}}: MPI has not returned for {{[1-3]}} s from a call that a kernel has asked for: it may wait for that kernel; GMPI_GPU_AWARE=0 keeps device memory from it
// HANGS-DAG: gmpi: rank {{[01]}}: GMPI_TIMEOUT is passed
//
// It may move messages to other ranks at any time, but not from a device to itself: those are staged, and
// in the queue the first on a communicator whose ranks kernels do not know.
// OWN-QUEUE-DAG: gmpi: rank 1: staged: 2 calls, 2097152 bytes sent
// OWN-QUEUE-DAG: gmpi: rank 1: gpu-aware: 2 calls, 2097152 bytes sent
// OWN-QUEUE-DAG: gmpi: rank 1: device pointers are not given to MPI in queue: 2 calls: a thread's own or __shared__ memory, or to the own rank
// OWN-SPLIT-DAG: gmpi: rank 1: staged: 1 calls, 1048576 bytes sent
// OWN-SPLIT-DAG: gmpi: rank 1: gpu-aware: 3 calls, 3145728 bytes sent
// OWN-DAG: {{^}}ok
//
// It may wait only where it lets go of memory that has been freed, which who trusts it says does not happen.
// FREED-DAG: gmpi: rank 0: device pointers are not given to MPI in queue: 1 calls: in the trial at start MPI has waited for a kernel before it let go of freed memory (GMPI_GPU_AWARE=1 asserts that it need not)
// FREED-DAG: {{^}}ok
#include "../Inputs/check.h"
#include "../Inputs/says_gpu_aware.h"

#include <cstring>
#include <dlfcn.h>
#include <string>

static std::string what;
static bool started;


static char *device_memory;
static bool is_device_memory(const void *buffer) {
  return buffer >= device_memory && buffer < device_memory + (2 << 20);
}

/// As it waits for the default stream, it may as well do so here.
extern "C" int PMPI_Isend(const void *buffer, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
                          MPI_Request *request) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!started && count == 1 << 20 && (what == "all" || (what == "one" && rank == 1)))
    cudaStreamSynchronize(0);
  static int to_itself = 0; // the trial's third such message is sent while a kernel runs
  if (!started && what == "own" && dest == rank && ++to_itself == 3)
    cudaStreamSynchronize(0);
  if (started && what == "own" && dest == rank && is_device_memory(buffer))
    std::abort();
  static int sent = 0; // idle, behind the stream, beside a kernel, and now in memory where other was
  if (!started && what == "freed" && count == 1 << 20 && ++sent > 7)
    cudaStreamSynchronize(0);
  if (started && what == "later" && count == 1 << 20)
    cudaStreamSynchronize(0);
  static std::vector<char> zeros(1 << 20);
  if (!started && what == "wrong" && rank == 1 && dest != rank)
    buffer = zeros.data();
  auto *real = reinterpret_cast<decltype(&PMPI_Isend)>(dlsym(RTLD_NEXT, "PMPI_Isend"));
  return real(buffer, count, datatype, dest, tag, comm, request);
}

__global__ void exchange(char *data, int count, int next, int previous) {
  MPI_Sendrecv(data, count, MPI_CHAR, next, 0, data + count, count, MPI_CHAR, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

__global__ void also_with_itself(char *data, int count, int rank, int next, int previous, MPI_Comm other) {
  MPI_Sendrecv(data, count, MPI_CHAR, rank, 0, data + count, count, MPI_CHAR, rank, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(data, count, MPI_CHAR, next, 0, data + count, count, MPI_CHAR, previous, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < 2; ++i)
    MPI_Sendrecv(data, count, MPI_CHAR, next, 0, data + count, count, MPI_CHAR, previous, 0, other,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  what = argc > 1 ? argv[1] : "";
  test::begin(&argc, &argv);
  started = true;
  const int count = 1 << 20;
  test::Array<char> data(2 * count, 1);
  device_memory = data.data();
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  if (what == "own")
    also_with_itself<<<2, 32>>>(data.data(), count, test::rank, test::next(), test::previous(), other);
  else
    exchange<<<2, 32>>>(data.data(), count, test::next(), test::previous());
  test::synchronize();
  MPI_Comm_free(&other);
  test::expect_each(data, [](int) { return 1; }, "data");
  return test::end();
}
