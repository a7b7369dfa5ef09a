// The frame of a split kernel, as its segments use it: variables that live across a suspension.
//
// Layout: a value of each thread lies at threads + Offset * thread_slots + thread * slot, slot
// being the value's size rounded up; so the threads of a warp read and write consecutive addresses.
// Offsets are multiples of the slot's size or, past 16 bytes, of 16. What a block saves lies at
// blocks + Offset * blocks of the grid + block * Bytes; what is uniform, once, at uniform + Offset.
// Every suspension saves all that is uniform and lives across it, again where it has not changed:
// see Segment.
//
// Invariant: the parts of two different variables, or of two different functions, never overlap,
// not even where only one of them is in use at a time. Threads do not keep step: while one already
// saves for the next suspension, another of the same segment has yet to restore. Where slots of
// different sizes overlap, a thread's bytes of the one are another thread's bytes of the other.
// (One function may be called from several places with the same part: each thread then finds its
// own bytes where it left them.)
//
// A Frame is copied freely and stays in registers: its functions are inlined, and none of them
// hands its address on.
#pragma once

#include "../launch/participant_device.hpp"
#include "../transport/copy_device.hpp"
#include "reentry_device.hpp"
#include "segment.hpp"

#include <type_traits>

namespace gmpi {

namespace device {

GMPI_DEVICE std::uint64_t grid_thread() {
  std::uint64_t block =
      blockIdx.x + gridDim.x * (blockIdx.y + std::uint64_t(gridDim.y) * blockIdx.z);
  return block * block_threads() + thread_index();
}
GMPI_DEVICE std::uint64_t grid_block() {
  return blockIdx.x + gridDim.x * (blockIdx.y + std::uint64_t(gridDim.y) * blockIdx.z);
}

/// Counts a block's threads where some may have returned. In shared memory; 0 between uses.
#ifdef GMPI_DEVICE_CPU
inline std::uint32_t &living_counter() { return cpu::shared<std::uint32_t>({0, __LINE__, 0}); }
inline unsigned char *dynamic_shared_memory() { return cpu::dynamic_shared<unsigned char>(); }
inline std::uint32_t dynamic_shared_bytes() {
  return static_cast<std::uint32_t>(cpu::dynamic_shared_bytes());
}
#else
GMPI_DEVICE std::uint32_t &living_counter() {
  __shared__ std::uint32_t counter;
  return counter;
}
extern __shared__ uint4 gmpi_dynamic_shared_memory[];
GMPI_DEVICE unsigned char *dynamic_shared_memory() {
  return reinterpret_cast<unsigned char *>(gmpi_dynamic_shared_memory);
}
GMPI_DEVICE std::uint32_t dynamic_shared_bytes() {
  std::uint32_t bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  return bytes;
}
#endif

/// Numbers the block's threads that are still there from 0; all of them call it. It has barriers.
GMPI_DEVICE void number_living(bool exits, std::uint32_t &rank, std::uint32_t &size) {
  if (!exits) {
    rank = thread_index();
    size = block_threads();
    return;
  }
  std::uint32_t &counter = living_counter();
  rank = atomicAdd(&counter, 1u);
  __syncthreads();
  size = counter;
  __syncthreads();
  if (rank == 0)
    counter = 0;
  __syncthreads();
}

} // namespace device

class Frame {
public:
  /// All threads of the block make one, first of all.
  GMPI_DEVICE explicit Frame(const Segment &segment)
      : segment_(&segment), threads_(segment.threads), blocks_(segment.blocks) {
    device::leave_empty_launch(segment.launch == empty_launch);
    if (segment.elected == nullptr)
      return;
    if (device::thread_index() == 0)
      device::living_counter() = 0;
    __syncthreads();
  }

  /// The part of a device function that the kernel calls: behind what the caller saves itself.
  /// `first`: the caller's number of the function's first resume point.
  GMPI_DEVICE Frame callee(unsigned uniform, unsigned block, unsigned thread, int first) const {
    Frame frame(*this);
    frame.uniform_ += uniform;
    frame.threads_ += thread * segment_->thread_slots;
    frame.blocks_ += std::uint64_t(block) * device::grid_blocks();
    frame.first_ += static_cast<std::uint32_t>(first - 1);
    return frame;
  }

