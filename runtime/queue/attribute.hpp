// The Attribute: one request from a kernel to the host, and the Reply to it. Host and device.
//
// Invariant: every 8-byte word carries 48 bits of content and, in its top 16, the generation of
// the writer's lap (Attribute) or turn (Reply). Eight bytes are all that PTX and PCIe promise to
// arrive as one, so a word that shows the expected generation is whole and new; a message is whole
// when all its words show it. Nothing else guards it: no flag, no doorbell, no fence. Every word is
// written every time, so the generation it showed before is always the previous one. Short data
// that goes with either is guarded in the same way, six bytes a word; its words are written often
// enough that none ever shows a generation that is to come.
#pragma once

#include "../mpi/functions.hpp"
#include "scope.hpp"

#include <cstring>

namespace gmpi {

constexpr int attribute_words = 16; ///< 128 bytes: whole cache lines
constexpr int argument_words = 12;  ///< of them, for the arguments (MPI_Sendrecv's 12)
constexpr int reply_words = 8;      ///< 64 bytes, of which one word is spare
/// Behind them; 2 KiB in all, what a warp loads at once, four pairs of words a lane.
constexpr int reply_data_words = 248;
/// From one slot's to the next's: an odd number of cache lines, or a processor would find room for
/// few of them.
constexpr int reply_stride = reply_words + reply_data_words + 8;
constexpr std::uint32_t word_bytes = 6; ///< of data in a word with a generation
/// Data that fits into the first two words of a Reply, and into the words behind it.
constexpr std::uint32_t reply_head_bytes = 10, reply_data_bytes = reply_data_words * word_bytes;
static_assert(reply_data_bytes < 4096, "Attribute::beside has 12 bits");

constexpr std::uint64_t content_mask = (std::uint64_t(1) << 48) - 1;
/// In place of a number of bytes: the device does not know the datatype; in place of a request to
/// wait for: it was a kernel's once.
constexpr std::uint64_t unknown_bytes = content_mask;
/// In the same place: the message that a kernel has brought is longer than the receive's buffer.
constexpr std::uint64_t truncated_bytes = content_mask - 1;
/// Or another rank has made the collective call with another count.
constexpr std::uint64_t differing_bytes = content_mask - 2;

GMPI_HOST_DEVICE constexpr std::uint64_t tag_word(std::uint64_t content, std::uint32_t generation) {
  return (content & content_mask) | std::uint64_t(generation & 0xffff) << 48;
}
GMPI_HOST_DEVICE constexpr std::uint64_t content_of(std::uint64_t word) {
  return word & content_mask;
}
GMPI_HOST_DEVICE constexpr std::uint32_t generation_of(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 48);
}

/// Words that `bytes` of data take, each with its generation.
GMPI_HOST_DEVICE constexpr std::uint32_t words_for(std::uint32_t bytes) {
  return (bytes + word_bytes - 1) / word_bytes;
}

/// What an Attribute says, unpacked.
struct Attribute {
  Function function;
  Scope scope;
  bool inline_in;         ///< the data to send lies beside the Attribute
  bool tagged;            ///< and in words with the Attribute's generation
  bool peer;              ///< a kernel waits for another: the proxy is only to know of it
  bool direct_in;         ///< MPI is to read what is sent where it lies, in global memory
  bool direct_out;        ///< MPI is to write what is received where it belongs
  bool detached;          ///< nobody waits for a Reply, and there is no request slot
  std::uint32_t slot;     ///< request slot, below 1024
  std::uint32_t launch;   ///< index of the launch it comes from
  std::uint32_t turn;     ///< generation of the last Reply that the kernel has seen in this slot
  std::uint32_t serial;   ///< which use of the request slot this is
  std::uint32_t beside;   ///< received data may come with the Reply, up to so many bytes
  Site site;              ///< where the user's program makes the call
  std::uint64_t in_bytes; ///< message data that goes to the host
  Arguments arguments;
};

/// A Reply's meaning.
enum class ReplyKind : std::uint8_t {
  none,
  done,        ///< finished; received bytes, if they fit, lie in the request slot's payload area
  done_here,   ///< the same, but for the bytes: they are in `data` (reply_head_bytes at most)
  done_beside, ///< the same: in the words behind the Reply (reply_data_bytes at most)
  answer,      ///< finished; bytes is the number asked for
  copy_in,     ///< copy `bytes` at `offset` of the send data to `address`, then say `copied`
  /// Copy `bytes` from `address` to `offset` of the receive buffer, then say `copied`. Of a
  /// request's data in ordinary memory the first part is empty: `copied` asks for the others.
  copy_out,
  copy_out_last, ///< the same, and finished: nothing follows
  /// (nonblocking) the last copy_in: once `copied` is said, the send data is the host's and the
  /// call returns. Nothing confirms that: the next Reply may be `done` already, and a slot holds
  /// but one.
  copy_in_last,
  /// Not done yet: the answer to MPI_Test of a request that the host made, and to MPI_Iprobe where
  /// there is no message.
  accepted,
};

