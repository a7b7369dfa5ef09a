// The deadlock detector, with all ranks played here: what a round of probes finds, and what it must
// not find.
#include "proxy/deadlock_detector.hpp"

#include <gtest/gtest.h>

#include <deque>

using namespace gmpi;
using std::chrono::seconds;

namespace {

PeerWait wait_for(Ranks needs, std::uint64_t identity = 1) {
  PeerWait wait;
  wait.call = "MPI_Recv from rank " + std::to_string(needs.empty() ? -1 : needs.front());
  wait.identity = identity;
  wait.needs = std::move(needs);
  return wait;
}

Standing blocked_in(PeerWait wait) {
  Standing standing;
  standing.stalled = standing.blocked = true;
  standing.waits = {std::move(wait)};
  return standing;
}

Standing finished() {
  Standing standing;
  standing.finished = true;
  return standing;
}

PeerWait barrier(Ranks others) {
  PeerWait wait = wait_for(std::move(others));
  wait.call = "MPI_Barrier";
  wait.collective = true;
  return wait;
}

/// Ranks and the messages between them.
struct Job {
  explicit Job(int size) : standings(static_cast<std::size_t>(size)) {
    for (int rank = 0; rank < size; ++rank)
      detectors.emplace_back(rank, seconds(1));
  }

  void send(int from, const DeadlockDetector::Outbox &outbox) {
    for (const auto &[to, message] : outbox)
      mail.push_back({from, to, message});
  }

  /// One rank asks, and all that follows from it happens.
  void ask(int rank) {
    auto r = static_cast<std::size_t>(rank);
    send(rank, detectors[r].ask(standings[r]));
    deliver();
  }
  void deliver() {
    for (; !mail.empty(); mail.pop_front()) {
      auto [from, to, message] = mail.front();
      auto r = static_cast<std::size_t>(to);
      ++delivered;
      send(to, detectors[r].receive(from, message, standings[r], now));
    }
  }
  /// All that are stalled ask; a second passes.
  void round() {
    for (std::size_t rank = 0; rank < standings.size(); ++rank)
      if (standings[rank].stalled)
        ask(static_cast<int>(rank));
    now += seconds(1);
  }
  std::optional<Verdict> verdict(int rank) {
    auto r = static_cast<std::size_t>(rank);
    return detectors[r].verdict(standings[r], now);
  }
  bool silent() {
    for (std::size_t rank = 0; rank < standings.size(); ++rank)
      if (verdict(static_cast<int>(rank)))
        return false;
    return true;
  }

  struct Mail {
    int from, to;
    PeerMessage message;
  };
  std::vector<Standing> standings;
  std::vector<DeadlockDetector> detectors;
  std::deque<Mail> mail;
  DeadlockDetector::Time now{};
  int delivered = 0;
};

TEST(DeadlockDetector, TwoRanksInACycleAfterTwoRounds) {
  Job job(2);
  job.standings[0] = blocked_in(wait_for({1}));
  job.standings[1] = blocked_in(wait_for({0}));
  job.round();
  EXPECT_TRUE(job.silent());
  job.round();
  auto verdict = job.verdict(0);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->fatal);
  EXPECT_EQ(verdict->text,
            "deadlock: rank 0 waits in MPI_Recv from rank 1; rank 1 waits in MPI_Recv "
            "from rank 0");
  EXPECT_FALSE(job.verdict(1)); // it is for the lowest rank to tell
}

TEST(DeadlockDetector, OnlyTheRanksOfTheCycleAreNamed) {
  Job job(4); // 3 -> 0 -> 1 -> 2 -> 1
  job.standings[0] = blocked_in(wait_for({1}));
  job.standings[1] = blocked_in(wait_for({2}));
  job.standings[2] = blocked_in(wait_for({1}));
  job.standings[3] = blocked_in(wait_for({0}));
  job.round();
  job.round();
  EXPECT_FALSE(job.verdict(0));
  auto verdict = job.verdict(1);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->text,
            "deadlock: rank 1 waits in MPI_Recv from rank 2; rank 2 waits in MPI_Recv "
            "from rank 1");
}

TEST(DeadlockDetector, ARankThatWaitsForItself) {
  Job job(1);
  job.standings[0] = blocked_in(wait_for({0}));
  job.round();
  EXPECT_TRUE(job.silent());
  job.round();
  EXPECT_TRUE(job.verdict(0)->fatal);
}

TEST(DeadlockDetector, AnotherThreadMaySendToItsOwnRank) {
  Job job(1);
  job.standings[0] = blocked_in(wait_for({0}));
  job.standings[0].blocked = false;
  for (int i = 0; i < 3; ++i)
    job.round();
  EXPECT_TRUE(job.silent());
}

