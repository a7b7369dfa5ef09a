// Predefined datatypes and operations in kernels, pair types (whose extent is not their size) among
// them.
// RUN: %gmpicxx %s -o %t
// RUN: %ranks 1-4 %t
// RUN: env GMPI_PEER=1 %ranks 2-3 %t
#include "Inputs/check.h"

struct Numbers {
  char c;
  unsigned char b;
  short s;
  unsigned u;
  long l;
  long long ll;
  unsigned long long ull;
  float f;
  double d;
};
struct Place {
  double value;
  int index;
};
struct Pair {
  int value, index;
};

__global__ void reduce(Numbers *in, Numbers *out, Place *places, Pair *pair, int rank, int size) {
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Allreduce(&in->c, &out->c, 1, MPI_SIGNED_CHAR, MPI_SUM, comm);
  MPI_Allreduce(&in->b, &out->b, 1, MPI_UNSIGNED_CHAR, MPI_BOR, comm);
  MPI_Allreduce(&in->s, &out->s, 1, MPI_SHORT, MPI_MIN, comm);
  MPI_Allreduce(&in->u, &out->u, 1, MPI_UNSIGNED, MPI_BXOR, comm);
  MPI_Allreduce(&in->l, &out->l, 1, MPI_LONG, MPI_MAX, comm);
  MPI_Allreduce(&in->ll, &out->ll, 1, MPI_LONG_LONG, MPI_PROD, comm);
  MPI_Allreduce(&in->ull, &out->ull, 1, MPI_UNSIGNED_LONG_LONG, MPI_BAND, comm);
  MPI_Allreduce(&in->f, &out->f, 1, MPI_FLOAT, MPI_SUM, comm);
  MPI_Allreduce(&in->d, &out->d, 1, MPI_DOUBLE, MPI_MAX, comm);
  int any = rank == size - 1, all = 1;
  MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_LOR, comm);
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, comm);
  MPI_Allreduce(places, places + 3, 3, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  MPI_Allreduce(MPI_IN_PLACE, pair, 1, MPI_2INT, MPI_MINLOC, comm);
  if (threadIdx.x == 0 && blockIdx.x == 0)
    pair->index += 100 * any + 1000 * all;
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  int rank = test::rank, size = test::size, total = size * (size - 1) / 2;
  test::Array<Numbers> numbers(2);
  Numbers mine = {char(rank), (unsigned char)(1 << rank), short(-rank), 1u << rank, 1000000000000l * rank,
                  rank + 1,   0xf0ull << rank,            0.5f * rank,  -1.25 * rank};
  numbers.write({mine, {}});
  test::Array<Place> places(6);
  places.write({{double(rank), rank}, {double(-rank), rank}, {double(rank % 2), rank}, {}, {}, {}});
  test::Array<Pair> pair(1, {10 - rank, rank});
  reduce<<<2, 32>>>(numbers.data(), numbers.data() + 1, places.data(), pair.data(), rank, size);
  test::synchronize();

  Numbers got = numbers.read()[1];
  long long product = 1;
  unsigned long long common = ~0ull;
  for (int i = 0; i < size; ++i) {
    product *= i + 1;
    common &= 0xf0ull << i;
  }
  test::expect_equal(got.c, total, "MPI_SIGNED_CHAR, MPI_SUM");
  test::expect_equal(got.b, (1 << size) - 1, "MPI_UNSIGNED_CHAR, MPI_BOR");
  test::expect_equal(got.s, 1 - size, "MPI_SHORT, MPI_MIN");
  test::expect_equal(got.u, (1 << size) - 1, "MPI_UNSIGNED, MPI_BXOR");
  test::expect_equal(got.l, 1000000000000.0 * (size - 1), "MPI_LONG, MPI_MAX");
  test::expect_equal(got.ll, product, "MPI_LONG_LONG, MPI_PROD");
  test::expect_equal(got.ull, common, "MPI_UNSIGNED_LONG_LONG, MPI_BAND");
  test::expect_equal(got.f, 0.5 * total, "MPI_FLOAT, MPI_SUM");
  test::expect_equal(got.d, 0, "MPI_DOUBLE, MPI_MAX");
  std::vector<Place> found = places.read();
  test::expect(found[3].value == size - 1 && found[3].index == size - 1, "MPI_MAXLOC of the rank");
  test::expect(found[4].value == 0 && found[4].index == 0, "MPI_MAXLOC of minus the rank");
  test::expect(found[5].index == (size > 1), "MPI_MAXLOC of odd ranks: %d", found[5].index);
  test::expect_equal(pair.read()[0].value, 11 - size, "MPI_MINLOC's value");
  test::expect_equal(pair.read()[0].index, size - 1 + 1100, "MPI_MINLOC's rank, MPI_LOR, MPI_LAND");
  return test::end();
}
