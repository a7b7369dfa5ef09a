// Who waits for whom across ranks: the algorithm alone, without MPI, so that tests can play all
// ranks. It is Chandy, Misra and Haas's edge chasing (ACM TOCS 1983): a stalled rank sends a probe
// to each rank it needs; a rank that is stalled itself passes it on to the ranks that it needs; a
// probe that comes back to its initiator has travelled along a cycle. A rank that has finished
// answers a probe that comes straight from its initiator.
//
// Why a cycle that is reported is one. Each rank on the way vouches that it has been blocked in one
// call since before the probe came, and that it is sending nothing to the rank the probe came from;
// or, where that rank waits for this one to receive, that it is receiving nothing from it.
// A probe's fingerprint holds which calls these were; a cycle counts once a second probe, begun
// after the first one's return, has come back with the same fingerprint: then there was a moment at
// which all ranks of the cycle were blocked at once, and none of them can move but by another one's
// doing. A rank that may still move otherwise (see Standing::blocked) passes probes on as
// uncertain; a cycle with one of those on it is told, and never acted on.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gmpi {

using Ranks = std::vector<int>; ///< in MPI_COMM_WORLD

/// A call that somebody waits in.
struct PeerWait {
  std::string call;           ///< "MPI_Recv from rank 1, tag 0 (grid scope, a.cu:12, for 61 s)"
  std::uint64_t identity = 0; ///< differs from every other wait of this rank
  Ranks needs;                ///< it ends only if each of these acts
  Ranks receivers;            ///< those of them that have to receive something
  std::shared_ptr<const Ranks> any; ///< and, if set, one of these
  bool collective = false;
};

/// How a rank stands at the moment.
struct Standing {
  bool finished = false; ///< has called MPI_Finalize
  bool stalled = false;  ///< no progress for long, and something is waited for
  /// Nothing in this rank can act before the one call in `waits` ends. Else other threads may.
  bool blocked = false;
  std::uint64_t host_wait = 0; ///< which wait the host program is in
  std::vector<PeerWait> waits;
  std::set<int> sending_to;     ///< ranks for which a send is not complete
  std::set<int> receiving_from; ///< and a receive
  bool receiving_from_any = false;
};

/// What ranks tell each other. `text` is a clause for each rank: "rank 0 waits in ...; rank 1 ...".
struct PeerMessage {
  enum Kind : std::int32_t { probe, finished } kind = probe;
  std::int32_t initiator = 0;
  std::int32_t hops = 0;       ///< ranks that `text` speaks of
  std::uint8_t uncertain = 0;  ///< a rank on the way may act otherwise
  std::uint8_t chase = 0;      ///< may be passed on; else only asks whether the rank has finished
  std::uint8_t collective = 0; ///< the last rank on the way waits in a collective
  std::uint8_t sends = 0;      ///< it waits for this one to receive, and for nothing else of it
  std::uint64_t round = 0;     ///< the initiator's
  std::uint64_t fingerprint = 0;
  std::string text;
};

struct Verdict {
  bool fatal;
  std::string text;
};

class DeadlockDetector {
public:
  using Time = std::chrono::steady_clock::time_point;
  using Outbox = std::vector<std::pair<int, PeerMessage>>;

  /// `patience`: for how long a message that a finished rank has sent may be under way.
  DeadlockDetector(int rank, std::chrono::duration<double> patience)
      : rank_(rank), patience_(patience) {}

  /// A round of questions, while stalled.
  Outbox ask(const Standing &standing);
  /// A message from `sender`; returns what to send on. May lead to a verdict.
  Outbox receive(int sender, const PeerMessage &message, const Standing &standing, Time now);
  /// What is known by now, each thing once.
  std::optional<Verdict> verdict(const Standing &standing, Time now);
  /// Something moved: what was heard of cycles is void.
  void reset();

private:
  Outbox pass_on(const PeerMessage &message, const Standing &standing);
  void comes_home(const PeerMessage &message, const Standing &standing);
  bool known_finished(int rank, Time now) const;
  std::optional<Verdict> dead_peer(const Standing &standing, const PeerWait &wait, Time now);
  std::optional<Verdict> tell_once(bool fatal, std::string text, std::uint64_t what);

  int rank_;
  std::chrono::duration<double> patience_;
  std::uint64_t round_ = 0, first_round_ = 1; ///< the latest; the first since something moved
  std::size_t turn_ = 0;                      ///< where the next round goes on in long lists
  std::map<int, Time> finished_;
  std::map<std::uint64_t, std::uint64_t> returned_; ///< fingerprint: the round when it first came
  std::map<std::pair<int, int>, std::uint64_t> passed_on_; ///< initiator, certainty: latest round
  std::optional<Verdict> cycle_;
  std::uint64_t cycle_fingerprint_ = 0;
  std::set<std::uint64_t> told_;
};

} // namespace gmpi
