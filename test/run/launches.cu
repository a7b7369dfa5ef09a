// Every way to launch a kernel: <<<>>> with two to four arguments and braces, function pointers, CUDA's
// functions, templates, overloads, namespaces, default arguments, macros, other files.
// RUN: %gmpicxx %s %S/Inputs/launches_elsewhere.cu -o %t
// RUN: %ranks 1-2 %t
#include "Inputs/check.h"
#include "Inputs/launches.h"

#include <cooperative_groups.h>

__global__ void sum(int *data, int value) {
  MPI_Allreduce(&value, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
__global__ void sum(double *data, double value, int times = 1) {
  value *= times;
  MPI_Allreduce(&value, data, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

extern "C" __global__ void with_c_linkage(int *data, int value) {
  MPI_Allreduce(&value, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

namespace inner {
static __global__ void of_namespace(int *data, int value) {
  MPI_Allreduce(&value, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}
} // namespace inner

template <class T> struct Type;
template <> struct Type<int> {
  __host__ __device__ static MPI_Datatype mpi() { return MPI_INT; }
};
template <> struct Type<double> {
  __host__ __device__ static MPI_Datatype mpi() { return MPI_DOUBLE; }
};

template <class T, int Factor = 1> __global__ void scaled(T *data, T value) {
  value *= Factor;
  MPI_Allreduce(&value, data, 1, Type<T>::mpi(), MPI_SUM, MPI_COMM_WORLD);
}
template <class T> void launch_scaled(T *data, T value) { scaled<T, 3><<<2, 32>>>(data, value); }

struct Job {
  int *data;
  int value;
};
__global__ void by_value(const Job job) {
  int value = job.value;
  MPI_Allreduce(&value, job.data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

__global__ void launched_elsewhere(int *data, int value) {
  MPI_Allreduce(&value, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

__global__ void cooperative(int *data, int value) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  if (grid.thread_rank() == 7)
    data[1] = value;
  grid.sync();
  int mine = data[1];
  MPI_Allreduce(&mine, data, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

#define LAUNCHED(launch)                                                                           \
  do {                                                                                             \
    launch;                                                                                        \
    CUDA_CHECK(cudaGetLastError());                                                                \
  } while (0)

static test::Array<int> *result;
static int *data() { return result->data(); }

/// Every rank has passed rank + 1.
static void check(const char *how, int factor = 1, int added = 0) {
  test::synchronize();
  int wanted = factor * test::size * (test::size + 1) / 2 + added * test::size;
  test::expect_equal(result->read()[0], wanted, how);
  result->write({-1, -1});
}

static void launch_by_syntax(int value) {
  sum<<<2, 32>>>(data(), value);
  check("two arguments");
  sum<<<dim3(2, 1), dim3(8, 4), 128>>>(data(), value);
  check("three arguments");
  sum<<<{2, 1, 1}, {16, 2, 1}, 0, nullptr>>>(data(), value);
  check("braces and four arguments");
  sum<<<1, 32>>>(data(), short(value));
  check("an argument that is converted");
  LAUNCHED((sum<<<2, 32>>>(data(), value)));
  check("in a macro");
  with_c_linkage<<<2, 32>>>(data(), value);
  check("extern \"C\"");
  inner::of_namespace<<<2, 32>>>(data(), value);
  check("in a namespace");
  scaled<int, 2><<<2, 32>>>(data(), value);
  check("a template", 2);
  scaled<<<2, 32>>>(data(), value);
  check("a template, arguments deduced");
  launch_scaled(data(), value);
  check("a template in a template", 3);
  by_value<<<2, 32>>>(Job{data(), value});
  check("a structure");
  auto launch = [&](int blocks) { sum<<<blocks, 32>>>(data(), value); };
  launch(3);
  check("in a lambda");

  test::Array<double> number(1);
  sum<<<1, 32>>>(number.data(), value);
  test::synchronize();
  test::expect_equal(number.read()[0], test::size * (test::size + 1) / 2, "a default argument");
  sum<<<1, 32>>>(number.data(), value, 3);
  test::synchronize();
  test::expect_equal(number.read()[0], 3 * test::size * (test::size + 1) / 2, "an overload");
}

static void launch_by_pointer(int value) {
  AnyKernel kernels[] = {with_c_linkage, scaled<int, 5>, without_mpi, kernel_from_elsewhere()};
  kernels[0]<<<2, 32>>>(data(), value);
  check("a pointer");
  kernels[1]<<<2, 32>>>(data(), value);
  check("a pointer to a template", 5);
  kernels[3]<<<2, 32>>>(data(), value);
  check("a pointer to another file's kernel", 1, 1);
  kernels[2]<<<2, 32>>>(data(), value);
  test::synchronize();
  test::expect_equal(result->read()[0], value, "a kernel without MPI");
  defined_elsewhere<<<2, 32>>>(data(), value);
  check("another file's kernel");
  launch_elsewhere(data(), value);
  check("launched by another file");
}

static void launch_by_function(int value) {
  int *pointer = data();
  void *arguments[] = {&pointer, &value};
  AnyKernel overload = sum;
  CUDA_CHECK(cudaLaunchKernel(overload, dim3(2), dim3(32), arguments, 0, nullptr));
  check("cudaLaunchKernel");
  CUDA_CHECK(cudaLaunchKernel(scaled<int, 2>, 2, 32, arguments));
  check("cudaLaunchKernel of a template", 2);
  CUDA_CHECK(cudaLaunchKernel((const void *)with_c_linkage, 2, 32, arguments, 0, nullptr));
  check("cudaLaunchKernel, untyped");
  CUDA_CHECK(cudaLaunchCooperativeKernel(cooperative, 2, 32, arguments));
  check("cudaLaunchCooperativeKernel");
  CUDA_CHECK(cudaLaunchKernel(defined_elsewhere, 2, 32, arguments));
  check("cudaLaunchKernel of another file's kernel");

  cudaLaunchConfig_t config{};
  config.gridDim = 2;
  config.blockDim = 32;
  CUDA_CHECK(cudaLaunchKernelEx(&config, with_c_linkage, pointer, value));
  check("cudaLaunchKernelEx");
  CUDA_CHECK(cudaLaunchKernelEx(&config, scaled<int, 2>, pointer, value));
  check("cudaLaunchKernelEx of a template", 2);
  CUDA_CHECK(cudaLaunchKernelExC(&config, (const void *)with_c_linkage, arguments));
  check("cudaLaunchKernelExC");
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::Array<int> memory(2, -1);
  result = &memory;
  launch_by_syntax(test::rank + 1);
  launch_by_pointer(test::rank + 1);
  launch_by_function(test::rank + 1);
  return test::end();
}
