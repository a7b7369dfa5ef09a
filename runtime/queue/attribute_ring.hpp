// Consumer's side of the Attribute ring: the proxy's. The invariant stands in
// attribute_ring_device.hpp.
#pragma once

#include "context.hpp"

#include <atomic>

namespace gmpi {

class AttributeRing {
public:
  /// `words` is [ring_slots][attribute_words], `payload` [ring_slots][inline_bytes], `consumed` one
  /// word; all zeroed, in memory that the producers reach, owned by the caller. `first`: Attributes
  /// taken already (tests begin near the generation's wrap).
  AttributeRing(const std::uint64_t *words, unsigned char *payload, std::uint64_t *consumed,
                std::uint64_t first = 0)
      : words_(words), payload_(payload), consumed_(consumed), next_(first) {}

  /// Whether the next Attribute and its data have arrived whole. release() goes on to the one
  /// after.
  bool peek() {
    const std::uint64_t *from = words_ + next_ % ring_slots * attribute_words;
    std::uint32_t generation = ring_generation(next_);
    for (int i = 0; i < attribute_words; ++i) {
      arrived_[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
      if (generation_of(arrived_[i]) != generation)
        return false;
    }
    Attribute attribute;
    unpack_head(arrived_, attribute);
    const auto bytes = static_cast<std::uint32_t>(attribute.in_bytes);
    if (attribute.tagged &&
        !unpack_data(reinterpret_cast<const std::uint64_t *>(payload()), bytes, generation, data_))
      return false;
    tagged_ = attribute.tagged;
    written_ = tagged_               ? (words_for(bytes) + 1) / 2 * 16 // in pairs
               : attribute.inline_in ? attribute.in_bytes
                                     : 0;
    return true;
  }

  /// That Attribute, with its arguments or without.
  void read(Attribute &attribute) const { unpack(arrived_, attribute); }
  void read_head(Attribute &attribute) const { unpack_head(arrived_, attribute); }
  bool peek(Attribute &attribute) {
    const bool arrived = peek();
    if (arrived)
      read(attribute);
    return arrived;
  }

  /// What lies beside it, until release().
  const unsigned char *data() const { return tagged_ ? data_ : payload(); }

  /// Done with that Attribute and its data: the slot may be written again.
  void release() {
    // No lap writes all of the words that short data may take: what is left there must not look
    // like a later lap's.
    constexpr std::size_t reach = words_for(tagged_bytes) * sizeof(std::uint64_t);
    std::memset(payload(), 0, written_ < reach ? written_ : reach);
    if (++next_ % credit_interval == 0)
      publish();
  }

  /// Tells producers how far the ring has been emptied.
  void publish() { __atomic_store_n(consumed_, next_, __ATOMIC_RELEASE); }

private:
  unsigned char *payload() const { return payload_ + next_ % ring_slots * inline_bytes; }

  static constexpr std::uint64_t credit_interval = ring_slots / 8;
  const std::uint64_t *words_;
  unsigned char *payload_;
  std::uint64_t arrived_[attribute_words];          ///< what peek() has found
  unsigned char data_[unpacked_room(tagged_bytes)]; ///< short data, without its generations
  bool tagged_ = false;
  std::size_t written_ = 0; ///< bytes of the payload
  std::uint64_t *consumed_;
  std::uint64_t next_;
};

} // namespace gmpi
