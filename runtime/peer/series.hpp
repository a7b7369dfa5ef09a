// Nonblocking calls of a grid that its blocks have left to the next one: see series_device.hpp.
// Host and device.
#pragma once

#include "layout.hpp"

namespace gmpi::peer {

/// Requests that a launch has ready for such calls: all of its blocks know which is the next. In
/// its LaunchState; empty between launches.
struct ReadyRequests {
  static constexpr std::uint32_t most = 32; // a warp's lanes
  std::uint32_t reserved;                   ///< so many slots are kept for them: most, or none
  /// For call number i, i % most: the request's number, 0 where there is none, and in the high half
  /// i / most.
  unsigned long long place[most];
};

/// A call that has been left.
struct LeftCall {
  const Comm *comm;
  void *data;
  MPI_Datatype datatype;
  std::uint32_t bytes; ///< of data
  int count, rank, tag;
  std::uint32_t slot, serial; ///< its request's
  bool sends, over;           ///< it has been made
  // Its message, once its place in a channel is known:
  bool dense;
  std::uint32_t carried; ///< bytes of it
  std::uint64_t *ring;
  unsigned long long first; ///< its first slot
  union {
    struct {
      std::uint64_t head, after; ///< what its header says
    } sent;
    struct {
      std::uint32_t *freed; ///< where its slots are given back
      /// Of the first that receives from a rank: how far the channels from there have been read.
      unsigned long long common, owned;
    } received;
  };
};

/// Those that a block has left, the same in all of its grid. In the block's shared memory.
struct Series {
  static constexpr std::uint32_t most = ReadyRequests::most;
  std::uint32_t next;     ///< call's number in its launch
  std::uint32_t count;    ///< calls that have not been made yet: the last so many numbers
  std::uint32_t made;     ///< while this block makes them: the first so many have been
  std::uint32_t to_carry; ///< the same: what all of the block are to write or read; bits by place
  // While it waits for all of them, bits by place in `call`:
  std::uint32_t open;  ///< receives whose messages have not been found
  std::uint32_t ranks; ///< the first receives from a rank
  bool holds;          ///< the channels from these
  bool ended;          ///< there are no requests for any more
  std::uint32_t given; ///< what the call returns that is being left: its request's number
  std::uint32_t known; ///< of calls up to this number the requests' are here, by number % most:
  std::uint32_t ready[most];
  LeftCall call[most];
};

} // namespace gmpi::peer
