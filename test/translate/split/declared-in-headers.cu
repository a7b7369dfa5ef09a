// Variables of `if` and `for` headers take their values from the frame where they stand.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void headers(int *buf, const int *in, int n) {
  if (int first = in[0]) {
    MPI_Barrier(MPI_COMM_WORLD);
    buf[1] = first;
  }
  if (int second = in[2]; second > n) {
    buf[1] = second;
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    buf[2] = second;
  }
  for (int i = 0, left = in[3]; i < n; ++i, --left)
    MPI_Bcast(buf, left, MPI_INT, 0, MPI_COMM_WORLD);
}
int main() { headers<<<1, 32>>>(nullptr, nullptr, 32); }
//--- check
CHECK: template <int gmpi_resume> __global__ void headers__segment(::gmpi::Segment gmpi_segment, int *buf, const int *in, int n) { {{.*}}
CHECK-NEXT: if (!gmpi_re || gmpi_resume == 1) { int first = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(first), {{[0-9]+}}, 4>() : (in[0]); if (gmpi_re ? true : static_cast<bool>(first)) {
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 4}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(first); return;
CHECK: if (!gmpi_re || gmpi_resume == 2) { int second = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(second), {{[0-9]+}}, 4>() : (in[2]); if (; gmpi_re ? false : static_cast<bool>(second > n)) {
CHECK: if (::gmpi::split::MPI_Barrier<2>(gmpi_frame, gmpi_re, {{.*}} 10}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(second); return;
CHECK: int i = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(i), {{[0-9]+}}, 4>() : (0); int left = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(left), {{[0-9]+}}, 4>() : (in[3]); for (; gmpi_re || (i < n); ++i, --left)
CHECK-NEXT: if (::gmpi::split::MPI_Bcast<3>(gmpi_frame, gmpi_re, {{.*}} 14}, buf, left, MPI_INT, 0, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(i); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 4>(left); return;
