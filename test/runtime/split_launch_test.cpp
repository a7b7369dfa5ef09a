// Launches of split kernels: their place in the user's streams, many of them, several at a time,
// and which lowering runs.
#include "split_environment.hpp"

#include "launch/statistics.hpp"
#include "split/slots.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

using namespace gmpi;

static const int environment = setenv("GMPI_STATS", "1", 1);

namespace {

constexpr unsigned file = 0x5111;
const SourceFile source_file(file, "split_launch_test.cu");

/// Adds 1 to a number before and after each of its barriers.
struct Count {
  static constexpr int points = 1;
  static constexpr split::Sizes sizes{4, 0, 0, false, false};
  int *number;
  int steps;

  template <int R> void run(Segment segment, int *) const {
    Frame frame(segment);
    bool re = R != 0;
    bool first = blockIdx.x == 0 && threadIdx.x == 0;
    if (!re && first)
      ++*number;
    for (int i = re ? frame.saved_uniform<int, 0, 4>() : 0; re || i < steps; ++i) {
      if (split::MPI_Barrier<1>(frame, re, {file, 10}, MPI_COMM_WORLD)) {
        frame.save_uniform<0, 4>(i);
        return;
      }
      if (first)
        ++*number;
    }
  }
};

/// Receives what another stream, or the host, sends.
struct Receive {
  static constexpr int points = 1;
  static constexpr split::Sizes sizes{0, 0, 0, false, false};
  int *number, tag;

  template <int R> void run(Segment segment, int *) const {
    Frame frame(segment);
    bool re = R != 0;
    if (split::MPI_Recv<1>(frame, re, {file, 20}, number, 1, MPI_INT, 0, tag, MPI_COMM_WORLD,
                           MPI_STATUS_IGNORE))
      return;
    if (blockIdx.x == 0 && threadIdx.x == 0)
      ++*number;
  }
};
struct Send {
  static constexpr int points = 1;
  static constexpr split::Sizes sizes{0, 0, 0, false, false};
  int *number, tag;

  template <int R> void run(Segment segment, int *) const {
    Frame frame(segment);
    bool re = R != 0;
    split::MPI_Send<1>(frame, re, {file, 30}, number, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
  }
};

/// Launched by one test only: what is said once a kernel is said there.
struct Lone {
  static constexpr int points = 1;
  static constexpr split::Sizes sizes{0, 0, 0, false, false};

