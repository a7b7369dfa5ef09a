// Kernel templates: types, values, packs and defaults, used around calls; launched in each instantiation.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/shape.h"

template <class T> struct Type;
template <> struct Type<int> {
  static __device__ MPI_Datatype mpi() { return MPI_INT; }
};
template <> struct Type<double> {
  static __device__ MPI_Datatype mpi() { return MPI_DOUBLE; }
};

template <class T, int N, bool Twice = false> __global__ void typed(T *out, T scale, int rank) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  T values[N], sum, mine = scale * (rank + 1);
  for (int i = 0; i < N; ++i)
    values[i] = scale * (thread + i);
  for (int i = 0; i < N; ++i) {
    MPI_Allreduce(&mine, &sum, 1, Type<T>::mpi(), MPI_SUM, MPI_COMM_WORLD);
    values[i] += sum;
    if (Twice)
      MPI_Barrier(MPI_COMM_WORLD);
  }
  T kept{};
  for (T value : values)
    kept = 2 * kept + value;
  out[thread] = Twice ? 2 * kept : kept;
}

template <class... T> __global__ void pack(int *out, int rank, T... terms) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x;
  int count = sizeof...(terms), kept = 0;
  MPI_Allreduce(&count, &kept, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  kept += (int(terms) + ... + thread);
  MPI_Barrier(MPI_COMM_WORLD);
  out[thread] = kept * (int(sizeof...(T)) + 1);
}

static double serial(int thread, int n, double scale) {
  double kept = 0;
  for (int i = 0; i < n; ++i)
    kept = 2 * kept + scale * (thread + i) + scale * test::size * (test::size + 1) / 2;
  return kept;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  test::check_shape<int>(
      "int", [](int *out, int b, int t) { typed<int, 2><<<b, t>>>(out, 3, test::rank); },
      [](int thread) { return serial(thread, 2, 3); });
  test::check_shape<double>(
      "double", [](double *out, int b, int t) { typed<double, 4, true><<<b, t>>>(out, 0.5, test::rank); },
      [](int thread) { return 2 * serial(thread, 4, 0.5); });
  test::check_shape<int>(
      "pack", [](int *out, int b, int t) { pack<<<b, t>>>(out, test::rank, 1, 2.5, 3u); },
      [](int thread) { return 4 * (3 * test::size + 6 + thread); });
  return test::end();
}
