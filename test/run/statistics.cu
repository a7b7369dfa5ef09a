// GMPI_STATS=1 tells how much went by each transport, why not from kernel to kernel, and where
// completions lie.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefix=HOST --implicit-check-not='{{^gmpi: rank 0:}}'
// RUN: env GMPI_STATS=1 GMPI_LOWER=split %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefix=HOST --implicit-check-not='{{^gmpi: rank 0:}}'
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_PEER=1 %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefix=PEER --implicit-check-not='{{^gmpi: rank 0:}}'
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue %mpiexec -n 1 %t 2>&1 | FileCheck %s --check-prefix=ALONE --implicit-check-not='{{^gmpi: rank 0:}}'
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_PEER=1 %mpiexec -n 2 %t many 2>&1 | FileCheck %s --check-prefix=MANY --implicit-check-not='{{^gmpi: rank 0:}}'
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue %mpiexec -n 2 %t one 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_PEER=1 %mpiexec -n 2 %t wait 2>&1 | FileCheck %s --check-prefix=WAIT --implicit-check-not='{{^gmpi: rank 0:}}'
// RUN: env GMPI_STATS=1 GMPI_LOWER=queue GMPI_PEER=1 %mpiexec -n 2 %t errors 2>&1 | FileCheck %s --check-prefix=ERRORS
// RUN: %mpiexec -n 2 %t 2>&1 | FileCheck %s --check-prefix=NONE --implicit-check-not=gmpi:
//
// Three calls with an int, one with 40000, two with a byte, two with nothing.
// HOST-DAG: {{^}}gmpi: rank 0: kernel exchange (
// HOST-DAG: {{^}}gmpi: rank 0: kernel combine (
// HOST-DAG: {{^}}gmpi: rank 0: completions lie in the host's memory{{$}}
// HOST-DAG: {{^}}gmpi: rank 0: inline: 7 calls, 14 bytes sent{{$}}
// HOST-DAG: {{^}}gmpi: rank 0: staged: 1 calls, 160000 bytes sent{{$}}
// HOST-DAG: {{^}}gmpi: rank 0: device pointers are not given to MPI in {{queue|split}}: 1 calls: the MPI library does not say that it takes them{{$}}
// HOST-DAG: {{^}}gmpi: rank 0: not from kernel to kernel: 4 calls on MPI_COMM_WORLD: gmpi_assert_kernel_only is not set{{$}}
// HOST-DAG: {{^}}gmpi: rank 0: not from kernel to kernel: 4 calls on halo: gmpi_assert_kernel_only is not set{{$}}
//
// PEER-DAG: {{^}}gmpi: rank 0: kernel exchange (
// PEER-DAG: {{^}}gmpi: rank 0: kernel combine (
// PEER-DAG: {{^}}gmpi: rank 0: from kernel to kernel: 6 messages and collective calls, 160012 bytes sent{{$}}
// PEER-DAG: {{^}}gmpi: rank 0: of these messages, 1 long ones were streamed from all blocks of a grid to all of another{{$}}
// PEER-DAG: {{^}}gmpi: rank 0: of these messages, 0 long ones were stored where they belong, and 0 went through a ring{{$}}
// PEER-DAG: {{^}}gmpi: rank 0: completions lie in the host's memory{{$}}
// PEER-DAG: {{^}}gmpi: rank 0: inline: 2 calls, 2 bytes sent{{$}}
// PEER-DAG: {{^}}gmpi: rank 0: not from kernel to kernel: 1 calls on MPI_COMM_WORLD: a reduction that kernels leave to MPI{{$}}
// PEER-DAG: {{^}}gmpi: rank 0: not from kernel to kernel: 1 calls on halo: a reduction that kernels leave to MPI{{$}}
//
// Nobody else is there.
// ALONE-DAG: {{^}}gmpi: rank 0: kernel exchange (
// ALONE-DAG: {{^}}gmpi: rank 0: kernel combine (
// ALONE-DAG: {{^}}gmpi: rank 0: completions lie in the host's memory{{$}}
// ALONE-DAG: {{^}}gmpi: rank 0: inline: 7 calls, 14 bytes sent{{$}}
// ALONE-DAG: {{^}}gmpi: rank 0: staged: 1 calls, 160000 bytes sent{{$}}
// ALONE-DAG: {{^}}gmpi: rank 0: device pointers are not given to MPI in {{queue|split}}: 1 calls: the MPI library does not say that it takes them{{$}}
//
// MANY-COUNT-8: {{^}}gmpi: rank 0: messages between kernels go by way of the host: there are too many such communicators{{$}}
// MANY-DAG: {{^}}gmpi: rank 0: kernel exchange (
// MANY-DAG: {{^}}gmpi: rank 0: completions lie in the host's memory{{$}}
// MANY-DAG: {{^}}gmpi: rank 0: inline: 2 calls, 8 bytes sent{{$}}
// MANY-DAG: {{^}}gmpi: rank 0: not from kernel to kernel: 2 calls on last: there are too many such communicators{{$}}
//
// ONE-DAG: {{^}}gmpi: rank 0: not from kernel to kernel: 2 calls on half: gmpi_assert_kernel_only is not set by all its ranks{{$}}
// ONE-DAG: {{^}}gmpi: rank 1: not from kernel to kernel: 2 calls on half: gmpi_assert_kernel_only is not set by all its ranks{{$}}
//
// A long wait, of which the proxy is told, is no call of the proxy's.
// WAIT-DAG: {{^}}gmpi: rank 0: kernel exchange ({{.*}}statistics.cu:{{[0-9]+}}), queue: 1 launches, 0 MPI calls{{$}}
// WAIT-DAG: {{^}}gmpi: rank 0: completions lie in the host's memory{{$}}
// WAIT-DAG: {{^}}gmpi: rank 0: from kernel to kernel: 2 messages and collective calls, 8 bytes sent{{$}}
//
// ERRORS-DAG: {{^}}gmpi: rank 0: not from kernel to kernel: 1 calls on MPI_COMM_WORLD: derived datatypes{{$}}
// ERRORS-DAG: {{^}}gmpi: rank 0: not from kernel to kernel: 1 calls on MPI_COMM_WORLD: arguments that MPI may refuse{{$}}
//
// NONE: ok
#include "Inputs/check.h"

