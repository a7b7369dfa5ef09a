// Replies of which each field tells the same number.
#pragma once

#include "queue/attribute.hpp"

inline gmpi::Reply numbered(std::uint64_t n, gmpi::ReplyKind kind = gmpi::ReplyKind::copy_out) {
  gmpi::Reply reply{};
  reply.kind = kind;
  reply.error = -static_cast<int>(n % 1000);
  reply.bytes = n;
  reply.address = reinterpret_cast<void *>(n * 16);
  reply.offset = n * 3;
  reply.source = static_cast<int>(n % 77);
  reply.tag = static_cast<int>(n);
  reply.message_bytes = n * 5;
  return reply;
}

inline bool is_number(const gmpi::Reply &reply, std::uint64_t n) {
  gmpi::Reply wanted = numbered(n);
  return reply.error == wanted.error && reply.bytes == n && reply.address == wanted.address &&
         reply.offset == wanted.offset && reply.source == wanted.source &&
         reply.tag == wanted.tag && reply.message_bytes == wanted.message_bytes;
}
