// Size classes are four to a power of two: a quarter is wasted at most.
#include "frame_pool.hpp"

namespace gmpi::split {

FrameLayout layout_of(const Sizes &sizes, dim3 grid, dim3 block,
                      std::uint64_t dynamic_shared_bytes) {
  constexpr std::uint64_t alignment = 256;
  std::uint64_t grid_blocks = 1ull * grid.x * grid.y * grid.z;
  FrameLayout layout{};
  layout.thread_slots = round_up(grid_blocks * block.x * block.y * block.z, 32);
  auto place = [&, end = std::uint64_t(0)](std::uint64_t bytes) mutable {
    std::uint64_t begin = end;
    layout.end = end = round_up(begin + bytes, alignment);
    return begin;
  };
  for (std::uint64_t &uniform : layout.uniform)
    uniform = place(sizes.uniform);
  layout.threads = place(sizes.thread * layout.thread_slots);
  layout.blocks = place(sizes.block * grid_blocks);
  layout.dynamic = place(sizes.dynamic_shared ? dynamic_shared_bytes * grid_blocks : 0);
  layout.elected = place(sizes.exits ? sizeof(std::uint32_t) : 0);
  layout.at = place(sizes.exits ? sizeof(std::uint32_t) * layout.thread_slots : 0);
  return layout;
}

std::uint64_t FramePool::size_class(std::uint64_t bytes) {
  std::uint64_t step = 1024;
  while (8 * step < bytes)
    step *= 2;
  return round_up(bytes == 0 ? 1 : bytes, step);
}

FramePool::Frame FramePool::take(std::uint64_t bytes) {
  std::uint64_t size = size_class(bytes);
  unsigned char *memory = nullptr;
  {
    std::lock_guard lock(spare_->mutex);
    auto &spare = spare_->memory[size];
    if (!spare.empty()) {
      memory = spare.back();
      spare.pop_back();
    }
  }
  if (memory == nullptr) {
    void *fresh = nullptr;
    if (cudaMalloc(&fresh, size) != cudaSuccess) {
      cudaGetLastError();
      return nullptr;
    }
    memory = static_cast<unsigned char *>(fresh);
  }
  return Frame(memory, [spare = spare_, size](unsigned char *given) {
    std::lock_guard lock(spare->mutex);
    spare->memory[size].push_back(given);
  });
}

void FramePool::free_memory() {
  std::lock_guard lock(spare_->mutex);
  for (auto &[size, frames] : spare_->memory)
    for (unsigned char *frame : frames)
      cudaFree(frame);
  spare_->memory.clear();
}

} // namespace gmpi::split
