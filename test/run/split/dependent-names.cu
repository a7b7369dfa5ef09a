// What is called depends on a template's arguments: members of class templates, and of template parameters.
// RUN: %gmpicxx %all-lowerings %s -o %t
// RUN: %each-lowering %ranks 1-3 %t
#include "../Inputs/check.h"

template <class T> struct Sums {
  MPI_Datatype type;
  T total;
  static __device__ T of(T value, MPI_Datatype type) {
    T sum;
    MPI_Allreduce(&value, &sum, 1, type, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }
  __device__ T and_more(T value) {
    total += of(value, type);
    return total;
  }
};
struct Shifts {
  int next, previous;
  template <int Tag> __device__ void shift(int *out, int *in) const {
    MPI_Sendrecv(out, 1, MPI_INT, next, Tag, in, 1, MPI_INT, previous, Tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  template <int Tag> static __device__ void shift(int *out, int *in, Shifts how) { how.shift<Tag>(out, in); }
};

template <class T, class S> __global__ void dependent(int *data, int rank, S shifts, MPI_Datatype type) {
  Sums<T> sums{type, T(1)};
  const T total = Sums<T>::of(T(rank + 1), type);
  const T more = sums.and_more(T(rank + 1));
  if (blockIdx.x == 0 && threadIdx.x == 0)
    data[0] = 10 * rank;
  shifts.template shift<4>(data, data + 1);
  S::template shift<5>(data + 1, data + 2, {shifts.next, shifts.previous});
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    data[3] = int(total);
    data[4] = int(more);
  }
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int total = test::size * (test::size + 1) / 2;
  const int before = (test::previous() + test::size - 1) % test::size;
  const int wanted[] = {10 * test::rank, 10 * test::previous(), 10 * before, total, total + 1};
  const Shifts shifts{test::next(), test::previous()};
  test::Array<int> data(5, -1);
  dependent<int><<<2, 32>>>(data.data(), test::rank, shifts, MPI_INT);
  test::synchronize();
  test::expect_each(data, [&](int i) { return wanted[i]; }, "of int");
  data.write({-1, -1, -1, -1, -1});
  dependent<double><<<2, 32>>>(data.data(), test::rank, shifts, MPI_DOUBLE);
  test::synchronize();
  test::expect_each(data, [&](int i) { return wanted[i]; }, "of double");
  return test::end();
}
