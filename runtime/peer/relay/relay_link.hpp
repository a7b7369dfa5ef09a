// The way between this rank's kernels and those of a rank on another host: page-locked memory that
// stands for the other rank's, and for what it would write here. Without MPI: it makes records of
// what kernels have written, and writes what has come.
//
// Invariant: what kernels find here is what they would find if the other rank's kernels wrote it
// themselves, in any order in which those could have written it. So it does not matter to them, and
// all they rely on holds by itself:
// - Packets show their lap, each by itself, so nobody needs them in any order; those that begin a
//   message or a portion are written last, so nobody waits in the middle of one.
// - A slot is written again when its receiver has freed it. That is told when the kernel has
//   written it, which is when it has read all packets; so the relay, which has brought them, has
//   long read them where they came from.
// - An answer is looked for once the message that wants it has been delivered; its place is cleared
//   when it has been read, so no later message finds it there.
// A message's header and what follows it go out as soon as each is there, whether what was before
// it is or not, as long as the header before it is: so far a receiver's kernels see, too.
// Data that goes as it is is not looked at here: it lies behind the channels' rings, in the places
// of wide messages, or in the stream's ring, in runs that go from one rank's memory straight to the
// other's, but for a few KiB, which are copied. What is there while others are on their way goes
// out together. A stream's chunk is free again at the sender when it has been sent, and may be
// received when the receiver has freed it there. A place is both when its token has come back.
#pragma once

#include "../layout.hpp"
#include "host_packets.hpp"
#include "relay_message.hpp"

#include <array>
#include <vector>

namespace gmpi::peer {

class RelayLink {
public:
  /// Of page-locked memory, zeroed at first.
  static std::size_t bytes();
  /// `far_acks`: where this rank's kernels look for answers from other hosts; `far_news`: for what
  /// has come.
  RelayLink(unsigned char *memory, std::uint64_t *far_acks, std::uint64_t *far_news);

  /// For State, as if they led to the other rank's memory.
  Channel channel(bool owned) const;
  Channel stream() const { return stream_; }
  Channel places() const { return places_; } ///< place_channel()
  std::uint64_t *acks() const { return acks_; }

  /// What is new for the other rank; false where nothing is.
  bool collect(RelayOutbox &outbox);
  /// Where the runs of a record go that has come, of portions, chunks or a wide message: two across
  /// the ring's end, else the second has no bytes. It is delivered, with the same `data`, when all
  /// of them have come.
  std::array<RelayRun, 2> runs_of(const RelayRecord &record, const std::uint64_t *data) const;
  /// Whether they may be received already.
  bool has_room(const RelayRecord &record) const;
  /// A run of chunks has been sent.
  void note_sent(const RelayRun &chunks);
  void deliver(const RelayRecord &record, const std::uint64_t *data);

  struct Counts {
    unsigned long long messages = 0, bytes = 0; ///< that have gone out
  };
  const Counts &counts() const { return counts_; }

private:
  /// A message's data, portion by portion.
  struct Portions {
    unsigned long long first; ///< slot number
    Header header;
    unsigned long long collected = 0; ///< slots
    unsigned long long slots() const { return carried_slots(header); }
  };
  /// A message that has been delivered, and wants an answer: the sender's request.
  struct Awaited {
    std::uint32_t request, serial;
  };
  struct End {
    Channel channel;
    unsigned long long next = 0;     ///< slot of the next message to go out
    std::vector<Portions> portions;  ///< on their way out
    unsigned long long front = 0;    ///< all slots before have been freed, and that was told
    unsigned long long end = 0;      ///< none of these and those behind has been delivered
    unsigned long long looked = 0;   ///< how far others than those at the front were looked at
    std::vector<std::uint32_t> told; ///< by slot: the last lap in which it was told to be free
  };

  bool collect_messages(End &end, RelayOutbox &outbox);
  bool collect_message(End &end, const Header &header, RelayOutbox &outbox);
  bool collect_portions(End &end, Portions &portions, RelayOutbox &outbox);
  bool collect_placed(const End &end, const Header &header, RelayOutbox &outbox);
  bool collect_places(RelayOutbox &outbox);
  void deliver_portions(End &end, const RelayRecord &record, const std::uint64_t *header);
  void deliver_portion(End &end, RelayRecord record, const std::uint64_t *words);
  void deliver_chunks(const RelayRecord &record);
  void note_delivered(End &end, unsigned long long behind);
  bool collect_freed(End &end, RelayOutbox &outbox);
  bool collect_freed(End &end, unsigned long long from, unsigned long long to, RelayOutbox &outbox);
  bool collect_answers(RelayOutbox &outbox);
  bool collect_chunks(RelayOutbox &outbox);
  std::uint32_t is_owned(const End &end) const { return &end == &ends_[1]; }

  std::array<End, 2> ends_; ///< of the common channels, and of the owned ones
  Channel stream_, places_;
  std::array<std::uint32_t, far_tokens> returned_{}; ///< the use of each place told last to be over
  unsigned long long next_chunk_ = 0;                ///< to go out
  std::uint64_t *acks_, *far_acks_, *far_news_;
  std::vector<Awaited> awaited_;
  Counts counts_;
};

} // namespace gmpi::peer
