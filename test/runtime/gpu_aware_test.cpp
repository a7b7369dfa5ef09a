// The progress engine where MPI is given long data where it lies, with a kernel's end played by the
// test; and what keeps a device busy for the trial at start.
#include "cpu_run.hpp"
#include "kernel_end.hpp"

#include "transport/busy_device.hpp"
#include "transport/gpu_aware.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

using namespace gmpi;

static const int environment = setenv("GMPI_STAGING_MB", "4", 1);

namespace {

using Kinds = std::vector<ReplyKind>;
using Bytes = std::vector<unsigned char>;
constexpr std::size_t small = 100, limit = inline_bytes + 1000, large = inline_bytes + 70000;

struct Direct : testing::Test {
  KernelEnd kernel;

  Direct() { kernel.direct_above = limit; }
  void TearDown() override {
    kernel.settle();
    EXPECT_TRUE(kernel.progress.quiet());
    expect_no_staging();
  }
  void expect_no_staging() {
    StagingPool &pool = kernel.progress.queue().staging();
    unsigned char *all = pool.take(4 << 20);
    EXPECT_NE(all, nullptr);
    if (all != nullptr)
      pool.give(all);
  }
};

void expect_received(const Reply &reply, int source, int tag, std::size_t bytes) {
  EXPECT_EQ(reply.error, MPI_SUCCESS);
  EXPECT_EQ(reply.source, source);
  EXPECT_EQ(reply.tag, tag);
  EXPECT_EQ(reply.message_bytes, bytes);
}

} // namespace

TEST_F(Direct, nothing_is_copied) {
  for (std::size_t bytes : {limit + 1, large, std::size_t(3000000)}) {
    Bytes sent = pattern(bytes, 1), got(bytes);
    KernelCall receive = kernel.start(Function::Recv, from(0, 5, got.data(), int(bytes)));
    EXPECT_FALSE(kernel.replied(receive));
    KernelCall send = kernel.start(Function::Ssend, to(0, 5, sent.data(), int(bytes)));
    kernel.settle();
    expect_no_staging();
    Reply reply = kernel.finish(receive);
    expect_received(reply, 0, 5, bytes);
    EXPECT_EQ(reply.bytes, 0u);
    EXPECT_EQ(kernel.finish(send).kind, ReplyKind::done);
    EXPECT_EQ(receive.kinds, Kinds{ReplyKind::done});
    EXPECT_EQ(send.kinds, Kinds{ReplyKind::done});
    EXPECT_EQ(got, sent);
  }
}

/// What is sent from where it lies may be received by way of staging memory, and the other way
/// round.
TEST_F(Direct, either_end_alone) {
  for (bool direct_send : {true, false}) {
    Bytes sent = pattern(large, 2), got(large);
    kernel.direct_above = direct_send ? never_direct : limit;
    KernelCall receive = kernel.start(Function::Recv, from(0, 5, got.data(), large));
    kernel.direct_above = direct_send ? limit : never_direct;
    KernelCall send = kernel.start(Function::Send, to(0, 5, sent.data(), large));
    kernel.finish(send);
    expect_received(kernel.finish(receive), 0, 5, large);
    EXPECT_EQ(send.copied.size(), direct_send ? 0u : 1u);
    EXPECT_EQ(receive.copied.size(), direct_send ? 1u : 0u);
    EXPECT_EQ(got, sent);
  }
}

TEST_F(Direct, up_to_the_limit_data_is_staged) {
  Bytes sent = pattern(limit, 3), got(limit);
  KernelCall send = kernel.start(Function::Send, to(0, 5, sent.data(), limit));
  KernelCall receive = kernel.start(Function::Recv, from(0, 5, got.data(), limit));
  kernel.copy(send, kernel.next(send));
  kernel.finish(receive);
  kernel.finish(send);
  EXPECT_EQ(got, sent);
  EXPECT_EQ(receive.kinds, Kinds{ReplyKind::copy_out_last});
}

/// Unaligned, shorter than its room: nothing else is touched.
TEST_F(Direct, shorter_than_the_room) {
  for (std::size_t bytes : {std::size_t(0), small, limit, limit + 7}) {
    Bytes sent = pattern(bytes + 1, 3), got(large + 3, 0xee);
    KernelCall receive = kernel.start(Function::Recv, from(0, 1, got.data() + 3, large));
    KernelCall send = kernel.start(Function::Ssend, to(0, 1, sent.data() + 1, int(bytes)));
    if (bytes > inline_bytes && bytes <= limit)
      kernel.copy(send, kernel.next(send));
    expect_received(kernel.finish(receive), 0, 1, bytes);
    kernel.finish(send);
    EXPECT_TRUE(std::equal(sent.begin() + 1, sent.end(), got.begin() + 3));
    EXPECT_EQ(std::count(got.begin() + 3 + long(bytes), got.end(), 0xee), long(large - bytes));
    EXPECT_EQ(receive.kinds, Kinds{ReplyKind::done});
  }
}

