// A kernel as kernels with MPI are: all multiprocessors are taken, one thread of each block looks
// for a word of the host's. In PTX, which the driver compiles: this library is compiled without
// nvcc.
#include "busy_device.hpp"

#include "../launch/driver_function.hpp"

#include <chrono>
#include <cuda.h>

namespace gmpi::gpu_aware {

namespace {

using launch::driver_function;

/// In page-locked memory, each in a cache line of its own.
struct Words {
  alignas(64) unsigned begun; ///< by the first block
  alignas(64) unsigned told;  ///< by the host: to end
  alignas(64) unsigned over;  ///< it has ended by itself
};
static_assert(sizeof(Words) == 192);

constexpr const char *kernel_text = R"(
.version 6.4
.target sm_70
.address_size 64
.visible .entry gmpi_busy(.param .u64 words, .param .u64 nanoseconds)
{
  .reg .b64 %word, %limit, %start, %now;
  .reg .b32 %thread, %block, %told;
  .reg .pred %p;
  ld.param.u64 %word, [words];
  ld.param.u64 %limit, [nanoseconds];
  mov.u32 %thread, %tid.x;
  setp.ne.u32 %p, %thread, 0;
  @%p bra all_meet;
  mov.u64 %start, %globaltimer;
  mov.u32 %block, %ctaid.x;
  setp.ne.u32 %p, %block, 0;
  @%p bra look;
  st.volatile.global.u32 [%word], 1;
look:
  ld.volatile.global.u32 %told, [%word+64];
  setp.ne.u32 %p, %told, 0;
  @%p bra all_meet;
  nanosleep.u32 500;
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %start;
  setp.lt.u64 %p, %now, %limit;
  @%p bra look;
  st.volatile.global.u32 [%word+128], 1;
all_meet:
  bar.sync 0;
  ret;
}
)";

struct Driver {
  CUresult (*load)(CUmodule *, const void *) = driver_function<decltype(load)>("cuModuleLoadData");
  CUresult (*unload)(CUmodule) = driver_function<decltype(unload)>("cuModuleUnload");
  CUresult (*find)(CUfunction *, CUmodule,
                   const char *) = driver_function<decltype(find)>("cuModuleGetFunction");
  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, CUstream, void **,
                     void **) = driver_function<decltype(launch)>("cuLaunchKernel");

  bool complete() const { return load && unload && find && launch; }
};

/// Blocks of 1024 threads that take all of the current device.
unsigned blocks() {
  int device = 0, multiprocessors = 0, threads = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  return static_cast<unsigned>(multiprocessors * (threads / 1024));
}

class BusyKernel final : public Occupation {
public:
  ~BusyKernel() override {
    if (words_ != nullptr)
      __atomic_store_n(&words_->told, 1u, __ATOMIC_RELEASE);
    cudaStreamSynchronize(nullptr);
    if (module_ != nullptr)
      driver_.unload(module_);
    cudaFreeHost(words_);
  }

  bool begin(double seconds) {
    void *memory = nullptr;
    if (!driver_.complete() ||
        cudaHostAlloc(&memory, sizeof(Words), cudaHostAllocMapped | cudaHostAllocPortable) !=
            cudaSuccess) {
      cudaGetLastError();
      return false;
    }
    words_ = new (memory) Words{};
    CUfunction kernel = nullptr;
    auto nanoseconds = static_cast<unsigned long long>(seconds * 1e9);
    void *arguments[] = {&words_, &nanoseconds};
    if (driver_.load(&module_, kernel_text) != CUDA_SUCCESS ||
        driver_.find(&kernel, module_, "gmpi_busy") != CUDA_SUCCESS ||
        driver_.launch(kernel, blocks(), 1, 1, 1024, 1, 1, 0, nullptr, arguments, nullptr) !=
            CUDA_SUCCESS)
      return false;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (__atomic_load_n(&words_->begun, __ATOMIC_ACQUIRE) == 0)
      if (std::chrono::steady_clock::now() > end)
        return false;
    return true;
  }

  bool lasts() const override { return __atomic_load_n(&words_->over, __ATOMIC_ACQUIRE) == 0; }

private:
  Driver driver_;
  CUmodule module_ = nullptr;
  Words *words_ = nullptr;
};

} // namespace

const double trial_seconds = 1;

std::unique_ptr<Occupation> launch_busy_kernel(double seconds) {
  auto kernel = std::make_unique<BusyKernel>();
  if (!kernel->begin(seconds))
    return nullptr;
  return kernel;
}

bool remote_writes_need_no_flush() {
  int device = 0, can_write = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&can_write, cudaDevAttrGPUDirectRDMASupported, device) != cudaSuccess)
    return false;
  return !can_write || orders_remote_writes();
}

bool orders_remote_writes() {
  int device = 0, ordering = 0;
  if (cudaGetDevice(&device) != cudaSuccess ||
      cudaDeviceGetAttribute(&ordering, cudaDevAttrGPUDirectRDMAWritesOrdering, device) !=
          cudaSuccess)
    return false;
  return ordering >= cudaGPUDirectRDMAWritesOrderingOwner;
}

} // namespace gmpi::gpu_aware
