// Nonblocking calls of a grid one behind the other, which its blocks leave to the next one: what
// they bring, in every order and length, and whatever comes between.
// RUN: %gmpicxx %s -o %t
// RUN: %mpiexec -n 2 %t
// RUN: env GMPI_PEER=1 %ranks 1-4 %t
#include "Inputs/messages.h"

using test::fill, test::number, test::numbers, test::Shape, test::value, test::verify;
constexpr int most = Shape::most;

/// All messages, waited for together. `step`: in which order they are sent.
__global__ void together(unsigned char *out, unsigned char *in, Shape shape, int turns, int step,
                         int rank, int next, int previous, MPI_Comm comm, int *wrong) {
  MPI_Request requests[2 * most];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, shape, rank, turn);
    for (int j = 0; j < shape.count; ++j)
      MPI_Irecv(in + shape.begin(j), shape.bytes[j], MPI_BYTE, previous, j, comm,
                requests + j);
    for (int j = 0, k = 0; j < shape.count; ++j, k = (k + step) % shape.count)
      MPI_Isend(out + shape.begin(k), shape.bytes[k], MPI_BYTE, next, k, comm,
                requests + shape.count + j);
    MPI_Waitall(2 * shape.count, requests, MPI_STATUSES_IGNORE);
    for (int j = 0; j < 2 * shape.count; ++j)
      if (requests[j] != MPI_REQUEST_NULL)
        atomicAdd(wrong, 1);
    verify(in, shape, previous, turn, wrong);
  }
}

/// The same in whole numbers from and to both neighbours, into more room than is needed.
__global__ void both_sides(int *out, int *in, int n, int turns, int rank, int next, int previous,
                           MPI_Comm comm, int *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = number(); i < n; i += numbers()) {
      out[i] = rank * 1000 + turn + i;
      out[n + i] = -out[i];
    }
    MPI_Request requests[5] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL,
                               MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(in, n + 7, MPI_INT, previous, MPI_ANY_TAG, comm, &requests[0]);
    MPI_Isend(out, n, MPI_INT, next, 1, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Isend(out + n, n, MPI_INT, previous, 2, comm, &requests[4]);
    MPI_Irecv(in + n + 7, n, MPI_INT, next, 2, comm, &requests[2]);
    MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    for (int i = number(); i < n; i += numbers())
      if (in[i] != previous * 1000 + turn + i || in[n + 7 + i] != -(next * 1000 + turn + i))
        atomicAdd(wrong, 1);
  }
}

/// Neighbours in a row that ends at both sides; what is left of them is nobody.
__global__ void in_a_row(int *out, int *in, int n, int turns, int rank, int above, int below,
                         MPI_Comm comm, int *wrong) {
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = number(); i < n; i += numbers()) {
      out[i] = rank * 1000 + turn + i;
      out[n + i] = -out[i];
      in[i] = in[n + i] = 7;
    }
    MPI_Request requests[4];
    MPI_Irecv(in, n, MPI_INT, above, 1, comm, &requests[0]);
    MPI_Irecv(in + n, n, MPI_INT, below, 2, comm, &requests[1]);
    MPI_Isend(out, n, MPI_INT, above, 2, comm, &requests[2]);
    MPI_Isend(out + n, n, MPI_INT, below, 1, comm, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int j = 0; j < 4; ++j)
      if (requests[j] != MPI_REQUEST_NULL)
        atomicAdd(wrong, 1);
    for (int i = number(); i < n; i += numbers())
      if (in[i] != (above < 0 ? 7 : -(above * 1000 + turn + i)) ||
          in[n + i] != (below < 0 ? 7 : below * 1000 + turn + i))
        atomicAdd(wrong, 1);
  }
}

