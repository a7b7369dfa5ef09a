// A kernel template's segments have its parameters behind the resume point; slots have room for every instantiation.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
template <class T, int Count, template <class> class Op> __global__ void apply(T *buf) {
  T values[Count];
  for (int i = 0; i < Count; ++i)
    values[i] = buf[i];
  T sum = Op<T>()(values[0], buf[threadIdx.x]);
  MPI_Barrier(MPI_COMM_WORLD);
  buf[threadIdx.x] = sum + values[Count - 1];
}
template <class T> struct Plus {
  __device__ T operator()(T a, T b) const { return a + b; }
};
int main() {
  apply<double, 3, Plus><<<1, 32>>>(nullptr);
  apply<int, 5, Plus><<<1, 32>>>(nullptr);
}
//--- check
CHECK: template <int gmpi_resume, class T, int Count, template <class> class Op> __global__ void apply__segment(::gmpi::Segment gmpi_segment, T *buf) { {{.*}}
CHECK-NEXT: T values[Count]; if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 32>(values);
CHECK-NEXT: if (!gmpi_re) { for (int i = 0; i < Count; ++i)
CHECK-NEXT: values[i] = buf[i];
CHECK-NEXT: T sum = gmpi_re ? gmpi_frame.saved{{(_uniform)?}}<decltype(sum), {{[0-9]+}}, 8>() : (Op<T>()(values[0], buf[threadIdx.x]));
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 7}, MPI_COMM_WORLD)) { gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 32>(values); gmpi_frame.save{{(_uniform)?}}<{{[0-9]+}}, 8>(sum); return;
CHECK: template <class T, int Count, template <class> class Op> static inline ::gmpi::SplitKernel apply__split() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, apply__segment<0, T, Count, Op>, apply__segment<1, T, Count, Op>);
CHECK: apply__launch<double, 3, Plus>(::gmpi::Launch(1, 32), nullptr);
CHECK-NEXT: apply__launch<int, 5, Plus>(::gmpi::Launch(1, 32), nullptr);
