// Sets communicators up.
#include "links.hpp"

#include "../../proxy/device_queue.hpp"
#include "../../proxy/proxy.hpp"
#include "../../proxy/report.hpp"
#include "../../proxy/settings.hpp"
#include "../collectives/places.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace gmpi::peer {

static_assert(request_slots <= max_requests);

namespace {

std::unique_ptr<Links> &the_links() {
  static auto &links = *new std::unique_ptr<Links>; // kernels may run until the very end
  return links;
}

std::size_t bytes_of_rounds(std::uint32_t ranks, bool several_hosts) {
  return (words_of_rounds(ranks) + (several_hosts ? 0 : words_of_pieces(ranks))) *
         sizeof(std::uint64_t);
}

/// By rank of `comm`: the one of MPI_COMM_WORLD, or MPI_UNDEFINED.
std::vector<int> ranks_in_world(MPI_Comm comm) {
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  int size = 0;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Comm_group(comm, &group);
  PMPI_Group_size(group, &size);
  std::vector<int> local(size), ranks(size);
  std::iota(local.begin(), local.end(), 0);
  PMPI_Group_translate_ranks(group, size, local.data(), world, ranks.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  return ranks;
}

} // namespace

/// What a rank tells the others.
struct Links::Card {
  int usable;
  int host_rank;
  std::uint32_t context; ///< of rank 0: the new communicator's
  ExportHandle memory, rounds;
};

/// A communicator on its way in.
struct Links::Joining {
  std::uint32_t index = nothing; ///< of its entry
  std::vector<int> world;        ///< by rank
  bool several_hosts = false;
  Comm entry{};
  Rounds rounds;
};

Links *Links::instance() { return the_links().get(); }
void Links::start(const HostRanks &host) { the_links() = std::make_unique<Links>(host); }
void Links::stop() { the_links().reset(); }

Links::Links(const HostRanks &host) : host_(host) {
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  PMPI_Comm_size(MPI_COMM_WORLD, &world_size_);
  if (host_.count() != world_size_) // then no rank's host has all
    Proxy::instance()->relay().start();
}

void Links::unmap_others() {
  offers_.stop();
  for (Rounds &rounds : rounds_)
    unmap_all(rounds.others);
  unmap_all(mapped_);
}

Links::~Links() {
  for (std::size_t i = 0; i < rounds_.size(); ++i) {
    if (rounds_[i].page_locked)
      Proxy::instance()->relay().remove_rounds(image_->comms[i].context);
    free_own(rounds_[i]);
  }
  cudaFree(kept_data_);
  cudaFree(state_);
  if (memory_ != nullptr)
    free_exported(memory_, shared_memory().bytes());
}

/// An entry for the communicator and, on its rank 0, a context.
std::string Links::reserve(Joining &joining, Card &card) {
  auto free = std::find(reserved_.begin(), reserved_.end(), false);
  const int counted_bits = int(context_bits) - std::bit_width(unsigned(world_size_ - 1));
  if (free == reserved_.end() || counted_bits <= 0 || counted_contexts_ + 1 >= 1u << counted_bits)
    return "there are too many such communicators";
  *free = true;
  joining.index = static_cast<std::uint32_t>(free - reserved_.begin());
  if (joining.entry.rank == 0)
    card.context = std::uint32_t(world_rank_) << counted_bits | ++counted_contexts_;
  return "";
}

std::string Links::allocate(Joining &joining, int device, Card &card) {
  const char *failed = "device memory could not be allocated, or not shared with other processes";
  if (memory_ == nullptr)
    memory_ = static_cast<unsigned char *>(allocate_exported(shared_memory().bytes(), handle_));
  if (memory_ == nullptr)
    return failed;
  device_ = device;
  set_up_state();
  card.memory = handle_;
  if (!allocate_rounds(joining, card))
    return failed;
  if (std::string against = reach_far(joining); !against.empty())
    return against;
  return "";
}

bool Links::allocate_rounds(Joining &joining, Card &card) {
  Rounds &rounds = joining.rounds;
  rounds.bytes = bytes_of_rounds(std::uint32_t(joining.entry.size), joining.several_hosts);
  void *own = nullptr, *scratch = nullptr;
  if (!joining.several_hosts)
    own = allocate_exported(rounds.bytes, card.rounds);
  else if (cudaHostAlloc(&own, rounds.bytes, cudaHostAllocMapped | cudaHostAllocPortable) ==
           cudaSuccess)
    std::memset(own, 0, rounds.bytes);
  rounds.own = static_cast<unsigned char *>(own);
  rounds.page_locked = joining.several_hosts;
  if (own == nullptr || cudaMalloc(&scratch, 2 * round_bytes) != cudaSuccess) {
    cudaGetLastError(); // the program's messages have another way
    return false;
  }
  rounds.scratch = static_cast<unsigned char *>(scratch);
  joining.entry.scratch = rounds.scratch;
  for (int rank = 0; rank < joining.entry.size; ++rank)
    if (joining.several_hosts || rank == joining.entry.rank)
      joining.entry.rounds[rank] = reinterpret_cast<std::uint64_t *>(own);
  return true;
}

/// Numbers for the communicator's ranks on other hosts, and links to them.
std::string Links::reach_far(const Joining &joining) {
  Relay &relay = Proxy::instance()->relay();
  std::vector<int> more;
  std::copy_if(joining.world.begin(), joining.world.end(), std::back_inserter(more), [this](int r) {
    return !is_near(r) && std::find(far_.begin(), far_.end(), r) == far_.end();
  });
  if (host_.count() + far_.size() + more.size() > max_peers)
    return "a rank's kernels reach those of " + std::to_string(max_peers) +
           " ranks at most, on its own host and others";
  for (int rank : more) {
    RelayLink *link = relay.link(rank);
    if (link == nullptr)
      return "there is not enough page-locked memory for what ranks on different hosts exchange";
    far_.push_back(rank);
    image_->far_acks = relay.far_acks();
    image_->far_news = relay.far_news();
    set_peer(peer_number(rank), link->channel(false), link->channel(true), link->acks());
    image_->streams[peer_number(rank)] = link->stream();
    image_->channels[place_channel(peer_number(rank))] = link->places();
  }
  return "";
}

bool Links::is_near(int rank) const {
  return std::binary_search(host_.world.begin(), host_.world.end(), rank);
}

/// Of a rank of MPI_COMM_WORLD; this host's have their places there.
std::uint32_t Links::peer_number(int rank) const {
  const std::vector<int> &ranks = is_near(rank) ? host_.world : far_;
  const auto place = std::find(ranks.begin(), ranks.end(), rank) - ranks.begin();
  return static_cast<std::uint32_t>(place + (is_near(rank) ? 0 : host_.count()));
}

void Links::set_peer(std::uint32_t peer, const Channel &common, const Channel &owned,
                     std::uint64_t *acks) {
  image_->channels[peer] = common;
  image_->channels[owned_channel(peer)] = owned;
  image_->peer_acks[peer] = acks;
  image_->peers = std::max(image_->peers, peer + 1);
}

/// This rank's part, before anything is said to the others. Returns what stands against it, or "".
std::string Links::prepare(MPI_Comm comm, Joining &joining, Card &card) {
  std::lock_guard lock(mutex_);
  joining.entry.handle = comm;
  PMPI_Comm_rank(comm, &joining.entry.rank);
  PMPI_Comm_size(comm, &joining.entry.size);
  joining.world = ranks_in_world(comm);
  joining.several_hosts = !std::all_of(joining.world.begin(), joining.world.end(),
                                       [this](int r) { return is_near(r); });
  card = {0, host_.rank, 0, {}, {}};
  int device = 0;
  cudaGetDevice(&device);
  if (host_.count() > int(max_peers))
    return "more than " + std::to_string(max_peers) + " ranks run on this host";
  if (std::find(joining.world.begin(), joining.world.end(), MPI_UNDEFINED) != joining.world.end())
    return "it has ranks that are not in MPI_COMM_WORLD";
  if (device_ >= 0 && device != device_)
    return "device " + std::to_string(device_) +
           " was current when this was asked for an earlier communicator, and now it is device " +
           std::to_string(device);
  if (std::string against = reserve(joining, card); !against.empty())
    return against;
  return allocate(joining, device, card);
}

bool Links::map_peer(const Card &card) {
  if (image_->peer_acks[card.host_rank] != nullptr)
    return true;
  const Shared shared = shared_memory();
  unsigned char *theirs = memory_;
  if (card.host_rank != host_.rank) {
    theirs = static_cast<unsigned char *>(map_exported(card.memory, shared.bytes()));
    if (theirs == nullptr)
      return false;
    mapped_.push_back({theirs, shared.bytes()});
  }
  auto words = [](unsigned char *at) { return reinterpret_cast<std::uint64_t *>(at); };
  auto counts = [](unsigned char *at) { return reinterpret_cast<std::uint32_t *>(at); };
  auto me = std::uint32_t(host_.rank), other = std::uint32_t(card.host_rank);
  auto channel = [&](bool owned) {
    return Channel{
        words(theirs + shared.channel(me, owned)), counts(memory_ + shared.freed(other, owned)),
        words(memory_ + shared.channel(other, owned)), counts(theirs + shared.freed(me, owned))};
  };
  set_peer(other, channel(false), channel(true), words(theirs + shared.acks()));
  image_->streams[other] = {
      words(theirs + shared.stream(me)), counts(memory_ + shared.stream_freed(other)),
      words(memory_ + shared.stream(other)), counts(theirs + shared.stream_freed(me))};
  offers_.set_peer(card.host_rank, reinterpret_cast<const Offer *>(theirs + shared.offers()));
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
      cudaMalloc(&data, kept_bytes(std::uint32_t(host_.count()))) != cudaSuccess)
    fatal("cannot allocate device memory for messages between kernels");
  state_ = static_cast<State *>(state);
  kept_data_ = static_cast<unsigned char *>(data);
  image_->peers = image_->near_peers = std::uint32_t(host_.count());
  image_->self = std::uint32_t(host_.rank);
  empty_lists(*image_);
  image_->acks = reinterpret_cast<std::uint64_t *>(memory_ + shared_memory().acks());
  image_->kept_data = kept_data_;
  image_->offers = reinterpret_cast<Offer *>(memory_ + shared_memory().offers());
  for (Line &line : image_->sending)
    line.free_until = channel_slots;
  queue_->copy_to_device(state_, image_.get(), sizeof(State));
  offers_.start(device_, host_.rank, state_, image_->offers);
}

