// Sets communicators up.
#include "links.hpp"

#include "../proxy/device_queue.hpp"
#include "../proxy/proxy.hpp"
#include "../proxy/report.hpp"
#include "../proxy/settings.hpp"

#include <algorithm>
#include <cstring>

namespace gmpi::peer {

namespace {

std::unique_ptr<Links> &the_links() {
  static auto &links = *new std::unique_ptr<Links>; // kernels may run until the very end
  return links;
}

constexpr std::size_t kept_bytes =
    std::size_t(small_kept) * small_bytes + std::size_t(large_kept) * eager_bytes;

std::size_t bytes_of_rounds(int ranks) {
  return std::size_t(2) * ranks * round_packets * packet_words * sizeof(std::uint64_t);
}

} // namespace

/// What a rank tells the others.
struct Links::Card {
  int usable;
  int host_id, host_rank;
  std::uint32_t next_context;
  ExportHandle memory, rounds;
};

Links *Links::instance() { return the_links().get(); }
void Links::start() { the_links() = std::make_unique<Links>(); }
void Links::stop() { the_links().reset(); }

Links::Links() {
  MPI_Comm host = MPI_COMM_NULL;
  int world_rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  PMPI_Comm_rank(host, &host_rank_);
  PMPI_Comm_size(host, &host_ranks_);
  host_id_ = world_rank;
  PMPI_Bcast(&host_id_, 1, MPI_INT, 0, host);
  PMPI_Comm_free(&host);
}

Links::~Links() {
  for (const Rounds &rounds : rounds_)
    for (const Mapping &mapping : rounds.others)
      unmap_exported(mapping.memory, mapping.bytes);
  for (const Mapping &mapping : mapped_)
    unmap_exported(mapping.memory, mapping.bytes);
  PMPI_Barrier(MPI_COMM_WORLD); // nobody has it mapped any more
  for (const Rounds &rounds : rounds_) {
    if (rounds.own != nullptr)
      free_exported(rounds.own, rounds.bytes);
    cudaFree(rounds.scratch);
  }
  cudaFree(kept_data_);
  cudaFree(state_);
  if (memory_ != nullptr)
    free_exported(memory_, Shared{std::uint32_t(host_ranks_)}.bytes());
}

/// This rank's part, before anything is said to the others. Returns what stands against it, or "".
std::string Links::prepare(MPI_Comm comm, Card &card) {
  card = {0, host_id_, host_rank_, next_context_, {}, {}};
  int size = 0, device = 0;
  PMPI_Comm_size(comm, &size);
  cudaGetDevice(&device);
  if (host_ranks_ > int(max_peers))
    return "more than " + std::to_string(max_peers) + " ranks run on this host";
  if (device_ >= 0 && device != device_)
    return "device " + std::to_string(device_) +
           " was current when an earlier communicator got it, " + "and now it is device " +
           std::to_string(device);
  if (next_context_ > 0xffff ||
      (image_ && std::none_of(image_->comms, image_->comms + max_comms,
                              [](const Comm &entry) { return entry.context == 0; })))
    return "there are too many such communicators";
  device_ = device;
  if (memory_ == nullptr)
    memory_ = static_cast<unsigned char *>(
        allocate_exported(Shared{std::uint32_t(host_ranks_)}.bytes(), handle_));
  if (memory_ == nullptr)
    return "device memory could not be allocated, or not shared with other processes";
  card.memory = handle_;
  return "";
}

bool Links::map_peer(const Card &card) {
  Peer &peer = image_->peer[card.host_rank];
  if (peer.out != nullptr)
    return true;
  const Shared shared{std::uint32_t(host_ranks_)};
  unsigned char *theirs = memory_;
  if (card.host_rank != host_rank_) {
    theirs = static_cast<unsigned char *>(map_exported(card.memory, shared.bytes()));
    if (theirs == nullptr)
      return false;
    mapped_.push_back({theirs, shared.bytes()});
  }
  auto words = [](unsigned char *at) { return reinterpret_cast<std::uint64_t *>(at); };
  auto counts = [](unsigned char *at) { return reinterpret_cast<std::uint32_t *>(at); };
  auto me = std::uint32_t(host_rank_), other = std::uint32_t(card.host_rank);
  peer.out = words(theirs + shared.channel(me));
  peer.out_freed = counts(memory_ + shared.freed(other));
  peer.in = words(memory_ + shared.channel(other));
  peer.in_freed = counts(theirs + shared.freed(me));
  peer.acks = words(theirs + shared.acks());
  return true;
}

void Links::set_up_state() {
  if (state_ != nullptr)
    return;
  queue_ = &Proxy::instance()->queue_of_current_device();
  image_ = std::make_unique<State>();
  std::memset(static_cast<void *>(image_.get()), 0, sizeof(State));
  void *state = nullptr, *data = nullptr;
  if (cudaMalloc(&state, sizeof(State)) != cudaSuccess ||
      cudaMalloc(&data, kept_bytes) != cudaSuccess)
    fatal("cannot allocate device memory for messages between kernels");
  state_ = static_cast<State *>(state);
  kept_data_ = static_cast<unsigned char *>(data);
  image_->peers = std::uint32_t(host_ranks_);
  image_->first_posted = image_->last_posted = image_->first_kept = image_->last_kept = nothing;
  for (std::uint32_t i = 0; i < small_kept + large_kept; ++i)
    image_->kept[i].next =
        i + 1 == small_kept || i + 1 == small_kept + large_kept ? nothing : i + 1;
  image_->free_large = small_kept;
  image_->acks =
      reinterpret_cast<std::uint64_t *>(memory_ + Shared{std::uint32_t(host_ranks_)}.acks());
  image_->kept_data = kept_data_;
  for (Line &line : image_->sending)
    line.free_until = channel_slots;
  queue_->copy_to_device(state_, image_.get(), sizeof(State));
}

std::string Links::map_all(const std::vector<Card> &cards, Comm &entry,
                           std::vector<Mapping> &others) {
  for (int rank = 0; rank < entry.size; ++rank) {
    const Card &card = cards[rank];
    if (!map_peer(card))
      return "this rank's GPU does not reach rank " + std::to_string(rank) + "'s";
    entry.peer_of[rank] = static_cast<std::uint16_t>(card.host_rank);
    entry.rank_of[card.host_rank] = static_cast<std::uint16_t>(rank);
    if (rank == entry.rank)
      continue;
    std::size_t bytes = bytes_of_rounds(entry.size);
    void *memory = map_exported(card.rounds, bytes);
    if (memory == nullptr)
      return "this rank's GPU does not reach rank " + std::to_string(rank) + "'s";
    others.push_back({memory, bytes});
    entry.rounds[rank] = static_cast<std::uint64_t *>(memory);
  }
  return "";
}

bool Links::has(MPI_Comm comm) const {
  std::lock_guard lock(mutex_);
  return image_ && std::any_of(image_->comms, image_->comms + max_comms, [&](const Comm &entry) {
           return entry.context != 0 && entry.handle == comm;
         });
}

/// Tells kernels of an entry. Those that run do not know the communicator.
void Links::publish(std::uint32_t index) {
  queue_->copy_to_device(state_->peer, image_->peer, sizeof(image_->peer));
  queue_->copy_to_device(&state_->comms[index], &image_->comms[index], sizeof(Comm));
  queue_->copy_to_device(&state_->comms_used, &image_->comms_used, sizeof(std::uint32_t));
  Comm *world = nullptr;
  for (std::uint32_t i = 0; i < image_->comms_used; ++i)
    if (image_->comms[i].context != 0 && image_->comms[i].handle == MPI_COMM_WORLD)
      world = &state_->comms[i];
  queue_->set_peer(state_, world);
}

bool Links::add(MPI_Comm comm) {
  std::lock_guard lock(mutex_);
  int rank = 0, size = 0, inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter)
    return false;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  Card card;
  std::string against = prepare(comm, card);
  Rounds rounds;
  if (against.empty()) {
    set_up_state();
    rounds.bytes = bytes_of_rounds(size);
    rounds.own = static_cast<unsigned char *>(allocate_exported(rounds.bytes, card.rounds));
    void *scratch = nullptr;
    if (rounds.own == nullptr || cudaMalloc(&scratch, 2 * round_bytes) != cudaSuccess)
      against = "device memory could not be allocated, or not shared with other processes";
    rounds.scratch = static_cast<unsigned char *>(scratch);
  }
  card.usable = against.empty();
  std::vector<Card> cards(size);
  PMPI_Allgather(&card, sizeof(card), MPI_BYTE, cards.data(), sizeof(card), MPI_BYTE, comm);
  bool all = std::all_of(cards.begin(), cards.end(), [](const Card &c) { return c.usable; });
  if (all &&
      std::any_of(cards.begin(), cards.end(), [&](const Card &c) { return c.host_id != host_id_; }))
    against = "its ranks run on several hosts";
  Comm entry{};
  entry.handle = comm;
  entry.rank = rank;
  entry.size = size;
  entry.scratch = rounds.scratch;
  entry.rounds[rank] = reinterpret_cast<std::uint64_t *>(rounds.own);
  if (all && against.empty())
    against = map_all(cards, entry, rounds.others);
  int mine = all && against.empty(), everyone = 0;
  PMPI_Allreduce(&mine, &everyone, 1, MPI_INT, MPI_LAND, comm);
  if (!everyone) {
    if (!against.empty())
      say("messages between kernels go by way of the host: %s", against.c_str());
    for (const Mapping &mapping : rounds.others)
      unmap_exported(mapping.memory, mapping.bytes);
    if (rounds.own != nullptr)
      free_exported(rounds.own, rounds.bytes);
    cudaFree(rounds.scratch);
    return false;
  }
  for (const Card &other : cards)
    next_context_ = std::max(next_context_, other.next_context);
  entry.context = next_context_++;
  std::uint32_t index = 0;
  while (image_->comms[index].context != 0)
    ++index;
  image_->comms[index] = entry;
  image_->comms_used = std::max(image_->comms_used, index + 1);
  if (rounds_.size() <= index)
    rounds_.resize(index + 1);
  rounds_[index] = std::move(rounds);
  publish(index);
  PMPI_Barrier(comm); // before anybody's kernel writes here
  return true;
}