TEST(DeadlockDetector, ALivingRankBreaksTheChain) {
  Job job(3);
  job.standings[0] = blocked_in(wait_for({1}));
  job.standings[1] = blocked_in(wait_for({2}));
  for (int i = 0; i < 3; ++i)
    job.round();
  EXPECT_TRUE(job.silent());
}

TEST(DeadlockDetector, ARankThatHasMovedBetweenTheRounds) {
  Job job(2);
  job.standings[0] = blocked_in(wait_for({1}));
  for (std::uint64_t call = 1; call < 6; ++call) {
    job.standings[1] = blocked_in(wait_for({0}, call));
    job.round();
    EXPECT_TRUE(job.silent());
  }
}

TEST(DeadlockDetector, AHostProgramThatHasMovedBetweenTheRounds) {
  Job job(2);
  job.standings[0] = blocked_in(wait_for({1}));
  job.standings[1] = blocked_in(wait_for({0}));
  for (std::uint64_t wait = 1; wait < 6; ++wait) {
    job.standings[1].host_wait = wait;
    job.round();
    EXPECT_TRUE(job.silent());
  }
}

TEST(DeadlockDetector, ProgressOfTheInitiatorVoidsWhatItHeard) {
  Job job(2);
  job.standings[0] = blocked_in(wait_for({1}));
  job.standings[1] = blocked_in(wait_for({0}));
  job.round();
  job.send(0, job.detectors[0].ask(job.standings[0]));
  job.detectors[0].reset();
  job.deliver(); // the answer to a question from before
  EXPECT_TRUE(job.silent());
  job.round();
  EXPECT_TRUE(job.silent());
  job.round();
  EXPECT_FALSE(job.silent());
}

TEST(DeadlockDetector, AMessageMayBeOnItsWay) {
  Job job(2);
  job.standings[0] = blocked_in(wait_for({1}));
  job.standings[1] = blocked_in(wait_for({0}));
  job.standings[1].sending_to = {0};
  for (int i = 0; i < 3; ++i)
    job.round();
  EXPECT_TRUE(job.silent());
}

/// In a send to that rank, which has not received it.
Standing sends_to(int rank) {
  PeerWait wait = wait_for({rank});
  wait.call = "MPI_Ssend to rank " + std::to_string(rank);
  wait.receivers = {rank};
  Standing standing = blocked_in(wait);
  standing.sending_to = {rank};
  return standing;
}

TEST(DeadlockDetector, TwoRanksThatSendToEachOther) {
  Job job(2);
  job.standings[0] = sends_to(1);
  job.standings[1] = sends_to(0);
  job.round();
  job.round();
  auto found = job.verdict(0);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->fatal);
  EXPECT_EQ(found->text, "deadlock: rank 0 waits in MPI_Ssend to rank 1; rank 1 waits in MPI_Ssend "
                         "to rank 0");
}

TEST(DeadlockDetector, WhatIsSentMayBeReceivedYet) {
  for (bool from_any : {false, true}) {
    Job job(2);
    job.standings[0] = sends_to(1);
    job.standings[1] = sends_to(0);
    if (from_any)
      job.standings[1].receiving_from_any = true;
    else
      job.standings[1].receiving_from = {0};
    for (int i = 0; i < 3; ++i)
      job.round();
    EXPECT_TRUE(job.silent());
  }
}

TEST(DeadlockDetector, TwoRanksThatExchange) {
  Job job(2);
  for (int rank : {0, 1}) {
    Standing standing = sends_to(1 - rank);
    standing.waits[0].needs = {1 - rank, 1 - rank};
    standing.receiving_from = {1 - rank};
    job.standings[static_cast<std::size_t>(rank)] = standing;
  }
  for (int i = 0; i < 3; ++i)
    job.round();
  EXPECT_TRUE(job.silent());
}

TEST(DeadlockDetector, WhereOtherThreadsMayActACycleIsToldOnceOnly) {
  Job job(2);
  job.standings[0] = blocked_in(wait_for({1}));
  job.standings[1] = blocked_in(wait_for({0}));
  job.standings[1].blocked = false;
  job.round();
  job.round();
  auto verdict = job.verdict(0);
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->fatal);
  EXPECT_EQ(
      verdict->text,
      "ranks wait for each other: rank 0 waits in MPI_Recv from rank 1; rank 1 waits in "
      "MPI_Recv from rank 0; other threads or a host program may still act, so the job goes on "
      "(GMPI_TIMEOUT=SECONDS would end it)");
  job.round();
  EXPECT_TRUE(job.silent());
}

TEST(DeadlockDetector, ACertainCycleBesideAnUncertainOne) {
  Job job(4);
  job.standings[0] = blocked_in(wait_for({1, 2}));
  job.standings[1] = blocked_in(wait_for({3}));
  job.standings[1].blocked = false;
  job.standings[2] = blocked_in(wait_for({3}));
  job.standings[3] = blocked_in(wait_for({0}));
  job.round();
  job.round();
  auto verdict = job.verdict(0);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->fatal);
  EXPECT_EQ(verdict->text.find("rank 1 waits"), std::string::npos);
}

