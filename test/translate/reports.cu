// --remarks and --report tell what became of every call.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu --remarks --report=out.json 2>&1 | FileCheck --check-prefix=REMARK check
// RUN: %compile-cuda out.cu
// RUN: FileCheck --check-prefix=JSON --input-file=out.json check

//--- in.cu
#include <mpi.h>
__global__ void k(int *p) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Send(p, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
}
//--- check
REMARK: in.cu:4: MPI_Comm_rank: local, answered on the device
REMARK-NEXT: in.cu:5: MPI_Send: grid scope, queue: {{.+}}
JSON: "function": "MPI_Comm_rank"
JSON: "scope": "local"
JSON: "file": "in.cu"
JSON-NEXT: "function": "MPI_Send"
JSON-NEXT: "in": "k"
JSON-NEXT: "line": 5
JSON-NEXT: "scope": "grid"
JSON: "device": "cuda"
JSON: "kernels": [
JSON: "lowerings": [
JSON-NEXT: "queue"
JSON: "name": "k"
JSON: "widestScope": "grid"
