// The proxies' part: MPI.
#include "relay.hpp"

#include "../../proxy/backoff.hpp"
#include "../../proxy/report.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstring>

namespace gmpi::peer {

namespace {

/// So long after the last kernel has ended, or anything has moved, nothing that kernels have stored
/// is still on its way to the host's memory.
constexpr auto settling = std::chrono::milliseconds(20);
constexpr int most_arrivals = 16; ///< before what has been written here goes out
enum Tag { of_records, of_channel, of_stream };
constexpr Tag tag_of(RunsOf of) { return of == RunsOf::channel ? of_channel : of_stream; }
constexpr RunsOf all_runs[] = {RunsOf::channel, RunsOf::stream};

} // namespace

Relay::~Relay() {
  for (void *memory : memory_)
    cudaFreeHost(memory);
}

void Relay::start() {
  PMPI_Comm_dup(MPI_COMM_WORLD, &comm_);
  PMPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  int size = 0;
  PMPI_Comm_size(comm_, &size);
  sent_.resize(size);
  received_.resize(size);
}

void Relay::check(int error) {
  if (error == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  PMPI_Error_string(error, text, &length);
  fatal("messages between kernels of different hosts cannot be carried any more: %s", text);
}

unsigned char *Relay::allocate(std::size_t bytes) {
  void *memory = nullptr;
  if (cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable) != cudaSuccess) {
    cudaGetLastError(); // messages have another way
    return nullptr;
  }
  std::memset(memory, 0, bytes);
  std::lock_guard lock(memory_mutex_);
  memory_.push_back(memory);
  return static_cast<unsigned char *>(memory);
}

Relay::Peer &Relay::peer(int rank) {
  auto [found, added] = peers_.try_emplace(rank);
  found->second.rank = rank;
  return found->second;
}

RelayLink *Relay::link(int rank) {
  {
    std::lock_guard lock(mutex_);
    if (auto found = peers_.find(rank); found != peers_.end() && found->second.link)
      return found->second.link.get();
  }
  if (far_acks_ == nullptr)
    far_acks_ =
        reinterpret_cast<std::uint64_t *>(allocate(Shared::acks_bytes + sizeof(std::uint64_t)));
  unsigned char *memory = far_acks_ == nullptr ? nullptr : allocate(RelayLink::bytes());
  if (memory == nullptr)
    return nullptr;
  std::lock_guard lock(mutex_);
  Peer &its = peer(rank);
  its.link = std::make_unique<RelayLink>(memory, far_acks_, far_news());
  active_ = true;
  return its.link.get();
}

void Relay::add_rounds(std::uint32_t context, std::uint64_t *memory, const std::vector<int> &ranks,
                       int own) {
  std::lock_guard lock(mutex_);
  Rounds rounds{RelayRounds(memory, context, static_cast<int>(ranks.size()), own), {}};
  for (int i = 0; i < static_cast<int>(ranks.size()); ++i)
    if (i != own)
      rounds.others.push_back(&peer(ranks[i]).outbox);
  rounds_.emplace(context, std::move(rounds));
  active_ = true;
}

void Relay::remove_rounds(std::uint32_t context) {
  std::lock_guard lock(mutex_);
  rounds_.erase(context);
}

bool Relay::collect() {
  bool moved = false;
  for (auto &[rank, peer] : peers_)
    if (peer.link)
      moved |= peer.link->collect(peer.outbox);
  for (auto &[context, rounds] : rounds_) {
    const std::uint32_t begun = rounds.rounds.begun();
    while (rounds.rounds.collect(rounds.others))
      moved = true;
    parts_ += (rounds.rounds.begun() - begun) * rounds.others.size();
  }
  for (auto &[rank, peer] : peers_)
    send(peer);
  return moved;
}

void Relay::send(Peer &peer) {
  for (Sending next; peer.outbox.take(next.message); next = {}) {
    check(PMPI_Isend(next.message.words.get(), static_cast<int>(next.message.used), MPI_UINT64_T,
                     peer.rank, of_records, comm_, &next.request));
    ++sent_[peer.rank];
    peer.sending.push_back(std::move(next));
  }
  for (RunsOf of : all_runs)
    for (SendingRun next; peer.outbox.take_run(of, next.run);) {
      check(PMPI_Isend(next.run.data, static_cast<int>(next.run.bytes), MPI_BYTE, peer.rank,
                       tag_of(of), comm_, &next.request));
      ++sent_[peer.rank];
      peer.runs[int(of)].sending.push_back(next);
    }
}

bool Relay::is_done(MPI_Request &request) {
  int done = 0;
  check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE));
  return done != 0;
}

bool Relay::complete_sends() {
  bool moved = false;
  for (auto &[rank, peer] : peers_) {
    for (; !peer.sending.empty() && is_done(peer.sending.front().request); moved = true) {
      peer.outbox.give_back(std::move(peer.sending.front().message));
      peer.sending.pop_front();
    }
    for (RunsOf of : all_runs)
      for (auto &runs = peer.runs[int(of)].sending; !runs.empty() && is_done(runs.front().request);
           moved = true) {
        peer.outbox.note_run_sent(of);
        if (of == RunsOf::stream)
          peer.link->note_sent(runs.front().run);
        runs.pop_front();
      }
  }
  return moved;
}

/// Slots that have been freed have arrived: that their data has been sent, MPI says at once.
void Relay::await_sent(Peer &peer, const RelayRecord &freed) {
  for (SendingRun &sending : peer.runs[int(RunsOf::channel)].sending)
    if (freed.where == sending.run.channel && sending.run.first < freed.first + freed.count &&
        freed.first < sending.run.behind)
      check(PMPI_Wait(&sending.request, MPI_STATUS_IGNORE));
}

