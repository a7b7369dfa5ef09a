// Calls of a grid that its blocks have left to the next one: see series_device.hpp.
// Host and device.
#pragma once

#include "../../queue/scope.hpp"
#include "../state.hpp"

#include <climits>

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

/// What the calls have received that an MPI_Waitall with statuses has waited for. In a launch's
/// LaunchState; written by the block that makes it, before the others go on.
struct LeftStatuses {
  static constexpr int is_result = INT_MIN; ///< as a source: the launch's result tells
  std::uint32_t next; ///< the calls are those before this number; 0: nothing has been written
  struct {
    int source, tag;
    std::uint32_t bytes;
  } of[ReadyRequests::most]; ///< by request
};

/// A call that has been left.
struct LeftCall {
  const Comm *comm; ///< null: it goes by way of the proxy (../../queue/left_device.hpp)
  void *data;
  MPI_Datatype datatype;
  std::uint32_t bytes; ///< of data
  int count, rank, tag;
  std::uint32_t context, peer; ///< of the communicator; that rank's number among a State's peers
  std::uint32_t slot, serial;  ///< its request's
  bool sends, over;            ///< it has been made
  // Its message, once its place in a channel is known:
  bool dense;
  bool announced;        ///< of a receive: the data does not come by the channel
  std::uint32_t carried; ///< bytes of it
  std::uint64_t *ring;
  unsigned long long first; ///< its first slot, or its ticket
  union {
    struct {
      MPI_Comm comm; ///< of one by way of the proxy
    } queued;
    struct {
      std::uint64_t head, size, after; ///< what its header says
    } sent;
    /// While its block waits: how far the channels from its rank have been read.
    struct {
      std::uint64_t *rings[2]; ///< of the common channel, and of the owned one
      unsigned long long common, owned;
      std::uint32_t channel; ///< where its message has come
      std::uint16_t use;     ///< of a wide one: its token
    } received;
    /// Of a long one, once it has been answered.
    struct {
      unsigned char *to;     ///< where it belongs
      std::uint64_t *landed; ///< the packet that tells who waits for it
      std::uint32_t lap;     ///< what that is to show
    } stored;
  };
};

/// A message of an exchange that all blocks carry together.
struct SharedSpan {
  std::uint64_t *ring;
  unsigned char *data;
  unsigned long long first; ///< its first slot
  std::uint32_t bytes;
  std::uint32_t before; ///< units (series_share_device.hpp) of those told of before it
  bool dense, reads;
  std::uint16_t route; ///< of one that is written
};

/// Those that the block which makes it tells the others of, the written ones first. In a launch's
/// LaunchState.
struct SharedSpans {
  static constexpr std::uint32_t most = 2 * ReadyRequests::most;
  static constexpr std::uint32_t stop = 1u << 31;
  std::uint32_t told;  ///< how many there are; with `stop` no more come
  std::uint32_t ahead; ///< the block that looks for slots for the next ones; ~0: none does
  bool wide;           ///< whether long ones are among them: Series::was_wide
  SharedSpan of[most];
};

/// Those that a block has left, the same in all of its grid. In the block's shared memory.
struct Series {
  static constexpr std::uint32_t most = ReadyRequests::most;
  /// Numbers of calls in their launch: the next one's, and the first one's that has not been made.
  std::uint32_t next, first;
  std::uint32_t last; ///< the first one's of those that have been made last: all before `first`
  std::uint32_t room; ///< so many may be left: most, or none
  std::uint32_t made; ///< while this block makes them: the first so many have been
  /// The same: messages that it is to write or read, a warp each, or all of it together. Bits by
  /// place in `call`.
  std::uint32_t to_carry, to_share;
  // While it waits for all of them; the same bits:
  std::uint32_t open;  ///< receives whose messages have not been found
  std::uint32_t ranks; ///< the first receives from a rank
  // Long messages: those sent that have not been stored (or copied for the proxy), of these those
  // that can be and those that are being, and those received whose data has not come.
  std::uint32_t announced, answered, storing, landing;
  // Of messages that there is no room for at first, see series_pending_device.hpp:
  std::uint32_t pending; ///< those sent that have to wait for it
  std::uint32_t tries;   ///< to find it, one after the other in vain
  std::uint32_t freed;   ///< receives whose slots have been given back
  bool refills; ///< so much is received that who sends it may lack the slots of what has been read
  bool wide;    ///< others go with their data: it is not known where all could be stored
  std::uint32_t long_send, long_receive; ///< the pair being made, see series_long_pair_device.hpp
  bool was_wide;                         ///< nor was it the last time that this block found out
  // Messages that all blocks carry together, see series_share_device.hpp:
  bool sharing;             ///< the others have been told
  std::uint32_t told_spans; ///< so many
  std::uint32_t told_units; ///< of these together
  std::uint32_t spans; ///< those that this block has carried, or is to carry before it asks again
  std::uint32_t given; ///< what the call returns that is being left: its request's number
  /// Requests that the block has at hand. For call number i, i % (2 * most): the request's number
  /// and, in the four highest bits, the rest of i; something else where there is none.
  std::uint32_t ready[2 * most];
  /// What a warp has left; no other one looks at it.
  struct alignas(16) Left {
    std::uint32_t next;   ///< the number of its next call
    std::uint32_t waited; ///< those whose wait it has left, too: bits by place
    std::uint32_t sent;   ///< of these, by MPI_Send
    std::uint32_t since;  ///< what `first` was then

    /// `waited`, and `sent`, where `first` is so still: else they have been made.
    GMPI_HOST_DEVICE std::uint32_t waited_from(std::uint32_t now) const {
      return since == now ? waited : 0;
    }
    GMPI_HOST_DEVICE std::uint32_t sent_from(std::uint32_t now) const {
      return since == now ? sent : 0;
    }
    /// Those that are left go by way of the proxy: what no waits and sends would say, so that no
    /// call from kernel to kernel is left behind them.
    GMPI_HOST_DEVICE void note_queued(std::uint32_t now) {
      waited = queued_waits;
      sent = queued_sends;
      since = now;
    }
    GMPI_HOST_DEVICE bool are_queued(std::uint32_t now) const {
      return (since == now) & (waited == queued_waits) & (sent == queued_sends);
    }
    static constexpr std::uint32_t queued_waits = 1, queued_sends = 2;
    /// The wait is left of the call at that place; `by_send`: it is an MPI_Send.
    GMPI_HOST_DEVICE void add_wait(std::uint32_t now, std::uint32_t place, bool by_send) {
      const std::uint32_t bit = 1u << place;
      waited = waited_from(now) | bit;
      sent = sent_from(now) | (by_send ? bit : 0);
      since = now;
    }
  } left[32]; ///< by warp
  LeftCall call[most];
  /// Of MPI_Sends and MPI_Recvs, and of what goes by way of the proxy: where they stand. Line 0 of
  /// the others.
  Site site[most];
  Site waits_at;   ///< where the wait stands for which they are made
  /// What calls by way of the proxy are known to be of; extent 0: none.
  struct {
    MPI_Comm comm;
    MPI_Datatype datatype;
    std::uint32_t extent;
  } queued;

  GMPI_HOST_DEVICE std::uint32_t count() const { return next - first; }
  GMPI_HOST_DEVICE std::uint32_t made_count() const { return first - last; }
  /// All have been made.
  GMPI_HOST_DEVICE void end() {
    last = first;
    first = next;
  }
  /// Nobody waits for those that have been made; there are no others.
  GMPI_HOST_DEVICE void forget() { last = first = next; }
};

} // namespace gmpi::peer
