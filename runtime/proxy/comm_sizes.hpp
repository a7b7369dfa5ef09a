// Tells kernels how many ranks a communicator has, so that a small MPI_Send that MPI will refuse does
// not return at once, and which of them is theirs (MPI_COMM_WORLD and MPI_COMM_SELF they know by
// themselves).
//
// Invariant: a word of the table is true while its communicator exists. The proxy writes it after a
// kernel's first MPI_Send on the communicator; MPI_Comm_free removes it, before the handle can
// come back as another communicator's.
#pragma once

#include "../queue/context.hpp"

namespace gmpi {

class CommSizes {
public:
  /// `words` is [2][comm_slots], zeroed, in memory that kernels reach, owned by the caller.
  explicit CommSizes(std::uint64_t *words) : words_(words) {}

  /// `comm` is valid. An intercommunicator's messages go to its other group.
  void learn(MPI_Comm comm);
  /// Any thread.
  void forget(MPI_Comm comm);

private:
  std::uint64_t *words_;
};

} // namespace gmpi
