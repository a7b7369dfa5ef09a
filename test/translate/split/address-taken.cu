// A variable that pointers may point to lives in the frame.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__device__ void fill(int *value) { *value = 4; }
__global__ void taken(int *buf) {
  int number = 3;
  auto copied = buf[1];
  int *where = &number;
  fill(&copied);
  MPI_Bcast(buf, 1, MPI_INT, 0, MPI_COMM_WORLD);
  *where += buf[0];
  buf[threadIdx.x] = number + copied;
}
int main() { taken<<<1, 32>>>(nullptr); }
//--- check
CHECK: template <int gmpi_resume> __global__ void taken__segment(::gmpi::Segment gmpi_segment, int *buf) { {{.*}}
CHECK-NEXT: typedef int gmpi_number_t ; gmpi_number_t &number = gmpi_frame.resident<gmpi_number_t, {{[0-9]+}}, 4>(); if (!gmpi_re) { int gmpi_init = 3; ::gmpi::split::copy(number, gmpi_init); }
CHECK-NEXT: using gmpi_copied_t = ::gmpi::split::Plain<decltype(buf[1])>; gmpi_copied_t &copied = gmpi_frame.resident<gmpi_copied_t, {{[0-9]+}}, 4>(); if (!gmpi_re) { auto gmpi_init = buf[1]; ::gmpi::split::copy(copied, gmpi_init); }
CHECK-NEXT: int *where = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(where), {{[0-9]+}}, 8>() : (&number);
CHECK-NEXT: if (!gmpi_re) { fill(&copied); }
CHECK-NEXT: if (::gmpi::split::MPI_Bcast<1>(gmpi_frame, gmpi_re, {{.*}} 8}, buf, 1, MPI_INT, 0, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(where); return;
