// NVSHMEM's column of a table that has a row for each size.
#pragma once

#include "bench.h"
#include "with_nvshmem.h"

namespace nvshmem {

struct Column {
  std::string why_not; ///< empty: it was measured
  std::vector<bench::Cell> cells;
};

/// measure(peer, row, stream) gives a row's cell; `bytes` is the room that the largest one takes.
/// To be called before all else is measured: while NVSHMEM lives, a thread of its own may poll.
template <class Measure> Column column(std::size_t rows, std::size_t bytes, Measure measure) {
  Peer peer(bytes);
  Column found = {peer.why_not(), std::vector<bench::Cell>(rows)};
  bench::Stream stream;
  for (std::size_t row = 0; peer.available() && row < rows; ++row)
    found.cells[row] = measure(peer, row, stream);
  return found;
}

} // namespace nvshmem
