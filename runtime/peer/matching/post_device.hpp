// MPI_Irecv by a block's first warp, whole: the receive is posted, and whoever waits looks whether
// its message is there.
//
// Invariant: what has been kept is given first. So a receive is posted so only where nothing is;
// what is kept meanwhile, it gets from whoever puts it into a list.
#pragma once

#include "../quick/quick_long_device.hpp"
#include "../quick/short_receive_device.hpp"

namespace gmpi::device::peer {

/// Whom a call receives from, if the block remembers it.
GMPI_DEVICE Source &source_of(const Arguments &a) {
  return block_state().sources[static_cast<std::uint32_t>(a.source) % Source::most];
}

/// What it has room for.
GMPI_DEVICE unsigned long long room_in(const Source &known, const Arguments &a) {
  return static_cast<std::uint64_t>(a.recv_count) * known.extent;
}

/// What a nonblocking call returns; one thread says so.
GMPI_DEVICE void note_new_request(MPI_Request request, Share &share) {
  share.result = CallResult{};
  share.result.request = request;
}

/// A nonblocking call is over whose `request` lane 0 knows.
template <Scope S> GMPI_DEVICE Begun answer_with_request(MPI_Request request, Share &share) {
  if (thread_index() == 0) {
    note_new_request(request, share);
    end_with_request<S>(request);
  }
  __syncwarp();
  return Begun::answered;
}

/// The same where this block has stored what the others are to see.
template <Scope S> GMPI_DEVICE void show_request(Share &share) {
  if (S == Scope::grid)
    block_state().launch->result = share.result;
  prepare_end<S>();
  tell_end_of_call<S>();
}

/// Posts a receive at once, into memory of all of the block, where a request slot is at hand: the
/// call is answered then. Else it returns nothing, and nothing has happened. `shows`: this block
/// has stored what the others are to see. The warp, whole.
template <Scope S, bool shows>
GMPI_DEVICE Begun post_as_warp(State &state, const Comm &comm, int source, const Wanted &wanted,
                               void *data, unsigned long long room, Share &share) {
  const std::uint32_t lane = lane_index();
  if (is_shared(data)) // nobody else could read what has been kept for it
    return Begun::nothing;
  const std::uint32_t kept = load_relaxed_device(&state.summary.kept);
  SlotReserve &reserve = reserve_of<S>();
  const NewSlot reserved = reserve.of[lane % SlotReserve::most]; // which one, the count tells
  const std::uint32_t count = reserve.count;
  Match offer{};
  unsigned long long offset = 0;
  if (room > eager_bytes) {
    offer = find_offer_as_warp(state, data, room, offset);
    if (offer.number == 0) // the host is to be asked for one
      return Begun::nothing;
  }
  NewSlot slot{of_lane(reserved.slot, count - 1), of_lane(reserved.serial, count - 1)};
  bool posts = of_lane(kept, 0) == 0; // else its message may be there, for all of the block to copy
  if (posts && count == 0)
    posts = __any_sync(whole_warp, lane == 0 && take_slot_at_once(context, slot)) != 0;
  if (!posts)
    return Begun::nothing;
  if (lane == 0) {
    if (count != 0)
      reserve.count = count - 1;
    const MPI_Request request = encode_request({slot.slot, peer_device, slot.serial});
    note_new_request(request, share);
    const PostNumber number = take_post_number(state, slot.slot);
    if (!shows && S == Scope::grid && number.is_taken()) // nobody is told before that is known
      end_with_request<S>(request);
    describe_post(state, comm, source, wanted, data, room, offer, offset, slot);
    post_into_ring(state, slot.slot, number);
    if (shows)
      show_request<S>(share);
  }
  __syncwarp();
  return Begun::answered;
}

/// Posts a receive from a rank that the block remembers; else it does nothing.
template <Scope S> GMPI_DEVICE Begun post_short(const Arguments &a) {
  const Source &known = source_of(a);
  State &state = *context.peer;
  if (!is_source(known, a.comm, a.source, a.recv_datatype) || a.recv_count < 0 ||
      (a.recv_tag < 0 && a.recv_tag != MPI_ANY_TAG) || is_local(a.recv_buffer))
    return Begun::nothing;
  const Wanted wanted{known.context, known.peer, a.recv_tag};
  return post_as_warp<S, false>(state, *known.its, a.source, wanted, a.recv_buffer,
                                room_in(known, a), block_state().peer);
}

} // namespace gmpi::device::peer