/// In the words' order, two words a line: a waiting kernel polls the first two and reads the others
/// only where the kind, or a status that the user wants, needs them.
struct Reply {
  ReplyKind kind;
  std::int32_t error;       ///< MPI's error code, MPI_SUCCESS where all is well
  std::uint64_t bytes;      ///< to copy; received, where done; the number asked for, where answer
  void *address;            ///< pinned host memory as the device sees it
  std::uint64_t offset;     ///< in the user's buffer
  std::int32_t source, tag; ///< of the message received
  std::uint64_t message_bytes; ///< its length as a status has it: without a datatype's gaps
  std::uint64_t data[2];       ///< done_here: what was received
};

GMPI_HOST_DEVICE constexpr bool is_done(ReplyKind kind) {
  return kind == ReplyKind::done || kind == ReplyKind::done_here || kind == ReplyKind::done_beside;
}
GMPI_HOST_DEVICE constexpr bool asks_for_copy(ReplyKind kind) {
  return kind == ReplyKind::copy_in || kind == ReplyKind::copy_in_last ||
         kind == ReplyKind::copy_out || kind == ReplyKind::copy_out_last;
}

// Contents of an Attribute's words, yet without generation: the call's own, which are known first,
// and the others. Words behind the arguments mean nothing.
GMPI_HOST_DEVICE inline void pack_call(Function function, Site site, const Arguments &arguments,
                                       std::uint64_t *words) {
  words[1] = std::uint64_t(site.file) << 20 | (site.line & 0xfffff);
  encode_arguments(function, arguments, words + 4);
}
GMPI_HOST_DEVICE inline void pack_head(const Attribute &attribute, std::uint64_t *words) {
  words[0] = std::uint64_t(attribute.function) | std::uint64_t(attribute.scope) << 8 |
             std::uint64_t(attribute.inline_in) << 10 | std::uint64_t(attribute.detached) << 11 |
             std::uint64_t(attribute.slot) << 12 | std::uint64_t(attribute.launch & 0xffffff) << 24;
  words[2] = std::uint64_t(attribute.turn & 0xffff) |
             std::uint64_t(attribute.serial & 0xffff) << 16 |
             std::uint64_t(attribute.tagged) << 32 | std::uint64_t(attribute.peer) << 33 |
             std::uint64_t(attribute.direct_in) << 34 | std::uint64_t(attribute.direct_out) << 35 |
             std::uint64_t(attribute.beside) << 36;
  words[3] = attribute.in_bytes;
}
GMPI_HOST_DEVICE inline void pack_contents(const Attribute &attribute, std::uint64_t *words) {
  pack_call(attribute.function, attribute.site, attribute.arguments, words);
  pack_head(attribute, words);
}

/// An Attribute's words as they stand in the ring.
inline void pack(const Attribute &attribute, std::uint32_t generation, std::uint64_t *words) {
  std::uint64_t contents[attribute_words] = {};
  pack_contents(attribute, contents);
  for (int i = 0; i < attribute_words; ++i)
    words[i] = tag_word(contents[i], generation);
}

/// The reverse of pack(), but for the arguments.
inline void unpack_head(const std::uint64_t *words, Attribute &attribute) {
  attribute.function = static_cast<Function>(words[0] & 0xff);
  attribute.scope = static_cast<Scope>(words[0] >> 8 & 3);
  attribute.inline_in = words[0] >> 10 & 1;
  attribute.detached = words[0] >> 11 & 1;
  attribute.slot = words[0] >> 12 & 0xfff;
  attribute.launch = words[0] >> 24 & 0xffffff;
  std::uint64_t site = content_of(words[1]);
  attribute.site = {static_cast<unsigned>(site >> 20), static_cast<unsigned>(site & 0xfffff)};
  attribute.turn = words[2] & 0xffff;
  attribute.serial = words[2] >> 16 & 0xffff;
  attribute.tagged = words[2] >> 32 & 1;
  attribute.peer = words[2] >> 33 & 1;
  attribute.direct_in = words[2] >> 34 & 1;
  attribute.direct_out = words[2] >> 35 & 1;
  attribute.beside = words[2] >> 36 & 0xfff;
  attribute.in_bytes = content_of(words[3]);
}
/// The reverse of pack().
inline void unpack(const std::uint64_t *words, Attribute &attribute) {
  unpack_head(words, attribute);
  decode_arguments(attribute.function, words + 4, attribute.arguments);
}

