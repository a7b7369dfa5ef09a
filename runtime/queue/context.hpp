// What device code needs to reach the queue: where the rings lie, and the few facts of MPI that
// kernels answer by themselves. The host fills one Context per device; each translated file has a
// copy in constant memory. Host and device.
#pragma once

#include "../peer/collectives/round.hpp"
#include "../peer/series/series.hpp"
#include "../peer/work.hpp"
#include "attribute.hpp"

namespace gmpi {

constexpr std::uint32_t ring_slots = 256;     ///< Attributes in flight to the proxy; a power of two
constexpr std::uint32_t request_slots = 1024; ///< calls unfinished at a time; at most 1024
/// Of them, the first: one for each launch's grid calls; then, those that blocks keep.
constexpr std::uint32_t launch_slots = 96, block_slots = 160;
constexpr std::uint32_t common_slots = launch_slots + block_slots; ///< the first of the others
constexpr std::uint32_t inline_bytes = 65536; ///< payload area beside an Attribute, and a Reply
/// Of what lies beside an Attribute, up to so many bytes are in words with its generation: no
/// fence, but a third more to write, and for the host to read.
constexpr std::uint32_t tagged_bytes = 6144;
/// The same of what a single thread sends: it has little under way at a time.
constexpr std::uint32_t tagged_bytes_alone = 768;
/// Context::direct_above where MPI is given no addresses of device memory.
constexpr std::uint64_t never_direct = ~std::uint64_t(0);
constexpr std::uint32_t datatype_slots = 128; ///< hash table of predefined datatypes
constexpr std::uint32_t comm_slots = 256;     ///< hash table of communicators' sizes
constexpr std::uint32_t broadcast_bytes = 4096;
/// Data that a block keeps, in shared memory, for its threads' own.
constexpr std::uint32_t block_keeps = 336;
/// The host tells MPI_Wtime in 1/wtime_ticks of a second since wtime_base: a Reply's 48 bits are
/// enough for 97 days.
constexpr double wtime_ticks = 1 << 24;

/// What the words of Attribute `number` carry: never 0, as they are at first and where data was
/// taken.
GMPI_HOST_DEVICE constexpr std::uint32_t ring_generation(std::uint64_t number) {
  return 0x8000u | static_cast<std::uint32_t>(number / ring_slots & 0x7fff);
}

/// Producer's side of the Attribute ring, in device memory.
struct RingState {
  unsigned long long ticket;   ///< next Attribute's number
  unsigned long long consumed; ///< last known count of Attributes that the proxy has taken
  std::uint32_t asking;        ///< 1 while a thread asks the host for that count
};

/// Who may take one of the slots that all share, in device memory: first come, first served. Each
/// count wraps, and has a cache line of its own.
struct SlotQueue {
  /// Numbers given to those who want a slot.
  alignas(128) std::uint32_t asked;
  /// Those whose turn it is: as many as there are slots, and were given back.
  alignas(128) std::uint32_t granted;
  /// 1 while a thread takes back what the host has given back.
  alignas(128) std::uint32_t collecting;
  /// So many of them blocks and launches may keep, all together (SlotReserve).
  std::uint32_t reserved;
};

/// Slots that a block, or a launch, has had requests in, and keeps for its next ones.
struct SlotReserve {
  static constexpr std::uint32_t most = 32; // a warp's lanes
  std::uint32_t count;                      ///< of those that are here
  std::uint32_t allowed;                    ///< as many may be here
  struct Slot {
    std::uint32_t slot, serial; ///< as its RequestRecord says
  } of[most];
};
/// So many slots may be in reserves: most of them stay for all.
constexpr std::uint32_t most_reserved = 256;

/// Device-side bookkeeping of one request slot, in device memory; owned by whoever holds the slot.
struct RequestRecord {
  std::uint32_t turn;     ///< generation of the last Reply seen
  std::uint32_t serial;   ///< counts the uses of the slot that are over
  void *out;              ///< receive buffer of a nonblocking call
  std::uint32_t expected; ///< its room, if that is short enough for data that comes with a Reply
};

/// A released slot's notice from the host: a host MPI_Wait has finished with it.
struct HostRelease {
  std::uint32_t count; ///< grows by one at each release
  std::uint32_t turn;
};

/// Size and extent of a predefined datatype, in bytes; an empty entry has extent 0.
struct DatatypeEntry {
  MPI_Datatype handle;
  std::int32_t size, extent;
  Number number;
};

/// Copies that the threads of a block, or of a grid, make together.
struct Copies {
  struct Copy {
    void *to; ///< null: what comes to the request through its channel is to be read instead
    const void *from;
    unsigned long long bytes;
    std::uint32_t request; ///< for which, if any
    bool is_new;           ///< that is a receive that has just been given its message
    bool asked_for;        ///< by the proxy, which is to be told
  };
  static constexpr std::uint32_t most = 16;
  std::uint32_t count;
  Copy copy[most];
};

/// Work that the block which makes a grid-scope call hands to the other blocks. With the command
/// `done`: the bytes of launch->broadcast that each thread takes to its own receive buffer.
struct GridTask {
  unsigned long long bytes;  ///< of a copy: of all of them
  unsigned long long next;   ///< first byte that no block has taken yet
  unsigned long long offset; ///< in each thread's own receive buffer
  enum What : std::uint32_t {
    copy,            ///< launch->copies, in portions
    copy_evenly,     ///< the same, where all blocks are there, of each an equal part
    carry_transfers, ///< launch->transfers, instead
    exchange_round,  ///< launch->round, instead
    exchange_rounds, ///< the same, of several rounds
    carry_spans,     ///< launch->spans, instead
  } what;

