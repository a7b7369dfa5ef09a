// The toolkit's own headers: cooperative groups, CUB, Thrust, libcu++, half precision.
// REQUIRES: nvcc
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate in.cu -o out.cu -- --extended-lambda -arch=sm_90
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda --extended-lambda out.cu

//--- in.cu
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_fp16.h>
#include <mpi.h>
#include <thrust/device_vector.h>
#include <thrust/sort.h>
namespace cg = cooperative_groups;
template <int Threads> __global__ void sum(const float *in, float *out, int n) {
  using Reduce = cub::BlockReduce<float, Threads>;
  __shared__ typename Reduce::TempStorage storage;
  float x = threadIdx.x < n ? in[threadIdx.x] : 0;
  float s = Reduce(storage).Sum(x);
  cg::this_grid().sync();
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  float r = cg::reduce(tile, x, cg::plus<float>());
  cuda::atomic_ref<float, cuda::thread_scope_device> total(*out);
  total.fetch_add(r + __half2float(__float2half(s)));
  if (threadIdx.x == 0 && blockIdx.x == 0)
    MPI_Send(out, 1, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
}
int main() {
  thrust::device_vector<float> v(100);
  thrust::sort(v.begin(), v.end());
  sum<128><<<1, 128>>>(thrust::raw_pointer_cast(v.data()), nullptr, 100);
}
//--- check
CHECK: ::gmpi::thread::MPI_Send({{[{].*}}, 22}, out, 1, MPI_FLOAT, 1, 0, MPI_COMM_WORLD);
CHECK: sum__launch<128>(::gmpi::Launch(1, 128), thrust::raw_pointer_cast(v.data()), nullptr, 100);
