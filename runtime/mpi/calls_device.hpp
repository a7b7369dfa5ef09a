// MPI's functions as kernels call them: device::MPI_Send<Scope::grid>(site, ...) and so on. Here it
// is decided whether a call goes by way of the proxy (../queue) or from kernel to kernel (../peer).
//
// Where a device has both ways, a block's first warp decides (begin_*), and a short call from
// kernel to kernel is over then. What is longer, or waits for others, goes on in peer::MPI_*.
//
// Functions that are compiled by themselves (-rdc=true) save many of the registers they use. So
// each way of a call is one such function, what most calls do without is a function of its own, and
// of what all threads run as little as can be is in any.
#pragma once

#include "../queue/call_device.hpp"

namespace gmpi::device {

namespace quick {
template <Scope S> GMPI_NOINLINE peer::Begun carry() { return peer::carry_last_step<S>(); }
template <Scope S> GMPI_NOINLINE peer::Begun carry_round() { return peer::carry_round<S>(); }
} // namespace quick

/// Has a block's first warp begin a call, between two barriers of its threads, and all of them
/// carry what is to be carried at once. Returns how far the call has come: most short ones are
/// over.
template <Scope S, Kind kind, class Begin> GMPI_DEVICE peer::Begun begin_together(Begin begin) {
  using peer::Begun;
  // The barriers themselves tell how many threads there are, and whether more is to be done: what
  // lies in shared memory takes its time.
  const std::uint32_t threads = block_threads();
  const bool by_warp = __syncthreads_count(1) == static_cast<int>(threads) && threads >= 32;
  Begun begun = Begun::over;
  if (!by_warp)
    begun = Begun::unmet;
  else if (thread_index() < 32)
    begun = begin();
  if (begun != Begun::over && thread_index() == 0)
    block_state().peer.begun = begun;
  if (!__syncthreads_or(begun != Begun::over))
    return Begun::over;
  begun = by_warp ? block_state().peer.begun : Begun::unmet;
  if (begun != Begun::carrying)
    return begun;
  if constexpr (kind == Kind::collective)
    return quick::carry_round<S>();
  else
    return quick::carry<S>();
}

/// Begins a call that no warp has begun: some of its block's threads are missing. All that are
/// there have met. Returns how far it has come.
template <Scope S, Function F>
GMPI_DEVICE peer::Begun begin_call(const BlockTeam &team, const Arguments &a) {
  BlockState &block = block_state();
  if (team.leads()) {
    block.command = S == Scope::grid ? arrive(block) : GridCommand::lead;
    block.peer.begun = block.command != GridCommand::lead ? peer::Begun::led
                       : peer::takes<F>(a)                ? peer::Begun::nothing
                                                          : peer::Begun::elsewhere;
  }
  __syncthreads();
  return block.peer.begun;
}

/// The rest of a call that is over: most have none.
template <Function F> GMPI_DEVICE int end_quickly(const BlockTeam &team, const Arguments &a) {
  BlockState &block = block_state();
  void *out = buffers_of(F, a, [](int, MPI_Datatype) { return std::uint64_t(0); }).out;
  if (is_local(out))
    copy_share(out, block.small, block.peer.result.bytes, 0, 1);
  if (kind_of(F) == Kind::nonblocking || wants_status(a))
    return end_call<F>(team, a, block.peer.result);
  return MPI_SUCCESS;
}

/// What carry_out_either_way() returns of a call that is the proxy's; of the grid's, this block is
/// to make it.
constexpr int go_by_queue = -1;

/// Goes on with a call that has come as far as `begun`, on a device that has two ways; its threads
/// have met. What takes long is apart: `write_and_receive` of MPI_Sendrecv, `between_kernels` what
/// is left then.
template <Scope S, Function F, class WriteAndReceive, class BetweenKernels>
GMPI_DEVICE int carry_out_either_way(const Arguments &a, peer::Begun begun,
                                     WriteAndReceive write_and_receive,
                                     BetweenKernels between_kernels) {
  using peer::Begun;
  if constexpr (S == Scope::thread) {
    return peer::takes<F>(a) ? between_kernels(Begun::nothing) : go_by_queue;
  } else {
    BlockTeam team{thread_index() == 0};
    if (begun == Begun::unmet) {
      team.leader = elect(block_state());
      begun = begin_call<S, F>(team, a);
    }
    if (S == Scope::grid && begun == Begun::led)
      return serve_call<F>(team, a);
    if constexpr (F == Function::Sendrecv)
      if (begun == Begun::exchanging)
        begun = write_and_receive();
    if (begun == Begun::over || begun == Begun::answered)
      return end_quickly<F>(team, a);
    return begun == Begun::elsewhere ? go_by_queue : between_kernels(begun);
  }
}

/// Goes on with a call between kernels: of a grid, the block that makes it.
template <Scope S, Function F>
GMPI_DEVICE int carry_on_between_kernels(Site site, const Arguments &a, peer::Begun begun) {
  const Buffers buffers = buffers_of(F, a, message_bytes);
  if constexpr (S == Scope::thread) {
    ThreadTeam team;
    return deliver_result<F>(a, peer::communicate<F>(team, site, a, buffers, begun), true, true);
  } else {
    std::conditional_t<S == Scope::grid, GridTeam, BlockTeam> team{BlockTeam::meet()};
    CallResult result = peer::communicate<F>(team, site, a, buffers, begun);
    if (kind_of(F) == Kind::nonblocking)
      team.share(result.request, &BlockState::request);
    return end_call<F>(team, a, result);
  }
}

#define GMPI_PARAMETER(role) argument::role role
#define GMPI_ASSIGN(role) a.role = role;
#define GMPI_PASS(role) role
#define GMPI_CARRY_OUT(name, roles)                                                                \
  namespace by_queue {                                                                             \
  template <Scope S>                                                                               \
  GMPI_NOINLINE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles), bool arrived) {        \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return carry_out<S, Function::name>(site, a, arrived);                                         \
  }                                                                                                \
  }
