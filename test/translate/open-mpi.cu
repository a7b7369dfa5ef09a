// The user's mpi.h goes before the one the translator was built for; predefined handles that are
// addresses of host variables, as Open MPI's, may be named in kernels.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu -- -Impi
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %compile-cuda-openmpi out.cu

//--- in.cu
#include <mpi.h>
__global__ void k(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD)
    MPI_Barrier(comm);
}
int main() { k<<<1, 1>>>(MPI_COMM_WORLD); }
//--- mpi/mpi.h
typedef struct ompi_communicator_t *MPI_Comm;
typedef struct ompi_datatype_t *MPI_Datatype;
typedef struct ompi_request_t *MPI_Request;
typedef struct ompi_op_t *MPI_Op;
typedef struct { int MPI_SOURCE; } MPI_Status;
extern "C" struct ompi_predefined_communicator_t ompi_mpi_comm_world;
#define OMPI_PREDEFINED_GLOBAL(type, global) (static_cast<type> (static_cast<void *> (&(global))))
#define MPI_COMM_WORLD OMPI_PREDEFINED_GLOBAL( MPI_Comm, ompi_mpi_comm_world)
extern "C" int MPI_Barrier(MPI_Comm comm);
//--- check
CHECK: if (comm == MPI_COMM_WORLD)
CHECK-NEXT: ::gmpi::grid::MPI_Barrier({{[{].*}}, 4}, comm);
