// Each store of 16 bytes (or less) begins with the Attribute's generation, so the host knows of
// each part that it has arrived: no fence, no doorbell, nothing to clear.
#include "mailbox.h"

#ifdef GMPI_DEVICE_CPU

bench::Cell mailbox::round_trip(bench::Bench &, int) { return {}; }
bench::Cell mailbox::rate(bench::Bench &) { return {}; }

#else
#include "device_clock.h"
#include "server.h"
#include "sixteen.h"

namespace {

constexpr unsigned slots = 1024;          // of the ring; a power of two
constexpr unsigned words_per_slot = 16;   // 64 bytes
constexpr unsigned attributes_a_warp = 8; // 32 lanes of 16 bytes
constexpr unsigned taken_interval = 128;  // the host says so often how far it is

/// What the kernel and the host thread share.
struct Shared {
  alignas(128) unsigned words[slots * words_per_slot];
  alignas(128) unsigned answer; // written by the host
  alignas(128) unsigned gave_up;
};

__host__ __device__ unsigned payload(unsigned generation, unsigned place) {
  return generation * 2654435761u + place;
}

__device__ void store(unsigned *place, uint4 value) {
  bench::store(reinterpret_cast<uint4 *>(place), value);
}

__device__ void post(unsigned *words, unsigned bytes, unsigned generation) {
  if (bytes < 16) {
    if (threadIdx.x == 0 && bytes == 4)
      *static_cast<volatile unsigned *>(words) = generation;
    else if (threadIdx.x == 0)
      asm volatile("st.volatile.global.v2.u32 [%0], {%1, %2};" ::"l"(words), "r"(generation),
                   "r"(payload(generation, 1))
                   : "memory");
    return;
  }
  for (unsigned i = 4 * threadIdx.x; i < bytes / 4; i += 4 * warpSize)
    store(words + i, {generation, payload(generation, i + 1), payload(generation, i + 2),
                      payload(generation, i + 3)});
}

/// One warp asks, and waits for the answer before it asks again.
__global__ void ask(Shared *shared, unsigned bytes, unsigned generation, int times) {
  for (int i = 0; i < times; ++i, ++generation) {
    post(shared->words, bytes, generation);
    bool answered = threadIdx.x != 0 || bench::wait_for(&shared->answer, generation);
    if (!__all_sync(~0u, answered)) {
      shared->gave_up = 1;
      return;
    }
  }
}

/// One warp writes Attributes number `first` and so on, as fast as the ring has room.
__global__ void stream(Shared *shared, unsigned first, unsigned count) {
  unsigned taken = first;
  for (unsigned n = first; n < first + count; n += attributes_a_warp) {
    for (int polls = 0; n + attributes_a_warp - taken > slots; ++polls) {
      taken = *static_cast<volatile unsigned *>(&shared->answer);
      taken = __shfl_sync(~0u, taken, 0);
      if (polls > 10'000'000) {
        shared->gave_up = 1;
        return;
      }
    }
    unsigned mine = n + threadIdx.x / 4, part = threadIdx.x % 4, generation = mine / slots + 1;
    store(shared->words + mine % slots * words_per_slot + 4 * part,
          {generation, payload(mine, part), 0, 0});
  }
}

/// Whether all parts have arrived; false where the server is stopped first.
bool arrives(const volatile unsigned *words, unsigned bytes, unsigned generation,
             const bench::Stopped &stopped) {
  for (unsigned i = 0; i < bytes / 4; i += 4)
    if (!bench::arrives(words + i, generation, stopped))
      return false;
  return true;
}

/// Waits for the kernel, and ends the job where it has not got an answer.
void finish(const bench::Stream &stream, const Shared &shared) {
  stream.synchronize();
  if (shared.gave_up)
    bench::give_up("mailbox: the kernel has waited in vain for the host.");
}

} // namespace

bench::Cell mailbox::round_trip(bench::Bench &bench, int bytes) {
  bench::Array<Shared> shared(1, bench::Memory::pinned);
  Shared *box = shared.data();
  bench::Stream on;
  int times = bench.options.integer("iterations", 1000);
  unsigned generation = 1, wrong = 0;
  bench::Cell cell;
  {
    bench::Server server([&, box](unsigned n, const bench::Stopped &stopped) {
      const volatile unsigned *words = box->words;
      if (!arrives(words, bytes, n, stopped))
        return false;
      for (unsigned i = 0; i < unsigned(bytes) / 4; ++i)
        wrong += i % 4 != 0 && words[i] != payload(n, i);
      *static_cast<volatile unsigned *>(&box->answer) = n;
      return true;
    });
    cell = bench.measure(times, [&] {
      ask<<<1, 32, 0, on>>>(box, bytes, generation, times);
      finish(on, *box);
      generation += times;
    });
  }
  bench.wrong("mailbox, round trip", wrong, "words");
  return cell;
}

bench::Cell mailbox::rate(bench::Bench &bench) {
  bench::Array<Shared> shared(1, bench::Memory::pinned);
  Shared *box = shared.data();
  bench::Stream on;
  unsigned count = bench.options.integer("iterations", 1000) * taken_interval;
  unsigned first = 0, wrong = 0;
  auto taken = [box] { return *static_cast<volatile unsigned *>(&box->answer); };
  bench::Cell cell;
  {
    bench::Server server([&, box](unsigned n, const bench::Stopped &stopped) {
      unsigned number = n - 1;
      const volatile unsigned *words = box->words + number % slots * words_per_slot;
      if (!arrives(words, 64, number / slots + 1, stopped))
        return false;
      for (unsigned part = 0; part < 4; ++part)
        wrong += words[4 * part + 1] != payload(number, part);
      if (n % taken_interval == 0)
        *static_cast<volatile unsigned *>(&box->answer) = n;
      return true;
    });
    bench::Sample sample = bench.measure(count, [&] {
      stream<<<1, 32, 0, on>>>(box, first, count);
      finish(on, *box);
      first += count;
      for (double start = MPI_Wtime(); taken() != first;)
        if (MPI_Wtime() - start > 10)
          bench::give_up("mailbox: the host has waited in vain for Attributes.");
    });
    cell = sample.into(1);
  }
  bench.wrong("mailbox, rate", wrong, "words");
  return cell;
}

#endif
