// What lives across a suspension: shared memory, early returns, the frames of device functions;
// barriers of the grid; and calls of block and thread scope between suspensions.
#include "split_environment.hpp"

#include "split/frame_pool.hpp"

using namespace gmpi;

namespace {

constexpr unsigned file = 0x5111;
const SourceFile source_file(file, "split_frame_test.cu");

GMPI_DEVICE int thread_number() { return int(blockIdx.x * blockDim.x + threadIdx.x); }

/// Each block adds up in shared memory, static and dynamic, over suspensions; some threads return
/// early.
template <bool Exits> struct Shared {
  static constexpr int points = 3;
  static constexpr split::Sizes sizes{4, 44, 4, Exits, true};
  int *out;

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    if (frame.gone())
      return;
    auto &sums = cpu::shared<int[10]>({file, 1, 1});
    auto &flag = cpu::shared<char>({file, 2, 1});
    int *dynamic = cpu::dynamic_shared<int>();
    int mine = re ? frame.saved<int, 0, 4>() : thread_number();
    if (re) {
      frame.restore_shared<0, 40>(sums);
      frame.restore_shared<40, 1>(flag);
      frame.restore_dynamic_shared();
    } else {
      if (threadIdx.x < 10)
        sums[threadIdx.x] = 0;
      if (threadIdx.x < 20)
        dynamic[threadIdx.x] = int(blockIdx.x * 100 + threadIdx.x);
      flag = 'a';
      __syncthreads();
    }
    auto save = [&] {
      frame.save<0, 4>(mine);
      frame.save_shared<0, 40>(sums);
      frame.save_shared<40, 1>(flag);
      frame.save_dynamic_shared();
    };
    for (int i = re ? frame.saved_uniform<int, 0, 4>() : 0; re ? R <= 2 : i < 4; ++i) {
      if (!re) {
        if (Exits && i == 2 && (threadIdx.x % 3 == 0 || blockIdx.x == 1))
          return;
        WRONG(flag == 'a' + i);
        atomicAdd(&sums[(threadIdx.x + i) % 10], 1);
      }
      GMPI_TEST_POINT(1) {
        if (split::MPI_Barrier<1>(frame, re, {file, 1}, MPI_COMM_WORLD)) {
          save();
          frame.save_uniform<0, 4>(i);
          return;
        }
        flag = char('a' + i + 1);
        __syncthreads();
      }
      if (split::grid_sync<2>(frame, re)) {
        save();
        frame.save_uniform<0, 4>(i);
        return;
      }
    }
    if (split::grid_sync<3>(frame, re)) {
      save();
      return;
    }
    WRONG(mine == thread_number());
    WRONG(threadIdx.x >= 20 || dynamic[threadIdx.x] == int(blockIdx.x * 100 + threadIdx.x));
    atomicAdd(out, 1);
    if (__syncthreads_count(1) && (Exits ? threadIdx.x == 1 : threadIdx.x == 0)) {
      int all = 0;
      for (int i = 0; i < 10; ++i)
        all += sums[i];
      atomicAdd(out + 1, all);
    }
  }
};

