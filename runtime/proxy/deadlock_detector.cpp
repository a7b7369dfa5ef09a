// Edge chasing, and what to make of a finished rank.
#include "deadlock_detector.hpp"

#include <algorithm>

namespace gmpi {

namespace {

/// Ranks asked a round; long lists are gone through in turns.
constexpr std::size_t asked_at_once = 16;
/// Text that a message holds at most; ranks beyond it are counted.
constexpr std::size_t longest_text = 3000;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a ^ (b + 0x9E3779B97F4A7C15ull + (a << 6) + (a >> 2))) * 0xBF58476D1CE4E5B9ull;
  return x ^ x >> 31;
}

std::string name(int rank) { return "rank " + std::to_string(rank); }

/// The message with this rank's wait appended.
PeerMessage extend(PeerMessage message, int rank, const Standing &standing, const PeerWait &wait) {
  ++message.hops;
  message.collective = wait.collective;
  message.uncertain |= !standing.blocked;
  message.fingerprint = mix(mix(message.fingerprint, static_cast<std::uint64_t>(rank)),
                            mix(wait.identity, standing.host_wait));
  if (message.text.size() < longest_text)
    message.text += (message.text.empty() ? "" : "; ") + name(rank) + " waits in " + wait.call;
  else if (message.text.back() != '.')
    message.text += "; ...";
  return message;
}

/// The message as it goes to `rank`, one of those that the wait needs.
PeerMessage addressed(PeerMessage message, const PeerWait &wait, int rank) {
  const auto receives = std::count(wait.receivers.begin(), wait.receivers.end(), rank);
  message.sends =
      receives != 0 && receives == std::count(wait.needs.begin(), wait.needs.end(), rank);
  return message;
}

bool in_collective(const Standing &standing) {
  return std::any_of(standing.waits.begin(), standing.waits.end(),
                     [](const PeerWait &wait) { return wait.collective; });
}

/// The next few of `ranks`, which are many where everybody is waited for.
Ranks some_of(const Ranks &ranks, std::size_t turn) {
  if (ranks.size() <= asked_at_once)
    return ranks;
  Ranks some;
  for (std::size_t i = 0; i < asked_at_once; ++i)
    some.push_back(ranks[(turn * asked_at_once + i) % ranks.size()]);
  return some;
}

} // namespace

DeadlockDetector::Outbox DeadlockDetector::ask(const Standing &standing) {
  ++round_;
  ++turn_;
  Outbox outbox;
  for (const PeerWait &wait : standing.waits) {
    PeerMessage message;
    message.initiator = rank_;
    message.round = round_;
    message = extend(message, rank_, standing, wait);
    message.chase = 1;
    for (int rank : some_of(wait.needs, turn_)) {
      if (rank == rank_ && standing.blocked) // else another thread may send the message
        comes_home(message, standing);
      else if (rank != rank_ && finished_.count(rank) == 0)
        outbox.emplace_back(rank, addressed(message, wait, rank));
    }
    message.chase = 0;
    if (wait.any)
      for (int rank : some_of(*wait.any, turn_))
        if (finished_.count(rank) == 0)
          outbox.emplace_back(rank, message);
  }
  return outbox;
}

DeadlockDetector::Outbox DeadlockDetector::receive(int sender, const PeerMessage &message,
                                                   const Standing &standing, Time now) {
  if (message.kind == PeerMessage::finished) {
    finished_.emplace(sender, now);
    return {};
  }
  const bool receives = standing.receiving_from_any || standing.receiving_from.count(sender) != 0;
  if (message.sends && !standing.finished ? receives : standing.sending_to.count(sender) != 0)
    return {}; // what the sender waits for may be on its way
  if (standing.finished) {
    PeerMessage answer;
    answer.kind = PeerMessage::finished;
    return message.hops == 1 ? Outbox{{sender, answer}} : Outbox{};
  }
  // A rank that has not entered the other one's collective cannot have left it either; of one that
  // is in a collective too, it is not known which.
  if (!standing.stalled || !message.chase || (message.collective && in_collective(standing)))
    return {};
  if (message.initiator == rank_) {
    comes_home(message, standing);
    return {};
  }
  // Each cycle is for the lowest of its ranks to find.
  return rank_ < message.initiator ? Outbox{} : pass_on(message, standing);
}

