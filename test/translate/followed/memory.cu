// Nobody can tell whether the grid met at a call that was left: what other threads may have written
// before it, or may read, is not touched between it and the next. Its own variables, and what nobody
// changes, a thread may touch.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: FileCheck --input-file=cpu.cu check
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
struct Halo {
  int *cells, peer[2];
  __device__ void exchange() {
    MPI_Request r;
    MPI_Irecv(cells, 1, MPI_INT, peer[0], 10, MPI_COMM_WORLD, &r);
    MPI_Isend(cells, 1, MPI_INT, peer[1], 11, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
};
struct Faces {
  int *cells, n, peer[2];
  __device__ int *face(int side) const { return cells + offset(side); }
  __device__ int offset(int side) const { return this->n * side + peer[0]; }
  __device__ int operator()(int side) const { return n * side; }
  __device__ int first() const { return cells[0]; }
  __device__ void count() { ++n; }
};
struct Sides {
  Faces faces;
  __device__ int *side(int d) const { return faces.face(d); }
};
__device__ int *face_of(const Faces &faces, int side) { return faces.face(side); }
__constant__ int tags[2];
__device__ int counter;

__global__ void own(int *b, Halo halo, const int *__restrict__ peers) {
  MPI_Request r;
  int local[2] = {1, 2}, either = 1;
  MPI_Irecv(&b[local[0]], 1, MPI_INT, 1, 20, MPI_COMM_WORLD, &r);
  MPI_Isend(halo.cells, 1, MPI_INT, halo.peer[1], tags[1], MPI_COMM_WORLD, &r);
  local[1] += blockDim.x;
  MPI_Isend(b, 1, MPI_INT, peers[2], 21, MPI_COMM_WORLD, &r);
  MPI_Isend(b, 1, MPI_INT, 1, 22, MPI_COMM_WORLD, &r);
  MPI_Isend(b, 1, MPI_INT, local[0] == 1 ? local[1] : either, 23, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  halo.exchange();
}
__global__ void objects(Faces faces, Sides sides) { // the thread's own, and what their functions read
  MPI_Request r;
  MPI_Irecv(faces.face(0), faces(1), MPI_INT, 1, 50, MPI_COMM_WORLD, &r);
  MPI_Isend(faces.face(1), 1, MPI_INT, faces.offset(1), 51, MPI_COMM_WORLD, &r);
  faces.count();
  Faces copy = faces;
  MPI_Isend(copy.face(1), 1, MPI_INT, sides.faces.offset(1), 52, MPI_COMM_WORLD, &r);
  MPI_Isend(sides.side(1), 1, MPI_INT, 1, 53, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void objects_of_others(Faces faces, Faces *several) {
  MPI_Request r;
  const Faces &other = *several;
  MPI_Irecv(faces.face(0), 1, MPI_INT, 1, 60, MPI_COMM_WORLD, &r);
  MPI_Irecv(several->face(0), 1, MPI_INT, 1, 61, MPI_COMM_WORLD, &r);
  MPI_Irecv(several[1].face(0), 1, MPI_INT, 1, 62, MPI_COMM_WORLD, &r);
  MPI_Irecv(other.face(0), 1, MPI_INT, 1, 63, MPI_COMM_WORLD, &r);
  MPI_Irecv(face_of(faces, 0), 1, MPI_INT, 1, 64, MPI_COMM_WORLD, &r);
  MPI_Irecv(faces.cells, faces.first(), MPI_INT, 1, 65, MPI_COMM_WORLD, &r);
  MPI_Irecv(faces.cells, (*several)(1), MPI_INT, 1, 66, MPI_COMM_WORLD, &r);
  several->count();
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
__global__ void others(int *b, int *n, Halo *halo) {
  MPI_Request r;
  __shared__ int tile[32];
  if (threadIdx.x == 0 && blockIdx.x == 0)
    *n = 1;
  MPI_Irecv(b, 1, MPI_INT, 1, 30, MPI_COMM_WORLD, &r);
  MPI_Isend(b, *n, MPI_INT, 1, 31, MPI_COMM_WORLD, &r);
  b[threadIdx.x] = 1;
  MPI_Irecv(b, 1, MPI_INT, 1, 32, MPI_COMM_WORLD, &r);
  int first = n[1];
  MPI_Irecv(b, 1, MPI_INT, 1, 33, MPI_COMM_WORLD, &r);
  first += counter;
  MPI_Irecv(b, 1, MPI_INT, 1, 34, MPI_COMM_WORLD, &r);
  tile[threadIdx.x] = first;
  MPI_Irecv(b, 1, MPI_INT, 1, 35, MPI_COMM_WORLD, &r);
  Halo copy = *halo;
  MPI_Irecv(b, 1, MPI_INT, 1, 36, MPI_COMM_WORLD, &r);
  halo[1] = copy;
  MPI_Irecv(b, 1, MPI_INT, 1, 37, MPI_COMM_WORLD, &r);
  int &alias = n[2];
  ++alias;
  MPI_Irecv(b, 1, MPI_INT, 1, 38, MPI_COMM_WORLD, &r);
  MPI_Irecv(b, 1, MPI_INT, first > 1 ? first : *n, 39, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}
//--- check
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} peer[0], 10,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} peer[1], 11,
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 20,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} halo.peer[1], tags[1],
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} peers[2], 21,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 22,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 23,
CHECK: ::gmpi::grid::followed::MPI_Irecv({{[{].*}} 1, 50,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 51,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 52,
CHECK: ::gmpi::grid::followed::MPI_Isend({{[{].*}} 1, 53,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 60,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 61,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 62,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 63,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 64,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 65,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 66,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 30,
CHECK: ::gmpi::grid::MPI_Isend({{[{].*}} 1, 31,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 32,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 33,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 34,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 35,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 36,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 37,
CHECK: ::gmpi::grid::MPI_Irecv({{[{].*}} 1, 38,