TEST(DeadlockDetector, AFinishedPeerOnceItsLastMessagesMustHaveArrived) {
  Job job(2);
  job.standings[0] = blocked_in(wait_for({1}));
  job.standings[1] = finished();
  job.ask(0);
  EXPECT_FALSE(job.verdict(0));
  job.now += seconds(2);
  auto verdict = job.verdict(0);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->fatal);
  EXPECT_EQ(verdict->text, "waits in MPI_Recv from rank 1 for rank 1, which has finished");
}

TEST(DeadlockDetector, AFinishedPeerEndsACallOfOneThreadToo) {
  Job job(2);
  job.standings[0] = blocked_in(wait_for({1}));
  job.standings[0].blocked = false;
  job.standings[1] = finished();
  job.round();
  EXPECT_TRUE(job.verdict(0)->fatal);
}

TEST(DeadlockDetector, AFinishedRankThatStillSends) {
  Job job(2);
  job.standings[0] = blocked_in(wait_for({1}));
  job.standings[1] = finished();
  job.standings[1].sending_to = {0};
  job.round();
  job.round();
  EXPECT_TRUE(job.silent());
}

TEST(DeadlockDetector, AnySourceIsLostOnceAllHaveFinished) {
  Job job(3);
  PeerWait wait = wait_for({});
  wait.call = "MPI_Recv from any rank";
  wait.any = std::make_shared<const Ranks>(Ranks{1, 2});
  job.standings[0] = blocked_in(wait);
  job.standings[1] = finished();
  job.round();
  job.round();
  EXPECT_TRUE(job.silent());
  job.standings[2] = finished();
  job.round();
  auto verdict = job.verdict(0);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->fatal);
  EXPECT_EQ(verdict->text, "waits in MPI_Recv from any rank, and all other ranks have finished");
}

TEST(DeadlockDetector, AnySourceMayBeServedByAnotherThreadOfTheRank) {
  Job job(2);
  PeerWait wait = wait_for({});
  wait.any = std::make_shared<const Ranks>(Ranks{1});
  job.standings[0] = blocked_in(wait);
  job.standings[0].blocked = false;
  job.standings[1] = finished();
  job.round();
  EXPECT_FALSE(job.verdict(0)->fatal);
}

TEST(DeadlockDetector, ACollectiveWaitsForARankThatIsElsewhere) {
  Job job(3);
  job.standings[0] = blocked_in(barrier({1, 2}));
  job.standings[1] = blocked_in(wait_for({0}));
  job.round();
  job.round();
  auto verdict = job.verdict(0);
  ASSERT_TRUE(verdict);
  EXPECT_EQ(verdict->text,
            "deadlock: rank 0 waits in MPI_Barrier; rank 1 waits in MPI_Recv from rank 0");
}

TEST(DeadlockDetector, RanksInOneCollectiveDoNotWaitForEachOther) {
  Job job(3);
  job.standings[0] = blocked_in(barrier({1, 2}));
  job.standings[1] = blocked_in(barrier({0, 2}));
  for (int i = 0; i < 3; ++i)
    job.round();
  EXPECT_TRUE(job.silent());
}

TEST(DeadlockDetector, ALargeBarrierAsksAFewRanksAtATime) {
  constexpr int size = 100;
  Job job(size);
  for (int rank = 0; rank < size - 1; ++rank) {
    Ranks others;
    for (int other = 0; other < size; ++other)
      if (other != rank)
        others.push_back(other);
    job.standings[static_cast<std::size_t>(rank)] = blocked_in(barrier(others));
  }
  job.standings[size - 1] = blocked_in(wait_for({0}));
  int rounds = 0;
  bool found = false;
  for (; !found && rounds < 20; ++rounds) {
    job.delivered = 0;
    job.round();
    EXPECT_LT(job.delivered, size * 20);
    for (int rank = 0; rank < size; ++rank)
      if (auto verdict = job.verdict(rank))
        found |= verdict->fatal;
  }
  EXPECT_TRUE(found);
}

TEST(DeadlockDetector, ALongCycleIsShortenedInItsText) {
  constexpr int size = 300;
  Job job(size);
  for (int rank = 0; rank < size; ++rank)
    job.standings[static_cast<std::size_t>(rank)] = blocked_in(wait_for({(rank + 1) % size}));
  job.round();
  job.round();
  auto verdict = job.verdict(0);
  ASSERT_TRUE(verdict);
  EXPECT_LT(verdict->text.size(), 3200u);
  EXPECT_EQ(verdict->text.substr(verdict->text.size() - 5), "; ...");
}

} // namespace
