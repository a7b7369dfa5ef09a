// Device memory of the cpu device: kinds, copies and their checks, variables.
#include "cpu_run.hpp"

#include <cstring>

namespace {
__constant__ float table[4];
__device__ int counter = 3;

cudaMemoryType kind_of(const void *p) {
  cudaPointerAttributes attributes;
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, p), cudaSuccess);
  return attributes.type;
}
} // namespace

TEST(CpuMemory, kinds_of_pointers) {
  int *device, *managed, *pinned, *mapped, plain[4];
  cudaMalloc(&device, 100);
  cudaMallocManaged(&managed, 100);
  cudaHostAlloc(&pinned, 100, cudaHostAllocMapped);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(device) % 256, 0u);
  EXPECT_EQ(kind_of(device), cudaMemoryTypeDevice);
  EXPECT_EQ(kind_of(device + 24), cudaMemoryTypeDevice);
  EXPECT_EQ(kind_of(device + 25), cudaMemoryTypeUnregistered);
  EXPECT_EQ(kind_of(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(kind_of(pinned), cudaMemoryTypeHost);
  EXPECT_EQ(kind_of(plain), cudaMemoryTypeUnregistered);
  EXPECT_TRUE(gmpi::cpu::is_device(device));
  EXPECT_FALSE(gmpi::cpu::is_device(managed));
  EXPECT_FALSE(gmpi::cpu::is_device(plain));
  EXPECT_EQ(cudaHostGetDevicePointer(&mapped, pinned, 0), cudaSuccess);
  EXPECT_EQ(mapped, pinned);
  EXPECT_EQ(cudaHostRegister(plain, sizeof plain, 0), cudaSuccess);
  EXPECT_EQ(kind_of(plain), cudaMemoryTypeHost);
  EXPECT_EQ(cudaHostUnregister(plain), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(plain), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaFree(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(device + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  cudaGetLastError();
}

TEST(CpuMemory, copies_check_range_and_side) {
  int *device, host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {};
  cudaMalloc(&device, sizeof host);
  EXPECT_EQ(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(back, device, sizeof host, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(std::memcmp(host, back, sizeof host), 0);
  EXPECT_EQ(cudaMemcpy(device + 1, host, sizeof host, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(back, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, device, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device, 0xff, 8), cudaSuccess);
  EXPECT_EQ(cudaMemset(host, 0, 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device, 0, 33), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(back, device, 12, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back[1], -1);
  EXPECT_EQ(back[2], 3);
  cudaFree(device);
  cudaGetLastError();
}

TEST(CpuMemory, rows) {
  char *device, host[4 * 6], back[4 * 6] = {};
  std::size_t pitch;
  for (int i = 0; i < 24; ++i)
    host[i] = static_cast<char>(i);
  ASSERT_EQ(cudaMallocPitch(&device, &pitch, 6, 4), cudaSuccess);
  EXPECT_EQ(pitch % 256, 0u);
  EXPECT_EQ(cudaMemcpy2D(device, pitch, host, 6, 6, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemset2D(device + 1, pitch, 99, 2, 3), cudaSuccess);
  EXPECT_EQ(cudaMemcpy2D(back, 6, device, pitch, 6, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back[0], 0);
  EXPECT_EQ(back[7], 99);
  EXPECT_EQ(back[9], 9);
  EXPECT_EQ(back[19], 19);
  cudaFree(device);
}

TEST(CpuMemory, variables) {
  const float values[4] = {1, 2, 3, 4};
  int *address, out = 3;
  EXPECT_EQ(cudaMemcpyToSymbol(counter, &out, sizeof out), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(table, values, sizeof values), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(table, values, 4, 8), cudaSuccess);
  EXPECT_EQ(cudaGetSymbolAddress(&address, counter), cudaSuccess);
  EXPECT_EQ(kind_of(address), cudaMemoryTypeDevice);
  run({1, 4}, [] { atomicAdd(&counter, static_cast<int>(table[threadIdx.x])); });
  EXPECT_EQ(cudaMemcpyFromSymbol(&out, counter, sizeof out), cudaSuccess);
  EXPECT_EQ(out, 3 + 1 + 2 + 1 + 4);
  EXPECT_EQ(cudaMemcpyToSymbol(table, values, 8, 12), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST(CpuMemory, more_than_there_is) {
  void *p = &p;
  EXPECT_EQ(cudaMalloc(&p, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_EQ(p, nullptr);
  EXPECT_STREQ(cudaGetErrorName(cudaGetLastError()), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_EQ(cudaMalloc(&p, 0), cudaSuccess);
  EXPECT_EQ(p, nullptr);
}

TEST(CpuMemory, the_device_says_what_it_is) {
  cudaDeviceProp p;
  int n = 0, multiprocessors = 0;
  EXPECT_EQ(cudaGetDeviceCount(&n), cudaSuccess);
  EXPECT_EQ(n, 1);
  EXPECT_EQ(cudaGetDeviceProperties(&p, 0), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0),
            cudaSuccess);
  EXPECT_EQ(multiprocessors, p.multiProcessorCount);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  cudaGetLastError();
}
