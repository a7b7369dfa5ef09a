// What a rank keeps for itself: its State, in device memory; and what a block, or a launch, has of
// channels, and remembers of other ranks. Host and device.
//
// Invariant: what several threads may change at a time they change under State::lock, or by atomics.
#pragma once

#include "layout.hpp"

namespace gmpi::peer {

constexpr std::uint32_t max_comms = 64;
constexpr std::uint32_t any_source = 0xffff;

/// Of messages that have arrived before their receive, so many are kept with up to small_bytes of
/// data (or none yet), and so many with more.
constexpr std::uint32_t small_kept = 8192, large_kept = 256;
constexpr std::uint32_t small_bytes = 1024;
/// And wide ones, which have places by rank and token.
constexpr std::uint32_t wide_kept = max_peers * wide_tokens;
constexpr std::uint32_t first_wide_kept = small_kept + large_kept;
static_assert(first_wide_kept % wide_tokens == 0);
/// The memory of all of these, where `ranks` run on this host.
constexpr std::size_t kept_bytes(std::uint32_t ranks) {
  return std::size_t(small_kept) * small_bytes + std::size_t(large_kept) * eager_bytes +
         std::size_t(ranks) * wide_tokens * wide_bytes;
}

/// A channel that a block, or a launch, owns, as its next message in packets needs it: of up to
/// eager_bytes, or to a rank on another host of up to far_packets_bytes.
/// (What is aligned so, and what comes behind it, is loaded at once: see RouteWords.)
struct Route {
  alignas(16) MPI_Datatype datatype; ///< with which, and whom, it has been used last
  std::uint32_t extent;              ///< of the datatype, in bytes
  std::uint32_t longest;             ///< how many such elements go by it
  alignas(16) MPI_Comm comm;         ///< 0: it is not to be used
  int dest;
  std::uint32_t context : context_bits, size : 31 - context_bits; ///< of the communicator
  std::uint32_t near : 1;              ///< the channel is in a GPU's memory
  alignas(16) unsigned long long next; ///< as in a sender's Line
  unsigned long long free_until;
  alignas(16) unsigned long long *order; ///< the sender's word for both channels
  std::uint64_t *out;
};
static_assert(sizeof(Route) == 64);

/// All that a block, or a launch, owns.
struct Routes {
  static constexpr std::uint32_t most = 8; ///< by destination's rank, modulo this
  std::uint32_t owned;                     ///< bits: routes that have a channel
  std::uint32_t refused;                   ///< bits: somebody else owned what they asked for
  std::uint16_t channel[most];
  Route route[most];
};

struct Comm;

/// What a block remembers of a rank that it has received from.
struct alignas(16) Source {
  static constexpr std::uint32_t most = 8; ///< by that rank, modulo this
  MPI_Comm comm;                           ///< with which it has; 0: nothing is remembered
  MPI_Datatype datatype;
  int source;
  std::uint32_t extent;  ///< of the datatype, in bytes
  std::uint32_t context; ///< of the communicator
  std::uint32_t peer;
  const Comm *its;                ///< the communicator
  unsigned long long word, owned; ///< of the receiver's Lines, when the block gave them back last
  std::uint64_t *in[2];           ///< of the common channel, and of the owned one
  std::uint32_t *freed[2];
};

/// A communicator's last round.
union LastRound {
  struct {
    std::uint32_t number;
    std::uint32_t launch; ///< 1 + the index of that whose blocks are at it, each by itself; or 0
  } its;
  unsigned long long both;
};

/// A communicator whose messages kernels carry themselves.
struct Comm {
  MPI_Comm handle;
  std::uint32_t context; ///< the same on all its ranks, and no other's there; 0: free
  std::int32_t rank, size;
  LastRound round; ///< of collective calls, so far
  /// So many blocks of a grid are yet to read the last round that they read each by itself: until
  /// then no other call begins one.
  std::uint32_t unread;
  /// By rank: [round_places][size][round_packets], in that rank's memory, and then the places of
  /// pieces; where they run on several hosts, all in ours, and without these: the relay reads what
  /// this rank writes there, and writes what the others send.
  std::uint64_t *rounds[max_peers];
  unsigned char *scratch;           ///< [2][round_bytes]
  std::uint16_t peer_of[max_peers]; ///< by rank
  std::uint16_t rank_of[max_peers]; ///< by peer
};

enum class RequestState : std::uint32_t {
  idle,
  posted,        ///< a receive that no message has matched
  awaiting_data, ///< its message was announced; the data comes, or is stored, see Shared::acks()
  receiving,     ///< its message is on its way through the channel, or there
  queued,        ///< a send whose slots are not free yet
  awaiting_match,
  sending,
  storing, ///< the same, straight to where the message belongs
  done,
};

/// A send or receive that does not end at once, by request slot.
struct Request {
  std::uint32_t state; ///< RequestState
  std::uint32_t busy;  ///< somebody carries it on; at first, and when it is done, it stays so
  std::uint32_t next, number; ///< in its list of posted receives
  std::uint32_t own;          ///< others cannot reach its data: only who waits for it carries it on
  std::uint32_t sends;
  std::int32_t rank; ///< as the call names it, for reports
  const Comm *comm;
  std::uint32_t context; ///< the communicator's
  std::uint32_t peer;    ///< any_source: not known yet
  std::uint32_t channel; ///< that its message takes
  std::int32_t tag;      ///< that a receive wants
  std::uint32_t staging; ///< large kept entry whose memory `data` is, or `nothing`
  unsigned char *data;
  unsigned long long room;  ///< bytes at `data`
  Header header;            ///< of the message
  unsigned long long first; ///< its first slot
  unsigned long long moved; ///< slots that are done; of one that is stored, bytes
  std::uint32_t serial;     ///< which use of the slot this is; and perhaps answered_far
  std::uint32_t sent;       ///< of a slot that is kept: how many sends have had it, 16 bits of that
  Match offer;              ///< of a long receive: where its data can be stored, if anywhere
  unsigned long long offset; ///< and how far behind that allocation's begin
  unsigned char *target;     ///< of a send: the same place, as this rank has it mapped
  Match match;               ///< and what the receiver has said
};

/// A message that came before its receive.
struct Kept {
  std::uint32_t next, number; ///< in its list, or that of free places
  std::uint32_t channel;      ///< that it has come through
  unsigned long long first;   ///< its first slot, while its data is in the channel yet
  Header header;
};

constexpr std::uint32_t nothing = ~0u; ///< end of a list
/// In a send's serial: the receiver is on another host, and its answer in State::far_acks.
constexpr std::uint32_t answered_far = 1u << 16;

/// Posted receives, or kept messages: see match_lists_device.hpp.
struct MatchList {
  std::uint32_t first, last; ///< where first is `nothing` it is empty, and last means nothing
};
constexpr std::uint32_t match_lists = 1024; ///< of each; a multiple of 32

/// Receives that have been posted, and that nobody has put into lists yet. Whoever posts one takes
/// a number, writes the request's record, and then its entry: that takes no lock. Who has the lock
/// gives them what has arrived, in the order of their numbers, or puts them into lists.
struct PostRing {
  static constexpr std::uint32_t places = 64;
  alignas(128) std::uint32_t next;  ///< numbers that have been taken
  alignas(128) std::uint32_t first; ///< entries before are no longer here; changed under the lock
  unsigned long long gone; ///< under the lock: which of those from first on are not, either; bits
  /// By number: the request and, in the high half, the number plus one, once its record is
  /// complete.
  unsigned long long entry[places];
};

/// What a waiting thread looks at all the time: 16 bytes, one load.
struct alignas(16) Summary {
  std::uint32_t posted; ///< receives that wait for a message, or for their announced data
  std::uint32_t kept;   ///< messages that wait for a receive
  std::uint32_t active; ///< transfers for whoever has time
  std::uint32_t told;   ///< waits that the proxy knows of
};

struct Line {
  /// The next slot's number. Of a common channel: both channels' word. A receiver's owned one is
  /// written under the common one's lock, and may be seen late: the word tells.
  alignas(64) unsigned long long next;
  unsigned long long free_until; ///< sender: slots below are known to be free
};

/// A rank's own state, in device memory, zero at first but for what Links sets.
struct State {
  Summary summary;
  std::uint32_t lock;   ///< of all lists
  std::uint32_t wanted; ///< threads that wait for it: who only looks for work leaves it to them
  std::uint32_t peers;
  std::uint32_t comms_used;
  std::uint32_t listed; ///< counts the entries that any of these has had
  PostRing posts;
  std::uint32_t in_lists; ///< posted receives that have been put into these
  MatchList posted[match_lists], posted_any_tag, kept_lists[match_lists];
  std::uint32_t kept_bits[match_lists / 32]; ///< bits: those that are not empty
  std::uint32_t free_small, free_large;
  std::uint32_t active[32];      ///< bits: requests that are queued .. sending or receiving
  std::uint32_t active_words;    ///< bits: words of these that have ever had any
  std::uint64_t *acks;           ///< this rank's
  std::uint64_t *far_acks;       ///< the same, from other hosts' ranks; null: there are none
  const std::uint64_t *far_news; ///< counts what has come from other hosts
  unsigned long long far_quiet;  ///< when it said so, none of it waited to be looked at
  std::uint32_t near_peers;      ///< those before are this host's
  std::uint32_t self;            ///< this rank's own number among them
  /// [small_kept][small_bytes], [large_kept][eager_bytes], [near_peers][wide_tokens][wide_bytes]
  unsigned char *kept_data;
  unsigned long long last_told;      ///< when the proxy was told last that this rank goes on
  unsigned long long calls, bytes;   ///< for statistics
  unsigned long long stored, ringed; ///< long messages, by their way
  /// Calls that grids' blocks have left to the next one; those of them that one MPI_Waitall has
  /// sent and received; and those whose messages it has found, once they had been made.
  unsigned long long left, exchanged, found;
  Channel channels[max_channels + max_peers];
  std::uint64_t *peer_acks[max_peers]; ///< each in its own memory, or for the relay
  Offer *offers;                       ///< this rank's
  unsigned long long offers_used;      ///< those behind have never been made
  unsigned long long asked[64];        ///< buffers that the host has been asked to offer
  /// Where the others' offers are mapped, words as packets with an offer's number; and of which the
  /// host has been asked to map them.
  alignas(16) std::uint64_t mapped[max_peers][max_offers][packet_words]; // loaded as packets are
  std::uint32_t asked_to_map[max_peers][max_offers];
  std::uint32_t owner[max_peers]; ///< 1: somebody owns the owned channel to it
  Line sending[max_channels], receiving[max_channels];
  Request requests[max_requests];
  Comm comms[max_comms];
  /// By receiver: the last use of each token. Who owns the channel to it writes them.
  std::uint32_t wide_uses[max_peers][wide_tokens];
  unsigned long long wide; ///< such messages that have been sent, for statistics
  Channel streams[max_peers]; ///< to and from each rank
  /// By rank that sends: the number of the next bundle, and 1 while a message is streamed.
  unsigned long long stream_next[max_peers];
  std::uint32_t stream_busy[max_peers];
  unsigned long long streamed; ///< messages that have been sent so, for statistics
  Kept kept[first_wide_kept + wide_kept];
};

/// Of a state that is zero otherwise: nothing is posted or kept, and all places are free.
inline void empty_lists(State &state) {
  for (std::uint32_t i = 0; i < match_lists; ++i)
    state.posted[i].first = state.kept_lists[i].first = nothing;
  state.posted_any_tag.first = nothing;
  for (std::uint32_t i = 0; i < first_wide_kept; ++i)
    state.kept[i].next = i + 1 == small_kept || i + 1 == first_wide_kept ? nothing : i + 1;
  state.free_small = 0;
  state.free_large = small_kept;
}

} // namespace gmpi::peer
