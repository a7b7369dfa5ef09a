// The progress engine without staging memory: large messages go through bounce memory in parts.
#include "cpu_run.hpp"
#include "kernel_end.hpp"

#include "proxy/settings.hpp"

#include <cstdlib>
#include <numeric>

using namespace gmpi;

static const int environment = setenv("GMPI_STAGING_MB", "0", 1);

namespace {

using Bytes = std::vector<unsigned char>;
const int piece = int(settings().bounce_piece), pieces = int(settings().bounce_bytes / piece);

struct Pageable : testing::Test {
  KernelEnd kernel;

  void TearDown() override {
    kernel.settle();
    EXPECT_TRUE(kernel.progress.quiet());
    EXPECT_NE(kernel.progress.queue().bounce().take(settings().bounce_bytes), nullptr);
  }
};

void expect_parts(const KernelCall &call, std::uint64_t bytes) {
  EXPECT_EQ(call.copied.size(), (bytes + piece - 1) / piece);
  EXPECT_EQ(std::accumulate(call.copied.begin(), call.copied.end(), std::uint64_t(0)), bytes);
}

} // namespace

TEST_F(Pageable, in_parts) {
  for (int bytes : {int(inline_bytes) + 1, piece, piece + 1, 5 * piece + 17}) {
    Bytes sent = pattern(bytes, 1), got(bytes);
    KernelCall receive = kernel.start(Function::Recv, from(0, 1, got.data(), bytes));
    KernelCall send = kernel.start(Function::Send, to(0, 1, sent.data(), bytes));
    kernel.finish(send);
    Reply reply = kernel.finish(receive);
    EXPECT_EQ(reply.error, MPI_SUCCESS);
    EXPECT_EQ(reply.kind, ReplyKind::copy_out_last);
    EXPECT_EQ(reply.offset + reply.bytes, std::uint64_t(bytes));
    EXPECT_EQ(got, sent);
    expect_parts(send, bytes);
    expect_parts(receive, bytes);
  }
}

TEST_F(Pageable, sendrecv) {
  const int bytes = 2 * piece + 5;
  Bytes sent = pattern(bytes, 1), got(bytes);
  KernelCall call = kernel.start(
      Function::Sendrecv, both(to(0, 1, sent.data(), bytes), from(0, 1, got.data(), bytes)));
  kernel.finish(call);
  EXPECT_EQ(got, sent);
  EXPECT_EQ(call.copied.size(), 6u);
}

TEST_F(Pageable, allreduce) {
  const int count = piece / 4 + 10;
  std::vector<double> in(count, 1.5), out(count);
  Arguments a{};
  a.send_buffer = in.data();
  a.recv_buffer = out.data();
  a.count = count;
  a.datatype = MPI_DOUBLE;
  a.op = MPI_SUM;
  a.comm = MPI_COMM_SELF;
  EXPECT_EQ(kernel.finish(Function::Allreduce, a).error, MPI_SUCCESS);
  EXPECT_EQ(out, in);
}

/// More senders than bounce pieces: the later ones wait their turn, and no one starves.
TEST_F(Pageable, bounce_memory_runs_out) {
  const int bytes = 2 * piece, calls = pieces + 3;
  std::vector<Bytes> sent, got(calls, Bytes(bytes));
  std::vector<KernelCall> sends, receives;
  for (int i = 0; i < calls; ++i) {
    sent.push_back(pattern(bytes, i));
    sends.push_back(kernel.start(Function::Ssend, to(0, i, sent[i].data(), bytes)));
  }
  std::vector<Reply> asked(calls);
  for (int i = 0; i < calls; ++i)
    EXPECT_EQ(kernel.replied(sends[i], asked[i]), i < pieces) << i;
  for (int i = 0; i < pieces; ++i) // the first parts; each keeps its piece for the second
    kernel.copy(sends[i], asked[i]);
  EXPECT_FALSE(kernel.replied(sends[pieces]));
  for (int i = 0; i < calls; ++i)
    for (int part = i < pieces ? 1 : 0; part < 2; ++part)
      kernel.copy(sends[i], kernel.next(sends[i]));
  for (int i = 0; i < calls; ++i)
    receives.push_back(kernel.start(Function::Recv, from(0, i, got[i].data(), bytes)));
  std::vector<int> order; // MPI's: those that ended first have the pieces
  for (int i = 0; i < calls; ++i)
    if (kernel.replied(receives[i], asked[i])) {
      kernel.copy(receives[i], asked[i]);
      order.insert(order.begin(), i);
    } else {
      order.push_back(i);
    }
  for (int i : order) {
    kernel.finish(receives[i]);
    EXPECT_EQ(kernel.finish(sends[i]).kind, ReplyKind::done);
    EXPECT_EQ(got[i], sent[i]);
    expect_parts(receives[i], bytes);
  }
}

TEST_F(Pageable, isend) {
  const int bytes = 3 * piece;
  Bytes sent = pattern(bytes, 1), got(bytes), expected = sent;
  KernelCall send = kernel.start(Function::Isend, to(0, 1, sent.data(), bytes));
  EXPECT_EQ(kernel.finish(send).kind, ReplyKind::copy_in_last);
  expect_parts(send, bytes);
  std::fill(sent.begin(), sent.end(), 0);
  kernel.finish(Function::Recv, from(0, 1, got.data(), bytes));
  EXPECT_EQ(kernel.finish(send).kind, ReplyKind::done);
  EXPECT_EQ(got, expected);
}