  GMPI_HOST_DEVICE bool copies() const { return what <= copy_evenly; }
};

/// What a call returns, besides message data.
struct CallResult {
  std::int32_t error;
  std::int32_t flag;
  std::int32_t source, tag;
  unsigned long long bytes; ///< length of the message received
  MPI_Request request;
};

/// One launch of a kernel with MPI in it, in device memory. Between launches membership, command,
/// claimed and met are 0: the last block to leave puts them back. The rest is written before each
/// use.
struct LaunchState {
  unsigned long long membership; ///< blocks that have arrived (low half) and departed (high half)
  /// In a line of its own: waiting blocks look at it all the time, and what else lies there waits.
  /// What comes with the command `bring`: data for each thread's own memory.
  alignas(128) std::uint64_t brought;
  /// Low half: round << 4 | GridCommand; 28 bits of round, which wrap. High half: the call's error;
  /// of `answer`, the request's number; of `bring`, how many bytes it brings.
  unsigned long long command;
  alignas(128) std::uint32_t claimed; ///< 1 once a block has taken the last promotion
  std::uint32_t met;                  ///< arrivals at meetings of all blocks, so far
  GridTask task;
  Copies copies;
  CallResult result;
  peer::SharedTransfers transfers;
  peer::Round round;   ///< of a collective call, that all blocks carry together
  peer::Routes routes; ///< of calls of grid scope; given back, and empty, between launches
  peer::Source sources[peer::Source::most]; ///< of the same: for blocks that make one; likewise
  SlotReserve reserve;                      ///< of the same; likewise
  peer::ReadyRequests ready;                ///< of the same; likewise
  peer::LeftStatuses statuses;              ///< of the same
  peer::SharedSpans spans;                  ///< of the same
  /// What comes with the command `carry`: a span that all blocks carry. Three packets, each with
  /// the command's round; zero between launches.
  alignas(128) std::uint64_t told[3][2];
  std::uint32_t lacks_threads; ///< 1 once a block has made a call without some of its own
  alignas(16) unsigned char broadcast[broadcast_bytes];
  /// Where the span is an exchange's, what is sent meanwhile: a packet that comes with the command,
  /// and one, later, that says how. As `told`.
  alignas(128) std::uint64_t outgoing[2][2];
};
static_assert(offsetof(LaunchState, command) == offsetof(LaunchState, brought) + 8,
              "await_command() loads both at once");

/// Which predefined handle, where the library's handles are addresses of host variables.
enum class Handle : std::uint16_t {
#define GMPI_DATATYPE(handle, variable) variable,
#define GMPI_HANDLE(handle, variable) variable,
#include "../mpi/predefined_handles.def"
  count
};

struct Context {
  std::uint64_t *ring;           ///< [ring_slots][attribute_words], mapped host memory
  RingState *ring_state;         ///< device memory
  unsigned char *ring_payload;   ///< [ring_slots][inline_bytes], mapped host memory
  const std::uint64_t *consumed; ///< count of Attributes taken, mapped host memory
  const std::uint64_t *replies;  ///< [request_slots][reply_stride], mapped host memory, or device's
  const unsigned char *payload;  ///< [request_slots][inline_bytes], mapped host memory
  const HostRelease
      *host_releases;           ///< [request_slots]; the first counts them all; mapped host memory
  RequestRecord *records;       ///< [request_slots], device memory
  std::uint32_t *free_slots;    ///< [request_slots / 32] bits, 1: free; device memory
  SlotQueue *slot_queue;        ///< for those from common_slots on; device memory
  std::uint32_t *seen_releases; ///< [request_slots], device memory
  const std::uint64_t *comm_sizes; ///< [2][comm_slots]: handle and, in the top 16 bits, size; then,
                                   ///< own rank; mapped host memory
  double wtime_base;               ///< MPI_Wtime when the device was set up
  double *wtime_offset;            ///< MPI_Wtime minus %globaltimer in seconds, 0: not known yet
  MPI_Comm world, self;
  std::int32_t world_rank, world_size;
  std::int32_t tag_upper_bound; ///< MPI_TAG_UB
  std::uint32_t device;         ///< number that this device's requests carry
  std::uint64_t direct_above;   ///< longer data in global memory is MPI's to read or write there
  bool own_direct;              ///< also where it goes to the rank that sends it
  peer::State *peer;            ///< for messages from kernel to kernel; null: there are none
  peer::Comm *peer_world;       ///< MPI_COMM_WORLD, if they are such
  DatatypeEntry datatypes[datatype_slots];
#ifdef OPEN_MPI
  void *handles[static_cast<int>(Handle::count)];
#endif
};

GMPI_HOST_DEVICE inline std::uint32_t datatype_hash(MPI_Datatype datatype) {
  return static_cast<std::uint32_t>((to_word(datatype) * 0x9E3779B97F4A7C15ull) >> 57);
}

GMPI_HOST_DEVICE inline std::uint32_t comm_hash(MPI_Comm comm) {
  return static_cast<std::uint32_t>((to_word(comm) * 0x9E3779B97F4A7C15ull) >> 56);
}
static_assert(comm_slots == 256 && datatype_slots == 128, "the hashes are 8 and 7 bits");

} // namespace gmpi
