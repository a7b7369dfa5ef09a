// What relays say to each other: records, many of them in one MPI message; runs of long messages'
// data, each as it is in an MPI message of its own; and both on their way out.
//
// Invariant: a rank's records reach another in the order in which they were added, and so do the
// runs of its channel, and those of its stream. A record tells of a run before it is received.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

namespace gmpi::peer {

/// What a kernel has written for another rank's kernels. Words of data may follow.
struct RelayRecord {
  static constexpr std::uint32_t places = 2; ///< a channel, of wide messages' places
  enum What : std::uint32_t {
    packets,  ///< of the channel `where` (1: the owned one) from slot number `first` on
    portions, ///< of it, from there on, whose data is `more` bytes of runs; its first packets
    portion,  ///< the same of one, whose data follows these packets
    placed,   ///< a wide message's header there, whose data is `more` bytes in a run
    chunks,   ///< of the stream, from number `first` on: `more` bytes in a run
    freed,    ///< `count` slots of a channel
    match,    ///< the answer to request `where`, in its use `first`: one word, or both
    round,    ///< of the communicator with context `where`: rank `more`'s part of round `first`
  } what;
  std::uint32_t where;
  std::uint64_t first;
  std::uint32_t count; ///< words that follow, but for `freed`
  std::uint32_t more;  ///< of packets: who awaits an answer, or 0; of others as above

  std::size_t words() const { return what == freed ? 0 : count; }
};
/// Whether its data comes in runs, and it is delivered with the last of them.
constexpr bool has_runs(const RelayRecord &record) {
  return record.what == RelayRecord::portions || record.what == RelayRecord::chunks ||
         record.what == RelayRecord::placed;
}
constexpr std::size_t record_words = sizeof(RelayRecord) / sizeof(std::uint64_t);
static_assert(sizeof(RelayRecord) == record_words * sizeof(std::uint64_t));

struct RelayMessage {
  static constexpr std::size_t most_words = 16384;

  std::unique_ptr<std::uint64_t[]> words =
      std::make_unique_for_overwrite<std::uint64_t[]>(most_words);
  std::size_t used = 0;

  /// Calls `deliver` for each record.
  template <class Deliver> void for_each_record(Deliver deliver) const {
    for (std::size_t at = 0; at < used;) {
      RelayRecord record;
      std::memcpy(&record, words.get() + at, sizeof(record));
      deliver(record, words.get() + at + record_words);
      at += record_words + record.words();
    }
  }
};

/// Data that lies together: of a channel's portions, in slots from number `first` to before
/// `behind`, or in one of a wide message's place, or of a stream's chunks of these numbers. Either
/// go out one behind the other.
struct RelayRun {
  unsigned char *data;
  std::size_t bytes;
  std::uint32_t channel; ///< as RelayRecord has it
  unsigned long long first, behind;
};
enum class RunsOf { channel, stream };

class RelayOutbox {
public:
  static constexpr std::size_t most_messages = 8; ///< on their way; then records have to wait
  static constexpr std::size_t most_runs = 2;     ///< likewise; what waits makes longer ones

  /// Where the words of a record go that add() is called for next. Null where too much is on its
  /// way already, unless it `must` be.
  std::uint64_t *room(std::size_t words, bool must = false) {
    if (message_.used + record_words + words > RelayMessage::most_words)
      close();
    if (message_.used == 0 && on_their_way() >= most_messages && !must)
      return nullptr;
    return message_.words.get() + message_.used + record_words;
  }
  void add(const RelayRecord &record) {
    std::memcpy(message_.words.get() + message_.used, &record, sizeof(record));
    message_.used += record_words + record.words();
  }
  /// The next message, if there is one: its sender gives it back.
  bool take(RelayMessage &message) {
    if (message_.used != 0)
      close();
    if (ready_.empty())
      return false;
    message = std::move(ready_.front());
    ready_.pop_front();
    ++sending_;
    return true;
  }
  void give_back(RelayMessage message) {
    --sending_;
    message.used = 0;
    spare_.push_back(std::move(message));
  }
  std::size_t on_their_way() const {
    std::size_t all = ready_.size() + sending_;
    for (const Runs &runs : runs_)
      all += runs.on_their_way();
    return all;
  }

  bool takes_runs(RunsOf of) const { return runs_[int(of)].on_their_way() < most_runs; }
  void add_run(RunsOf of, const RelayRun &run) { runs_[int(of)].ready.push_back(run); }
  /// The next run, if there is one: its sender says when it has been sent.
  bool take_run(RunsOf of, RelayRun &run) {
    Runs &runs = runs_[int(of)];
    if (runs.ready.empty())
      return false;
    run = runs.ready.front();
    runs.ready.pop_front();
    ++runs.sending;
    return true;
  }
  void note_run_sent(RunsOf of) { --runs_[int(of)].sending; }

private:
  struct Runs {
    std::deque<RelayRun> ready;
    std::size_t sending = 0;
    std::size_t on_their_way() const { return ready.size() + sending; }
  };
  void close() {
    ready_.push_back(std::move(message_));
    if (spare_.empty()) {
      message_ = {};
      return;
    }
    message_ = std::move(spare_.back());
    spare_.pop_back();
  }

  RelayMessage message_; ///< the one that is being filled
  std::deque<RelayMessage> ready_;
  std::size_t sending_ = 0;
  std::vector<RelayMessage> spare_;
  std::array<Runs, 2> runs_;
};

} // namespace gmpi::peer
