// Under MPI_ERRORS_ARE_FATAL, the default, an error of an MPI call in a kernel ends the job and names
// rank, function, place, scope, and what MPI says of it.
// RUN: %gmpicxx %s -o %t
// RUN: not %mpiexec -n 2 %t rank 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not %mpiexec -n 2 %t small 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not %mpiexec -n 2 %t truncated 2>&1 | FileCheck %s --check-prefix=TRUNCATED
// RUN: not %mpiexec -n 2 %t tag 2>&1 | FileCheck %s --check-prefix=TAG
// RUN: not %mpiexec -n 2 %t derived 2>&1 | FileCheck %s --check-prefix=DERIVED
// RUN: not %mpiexec -n 2 %t request 2>&1 | FileCheck %s --check-prefix=REQUEST
// RUN: not %mpiexec -n 2 %t given-back 2>&1 | FileCheck %s --check-prefix=GIVEN-BACK
// RUN: not %mpiexec -n 2 %t abort 2>&1 | FileCheck %s --check-prefix=ABORT
// RUN: not %mpiexec -n 2 %t host 2>&1 | FileCheck %s --check-prefix=HOST
#include "Inputs/check.h"

#include <string>

__global__ void wrong_rank(int *buffer, int n, int nobody) {
  // RANK: gmpi: rank 1: MPI_Ssend failed in a kernel, at {{.*}}errors_fatal.cu:[[@LINE+2]] (grid scope): {{.*[Ii]nvalid rank}}
  // SMALL: gmpi: rank 1: MPI_Send failed in a kernel, at {{.*}}errors_fatal.cu:[[@LINE+3]] (grid scope): {{.*[Ii]nvalid rank}}
  MPI_Ssend(buffer, n, MPI_INT, n == 4 ? nobody : MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  if (n == 1)
    MPI_Send(buffer, n, MPI_INT, nobody, 0, MPI_COMM_WORLD);
}

__global__ void truncated(int *buffer) {
  if (blockIdx.x == 0) {
    // TRUNCATED: gmpi: rank 1: MPI_Recv failed in a kernel, at {{.*}}errors_fatal.cu:[[@LINE+1]] (block scope): {{.*[Tt]runcated}}
    MPI_Recv(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

__global__ void wrong_tag(int *buffer) {
  if (threadIdx.x == 3 && blockIdx.x == 0)
    // TAG: gmpi: rank 1: MPI_Irecv failed in a kernel, at {{.*}}errors_fatal.cu:[[@LINE+2]] (thread scope): {{.*[Ii]nvalid tag}}
    {
      MPI_Request request; MPI_Irecv(buffer, 1, MPI_INT, 0, -77, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

__global__ void derived(int *buffer, MPI_Datatype type) {
  // DERIVED: gmpi: rank 1: MPI_Bcast at {{.*}}errors_fatal.cu:[[@LINE+2]]: a kernel can send and receive predefined datatypes only, and this is none
  // DERIVED: gmpi: rank 1: MPI_Bcast failed in a kernel, at {{.*}}errors_fatal.cu:[[@LINE+1]] (grid scope): {{.*(I|i)nvalid datatype|.*MPI_ERR_TYPE}}
  MPI_Bcast(buffer, 1, type, 1, MPI_COMM_WORLD);
}

/// A request that was completed already; another one has taken its place.
__global__ void old_request(int *buffer) {
  MPI_Request request, copy;
  MPI_Irecv(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  copy = request;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Irecv(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  // REQUEST: gmpi: rank 1: MPI_Wait failed in a kernel, at {{.*}}errors_fatal.cu:[[@LINE+1]] (grid scope): {{.*([Rr]equest|MPI_ERR_REQUEST)}}
  MPI_Wait(&copy, MPI_STATUS_IGNORE);
}

/// One that was completed already; none has taken its place.
__global__ void request_given_back(int *buffer) {
  MPI_Request request, copy;
  MPI_Irecv(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  copy = request;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  // GIVEN-BACK: gmpi: rank 1: MPI_Wait failed in a kernel, at {{.*}}errors_fatal.cu:[[@LINE+1]] (grid scope): {{.*([Rr]equest|MPI_ERR_REQUEST)}}
  MPI_Wait(&copy, MPI_STATUS_IGNORE);
}

__global__ void abort_it(int *buffer) {
  // ABORT: gmpi: rank 1: MPI_Abort(3) in a kernel, at {{.*}}errors_fatal.cu:[[@LINE+1]]
  MPI_Abort(MPI_COMM_WORLD, 3);
  buffer[0] = 1;
}

// HOST: gmpi: rank 1: an MPI call of the host program failed: {{.*[Ii]nvalid rank}}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  std::string what = argc > 1 ? argv[1] : "";
  test::Array<int> buffer(4);
  int host[4] = {};
  if (test::rank == 0 && (what == "truncated" || what == "request" || what == "given-back"))
    MPI_Send(host, what == "truncated" ? 4 : 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (test::rank == 1) {
    if (what == "rank" || what == "small")
      wrong_rank<<<2, 32>>>(buffer.data(), what == "rank" ? 4 : 1, 99);
    if (what == "truncated")
      truncated<<<2, 32>>>(buffer.data());
    if (what == "tag")
      wrong_tag<<<2, 32>>>(buffer.data());
    if (what == "derived") {
      MPI_Datatype type;
      MPI_Type_vector(2, 1, 2, MPI_INT, &type);
      MPI_Type_commit(&type);
      derived<<<2, 32>>>(buffer.data(), type);
    }
    if (what == "request")
      old_request<<<2, 32>>>(buffer.data());
    if (what == "given-back")
      request_given_back<<<2, 32>>>(buffer.data());
    if (what == "abort")
      abort_it<<<2, 32>>>(buffer.data());
    if (what == "host")
      MPI_Send(host, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    test::synchronize();
  }
  return test::end();
}
