// CUDA code as users write it, in the form that the translator gives it for the cpu device.
#include "cpu_run.hpp"

#include <cuda_runtime_api.h>
#include <device_launch_parameters.h>

#include <algorithm>
#include <cmath>
#include <string>

using namespace std; // as many CUDA programs do: min, max, abs must stay unambiguous

#define CHECK(call)                                                                                \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error);                                    \
  } while (0)

template <class T> __device__ __forceinline__ T warpSum(T v) {
  for (int offset = warpSize / 2; offset > 0; offset >>= 1)
    v += __shfl_down_sync(0xffffffff, v, offset);
  return v;
}

template <class T, int Block>
__global__ void __launch_bounds__(Block)
    dot(const T *__restrict__ a, const T *__restrict__ b, T *out, int n) {
  auto &partial = ::gmpi::cpu::shared<T[Block / 32]>({0x1f2e3d4, 30, 3});
  T sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += __ldg(a + i) * b[i];
  sum = warpSum(sum);
  if (threadIdx.x % 32 == 0)
    partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < Block / 32 ? partial[threadIdx.x] : T(0);
    sum = warpSum(sum);
    if (threadIdx.x == 0)
      atomicAdd(out, sum);
  }
}

__global__ void transpose(const float *in, float *out, int width, int height) {
  auto &tile = ::gmpi::cpu::shared<float[16][17]>({0x1f2e3d4, 48, 3});
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height)
    tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
  if (x < height && y < width)
    out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void histogram(const uchar4 *in, int n, unsigned *bins) {
  auto *local = ::gmpi::cpu::dynamic_shared<unsigned>();
  for (unsigned i = threadIdx.x; i < 256; i += blockDim.x)
    local[i] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const uchar4 four = in[i];
    atomicAdd(&local[four.x], 1u), atomicAdd(&local[four.y], 1u);
    atomicAdd(&local[four.z], 1u), atomicAdd(&local[four.w], 1u);
  }
  __syncthreads();
  for (unsigned j = threadIdx.x; j < 256; j += blockDim.x)
    atomicAdd(bins + j, local[j]);
}

// The last block to finish sums up: needs fences and atomics across blocks.
__device__ unsigned finished = 0;
__global__ void sumAll(const int *in, int n, volatile int *partial, int *out) {
  auto &last = ::gmpi::cpu::shared<bool>({0x1f2e3d4, 81, 3});
  auto &sum = ::gmpi::cpu::shared<int>({0x1f2e3d4, 82, 3});
  if (threadIdx.x == 0)
    sum = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&sum, i < n ? in[i] : 0);
  __syncthreads();
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b)
      total += partial[b];
    *out = total;
    finished = 0;
  }
}

__global__ void math(double *out) {
  const int i = threadIdx.x;
  float s, c;
  __sincosf(0.1f * i, &s, &c);
  out[i] = max(abs(-i), 3) + min(2.0f, float(i)) + fabs(-1.0) + s * s + c * c + rsqrt(4.0) +
           fmaf(1.0f, 2.0f, 3.0f) + sqrtf(9.0f) + pow(2.0, 2);
}

namespace {
template <class... P, class... A>
void launchKernel(dim3 g, dim3 b, size_t shared, void (*k)(P...), A... a) {
  gmpi::cpu::KernelLaunch launch;
  launch.grid = g, launch.block = b, launch.shared_bytes = shared;
  launch.thread = gmpi::cpu::bind(k, tuple<decay_t<P>...>(a...));
  CHECK(gmpi::cpu::launch(std::move(launch)));
}
} // namespace

TEST(CpuProgram, dot_product) {
  const int n = 10007;
  vector<double> a(n), b(n);
  double expected = 0;
  for (int i = 0; i < n; ++i)
    a[i] = i % 7, b[i] = i % 11, expected += a[i] * b[i];
  double *da, *db, *out, result = -1;
  CHECK(cudaMalloc(&da, n * sizeof(double)));
  CHECK(cudaMalloc(&db, n * sizeof(double)));
  CHECK(cudaMalloc((void **)&out, sizeof(double)));
  CHECK(cudaMemcpy(da, a.data(), n * sizeof(double), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(db, b.data(), n * sizeof(double), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(out, 0, sizeof(double)));
  launchKernel(12, 256, 0, dot<double, 256>, da, db, out, n);
  CHECK(cudaMemcpy(&result, out, sizeof(double), cudaMemcpyDeviceToHost));
  EXPECT_EQ(result, expected);
  CHECK(cudaFree(da));
  CHECK(cudaFree(db));
  CHECK(cudaFree(out));
}

TEST(CpuProgram, transpose) {
  const int w = 50, h = 37;
  Values<float> in(w * h), out(w * h);
  for (int i = 0; i < w * h; ++i)
    in[i] = static_cast<float>(i);
  launchKernel({(w + 15) / 16, (h + 15) / 16}, {16, 16}, 0, transpose, in.data, out.data, w, h);
  CHECK(cudaDeviceSynchronize());
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x)
      ASSERT_EQ(out[x * h + y], in[y * w + x]);
}

TEST(CpuProgram, histogram) {
  const int n = 5000;
  Values<uchar4> in(n);
  Values<unsigned> bins(256);
  for (int i = 0; i < n; ++i)
    in[i] = make_uchar4(i % 256, 1, 2, i % 3);
  launchKernel((n + 127) / 128, 128, 256 * sizeof(unsigned), histogram, in.data, n, bins.data);
  CHECK(cudaDeviceSynchronize());
  unsigned total = 0;
  for (int i = 0; i < 256; ++i)
    total += bins[i];
  EXPECT_EQ(total, 4u * n);
  EXPECT_EQ(bins[1], 5000u + 20u + 1667u);
}

TEST(CpuProgram, the_last_block_sums_up) {
  const int n = 4321;
  Values<int> in(n), partial(64), out(1);
  for (int i = 0; i < n; ++i)
    in[i] = i;
  for (int round = 0; round < 3; ++round) {
    out[0] = 0;
    launchKernel(34, 128, 0, sumAll, in.data, n, partial.data, out.data);
    CHECK(cudaDeviceSynchronize());
    EXPECT_EQ(out[0], n * (n - 1) / 2);
  }
}

TEST(CpuProgram, functions) {
  Values<double> out(8);
  launchKernel(1, 8, 0, math, out.data);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; ++i)
    EXPECT_NEAR(out[i], max(i, 3) + min(2, i) + 1 + 1 + 0.5 + 5 + 3 + 4, 1e-6);
}