GMPI_HOST_DEVICE inline void pack(const Reply &reply, std::uint32_t generation,
                                  std::uint64_t *words) {
  // Beside a kind's 8 bits: an error and a length or, where there is no error, a short length and
  // data.
  bool here = reply.kind == ReplyKind::done_here;
  words[0] =
      tag_word(std::uint64_t(reply.kind) | (here ? reply.bytes << 8 | reply.data[0] << 16
                                                 : std::uint64_t(std::uint32_t(reply.error)) << 8),
               generation);
  words[1] = tag_word(here ? reply.data[0] >> 32 | reply.data[1] << 32 : reply.bytes, generation);
  words[2] = tag_word(reinterpret_cast<std::uint64_t>(reply.address), generation);
  words[3] = tag_word(reply.offset, generation);
  words[4] = tag_word(std::uint32_t(reply.source), generation);
  words[5] = tag_word(std::uint32_t(reply.tag), generation);
  words[6] = tag_word(reply.message_bytes, generation);
  words[7] = tag_word(0, generation);
}

/// From the first two words alone.
GMPI_HOST_DEVICE inline Reply unpack_reply_head(const std::uint64_t *words) {
  Reply reply{};
  reply.kind = static_cast<ReplyKind>(words[0] & 0xff);
  if (reply.kind == ReplyKind::done_here) {
    reply.error = MPI_SUCCESS;
    reply.bytes = words[0] >> 8 & 0xff;
    reply.data[0] = content_of(words[0]) >> 16 | words[1] << 32;
    reply.data[1] = content_of(words[1]) >> 32;
    return reply;
  }
  reply.error = static_cast<std::int32_t>(content_of(words[0]) >> 8);
  reply.bytes = content_of(words[1]);
  return reply;
}

/// From the seven words in use.
GMPI_HOST_DEVICE inline Reply unpack_reply(const std::uint64_t *words) {
  Reply reply = unpack_reply_head(words);
  reply.address = FromWord<void *>::get(words[2]);
  reply.offset = content_of(words[3]);
  reply.source = static_cast<std::int32_t>(words[4]);
  reply.tag = static_cast<std::int32_t>(words[5]);
  reply.message_bytes = content_of(words[6]);
  return reply;
}

/// Data as words with their generation, for the host. `words` has room for words_for(bytes). (All
/// but the last few are moved as eight bytes, of which the next word's own follow.)
inline void pack_data(const void *data, std::uint32_t bytes, std::uint32_t generation,
                      std::uint64_t *words) {
  auto *from = static_cast<const unsigned char *>(data);
  std::uint64_t content;
  std::uint32_t at = 0;
  for (; at + sizeof content <= bytes; at += word_bytes) {
    std::memcpy(&content, from + at, sizeof content);
    *words++ = tag_word(content, generation);
  }
  for (; at < bytes; at += word_bytes) {
    content = 0;
    std::memcpy(&content, from + at, bytes - at < word_bytes ? bytes - at : word_bytes);
    *words++ = tag_word(content, generation);
  }
}
/// And back. Returns whether all of it is there: some words at a time are loaded, stored, and then found to
/// show that generation. `data` has room for unpacked_room(bytes).
inline bool unpack_data(const std::uint64_t *words, std::uint32_t bytes, std::uint32_t generation,
                        void *data) {
  constexpr std::uint32_t together = 8;
  const std::uint64_t expected = tag_word(0, generation);
  auto *to = static_cast<unsigned char *>(data);
  const auto take = [&](std::uint32_t first, std::uint32_t count) {
    std::uint64_t differing = 0;
    for (std::uint32_t i = first; i < first + count; ++i) {
      const std::uint64_t word = __atomic_load_n(words + i, __ATOMIC_ACQUIRE) ^ expected;
      std::memcpy(to + i * word_bytes, &word, sizeof word); // the next goes over the end
      differing |= word;
    }
    return generation_of(differing) == 0;
  };
  const std::uint32_t all = words_for(bytes);
  std::uint32_t i = 0;
  for (; i + together <= all; i += together)
    if (!take(i, together))
      return false;
  return take(i, all - i);
}
constexpr std::size_t unpacked_room(std::uint32_t bytes) {
  return words_for(bytes) * word_bytes + sizeof(std::uint64_t) - word_bytes;
}

/// The order in which the host stores a Reply's `count` words: the first two last, since a single
/// thread waits for these and trusts the others then. `fence` stands before them, and behind them.
template <class Store, class Fence>
void store_reply(std::uint32_t count, const Store &store, const Fence &fence) {
  constexpr std::uint32_t head_words = 2;
  for (std::uint32_t i = count; i-- > head_words;)
    store(i);
  fence();
  for (std::uint32_t i = head_words; i-- > 0;)
    store(i);
  fence();
}

} // namespace gmpi
