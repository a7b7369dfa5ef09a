// Offers this rank's allocations, and maps the others'.
#include "offers.hpp"

#include "../../proxy/report.hpp"
#include "../relay/host_packets.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace gmpi::peer {

namespace {

/// Whether the program runs under compute-sanitizer, which takes memory that is mapped while a
/// kernel runs for none of that kernel's.
bool is_checked() {
  static const bool checked = std::getenv("NV_SANITIZER_INJECTION_PORT_BASE") != nullptr;
  return checked;
}

constexpr std::size_t offer_words = sizeof(Offer) / sizeof(std::uint64_t);
static_assert(sizeof(Offer::handle) == sizeof(ExportHandle));

} // namespace

void Offers::start(int device, int rank, State *state, Offer *shared) {
  std::lock_guard lock(mutex_);
  device_ = device;
  rank_ = rank;
  state_ = state;
  shared_ = shared;
  if (cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) != cudaSuccess)
    fatal("cannot create a CUDA stream for buffers that ranks map from each other");
}

void Offers::set_peer(int rank, const Offer *theirs) {
  std::lock_guard lock(mutex_);
  theirs_[rank] = theirs;
}

void Offers::stop() {
  {
    std::lock_guard lock(wanted_mutex_);
    stopping_ = true;
  }
  wanted_changed_.notify_one();
  if (thread_.joinable())
    thread_.join();
  for (auto &mappings : mapped_)
    for (Mapping &mapping : mappings)
      if (Mapping old = std::exchange(mapping, {}); old.memory != nullptr)
        retired_.push_back(old);
  unmap_retired();
  if (stream_ != nullptr)
    cudaStreamDestroy(std::exchange(stream_, nullptr));
}

void Offers::want(Wanted wanted) {
  std::lock_guard lock(wanted_mutex_);
  if (stopping_)
    return;
  wanted_.push_back(wanted);
  if (!thread_.joinable())
    thread_ = std::thread([this] { work(); });
  wanted_changed_.notify_one();
}

void Offers::work() {
  cudaSetDevice(device_);
  std::unique_lock lock(wanted_mutex_);
  for (;;) {
    wanted_changed_.wait(lock, [this] { return stopping_ || !wanted_.empty(); });
    if (stopping_)
      return;
    const Wanted wanted = wanted_.front();
    wanted_.pop_front();
    lock.unlock();
    if (wanted.what == Wanted::offer)
      make_offer(wanted.argument);
    else
      map_offer(wanted.argument & 0xff, wanted.argument >> 8 & 0xff,
                static_cast<std::uint32_t>(wanted.argument >> 16));
    lock.lock();
  }
}

void Offers::refuse(const std::string &why) {
  std::lock_guard lock(wanted_mutex_);
  if (refusal_.empty())
    refusal_ = why;
}

std::string Offers::refusal() {
  std::lock_guard lock(wanted_mutex_);
  return refusal_;
}

/// Kernels see the handle, and then the number.
void Offers::write(std::uint32_t place, const Offer &offer) {
  std::uint64_t words[offer_words];
  std::memcpy(words, &offer, sizeof(words));
  constexpr std::size_t before = offsetof(Offer, handle) / sizeof(std::uint64_t);
  auto *to = reinterpret_cast<std::uint64_t *>(shared_ + place);
  if (!store_words(to + before, words + before, offer_words - before, stream_) ||
      !store_words(to, words, before, stream_))
    fatal("cannot copy to the device");
}

void Offers::make_offer(std::uint64_t address) {
  std::lock_guard lock(mutex_);
  Allocation found;
  ExportHandle handle;
  if (!find_allocation(address, device_, found) || !export_allocation(found, handle)) {
    if (!has_been_freed(address)) // since it was asked for: its message has gone through the ring
      refuse("a buffer is not in memory of cudaMalloc's");
    return;
  }
  auto same = [&](const Allocation &a) { return a.begin == found.begin && a.id == found.id; };
  if (std::any_of(offered_.begin(), offered_.end(), same))
    return;
  auto *free = std::find_if(offered_.begin(), offered_.end(),
                            [](const Allocation &a) { return a.bytes == 0; });
  if (free == offered_.end())
    return refuse("more than " + std::to_string(max_offers) + " allocations receive long messages");
  *free = found;
  const auto place = static_cast<std::uint32_t>(free - offered_.begin());
  Offer offer{};
  store_packet(offer.begin, found.begin, ++last_number_);
  store_packet(offer.bytes, found.bytes, last_number_);
  std::memcpy(offer.handle, &handle, sizeof(handle));
  write(place, offer);
  if (place < used_)
    return;
  used_ = place + 1;
  const std::uint64_t used = used_;
  store_words(&state_->offers_used, &used, 1, stream_);
}

