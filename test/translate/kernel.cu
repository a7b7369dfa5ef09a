// A kernel with MPI becomes its translation in place, a stub under its own name, a function that
// launches it and an object that registers it; the launch calls that function.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: %gmpi-translate --cuda-path=none in.cu -o out.cu
// RUN: FileCheck --match-full-lines --strict-whitespace --input-file=out.cu check
// RUN: %assemble-cuda out.cu
// RUN: %gmpi-translate --device=cpu in.cu -o cpu.cu
// RUN: FileCheck --check-prefix=CPU --input-file=cpu.cu check
// RUN: %compile-cpu cpu.cu

//--- in.cu
#include <mpi.h>
__global__ void ping(char *buf, int n, int peer = 1) { // first
  /* kept */ MPI_Send(buf, n, MPI_CHAR, peer, 0,
           MPI_COMM_WORLD);
}

int main() {
  ping<<<1, 32>>>(nullptr, 8);
}
//--- check
// The table's line is the last one of the file.
CHECK:// Translated by gmpi-translate from "in.cu" (device cuda, lowerings queue). Do not edit.
CHECK-NEXT:#include <gmpi/gmpi.hpp>
CHECK-NEXT:#line 1 "in.cu"
CHECK-NEXT:#include <mpi.h>
CHECK-NEXT:__global__ void GMPI_KERNEL_REGISTERS ping__queue(::gmpi::Launched gmpi_launched, char *buf, int n, int peer ) { ::gmpi::Participant gmpi_participant(gmpi_launched); // first
CHECK-NEXT:  /* kept */ ::gmpi::grid::MPI_Send({[[FILE:0x[0-9a-f]+]], 3}, buf, n, MPI_CHAR, peer, 0,
CHECK-NEXT:           MPI_COMM_WORLD);
CHECK-NEXT:}
CHECK-NEXT:static constexpr ::gmpi::KernelInfo ping__info{"ping", [[FILE]], 2, ::gmpi::Scope::grid};
CHECK-NEXT:__global__ void ping(char *buf, int n, int peer = 1) { ::gmpi::raw_launch({"ping", [[FILE]], 2, ::gmpi::Scope::grid}, buf, n, peer); }
CHECK-NEXT:static inline void ping__launch(const ::gmpi::Launch &gmpi_launch, char *buf, int n, int peer = 1) { gmpi_launch.queue(static_cast<void (*)(decltype(buf), decltype(n), decltype(peer))>(ping), static_cast<void (*)(::gmpi::Launched, decltype(buf), decltype(n), decltype(peer))>(ping__queue), ping__info, buf, n, peer); }
CHECK-NEXT:static const ::gmpi::Kernel ping__kernel{ping, ping__queue, ping__info};
CHECK-NEXT:#line 6 "in.cu"
CHECK-EMPTY:
CHECK-NEXT:int main() {
CHECK-NEXT:  ping__launch(::gmpi::Launch(1, 32), nullptr, 8);
CHECK-NEXT:}
CHECK-NEXT:namespace { const ::gmpi::SourceFile gmpi_sources[] = {{[{][{]}}[[FILE]], "in.cu"}}; }
CHECK-NOT:{{.}}

CPU: (device cpu, lowerings queue)
CPU: ::gmpi::grid::MPI_Send({0x{{[0-9a-f]+}}, 3}, buf, n
CPU: ping__launch(::gmpi::Launch(1, 32), nullptr, 8);
