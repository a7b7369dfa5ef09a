// What a split kernel's driver and its segments tell each other. Host and device.
//
// A kernel with MPI calls of grid scope is cut into segments: segment R is the kernel's body,
// entered again at resume point R (0: at its start). A segment that comes to a call saves what
// lives across it in the launch's frame, announces the call in the launch's Request, and ends. The
// driver makes the call and launches the next segment with what the call returned.
//
// A call that one thread makes for itself is cut, too. That thread announces it in a Request of its
// own, `single`, and ends; the others run on to where the whole grid meets, or to their end. The
// driver then makes the call, and launches the segment behind it for that thread alone (`only`),
// which comes to its next such call, or to where the others wait already. Then the grid goes on.
//
// Invariant: the Requests are the device's while a segment runs and the driver's between segments.
// The end of a segment orders everything: neither side waits for the other through memory. Between
// two meetings of the grid, one thread at most makes calls of its own.
#pragma once

#include "../launch/bind_arguments.hpp"

namespace gmpi {

namespace split {

/// What one thread block, one thread and the grid as a whole save, in bytes.
struct Sizes {
  std::uint32_t uniform, block, thread;
  bool exits;          ///< threads may return before others suspend
  bool dynamic_shared; ///< dynamic shared memory is saved, too
};

/// Data that the next segment's threads each need; if it is small it travels in the Segment.
/// In words: code that names single bytes of a parameter loads every one of them.
constexpr std::uint32_t segment_data_bytes = 32;
struct SmallData {
  std::uint64_t words[segment_data_bytes / 8];
};

/// Memory that is each thread's own: the driver can neither read nor write it.
enum Own : std::uint8_t {
  own_send = 1,    ///< the data to send is the announcing thread's: a copy lies in the Request
  own_receive = 2, ///< the receive buffer
  own_requests =
      4,          ///< request(s) to complete (a copy lies in the Request), or the one that is made
  own_status = 8, ///< status or statuses
  own_flag = 16,
};

/// A suspension, as one of the segment's threads announces it.
struct Request {
  std::uint32_t number; ///< which suspension of its launch, from 1; `single`: which of those calls
  std::uint32_t point;  ///< segment to go on with
  Function function;
  bool calls;       ///< false: a barrier of the grid and no more
  std::uint8_t own; ///< of Own
  bool gathered;    ///< the data to send lies in the Segment's `outgoing`; false before the segment
  bool too_large;   ///< what should lie in `data` has no room there
  Site site;
  std::uint64_t words[argument_words]; ///< its arguments, by encode_arguments()
  std::uint64_t thread;    ///< `single`: who makes the call, numbered in the grid
  std::uint64_t data_bytes;
  alignas(16) unsigned char data[inline_bytes]; ///< sent data or request handles of own memory

  Arguments arguments() const {
    Arguments all;
    decode_arguments(function, words, all);
    return all;
  }
};

/// Segment::only of a segment that all threads run.
constexpr std::uint64_t all_threads = ~std::uint64_t(0);

} // namespace split

/// Hidden first parameter of a segment.
struct Segment {
  // The launch's frame, in device memory. Uniform values have two places, of which each segment
  // reads one and writes the other: a thread may save them while another has yet to begin.
  const unsigned char *uniform;
  unsigned char *next_uniform;
  unsigned char *threads, *blocks;
  unsigned char *dynamic; ///< where dynamic shared memory is saved, block after block
  std::uint32_t
      *elected; ///< null unless threads may return early: the last suspension that is announced
  std::uint32_t *at;          ///< with it: the last suspension that each thread has come to
  std::uint64_t thread_slots; ///< threads of the grid, rounded up to whole warps
  split::Request *request;    ///< mapped host memory
  split::Request *single;     ///< the same, for calls that one thread makes for itself
  unsigned char *outgoing;    ///< mapped host memory: room for inline_bytes of data to send
  std::uint32_t *arrivals;    ///< in device memory; 0 before the segment and after it
  std::uint64_t only;         ///< the one thread that runs this segment, or all_threads
  std::uint32_t singles;      ///< such calls of this launch so far
  std::uint32_t launch;       ///< number in the proxy's table
  std::uint32_t number; ///< the suspension that this segment resumes from; 0: the kernel's start
  CallResult result;    ///< what the call returned
  const unsigned char *data; ///< received data for each thread's own memory; null: `small` holds it
  std::uint32_t data_bytes;
  split::SmallData small;

  /// For calls of block and thread scope, which the queue carries.
  GMPI_HOST_DEVICE Launched launched() const { return {nullptr, launch}; }
};
static_assert(sizeof(Segment) <= 512, "kernel parameters are limited");

/// Which segment of a device function follows, where its points are `first` to `last` of its
/// caller's.
GMPI_HOST_DEVICE constexpr int within(int point, int first, int last) {
  return first <= point && point <= last ? point - first + 1 : 0;
}

namespace split {

constexpr std::uint64_t round_up(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

/// What a value of so many bytes takes of each thread: a power of two, or whole multiples of 16.
GMPI_HOST_DEVICE constexpr unsigned slot_bytes(unsigned bytes) {
  if (bytes >= 16)
    return (bytes + 15) / 16 * 16;
  unsigned slot = 1;
  while (slot < bytes)
    slot *= 2;
  return slot;
}

} // namespace split
} // namespace gmpi