/// Waited for one by one: those that are received last first; and some before others are begun. In
/// every second turn there comes, before all, what nobody has asked for.
__global__ void each(unsigned char *out, unsigned char *in, int *extra, Shape shape, int turns,
                     int rank, int next, int previous, MPI_Comm comm, int *wrong) {
  MPI_Request requests[2 * most], late = MPI_REQUEST_NULL;
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, shape, rank, turn);
    if (turn % 2 == 1)
      MPI_Isend(extra, 1, MPI_INT, next, 99, comm, &late);
    for (int j = 0; j < shape.count; ++j)
      MPI_Irecv(in + shape.begin(j), shape.bytes[j], MPI_BYTE, previous, j, comm,
                requests + j);
    for (int j = 0; j < shape.count; ++j)
      MPI_Isend(out + shape.begin(j), shape.bytes[j], MPI_BYTE, next, j, comm,
                requests + shape.count + j);
    for (int j = 2 * shape.count - 1; j >= 0; --j)
      MPI_Wait(requests + j, MPI_STATUS_IGNORE);
    for (int j = 0; j < 2 * shape.count; ++j)
      if (requests[j] != MPI_REQUEST_NULL)
        atomicAdd(wrong, 1);
    verify(in, shape, previous, turn, wrong);
    if (turn % 2 == 1)
      MPI_Recv(extra + 1, 1, MPI_INT, previous, 99, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&late, MPI_STATUS_IGNORE);
    for (int j = 0; j < shape.count; ++j) // what is not received again is wrong
      for (int i = number(); i < shape.bytes[j]; i += numbers())
        in[shape.begin(j) + i] = value(previous, turn, j, i) + 1;
    for (int j = 0; j < shape.count; ++j) {
      MPI_Irecv(in + shape.begin(j), shape.bytes[j], MPI_BYTE, previous, j, comm,
                requests);
      MPI_Isend(out + shape.begin(j), shape.bytes[j], MPI_BYTE, next, j, comm,
                requests + 1);
      MPI_Wait(requests + j % 2, MPI_STATUS_IGNORE);
      MPI_Wait(requests, MPI_STATUS_IGNORE);
      MPI_Wait(requests + 1, MPI_STATUS_IGNORE);
    }
    verify(in, shape, previous, turn, wrong);
  }
}

/// They are waited for together, each with what it has brought; the last request is null.
__global__ void told(unsigned char *out, unsigned char *in, Shape shape, int turns, int rank,
                     int next, int previous, MPI_Comm comm, int *wrong) {
  MPI_Request requests[2 * most + 1];
  MPI_Status statuses[2 * most + 1];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, shape, rank, turn);
    for (int j = 0; j < shape.count; ++j)
      MPI_Isend(out + shape.begin(j), shape.bytes[j], MPI_BYTE, next, j, comm,
                requests + j);
    for (int j = 0; j < shape.count; ++j)
      MPI_Irecv(in + shape.begin(j), shape.bytes[j] + 5, MPI_BYTE, previous,
                turn % 2 == 0 ? MPI_ANY_TAG : j, comm, requests + shape.count + j);
    requests[2 * shape.count] = MPI_REQUEST_NULL;
    MPI_Waitall(2 * shape.count + 1, requests, statuses);
    for (int j = 0; j < shape.count; ++j) {
      const MPI_Status &status = statuses[shape.count + j];
      int count = -1;
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (count != shape.bytes[j] || status.MPI_SOURCE != previous || status.MPI_TAG != j)
        atomicAdd(wrong, 1);
    }
    if (statuses[2 * shape.count].MPI_SOURCE != MPI_ANY_SOURCE)
      atomicAdd(wrong, 1);
    for (int j = 0; j < 2 * shape.count; ++j)
      if (requests[j] != MPI_REQUEST_NULL)
        atomicAdd(wrong, 1);
    verify(in, shape, previous, turn, wrong);
  }
}

/// Something is computed before they are waited for: each, with what it has brought.
__global__ void apart(unsigned char *out, unsigned char *in, Shape shape, int turns, int rank,
                      int next, int previous, MPI_Comm comm, int *wrong) {
  MPI_Request receives[most], sends[most];
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, shape, rank, turn);
    for (int j = 0; j < shape.count; ++j) {
      MPI_Irecv(in + shape.begin(j), shape.bytes[j], MPI_BYTE, previous, j, comm,
                receives + j);
      MPI_Isend(out + shape.begin(j), shape.bytes[j], MPI_BYTE, next, j, comm, sends + j);
    }
    unsigned sum = 0;
    for (int i = 0; i < 100; ++i)
      sum = sum * 3 + threadIdx.x;
    if (sum == 12345)
      atomicAdd(wrong, 0);
    for (int j = shape.count - 1; j >= 0; --j) {
      MPI_Status status;
      MPI_Wait(receives + j, &status);
      int count = -1;
      MPI_Get_count(&status, MPI_BYTE, &count);
      if (count != shape.bytes[j] || status.MPI_SOURCE != previous || status.MPI_TAG != j)
        atomicAdd(wrong, 1);
    }
    MPI_Waitall(shape.count, sends, MPI_STATUSES_IGNORE);
    verify(in, shape, previous, turn, wrong);
  }
}

