// Kernels with MPI calls of their own, on the cpu device, with the progress engine in the test's
// thread: what the device's code and the engine do together. No staging memory, so that large
// messages go in parts.
#include "cpu_run.hpp"
#include "mpi_environment.hpp"

#include "proxy/progress.hpp"
#include "queue/short_device.hpp"

#include <gmpi/gmpi.hpp>

#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <utility>

using namespace gmpi;

static const int environment = setenv("GMPI_STAGING_MB", "0", 1);

namespace {

constexpr Site site{1, 2};
constexpr int large = 1300000; // two parts

struct Calls : testing::Test {
  Progress progress{0};
  launch::KernelEntry entry{nullptr, nullptr, {"tested", 1, 2, Scope::grid}, 0, {}};
  Values<int> wrong{1};
  Values<unsigned char> sent = Values<unsigned char>(large), got = Values<unsigned char>(large);

  Calls() {
    for (int i = 0; i < large; ++i)
      sent[i] = static_cast<unsigned char>(i * 11 + i / 253);
  }
  void TearDown() override { EXPECT_EQ(wrong[0], 0); }
  bool all_received() const { return std::equal(sent.data, sent.data + large, got.data); }

  void run(Shape shape, std::function<void()> kernel) {
    std::uint32_t index = 0;
    LaunchState *state = progress.queue().begin_launch({&entry, Clock::now(), nullptr}, index);
    shape.cooperative = true;
    ASSERT_EQ(::launch(shape, [kernel, launched = Launched{state, index}] {
                Participant participant(launched);
                kernel();
              }),
              cudaSuccess);
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (progress.take_ended_launches() == 0) {
      if (!progress.work())
        std::this_thread::yield();
      if (std::chrono::steady_clock::now() > end) {
        ADD_FAILURE() << "the kernel hangs";
        std::_Exit(1); // nothing else ends it
      }
    }
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
};

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      atomicAdd(wrong, __LINE__);                                                                  \
  } while (0)

} // namespace

TEST_F(Calls, every_thread_for_itself) {
  run({3, 60}, [wrong = wrong.data] {
    int me = int(threadIdx.x + blockIdx.x * blockDim.x), value = me * 3, back = -1;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    thread::MPI_Irecv(site, &back, 1, MPI_INT, 0, me, MPI_COMM_SELF, &requests[0]);
    thread::MPI_Isend(site, &value, 1, MPI_INT, 0, me, MPI_COMM_SELF, &requests[1]);
    CHECK(thread::MPI_Waitall(site, 2, requests, statuses) == MPI_SUCCESS);
    CHECK(back == value);
    CHECK(statuses[0].MPI_TAG == me && statuses[0].MPI_SOURCE == 0);
    CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    MPI_Status status;
    CHECK(thread::MPI_Sendrecv(site, &me, 1, MPI_INT, 0, 1000 + me, &back, 1, MPI_INT,
                               MPI_ANY_SOURCE, 1000 + me, MPI_COMM_SELF, &status) == MPI_SUCCESS);
    CHECK(back == me && status.MPI_TAG == 1000 + me);
  });
}

