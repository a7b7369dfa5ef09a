// Both lowerings in one output: the kernel whole and in segments. A kernel without grid-scope calls is not split.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=queue,split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=queue,split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void k(int *buf, int n) {
  buf[threadIdx.x] = n;
  MPI_Barrier(MPI_COMM_WORLD);
}
template <class T> __global__ void t(T *buf) {
  // each block for itself
  MPI_Send(buf + blockIdx.x, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF);
  MPI_Barrier(MPI_COMM_WORLD);
}
__global__ void own(int *buf) {
  // each block for itself
  MPI_Send(buf + blockIdx.x, 1, MPI_BYTE, 0, 0, MPI_COMM_SELF);
}
int main() {
  k<<<1, 32>>>(nullptr, 3);
  t<<<1, 32>>>((int *)nullptr);
  own<<<1, 32>>>(nullptr);
}
//--- check
CHECK: __global__ void GMPI_KERNEL_REGISTERS k__queue(::gmpi::Launched gmpi_launched, int *buf, int n) { ::gmpi::Participant gmpi_participant(gmpi_launched);
CHECK-NEXT: buf[threadIdx.x] = n;
CHECK-NEXT: ::gmpi::grid::MPI_Barrier({{.*}} 4}, MPI_COMM_WORLD);
CHECK: template <int gmpi_resume> __global__ void k__segment(::gmpi::Segment gmpi_segment, int *buf, int n) { {{.*}}
CHECK-NEXT: if (!gmpi_re) { buf[threadIdx.x] = n; }
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 4}, MPI_COMM_WORLD)) { return;
CHECK: static inline ::gmpi::SplitKernel k__split() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, k__segment<0>, k__segment<1>);
CHECK-NEXT: static inline void k__launch(const ::gmpi::Launch &gmpi_launch, int *buf, int n) { gmpi_launch.split(static_cast<void (*)(decltype(buf), decltype(n))>(k), static_cast<void (*)(::gmpi::Launched, decltype(buf), decltype(n))>(k__queue), k__split, k__info, buf, n); }
CHECK-NEXT: static const ::gmpi::Kernel k__kernel{k, k__queue, k__split, k__info};
CHECK-NEXT: #line 6
CHECK-NEXT: template <class T> __global__ void GMPI_KERNEL_REGISTERS t__queue(::gmpi::Launched gmpi_launched, T *buf) { ::gmpi::Participant gmpi_participant(gmpi_launched);
CHECK-NEXT: // each block for itself
CHECK-NEXT: ::gmpi::block::MPI_Send({{.*}} 8}, buf + blockIdx.x,
CHECK-NEXT: ::gmpi::grid::MPI_Barrier({{.*}} 9}, MPI_COMM_WORLD);
CHECK: template <int gmpi_resume, class T> __global__ void t__segment(::gmpi::Segment gmpi_segment, T *buf) { ::gmpi::Frame gmpi_frame(gmpi_segment); ::gmpi::Participant gmpi_participant(gmpi_segment.launched()); bool gmpi_re = gmpi_resume != 0;
CHECK-NEXT: // each block for itself
CHECK-NEXT: if (!gmpi_re) { ::gmpi::block::MPI_Send({{.*}} 8}, buf + blockIdx.x,
CHECK-NEXT: if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {{.*}} 9}, MPI_COMM_WORLD)) { return;
CHECK: template <class T> static inline ::gmpi::SplitKernel t__split() { return ::gmpi::split_kernel({{.*}}, 0, {{[0-9]+}}, false, false}, t__segment<0, T>, t__segment<1, T>);
CHECK-NEXT: template <class T> static inline void t__launch(const ::gmpi::Launch &gmpi_launch, T *buf) { gmpi_launch.split(static_cast<void (*)(decltype(buf))>(t<T>), static_cast<void (*)(::gmpi::Launched, decltype(buf))>(t__queue<T>), t__split<T>, t__info, buf); }
CHECK-NEXT: template <class T> static inline auto t__pointer() { static const ::gmpi::Kernel gmpi_kernel(&t<T>, &t__queue<T>, t__split<T>, t__info); return &t<T>; }
CHECK-NEXT: #line 11
CHECK-NEXT: __global__ void GMPI_KERNEL_REGISTERS own__queue(::gmpi::Launched gmpi_launched, int *buf) { ::gmpi::Participant gmpi_participant(gmpi_launched);
CHECK-NEXT: // each block for itself
CHECK-NEXT: ::gmpi::block::MPI_Send({{.*}} 13}, buf + blockIdx.x,
CHECK: static inline void own__launch(const ::gmpi::Launch &gmpi_launch, int *buf) { gmpi_launch.queue(static_cast<void (*)(decltype(buf))>(own), static_cast<void (*)(::gmpi::Launched, decltype(buf))>(own__queue), own__info, buf); }
CHECK-NEXT: static const ::gmpi::Kernel own__kernel{own, own__queue, own__info};
CHECK-NEXT: #line 15
CHECK-NEXT: int main() {
CHECK-NEXT: k__launch(::gmpi::Launch(1, 32), nullptr, 3);
CHECK-NEXT: t__launch(::gmpi::Launch(1, 32), (int *)nullptr);
CHECK-NEXT: own__launch(::gmpi::Launch(1, 32), nullptr);
