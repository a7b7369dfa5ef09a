// The compilation database that CMake writes for an nvcc project; paths in it are relative to the
// folder that each entry names.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: sed "s|ROOT|%t|g" db.json > compile_commands.json
// RUN: %gmpi-translate --cuda-path=none src/in.cu -o out.cu -p .
// RUN: FileCheck --input-file=out.cu check
// RUN: %compile-cuda -Iinclude -DFROM_COMMAND=1 out.cu

//--- src/in.cu
#include "config.h"
#include <mpi.h>
#ifdef PEER
__global__ void k() { MPI_Barrier(MPI_COMM_WORLD); }
#endif
//--- include/config.h
#define PEER FROM_COMMAND
//--- db.json
[{"directory": "ROOT/build", "file": "ROOT/src/in.cu", "output": "in.cu.o",
  "command": "/usr/bin/ccache /usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -ccbin=/usr/bin/g++ -DFROM_COMMAND=1 --options-file flags.rsp -O3 -DNDEBUG --generate-code=arch=compute_90,code=[compute_90,sm_90] -Xcompiler=-fPIC -x cu -c ROOT/src/in.cu -o in.cu.o"}]
//--- build/flags.rsp
-I../include
//--- check
CHECK: ::gmpi::grid::MPI_Barrier(
