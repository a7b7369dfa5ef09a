// What it costs two kernels that run side by side on one GPU to hand a message to and fro, by
// polling and by atomics; and the way to the host: straight from the kernel that computes, or
// relayed by a second kernel, as the paper's communication kernel does. After paper 000, figure 9.
//
// Plain CUDA, without MPI: it needs a GPU on which two kernels run at once.
#include "bench.h"

using bench::Role;

#ifdef GMPI_DEVICE_CPU

void experiments::ksync(bench::Bench &bench) {
  if (bench.rank == 0)
    std::printf("ksync needs a GPU.\n");
}

#else
#include "device_clock.h"
#include "server.h"

#include <memory>

namespace {

constexpr int most_words = 256;

/// One direction: the words of a message, and a flag with the number of the message they belong to.
struct Channel {
  unsigned words[most_words];
  alignas(128) unsigned flag;
};

/// What the host is told at the end.
struct Findings {
  unsigned wrong; ///< words
  unsigned gave_up;
};

enum class By { polling, atomics };

struct Message {
  int words;
  unsigned first; ///< number of the first message of this launch
  int count;
  By by;
};

__host__ __device__ unsigned content(unsigned number, int word) { return number * 31 + word; }

/// Lanes write the words, one of them the flag. `system`: the host or another device reads.
__device__ void put(Channel &to, const Message &m, unsigned number, unsigned added, bool system) {
  volatile unsigned *words = to.words;
  for (int i = threadIdx.x; i < m.words; i += warpSize)
    words[i] = content(number, i) + added;
  if (system)
    __threadfence_system();
  else
    __threadfence();
  __syncwarp();
  if (threadIdx.x == 0 && m.by == By::atomics)
    atomicExch(&to.flag, number);
  else if (threadIdx.x == 0)
    *static_cast<volatile unsigned *>(&to.flag) = number;
}

/// As bench::wait_for, by atomic additions of nothing.
__device__ bool wait_by_atomics(unsigned *flag, unsigned number) {
  for (unsigned polls = 0; atomicAdd(flag, 0u) != number; ++polls)
    if (polls > 20'000'000)
      return false;
  return true;
}

/// Counts words that are not message `number`'s; false where it does not come.
__device__ bool get(Channel &from, const Message &m, unsigned number, unsigned added,
                    Findings *found) {
  bool arrived = threadIdx.x != 0 || (m.by == By::atomics ? wait_by_atomics(&from.flag, number)
                                                          : bench::wait_for(&from.flag, number));
  if (!__all_sync(~0u, arrived)) {
    found->gave_up = 1;
    return false;
  }
  __threadfence();
  const volatile unsigned *words = from.words;
  for (int i = threadIdx.x; i < m.words; i += warpSize)
    if (words[i] != content(number, i) + added)
      atomicAdd(&found->wrong, 1u);
  __syncwarp(); // before the next message overwrites this one
  return true;
}

/// The kernel that computes: sends a message, waits for the answer.
__global__ void asks(Channel *to, Channel *from, Message m, bool system, Findings *found) {
  for (unsigned n = m.first; n < m.first + m.count; ++n) {
    put(*to, m, n, 0, system);
    if (!get(*from, m, n, 1, found))
      return;
  }
}

/// Answers each message with one whose words are one more.
__global__ void answers(Channel *from, Channel *to, Message m, Findings *found) {
  for (unsigned n = m.first; n < m.first + m.count; ++n) {
    if (!get(*from, m, n, 0, found))
      return;
    put(*to, m, n, 1, false);
  }
}

/// The communication kernel: hands on what comes from either side.
__global__ void relays(Channel *from, Channel *host_in, Channel *host_out, Channel *to, Message m,
                       Findings *found) {
  for (unsigned n = m.first; n < m.first + m.count; ++n) {
    if (!get(*from, m, n, 0, found))
      return;
    put(*host_in, m, n, 0, true);
    if (!get(*host_out, m, n, 1, found))
      return;
    put(*to, m, n, 1, false);
  }
}

/// The host's end: answers message n as the kernel `answers` does.
bool answer(Channel *in, Channel *out, int words, unsigned n, const bench::Stopped &stopped) {
  if (!bench::arrives(&in->flag, n, stopped))
    return false;
  const volatile unsigned *from = in->words;
  volatile unsigned *to = out->words;
  for (int i = 0; i < words; ++i)
    to[i] = from[i] + 1;
  std::atomic_thread_fence(std::memory_order_release);
  *static_cast<volatile unsigned *>(&out->flag) = n;
  return true;
}

enum class Route { to_kernel, to_host, relayed };

/// Microseconds there and back.
bench::Sample measure(bench::Bench &bench, int bytes, Route route, By by) {
  bench::Array<Channel> near(2);                       // in device memory
  bench::Array<Channel> far(2, bench::Memory::pinned); // in mapped memory
  bench::Array<Findings> found(1, bench::Memory::pinned);
  bench::Stream computes, communicates;
  std::unique_ptr<bench::Server> host;
  if (route != Route::to_kernel)
    host = std::make_unique<bench::Server>([&](unsigned n, const bench::Stopped &stopped) {
      return answer(far.data(), far.data() + 1, bytes / 4, n, stopped);
    });
  Channel *there = route == Route::to_host ? far.data() : near.data();
  Message m = {bytes / 4, 1, bench.options.integer("iterations", 1000), by};
  bench::Sample sample = bench.measure(m.count, [&] {
    if (route == Route::to_kernel)
      answers<<<1, 32, 0, communicates>>>(there, there + 1, m, found.data());
    else if (route == Route::relayed)
      relays<<<1, 32, 0, communicates>>>(there, far.data(), far.data() + 1, there + 1, m,
                                         found.data());
    asks<<<1, 32, 0, computes>>>(there, there + 1, m, route == Route::to_host, found.data());
    computes.synchronize();
    communicates.synchronize();
    if (found.data()->gave_up)
      bench::give_up("ksync: a kernel has waited in vain; do two kernels run at once here?");
    m.first += m.count;
  });
  bench.wrong("ksync", found.data()->wrong, "words");
  return sample;
}

} // namespace

void experiments::ksync(bench::Bench &bench) {
  bench.table(
      "Two running kernels on one GPU, there and back",
      {{"size", "B", Role::x}, {"polling", "us", Role::ours}, {"atomics", "us", Role::ours}});
  for (int bytes = 4; bytes <= 4 * most_words; bytes *= 2)
    bench.row({bytes, measure(bench, bytes, Route::to_kernel, By::polling),
               measure(bench, bytes, Route::to_kernel, By::atomics)});
  bench.table("A kernel and the host, there and back",
              {{"size", "B", Role::x},
               {"by a communication kernel", "us", Role::ours},
               {"straight to the host", "us", Role::limit}});
  for (int bytes = 4; bytes <= 4 * most_words; bytes *= 2)
    bench.row({bytes, measure(bench, bytes, Route::relayed, By::polling),
               measure(bench, bytes, Route::to_host, By::polling)});
}

#endif