#include <chrono>
#include <cstring>
#include <string>
#include <thread>

__global__ void exchange(MPI_Comm comm, int *data, int count, int next, int previous) {
  MPI_Sendrecv(data, 1, MPI_INT, next, 0, data + count, 1, MPI_INT, previous, 0, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(data, count, MPI_INT, next, 0, data + count, count, MPI_INT, previous, 0, comm,
               MPI_STATUS_IGNORE);
}

__global__ void combine(MPI_Comm comm, char *data) {
  MPI_Barrier(comm);
  MPI_Allreduce(data, data + 1, 1, MPI_BYTE, MPI_BOR, comm);
}

__global__ void fail(int *data, int size) {
  MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
  MPI_Ssend(data, 1, MPI_INT, size, 0, MPI_COMM_WORLD);
}

static void run(MPI_Comm comm, int count) {
  test::Array<int> data(2 * count);
  exchange<<<2, 32>>>(comm, data.data(), count, test::next(), test::previous());
  test::synchronize();
}

/// More communicators than kernels carry messages of, beside MPI_COMM_WORLD and MPI_COMM_SELF.
static void many() {
  std::vector<MPI_Comm> comms(70);
  for (MPI_Comm &comm : comms)
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comms.back(), "last");
  run(comms.back(), 1);
  for (MPI_Comm &comm : comms)
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  std::string what = argc > 1 ? argv[1] : "";
  if (what == "many") {
    many();
    return test::end();
  }
  if (what == "wait") {
    if (test::rank == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(3000));
    run(MPI_COMM_WORLD, 1);
    return test::end();
  }
  if (what == "errors") {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    test::Array<int> data(1);
    fail<<<1, 32>>>(data.data(), test::size);
    test::synchronize();
    return test::end();
  }
  MPI_Comm halo;
  MPI_Comm_dup(MPI_COMM_WORLD, &halo);
  MPI_Comm_set_name(halo, what == "one" ? "half" : "halo");
  if (what == "one") {
    test::assert_kernel_only(halo, test::rank == 0 ? "true" : "false");
    run(halo, 1);
  } else {
    test::Array<char> bytes(2);
    run(MPI_COMM_WORLD, 1);
    combine<<<1, 32>>>(MPI_COMM_WORLD, bytes.data());
    combine<<<1, 32>>>(halo, bytes.data());
    test::synchronize();
    run(halo, 40000);
  }
  MPI_Comm_free(&halo);
  return test::end();
}
