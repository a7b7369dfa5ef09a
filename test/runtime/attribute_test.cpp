// What a kernel packs into an Attribute, and the proxy into a Reply, the other end unpacks.
#include "queue/attribute.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <type_traits>

using namespace gmpi;

namespace {

constexpr Function all_functions[] = {
#define GMPI_FUNCTION(name, start, kind, roles) Function::name,
#define GMPI_FUNCTION_0(name, result, kind) Function::name,
#include "mpi/functions.def"
};

int object;

/// Number `i` of the values that are hard to carry in 48 bits.
template <class T> T extreme(int i) {
  if constexpr (std::is_pointer_v<T>) {
    const std::intptr_t values[] = {0,
                                    -1,
                                    reinterpret_cast<std::intptr_t>(MPI_IN_PLACE),
                                    reinterpret_cast<std::intptr_t>(MPI_STATUS_IGNORE),
                                    0x7fffffffffff,
                                    0x7ffffffff008,
                                    1,
                                    reinterpret_cast<std::intptr_t>(&object)};
    return reinterpret_cast<T>(values[i % 8]);
  } else {
    const int values[] = {0,       -1, INT_MIN, INT_MAX, MPI_PROC_NULL, MPI_ANY_SOURCE,
                          1 << 30, 1};
    return static_cast<T>(values[i % 8]);
  }
}

Arguments extreme_arguments(int first) {
  Arguments arguments{};
  int i = first;
#define GMPI_ARGUMENT(role, type, use) arguments.role = extreme<argument::role>(i++);
#include "mpi/functions.def"
  return arguments;
}

/// The roles of `function` are equal, the others zero.
void expect_arguments(Function function, const Arguments &got, const Arguments &wanted) {
  Arguments expected{};
  switch (function) {
#define GMPI_COPY(role) expected.role = wanted.role;
#define GMPI_FUNCTION(name, start, kind, roles)                                                    \
  case Function::name:                                                                             \
    GMPI_EACH(GMPI_COPY, roles) break;
#include "mpi/functions.def"
  default:
    break;
  }
#define GMPI_ARGUMENT(role, type, use)                                                             \
  EXPECT_EQ(got.role, expected.role) << name_of(function) << ", " << #role;
#include "mpi/functions.def"
}

Attribute round_trip(const Attribute &attribute, std::uint32_t generation) {
  std::uint64_t words[attribute_words];
  pack(attribute, generation, words);
  for (std::uint64_t word : words)
    EXPECT_EQ(generation_of(word), generation & 0xffff);
  Attribute unpacked{};
  unpack(words, unpacked);
  return unpacked;
}

} // namespace

TEST(Attribute, arguments_of_every_function) {
  for (Function function : all_functions)
    for (int first = 0; first < 8; ++first) {
      Attribute attribute{};
      attribute.function = function;
      attribute.arguments = extreme_arguments(first);
      Attribute got = round_trip(attribute, first * 0x2aaa);
      EXPECT_EQ(got.function, function);
      expect_arguments(function, got.arguments, attribute.arguments);
    }
}

TEST(Attribute, arguments_fit) {
  for (Function function : all_functions) {
    std::uint64_t words[64];
    EXPECT_LE(encode_arguments(function, Arguments{}, words), argument_words) << name_of(function);
  }
  std::uint64_t words[64];
  EXPECT_EQ(encode_arguments(Function::Sendrecv, Arguments{}, words), 12);
  EXPECT_EQ(encode_arguments(Function::Barrier, Arguments{}, words), 1);
  EXPECT_EQ(encode_arguments(Function::Wtime, Arguments{}, words), 0);
}

TEST(Attribute, handles) {
  const MPI_Comm communicators[] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
  const MPI_Datatype datatypes[] = {MPI_CHAR, MPI_DOUBLE_INT, MPI_DATATYPE_NULL};
  const MPI_Op operations[] = {MPI_SUM, MPI_MAXLOC, MPI_OP_NULL};
  for (int i = 0; i < 3; ++i) {
    Attribute attribute{};
    attribute.function = Function::Allreduce;
    attribute.arguments.send_buffer = MPI_IN_PLACE;
    attribute.arguments.comm = communicators[i];
    attribute.arguments.datatype = datatypes[i];
    attribute.arguments.op = operations[i];
    Arguments got = round_trip(attribute, 7).arguments;
    EXPECT_EQ(got.send_buffer, MPI_IN_PLACE);
    EXPECT_EQ(got.comm, communicators[i]);
    EXPECT_EQ(got.datatype, datatypes[i]);
    EXPECT_EQ(got.op, operations[i]);
  }
}

