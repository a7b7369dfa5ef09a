// Allocation and layout of the memory shared with kernels.
#include "device_queue.hpp"

#include "../launch/device_launch.hpp"
#include "../launch/modules.hpp"
#include "../split/host_calls.hpp"
#include "../transport/busy_device.hpp"
#include "../transport/gpu_aware.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "transports.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace gmpi {

namespace {

void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    fatal("%s: %s", what, cudaGetErrorString(error));
}

template <class T> constexpr Number number() {
  constexpr Number integers[] = {Number::int8,  Number::uint8,  Number::int16, Number::uint16,
                                 Number::int32, Number::uint32, Number::int64, Number::uint64};
  if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? Number::float32 : Number::float64;
  else
    return integers[(sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 2 : sizeof(T) == 4 ? 4 : 6) +
                    std::is_unsigned_v<T>];
}

/// MPI reduces bytes too, but only bit by bit, and bool only by logic: those are MPI's.
Number number_of(MPI_Datatype datatype) {
  static const std::pair<MPI_Datatype, Number> numbers[] = {
      {MPI_SIGNED_CHAR, number<signed char>()},
      {MPI_UNSIGNED_CHAR, number<unsigned char>()},
      {MPI_SHORT, number<short>()},
      {MPI_UNSIGNED_SHORT, number<unsigned short>()},
      {MPI_INT, number<int>()},
      {MPI_UNSIGNED, number<unsigned>()},
      {MPI_LONG, number<long>()},
      {MPI_UNSIGNED_LONG, number<unsigned long>()},
      {MPI_LONG_LONG, number<long long>()},
      {MPI_UNSIGNED_LONG_LONG, number<unsigned long long>()},
      {MPI_FLOAT, number<float>()},
      {MPI_DOUBLE, number<double>()},
      {MPI_INT8_T, Number::int8},
      {MPI_UINT8_T, Number::uint8},
      {MPI_INT16_T, Number::int16},
      {MPI_UINT16_T, Number::uint16},
      {MPI_INT32_T, Number::int32},
      {MPI_UINT32_T, Number::uint32},
      {MPI_INT64_T, Number::int64},
      {MPI_UINT64_T, Number::uint64},
      {MPI_AINT, number<MPI_Aint>()},
      {MPI_COUNT, number<MPI_Count>()},
      {MPI_OFFSET, number<MPI_Offset>()},
  };
  for (const auto &[known, number] : numbers)
    if (known == datatype)
      return number;
  return Number::none;
}

int tag_upper_bound() {
  int *bound = nullptr, known = 0;
  PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &known);
  return known ? *bound : 32767; // what MPI promises
}

} // namespace

template <class T> T *DeviceQueue::allocate_mapped(std::size_t count) {
  void *memory = nullptr;
  check(cudaHostAlloc(&memory, count * sizeof(T), cudaHostAllocMapped | cudaHostAllocPortable),
        "cannot allocate page-locked memory for the Attribute queue");
  mapped_.push_back(memory);
  return static_cast<T *>(memory);
}

template <class T> T *DeviceQueue::allocate_mapped_zeros(std::size_t count) {
  T *memory = allocate_mapped<T>(count);
  std::memset(static_cast<void *>(memory), 0, count * sizeof(T));
  return memory;
}

template <class T> T *DeviceQueue::allocate_on_device(std::size_t count) {
  void *memory = nullptr;
  check(cudaMalloc(&memory, count * sizeof(T)),
        "cannot allocate device memory for the Attribute queue");
  check(cudaMemsetAsync(memory, 0, count * sizeof(T), stream_), "cannot clear device memory");
  on_device_.push_back(memory);
  return static_cast<T *>(memory);
}

DeviceQueue::DeviceQueue(int device) : device_(device) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cannot create a stream");
  allocate_shared();
  allocate_device();
  fill_datatypes();
  PMPI_Comm_rank(MPI_COMM_WORLD, &context_.world_rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &context_.world_size);
  context_.wtime_base = PMPI_Wtime();
  context_.tag_upper_bound = tag_upper_bound();
  context_.world = MPI_COMM_WORLD;
  context_.self = MPI_COMM_SELF;
  context_.direct_above = gpu_aware::remote_writes_need_no_flush()
                              ? gpu_aware::above(launch::Lowering::queue)
                              : never_direct;
  context_.own_direct = gpu_aware::takes_own_messages();
  context_.device = static_cast<std::uint32_t>(device);
#ifdef OPEN_MPI
#define GMPI_DATATYPE(handle, variable)                                                            \
  context_.handles[static_cast<int>(Handle::variable)] = static_cast<void *>(handle);
#define GMPI_HANDLE(handle, variable) GMPI_DATATYPE(handle, variable)
#include "../mpi/predefined_handles.def"
#endif
  fill_modules();
  launch::reserve_local_memory(launch::device_kernels());
}

