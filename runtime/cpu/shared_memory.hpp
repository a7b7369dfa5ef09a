// One block's shared memory: dynamic shared memory first, then each __shared__ variable at its
// first use, with a gap behind each whose bytes must stay as they are.
#pragma once

#include "gmpi/cpu.hpp"

#include <vector>

namespace gmpi::cpu {

class SharedMemory {
public:
  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory &) = delete;
  SharedMemory &operator=(const SharedMemory &) = delete;

  void begin_block(std::size_t dynamic_bytes);
  void *variable(SharedSite site, const void *type, std::size_t bytes, std::size_t alignment);
  void *dynamic() const { return base_; }
  bool holds(const void *p) const { return p >= base_ && p < base_ + used_; }
  // Fails if a byte between variables was written.
  void check() const;

private:
  struct Variable {
    SharedSite site;
    const void *type;
    std::size_t offset, bytes;
  };
  std::size_t add(SharedSite site, const void *type, std::size_t bytes, std::size_t alignment);

  char *base_;
  std::size_t used_ = 0, variable_bytes_ = 0;
  std::vector<Variable> variables_;
};

} // namespace gmpi::cpu
