// MPI_Irecv of messages that are there before it, from kernel to kernel, while other receives are posted
// and other messages kept: each gets what MPI's order says, into memory at any address, at grid scope and
// by blocks at once. Most tags are the same, and some receives take any.
// LOWERINGS: queue (split kernels leave such communicators to the queue)
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-3 %t
// RUN: env GMPI_PEER=1 GMPI_HOSTS_FOR_TESTS=2 %ranks 3 %t
#include "Inputs/check.h"

#include <algorithm>
#include <random>

constexpr int window = 8, tags = 3, most = 70000, blocks = 2;

/// One window of a rank's messages: those it sends, in order, and its receives, in order.
struct Plan {
  int bytes[window], tag[window];
  int wanted[window]; ///< tags
  int early;          ///< so many receives are posted before the messages are sent
  bool blocking[window];
  int gets[window]; ///< number of the message
  int room[window]; ///< that there is for it: what has room for long messages is always posted
  int offset;       ///< of the memory from an address for eight bytes
  bool one_by_one;  ///< waits for each, and wants to know what has come
};

/// Of what a grid or a block does.
struct Work {
  const Plan *plans;
  int count;
  unsigned char *data, *got; ///< [window][most]
  int next, previous;
  MPI_Comm comm;
  int *wrong;
};

__device__ unsigned char byte_of(int number, int i) { return static_cast<unsigned char>(31 * number + i + i / 250); }

__device__ void prepare(const Work &w, int number, int thread, int threads) {
  const Plan &plan = w.plans[number];
  for (int k = 0; k < window; ++k)
    for (int i = thread; i < most; i += threads) {
      if (i < plan.bytes[k])
        w.data[k * most + i] = byte_of(number * window + k, i);
      if (i < plan.bytes[plan.gets[k]] + 8)
        w.got[k * most + i] = 99;
    }
}

__device__ void verify(const Work &w, int number, int thread, int threads) {
  const Plan &plan = w.plans[number];
  for (int k = 0; k < window; ++k) {
    const int message = plan.gets[k];
    const unsigned char *got = w.got + k * most + plan.offset;
    for (int i = thread; i < plan.bytes[message]; i += threads)
      if (got[i] != byte_of(number * window + message, i))
        atomicAdd(w.wrong, 1);
    if (thread == 0 && got[plan.bytes[message]] != 99)
      atomicAdd(w.wrong, 1);
  }
}

__device__ void expect_status(const Work &w, const Plan &plan, int k, MPI_Status &status) {
  int bytes = -1;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  const int message = plan.gets[k];
  if (bytes != plan.bytes[message] || status.MPI_TAG != plan.tag[message] || status.MPI_SOURCE != w.previous)
    atomicAdd(w.wrong, 1);
}

__global__ void by_grid(Work w) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int number = 0; number < w.count; ++number) {
    const Plan &plan = w.plans[number];
    MPI_Request sends[window], receives[window];
    prepare(w, number, thread, threads);
    for (int k = 0; k < plan.early; ++k) {
#pragma gmpi scope(grid)
      MPI_Irecv(w.got + k * most + plan.offset, plan.room[k], MPI_BYTE, w.previous, plan.wanted[k], w.comm, &receives[k]);
    }
    MPI_Barrier(w.comm);
    for (int k = 0; k < window; ++k)
      MPI_Isend(w.data + k * most, plan.bytes[k], MPI_BYTE, w.next, plan.tag[k], w.comm, &sends[k]);
    MPI_Barrier(w.comm);
    for (int k = plan.early; k < window; ++k) {
      if (plan.blocking[k]) {
#pragma gmpi scope(grid)
        MPI_Recv(w.got + k * most + plan.offset, plan.room[k], MPI_BYTE, w.previous, plan.wanted[k], w.comm,
                 MPI_STATUS_IGNORE);
        receives[k] = MPI_REQUEST_NULL;
      } else {
#pragma gmpi scope(grid)
        MPI_Irecv(w.got + k * most + plan.offset, plan.room[k], MPI_BYTE, w.previous, plan.wanted[k], w.comm,
                  &receives[k]);
      }
    }
    for (int k = window - 1; plan.one_by_one && k >= 0; --k)
      if (receives[k] != MPI_REQUEST_NULL) {
        MPI_Status status;
#pragma gmpi scope(grid)
        MPI_Wait(&receives[k], &status);
        expect_status(w, plan, k, status);
      }
#pragma gmpi scope(grid)
    MPI_Waitall(window, receives, MPI_STATUSES_IGNORE);
#pragma gmpi scope(grid)
    MPI_Waitall(window, sends, MPI_STATUSES_IGNORE);
    verify(w, number, thread, threads);
    MPI_Barrier(w.comm);
  }
}