DeadlockDetector::Outbox DeadlockDetector::pass_on(const PeerMessage &message,
                                                   const Standing &standing) {
  int certainty = message.uncertain || !standing.blocked;
  std::uint64_t &latest = passed_on_[{message.initiator, certainty}];
  if (message.round <= latest)
    return {};
  latest = message.round;
  ++turn_;
  Outbox outbox;
  for (const PeerWait &wait : standing.waits) {
    Ranks targets = some_of(wait.needs, turn_);
    bool goes_home = std::count(wait.needs.begin(), wait.needs.end(), message.initiator) != 0;
    if (goes_home && std::count(targets.begin(), targets.end(), message.initiator) == 0)
      targets.push_back(message.initiator);
    for (int rank : targets)
      if (rank != rank_ && finished_.count(rank) == 0)
        outbox.emplace_back(rank, addressed(extend(message, rank_, standing, wait), wait, rank));
  }
  return outbox;
}

void DeadlockDetector::comes_home(const PeerMessage &message, const Standing &standing) {
  if (message.round < first_round_)
    return;
  auto [found, first] = returned_.emplace(message.fingerprint, round_);
  if (first || message.round <= found->second)
    return;
  bool fatal = !message.uncertain && standing.blocked;
  if (cycle_ && cycle_->fatal && !fatal)
    return;
  cycle_ = Verdict{fatal, message.text};
  cycle_fingerprint_ = message.fingerprint;
}

void DeadlockDetector::reset() {
  first_round_ = round_ + 1;
  returned_.clear();
  cycle_.reset();
}

bool DeadlockDetector::known_finished(int rank, Time now) const {
  auto found = finished_.find(rank);
  return found != finished_.end() && now - found->second >= patience_;
}

std::optional<Verdict> DeadlockDetector::tell_once(bool fatal, std::string text,
                                                   std::uint64_t what) {
  if (!told_.insert(what).second)
    return {};
  return Verdict{fatal, std::move(text)};
}

std::optional<Verdict> DeadlockDetector::dead_peer(const Standing &standing, const PeerWait &wait,
                                                   Time now) {
  for (int rank : wait.needs)
    if (rank != rank_ && known_finished(rank, now))
      return tell_once(true,
                       "waits in " + wait.call + " for " + name(rank) + ", which has finished",
                       wait.identity);
  if (!wait.any || wait.any->empty() ||
      !std::all_of(wait.any->begin(), wait.any->end(),
                   [&](int rank) { return known_finished(rank, now); }))
    return {};
  std::string text = "waits in " + wait.call + ", and all other ranks have finished";
  if (standing.blocked || wait.collective)
    return tell_once(true, text, wait.identity);
  return tell_once(false, text + "; other threads of this rank may still act, so it goes on",
                   wait.identity);
}

std::optional<Verdict> DeadlockDetector::verdict(const Standing &standing, Time now) {
  if (!standing.stalled)
    return {};
  for (const PeerWait &wait : standing.waits)
    if (auto found = dead_peer(standing, wait, now))
      return found;
  if (!cycle_)
    return {};
  Verdict cycle = *std::exchange(cycle_, std::nullopt);
  if (cycle.fatal)
    return Verdict{true, "deadlock: " + cycle.text};
  return tell_once(false,
                   "ranks wait for each other: " + cycle.text +
                       "; other threads or a host program may still act, so the job goes on "
                       "(GMPI_TIMEOUT=SECONDS would end it)",
                   cycle_fingerprint_);
}

} // namespace gmpi
