// What the one member of a team that decides tells the others: in the block's shared memory or, of
// a thread alone, in its own.
#pragma once

#include "../queue/context.hpp"

namespace gmpi::peer {

/// Whose call it is.
struct Call {
  Function function;
  Scope scope;
  Site site;
};

/// What is waited for: a request's end, slots of the channel to `peer`, or the others of a
/// collective call.
struct Wait {
  enum For : std::uint32_t { request_done, slots, others } what;
  Call call;
  const Comm *comm;
  std::uint32_t request; ///< or `nothing`
  std::uint32_t peer;
  unsigned long long first, until; ///< slot numbers; or, the latter, a collective call's round
  int rank, tag;                   ///< for reports; of a collective call, its root
  unsigned long long since;
  std::uint32_t told; ///< the request slot under which the proxy knows of it, or `nothing`
};

/// One rank's part in a round of a collective call.
struct Round {
  std::uint32_t number;
  std::uint32_t soon;      ///< all have begun it
  const unsigned char *in; ///< null: nothing but that it has begun
  unsigned char *out;      ///< null: the result is not wanted
  std::uint32_t bytes;
  int root;                ///< of MPI_Bcast: the only part; else below 0
  std::uint32_t reduction; ///< device::peer::Reduction
  Number datatype;
};

struct Share {
  Work work;
  Step step;
  Wait wait;
  Round round;
  std::uint32_t request;    ///< what is left of a call, or `nothing`
  std::uint32_t place;      ///< where its message has been kept, or `nothing`
  bool waits;               ///< slots must become free first
  unsigned long long limit; ///< below it they are
  bool truncated;
  CallResult result;
};

} // namespace gmpi::peer