std::string Links::map_all(const std::vector<Card> &cards, Joining &joining) {
  std::lock_guard lock(mutex_);
  Comm &entry = joining.entry;
  for (int rank = 0; rank < entry.size; ++rank) {
    const Card &card = cards[rank];
    const std::uint32_t peer = peer_number(joining.world[rank]);
    if (peer < image_->near_peers && !map_peer(card))
      return "this rank's GPU does not reach rank " + std::to_string(rank) + "'s";
    entry.peer_of[rank] = static_cast<std::uint16_t>(peer);
    entry.rank_of[peer] = static_cast<std::uint16_t>(rank);
    if (rank == entry.rank || joining.several_hosts)
      continue;
    void *memory = map_exported(card.rounds, joining.rounds.bytes);
    if (memory == nullptr)
      return "this rank's GPU does not reach rank " + std::to_string(rank) + "'s";
    joining.rounds.others.push_back({memory, joining.rounds.bytes});
    entry.rounds[rank] = static_cast<std::uint64_t *>(memory);
  }
  entry.context = cards[0].context;
  return "";
}

bool Links::has(MPI_Comm comm) const {
  std::lock_guard lock(known_mutex_);
  auto known = known_.find(comm);
  return known != known_.end() && known->second.empty();
}

std::string Links::against(MPI_Comm comm) const {
  std::lock_guard lock(known_mutex_);
  auto known = known_.find(comm);
  return known != known_.end() ? known->second : std::string(kernel_only) + " is not set";
}

