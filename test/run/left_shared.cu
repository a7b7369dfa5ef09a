// Many bytes of short messages among calls that are left to the next one, which all blocks of the grid
// carry together: in words of eight, of four and in bytes, beside shorter ones and ones that are
// announced, one way and both, with blocks that lack threads, and while others are at it.
// RUN: %gmpicxx %s -o %t
// RUN: env GMPI_PEER=1 %ranks 1-3 %t
#include "Inputs/messages.h"

using test::fill, test::Shape, test::verify;
constexpr int most = Shape::most, turns = test::thread_sanitizer ? 1 : 4;

constexpr Shape shapes[] = {
    {2, 0, {65536, 65536}},
    {3, 8, {65536, 12, 60000}},
    {6, 4, {40000, 40004, 8, 9000, 65532, 1536 * 9}},
    {4, 1, {50001, 30000, 65535, 200}},
    {5, 0, {65536, 70000, 50000, 100000, 30000}},
    {14, 16, {10000, 20000, 30000, 40000, 50000, 0, 65536, 1, 65536, 12288, 12289, 24576, 24580, 4}},
};

/// Both ways. The threads from number `leaving` on of the last block leave before.
__global__ void exchange(unsigned char *out, unsigned char *in, Shape shape, int leaving, int rank,
                         int next, int previous, int *wrong) {
  if (blockIdx.x + 1 == gridDim.x && threadIdx.x >= leaving)
    return;
  MPI_Request requests[2 * most];
  for (int turn = 0; turn < turns; ++turn) {
    if (leaving == 1000)
      fill(out, shape, rank, turn);
    for (int j = 0; j < shape.count; ++j)
      MPI_Irecv(in + shape.begin(j), shape.bytes[j], MPI_BYTE, previous, j, MPI_COMM_WORLD,
                requests + j);
    for (int j = 0; j < shape.count; ++j)
      MPI_Isend(out + shape.begin(j), shape.bytes[j], MPI_BYTE, next, j, MPI_COMM_WORLD,
                requests + shape.count + j);
    MPI_Waitall(2 * shape.count, requests, MPI_STATUSES_IGNORE);
    if (leaving == 1000)
      verify(in, shape, previous, turn, wrong);
  }
}

/// What the threads that are there write and read cannot be told by number, if some have left.
__global__ void prepare(unsigned char *out, Shape shape, int rank) { fill(out, shape, rank, 9); }
__global__ void look(unsigned char *in, Shape shape, int rank, int *wrong) {
  verify(in, shape, rank, 9, wrong);
}

/// From even ranks to odd ones, and back. What is sent waits for nobody but slots.
__global__ void one_way(unsigned char *out, unsigned char *in, Shape shape, int rank, int other,
                        int *wrong) {
  MPI_Request requests[most];
  for (int turn = 0; turn < 2 * turns; ++turn) {
    if (turn % 2 == rank % 2) {
      fill(out, shape, rank, turn);
      for (int j = 0; j < shape.count; ++j)
        MPI_Isend(out + shape.begin(j), shape.bytes[j], MPI_BYTE, other, j, MPI_COMM_WORLD,
                  requests + j);
      MPI_Waitall(shape.count, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int j = 0; j < shape.count; ++j)
        MPI_Irecv(in + shape.begin(j), shape.bytes[j], MPI_BYTE, other, j, MPI_COMM_WORLD,
                  requests + j);
      MPI_Waitall(shape.count, requests, MPI_STATUSES_IGNORE);
      verify(in, shape, other, turn, wrong);
    }
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int rank = test::rank, next = test::next(), previous = test::previous();
  test::Array<unsigned char> out(most * Shape::apart), in(most * Shape::apart);
  test::Array<int> wrong(1);
  const auto check = [&](const Shape &shape, const char *what) {
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "%s, shape %d: %d are wrong", what, int(&shape - shapes),
                 wrong.read()[0]);
  };
  for (const Shape &shape : shapes) {
    for (int blocks : {1, 2, 5}) {
      exchange<<<blocks, 96>>>(out.data(), in.data(), shape, 1000, rank, next, previous,
                               wrong.data());
      check(shape, "exchange");
    }
    prepare<<<4, 64>>>(out.data(), shape, rank);
    exchange<<<3, 64>>>(out.data(), in.data(), shape, 40, rank, next, previous, wrong.data());
    look<<<4, 64>>>(in.data(), shape, previous, wrong.data());
    check(shape, "threads that leave");
    if (test::size == 2) {
      one_way<<<4, 64>>>(out.data(), in.data(), shape, rank, next, wrong.data());
      check(shape, "one way");
    }
  }
  return test::end();
}
