// What a rank's kernels wait for, in words and as ranks of MPI_COMM_WORLD. The proxy's thread only.
#pragma once

#include "deadlock_detector.hpp"
#include "progress.hpp"

#include <map>

namespace gmpi {

/// MPI has it, or the kernel is copying its data.
bool is_outstanding(const Operation &operation);
/// A kernel's thread or the host program waits, and MPI has it.
bool is_waited_for(const Operation &operation);
/// Since when; for those that are waited for.
Clock::time_point waited_since(const Operation &operation);

/// "MPI_Recv from rank 1, tag 0 (grid scope, a.cu:12, for 61 s)". Ranks as the call names them,
/// with the one in MPI_COMM_WORLD behind it where it is another.
std::string describe(const Operation &operation, Clock::time_point now);

/// Communicators' ranks as ranks of MPI_COMM_WORLD. Short-lived: a handle may come to mean another
/// communicator.
class WorldRanks {
public:
  WorldRanks();
  ~WorldRanks();
  WorldRanks(const WorldRanks &) = delete;

  /// Below 0 where the rank is not in MPI_COMM_WORLD.
  int of(MPI_Comm comm, int rank);
  /// All other ranks of the communicator.
  std::shared_ptr<const Ranks> others(MPI_Comm comm);

private:
  struct Entry {
    MPI_Group group = MPI_GROUP_NULL; ///< those that messages come from
    std::shared_ptr<const Ranks> others;
  };
  Entry &entry(MPI_Comm comm);

  MPI_Group world_ = MPI_GROUP_NULL;
  int own_ = 0;
  std::map<MPI_Comm, Entry> entries_;
};

/// Fills all but `finished` and `stalled`.
Standing look_at(const Progress *const *devices, std::size_t count, Clock::time_point now);

} // namespace gmpi