void Links::note_against(MPI_Comm comm, const std::string &why) {
  std::lock_guard lock(known_mutex_);
  known_[comm] = why;
}

void Links::forget(MPI_Comm comm) {
  std::lock_guard lock(known_mutex_);
  known_.erase(comm);
}

bool Links::has_neighbours(MPI_Comm comm) const {
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  int inter = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  inter ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group);
  std::vector<int> theirs(host_.world.size());
  PMPI_Group_translate_ranks(world, host_.count(), host_.world.data(), group, theirs.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  theirs[host_.rank] = MPI_UNDEFINED;
  return std::any_of(theirs.begin(), theirs.end(), [](int r) { return r != MPI_UNDEFINED; });
}

/// Tells kernels of an entry. Those that run do not know the communicator.
void Links::publish(std::uint32_t index) {
  queue_->copy_to_device(state_->channels, image_->channels, sizeof(image_->channels));
  queue_->copy_to_device(state_->streams, image_->streams, sizeof(image_->streams));
  queue_->copy_to_device(state_->peer_acks, image_->peer_acks, sizeof(image_->peer_acks));
  queue_->copy_to_device(&state_->far_acks, &image_->far_acks, sizeof(image_->far_acks));
  queue_->copy_to_device(&state_->far_news, &image_->far_news, sizeof(image_->far_news));
  queue_->copy_to_device(&state_->peers, &image_->peers, sizeof(image_->peers));
  queue_->copy_to_device(&state_->comms[index], &image_->comms[index], sizeof(Comm));
  queue_->copy_to_device(&state_->comms_used, &image_->comms_used, sizeof(std::uint32_t));
  Comm *world = nullptr;
  for (std::uint32_t i = 0; i < image_->comms_used; ++i)
    if (image_->comms[i].context != 0 && image_->comms[i].handle == MPI_COMM_WORLD)
      world = &state_->comms[i];
  queue_->set_peer(state_, world);
}