/// What is waited for is only a part of what has been begun; and before it comes a message that
/// nobody has asked for yet.
__global__ void in_parts(unsigned char *out, unsigned char *in, int *extra, Shape shape, int turns,
                         int rank, int next, int previous, MPI_Comm comm, int *wrong) {
  MPI_Request requests[2 * most], late;
  for (int turn = 0; turn < turns; ++turn) {
    fill(out, shape, rank, turn);
    if (number() == 0)
      extra[0] = rank * 10 + turn;
    MPI_Isend(extra, 1, MPI_INT, next, 99, comm, &late);
    for (int j = 0; j < shape.count; ++j)
      MPI_Isend(out + shape.begin(j), shape.bytes[j], MPI_BYTE, next, j, comm,
                requests + j);
    for (int j = 0; j < shape.count; ++j)
      MPI_Irecv(in + shape.begin(j), shape.bytes[j], MPI_BYTE, previous, j, comm,
                requests + shape.count + j);
    MPI_Waitall(shape.count, requests + shape.count / 2, MPI_STATUSES_IGNORE);
    MPI_Waitall(2 * shape.count, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(extra + 1, 1, MPI_INT, previous, 99, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&late, MPI_STATUS_IGNORE);
    if (number() == 0 && extra[1] != previous * 10 + turn)
      atomicAdd(wrong, 1);
    verify(in, shape, previous, turn, wrong);
  }
}

/// Some threads of each block leave before, and a block between.
__global__ void leaving(int *out, int *in, int n, int turns, int rank, int next, int previous,
                        MPI_Comm comm, int *wrong) {
  if (threadIdx.x >= 40 || (threadIdx.x == 0 && blockIdx.x == 1))
    return;
  for (int turn = 0; turn < turns; ++turn) {
    if (turn == turns / 2 && blockIdx.x == 2)
      return;
    if (blockIdx.x == 0)
      for (int i = threadIdx.x; i < 3 * n; i += 40)
        out[i] = rank * 1000 + turn + i;
    MPI_Request requests[6];
    for (int j = 0; j < 3; ++j) {
      MPI_Irecv(in + j * n, n, MPI_INT, previous, j, comm, requests + j);
      MPI_Isend(out + j * n, n, MPI_INT, next, j, comm, requests + 3 + j);
    }
    if (turn % 3 == 0) {
      MPI_Wait(requests + 1, MPI_STATUS_IGNORE);
      MPI_Wait(requests + 4, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
    if (blockIdx.x == 0)
      for (int i = threadIdx.x; i < 3 * n; i += 40)
        if (in[i] != previous * 1000 + turn + i)
          atomicAdd(wrong, 1);
  }
}

/// One thread waits for what the grid has begun.
__global__ void waited_by_one(int *out, int *in, int n, int rank, int next, int previous,
                              MPI_Comm comm, int *wrong) {
  for (int i = number(); i < n; i += numbers()) {
    out[i] = rank * 1000 + i;
    in[i] = -1;
  }
  MPI_Request receive, send;
  MPI_Irecv(in, n, MPI_INT, previous, 1, comm, &receive);
  MPI_Isend(out, n, MPI_INT, next, 1, comm, &send);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
      if (in[i] != previous * 1000 + i)
        atomicAdd(wrong, 1);
  }
}

/// What is begun is left to another kernel.
__global__ void for_another(int *out, int *in, int n, int rank, int next, int previous,
                             MPI_Comm comm, MPI_Request *kept) {
  for (int i = number(); i < n; i += numbers())
    out[i] = rank * 1000 + i;
  MPI_Request receive, send;
  MPI_Irecv(in, n, MPI_INT, previous, 2, comm, &receive);
  MPI_Isend(out, n, MPI_INT, next, 2, comm, &send);
  if (number() == 0) {
    kept[0] = receive;
    kept[1] = send;
  }
}
__global__ void completed_later(MPI_Request *kept) {
  MPI_Request requests[2] = {kept[0], kept[1]};
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

struct Buffers {
  test::Array<unsigned char> out{most * Shape::apart + 64}, in{most * Shape::apart + 64};
  test::Array<int> extra{2}, wrong{1};

  void expect_none_wrong(const char *what, int shape, int blocks) {
    test::synchronize();
    test::expect(wrong.read()[0] == 0, "%s, shape %d, %d blocks: %d are wrong", what, shape, blocks,
                 wrong.read()[0]);
  }
};

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const Shape shapes[] = {
      {1, 0, {4}},
      {6, 0, {8, 8, 8, 8, 8, 8}},
      {6, 0, {0, 4, 232, 236, 1000, 1004}},
      {4, 3, {1, 233, 1001, 5003}},
      {5, 0, {8192, 8200, 20000, 65536, 12}},
      {3, 8, {2048, 65528, 30004}},
      {most, 0, {4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 72, 76, 80}},
      {4, 0, {100, 200000, 65540, 100}}, // two are announced
      {6, 1, {66000, 5, 262000, 65537, 131072, 65536}}, // most are
  };
  const int turns = test::thread_sanitizer ? 4 : 12, rank = test::rank;
  const int next = test::next(), previous = test::previous();
  MPI_Comm comm = MPI_COMM_WORLD;
  Buffers one;
  auto *out = reinterpret_cast<int *>(one.out.data()), *in = reinterpret_cast<int *>(one.in.data());
  for (int blocks : {1, 3}) {
    for (int i = 0; i < int(sizeof shapes / sizeof *shapes); ++i) {
      const int count = shapes[i].count;
      for (int step : {1, 3, count - 1}) { // and backwards
        if (step == 0 || (count % step == 0 && step != 1))
          continue;
        together<<<blocks, 64>>>(one.out.data(), one.in.data(), shapes[i], turns, step, rank, next,
                                 previous, comm, one.wrong.data());
        one.expect_none_wrong("together", i, blocks);
      }
      apart<<<blocks, 64>>>(one.out.data(), one.in.data(), shapes[i], turns / 2, rank, next,
                            previous, comm, one.wrong.data());
      one.expect_none_wrong("apart", i, blocks);
      each<<<blocks, 64>>>(one.out.data(), one.in.data(), one.extra.data(), shapes[i], turns / 3,
                           rank, next, previous, comm, one.wrong.data());
      one.expect_none_wrong("each", i, blocks);
      told<<<blocks, 64>>>(one.out.data(), one.in.data(), shapes[i], turns / 2, rank, next,
                           previous, comm, one.wrong.data());
      one.expect_none_wrong("told", i, blocks);
      in_parts<<<blocks, 64>>>(one.out.data(), one.in.data(), one.extra.data(), shapes[i],
                               turns / 2, rank, next, previous, comm, one.wrong.data());
      one.expect_none_wrong("in parts", i, blocks);
    }
    for (int n : {1, 58, 59, 500, 5000}) {
      both_sides<<<blocks, 96>>>(out, in, n, turns, rank, next, previous, comm, one.wrong.data());
      one.expect_none_wrong("both sides", n, blocks);
      in_a_row<<<blocks, 96>>>(out, in, n, turns, rank, rank == 0 ? MPI_PROC_NULL : rank - 1,
                               rank == test::size - 1 ? MPI_PROC_NULL : rank + 1, comm,
                               one.wrong.data());
      one.expect_none_wrong("in a row", n, blocks);
      leaving<<<blocks, 64>>>(out, in, n, turns, rank, next, previous, comm, one.wrong.data());
      one.expect_none_wrong("leaving", n, blocks);
      waited_by_one<<<blocks, 64>>>(out, in, n, rank, next, previous, comm, one.wrong.data());
      one.expect_none_wrong("waited for by one", n, blocks);
      test::Array<MPI_Request> kept(2);
      for_another<<<blocks, 64>>>(out, in, n, rank, next, previous, comm, kept.data());
      completed_later<<<blocks, 64>>>(kept.data());
      test::synchronize();
      const std::vector<unsigned char> bytes = one.in.read();
      const int *const got = reinterpret_cast<const int *>(bytes.data());
      int wrong = 0;
      for (int i = 0; i < n; ++i)
        wrong += got[i] != previous * 1000 + i;
      test::expect(wrong == 0, "for another kernel, %d of %d are wrong", wrong, n);
    }
  }
  // Two kernels at once, each with a communicator of its own.
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  Buffers two;
  cudaStream_t streams[2];
  for (cudaStream_t &stream : streams)
    CUDA_CHECK(cudaStreamCreate(&stream));
  together<<<2, 64, 0, streams[0]>>>(one.out.data(), one.in.data(), shapes[1], 4 * turns, 1, rank,
                                     next, previous, comm, one.wrong.data());
  apart<<<2, 64, 0, streams[1]>>>(two.out.data(), two.in.data(), shapes[2], 4 * turns, rank, next,
                                  previous, other, two.wrong.data());
  one.expect_none_wrong("two at once, together", 1, 2);
  two.expect_none_wrong("two at once, apart", 2, 2);
  for (cudaStream_t stream : streams)
    CUDA_CHECK(cudaStreamDestroy(stream));
  MPI_Comm_free(&other);
  return test::end();
}
