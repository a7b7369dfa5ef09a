// See with_nccl.h.
#include "with_nccl.h"

#ifdef GMPI_BENCH_NCCL
#include <nccl.h>

static void check(ncclResult_t result) {
  if (result == ncclSuccess)
    return;
  std::fprintf(stderr, "gmpi-bench: NCCL: %s\n", ncclGetErrorString(result));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// Of all ranks, made once; null where a rank has not got one.
static ncclComm_t make_communicator() {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ncclUniqueId id;
  if (rank == 0)
    check(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  ncclComm_t comm = nullptr;
  int fine = ncclCommInitRank(&comm, ranks, id, rank) == ncclSuccess, all_fine = 0;
  MPI_Allreduce(&fine, &all_fine, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  return all_fine ? comm : nullptr;
}

static ncclComm_t communicator() {
  static ncclComm_t comm = make_communicator();
  return comm;
}

bool nccl::available() { return communicator() != nullptr; }

std::string nccl::why_not() {
  return available() ? "" : "NCCL: no communicator (two ranks on one GPU?).";
}

void nccl::send(const void *device, std::size_t bytes, int peer, cudaStream_t stream) {
  check(ncclSend(device, bytes, ncclInt8, peer, communicator(), stream));
}

void nccl::receive(void *device, std::size_t bytes, int peer, cudaStream_t stream) {
  check(ncclRecv(device, bytes, ncclInt8, peer, communicator(), stream));
}

void nccl::broadcast(void *device, std::size_t bytes, int root, cudaStream_t stream) {
  check(ncclBroadcast(device, device, bytes, ncclInt8, root, communicator(), stream));
}

void nccl::all_reduce(const double *from, double *to, std::size_t count, cudaStream_t stream) {
  check(ncclAllReduce(from, to, count, ncclDouble, ncclSum, communicator(), stream));
}

void nccl::exchange(const char *from, char *to, std::size_t bytes, int messages, int peer,
                    cudaStream_t stream) {
  check(ncclGroupStart());
  for (int k = 0; k < messages; ++k) {
    send(from + k * bytes, bytes, peer, stream);
    receive(to + k * bytes, bytes, peer, stream);
  }
  check(ncclGroupEnd());
}

void nccl::all_to_all(const double *from, double *to, std::size_t count, int ranks,
                      cudaStream_t stream) {
  check(ncclGroupStart());
  for (int rank = 0; rank < ranks; ++rank) {
    check(ncclSend(from + rank * count, count, ncclDouble, rank, communicator(), stream));
    check(ncclRecv(to + rank * count, count, ncclDouble, rank, communicator(), stream));
  }
  check(ncclGroupEnd());
}

#else

bool nccl::available() { return false; }
std::string nccl::why_not() { return "NCCL: this program was built without it."; }
void nccl::send(const void *, std::size_t, int, cudaStream_t) {}
void nccl::receive(void *, std::size_t, int, cudaStream_t) {}
void nccl::broadcast(void *, std::size_t, int, cudaStream_t) {}
void nccl::all_reduce(const double *, double *, std::size_t, cudaStream_t) {}
void nccl::exchange(const char *, char *, std::size_t, int, int, cudaStream_t) {}
void nccl::all_to_all(const double *, double *, std::size_t, int, cudaStream_t) {}

#endif