void Links::remove(MPI_Comm comm) {
  std::lock_guard lock(mutex_);
  for (std::uint32_t i = 0; image_ && i < image_->comms_used; ++i) {
    Comm &entry = image_->comms[i];
    if (entry.context == 0 || entry.handle != comm)
      continue;
    PMPI_Barrier(comm); // no kernel uses it any more: its collectives have ended everywhere
    entry.context = 0;
    publish(i);
    Rounds &rounds = rounds_[i];
    for (const Mapping &mapping : rounds.others)
      unmap_exported(mapping.memory, mapping.bytes);
    PMPI_Barrier(comm); // nobody has it mapped any more
    free_exported(rounds.own, rounds.bytes);
    cudaFree(rounds.scratch);
    rounds = {};
    return;
  }
}

void Links::report_statistics() {
  if (state_ == nullptr || !settings().stats)
    return;
  unsigned long long counted[2] = {};
  cudaMemcpy(counted, &state_->calls, sizeof(counted), cudaMemcpyDeviceToHost);
  say("from kernel to kernel: %llu messages and collective calls, %llu bytes sent", counted[0],
      counted[1]);
}

/// What nobody has waited for, or received.
void Links::report_leftovers() {
  if (state_ == nullptr)
    return;
  Summary left{};
  cudaMemcpy(&left, &state_->summary, sizeof(left), cudaMemcpyDeviceToHost);
  if (left.posted + left.active != 0)
    say("%u sends and receives that kernels have begun did not end before MPI_Finalize: wait for "
        "them",
        left.posted + left.active);
}

} // namespace gmpi::peer
