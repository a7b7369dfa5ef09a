// Block-shared variables on the cpu device: a block's storage belongs to the block, not to the OS
// thread that runs it, so it is asked for where the variable is declared.
//
//   __shared__ T a[N], b;       becomes   auto &a = ::gmpi::cpu::shared<T[N]>({file, line,
//   column});
//                                         auto &b = ::gmpi::cpu::shared<T>({file, line, column});
//   extern __shared__ T a[];    becomes   auto *a = ::gmpi::cpu::dynamic_shared<T>();
#pragma once

#include "Lowering.h"

namespace gmpi::translate {

void lowerSharedDeclaration(Lowering &L, const SharedDeclaration &Declaration, Edits &Changes);

} // namespace gmpi::translate