/// `int twice(int &given)`: sends and receives; resumed at point 1 of 2.
template <int R> GMPI_DEVICE bool exchange__segment(Frame frame, bool &re, int &result, int value) {
  int kept = re ? frame.saved<int, 0, 4>() : value * 2;
  int step = re ? frame.saved_uniform<int, 0, 4>() : 5;
  int got = 0;
  if (re ? R == 1 : true) {
    if (split::MPI_Sendrecv<1>(frame, re, {file, 3}, &value, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0,
                               0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) {
      frame.save<0, 4>(kept);
      frame.save_uniform<0, 4>(step);
      return true;
    }
    kept += got;
  }
  if (split::MPI_Barrier<2>(frame, re, {file, 4}, MPI_COMM_WORLD)) {
    frame.save<0, 4>(kept);
    frame.save_uniform<0, 4>(step);
    return true;
  }
  result = kept + step;
  return false;
}

/// Two calls of a function with two points each, and a point of its own between.
struct Nested {
  static constexpr int points = 5;
  static constexpr split::Sizes sizes{8, 0, 12, false, false};

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    int a = re ? frame.saved<int, 0, 4>() : 0, b = 0,
        own = re ? frame.saved<int, 4, 4>() : thread_number();
    if (re ? R <= 2 : true) {
      if (exchange__segment<within(R, 1, 2)>(frame.callee(4, 0, 8, 1), re, a, 10)) {
        frame.save<0, 4>(a);
        frame.save<4, 4>(own);
        return;
      }
      WRONG(a == 10 * 2 + 10 + 5 && own == thread_number());
    }
    if (re ? R == 3 : true) {
      if (split::grid_sync<3>(frame, re)) {
        frame.save<0, 4>(a);
        frame.save<4, 4>(own);
        return;
      }
    }
    if (exchange__segment<within(R, 4, 5)>(frame.callee(4, 0, 8, 4), re, b, 100)) {
      frame.save<0, 4>(a);
      frame.save<4, 4>(own);
      return;
    }
    WRONG(a == 35 && b == 100 * 2 + 100 + 5 && own == thread_number());
  }
};

/// The queue carries calls of narrower scope, in every segment.
struct Narrow {
  static constexpr int points = 1;
  static constexpr split::Sizes sizes{0, 0, 0, true, false};

  template <int R> void run(Segment segment, int *wrong) const {
    Participant participant(segment.launched());
    Frame frame(segment);
    if (frame.gone())
      return;
    bool re = R != 0;
    int me = thread_number(), back = -1;
    if (!re) {
      thread::MPI_Sendrecv({file, 1}, &me, 1, MPI_INT, 0, 100 + me, &back, 1, MPI_INT, 0, 100 + me,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      WRONG(back == me);
      if (threadIdx.x % 5 == 1)
        return; // what is block scope is of those that stay
      int block_number = int(blockIdx.x);
      block::MPI_Sendrecv({file, 2}, &block_number, 1, MPI_INT, 0, block_number, &back, 1, MPI_INT,
                          0, block_number, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      WRONG(back == block_number);
    }
    if (split::MPI_Barrier<1>(frame, re, {file, 3}, MPI_COMM_WORLD))
      return;
    WRONG(threadIdx.x % 5 != 1);
    int rank = -1;
    thread::MPI_Comm_rank({file, 4}, MPI_COMM_WORLD, &rank);
    WRONG(rank == 0);
  }
};

/// One thread sends an even number, the grid the odd one after it, again and again.
struct Alternates {
  static constexpr int points = 1;
  static constexpr split::Sizes sizes{4, 0, 0, false, false};
  int count;

  template <int R> void run(Segment segment, int *) const {
    Participant participant(segment.launched());
    Frame frame(segment);
    bool re = R != 0;
    for (int i = re ? frame.saved_uniform<int, 0, 4>() : 0; re || i < count; ++i) {
      int even = 2 * i, odd = even + 1;
      if (!re && thread_number() == 0)
        thread::MPI_Send({file, 1}, &even, 1, MPI_INT, 0, 70, MPI_COMM_WORLD);
      if (split::MPI_Send<1>(frame, re, {file, 2}, &odd, 1, MPI_INT, 0, 70, MPI_COMM_WORLD)) {
        frame.save_uniform<0, 4>(i);
        return;
      }
    }
  }
};

/// Writes, suspends, reads what another block has written.
struct Barriers {
  static constexpr int points = 1;
  static constexpr split::Sizes sizes{4, 0, 0, false, false};
  int *numbers;
  int steps;

  template <int R> void run(Segment segment, int *wrong) const {
    Frame frame(segment);
    bool re = R != 0;
    int threads = int(gridDim.x * blockDim.x), me = thread_number();
    for (int i = re ? frame.saved_uniform<int, 0, 4>() : 0; re || i < steps; ++i) {
      if (!re)
        numbers[i % 2 * threads + me] = me * i;
      if (split::grid_sync<1>(frame, re)) {
        frame.save_uniform<0, 4>(i);
        return;
      }
      int other = (me + threads / 2) % threads;
      WRONG(numbers[i % 2 * threads + other] == other * i);
    }
  }
};

} // namespace

TEST(SplitFrame, shared_memory) {
  Values<int> out(2);
  run_split(Launch({3}, {35}, 20 * sizeof(int)), Shared<false>{out.data});
  EXPECT_EQ(out[0], 3 * 35);
  EXPECT_EQ(out[1], 3 * 35 * 4);
}

/// Threads that return early, a whole block among them, stay away from all later segments.
TEST(SplitFrame, early_returns) {
  Values<int> out(2);
  for (int round = 0; round < 2; ++round) { // the second finds a frame in use before
    out[0] = out[1] = 0;
    run_split(Launch({3}, {35}, 20 * sizeof(int)), Shared<true>{out.data});
    EXPECT_EQ(out[0], 2 * 23);
    EXPECT_EQ(out[1], 2 * (35 + 35 + 23 + 23));
  }
}

TEST(SplitFrame, device_functions) { run_split(Launch({3}, {40}), Nested{}); }

TEST(SplitFrame, narrower_scopes) { run_split(Launch({4}, {33}), Narrow{}); }

/// Messages of both ways into the proxy keep the program's order.
TEST(SplitFrame, order_of_scopes) {
  constexpr int count = 300;
  run_split(Launch({2}, {32}), Alternates{count});
  for (int i = 0; i < 2 * count; ++i) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, 0, 70, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ASSERT_EQ(got, i);
  }
}

