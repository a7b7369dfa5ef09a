// Scope and call site: on whose behalf an MPI call is made, and where it stands in the user's
// program. Host and device.
#pragma once

namespace gmpi {

/// The group of threads that makes one MPI call together.
enum class Scope : unsigned char { grid, block, thread };

/// A call's place: the 28-bit number of its source file (SourceFile gives the name) and its line.
struct Site {
  unsigned file;
  unsigned line;
};

/// What a translated file says of one kernel. `scope` is the widest scope of its MPI calls: grid
/// needs all blocks resident at once.
struct KernelInfo {
  const char *name;
  unsigned file;
  unsigned line;
  Scope scope;
};

} // namespace gmpi
