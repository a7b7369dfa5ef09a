// Kernels that are cut at their MPI calls, written as the translator writes them, carried from
// segment to segment by the driver on the cpu device. Messages go to this rank itself.
#include "split_environment.hpp"

#include <chrono>
#include <cmath>
#include <thread>

using namespace gmpi;

namespace {

constexpr unsigned file = 0x5111;
const SourceFile source_file(file, "split_test.cu");

#define GMPI_TEST_SEGMENT(name, R, ...)                                                            \
  static_cast<void (*)(::gmpi::Segment __VA_OPT__(, ) __VA_ARGS__)>(name##__segment<R>)

// --- A loop with a halo exchange
// ------------------------------------------------------------------

__global__ void relax(double *, double *, int, int, int, int) {}

template <int gmpi_resume>
__global__ void relax__segment(::gmpi::Segment gmpi_segment, double *u, double *v, int n, int left,
                               int right, int steps) {
  ::gmpi::Frame gmpi_frame(gmpi_segment);
  bool gmpi_re = gmpi_resume != 0;
  if (gmpi_re) {
    u = gmpi_frame.saved<decltype(u), 0, 8>();
    v = gmpi_frame.saved<decltype(v), 8, 8>();
  }
  for (int s = gmpi_re ? gmpi_frame.saved_uniform<int, 0, 4>() : 0; gmpi_re || (s < steps); ++s) {
    if (!gmpi_re) {
      for (int i = 1 + int(blockIdx.x * blockDim.x + threadIdx.x); i <= n;
           i += int(gridDim.x * blockDim.x))
        v[i] = 0.5 * (u[i - 1] + u[i + 1]);
    }
    if (gmpi_re ? gmpi_resume == 1 : true) {
      if (::gmpi::split::MPI_Sendrecv<1>(gmpi_frame, gmpi_re, {file, 5}, v + n, 1, MPI_DOUBLE,
                                         right, 0, v, 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                                         MPI_STATUS_IGNORE)) {
        gmpi_frame.save<0, 8>(u);
        gmpi_frame.save<8, 8>(v);
        gmpi_frame.save_uniform<0, 4>(s);
        return;
      }
    }
    if (::gmpi::split::MPI_Sendrecv<2>(gmpi_frame, gmpi_re, {file, 6}, v + 1, 1, MPI_DOUBLE, left,
                                       1, v + n + 1, 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                                       MPI_STATUS_IGNORE)) {
      gmpi_frame.save<0, 8>(u);
      gmpi_frame.save<8, 8>(v);
      gmpi_frame.save_uniform<0, 4>(s);
      return;
    }
    double *t = u;
    u = v;
    v = t;
  }
}
const KernelInfo relax__info = {"relax", file, 1, Scope::grid};
SplitKernel relax__split() {
  return split_kernel({4, 0, 16, false, false},
                      GMPI_TEST_SEGMENT(relax, 0, double *, double *, int, int, int, int),
                      GMPI_TEST_SEGMENT(relax, 1, double *, double *, int, int, int, int),
                      GMPI_TEST_SEGMENT(relax, 2, double *, double *, int, int, int, int));
}
void relax__launch(const Launch &gmpi_launch, double *u, double *v, int n, int left, int right,
                   int steps) {
  gmpi_launch.split(static_cast<void (*)(double *, double *, int, int, int, int)>(relax), nullptr,
                    relax__split, relax__info, u, v, n, left, right, steps);
}
const Kernel relax__kernel{relax, nullptr, relax__split, relax__info};

std::vector<double> relaxed(std::vector<double> u, int n, int steps) {
  std::vector<double> v = u;
  for (int s = 0; s < steps; ++s) {
    for (int i = 1; i <= n; ++i)
      v[i] = 0.5 * (u[i - 1] + u[i + 1]);
    v[0] = v[n];
    v[n + 1] = v[1];
    std::swap(u, v);
  }
  return u;
}

} // namespace

TEST(Split, halo_exchange_in_a_loop) {
  const int n = 1000, steps = 11;
  Values<double> u(n + 2), v(n + 2);
  std::vector<double> start(n + 2);
  for (int i = 0; i < n + 2; ++i)
    u[i] = v[i] = start[i] = std::sin(i);
  relax__launch(Launch({5}, {32}), u.data, v.data, n, 0, 0, steps);
  wait_for_device();
  std::vector<double> expected = relaxed(start, n, steps);
  for (int i = 0; i < n + 2; ++i)
    ASSERT_EQ(v[i], expected[i]) << i;
}

/// By address, as `kernel<<<...>>>` of a kernel from another file.
TEST(Split, launched_by_address) {
  const int n = 100;
  Values<double> u(n + 2), v(n + 2);
  for (int i = 0; i < n + 2; ++i)
    u[i] = v[i] = 1;
  Launch({2}, {32})(relax, u.data, v.data, n, 0, 0, 3);
  wait_for_device();
  EXPECT_EQ(v[n / 2], 1);
  void *arguments[] = {&u.data, &v.data, nullptr, nullptr, nullptr, nullptr};
  int elements = n, peer = 0, steps = 2;
  arguments[2] = &elements, arguments[3] = arguments[4] = &peer, arguments[5] = &steps;
  EXPECT_EQ(gmpi::cudaLaunchKernel(relax, {2}, {32}, arguments), cudaSuccess);
  wait_for_device();
}

/// No residency is needed: more blocks than the device holds.
TEST(Split, grid_of_any_size) {
  const int n = 4000;
  Values<double> u(n + 2), v(n + 2);
  std::vector<double> start(n + 2);
  for (int i = 0; i < n + 2; ++i)
    u[i] = v[i] = start[i] = i % 17;
  relax__launch(Launch({4000}, {32}), u.data, v.data, n, 0, 0, 3);
  wait_for_device();
  std::vector<double> expected = relaxed(start, n, 3);
  for (int i = 0; i < n + 2; ++i)
    ASSERT_EQ(v[i], expected[i]) << i;
}