void Relay::deliver(Peer &from, const RelayMessage &message) {
  ++received_[from.rank];
  message.for_each_record([&](const RelayRecord &record, const std::uint64_t *data) {
    if (has_runs(record))
      return await_runs(from, record, data);
    if (record.what == RelayRecord::freed)
      await_sent(from, record);
    if (record.what != RelayRecord::round)
      return from.link->deliver(record, data);
    auto rounds = rounds_.find(record.where);
    if (rounds != rounds_.end()) // else nobody waits for it any more
      rounds->second.rounds.deliver(record, data);
  });
}

void Relay::await_runs(Peer &from, const RelayRecord &record, const std::uint64_t *header) {
  const RunsOf of = record.what == RelayRecord::chunks ? RunsOf::stream : RunsOf::channel;
  auto &runs = from.runs[int(of)].arriving;
  for (const RelayRun &run : from.link->runs_of(record, header)) {
    if (run.bytes == 0)
      continue;
    ArrivingRun &arriving = runs.emplace_back();
    arriving.run = run;
    arriving.record = record;
    std::copy_n(header, record.count, arriving.header);
  }
  runs.back().is_last = true;
}

/// Begins to receive those that may be.
void Relay::receive_runs(Peer &from, RunsOf of) {
  for (Runs &runs = from.runs[int(of)]; runs.receiving != runs.arriving.size() &&
                                        from.link->has_room(runs.arriving[runs.receiving].record);
       ++runs.receiving) {
    ArrivingRun &next = runs.arriving[runs.receiving];
    check(PMPI_Irecv(next.run.data, static_cast<int>(next.run.bytes), MPI_BYTE, from.rank,
                     tag_of(of), comm_, &next.request));
  }
}

/// Delivers what tells of runs that have come.
bool Relay::complete_runs() {
  bool moved = false;
  for (auto &[rank, peer] : peers_)
    for (RunsOf of : all_runs) {
      receive_runs(peer, of);
      for (Runs &runs = peer.runs[int(of)];
           runs.receiving != 0 && is_done(runs.arriving.front().request); moved = true) {
        ++received_[rank];
        if (runs.arriving.front().is_last)
          peer.link->deliver(runs.arriving.front().record, runs.arriving.front().header);
        runs.arriving.pop_front();
        --runs.receiving;
      }
    }
  return moved;
}

/// The next message that has come, if it is there.
bool Relay::receive() {
  int there = 0, words = 0;
  MPI_Status status;
  if (arrival_ == MPI_REQUEST_NULL) {
    check(PMPI_Iprobe(MPI_ANY_SOURCE, of_records, comm_, &there, &status));
    if (!there)
      return false;
    PMPI_Get_count(&status, MPI_UINT64_T, &words);
    arriving_.used = static_cast<std::size_t>(words);
    check(PMPI_Irecv(arriving_.words.get(), words, MPI_UINT64_T, status.MPI_SOURCE, of_records,
                     comm_, &arrival_));
  }
  check(PMPI_Test(&arrival_, &there, &status));
  if (there)
    deliver(peer(status.MPI_SOURCE), arriving_);
  return there != 0;
}

bool Relay::work(bool kernels) {
  if (!active_)
    return false;
  std::lock_guard lock(mutex_);
  bool moved = complete_sends();
  for (int i = 0; i < most_arrivals && receive(); ++i)
    moved = true;
  moved |= complete_runs();
  moved |= collect();
  note(moved, kernels);
  return moved;
}

void Relay::note(bool moved, bool kernels) {
  const Clock::time_point now = Clock::now();
  if (moved || kernels)
    last_moved_ = now;
  const bool sending = std::any_of(peers_.begin(), peers_.end(), [](const auto &peer) {
    return peer.second.outbox.on_their_way() != 0;
  });
  quiet_ = !sending && now - last_moved_ > settling;
}

void Relay::add_unsent(std::set<int> &ranks) {
  std::lock_guard lock(mutex_);
  for (const auto &[rank, peer] : peers_)
    if (peer.outbox.on_their_way() != 0)
      ranks.insert(rank);
}

Relay::Counts Relay::counts() {
  std::lock_guard lock(mutex_);
  Counts counts{0, 0, parts_};
  for (const auto &[rank, peer] : peers_)
    if (peer.link) {
      counts.messages += peer.link->counts().messages;
      counts.bytes += peer.link->counts().bytes;
    }
  return counts;
}

void Relay::close() {
  if (comm_ == MPI_COMM_NULL)
    return;
  // Nothing more is sent than what is under way: of that, all is received.
  std::vector<long long> expected(sent_.size());
  PMPI_Alltoall(sent_.data(), 1, MPI_LONG_LONG, expected.data(), 1, MPI_LONG_LONG, comm_);
  auto is_open = [&] {
    return received_ != expected || std::any_of(peers_.begin(), peers_.end(), [](const auto &peer) {
             const Peer &its = peer.second;
             return !its.sending.empty() ||
                    std::any_of(its.runs.begin(), its.runs.end(),
                                [](const Runs &runs) { return !runs.sending.empty(); });
           });
  };
  Backoff backoff;
  for (; is_open(); backoff.wait()) {
    receive();
    complete_runs();
    complete_sends();
  }
  PMPI_Comm_free(&comm_);
}

} // namespace gmpi::peer