/// Each field at its limit while the others are zero, and the reverse: none reaches into another.
TEST(Attribute, fields_keep_to_themselves) {
  constexpr int fields = 14;
  for (unsigned chosen = 0; chosen < 1u << fields; ++chosen) {
    auto limit = [&](int field, std::uint64_t value) { return chosen >> field & 1 ? value : 0; };
    Attribute a{};
    a.function = limit(0, 1) ? Function::leave : Function::Send;
    a.scope = limit(1, 1) ? Scope::thread : Scope::grid;
    a.inline_in = limit(2, 1);
    a.detached = limit(3, 1);
    a.slot = limit(4, 1023);
    a.launch = limit(5, 0xffffff);
    a.turn = limit(6, 0xffff);
    a.serial = limit(7, 0xffff);
    a.site = {unsigned(limit(8, 0xfffffff)), unsigned(limit(8, 0) ? 0 : limit(9, 0xfffff))};
    a.in_bytes = limit(9, unknown_bytes);
    a.tagged = limit(10, 1);
    a.peer = limit(11, 1);
    a.direct_in = limit(12, 1);
    a.direct_out = limit(13, 1);
    Attribute got = round_trip(a, 0xffff);
    EXPECT_EQ(got.tagged, a.tagged);
    EXPECT_EQ(got.peer, a.peer);
    EXPECT_EQ(got.direct_in, a.direct_in);
    EXPECT_EQ(got.direct_out, a.direct_out);
    EXPECT_EQ(got.function, a.function);
    EXPECT_EQ(got.scope, a.scope);
    EXPECT_EQ(got.inline_in, a.inline_in);
    EXPECT_EQ(got.detached, a.detached);
    EXPECT_EQ(got.slot, a.slot);
    EXPECT_EQ(got.launch, a.launch);
    EXPECT_EQ(got.turn, a.turn);
    EXPECT_EQ(got.serial, a.serial);
    EXPECT_EQ(got.site.file, a.site.file);
    EXPECT_EQ(got.site.line, a.site.line);
    EXPECT_EQ(got.in_bytes, a.in_bytes);
  }
}

/// Counters on the device are 32 bits wide and only their low 16 travel; no field, however large,
/// may reach the generation.
TEST(Attribute, what_is_too_wide_is_cut) {
  Attribute attribute{};
  attribute.function = Function::Barrier;
  attribute.launch = 0xff000002;
  attribute.turn = 0x12345678;
  attribute.serial = 0x9abcdef0;
  attribute.site = {0xffffffff, 0xfff00003};
  attribute.in_bytes = ~std::uint64_t(0);
  Attribute got = round_trip(attribute, 0x10001);
  EXPECT_EQ(got.launch, 2u);
  EXPECT_EQ(got.turn, 0x5678u);
  EXPECT_EQ(got.serial, 0xdef0u);
  EXPECT_EQ(got.site.file, 0xfffffffu);
  EXPECT_EQ(got.site.line, 3u);
  EXPECT_EQ(got.in_bytes, unknown_bytes);
}

TEST(Attribute, replies) {
  const int numbers[] = {0, -1, 1, INT_MIN, INT_MAX, MPI_PROC_NULL, MPI_ANY_TAG};
  for (int kind = 0; kind <= static_cast<int>(ReplyKind::accepted); ++kind)
    for (int number : numbers)
      for (std::uint64_t size : {std::uint64_t(0), std::uint64_t(8192), content_mask}) {
        Reply reply{};
        reply.kind = static_cast<ReplyKind>(kind);
        if (reply.kind == ReplyKind::done_here) // has data for error and length: replies_test.cpp
          continue;
        reply.error = number;
        reply.bytes = size;
        reply.address = extreme<void *>(kind);
        reply.offset = size / 3;
        reply.source = ~number;
        reply.tag = number;
        reply.message_bytes = size / 5;
        std::uint64_t words[reply_words];
        pack(reply, 0x8001, words);
        for (std::uint64_t word : words)
          EXPECT_EQ(generation_of(word), 0x8001u);
        Reply head = unpack_reply_head(words), whole = unpack_reply(words);
        for (const Reply &got : {head, whole}) {
          EXPECT_EQ(got.kind, reply.kind);
          EXPECT_EQ(got.error, reply.error);
          EXPECT_EQ(got.bytes, reply.bytes);
        }
        EXPECT_EQ(whole.address, reply.address);
        EXPECT_EQ(whole.offset, reply.offset);
        EXPECT_EQ(whole.source, reply.source);
        EXPECT_EQ(whole.tag, reply.tag);
        EXPECT_EQ(whole.message_bytes, reply.message_bytes);
      }
}