void DeviceQueue::allocate_shared() {
  auto *ring = allocate_mapped_zeros<std::uint64_t>(std::size_t(ring_slots) * attribute_words);
  auto *consumed = allocate_mapped_zeros<std::uint64_t>(16);
  context_.ring_payload =
      allocate_mapped_zeros<unsigned char>(std::size_t(ring_slots) * inline_bytes);
  ring_ = std::make_unique<AttributeRing>(ring, context_.ring_payload, consumed);
  releases_ = allocate_mapped_zeros<HostRelease>(request_slots);
  context_.ring = ring;
  context_.consumed = consumed;
  context_.host_releases = releases_;
  payload_ = allocate_mapped<unsigned char>(std::size_t(request_slots) * inline_bytes);
  context_.payload = payload_;
  auto *comm_sizes = allocate_mapped_zeros<std::uint64_t>(2 * comm_slots);
  comm_sizes_ = std::make_unique<CommSizes>(comm_sizes);
  context_.comm_sizes = comm_sizes;
  std::size_t bytes = settings().staging_bytes;
  staging_ = std::make_unique<StagingPool>(allocate_mapped<unsigned char>(bytes), bytes);
  bytes = settings().bounce_bytes;
  bounce_ = std::make_unique<StagingPool>(allocate_mapped<unsigned char>(bytes), bytes);
}

void DeviceQueue::allocate_device() {
  context_.ring_state = allocate_on_device<RingState>(1);
  context_.records = allocate_on_device<RequestRecord>(request_slots);
  context_.seen_releases = allocate_on_device<std::uint32_t>(request_slots);
  context_.wtime_offset = allocate_on_device<double>(1);
  context_.free_slots = allocate_on_device<std::uint32_t>(request_slots / 32);
  check(cudaMemsetAsync(context_.free_slots + launch_slots / 32, 0xff,
                        (request_slots - launch_slots) / 8, stream_),
        "cannot set device memory");
  context_.slot_queue = allocate_on_device<SlotQueue>(1);
  static constexpr SlotQueue all_free{0, request_slots - common_slots, 0, 0};
  check(cudaMemcpyAsync(context_.slot_queue, &all_free, sizeof all_free, cudaMemcpyHostToDevice,
                        stream_),
        "cannot set device memory");
  allocate_replies();
  add_launch_states();
}

void DeviceQueue::allocate_replies() {
  if (settings().gdrcopy)
    against_gdrcopy_ = map_replies();
  static std::atomic<bool> said{false};
  if (!against_gdrcopy_.empty() && !said.exchange(true))
    say("GMPI_GDRCOPY is 1, but completions lie in the host's memory: %s",
        against_gdrcopy_.c_str());
  if (replies_mapping_ == nullptr)
    context_.replies = replies_ =
        allocate_mapped_zeros<std::uint64_t>(std::size_t(request_slots) * reply_stride);
  transports::note_replies(device_, replies_mapping_ != nullptr, against_gdrcopy_);
}

/// Has them lie in device memory; why that cannot be, otherwise.
std::string DeviceQueue::map_replies() {
  constexpr std::size_t bytes = std::size_t(request_slots) * reply_stride * sizeof(std::uint64_t);
  constexpr std::size_t page = GdrMapping::page_bytes;
  static_assert(bytes % page == 0, "nothing else lies in the pages that the host writes");
  auto mapping = std::make_unique<GdrMapping>();
  if (std::string why = mapping->open(); !why.empty())
    return why;
  auto memory = reinterpret_cast<std::uintptr_t>(allocate_on_device<char>(bytes + page - 1));
  auto *first_page = reinterpret_cast<std::uint64_t *>((memory + page - 1) / page * page);
  if (std::string why = mapping->map(first_page, bytes, stream_); !why.empty())
    return why;
  context_.replies = first_page;
  replies_ = mapping->words();
  replies_mapping_ = std::move(mapping);
  return "";
}

void DeviceQueue::fill_datatypes() {
  static const MPI_Datatype predefined[] = {
#define GMPI_DATATYPE(handle, variable) handle,
#include "../mpi/predefined_handles.def"
  };
  for (MPI_Datatype datatype : predefined) {
    if (datatype == MPI_DATATYPE_NULL)
      continue;
    int size = 0;
    MPI_Aint lower = 0, extent = 0;
    PMPI_Type_size(datatype, &size);
    PMPI_Type_get_extent(datatype, &lower, &extent);
    std::uint32_t place = datatype_hash(datatype);
    while (context_.datatypes[place].extent != 0)
      place = (place + 1) % datatype_slots;
    context_.datatypes[place] = {datatype, size, static_cast<std::int32_t>(extent),
                                 number_of(datatype)};
  }
}

void DeviceQueue::set_peer(peer::State *state, peer::Comm *world) {
  context_.peer = state;
  context_.peer_world = world;
  fill_modules();
}