__global__ void by_block(Work first, Work second) {
  const Work w = blockIdx.x == 0 ? first : second;
  const int thread = threadIdx.x, threads = blockDim.x;
  for (int number = 0; number < w.count; ++number) {
    const Plan &plan = w.plans[number];
    MPI_Request sends[window], receives[window];
    prepare(w, number, thread, threads);
    for (int k = 0; k < plan.early; ++k) {
#pragma gmpi scope(block)
      MPI_Irecv(w.got + k * most + plan.offset, plan.room[k], MPI_BYTE, w.previous, plan.wanted[k], w.comm, &receives[k]);
    }
#pragma gmpi scope(block)
    MPI_Barrier(w.comm);
    for (int k = 0; k < window; ++k) {
#pragma gmpi scope(block)
      MPI_Isend(w.data + k * most, plan.bytes[k], MPI_BYTE, w.next, plan.tag[k], w.comm, &sends[k]);
    }
#pragma gmpi scope(block)
    MPI_Barrier(w.comm);
    for (int k = plan.early; k < window; ++k) {
      if (plan.blocking[k]) {
#pragma gmpi scope(block)
        MPI_Recv(w.got + k * most + plan.offset, plan.room[k], MPI_BYTE, w.previous, plan.wanted[k], w.comm,
                 MPI_STATUS_IGNORE);
        receives[k] = MPI_REQUEST_NULL;
      } else {
#pragma gmpi scope(block)
        MPI_Irecv(w.got + k * most + plan.offset, plan.room[k], MPI_BYTE, w.previous, plan.wanted[k], w.comm,
                  &receives[k]);
      }
    }
    for (int k = window - 1; plan.one_by_one && k >= 0; --k)
      if (receives[k] != MPI_REQUEST_NULL) {
        MPI_Status status;
#pragma gmpi scope(block)
        MPI_Wait(&receives[k], &status);
        expect_status(w, plan, k, status);
      }
#pragma gmpi scope(block)
    MPI_Waitall(window, receives, MPI_STATUSES_IGNORE);
#pragma gmpi scope(block)
    MPI_Waitall(window, sends, MPI_STATUSES_IGNORE);
    verify(w, number, thread, threads);
#pragma gmpi scope(block)
    MPI_Barrier(w.comm);
  }
}

/// The same on all ranks. Each receive gets the first message that is left and has its tag.
static Plan make_plan(std::mt19937 &random, int early) {
  const int lengths[] = {0, 4, 100, 232, 236, 1000, 1001, 4096, 9002, 65536, 65540, 66666};
  auto below = [&](int count) { return static_cast<int>(random() % static_cast<unsigned>(count)); };
  Plan plan = {};
  for (int k = 0; k < window; ++k) {
    plan.bytes[k] = lengths[below(10) < 9 ? below(6) : below(12)];
    plan.tag[k] = below(tags);
  }
  plan.early = early;
  plan.offset = below(4) == 0 ? 4 + below(2) * 3 : 0;
  plan.one_by_one = below(2) == 0;
  for (bool fits = false; !fits;) {
    std::copy(plan.tag, plan.tag + window, plan.wanted);
    if (below(2) == 0)
      std::shuffle(plan.wanted, plan.wanted + window, random);
    bool taken[window] = {};
    fits = true;
    for (int k = 0; k < window; ++k) {
      if (below(5) == 0)
        plan.wanted[k] = MPI_ANY_TAG;
      plan.blocking[k] = k >= early && below(5) == 0;
      int message = 0;
      while (message < window && (taken[message] || (plan.wanted[k] != MPI_ANY_TAG && plan.wanted[k] != plan.tag[message])))
        ++message;
      fits = fits && message < window;
      if (message < window)
        taken[message] = true;
      plan.gets[k] = message;
    }
  }
  for (int k = 0; k < window; ++k)
    plan.room[k] = below(4) == 0 ? most - 16 : plan.bytes[plan.gets[k]] + 4 * below(2);
  return plan;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int count = test::thread_sanitizer ? 6 : 40;
  std::mt19937 random(7);
  std::vector<Plan> plans;
  for (int i = 0; i < count; ++i)
    plans.push_back(make_plan(random, i % 4 == 0 ? 0 : i % (window + 1)));
  test::Array<Plan> list(count);
  list.write(plans);
  test::Array<unsigned char> data(blocks * window * most), got(blocks * window * most);
  test::Array<int> wrong(1);
  Work works[blocks];
  MPI_Comm comms[blocks];
  for (int b = 0; b < blocks; ++b) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[b]);
    test::assert_kernel_only(comms[b]);
    works[b] = {list.data(), count, data.data() + b * window * most, got.data() + b * window * most,
                test::next(), test::previous(), comms[b], wrong.data()};
  }
  by_grid<<<blocks, 64>>>(works[0]);
  test::synchronize();
  test::expect_equal(wrong.read()[0], 0, "what grids have found to be wrong");
  by_block<<<blocks, 64>>>(works[0], works[1]);
  test::synchronize();
  test::expect_equal(wrong.read()[0], 0, "what blocks have found to be wrong");
  for (MPI_Comm &comm : comms)
    MPI_Comm_free(&comm);
  return test::end();
}
