// Calls that one thread of a split kernel makes for itself: the others run on to where the grid
// meets, that thread comes after them.
#include "split_environment.hpp"

#include <chrono>
#include <cstdlib>
#include <thread>

using namespace gmpi;

static const int environment = setenv("GMPI_STALL", "1", 1);

namespace {

constexpr unsigned file = 0x5111;
const SourceFile source_file(file, "split_single_test.cu");

GMPI_DEVICE int thread_number() { return int(blockIdx.x * blockDim.x + threadIdx.x); }

/// In each turn one thread exchanges messages with itself, into its own memory, then the grid
/// meets. The block's shared memory is saved by the others, if there are any.
struct InTurns {
  static constexpr int points = 3;
  static constexpr split::Sizes sizes{0, 4, 32, true, false};
  int chosen, turns;
  int *seen;

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    if (frame.absent())
      return;
    auto &shared = cpu::shared<int>({file, 1, 1});
    int mine = re ? frame.saved<int, 0, 4>() : 7 * thread_number(), got = -1;
    if (re)
      got = frame.saved<int, 4, 4>();
    else if (threadIdx.x == 0)
      shared = int(blockIdx.x);
    MPI_Status status{};
    auto save = [&](int i) {
      frame.save<0, 4>(mine);
      frame.save<4, 4>(got);
      frame.save<8, 4>(i);
      frame.save_shared<0, 4, true>(shared);
    };
    for (int i = re ? frame.saved<int, 8, 4>() : 0; re || i < turns; ++i) {
      if (re ? R <= 2 : thread_number() == chosen) {
        int sent = 10 * i + 1;
        GMPI_TEST_POINT(1) {
          if (split::single::MPI_Sendrecv<1>(frame, re, {file, 10}, &sent, 1, MPI_INT, 0, 3, &got,
                                             1, MPI_INT, 0, 3, MPI_COMM_WORLD, &status))
            return save(i);
          WRONG(got == 10 * i + 1 && status.MPI_TAG == 3 && frame.error() == MPI_SUCCESS);
        }
        if (split::single::MPI_Allreduce<2>(frame, re, {file, 11}, &got, seen + i, 1, MPI_INT,
                                            MPI_SUM, MPI_COMM_SELF))
          return save(i);
        WRONG(frame.alone() && thread_number() == chosen && seen[i] == got);
      }
      if (re && !frame.alone())
        frame.restore_shared<0, 4>(shared);
      if (split::grid_sync<3>(frame, re))
        return save(i);
      WRONG(!frame.alone() && seen[i] == 10 * i + 1);
      WRONG(mine == 7 * thread_number() && shared == int(blockIdx.x) + i);
      WRONG(got == (thread_number() == chosen ? 10 * i + 1 : -1));
      __syncthreads();
      if (threadIdx.x == 0)
        ++shared;
      __syncthreads();
    }
    atomicAdd(seen + turns, 1);
  }
};

/// The others have ended before the thread's last calls, or with them the kernel.
struct Last {
  static constexpr int points = 3;
  static constexpr split::Sizes sizes{0, 0, 8, true, false};
  int *data;
  bool meets;

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    if (frame.absent())
      return;
    if (!re && thread_number() != 0)
      return;
    GMPI_TEST_POINT(1) {
      if (split::single::MPI_Send<1>(frame, re, {file, 20}, data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD))
        return;
    }
    GMPI_TEST_POINT(2) {
      if (split::single::MPI_Recv<2>(frame, re, {file, 21}, data + 1, 1, MPI_INT, 0, 5,
                                     MPI_COMM_WORLD, MPI_STATUS_IGNORE))
        return;
    }
    if (!meets) {
      data[1] += 1;
      return;
    }
    if (split::MPI_Barrier<3>(frame, re, {file, 22}, MPI_COMM_SELF))
      return;
    WRONG(thread_number() == 0);
    data[1] += 2;
  }
};

/// Requests that the thread makes before a meeting of the grid, and completes behind it.
struct Requests {
  static constexpr int points = 4;
  static constexpr split::Sizes sizes{0, 0, 16, true, false};
  int *data;

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    if (frame.absent())
      return;
    MPI_Request requests[2];
    if (re)
      frame.restore<0, 16>(requests);
    bool first = thread_number() == 0;
    if (re ? R <= 2 : first) {
      GMPI_TEST_POINT(1) {
        if (split::single::MPI_Irecv<1>(frame, re, {file, 30}, data + 1, 1, MPI_INT, 0, 8,
                                        MPI_COMM_WORLD, &requests[0]))
          return frame.save<0, 16>(requests);
      }
      if (split::single::MPI_Isend<2>(frame, re, {file, 31}, data, 1, MPI_INT, 0, 8, MPI_COMM_WORLD,
                                      &requests[1]))
        return frame.save<0, 16>(requests);
    }
    GMPI_TEST_POINT(3) {
      if (split::grid_sync<3>(frame, re))
        return frame.save<0, 16>(requests);
    }
    if (re ? R == 4 : first) {
      if (split::single::MPI_Waitall<4>(frame, re, {file, 32}, 2, requests, MPI_STATUSES_IGNORE))
        return frame.save<0, 16>(requests);
      WRONG(data[1] == data[0] && requests[0] == MPI_REQUEST_NULL &&
            requests[1] == MPI_REQUEST_NULL);
      data[2] = 1;
    }
  }
};

} // namespace

TEST(SplitSingle, in_turns) {
  for (int chosen : {0, 2 * 35 + 5}) {
    constexpr int turns = 6;
    Values<int> seen(turns + 1);
    seen[turns] = 0;
    run_split(Launch({3}, {35}), InTurns{chosen, turns, seen.data});
    for (int i = 0; i < turns; ++i)
      EXPECT_EQ(seen[i], 10 * i + 1);
    EXPECT_EQ(seen[turns], 3 * 35) << "all threads come to the end";
  }
}

TEST(SplitSingle, the_only_thread_of_its_block) {
  constexpr int turns = 3;
  Values<int> seen(turns + 1);
  seen[turns] = 0;
  run_split(Launch({3}, {1}), InTurns{2, turns, seen.data});
  EXPECT_EQ(seen[turns], 3);
}

TEST(SplitSingle, after_the_others_have_ended) {
  for (bool meets : {false, true})
    for (int round = 0; round < 2; ++round) { // the second finds a frame in use before
      Values<int> data(2);
      data[0] = 40 + round;
      data[1] = 0;
      run_split(Launch({2}, {33}), Last{data.data, meets});
      EXPECT_EQ(data[1], 40 + round + (meets ? 2 : 1));
    }
}

TEST(SplitSingle, requests_across_a_meeting) {
  Values<int> data(3);
  data[0] = 17;
  data[1] = data[2] = 0;
  run_split(Launch({2}, {33}), Requests{data.data});
  EXPECT_EQ(data[2], 1);
}

/// What hangs is named with the scope it has.
TEST(SplitSingle, is_reported_as_a_threads_call) {
  Values<int> data(2);
  data[0] = 9;
  testing::internal::CaptureStderr();
  int number = 0;
  MPI_Request keeps_away;
  MPI_Irecv(&number, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &keeps_away); // takes the kernel's message
  SplitProgram<Last>::launch(Launch({1}, {32}), {data.data, false}, nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(1700));
  MPI_Send(data.data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  wait_for_device();
  MPI_Wait(&keeps_away, MPI_STATUS_IGNORE);
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("MPI_Recv from rank 0, tag 5 (thread scope, split_single_test.cu:21"),
            std::string::npos)
      << said;
}