void DeviceQueue::fill_modules() {
  for (const void *symbol : launch::modules())
    check(launch::write_context(symbol, context_, stream_),
          "cannot tell a translated file where the Attribute queue lies");
  check(cudaStreamSynchronize(stream_), "cannot set up the Attribute queue");
}

void DeviceQueue::copy_to_device(void *to, const void *from, std::size_t bytes) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "cannot copy");
  check(cudaStreamSynchronize(stream_), "cannot copy");
}

void DeviceQueue::add_launch_states() {
  std::lock_guard growing(growing_mutex_);
  auto *states = allocate_on_device<LaunchState>(launch_states_at_once);
  check(cudaStreamSynchronize(stream_), "cannot clear device memory");
  std::lock_guard lock(launches_mutex_);
  for (std::uint32_t i = 0; i < launch_states_at_once; ++i) {
    launches_.emplace_back();
    launch_states_.push_back(states + i);
  }
}

LaunchState *DeviceQueue::begin_launch(const LaunchRecord &launch, std::uint32_t &index) {
  std::unique_lock lock(launches_mutex_);
  for (index = 0; index == launches_.size() || launches_[index].kernel != nullptr;) {
    if (++index < launches_.size())
      continue;
    lock.unlock(); // its CUDA calls look at the launches
    add_launch_states();
    lock.lock();
    index = 0;
  }
  launches_[index] = launch;
  launches_[index].number = ++launches_so_far_;
  return launch_states_[index];
}

void DeviceQueue::end_launch(std::uint32_t index) {
  std::lock_guard lock(launches_mutex_);
  launches_[index].kernel = nullptr;
}

DeviceQueue::LaunchRecord DeviceQueue::launch_record(std::uint32_t index) const {
  std::lock_guard lock(launches_mutex_);
  return index < launches_.size() ? launches_[index] : LaunchRecord{};
}

std::vector<DeviceQueue::LaunchRecord> DeviceQueue::launches_in_flight() const {
  std::lock_guard lock(launches_mutex_);
  std::vector<LaunchRecord> running;
  for (const LaunchRecord &launch : launches_)
    if (launch.kernel != nullptr)
      running.push_back(launch);
  return running;
}

std::uint64_t DeviceQueue::enqueue_behind_launches(cudaStream_t stream) {
  std::lock_guard lock(launches_mutex_);
  std::uint64_t first = 0;
  for (LaunchRecord &launch : launches_)
    if (launch.kernel != nullptr && !launch.split &&
        split::comes_after(stream, launch.stream, launch.joins_legacy_stream) &&
        ++launch.behind > split::most_behind_launch && (first == 0 || launch.number < first))
      first = launch.number;
  return first;
}

bool DeviceQueue::is_in_flight(std::uint64_t launch_number) const {
  std::lock_guard lock(launches_mutex_);
  return std::any_of(launches_.begin(), launches_.end(), [&](const LaunchRecord &launch) {
    return launch.kernel != nullptr && launch.number == launch_number;
  });
}

void DeviceQueue::reply(std::uint32_t slot, std::uint32_t turn, const Reply &reply,
                        const void *data) {
  std::uint64_t words[reply_words + reply_data_words];
  pack(reply, turn, words);
  std::uint32_t used = 0;
  if (data != nullptr) {
    pack_data(data, static_cast<std::uint32_t>(reply.bytes), turn, words + reply_words);
    used = words_for(static_cast<std::uint32_t>(reply.bytes));
  }
  // The turn has 16 bits. So that no word ever shows one that is to come, all are written twice in a
  // lap; and before turn 0, as words that were never written show.
  const std::uint32_t all =
      (turn & 0x7fff) == 0x7fff ? reply_data_words : (used + 1) / 2 * 2; // read in pairs
  for (; used < all; ++used)
    words[reply_words + used] = tag_word(0, turn);
  std::uint64_t *to = replies_ + std::size_t(slot) * reply_stride;
  const bool mapped = replies_mapping_ != nullptr;
  store_reply(
      reply_words + all,
      [&](std::uint32_t i) { __atomic_store_n(to + i, words[i], __ATOMIC_RELEASE); },
      [&] {
        if (mapped) // else the last may stay in the processor for as long as a millisecond
          fence_mapped_writes();
      });
}

void DeviceQueue::release_from_host(std::uint32_t slot, std::uint32_t turn) {
  HostRelease next{releases_[slot].count + 1, turn};
  std::uint64_t word;
  std::memcpy(&word, &next, sizeof(word));
  __atomic_store_n(reinterpret_cast<std::uint64_t *>(releases_ + slot), word, __ATOMIC_RELEASE);
  __atomic_fetch_add(&releases_[0].count, 1, __ATOMIC_RELEASE);
}

DeviceQueue::~DeviceQueue() {
  replies_mapping_.reset(); // before the memory that it maps
  for (void *memory : on_device_)
    cudaFree(memory);
  for (void *memory : mapped_)
    cudaFreeHost(memory);
  cudaStreamDestroy(stream_);
}

} // namespace gmpi
