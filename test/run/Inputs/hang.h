// What the tests of hanging programs share: MPI started, rank and size known, a few integers on the
// device.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

static int rank, size, *buffer;

static void begin(int *argc, char ***argv) {
  int level;
  if (*argc > 1 && !strcmp((*argv)[1], "multiple"))
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
  else
    MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  cudaMalloc(&buffer, 64 * sizeof(int));
}

static int end() {
  cudaDeviceSynchronize();
  MPI_Finalize();
  std::printf("rank %d ends\n", rank);
  return 0;
}
