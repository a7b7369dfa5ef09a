// A template is rewritten once, as written; unnamed template parameters and packs get through.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
#include <type_traits>
template <class A, class B> struct Pair { A a; B b; };
template <class A, class B = int, typename = std::enable_if_t<sizeof(A) != 0>, class... Rest>
__global__ void __launch_bounds__(128)
spread(Pair<A, B> pair, int (*)[3], Rest... rest) {
  if (threadIdx.x == 0 && blockIdx.x == 0)
    MPI_Barrier(MPI_COMM_WORLD);
}
int main() {
  spread<Pair<int, float>, int><<<dim3(1), 32>>>({{1, 2}, 3}, nullptr, 1.0, 'c');
  spread<<<1, 32>>>(Pair<int, int>{1, 2}, nullptr);
}
//--- check
CHECK: template <class A, class B = int, typename = std::enable_if_t<sizeof(A) != 0>, class... Rest>
CHECK-NEXT: __global__ void __launch_bounds__(128)
CHECK-NEXT: spread__queue(::gmpi::Launched gmpi_launched, Pair<A, B> pair, int (*)[3], Rest... rest) { ::gmpi::Participant
CHECK: ::gmpi::thread::MPI_Barrier({{[{].*}}, 8}, MPI_COMM_WORLD);
CHECK: template <class A, class B = int, typename = std::enable_if_t<sizeof(A) != 0>, class... Rest> __global__ void __launch_bounds__(128) spread(Pair<A, B> pair, int (*)[3], Rest... rest) { ::gmpi::raw_launch(
CHECK-NEXT: template <class A, class B = int, typename gmpi_type_2 = std::enable_if_t<sizeof(A) != 0>, class... Rest> static inline void spread__launch(const ::gmpi::Launch &gmpi_launch, Pair<A, B> pair, int (* gmpi_parameter_1 )[3], Rest... rest)
CHECK-SAME: (spread<A, B, gmpi_type_2, Rest...>)
CHECK-SAME: (::gmpi::Launched, decltype(pair), decltype(gmpi_parameter_1), decltype(rest)...)>(spread__queue<A, B, gmpi_type_2, Rest...>), spread__info, pair, gmpi_parameter_1, rest...); }
CHECK: spread__launch<Pair<int, float>, int>(::gmpi::Launch(dim3(1), 32), {{[{][{]}}1, 2}, 3}, nullptr, 1.0, 'c');
CHECK-NEXT: spread__launch(::gmpi::Launch(1, 32), Pair<int, int>{1, 2}, nullptr);