TEST_F(Calls, grid_scope_in_parts) {
  run({4, 50}, [wrong = wrong.data, sent = sent.data, got = got.data] {
    if (blockIdx.x == 2 || threadIdx.x % 7 == 3)
      return;
    MPI_Request request;
    MPI_Status status;
    CHECK(grid::MPI_Isend(site, sent, large, MPI_BYTE, 0, 5, MPI_COMM_SELF, &request) ==
          MPI_SUCCESS);
    CHECK(grid::MPI_Recv(site, got, large, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF,
                         &status) == MPI_SUCCESS);
    CHECK(status.MPI_SOURCE == 0 && status.MPI_TAG == 5 && status_bytes(status) == large);
    CHECK(grid::MPI_Wait(site, &request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(request == MPI_REQUEST_NULL);
  });
  EXPECT_TRUE(all_received());
}

/// A request that one kernel makes is finished by the next.
TEST_F(Calls, request_of_an_earlier_kernel) {
  Values<MPI_Request> request(1);
  run({2, 32}, [got = got.data, request = request.data] {
    grid::MPI_Irecv(site, got, large, MPI_BYTE, 0, 5, MPI_COMM_SELF, request);
  });
  EXPECT_TRUE(is_kernel_request(request[0]));
  run({3, 32}, [wrong = wrong.data, sent = sent.data, request = request.data] {
    MPI_Request sending;
    grid::MPI_Isend(site, sent, large, MPI_BYTE, 0, 5, MPI_COMM_SELF, &sending);
    MPI_Status status;
    CHECK(grid::MPI_Wait(site, request, &status) == MPI_SUCCESS);
    CHECK(status_bytes(status) == large);
    grid::MPI_Wait(site, &sending, MPI_STATUS_IGNORE);
  });
  EXPECT_EQ(request[0], MPI_REQUEST_NULL);
  EXPECT_TRUE(all_received());
}

TEST_F(Calls, test_until_done) {
  run({1, 32}, [wrong = wrong.data] {
    if (threadIdx.x != 0)
      return;
    int value = 7, back = 0, done = 0;
    MPI_Request request;
    thread::MPI_Irecv(site, &back, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
    CHECK(thread::MPI_Test(site, &request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    CHECK(!done && request != MPI_REQUEST_NULL);
    thread::MPI_Send(site, &value, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
    MPI_Status status;
    while (!done)
      thread::MPI_Test(site, &request, &done, &status);
    CHECK(back == 7 && request == MPI_REQUEST_NULL && status.MPI_TAG == 5);
    CHECK(thread::MPI_Test(site, &request, &done, &status) == MPI_SUCCESS && done);
    CHECK(status.MPI_SOURCE == MPI_ANY_SOURCE);
  });
}

TEST_F(Calls, with_nobody) {
  run({2, 10}, [wrong = wrong.data] {
    int value = 3;
    MPI_Status status;
    MPI_Request request;
    CHECK(grid::MPI_Recv(site, &value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_SELF, &status) ==
          MPI_SUCCESS);
    CHECK(value == 3 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    CHECK(grid::MPI_Irecv(site, nullptr, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_SELF, &request) ==
          MPI_SUCCESS);
    CHECK(request != MPI_REQUEST_NULL);
    CHECK(grid::MPI_Wait(site, &request, &status) == MPI_SUCCESS);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && request == MPI_REQUEST_NULL);
    CHECK(grid::MPI_Send(site, &value, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_SELF) == MPI_SUCCESS);
  });
}

/// A datatype whose elements have gaps: MPI counts a message without them.
TEST_F(Calls, status_of_a_datatype_with_gaps) {
  struct Pair {
    double value;
    int place;
  };
  Values<Pair> pairs(3), back(5);
  for (int i = 0; i < 3; ++i)
    pairs[i] = {i + 0.5, i};
  run({2, 10}, [wrong = wrong.data, pairs = pairs.data, back = back.data] {
    MPI_Status status;
    int count = -1;
    grid::MPI_Send(site, pairs, 3, MPI_DOUBLE_INT, 0, 5, MPI_COMM_SELF);
    grid::MPI_Recv(site, back, 5, MPI_DOUBLE_INT, 0, 5, MPI_COMM_SELF, &status);
    grid::MPI_Get_count(site, &status, MPI_DOUBLE_INT, &count);
    CHECK(count == 3);
    CHECK(back[2].value == 2.5 && back[2].place == 2);
  });
}

TEST_F(Calls, collectives_and_questions) {
  Values<double> in(4), out(4);
  for (int i = 0; i < 4; ++i)
    in[i] = i + 1;
  MPI_Comm copy = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &copy);
  run({3, 20}, [copy, wrong = wrong.data, in = in.data, out = out.data] {
    int rank = -1, size = -1;
    CHECK(grid::MPI_Comm_rank(site, copy, &rank) == MPI_SUCCESS && rank == 0);
    CHECK(grid::MPI_Comm_size(site, copy, &size) == MPI_SUCCESS && size == 1);
    CHECK(grid::MPI_Allreduce(site, in, out, 4, MPI_DOUBLE, MPI_SUM, copy) == MPI_SUCCESS);
    CHECK(out[3] == 4);
    double mine = 2, sum = 0;
    CHECK(grid::MPI_Allreduce(site, &mine, &sum, 1, MPI_DOUBLE, MPI_SUM, copy) == MPI_SUCCESS);
    CHECK(sum == 2);
    CHECK(grid::MPI_Allreduce(site, MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, copy) ==
          MPI_SUCCESS);
    CHECK(sum == 2);
    CHECK(grid::MPI_Bcast(site, &sum, 1, MPI_DOUBLE, 0, copy) == MPI_SUCCESS && sum == 2);
    CHECK(grid::MPI_Barrier(site, copy) == MPI_SUCCESS);
  });
  PMPI_Comm_free(&copy);
}

/// Errors that MPI returns are what the call returns, in every thread.
TEST_F(Calls, errors) {
  Values<int> errors(4);
  run({2, 20}, [errors = errors.data, wrong = wrong.data, sent = sent.data] {
    int value = 0;
    int error = grid::MPI_Ssend(site, &value, 1, MPI_INT, 99, 5, MPI_COMM_SELF);
    CHECK(error != MPI_SUCCESS);
    errors[0] = error;
    grid::MPI_Send(site, sent, 100, MPI_BYTE, 0, 5, MPI_COMM_SELF);
    errors[1] = grid::MPI_Recv(site, &value, 1, MPI_INT, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    errors[2] = grid::MPI_Ssend(site, &value, 1, MPI_DATATYPE_NULL, 0, 5, MPI_COMM_SELF);
    MPI_Request none = encode_request({700, 0, 0xabc}); // of a use that the slot has not had
    errors[3] = grid::MPI_Wait(site, &none, MPI_STATUS_IGNORE);
  });
  EXPECT_EQ(class_of(errors[0]), MPI_ERR_RANK);
#ifndef OPEN_MPI // 4.1.4 tells nothing of a small message from the own rank that is cut
  EXPECT_EQ(class_of(errors[1]), MPI_ERR_TRUNCATE);
#endif
  EXPECT_EQ(class_of(errors[2]), MPI_ERR_TYPE);
  EXPECT_EQ(class_of(errors[3]), MPI_ERR_REQUEST);
}

/// A small send that MPI takes returns before it is received. One that MPI refuses returns MPI's
/// error, on communicators of any size in a larger world.
TEST_F(Calls, small_sends_that_mpi_refuses) {
  const int world_size = std::exchange(device::context.world_size, 5);
  MPI_Comm copy = MPI_COMM_NULL;
  PMPI_Comm_dup(MPI_COMM_SELF, &copy);
  Values<int> errors(6);
  run({2, 20}, [copy, errors = errors.data, wrong = wrong.data] {
    int value = 3;
    auto send = [&](int dest, MPI_Comm comm) {
      return grid::MPI_Send(site, &value, 1, MPI_INT, dest, 5, comm);
    };
    errors[0] = send(1, MPI_COMM_SELF);
    errors[1] = send(2, MPI_COMM_WORLD); // the real one has one rank: returns at once, fails later
    errors[2] = send(1, copy);           // of a size not known yet
    errors[3] = send(0, copy);
    errors[4] = send(0, copy); // from here on it is known
    errors[5] = send(1, copy);
    for (int i = 0; i < 2; ++i) {
      CHECK(grid::MPI_Recv(site, &value, 1, MPI_INT, 0, 5, copy, MPI_STATUS_IGNORE) == MPI_SUCCESS);
      CHECK(value == 3);
    }
  });
  for (int i : {0, 2, 5})
    EXPECT_EQ(class_of(errors[i]), MPI_ERR_RANK) << i;
  for (int i : {1, 3, 4})
    EXPECT_EQ(errors[i], MPI_SUCCESS) << i;
  EXPECT_EQ(device::size_told(copy), 1u);
  device::context.world_size = world_size;
  progress.queue().comm_sizes().forget(copy);
  PMPI_Comm_free(&copy);
}

TEST_F(Calls, small_sends_with_tags_out_of_range) {
  const int largest = device::context.tag_upper_bound;
  ASSERT_GE(largest, 32767);
  Values<int> errors(3);
  run({2, 20}, [largest, errors = errors.data, wrong = wrong.data] {
    int value = 3;
    errors[0] = grid::MPI_Send(site, &value, 1, MPI_INT, 0, -5, MPI_COMM_SELF);
    errors[1] = grid::MPI_Send(site, &value, 1, MPI_INT, 0, largest, MPI_COMM_SELF);
    if (largest < INT_MAX)
      errors[2] = grid::MPI_Send(site, &value, 1, MPI_INT, 0, largest + 1, MPI_COMM_SELF);
    CHECK(grid::MPI_Recv(site, &value, 1, MPI_INT, 0, largest, MPI_COMM_SELF, MPI_STATUS_IGNORE) ==
          MPI_SUCCESS);
  });
  EXPECT_EQ(class_of(errors[0]), MPI_ERR_TAG);
  EXPECT_EQ(errors[1], MPI_SUCCESS);
  EXPECT_EQ(class_of(errors[2]), largest < INT_MAX ? MPI_ERR_TAG : MPI_SUCCESS);
}

/// A handle that comes back as another communicator's.
TEST_F(Calls, sizes_are_forgotten) {
  CommSizes &sizes = progress.queue().comm_sizes();
  EXPECT_EQ(device::size_told(MPI_COMM_SELF), 0u);
  sizes.learn(MPI_COMM_SELF);
  EXPECT_EQ(device::size_told(MPI_COMM_SELF), 1u);
  sizes.forget(MPI_COMM_WORLD); // another
  EXPECT_EQ(device::size_told(MPI_COMM_SELF), 1u);
  sizes.forget(MPI_COMM_SELF);
  EXPECT_EQ(device::size_told(MPI_COMM_SELF), 0u);
}

/// A large receive that is only ever tested.
TEST_F(Calls, large_receive_tested_until_done) {
  run({1, 32}, [wrong = wrong.data, sent = sent.data, got = got.data] {
    MPI_Request receiving, sending;
    MPI_Status status;
    int done = 0;
    grid::MPI_Irecv(site, got, large, MPI_BYTE, 0, 5, MPI_COMM_SELF, &receiving);
    CHECK(grid::MPI_Test(site, &receiving, &done, &status) == MPI_SUCCESS && !done);
    grid::MPI_Isend(site, sent, large, MPI_BYTE, 0, 5, MPI_COMM_SELF, &sending);
    while (!done)
      CHECK(grid::MPI_Test(site, &receiving, &done, &status) == MPI_SUCCESS);
    CHECK(receiving == MPI_REQUEST_NULL && status.MPI_TAG == 5 && status_bytes(status) == large);
    grid::MPI_Wait(site, &sending, MPI_STATUS_IGNORE);
  });
  EXPECT_TRUE(all_received());
}

/// Each thread tests its own, more of them than there are pieces of bounce memory.
TEST_F(Calls, large_receives_tested_by_many_threads) {
  constexpr int threads = 12, bytes = 100000;
  static_assert(threads * bytes <= large);
  run({3, 4}, [wrong = wrong.data, sent = sent.data, got = got.data] {
    int me = int(threadIdx.x + blockIdx.x * blockDim.x), done = 0;
    MPI_Request requests[2];
    thread::MPI_Irecv(site, got + me * bytes, bytes, MPI_BYTE, 0, me, MPI_COMM_SELF, &requests[0]);
    thread::MPI_Isend(site, sent + me * bytes, bytes, MPI_BYTE, 0, me, MPI_COMM_SELF, &requests[1]);
    for (MPI_Request &request : requests)
      for (done = 0; !done;)
        CHECK(thread::MPI_Test(site, &request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  });
  EXPECT_TRUE(std::equal(sent.data, sent.data + threads * bytes, got.data));
}

/// One kernel tests, before and after the message has arrived; the host, or the next kernel, waits.
TEST_F(Calls, large_receive_tested_here_and_finished_elsewhere) {
  Values<MPI_Request> request(1);
  for (bool on_host : {true, false, true}) {
    std::memset(got.data, 0, large);
    run({2, 32}, [wrong = wrong.data, got = got.data, request = request.data] {
      int done = 0;
      grid::MPI_Irecv(site, got, large, MPI_BYTE, 0, 5, MPI_COMM_SELF, request);
      CHECK(grid::MPI_Test(site, request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done);
    });
    run({2, 32}, [sent = sent.data] {
      grid::MPI_Send(site, sent, large, MPI_BYTE, 0, 5, MPI_COMM_SELF);
    });
    if (on_host) {
      int error = MPI_ERR_OTHER;
      while (!progress.test_from_host(decode_request(request[0]), MPI_STATUS_IGNORE, error))
        progress.work();
      EXPECT_EQ(error, MPI_SUCCESS);
    } else {
      run({3, 16}, [wrong = wrong.data, request = request.data] {
        CHECK(grid::MPI_Wait(site, request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
      });
    }
    EXPECT_TRUE(all_received());
  }
}