TEST_F(Direct, sendrecv) {
  for (std::size_t in : {small, limit, large})
    for (std::size_t out : {small, limit, large}) {
      Bytes sent = pattern(in, 1), back = pattern(out, 2), got(in), got_back(out);
      KernelCall there =
          kernel.start(Function::Sendrecv,
                       both(to(0, 1, sent.data(), int(in)), from(0, 2, got_back.data(), int(out))));
      if (in == limit)
        kernel.copy(there, kernel.next(there));
      EXPECT_FALSE(kernel.replied(there));
      KernelCall here = kernel.start(Function::Sendrecv, both(to(0, 2, back.data(), int(out)),
                                                              from(0, 1, got.data(), int(in))));
      if (out == limit)
        kernel.copy(here, kernel.next(here));
      expect_received(kernel.finish(here), 0, 1, in);
      expect_received(kernel.finish(there), 0, 2, out);
      EXPECT_EQ(got, sent);
      EXPECT_EQ(got_back, back);
    }
}

TEST_F(Direct, sendrecv_with_nobody) {
  Bytes sent = pattern(large, 1), got(large);
  auto nowhere = to(MPI_PROC_NULL, 1, sent.data(), large);
  auto from_nowhere = from(MPI_PROC_NULL, 2, got.data(), large);
  expect_received(kernel.finish(Function::Sendrecv, both(nowhere, from_nowhere)), MPI_PROC_NULL,
                  MPI_ANY_TAG, 0);
  KernelCall only_send =
      kernel.start(Function::Sendrecv, both(to(0, 3, sent.data(), large), from_nowhere));
  KernelCall only_receive =
      kernel.start(Function::Sendrecv, both(nowhere, from(0, 3, got.data(), large)));
  expect_received(kernel.finish(only_receive), 0, 3, large);
  expect_received(kernel.finish(only_send), MPI_PROC_NULL, MPI_ANY_TAG, 0);
  EXPECT_EQ(got, sent);
}

TEST_F(Direct, nonblocking) {
  constexpr int bytes = 3000000; // over every library's eager limit
  Bytes sent = pattern(bytes, 1), got(bytes);
  KernelCall send = kernel.start(Function::Isend, to(0, 1, sent.data(), bytes));
  EXPECT_FALSE(kernel.replied(send)); // the kernel does not wait for any Reply
  KernelCall receive = kernel.start(Function::Irecv, from(0, 1, got.data(), bytes));
  expect_received(kernel.finish(receive), 0, 1, bytes);
  EXPECT_EQ(kernel.finish(send).kind, ReplyKind::done);
  EXPECT_EQ(send.kinds.size(), 1u);
  EXPECT_EQ(got, sent);
}

/// Nothing is left for the host to copy: what it finds there, MPI has written.
TEST_F(Direct, finished_by_the_host) {
  Bytes sent = pattern(large, 1);
  Values<unsigned char> got(large);
  KernelCall receive = kernel.start(Function::Irecv, from(0, 9, got.data, large));
  KernelCall send = kernel.start(Function::Isend, to(0, 9, sent.data(), large));
  MPI_Status status;
  int error = MPI_SUCCESS;
  kernel.settle();
  EXPECT_EQ(Bytes(got.data, got.data + large), sent);
  Claim claim;
  ASSERT_TRUE(kernel.progress.claim(send.request(), claim, false));
  EXPECT_EQ(claim.received, 0u);
  kernel.progress.release(claim);
  ASSERT_TRUE(kernel.progress.test_from_host(receive.request(), &status, error));
  EXPECT_EQ(error, MPI_SUCCESS);
  EXPECT_EQ(Bytes(got.data, got.data + large), sent);
  int count = 0;
  PMPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT_EQ(count, int(large));
  EXPECT_EQ(status.MPI_TAG, 9);
}

/// Many slots' uses, so that what one leaves would be found by the next.
TEST_F(Direct, in_turns_with_other_calls) {
  for (int round = 0; round < 50; ++round) {
    const std::size_t sizes[] = {small, limit, large, inline_bytes, limit + 1};
    const std::size_t bytes = sizes[round % 5];
    Bytes sent = pattern(bytes, round), got(bytes);
    KernelCall receive = kernel.start(Function::Irecv, from(0, 1, got.data(), int(bytes)));
    KernelCall send = kernel.start(Function::Isend, to(0, 1, sent.data(), int(bytes)));
    if (kernel.finish(send).kind == ReplyKind::copy_in_last)
      kernel.finish(send);
    kernel.finish(receive);
    ASSERT_EQ(got, sent) << round;
  }
}

