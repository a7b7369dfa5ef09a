// What the one member of a team that decides tells the others: in the block's shared memory or, of
// a thread alone, in its own.
#pragma once

#include "../mpi/begun.hpp"
#include "../queue/context.hpp"
#include "work.hpp"

namespace gmpi::peer {

/// Whose call it is.
struct Call {
  Function function;
  Scope scope;
  Site site;
};

/// What is waited for: a request's end, slots of a channel, the others of a collective call or, by
/// MPI_Probe, a message.
struct Wait {
  enum For : std::uint32_t { request_done, slots, others, message } what;
  Call call;
  const Comm *comm;
  const Round *round;    ///< of a collective call, its first; else null
  std::uint32_t request; ///< or `nothing`
  std::uint32_t channel;
  unsigned long long first, until; ///< slot numbers
  int rank, tag;                   ///< for reports; of a collective call, its root
  unsigned long long since;
  std::uint32_t told; ///< the request slot under which the proxy knows of it, or `nothing`
};

/// A block's long messages that its first warp has begun: see quick_long_device.hpp.
struct LongCall {
  std::uint32_t sending, receiving; ///< their requests, or `nothing`
  std::uint32_t to;                 ///< the peer that is sent to
  std::uint32_t send_lap, receive_lap;
  std::uint64_t *in; ///< what comes there next, in slot number `next`, may be what is received
  unsigned long long next;
  unsigned long long room; ///< for what is received, and whose it is
  int source;
  bool want_status;
  Begun then;       ///< how far a grid's call has come when what it sends is there: over, or sent
  bool streams;     ///< all blocks of a grid wait to stream what it sends
  bool goes_on;     ///< others follow, and the grid's call is not over with what it receives
  const Comm *comm; ///< where `offered`: of what is received, with what has been found of it in
  void *data;       ///< block.peer.arrived
};

/// How all blocks of a grid carry a span: the last four are long messages. Of streams `first` says
/// the first bundle, or chunk; one that is stored goes straight to where it belongs, `ring`. An
/// exchange is a stream that is read while another message, at `ring`, is sent: see Outgoing.
enum class SpanWay : std::uint32_t {
  packets,
  dense,
  apart,
  near_stream,
  far_stream,
  store,
  exchange
};

/// A short message that all of a block write, or whose data they read: see span_device.hpp. Or one
/// that all blocks of a grid do.
struct Span {
  std::uint64_t *ring;
  std::uint32_t *freed; ///< where slots that are read are given back; null: it is written
  unsigned char *data;
  unsigned long long first; ///< the message's first slot
  std::uint32_t bytes;
  Begun then;                       ///< how far its call has come when it has been carried
  std::uint32_t route;              ///< of one that is written
  unsigned long long free_until;    ///< of that
  std::uint32_t peer;               ///< of one that is read: whose channels are held
  unsigned long long common, owned; ///< and how far they are read then
  std::uint32_t told;               ///< when it has been written: waits that the proxy knows of
  SpanWay way;                      ///< of one that all blocks of a grid carry
  bool reads;
  std::uint16_t serial; ///< of a wide one, as its header says
};

/// What an exchange sends while it reads block.peer.span (exchange_device.hpp).
struct Outgoing {
  enum How : std::uint32_t {
    not_now,  ///< its answer has not come soon, or says otherwise: that is for the general way
    streamed, ///< from bundle number `where` on
    stored,   ///< at address `where`
  } how;
  std::uint32_t bytes;
  std::uint32_t leader; ///< the number of the block that makes the grid's call
  std::uint32_t peer;
  std::uint64_t where;
};

/// A message that a block's first warp has found, while it holds its channels.
struct Arrived {
  unsigned long long common, owned; ///< how far this rank has come in these
  std::uint32_t channel;            ///< the message's
  Header header;
};

struct Share {
  Span span;
  Arrived arrived;
  Work work;
  Step step;
  Wait wait;
  Round round;
  std::uint32_t carried; ///< of a block's carriers of several rounds, so many have done their share
  std::uint32_t request; ///< what is left of a call, or `nothing`
  std::uint32_t sending; ///< of a matched MPI_Sendrecv, what is left of its other half, likewise
  std::uint32_t place;   ///< where its message has been kept, or `nothing`
  LongCall long_call;
  std::uint64_t *landed;    ///< where the receiver is told that a message has been stored, with
  std::uint32_t landed_lap; ///< that lap
  bool waits;               ///< slots must become free first
  bool answers;             ///< once the step is carried, the call returns something
  bool shares;              ///< the grid's other blocks are to take part
  unsigned long long limit; ///< below it they are
  bool truncated;
  CallResult result;
  // Of the launch's SharedTransfers, by transfer:
  unsigned long long claims[SharedTransfers::most]; ///< portions that this block has taken
  unsigned long long limits[SharedTransfers::most]; ///< as they have been told
  bool ended[SharedTransfers::most];
  std::uint32_t chosen; ///< the next to work on, or `nothing`
  Outgoing outgoing;
};

} // namespace gmpi::peer
