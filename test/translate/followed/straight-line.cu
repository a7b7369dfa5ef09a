// A nonblocking call of the grid, or a wait, that certainly comes to another one may be left to that
// one; the last one before anything else is not, and none that waits for several.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks --report=out.json 2>&1 | FileCheck --check-prefix=REMARK check
// RUN: FileCheck --input-file=out.cu check
// RUN: FileCheck --check-prefix=JSON --input-file=out.json check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: FileCheck --input-file=cpu.cu check
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int *b) {
  MPI_Request r[3];
  MPI_Irecv(b, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r[0]);
  r[2] = MPI_REQUEST_NULL;
  int next = 1;
  if (MPI_Isend(b, 1, MPI_INT, next, 0, MPI_COMM_WORLD, r + 1) != MPI_SUCCESS)
    next = 2;
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  int error = MPI_Isend(b, 1, MPI_INT, next, 1, MPI_COMM_WORLD, &r[0]);
  (MPI_Irecv)(b, 1, MPI_INT, 2, 1, MPI_COMM_WORLD, &r[1]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  MPI_Irecv(b, error, MPI_INT, 3, 2, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(b, 1, MPI_INT, 3, 2, MPI_COMM_WORLD, &r[2]);
}
//--- check
CHECK: MPI_Request r[3];
CHECK-NEXT: {{^}}  ::gmpi::grid::followed::MPI_Irecv({{[{].*}}, 4}, b, 1,
CHECK: if (::gmpi::grid::followed::MPI_Isend({{[{].*}}, 7}, b, 1,
CHECK: {{^}}  ::gmpi::grid::MPI_Waitall({{[{].*}}, 9}, 2, r,
CHECK-NEXT: int error = ::gmpi::grid::followed::MPI_Isend({{[{].*}}, 10}, b, 1,
CHECK-NEXT: {{^}}  (::gmpi::grid::followed::MPI_Irecv)({{[{].*}}, 11}, b, 1,
CHECK-NEXT: {{^}}  ::gmpi::grid::followed::MPI_Wait({{[{].*}}, 12}, &r[0]
CHECK-NEXT: {{^}}  ::gmpi::grid::MPI_Wait({{[{].*}}, 13}, &r[1]
CHECK-NEXT: {{^}}  ::gmpi::grid::followed::MPI_Irecv({{[{].*}}, 14}, b, error,
CHECK-NEXT: {{^}}  ::gmpi::grid::MPI_Isend({{[{].*}}, 15}, b, 1,
REMARK: in.cu:4: MPI_Irecv: grid scope, queue: {{.*}}; left to the next call{{$}}
REMARK: in.cu:9: MPI_Waitall: grid scope, queue: control and arguments are the same for all threads{{$}}
REMARK: in.cu:15: MPI_Isend: grid scope, queue: control and arguments are the same for all threads{{$}}
JSON: "function": "MPI_Irecv",
JSON-NEXT: "in": "k",
JSON-NEXT: "leftToNext": true,
JSON-NEXT: "line": 4,
JSON: "function": "MPI_Waitall",
JSON-NEXT: "in": "k",
JSON-NEXT: "line": 9,