  template <int R> void run(Segment segment, int *) const {
    Frame frame(segment);
    bool re = R != 0;
    split::grid_sync<1>(frame, re);
  }
};

template <class K> void start(const Launch &launch, K kernel) {
  SplitProgram<K>::launch(launch, kernel, nullptr);
}

cudaStream_t new_stream(unsigned flags = cudaStreamDefault) {
  cudaStream_t stream;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
  return stream;
}

// A kernel with both lowerings.

__global__ void both(int *) {}
int queue_runs = 0;
void both__queue(Launched launched, int *) {
  Participant participant(launched);
  if (threadIdx.x + blockIdx.x == 0)
    ++queue_runs;
}
template <int R> void both__segment(Segment segment, int *runs) {
  Frame frame(segment);
  bool re = R != 0;
  if (!re && threadIdx.x + blockIdx.x == 0)
    ++*runs;
  if (split::grid_sync<1>(frame, re))
    return;
}
SplitKernel both__split() {
  return split_kernel({0, 0, 0, false, false},
                      static_cast<void (*)(Segment, int *)>(both__segment<0>),
                      static_cast<void (*)(Segment, int *)>(both__segment<1>));
}
const KernelInfo both__info = {"both", file, 40, Scope::grid};
const Kernel both__kernel{both, both__queue, both__split, both__info};

} // namespace

/// What the stream holds before and after a launch is done before and after it.
TEST(SplitLaunch, keeps_its_place_in_the_stream) {
  for (cudaStream_t stream : {cudaStream_t(nullptr), new_stream(cudaStreamNonBlocking)}) {
    Values<int> number(1);
    int seen = -1;
    start(Launch({2}, {32}, 0, stream), Count{number.data, 3});
    ASSERT_EQ(::launch({1, 1, 0, stream}, [number = number.data] { *number *= 10; }), cudaSuccess);
    start(Launch({2}, {32}, 0, stream), Count{number.data, 1});
    ASSERT_EQ(cudaMemcpyAsync(&seen, number.data, sizeof(int), cudaMemcpyDeviceToHost, stream),
              cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(seen, 42);
    EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  }
}

TEST(SplitLaunch, returns_before_the_kernel_is_over) {
  Values<int> number(1);
  start(Launch({1}, {32}), Receive{number.data, 1});
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
  int sent = 6;
  MPI_Send(&sent, 1, MPI_INT, 0, 1, MPI_COMM_WORLD); // the host's MPI calls go on meanwhile
  wait_for_device();
  EXPECT_EQ(number[0], 7);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotReady); // of cudaStreamQuery; launches leave none
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(SplitLaunch, streams_overlap) {
  Values<int> numbers(3);
  cudaStream_t one = new_stream(), other = new_stream();
  numbers[2] = 5;
  start(Launch({2}, {32}, 0, one), Receive{numbers.data, 2});
  start(Launch({2}, {32}, 0, one), Receive{numbers.data + 1, 3});
  start(Launch({2}, {32}, 0, other), Send{numbers.data + 2, 3});
  start(Launch({2}, {32}, 0, other), Send{numbers.data + 2, 2});
  wait_for_device();
  EXPECT_EQ(numbers[0], 6);
  EXPECT_EQ(numbers[1], 6);
}

/// More than may be in flight, each with another kernel behind it in the default stream.
TEST(SplitLaunch, many) {
  constexpr int count = 3000;
  Values<int> number(1);
  for (int i = 0; i < count; ++i) {
    start(Launch({1}, {32}), Count{number.data, 1});
    ASSERT_EQ(::launch({1, 1}, [number = number.data] { ++*number; }), cudaSuccess);
  }
  wait_for_device();
  EXPECT_EQ(number[0], 3 * count);
}

/// More than are in flight at a time: a launch waits for the one before it in its stream, not for what
/// that one's place is used for next.
TEST(SplitLaunch, from_several_threads) {
  constexpr int count = 1000, launchers = 8;
  Values<int> numbers(launchers);
  std::vector<std::thread> threads;
  for (int t = 0; t < launchers; ++t)
    threads.emplace_back([&, t] {
      cudaStream_t stream = new_stream(cudaStreamNonBlocking);
      for (int i = 0; i < count; ++i)
        start(Launch({1}, {32}, 0, stream), Count{numbers.data + t, 2});
      cudaStreamSynchronize(stream);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (int t = 0; t < launchers; ++t)
    EXPECT_EQ(numbers[t], 3 * count);
}

/// A launch that CUDA refuses is over at once, and its stream goes on.
TEST(SplitLaunch, refused) {
  Values<int> number(1);
  start(Launch({1}, {2000}), Count{number.data, 1});
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  start(Launch({0}, {32}), Count{number.data, 1});
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  wait_for_device();
  EXPECT_EQ(number[0], 0);
  start(Launch({1}, {32}), Count{number.data, 1});
  wait_for_device();
  EXPECT_EQ(number[0], 2);
}

TEST(SplitLaunch, too_large_a_frame) {
  EXPECT_EXIT(
      {
        launch::KernelEntry entry = launch::make_entry(
            static_cast<void (*)(int *)>(both), static_cast<void (*)(Launched, int *)>(nullptr),
            both__split(), both__info);
        entry.split.sizes.thread = 1u << 31;
        int *argument = nullptr;
        void *arguments[] = {&argument};
        launch::run(entry, {{1u << 20}, {1024}}, arguments, launch::OnRefusal::abort);
      },
      testing::ExitedWithCode(1),
      "no device memory for what kernel both saves at its MPI calls: 2305843009213693952 bytes "
      "\\(2147483648 for each of 1073741824 threads, 0 for each block, 0 in all\\)");
}

/// Where the grid is resident the kernel stays whole; else it is split, which is said once.
TEST(SplitLaunch, choice_of_lowering) {
  Values<int> runs(1);
  Launch({2}, {32})(both, runs.data);
  wait_for_device();
  EXPECT_EQ(queue_runs, 1);
  EXPECT_EQ(runs[0], 0);
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i)
    Launch({5000}, {32})(both, runs.data);
  wait_for_device();
  EXPECT_EQ(queue_runs, 1);
  EXPECT_EQ(runs[0], 2);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gmpi: rank 0: kernel both (split_launch_test.cu:40) is split at its MPI calls: 5000 "
            "blocks are launched, and the device holds 256 at once\n");
}

/// A program that compares lowerings chooses one for each of its phases.
TEST(SplitLaunch, preferred_lowering) {
  Values<int> split_runs(1);
  const int queue_runs_before = queue_runs;
  for (const char *name : {"split", "queue", "split", ""}) {
    prefer_lowering(name);
    Launch({2}, {32})(both, split_runs.data);
    wait_for_device();
  }
  EXPECT_EQ(queue_runs, queue_runs_before + 2);
  EXPECT_EQ(split_runs[0], 2);
}

TEST(SplitLaunch, unknown_preferred_lowering) {
  EXPECT_EXIT(prefer_lowering("stream"), testing::ExitedWithCode(1),
              "the program prefers the lowering 'stream', which is neither queue nor split\n");
}

/// What a kernel does not have is said once; a kernel that has one lowering runs so.
TEST(SplitLaunch, preferred_lowering_that_a_kernel_lacks) {
  prefer_lowering("queue");
  testing::internal::CaptureStderr();
  for (int i = 0; i < 2; ++i)
    start(Launch({2}, {32}), Lone{});
  wait_for_device();
  prefer_lowering("");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gmpi: rank 0: the program prefers 'queue', but kernel tested (split_launch_test.cu:1) "
            "was translated with --lower=split alone: that is what runs\n");
}

TEST(SplitLaunch, settings_reach_every_kernel) {
  std::vector<const void *> set;
  EXPECT_EQ(implementation(both).each([&](const void *kernel) {
    set.push_back(kernel);
    return cudaSuccess;
  }),
            cudaSuccess);
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(set[0], reinterpret_cast<const void *>(both__queue));
  EXPECT_EQ(set[1], both__split().segments[0]);
  EXPECT_EQ(
      cudaFuncSetAttribute(implementation(both), cudaFuncAttributeMaxDynamicSharedMemorySize, 1000),
      cudaSuccess);
  int blocks = 0;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, implementation(both), 32, 0),
            cudaSuccess);
  EXPECT_GT(blocks, 0);
}

TEST(SplitLaunch, statistics) {
  wait_for_device();
  launch::report_statistics(); // of the tests before
  Values<int> number(1);
  for (int i = 0; i < 3; ++i)
    start(Launch({2}, {32}), Count{number.data, 4});
  wait_for_device();
  std::this_thread::sleep_for(std::chrono::milliseconds(20)); // the last is counted after its end
  testing::internal::CaptureStderr();
  launch::report_statistics();
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(
      said.find("gmpi: rank 0: kernel tested (split_launch_test.cu:1), split: 3 launches, 12 MPI "
                "calls, 15 segments, "),
      0u)
      << said;
  EXPECT_NE(said.find(" ms in MPI, "), std::string::npos);
}