#define GMPI_CARRY_OUT_ONE_WAY(name, roles)                                                        \
  GMPI_CARRY_OUT(name, roles)                                                                      \
  template <Scope S> GMPI_DEVICE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {     \
    return by_queue::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), false);                      \
  }
#define GMPI_CARRY_OUT_EITHER_WAY(name, roles)                                                     \
  GMPI_CARRY_OUT(name, roles)                                                                      \
  namespace peer {                                                                                 \
  template <Scope S>                                                                               \
  GMPI_NOINLINE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles), Begun begun) {         \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return carry_on_between_kernels<S, Function::name>(site, a, begun);                            \
  }                                                                                                \
  }                                                                                                \
  namespace quick {                                                                                \
  template <Scope S> GMPI_NOINLINE peer::Begun begin_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {    \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::begin_quickly<Function::name, S>(a);                                              \
  }                                                                                                \
  template <Scope S> GMPI_NOINLINE peer::Begun go_on_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {    \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::go_on_quickly<Function::name, S>(a);                                              \
  }                                                                                                \
  template <class = void>                                                                          \
  GMPI_NOINLINE peer::Begun alone_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {                       \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::begin_alone<Function::name>(a);                                                   \
  }                                                                                                \
  template <Scope S>                                                                               \
  GMPI_NOINLINE peer::Begun write_and_receive_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {           \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::write_and_receive<S>(a);                                                          \
  }                                                                                                \
  }                                                                                                \
  namespace either_way {                                                                           \
  template <Scope S>                                                                               \
  GMPI_NOINLINE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles), peer::Begun begun) {   \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    int error = carry_out_either_way<S, Function::name>(                                           \
        a, begun, [=] { return quick::write_and_receive_##name<S>(GMPI_LIST(GMPI_PASS, roles)); }, \
        [=](peer::Begun now) {                                                                     \
          return peer::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), now);                      \
        });                                                                                        \
    return error == go_by_queue ? by_queue::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), true) \
                                : error;                                                           \
  }                                                                                                \
  }                                                                                                \
  template <Scope S> GMPI_DEVICE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {     \
    if (context.peer == nullptr)                                                                   \
      return by_queue::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), false);                    \
    peer::Begun begun = peer::Begun::unmet;                                                        \
    if constexpr (S != Scope::thread)                                                              \
      begun = begin_together<S, kind_of(Function::name)>([=] {                                     \
        if constexpr (peer::goes_by_route<Function::name>) {                                       \
          peer::Begun so_far = quick::begin_##name<S>(GMPI_LIST(GMPI_PASS, roles));                \
          if (so_far != peer::Begun::nothing)                                                      \
            return so_far;                                                                         \
        }                                                                                          \
        return quick::go_on_##name<S>(GMPI_LIST(GMPI_PASS, roles));                                \
      });                                                                                          \
    else if constexpr (peer::begins_alone<Function::name>)                                         \
      begun = quick::alone_##name(GMPI_LIST(GMPI_PASS, roles));                                    \
    if (begun == peer::Begun::over)                                                                \
      return MPI_SUCCESS;                                                                          \
    return either_way::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), begun);                    \
  }
#define GMPI_DEVICE_blocking(name, roles) GMPI_CARRY_OUT_EITHER_WAY(name, roles)
#define GMPI_DEVICE_nonblocking(name, roles) GMPI_CARRY_OUT_EITHER_WAY(name, roles)
#define GMPI_DEVICE_collective(name, roles) GMPI_CARRY_OUT_EITHER_WAY(name, roles)
#define GMPI_DEVICE_completion(name, roles) GMPI_CARRY_OUT_ONE_WAY(name, roles)
#define GMPI_DEVICE_terminal(name, roles) GMPI_CARRY_OUT_ONE_WAY(name, roles)
#define GMPI_DEVICE_local(name, roles) // local_device.hpp
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_DEVICE_##kind(name, roles)
#include "../mpi/functions.def"
#undef GMPI_PARAMETER
#undef GMPI_ASSIGN
#undef GMPI_CARRY_OUT
#undef GMPI_CARRY_OUT_ONE_WAY
#undef GMPI_CARRY_OUT_EITHER_WAY
#undef GMPI_PASS
#undef GMPI_DEVICE_blocking
#undef GMPI_DEVICE_nonblocking
#undef GMPI_DEVICE_collective
#undef GMPI_DEVICE_completion
#undef GMPI_DEVICE_terminal
#undef GMPI_DEVICE_local

} // namespace gmpi::device