void Links::enter(const Joining &joining) {
  std::lock_guard lock(mutex_);
  if (joining.several_hosts)
    Proxy::instance()->relay().add_rounds(joining.entry.context, joining.entry.rounds[0],
                                          joining.world, joining.entry.rank);
  image_->comms[joining.index] = joining.entry;
  image_->comms_used = std::max(image_->comms_used, joining.index + 1);
  rounds_[joining.index] = joining.rounds;
  publish(joining.index);
  device_in_use_ = device_;
  note_against(joining.entry.handle, "");
}

void Links::unmap_all(std::vector<Mapping> &mappings) {
  for (const Mapping &mapping : mappings)
    unmap_exported(mapping.memory, mapping.bytes);
  mappings.clear();
}

void Links::free_own(const Rounds &rounds) {
  if (rounds.page_locked)
    cudaFreeHost(rounds.own);
  else if (rounds.own != nullptr)
    free_exported(rounds.own, rounds.bytes);
  cudaFree(rounds.scratch);
}

/// Collective over `comm`, like the two below.
void Links::release(MPI_Comm comm, Rounds &rounds) {
  unmap_all(rounds.others);
  PMPI_Barrier(comm); // nobody has it mapped any more
  free_own(rounds);
}

bool Links::add(MPI_Comm comm) {
  Joining joining;
  Card card;
  std::string against = prepare(comm, joining, card);
  card.usable = against.empty();
  std::vector<Card> cards(joining.entry.size);
  PMPI_Allgather(&card, sizeof(card), MPI_BYTE, cards.data(), sizeof(card), MPI_BYTE, comm);
  bool all = std::all_of(cards.begin(), cards.end(), [](const Card &c) { return c.usable; });
  if (all)
    against = map_all(cards, joining);
  int mine = all && against.empty(), everyone = 0;
  PMPI_Allreduce(&mine, &everyone, 1, MPI_INT, MPI_LAND, comm);
  if (everyone) {
    enter(joining);
    PMPI_Barrier(comm); // before anybody's kernel writes here
    return true;
  }
  if (!against.empty())
    say("messages between kernels go by way of the host: %s", against.c_str());
  release(comm, joining.rounds);
  note_against(comm, against.empty() ? "another rank has said why" : against);
  std::lock_guard lock(mutex_);
  if (joining.index != nothing)
    reserved_[joining.index] = false;
  return false;
}

void Links::remove(MPI_Comm comm) {
  if (!has(comm))
    return forget(comm);
  PMPI_Barrier(comm); // no kernel uses it any more: its collectives have ended everywhere
  Rounds rounds;
  {
    std::lock_guard lock(mutex_);
    std::uint32_t index = 0;
    while (image_->comms[index].context == 0 || image_->comms[index].handle != comm)
      ++index;
    Proxy::instance()->relay().remove_rounds(image_->comms[index].context);
    image_->comms[index].context = 0;
    publish(index);
    rounds = std::exchange(rounds_[index], {});
    reserved_[index] = false;
    forget(comm);
  }
  release(comm, rounds);
}

void Links::report_statistics() {
  if (state_ == nullptr || !settings().stats)
    return;
  unsigned long long counted[7] = {}, wide = 0, streamed = 0;
  static_assert(offsetof(State, found) == offsetof(State, calls) + 6 * sizeof(counted[0]));
  cudaMemcpy(counted, &state_->calls, sizeof(counted), cudaMemcpyDeviceToHost);
  cudaMemcpy(&wide, &state_->wide, sizeof(wide), cudaMemcpyDeviceToHost);
  cudaMemcpy(&streamed, &state_->streamed, sizeof(streamed), cudaMemcpyDeviceToHost);
  const auto [calls, bytes, stored, ringed, left, exchanged, found] = counted;
  if (calls == 0)
    return;
  say("from kernel to kernel: %llu messages and collective calls, %llu bytes sent", calls, bytes);
  if (left != 0)
    say("%llu calls of grids were left to the next one; waits made %llu of them at once, and "
        "received for %llu made before",
        left, exchanged, found);
  const Relay::Counts relayed = Proxy::instance()->relay().counts();
  if (relayed.messages + relayed.parts != 0)
    say("of these, by way of the hosts: %llu messages and %llu parts of collective calls, %llu "
        "bytes",
        relayed.messages, relayed.parts, relayed.bytes);
  if (wide != 0)
    say("of these messages, %llu were written by all blocks of a grid, with their headers", wide);
  if (streamed != 0)
    say("of these messages, %llu long ones were streamed from all blocks of a grid to all of "
        "another",
        streamed);
  if (stored + ringed + streamed == 0)
    return;
  const std::string refusal = offers_.refusal();
  say("of these messages, %llu long ones were stored where they belong, and %llu went through a "
      "ring%s%s",
      stored, ringed, refusal.empty() ? "" : ": ", refusal.c_str());
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
