// `T x;` runs T's constructor where it does something, for what lives in the frame, too; one with default arguments is no
// initializer.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --lower=split --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda out.cu
// RUN: %gmpi-translate --lower=split --device=cpu in.cu -o cpu.cu
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
struct List {
  int items[3], count = 0;
  __device__ void add(int item) { items[count++] = item; }
};
struct Given {
  int value;
  __device__ Given(int value = 3) : value(value) {}
};
struct Plain { int value; };
__global__ void k(int *buf) {
  List list, lists[2];
  list.add(1);
  lists[1].add(2);
  Given given;
  Given *where = &given;
  Given kept;
  kept.value = buf[1];
  Plain plain;
  Plain *there = &plain;
  MPI_Barrier(MPI_COMM_WORLD);
  buf[0] = list.count + lists[1].count + where->value + kept.value + there->value;
}
int main() { k<<<1, 32>>>(nullptr); }
//--- check
CHECK: gmpi_list_t &list = gmpi_frame.resident<gmpi_list_t, {{[0-9]+, 16}}>(); if (!gmpi_re) { List gmpi_init; ::gmpi::split::copy(list, gmpi_init); }
CHECK-SAME: gmpi_lists_t &lists = gmpi_frame.resident<gmpi_lists_t, {{[0-9]+, 32}}>(); if (!gmpi_re) { List gmpi_init[2]; ::gmpi::split::copy(lists, gmpi_init); }
CHECK: typedef Given gmpi_given_t; gmpi_given_t &given = gmpi_frame.resident<gmpi_given_t, {{[0-9]+, 4}}>(); if (!gmpi_re) { Given gmpi_init; ::gmpi::split::copy(given, gmpi_init); }
CHECK: Given kept; if (gmpi_re) gmpi_frame.restore{{(_uniform)?}}<{{[0-9]+}}, 4>(kept);
CHECK: typedef Plain gmpi_plain_t; gmpi_plain_t &plain = gmpi_frame.resident<gmpi_plain_t, {{[0-9]+}}, 4>();{{$}}