  /// This thread returned in an earlier segment.
  GMPI_DEVICE bool gone() const {
    return segment_->number != 0 && segment_->elected != nullptr &&
           segment_->at[device::grid_thread()] != segment_->number;
  }
  // In kernels some of whose calls one thread makes for itself.

  /// It is one thread's turn, behind such a call of its own.
  GMPI_DEVICE bool alone() const { return segment_->only != split::all_threads; }
  /// This thread has no part in the segment.
  GMPI_DEVICE bool absent() const {
    return alone() ? segment_->only != device::grid_thread() : gone();
  }
  /// Suspended, this thread has come to where the whole grid meets, and with its block's others.
  GMPI_DEVICE bool meets() const {
    return !alone() &&
           (segment_->at == nullptr || segment_->at[device::grid_thread()] == next_number());
  }

  /// What the call returned that this segment resumes from.
  GMPI_DEVICE int error() const { return segment_->result.error; }

  // A value of each thread.
  template <class T, unsigned Offset, unsigned Bytes> GMPI_DEVICE split::Plain<T> saved() const {
    return *thread_slot<T, Offset, Bytes>();
  }
  template <unsigned Offset, unsigned Bytes, class T> GMPI_DEVICE void save(const T &value) const {
    split::copy(*thread_slot<T, Offset, Bytes>(), value);
  }
  /// For a variable that was declared without an initialiser, or an array.
  template <unsigned Offset, unsigned Bytes, class T> GMPI_DEVICE void restore(T &variable) const {
    split::copy(variable, *thread_slot<T, Offset, Bytes>());
  }
  /// What a reference is bound to. T: the reference's type.
  template <class T, unsigned Offset, unsigned Bytes>
  GMPI_DEVICE std::remove_reference_t<T> &saved_reference() const {
    return *saved<std::remove_reference_t<T> *, Offset, Bytes>();
  }
  template <unsigned Offset, unsigned Bytes, class T>
  GMPI_DEVICE void save_reference(T &reference) const {
    save<Offset, Bytes, T *>(&reference);
  }
  /// A variable that lives in the frame for good.
  template <class T, unsigned Offset, unsigned Bytes> GMPI_DEVICE T &resident() const {
    return *thread_slot<T, Offset, Bytes>();
  }

  // A value that is the same in all threads.
  template <class T, unsigned Offset, unsigned Bytes>
  GMPI_DEVICE split::Plain<T> saved_uniform() const {
    check<split::Plain<T>, Bytes>();
    return *reinterpret_cast<const split::Plain<T> *>(segment_->uniform + uniform_ + Offset);
  }
  template <unsigned Offset, unsigned Bytes, class T>
  GMPI_DEVICE void save_uniform(const T &value) const {
    check<T, Bytes>();
    if (elected())
      split::copy_in_common(
          *reinterpret_cast<split::Plain<T> *>(segment_->next_uniform + uniform_ + Offset), value);
  }

  template <unsigned Offset, unsigned Bytes, class T>
  GMPI_DEVICE void restore_uniform(T &variable) const {
    check<T, Bytes>();
    split::copy(variable,
                *reinterpret_cast<const split::Plain<T> *>(segment_->uniform + uniform_ + Offset));
  }

  /// For `auto x = resumes ? frame.saved_auto<...>() : init;`, where the initialiser gives the
  /// type.
  template <unsigned Offset, unsigned Bytes> struct Auto {
    const Frame &frame;
    template <class T> GMPI_DEVICE operator T() const {
      return frame.template saved<T, Offset, Bytes>();
    }
  };
  template <unsigned Offset, unsigned Bytes> struct AutoUniform {
    const Frame &frame;
    template <class T> GMPI_DEVICE operator T() const {
      return frame.template saved_uniform<T, Offset, Bytes>();
    }
  };
  template <unsigned Offset, unsigned Bytes> GMPI_DEVICE Auto<Offset, Bytes> saved_auto() const {
    return {*this};
  }
  template <unsigned Offset, unsigned Bytes>
  GMPI_DEVICE AutoUniform<Offset, Bytes> saved_uniform_auto() const {
    return {*this};
  }