/// Where MPI tells the root to send, and others to receive, from one argument.
TEST_F(Direct, broadcast) {
  Bytes data = pattern(large, 1), expected = data;
  Arguments a{};
  a.comm = MPI_COMM_SELF;
  a.count = large;
  a.datatype = MPI_BYTE;
  a.shared_buffer = data.data();
  KernelCall bcast = kernel.start(Function::Bcast, a);
  EXPECT_EQ(kernel.finish(bcast).error, MPI_SUCCESS);
  EXPECT_EQ(bcast.kinds, Kinds{ReplyKind::done});
  EXPECT_EQ(data, expected);
}

TEST_F(Direct, reductions_are_staged) {
  const int count = 100000;
  std::vector<double> in(count, 1.5), out(count);
  Arguments a{};
  a.comm = MPI_COMM_SELF;
  a.send_buffer = in.data();
  a.recv_buffer = out.data();
  a.count = count;
  a.datatype = MPI_DOUBLE;
  a.op = MPI_SUM;
  KernelCall reduce = kernel.start(Function::Allreduce, a);
  kernel.finish(reduce);
  EXPECT_EQ(reduce.copied.size(), 2u);
  EXPECT_EQ(out, in);
}

TEST_F(Direct, errors) {
  Bytes data(large), got(large);
  for (Function function : {Function::Send, Function::Ssend, Function::Isend}) {
    KernelCall send = kernel.start(function, to(99, 1, data.data(), large));
    EXPECT_EQ(class_of(kernel.finish(send).error), MPI_ERR_RANK);
    EXPECT_EQ(send.kinds, Kinds{ReplyKind::done});
  }
  EXPECT_EQ(class_of(kernel.finish(Function::Recv, from(99, 1, got.data(), large)).error),
            MPI_ERR_RANK);
  Reply half = kernel.finish(Function::Sendrecv,
                             both(to(99, 1, data.data(), large), from(0, 1, got.data(), large)));
  EXPECT_EQ(class_of(half.error), MPI_ERR_RANK);
  KernelCall receive = kernel.start(Function::Recv, from(0, 1, got.data(), large));
  kernel.start(Function::Send, to(0, 1, data.data(), small));
  expect_received(kernel.finish(receive), 0, 1, small);
}

#ifndef OPEN_MPI // 4.1.4 writes beyond the room of a large receive from the own rank
TEST_F(Direct, truncation) {
  Bytes sent = pattern(large, 1), got(large, 0xee);
  const int room = limit + 5;
  KernelCall receive = kernel.start(Function::Recv, from(0, 1, got.data(), room));
  kernel.finish(Function::Send, to(0, 1, sent.data(), large));
  Reply reply = kernel.finish(receive);
  EXPECT_EQ(class_of(reply.error), MPI_ERR_TRUNCATE);
  EXPECT_EQ(reply.kind, ReplyKind::done);
  EXPECT_EQ(reply.bytes, 0u);
  EXPECT_EQ(std::count(got.begin() + room, got.end(), 0xee), long(large) - room);
}
#endif

/// Without MPI_Init of the runtime's nothing is given to MPI.
TEST(GpuAware, is_off_unless_it_was_started) {
  for (launch::Lowering lowering : {launch::Lowering::queue, launch::Lowering::split}) {
    EXPECT_EQ(gpu_aware::above(lowering), never_direct);
    EXPECT_NE(gpu_aware::against(lowering), "");
  }
}

using gpu_aware::Busy;

/// A copy in the default stream ends when the device is told that it may, or when its time is over.
TEST(BusyDevice, holds_up_the_default_stream_until_it_is_told) {
  Values<int> value(2);
  value[0] = 7;
  for (Busy how : {Busy::stream, Busy::kernel}) {
    value[1] = 0;
    auto busy = gpu_aware::occupy_device(how, 20);
    ASSERT_NE(busy, nullptr);
    cudaMemcpyAsync(value.data + 1, value.data, sizeof(int), cudaMemcpyDeviceToDevice, nullptr);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(busy->lasts());
    EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
    busy.reset();
    EXPECT_EQ(value[1], 7);
  }
}

TEST(BusyDevice, ends_by_itself) {
  for (Busy how : {Busy::stream, Busy::kernel}) {
    auto busy = gpu_aware::occupy_device(how, 0.05);
    ASSERT_NE(busy, nullptr);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess); // this is all that ends it
    for (int i = 0; i < 1000 && busy->lasts(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_FALSE(busy->lasts());
  }
}
