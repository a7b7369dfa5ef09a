// What a block remembers of ranks that it has received from, so that the next message from there is
// looked for at once: see Source.
//
// Invariant: what is remembered may be out of date, but for whose it is. Who takes hold of the
// channels finds out, by the word that says how far they have been read.
#pragma once

#include "../channel/routes_device.hpp"
#include "../general/receive_device.hpp"

namespace gmpi::device::peer {

GMPI_DEVICE bool is_source(const Source &known, MPI_Comm comm, int rank, MPI_Datatype datatype) {
  return (known.comm == comm) & (known.datatype == datatype) & (known.source == rank);
}

/// Has the block remember a rank that it receives elements of this datatype from, if that is a
/// predefined one; and `launch`, if it is not null, for its other blocks. One thread.
GMPI_OUT_OF_LINE void remember_source(const State &state, const Comm &comm, int rank,
                                      MPI_Datatype datatype, LaunchState *launch) {
  Source &known = block_state().sources[static_cast<std::uint32_t>(rank) % Source::most];
  const std::int32_t extent = find_datatype(datatype).extent;
  if (extent == 0 || is_source(known, comm.handle, rank, datatype))
    return;
  const std::uint32_t peer = comm.peer_of[rank];
  const Channel &common = state.channels[peer], &owned = state.channels[owned_channel(peer)];
  known = {comm.handle,
           datatype,
           rank,
           static_cast<std::uint32_t>(extent),
           comm.context,
           peer,
           &comm,
           0,
           0,
           {common.in, owned.in},
           {common.in_freed, owned.in_freed}};
  if (launch != nullptr)
    launch->sources[static_cast<std::uint32_t>(rank) % Source::most] = known;
}

/// Notes how far the channels from a rank that the block remembers have been read. Lane 0.
GMPI_DEVICE void note_position(Source &known, const Position &at) {
  known.word = at.word();
  known.owned = at.owned;
}
/// Notes where the channels from a rank that the block remembers go on when it has taken a message
/// at `at`. One thread. (Whoever takes none, or is remembered for another datatype, finds out.)
GMPI_DEVICE void note_taken(const Comm &comm, int rank, Position at, std::uint32_t channel,
                            const Header &header) {
  Source &known = block_state().sources[static_cast<std::uint32_t>(rank) % Source::most];
  if (known.comm != comm.handle || known.source != rank)
    return;
  at.move(channel, at.in(channel) + slots_of(header));
  note_position(known, at);
}

/// Finds out how far this rank has come in the channels from a rank that the block remembers. A
/// lane.
GMPI_DEVICE void renew_source(const State &state, Source &known, unsigned long long word) {
  known.word = word & ~locked;
  known.owned = position_of(state, known.peer, word).owned;
}

/// Has the block remember what another of its grid does, in place `i`. A warp, whole.
GMPI_OUT_OF_LINE void copy_source(std::uint32_t i) {
  constexpr std::uint32_t words = sizeof(Source) / sizeof(unsigned long long);
  static_assert(sizeof(Source) % sizeof(unsigned long long) == 0 && words <= 32);
  BlockState &block = block_state();
  const std::uint32_t lane = lane_index();
  __syncwarp(); // all have looked
  if (lane < words)
    reinterpret_cast<unsigned long long *>(block.sources + i)[lane] =
        reinterpret_cast<const unsigned long long *>(block.launch->sources + i)[lane];
  __syncwarp();
}
/// Before a block arrives at a grid's call that receives: what it does not remember, another may.
/// (Later the block that makes the call may be writing that.) A warp, whole.
template <Scope S> GMPI_DEVICE void learn_source(MPI_Comm comm, int source) {
  if (S != Scope::grid || grid_blocks() == 1)
    return;
  const std::uint32_t i = static_cast<std::uint32_t>(source) % Source::most;
  const Source &known = block_state().sources[i];
  if (source >= 0 && (known.comm != comm || known.source != source))
    copy_source(i);
}

/// While it arrives, of which any block may make the call, it finds out how far the channels from a
/// rank that it remembers have been read: that is right if nobody else receives from there
/// meanwhile. A lane.
template <Scope S> GMPI_DEVICE void prepare_to_receive(MPI_Comm comm, int source) {
  if (S != Scope::grid || grid_blocks() == 1)
    return;
  Source &known = block_state().sources[static_cast<std::uint32_t>(source) % Source::most];
  const State &state = *context.peer;
  if (lane_index() == 0 && known.comm == comm && known.source == source)
    renew_source(state, known, load_relaxed_device(&state.receiving[known.peer].next));
}

} // namespace gmpi::device::peer
