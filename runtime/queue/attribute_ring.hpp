// Consumer's side of the Attribute ring: the proxy's. The invariant stands in
// attribute_ring_device.hpp.
#pragma once

#include "context.hpp"

#include <atomic>

namespace gmpi {

class AttributeRing {
public:
  /// `words` is [ring_slots][attribute_words], `consumed` one word; both zeroed, in memory that the
  /// producers reach, owned by the caller. `first`: Attributes taken already (tests begin near the
  /// generation's wrap).
  AttributeRing(const std::uint64_t *words, std::uint64_t *consumed, std::uint64_t first = 0)
      : words_(words), consumed_(consumed), next_(first) {}

  /// The next Attribute, if it has arrived whole. release() goes on to the one after.
  bool peek(Attribute &attribute) {
    const std::uint64_t *from = words_ + next_ % ring_slots * attribute_words;
    std::uint32_t generation = static_cast<std::uint32_t>(next_ / ring_slots + 1) & 0xffff;
    std::uint64_t words[attribute_words];
    for (int i = 0; i < attribute_words; ++i) {
      words[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
      if (generation_of(words[i]) != generation)
        return false;
    }
    attribute = unpack_attribute(words);
    return true;
  }

  /// The ring slot of the Attribute that peek() returned, where its data lies too.
  std::uint32_t slot() const { return static_cast<std::uint32_t>(next_ % ring_slots); }

  /// Done with that Attribute and its data: the slot may be written again.
  void release() {
    if (++next_ % credit_interval == 0)
      publish();
  }

  /// Tells producers how far the ring has been emptied.
  void publish() { __atomic_store_n(consumed_, next_, __ATOMIC_RELEASE); }

private:
  static constexpr std::uint64_t credit_interval = ring_slots / 8;
  const std::uint64_t *words_;
  std::uint64_t *consumed_;
  std::uint64_t next_;
};

} // namespace gmpi