/// Receives that nobody takes up hold no bounce memory, whether or not they are done.
TEST_F(Pageable, irecv_is_copied_when_it_is_taken_up) {
  const int bytes = 2 * piece + 1, calls = pieces + 2;
  std::vector<Bytes> got(calls, Bytes(bytes));
  std::vector<KernelCall> receives;
  for (int i = 0; i < calls; ++i)
    receives.push_back(kernel.start(Function::Irecv, from(0, i, got[i].data(), bytes)));
  kernel.tell(Function::waiting, receives[0].slot); // a wait makes no difference
  for (int i = 0; i < calls; ++i) {
    Bytes sent = pattern(bytes, i);
    kernel.finish(Function::Send, to(0, i, sent.data(), bytes));
  }
  for (int i = 0; i < calls; ++i) {
    kernel.settle();
    StagingPool &bounce = kernel.progress.queue().bounce();
    unsigned char *whole = bounce.take(settings().bounce_bytes);
    ASSERT_NE(whole, nullptr) << i;
    bounce.give(whole);
    Reply reply{};
    ASSERT_TRUE(kernel.replied(receives[i], reply)); // all that is under way: an empty part
    EXPECT_EQ(reply.kind, ReplyKind::copy_out);
    EXPECT_EQ(reply.bytes, 0u);
    EXPECT_FALSE(kernel.replied(receives[i]));
    kernel.tell(Function::copied, receives[i].slot);
    reply = kernel.finish(receives[i]);
    EXPECT_EQ(reply.kind, ReplyKind::copy_out_last);
    EXPECT_EQ(reply.message_bytes, std::uint64_t(bytes));
    EXPECT_EQ(got[i], pattern(bytes, i));
    expect_parts(receives[i], bytes);
  }
}

/// Taken up by more at a time than there are pieces of bounce memory.
TEST_F(Pageable, irecvs_taken_up_at_once) {
  const int bytes = 2 * piece, calls = pieces + 3;
  std::vector<Bytes> got(calls, Bytes(bytes));
  std::vector<KernelCall> receives;
  for (int i = 0; i < calls; ++i) {
    receives.push_back(kernel.start(Function::Irecv, from(0, i, got[i].data(), bytes)));
    Bytes sent = pattern(bytes, i);
    kernel.finish(Function::Send, to(0, i, sent.data(), bytes));
  }
  for (KernelCall &receive : receives) {
    kernel.next(receive);
    kernel.tell(Function::copied, receive.slot);
  }
  for (int i = 0; i < calls; ++i) {
    kernel.finish(receives[i]);
    EXPECT_EQ(got[i], pattern(bytes, i));
  }
}

/// The empty part that no kernel has seen is gone with the request: the slot's next user is not
/// confused by it.
TEST_F(Pageable, irecv_finished_by_the_host) {
  const int bytes = 2 * piece + 1;
  Bytes sent = pattern(bytes, 1);
  Values<unsigned char> got(bytes);
  for (int round = 0; round < 3; ++round) {
    std::fill(got.data, got.data + bytes, 0);
    KernelCall receive = kernel.start(Function::Irecv, from(0, 1, got.data, bytes));
    kernel.finish(Function::Send, to(0, 1, sent.data(), bytes));
    kernel.settle();
    int error = MPI_ERR_OTHER;
    ASSERT_TRUE(kernel.progress.test_from_host(receive.request(), MPI_STATUS_IGNORE, error));
    EXPECT_EQ(error, MPI_SUCCESS);
    EXPECT_EQ(Bytes(got.data, got.data + bytes), sent);
    device::collect_host_releases(kernel.context);
    KernelCall next = kernel.start(Function::Irecv, from(0, 1, got.data, 10));
    ASSERT_EQ(next.slot, receive.slot);
    EXPECT_FALSE(kernel.replied(next));
    kernel.start(Function::Send, to(0, 1, sent.data(), 10));
    EXPECT_EQ(kernel.finish(next).bytes, 10u);
  }
}

#ifndef OPEN_MPI // 4.1.4 writes beyond the room of a large receive from the own rank
TEST_F(Pageable, truncation) {
  Bytes sent = pattern(2 * piece, 1), got(piece);
  KernelCall receive = kernel.start(Function::Recv, from(0, 1, got.data(), piece));
  kernel.finish(Function::Send, to(0, 1, sent.data(), 2 * piece));
  Reply reply = kernel.finish(receive);
  EXPECT_EQ(class_of(reply.error), MPI_ERR_TRUNCATE);
  EXPECT_EQ(reply.bytes, 0u);
}
#endif

TEST_F(Pageable, bad_rank) {
  Bytes sent(2 * piece);
  EXPECT_EQ(class_of(kernel.finish(Function::Ssend, to(99, 1, sent.data(), 2 * piece)).error),
            MPI_ERR_RANK);
  EXPECT_EQ(class_of(kernel.finish(Function::Isend, to(99, 1, sent.data(), 2 * piece)).error),
            MPI_ERR_RANK);
}
