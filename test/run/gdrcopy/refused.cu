// GMPI_GDRCOPY=1 where GDRCopy cannot be used: each reason is said once, and again under GMPI_STATS=1; the program
// goes on with Replies in the host's memory. What GDRCopy was given before is given back.
// UNSUPPORTED: gpu
// RUN: rm -rf %t.lib && mkdir %t.lib %t.lib/none %t.lib/other
// RUN: %gmpicxx %s -o %t -Wl,--disable-new-dtags,-rpath,%t.lib
// RUN: %gmpicxx -shared -fPIC %S/Inputs/gdrapi.cpp -o %t.lib/libgdrapi.so.2
// RUN: env GMPI_GDRCOPY=1 GMPI_STATS=1 FAKE_GDRAPI=open %mpiexec -n 2 %t 2>&1 | FileCheck %s -DWHY="GDRCopy's library does not reach its driver (gdr_open; is the kernel module gdrdrv loaded?)" --implicit-check-not=WRONG
// RUN: env GMPI_GDRCOPY=1 GMPI_STATS=1 FAKE_GDRAPI=pin %mpiexec -n 2 %t 2>&1 | FileCheck %s -DWHY="GDRCopy cannot pin the GPU's memory (gdr_pin_buffer: Invalid argument)" --implicit-check-not=WRONG
// RUN: env GMPI_GDRCOPY=1 GMPI_STATS=1 FAKE_GDRAPI=info %mpiexec -n 2 %t 2>&1 | FileCheck %s -DWHY="GDRCopy cannot describe the GPU's memory (gdr_get_info: Bad file descriptor)" --implicit-check-not=WRONG
// RUN: env GMPI_GDRCOPY=1 GMPI_STATS=1 FAKE_GDRAPI=elsewhere %mpiexec -n 2 %t 2>&1 | FileCheck %s -DWHY="GDRCopy has pinned other memory than it was given" --implicit-check-not=WRONG
// RUN: env GMPI_GDRCOPY=1 GMPI_STATS=1 FAKE_GDRAPI=map %mpiexec -n 2 %t 2>&1 | FileCheck %s -DWHY="GDRCopy cannot map the GPU's memory (gdr_map: Cannot allocate memory)" --implicit-check-not=WRONG
// RUN: env GMPI_GDRCOPY=1 GMPI_STATS=1 FAKE_GDRAPI=other %mpiexec -n 2 %t 2>&1 | FileCheck %s -DWHY="what is stored to GDRCopy's mapping does not arrive in the GPU's memory" --implicit-check-not=WRONG
//
// A device that does not order what others write.
// RUN: %gmpicxx -DUNORDERED %s -o %t.unordered -Wl,--disable-new-dtags,-rpath,%t.lib -Wl,--wrap=_ZN4gmpi9gpu_aware20orders_remote_writesEv
// RUN: env GMPI_GDRCOPY=1 GMPI_STATS=1 %mpiexec -n 2 %t.unordered 2>&1 | FileCheck %s -DWHY="the GPU does not find what others write into its memory in the order in which it was written (cudaDevAttrGPUDirectRDMAWritesOrdering)" --implicit-check-not=WRONG
//
// Another version's library, and what is none.
// RUN: %gmpicxx -shared -fPIC -DLACKS_MAP %S/Inputs/gdrapi.cpp -o %t.lib/libgdrapi.so.2
// RUN: env GMPI_GDRCOPY=1 GMPI_STATS=1 %mpiexec -n 2 %t 2>&1 | FileCheck %s -DWHY="GDRCopy's library lacks functions of version 2 (libgdrapi.so.2)" --implicit-check-not=WRONG
// RUN: echo none > %t.lib/libgdrapi.so.2
// RUN: env GMPI_GDRCOPY=1 GMPI_STATS=1 %mpiexec -n 2 %t 2>&1 | FileCheck %s -DWHY="GDRCopy's library cannot be loaded (%t.lib/libgdrapi.so.2: file too short)"
//
// CHECK-DAG: {{^}}gmpi: rank 0: GMPI_GDRCOPY is 1, but completions lie in the host's memory: [[WHY]]{{$}}
// CHECK-DAG: {{^}}gmpi: rank 1: GMPI_GDRCOPY is 1, but completions lie in the host's memory: [[WHY]]{{$}}
// CHECK-DAG: {{^}}gmpi: rank 0: completions lie in the host's memory: [[WHY]]{{$}}
// CHECK-DAG: {{^}}gmpi: rank 1: completions lie in the host's memory: [[WHY]]{{$}}
// CHECK-DAG: {{^}}ok
#include "../Inputs/check.h"

#ifdef UNORDERED
/// In place of the runtime's own, by the linker's option --wrap.
extern "C" bool __wrap__ZN4gmpi9gpu_aware20orders_remote_writesEv() { return false; }
#endif

__global__ void exchange(int *data, int count, int next, int previous) {
  for (int n = 1; n <= count; n *= 10)
    MPI_Sendrecv(data, n, MPI_INT, next, 0, data + count, n, MPI_INT, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
  test::begin(&argc, &argv);
  const int count = 100000;
  test::Array<int> data(2 * count, test::rank);
  exchange<<<2, 32>>>(data.data(), count, test::next(), test::previous());
  test::synchronize();
  test::expect_each(data, [=](int i) { return i < count ? test::rank : test::previous(); }, "data");
  return test::end();
}
