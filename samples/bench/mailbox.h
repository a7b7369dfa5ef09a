// The limit of every request that a kernel makes of the host: one warp that writes a bare Attribute
// to mapped memory, a host thread that polls for it, and a completion word back. No MPI, no ring
// state, nothing decoded.
#pragma once

#include "bench.h"

namespace mailbox {

/// Microseconds of a round trip by an Attribute of 4, 8 or a multiple of 16 bytes up to 1024; an
/// empty cell on the cpu device, whose wide stores may arrive in parts.
bench::Cell round_trip(bench::Bench &bench, int bytes);

/// Millions of 64-byte Attributes a second, from one warp to one host thread, none of them
/// answered.
bench::Cell rate(bench::Bench &bench);

} // namespace mailbox
