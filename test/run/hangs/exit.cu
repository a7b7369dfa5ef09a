// A rank that ends without MPI_Finalize, by exit() or by a signal, ends the job.
// RUN: %gmpicxx %s -o %t
// RUN: not %mpiexec -n 2 %t exit 2>&1 | FileCheck %s --check-prefix=EXIT
// RUN: not %mpiexec -n 2 %t return 2>&1 | FileCheck %s --check-prefix=EXIT
// RUN: not %mpiexec -n 2 %t both 2>&1 | FileCheck %s --check-prefix=EXIT
// RUN: not %mpiexec -n 2 %t fail > %t.fail 2>&1
// RUN: not %mpiexec -n 2 %t kill > %t.kill 2>&1
// RUN: not grep ends %t.fail
// RUN: FileCheck %s --check-prefix=KILL --input-file=%t.kill
#include "../Inputs/hang.h"

#include <csignal>

__global__ void receive(int *buffer) {
  MPI_Recv(buffer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  begin(&argc, &argv);
  if (rank == 0) {
    receive<<<2, 32>>>(buffer);
    return end();
  }
  sleep(1);
  if (!strcmp(argv[1], "both")) { // while a kernel of this rank waits too
    receive<<<2, 32>>>(buffer);
    sleep(1);
  }
  if (!strcmp(argv[1], "exit"))
    std::exit(0);
  if (!strcmp(argv[1], "fail"))
    std::exit(3);
  if (!strcmp(argv[1], "kill"))
    std::raise(SIGKILL);
  return 0;
}

// EXIT: gmpi: rank 1: the program ends without MPI_Finalize; the other ranks cannot go on
// EXIT-NOT: ends{{$}}
// KILL: {{.*[Kk]illed.*}}