  // A block's shared memory. All living threads of the block call these. `Singles`: or one that
  // suspends alone, and before the others, if there are any: they save it again.
  template <unsigned Offset, unsigned Bytes, bool Singles = false, class T>
  GMPI_DEVICE void save_shared(const T &variable) const {
    check<T, Bytes>();
    store<Singles>(block_slot<Offset, Bytes>(), &variable, sizeof(T));
  }
  template <unsigned Offset, unsigned Bytes, class T>
  GMPI_DEVICE void restore_shared(T &variable) const {
    check<T, Bytes>();
    load_block(const_cast<std::remove_cv_t<T> *>(&variable), block_slot<Offset, Bytes>(),
               sizeof(T));
  }
  template <bool Singles = false> GMPI_DEVICE void save_dynamic_shared() const {
    std::uint32_t bytes = device::dynamic_shared_bytes();
    store<Singles>(dynamic_slot(bytes), device::dynamic_shared_memory(), bytes);
  }
  GMPI_DEVICE void restore_dynamic_shared() const {
    std::uint32_t bytes = device::dynamic_shared_bytes();
    load_block(device::dynamic_shared_memory(), dynamic_slot(bytes), bytes);
  }

  // For the calls (suspend_device.hpp).

  GMPI_DEVICE const Segment &segment() const { return *segment_; }
  GMPI_DEVICE std::uint32_t next_number() const { return segment_->number + 1; }
  GMPI_DEVICE std::uint32_t first_point() const { return first_; }

  /// Memory that the driver cannot reach, or that is not the same for all threads.
  GMPI_DEVICE bool is_own(const void *pointer) const {
    auto *byte = static_cast<const unsigned char *>(pointer);
    return device::is_local(pointer) || device::is_shared(pointer) ||
           (byte >= segment_->threads && byte < segment_->blocks);
  }
  /// Has each living thread come to the next suspension; true in the one that announces it.
  GMPI_DEVICE bool elect() const {
    if (segment_->elected == nullptr)
      return device::grid_thread() == 0;
    std::uint32_t number = next_number();
    segment_->at[device::grid_thread()] = number;
    if (device::load_acquire_device(segment_->elected) == number)
      return false;
    return atomicExch(segment_->elected, number) != number;
  }

private:
  template <class T, unsigned Bytes> GMPI_DEVICE static void check() {
    static_assert(sizeof(T) <= Bytes,
                  "a variable is larger than the translator found it: translate this "
                  "file again, with the mpi.h that it is compiled with");
  }
  template <class T, unsigned Offset, unsigned Bytes>
  GMPI_DEVICE split::Plain<T> *thread_slot() const {
    check<split::Plain<T>, Bytes>();
    return reinterpret_cast<split::Plain<T> *>(threads_ + Offset * segment_->thread_slots +
                                               device::grid_thread() * split::slot_bytes(Bytes));
  }
  template <unsigned Offset, unsigned Bytes> GMPI_DEVICE unsigned char *block_slot() const {
    return blocks_ + std::uint64_t(Offset) * device::grid_blocks() + device::grid_block() * Bytes;
  }
  GMPI_DEVICE unsigned char *dynamic_slot(std::uint32_t bytes) const {
    return segment_->dynamic + device::grid_block() * bytes;
  }
  /// Writes what is uniform. Where threads return early, all that are left write the same.
  GMPI_DEVICE bool elected() const {
    return segment_->elected != nullptr || device::grid_thread() == 0;
  }

  template <bool Singles>
  GMPI_DEVICE void store(unsigned char *to, const volatile void *from, std::uint32_t bytes) const {
    if (!Singles || meets()) {
      store_block(to, from, bytes);
    } else if (!alone()) {
      device::copy_share(to, const_cast<const void *>(from), bytes, 0, 1);
      __threadfence(); // the others' barrier is passed once this thread has ended
    }
  }
  GMPI_DEVICE void store_block(unsigned char *to, const volatile void *from,
                               std::uint32_t bytes) const {
    __syncthreads();
    std::uint32_t rank, size;
    device::number_living(segment_->elected != nullptr, rank, size);
    device::copy_share(to, const_cast<const void *>(from), bytes, rank, size);
  }
  GMPI_DEVICE void load_block(void *to, const unsigned char *from, std::uint32_t bytes) const {
    std::uint32_t rank, size;
    device::number_living(segment_->elected != nullptr, rank, size);
    device::copy_share(to, from, bytes, rank, size);
    __syncthreads();
  }

  const Segment *segment_;
  unsigned char *threads_, *blocks_;
  std::uint32_t uniform_ = 0; ///< offset of this function's part
  std::uint32_t first_ = 0;
};

} // namespace gmpi
