// MPI's functions as kernels call them: device::MPI_Send<Scope::grid>(site, ...) and so on. Here it
// is decided whether a call goes by way of the proxy (../queue) or from kernel to kernel (../peer).
//
// Where a device has both ways, a block's first warp decides (begin_*), and a short call from
// kernel to kernel is over then. What is longer, or waits for others, goes on in peer::MPI_*.
//
// Functions that are compiled by themselves (-rdc=true) save many of the registers they use. So
// each way of a call is one such function, and what most calls do without is a function of its own.
#pragma once

#include "../queue/call_device.hpp"

namespace gmpi::device {

/// The threads of a block, or of all, have met; what can be done of the call at once is done, by
/// `begin`. Of a grid's call block.command then tells whether this block makes it, and
/// block.peer.begun how far it has come.
template <Scope S, Function F, class Begin>
GMPI_DEVICE void begin_call(const BlockTeam &team, const Arguments &a, Begin begin) {
  BlockState &block = block_state();
  if (team.leads()) {
    block.peer.begun = peer::Begun::elsewhere;
    block.command = S == Scope::grid ? arrive(block) : GridCommand::lead;
  }
  if (BlockTeam::has_warp()) {
    if (thread_index() < 32) {
      __syncwarp();
      if (block.command == GridCommand::lead)
        begin();
    }
  } else if (team.leads() && block.command == GridCommand::lead && peer::takes<F>(a)) {
    block.peer.begun = peer::Begun::nothing;
  }
  __syncthreads();
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

/// What carry_out_quickly() returns of a call that is the proxy's; of the grid's, this block is to
/// make it.
constexpr int go_by_queue = -1;

/// Carries a call out on a device that has two ways. What takes long is apart: `begin` by the first
/// warp, `carry` what that has left to the block, `between_kernels` what is not over soon.
template <Scope S, Function F, class Begin, class Carry, class BetweenKernels>
GMPI_DEVICE int carry_out_quickly(const Arguments &a, Begin begin, Carry carry,
                                  BetweenKernels between_kernels) {
  if constexpr (S == Scope::thread) {
    return peer::takes<F>(a) ? between_kernels() : go_by_queue;
  } else {
    const BlockTeam team = BlockTeam::meet();
    begin_call<S, F>(team, a, begin);
    if (S == Scope::grid && block_state().command != GridCommand::lead)
      return serve_call<F>(team, a);
    peer::Begun begun = block_state().peer.begun;
    if (begun == peer::Begun::writing || begun == peer::Begun::reading)
      begun = carry(team);
    if (begun == peer::Begun::over)
      return end_quickly<F>(team, a);
    return begun == peer::Begun::elsewhere ? go_by_queue : between_kernels();
  }
}

/// Goes on with a call between kernels: of a grid, the block that makes it.
template <Scope S, Function F>
GMPI_DEVICE int carry_on_between_kernels(Site site, const Arguments &a) {
  const Buffers buffers = buffers_of(F, a, message_bytes);
  if constexpr (S == Scope::thread) {
    ThreadTeam team;
    return deliver_result<F>(a, peer::communicate<F>(team, site, a, buffers, peer::Begun::nothing),
                             true, true);
  } else {
    std::conditional_t<S == Scope::grid, GridTeam, BlockTeam> team{BlockTeam::meet()};
    CallResult result = peer::communicate<F>(team, site, a, buffers, block_state().peer.begun);
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
  template <Scope S> GMPI_NOINLINE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {   \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return carry_on_between_kernels<S, Function::name>(site, a);                                   \
  }                                                                                                \
  }                                                                                                \
  namespace quick {                                                                                \
  template <Scope S> GMPI_NOINLINE void begin_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {           \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    peer::begin_quickly<Function::name, S>(a);                                                     \
  }                                                                                                \
  template <Scope S>                                                                               \
  GMPI_NOINLINE peer::Begun carry_##name(BlockTeam team, GMPI_LIST(GMPI_PARAMETER, roles)) {       \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::carry_quickly<Function::name, S>(team, a);                                        \
  }                                                                                                \
  }                                                                                                \
  namespace either_way {                                                                           \
  template <Scope S> GMPI_NOINLINE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {   \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    int error = carry_out_quickly<S, Function::name>(                                              \
        a, [=] { quick::begin_##name<S>(GMPI_LIST(GMPI_PASS, roles)); },                           \
        [=](BlockTeam team) { return quick::carry_##name<S>(team, GMPI_LIST(GMPI_PASS, roles)); }, \
        [=] { return peer::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles)); });                   \
    return error == go_by_queue ? by_queue::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), true) \
                                : error;                                                           \
  }                                                                                                \
  }                                                                                                \
  template <Scope S> GMPI_DEVICE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {     \
    return context.peer == nullptr                                                                 \
               ? by_queue::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), false)                 \
               : either_way::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles));                     \
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
