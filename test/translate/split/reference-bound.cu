// A reference is kept by its address; a parameter that one is bound to lives in the frame.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
struct Pair { int first, second; };
__global__ void bound(Pair *pairs, int n) {
  Pair &mine = pairs[threadIdx.x];
  const int &limit = n;
  auto &first = mine.first;
  MPI_Bcast(pairs, 1, MPI_INT, 0, MPI_COMM_WORLD);
  first = limit;
  mine.second = 2;
}
int main() { bound<<<1, 32>>>(nullptr, 32); }
//--- check
CHECK: template <int gmpi_resume> __global__ void bound__segment(::gmpi::Segment gmpi_segment, Pair *pairs, int gmpi_passed_n) { {{.*}} ::gmpi::split::Plain<decltype(gmpi_passed_n)> &n = gmpi_frame.resident<::gmpi::split::Plain<decltype(gmpi_passed_n)>, {{[0-9]+}}, 4>(); if (!gmpi_re) ::gmpi::split::copy(n, gmpi_passed_n);
CHECK-NEXT: Pair &mine = gmpi_re ? gmpi_frame.saved_reference<decltype(mine), {{[0-9]+}}, 8>() : (pairs[threadIdx.x]);
CHECK-NEXT: const int &limit = gmpi_re ? gmpi_frame.saved_reference<decltype(limit), {{[0-9]+}}, 8>() : (n);
CHECK-NEXT: auto &first = gmpi_re ? gmpi_frame.saved_reference<decltype((mine.first)), {{[0-9]+}}, 8>() : (mine.first);
CHECK-NEXT: if (::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 7}, pairs, 1, MPI_INT, 0, MPI_COMM_WORLD)) { gmpi_frame.save_reference<{{[0-9]+}}, 8>(mine); gmpi_frame.save_reference<{{[0-9]+}}, 8>(limit); gmpi_frame.save_reference<{{[0-9]+}}, 8>(first); return;
