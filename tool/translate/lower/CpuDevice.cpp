// What only the cpu device needs: block-shared variables.
//
//   __shared__ T a[N];          becomes   auto &a = ::gmpi::cpu::shared<T[N]>({file, line, column});
//   extern __shared__ T a[];    becomes   auto *a = ::gmpi::cpu::dynamic_shared<T>();
#include "../Precompiled.h"
#include "Lowering.h"

namespace gmpi::translate {

void lowerForCpu(Lowering &) {}

} // namespace gmpi::translate
