// The table of MPI functions (runtime/mpi/functions.def) as the translator asks it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace gmpi::translate {

struct MpiFunction {
  llvm::StringRef Name;   ///< without MPI_: "Send"
  llvm::StringRef Kind;   ///< "blocking", "local" ...
  llvm::StringRef Result; ///< C type
  llvm::StringRef Roles;  ///< "(send_buffer, send_count)", as written in the table

  bool isLocal() const { return Kind == "local"; }
};

llvm::ArrayRef<MpiFunction> mpiFunctions();

/// By full name, "MPI_Send"; null if kernels may not call it.
const MpiFunction *findMpiFunction(llvm::StringRef Name);

/// Whether a function of this name belongs to MPI: MPI_Xxx or PMPI_Xxx.
bool isMpiName(llvm::StringRef Name);

/// The `mpi.h` that stands before the MPI library's own in the search path: includes that, and
/// declares a `__device__` overload for every function of the table.
std::string deviceDeclarations();

} // namespace gmpi::translate
