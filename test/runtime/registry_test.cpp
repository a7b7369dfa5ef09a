// The registry of kernels, launches by way of it, and the names of source files.
#include "cpu_run.hpp"

#include "proxy/report.hpp"

#include <gmpi/gmpi.hpp>

#include <thread>

using namespace gmpi;

namespace {

constexpr KernelInfo info{"tested", 0x123, 45, Scope::grid};

void stub(int *, int) { raw_launch(info); }
void queue(Launched, int *, int) {}
void unknown(int *out, int value) { atomicAdd(out, value); }
void plain(int *out, int value) { atomicAdd(out, value); }
void wide(double *out, double value, short small, const char *text) {
  if (threadIdx.x == 0)
    *out = value + small + text[0];
}

const Kernel with_mpi(stub, queue, info);
const Kernel without(plain, {"plain", 0x123, 50, Scope::thread});
const SourceFile file(0x123, "dir/in.cu");

template <class F> const void *address(F *function) {
  return reinterpret_cast<const void *>(function);
}

} // namespace

TEST(Registry, finds_what_static_objects_registered) {
  const launch::KernelEntry *entry = launch::find_kernel(address(stub));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->stub, address(stub));
  EXPECT_EQ(entry->queue, address(queue));
  EXPECT_STREQ(entry->info.name, "tested");
  EXPECT_EQ(entry->info.line, 45u);
  EXPECT_EQ(entry->parameters, 2u);
  entry = launch::find_kernel(address(plain));
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->queue, nullptr);
  EXPECT_EQ(launch::find_kernel(address(unknown)), nullptr);
}

TEST(Registry, implementation) {
  EXPECT_EQ(implementation(stub), address(queue));
  EXPECT_EQ(implementation(plain), address(plain));
  EXPECT_EQ(implementation(unknown), address(unknown));
}

TEST(Registry, first_one_stays_and_where_it_is) {
  const launch::KernelEntry *before = launch::find_kernel(address(stub));
  launch::KernelEntry other = *before;
  other.queue = address(unknown);
  EXPECT_EQ(&launch::add_kernel(other), before);
  static char addresses[5000];
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (char &byte : addresses) {
        launch::KernelEntry entry{&byte, nullptr, {}, 0, {}};
        const launch::KernelEntry *added = &launch::add_kernel(entry);
        EXPECT_EQ(added, launch::find_kernel(&byte));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(launch::find_kernel(address(stub)), before);
  EXPECT_EQ(before->queue, address(queue));
}

TEST(Registry, source_files) {
  EXPECT_EQ(place({0x123, 7}), "dir/in.cu:7");
  EXPECT_EQ(place({0x124, 7}), "(unknown file):7");
  SourceFile(0x123, "elsewhere/in.cu"); // each file has a number of its own; the first name stays
  EXPECT_EQ(place({0x123, 7}), "dir/in.cu:7");
}

TEST(LaunchPlain, by_every_way) {
  Values<int> out(1);
  void *arguments[] = {&out.data, nullptr};
  int value = 1;
  arguments[1] = &value;
  Launch(2, 3)(plain, out.data, 1);
  of(plain)(Launch(2, 3))(out.data, 1);
  of(unknown)(Launch(2, 3))(out.data, 1);
  EXPECT_EQ(gmpi::cudaLaunchKernel(plain, 2, 3, arguments), cudaSuccess);
  EXPECT_EQ(gmpi::cudaLaunchCooperativeKernel(plain, 2, 3, arguments), cudaSuccess);
  cudaLaunchConfig_t config = {2, 3, 0, nullptr, nullptr, 0};
  EXPECT_EQ(gmpi::cudaLaunchKernelExC(&config, address(plain), arguments), cudaSuccess);
  EXPECT_EQ(gmpi::cudaLaunchKernelEx(&config, plain, out.data, 1), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(out[0], 7 * 6);
}

/// Converted to the parameters' types, and copied before the launch returns.
TEST(LaunchPlain, arguments) {
  Values<double> out(1);
  {
    int value = 40;
    long small = 2;
    char text[] = "A";
    Values<char> there(1);
    there[0] = text[0];
    Launch(1, 32)(wide, out.data, value, small, there.data);
    value = small = 0;
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  EXPECT_EQ(out[0], 42.0 + 'A');
}

TEST(LaunchPlain, address_that_nobody_knows) {
  int value = 1;
  void *arguments[] = {&value, &value};
  EXPECT_EQ(gmpi::cudaLaunchKernel(unknown, 1, 1, arguments), cudaErrorInvalidDeviceFunction);
}

TEST(LaunchWithMpi, outside_of_mpi) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  Values<int> out(1);
  EXPECT_EXIT(Launch(1, 1)(stub, out.data, 1), testing::ExitedWithCode(1),
              "gmpi: kernel tested calls MPI but was launched outside MPI_Init ... MPI_Finalize");
}

/// The stub runs only if it was launched behind the runtime's back.
TEST(LaunchWithMpi, raw) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        ::launch({2, 32}, [] { stub(nullptr, 0); });
        cudaDeviceSynchronize();
      },
      "");
}
