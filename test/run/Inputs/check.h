// What the end-to-end tests share: beginning and end of a program, expectations, device memory.
//
// A program passes (exit status 0, and rank 0 prints "ok") if every expectation held on every rank and
// no message is left over: a call made too often, by each thread instead of once, sends such messages.
#pragma once

#include <mpi.h>

#include <cuda_runtime.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CHECK(call)                                                                           \
  do {                                                                                             \
    cudaError_t error = (call);                                                                    \
    if (error != cudaSuccess) {                                                                    \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error)); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                                \
    }                                                                                              \
  } while (0)

namespace test {

/// Everything takes many times as long under it.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitizer = true;
#elif !defined(__has_feature)
inline constexpr bool thread_sanitizer = false;
#elif __has_feature(thread_sanitizer)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = false;
#endif

inline int rank, size, failures;
inline int next() { return (rank + 1) % size; }
inline int previous() { return (rank + size - 1) % size; }

inline void begin(int *argc, char ***argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

inline bool expect(bool holds, const char *what, ...) {
  if (holds)
    return true;
  if (++failures <= 5) {
    std::va_list arguments;
    va_start(arguments, what);
    std::fprintf(stderr, "rank %d of %d: FAILED: ", rank, size);
    std::vfprintf(stderr, what, arguments);
    std::fprintf(stderr, "\n");
    va_end(arguments);
  }
  return false;
}

inline void expect_equal(double got, double wanted, const char *what) {
  expect(got == wanted, "%s is %.17g, not %.17g", what, got, wanted);
}

/// Waits for all kernels.
inline void synchronize() {
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
}

inline int end() {
  MPI_Barrier(MPI_COMM_WORLD);
  int left_over = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &left_over, &status);
  expect(!left_over, "a message from rank %d, tag %d, is left over", status.MPI_SOURCE, status.MPI_TAG);
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0 && all == 0)
    std::printf("ok\n");
  MPI_Finalize();
  return all != 0;
}

/// Asserts of the communicator, collectively, that only kernels use it, or takes that back.
inline void assert_kernel_only(MPI_Comm comm, const char *value = "true") {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "gmpi_assert_kernel_only", value);
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
}

/// Device memory that begins as `count` times `fill`.
template <class T> class Array {
public:
  explicit Array(int count, T fill = T()) : count_(count) {
    CUDA_CHECK(cudaMalloc(&memory_, bytes()));
    write(std::vector<T>(count, fill));
  }
  ~Array() { cudaFree(memory_); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;

  T *data() const { return memory_; }
  void write(const std::vector<T> &from) {
    CUDA_CHECK(cudaMemcpy(memory_, from.data(), bytes(), cudaMemcpyHostToDevice));
  }
  std::vector<T> read() const {
    std::vector<T> host(count_);
    CUDA_CHECK(cudaMemcpy(host.data(), memory_, bytes(), cudaMemcpyDeviceToHost));
    return host;
  }

private:
  std::size_t bytes() const { return count_ * sizeof(T); }

  int count_;
  T *memory_ = nullptr;
};

/// Expects element i to be wanted(i).
template <class T, class Wanted>
void expect_each(const Array<T> &array, Wanted wanted, const char *what) {
  std::vector<T> got = array.read();
  for (int i = 0; i < int(got.size()); ++i)
    expect(double(got[i]) == double(wanted(i)), "%s[%d] is %.17g, not %.17g", what, i, double(got[i]),
           double(wanted(i)));
}

} // namespace test