TEST(SplitFrame, grid_barriers) {
  Values<int> numbers(2 * 50 * 32);
  run_split(Launch({50}, {32}), Barriers{numbers.data, 20});
}

TEST(SplitFrame, layout) {
  split::FrameLayout layout = split::layout_of({20, 100, 24, true, true}, {3}, {33}, 1000);
  EXPECT_EQ(layout.thread_slots, 128u); // in whole warps
  EXPECT_GE(layout.uniform[1], layout.uniform[0] + 20);
  EXPECT_GE(layout.threads, layout.uniform[1] + 20);
  EXPECT_GE(layout.blocks, layout.threads + 24 * 128);
  EXPECT_GE(layout.dynamic, layout.blocks + 3 * 100);
  EXPECT_GE(layout.elected, layout.dynamic + 3 * 1000);
  EXPECT_GE(layout.at, layout.elected + 4);
  EXPECT_GE(layout.end, layout.at + 4 * 128);
  // A grid of 2^31 blocks does not overflow.
  layout = split::layout_of({0, 8, 8, false, false}, {1u << 31}, {32}, 0);
  EXPECT_EQ(layout.blocks - layout.threads, 8ull << 36);
}

TEST(SplitFrame, slots) {
  EXPECT_EQ(split::slot_bytes(1), 1u);
  EXPECT_EQ(split::slot_bytes(3), 4u);
  EXPECT_EQ(split::slot_bytes(9), 16u);
  EXPECT_EQ(split::slot_bytes(16), 16u);
  EXPECT_EQ(split::slot_bytes(17), 32u);
  static_assert(within(3, 3, 4) == 1 && within(4, 3, 4) == 2 && within(5, 3, 4) == 0 &&
                within(0, 1, 2) == 0);
}

TEST(FramePool, sizes) {
  using Pool = split::FramePool;
  for (std::uint64_t bytes :
       {0ull, 1ull, 5000ull, 8192ull, 8193ull, 1ull << 30, (1ull << 33) + 1}) {
    std::uint64_t size = Pool::size_class(bytes);
    EXPECT_GE(size, bytes);
    EXPECT_LE(size, bytes + bytes / 4 + 1024) << bytes;
    EXPECT_EQ(Pool::size_class(size), size);
  }
}

TEST(FramePool, memory_is_used_again) {
  split::FramePool pool;
  split::FramePool::Frame one = pool.take(5000);
  unsigned char *memory = one.get();
  split::FramePool::Frame shared = one;
  one.reset();
  EXPECT_NE(pool.take(5000).get(), memory);
  shared.reset();
  EXPECT_EQ(pool.take(4900).get(), memory);
  EXPECT_EQ(pool.take(1ull << 60), nullptr);
  pool.free_memory();
}
