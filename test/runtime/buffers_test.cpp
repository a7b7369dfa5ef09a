// Which buffers each function's arguments name, and how long they are.
#include "mpi/buffers.hpp"

#include <gtest/gtest.h>

using namespace gmpi;

namespace {

char to_send[1], to_receive[1], shared[1];

/// Tells apart which count went with which datatype.
std::uint64_t bytes(int count, MPI_Datatype datatype) {
  return count * (datatype == MPI_CHAR ? 1 : datatype == MPI_INT ? 1000 : 1000000);
}

Arguments arguments() {
  Arguments a{};
  a.send_buffer = to_send;
  a.send_count = 2;
  a.send_datatype = MPI_CHAR;
  a.dest = 1;
  a.recv_buffer = to_receive;
  a.recv_count = 3;
  a.recv_datatype = MPI_INT;
  a.source = 2;
  a.shared_buffer = shared;
  a.count = 4;
  a.datatype = MPI_DOUBLE;
  return a;
}

void expect(Function function, const Arguments &a, Buffers wanted) {
  Buffers got = buffers_of(function, a, bytes);
  EXPECT_EQ(got.in_bytes, wanted.in_bytes) << name_of(function);
  EXPECT_EQ(got.out_bytes, wanted.out_bytes) << name_of(function);
  if (wanted.in_bytes != 0) {
    EXPECT_EQ(got.in, wanted.in) << name_of(function);
  }
  if (wanted.out_bytes != 0) {
    EXPECT_EQ(got.out, wanted.out) << name_of(function);
  }
}

constexpr std::uint64_t sent = 2, received = 3000, both = 4000000;

} // namespace

TEST(Buffers, point_to_point) {
  for (Function function : {Function::Send, Function::Ssend, Function::Isend})
    expect(function, arguments(), {to_send, sent, nullptr, 0});
  for (Function function : {Function::Recv, Function::Irecv})
    expect(function, arguments(), {nullptr, 0, to_receive, received});
  expect(Function::Sendrecv, arguments(), {to_send, sent, to_receive, received});
}

TEST(Buffers, nowhere_and_from_nowhere) {
  Arguments a = arguments();
  a.dest = MPI_PROC_NULL;
  for (Function function : {Function::Send, Function::Ssend, Function::Isend})
    expect(function, a, {nullptr, 0, nullptr, 0});
  expect(Function::Sendrecv, a, {nullptr, 0, to_receive, received});
  expect(Function::Recv, a, {nullptr, 0, to_receive, received});
  a = arguments();
  a.source = MPI_PROC_NULL;
  for (Function function : {Function::Recv, Function::Irecv})
    expect(function, a, {nullptr, 0, nullptr, 0});
  expect(Function::Sendrecv, a, {to_send, sent, nullptr, 0});
  expect(Function::Send, a, {to_send, sent, nullptr, 0});
  a.source = MPI_ANY_SOURCE;
  expect(Function::Recv, a, {nullptr, 0, to_receive, received});
}

TEST(Buffers, collectives) {
  Arguments a = arguments();
  expect(Function::Barrier, a, {nullptr, 0, nullptr, 0});
  expect(Function::Bcast, a, {shared, both, shared, both});
  for (Function function : {Function::Reduce, Function::Allreduce}) {
    a.send_buffer = to_send;
    expect(function, a, {to_send, both, to_receive, both});
    a.send_buffer = MPI_IN_PLACE;
    expect(function, a, {to_receive, both, to_receive, both});
  }
}

TEST(Buffers, asking_nobody) {
  Arguments a = arguments();
  for (Function function : {Function::Recv, Function::Irecv, Function::Probe, Function::Iprobe}) {
    a.source = MPI_PROC_NULL;
    EXPECT_TRUE(goes_nowhere(function, a)) << name_of(function);
    a.source = MPI_ANY_SOURCE;
    EXPECT_FALSE(goes_nowhere(function, a)) << name_of(function);
  }
}

/// Functions whose data is no message; a new line of functions.def that moves data shows here.
TEST(Buffers, none) {
  for (Function function :
       {Function::Probe, Function::Iprobe, Function::Wait, Function::Waitall, Function::Test,
        Function::Comm_rank, Function::Comm_size, Function::Get_count, Function::Abort, Function::Wtime,
        Function::copied, Function::waiting, Function::leave})
    expect(function, arguments(), {nullptr, 0, nullptr, 0});
  int functions = 0;
#define GMPI_FUNCTION(name, start, kind, roles) ++functions;
#define GMPI_FUNCTION_0(name, result, kind) ++functions;
#include "mpi/functions.def"
  EXPECT_EQ(functions, 20) << "the new function's buffers have no test";
}