void Offers::map_offer(std::uint32_t peer, std::uint32_t place, std::uint32_t number) {
  std::lock_guard lock(mutex_);
  std::uint64_t words[offer_words];
  Offer offer;
  if (peer >= max_peers || place >= max_offers || theirs_[peer] == nullptr ||
      !load_words(theirs_[peer] + place, words, offer_words, stream_))
    return;
  std::memcpy(&offer, words, sizeof(offer));
  std::uint64_t begin = 0, bytes = 0;
  if (!load_packet(offer.begin, number, begin) || !load_packet(offer.bytes, number, bytes))
    return; // it has been taken back
  Mapping &mapping = mapped_[peer][place];
  if (Mapping old = std::exchange(mapping, {}); old.memory != nullptr)
    retired_.push_back(old);
  void *memory = reinterpret_cast<void *>(begin);
  if (int(peer) != rank_) {
    ExportHandle handle;
    std::memcpy(&handle, offer.handle, sizeof(handle));
    memory = map_exported(handle, bytes);
    if (memory == nullptr)
      return refuse("CUDA refuses to map another rank's buffer");
    mapping = {memory, bytes, number};
    has_mapped_ = true;
  }
  if (is_checked())
    at_launch_.push_back([=, this] { use(peer, place, number, memory); });
  else
    use(peer, place, number, memory);
}

/// Kernels store there from now on.
void Offers::use(std::uint32_t peer, std::uint32_t place, std::uint32_t number,
                 const void *memory) {
  std::uint64_t packet[packet_words];
  store_packet(packet, reinterpret_cast<std::uint64_t>(memory), number);
  store_words(state_->mapped[peer][place], packet, packet_words, stream_);
}

void Offers::before_launch() {
  if (used_ == 0 && !is_checked())
    return;
  std::lock_guard lock(mutex_);
  take_back_freed();
  for (const auto &use_mapping : std::exchange(at_launch_, {}))
    use_mapping();
}

void Offers::after_free() {
  if (used_ == 0 && !has_mapped_)
    return;
  std::lock_guard lock(mutex_);
  take_back_freed();
  retire_taken_back();
  unmap_retired();
}

/// Whose offer its rank has taken back.
void Offers::retire_taken_back() {
  for (std::uint32_t peer = 0; peer < max_peers; ++peer)
    for (std::uint32_t place = 0; place < max_offers; ++place) {
      Mapping &mapping = mapped_[peer][place];
      std::uint64_t begin[packet_words], ignored = 0;
      if (mapping.memory != nullptr &&
          load_words(theirs_[peer][place].begin, begin, packet_words, stream_) &&
          !load_packet(begin, mapping.number, ignored))
        retired_.push_back(std::exchange(mapping, {}));
    }
}

void Offers::unmap_retired() {
  if (retired_.empty())
    return;
  int current = 0;
  cudaGetDevice(&current);
  cudaSetDevice(device_);
  for (const Mapping &mapping : std::exchange(retired_, {}))
    unmap_exported(mapping.memory, mapping.bytes);
  cudaSetDevice(current);
}

void Offers::take_back_freed() {
  bool any = false;
  for (std::uint32_t place = 0; place < used_; ++place) {
    Allocation &offered = offered_[place];
    if (offered.bytes == 0 || still_allocated(offered))
      continue;
    write(place, {});
    offered = {};
    any = true;
  }
  if (!any)
    return;
  constexpr std::size_t count = sizeof(State::asked) / sizeof(std::uint64_t);
  const std::uint64_t none[count] = {}; // other memory may lie there now
  store_words(state_->asked, none, count, stream_);
}

} // namespace gmpi::peer
