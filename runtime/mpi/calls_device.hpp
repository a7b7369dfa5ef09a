// MPI's functions as kernels call them: device::MPI_Send<Scope::grid>(site, ...) and so on. Here it
// is decided whether a call goes by way of the proxy (../queue) or from kernel to kernel (../peer).
//
// A block's first warp begins a call, whichever way it goes, and a short one is over then
// (begin_together). What is longer, or waits for others, goes on in either_way::MPI_*, and from
// there in peer::MPI_* or by_queue::MPI_*.
//
// Functions that are compiled by themselves (-rdc=true) save many of the registers they use. So
// each way of a call is one such function, what most calls do without is a function of its own, and
// of what all threads run as little as can be is in any.
#pragma once

#include "begin_device.hpp"
#include "calls.hpp"

namespace gmpi::device {

template <Scope S>
GMPI_NOINLINE int wait_one_by_one(Site site, int count, MPI_Request *requests,
                                  MPI_Status *statuses);
template <Scope S>
GMPI_NOINLINE int send_or_receive(Site site, const void *send_buffer, int send_count,
                                  MPI_Datatype send_datatype, int dest, int send_tag,
                                  void *recv_buffer, int recv_count, MPI_Datatype recv_datatype,
                                  int source, int recv_tag, MPI_Comm comm, MPI_Status *status);
template <class = void>
GMPI_NOINLINE bool exchange_with_statuses(Site site, int count, MPI_Request *requests,
                                          MPI_Status *statuses);
template <class = void> GMPI_NOINLINE void make_left_calls(Site site);
template <class> GMPI_DEVICE void make_left(Site site) {
  if (peer::has_left())
    make_left_calls(site);
}

#define GMPI_PARAMETER(role) argument::role role
#define GMPI_ASSIGN(role) a.role = role;
#define GMPI_PASS(role) role
#define GMPI_CARRY_OUT(name, roles)                                                                \
  namespace quick {                                                                                \
  template <class = void>                                                                          \
  GMPI_NOINLINE Begun await_after_carrying_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {              \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return await_after_carrying<Function::name>(a);                                                \
  }                                                                                                \
  }                                                                                                \
  namespace by_queue {                                                                             \
  template <Scope S>                                                                               \
  GMPI_NOINLINE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles), Begun begun) {         \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return carry_out<S, Function::name>(site, a, begun);                                           \
  }                                                                                                \
  }
#define GMPI_CARRY_OUT_ALONE(name, roles)                                                          \
  namespace by_queue {                                                                             \
  template <class = void>                                                                          \
  GMPI_NOINLINE Alone ask_alone_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {              \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return ask_alone<Function::name>(site, a);                                                     \
  }                                                                                                \
  template <class = void>                                                                          \
  GMPI_NOINLINE int end_alone_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles),                  \
                                     const Alone &alone) {                                         \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return end_alone<Function::name>(site, a, alone);                                              \
  }                                                                                                \
  template <class = void>                                                                          \
  GMPI_DEVICE int alone_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {                      \
    if constexpr (asks_alone<Function::name>) {                                                    \
      const Alone alone = ask_alone_##name(site, GMPI_LIST(GMPI_PASS, roles));                     \
      if (alone.begun == Begun::over)                                                              \
        return MPI_SUCCESS;                                                                        \
      if (alone.begun == Begun::asked)                                                             \
        return end_alone_##name(site, GMPI_LIST(GMPI_PASS, roles), alone);                         \
    }                                                                                              \
    return MPI_##name<Scope::thread>(site, GMPI_LIST(GMPI_PASS, roles), Begun::unmet);             \
  }                                                                                                \
  }
#define GMPI_CARRY_OUT_ONE_WAY(name, roles)                                                        \
  GMPI_CARRY_OUT(name, roles)                                                                      \
  namespace quick {                                                                                \
  template <Scope S> GMPI_NOINLINE Begun ask_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) { \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return go_on_completing<Function::name, S>(site, a, 0);                                        \
  }                                                                                                \
  template <Scope S>                                                                               \
  GMPI_NOINLINE Begun work_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {                   \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return work_together<Function::name, S>(site, a);                                              \
  }                                                                                                \
  }                                                                                                \
  template <Scope S> GMPI_DEVICE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {     \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    if constexpr (Function::name == Function::Waitall) {                                           \
      if (a.statuses != MPI_STATUSES_IGNORE)                                                       \
        return wait_one_by_one<S>(site, a.count, a.requests, a.statuses);                          \
    }                                                                                              \
    if constexpr (Function::name == Function::Wait && S == Scope::grid) {                          \
      if (wants_status(a) && peer::has_left() &&                                                   \
          exchange_with_statuses(site, 1, a.request, a.status))                                    \
        return MPI_SUCCESS;                                                                        \
    }                                                                                              \
    Begun begun = Begun::unmet;                                                                    \
    if constexpr (S != Scope::thread && completes_quickly<Function::name>) {                       \
      begun = begin_together<Function::name, S>(                                                   \
          site, a, [] {}, [] { return false; }, [] { return Begun::unmet; },                       \
          [] {                                                                                     \
            if constexpr (S == Scope::grid)                                                        \
              peer::prepare_pair();                                                                \
          },                                                                                       \
          [=] { return quick::ask_##name<S>(site, GMPI_LIST(GMPI_PASS, roles)); });                \
      if constexpr (S == Scope::grid)                                                              \
        while (begun == Begun::sharing)                                                            \
          begun = peer::carry_with_grid() == Begun::sent                                           \
                      ? quick::await_after_carrying_##name(GMPI_LIST(GMPI_PASS, roles))            \
                      : Begun::answered;                                                           \
      while (begun == Begun::working)                                                              \
        begun = quick::work_##name<S>(site, GMPI_LIST(GMPI_PASS, roles));                          \
      if (begun == Begun::answered && !wants_status(a))                                            \
        return give_null_requests<Function::name>(a);                                              \
    }                                                                                              \
    return by_queue::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), begun);                      \
  }
#define GMPI_CARRY_OUT_EITHER_WAY(name, roles)                                                     \
  GMPI_CARRY_OUT(name, roles)                                                                      \
  GMPI_CARRY_OUT_ALONE(name, roles)                                                                \
  namespace peer {                                                                                 \
  template <Scope S>                                                                               \
  GMPI_NOINLINE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles), Begun begun) {         \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return carry_on_between_kernels<S, Function::name>(site, a, begun);                            \
  }                                                                                                \
  }                                                                                                \
  namespace quick {                                                                                \
  template <Scope S, bool own, bool in_rows>                                                       \
  GMPI_NOINLINE Begun receive_##name(GMPI_LIST(GMPI_PARAMETER, roles), Begun begun) {              \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::receive_short<Function::name, S, own, in_rows>(a, begun);                         \
  }                                                                                                \
  template <Scope S> GMPI_NOINLINE Begun send_own_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {       \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::send_short<Function::name, S, true>(a);                                           \
  }                                                                                                \
  template <Scope S> GMPI_NOINLINE Begun post_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {           \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::post_short<S>(a);                                                                 \
  }                                                                                                \
  template <Scope S>                                                                               \
  GMPI_NOINLINE Begun go_on_##name(GMPI_LIST(GMPI_PARAMETER, roles), Begun begun) {                \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::go_on_quickly<Function::name, S>(a, begun);                                       \
  }                                                                                                \
  template <class = void> GMPI_NOINLINE Begun alone_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {     \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::begin_alone<Function::name>(a);                                                   \
  }                                                                                                \
  template <class = void> GMPI_NOINLINE Begun in_lanes_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {  \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::begin_in_lanes<Function::name>(a);                                                \
  }                                                                                                \
  template <class = void> GMPI_NOINLINE Begun begin_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {     \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return begin_generally<Function::name>(a);                                                     \
  }                                                                                                \
  template <Scope S> GMPI_NOINLINE void describe_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {        \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    peer::describe_quickly<Function::name, S>(a);                                                  \
  }                                                                                                \
  template <class = void> GMPI_NOINLINE Begun repeat_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {    \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::repeat<Function::name>(a);                                                        \
  }                                                                                                \
  template <Scope S> GMPI_NOINLINE Begun collect_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {        \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::collect_quickly<Function::name, S>(a);                                            \
  }                                                                                                \
  template <class = void> GMPI_NOINLINE Begun await_##name() {                                     \
    return peer::await_round<Function::name>(lane_index(), 32);                                    \
  }                                                                                                \
  template <Scope S> GMPI_NOINLINE Begun exchange_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {       \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::exchange_uncommon<Function::name, S>(a);                                          \
  }                                                                                                \
  template <Scope S>                                                                               \
  GMPI_NOINLINE Begun write_and_receive_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {                 \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::write_and_receive<S>(a);                                                          \
  }                                                                                                \
  template <class = void> GMPI_NOINLINE Begun help_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {      \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return help_together<Function::name>(a);                                                       \
  }                                                                                                \
  template <class = void> GMPI_NOINLINE int answer_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {      \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return end_quickly<Function::name>(BlockTeam{thread_index() == 0}, a);                         \
  }                                                                                                \
  template <class = void> GMPI_NOINLINE int take_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {        \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return take_result<Function::name>(a);                                                         \
  }                                                                                                \
  template <class = void> GMPI_NOINLINE Begun read_wide_##name(GMPI_LIST(GMPI_PARAMETER, roles)) { \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::read_wide_found(a.comm, a.source, a.recv_tag, a.recv_buffer, a.recv_count,        \
                                 wants_status(a));                                                 \
  }                                                                                                \
  template <Scope S> GMPI_NOINLINE Begun read_apart_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {     \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::read_apart_found<S>(a.comm, a.source, a.recv_tag, a.recv_buffer, a.recv_count,    \
                                     wants_status(a));                                             \
  }                                                                                                \
  template <class = void>                                                                          \
  GMPI_NOINLINE Begun begin_wide_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {                        \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::begin_wide<Function::name>(a);                                                    \
  }                                                                                                \
  template <Scope S> GMPI_NOINLINE Begun store_##name(GMPI_LIST(GMPI_PARAMETER, roles)) {          \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::store_quickly<Function::name, S>(a);                                              \
  }                                                                                                \
  template <Scope S>                                                                               \
  GMPI_NOINLINE Begun ask_short_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {              \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return ask_short<Function::name, S>(site, a);                                                  \
  }                                                                                                \
  template <Scope S>                                                                               \
  GMPI_NOINLINE Begun ask_quickly_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {            \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return ask_quickly<Function::name, S>(site, a);                                                \
  }                                                                                                \
  template <Scope S> GMPI_DEVICE Begun ask_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {   \
    Begun begun = Begun::nothing;                                                                  \
    if constexpr (kind_of(Function::name) != Kind::nonblocking)                                    \
      begun = ask_short_##name<S>(site, GMPI_LIST(GMPI_PASS, roles));                              \
    return begun == Begun::nothing ? ask_quickly_##name<S>(site, GMPI_LIST(GMPI_PASS, roles))      \
                                   : begun;                                                        \
  }                                                                                                \
  }                                                                                                \
  namespace either_way {                                                                           \
  template <Scope S>                                                                               \
  GMPI_NOINLINE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles), Begun begun) {         \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return carry_out_either_way<S, Function::name>(                                                \
        site, a, begun,                                                                            \
        [=] { return quick::write_and_receive_##name<S>(GMPI_LIST(GMPI_PASS, roles)); },           \
        [=](Begun now) {                                                                           \
          if constexpr (S == Scope::thread)                                                        \
            return by_queue::alone_##name(site, GMPI_LIST(GMPI_PASS, roles));                      \
          return by_queue::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), now);                  \
        },                                                                                         \
        [=](Begun now) { return peer::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), now); });   \
  }                                                                                                \
  }                                                                                                \
  template <Scope S> GMPI_DEVICE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {     \
    constexpr bool receives = peer::receives_short<Function::name>;                                \
    constexpr bool posts = Function::name == Function::Irecv;                                      \
    constexpr bool collects = kind_of(Function::name) == Kind::collective;                         \
    Begun begun = Begun::unmet;                                                                    \
    if constexpr (S != Scope::thread) {                                                            \
      Arguments a{};                                                                               \
      GMPI_EACH(GMPI_ASSIGN, roles)                                                                \
      if constexpr (Function::name == Function::Sendrecv)                                          \
        if (sends_or_receives(a))                                                                  \
          return send_or_receive<S>(site, GMPI_LIST(GMPI_PASS, roles));                            \
      const auto receive = [=](Begun so_far) {                                                     \
        if constexpr (receives) {                                                                  \
          Begun now = is_local(a.recv_buffer)                                                      \
                          ? quick::receive_##name<S, true, false>(                                 \
                                GMPI_LIST(GMPI_PASS, roles), so_far)                               \
                          : quick::receive_##name<S, false, false>(                                \
                                GMPI_LIST(GMPI_PASS, roles), so_far);                              \
          if (now == Begun::over)                                                                  \
            return now;                                                                            \
          if (now == Begun::longer)                                                                \
            now = quick::receive_##name<S, false, true>(GMPI_LIST(GMPI_PASS, roles), so_far);      \
          so_far = now;                                                                            \
        }                                                                                          \
        if (so_far == Begun::over)                                                                 \
          return so_far;                                                                           \
        if constexpr (receives && S == Scope::grid)                                                \
          if (so_far == Begun::found)                                                              \
            so_far = quick::read_wide_##name(GMPI_LIST(GMPI_PASS, roles));                         \
        if constexpr (receives)                                                                    \
          if (so_far == Begun::found)                                                              \
            so_far = quick::read_apart_##name<S>(GMPI_LIST(GMPI_PASS, roles));                     \
        if constexpr (Function::name == Function::Recv)                                            \
          if (so_far == Begun::offered)                                                            \
            return peer::go_on_long<S>(peer::take_offered<S>(                                      \
                *peer::source_of(a).its, a.source, a.recv_tag, a.recv_buffer,                      \
                peer::found_by(a).out_bytes, wants_status(a)));                                    \
        return is_left(so_far) ? peer::go_on_long<S>(                                              \
                                     quick::go_on_##name<S>(GMPI_LIST(GMPI_PASS, roles), so_far))  \
                               : so_far;                                                           \
      };                                                                                           \
      peer::EarlyRoute<S> early;                                                                   \
      begun = begin_together<Function::name, S>(                                                   \
          site, a,                                                                                 \
          [=] {                                                                                    \
            if constexpr (receives)                                                                \
              if (context.peer != nullptr)                                                         \
                peer::learn_source<S>(a.comm, a.source);                                           \
          },                                                                                       \
          [=, may = peer::may_be_carried_by_all<Function::name, S>(a)] {                           \
            if constexpr (collects)                                                                \
              if (may && context.peer != nullptr) {                                                \
                quick::describe_##name<S>(GMPI_LIST(GMPI_PASS, roles));                            \
                return peer::meet_to_carry_as_warp();                                              \
              }                                                                                    \
            return false;                                                                          \
          },                                                                                       \
          [=] {                                                                                    \
            if (context.peer != nullptr)                                                           \
              return quick::repeat_##name(GMPI_LIST(GMPI_PASS, roles));                            \
            if (thread_index() == 0)                                                               \
              block_state().arrived = begin_to_arrive(block_state());                              \
            return Begun::unmet;                                                                   \
          },                                                                                       \
          [=, &early] {                                                                            \
            if (context.peer == nullptr)                                                           \
              return;                                                                              \
            if constexpr (collects)                                                                \
              quick::describe_##name<S>(GMPI_LIST(GMPI_PASS, roles));                              \
            if constexpr (peer::sends_wide<Function::name>)                                        \
              early.load(a.dest);                                                                  \
            if constexpr (receives)                                                                \
              peer::prepare_to_receive<S>(a.comm, a.source);                                       \
          },                                                                                       \
          [=, &early] {                                                                            \
            if constexpr (S == Scope::grid)                                                        \
              if (returns_to_global<Function::name>(a))                                            \
                return quick::begin_##name(GMPI_LIST(GMPI_PASS, roles));                           \
            if (context.peer == nullptr)                                                           \
              return quick::ask_##name<S>(site, GMPI_LIST(GMPI_PASS, roles));                      \
            Begun so_far = Begun::nothing;                                                         \
            if constexpr (collects && S == Scope::grid)                                            \
              if (block_state().command == GridCommand::await)                                     \
                return quick::await_##name();                                                      \
            if constexpr (collects) {                                                              \
              so_far = quick::collect_##name<S>(GMPI_LIST(GMPI_PASS, roles));                      \
              if (so_far == Begun::exchanging)                                                     \
                so_far = quick::exchange_##name<S>(GMPI_LIST(GMPI_PASS, roles));                   \
            } else {                                                                               \
              if constexpr (peer::sends_short<Function::name>)                                     \
                so_far = is_local(a.send_buffer)                                                   \
                             ? quick::send_own_##name<S>(GMPI_LIST(GMPI_PASS, roles))              \
                             : peer::send_short<Function::name, S, false>(                         \
                                   a, peer::sends_wide<Function::name> ? &early : nullptr);        \
              if constexpr (posts)                                                                 \
                so_far = quick::post_##name<S>(GMPI_LIST(GMPI_PASS, roles));                       \
              if constexpr (Function::name == Function::Recv)                                      \
                so_far = receive(so_far);                                                          \
              else if (so_far == Begun::sent)                                                      \
                so_far = receive(so_far);                                                          \
              else if (so_far == Begun::nothing) {                                                 \
                if constexpr (S == Scope::grid && peer::sends_wide<Function::name>)                \
                  so_far = quick::begin_wide_##name(GMPI_LIST(GMPI_PASS, roles));                  \
                if (so_far != Begun::sharing)                                                      \
                  so_far = peer::go_on_long<S, Function::name == Function::Sendrecv>(              \
                      quick::go_on_##name<S>(GMPI_LIST(GMPI_PASS, roles), so_far));                \
              }                                                                                    \
            }                                                                                      \
            return so_far == Begun::elsewhere                                                      \
                       ? quick::ask_##name<S>(site, GMPI_LIST(GMPI_PASS, roles))                   \
                       : so_far;                                                                   \
          });                                                                                      \
      if (begun == Begun::over)                                                                    \
        return MPI_SUCCESS;                                                                        \
      if constexpr (kind_of(Function::name) != Kind::nonblocking)                                  \
        if (begun == Begun::answered)                                                              \
          return quick::answer_##name(GMPI_LIST(GMPI_PASS, roles));                                \
      if constexpr (peer::stores_quickly<Function::name>)                                          \
        if (begun == Begun::storing)                                                               \
          begun = quick::store_##name<S>(GMPI_LIST(GMPI_PASS, roles));                             \
      if constexpr (peer::sends_short<Function::name>)                                             \
        if (is_span(begun) && peer::is_to_be_written(block_state().peer.span))                     \
          begun = write_span<S>(begun);                                                            \
      if constexpr (S == Scope::grid && peer::carries_wide<Function::name>)                        \
        if (begun == Begun::sharing)                                                               \
          begun = carry_wide();                                                                    \
      if constexpr (S == Scope::grid && Function::name == Function::Sendrecv)                      \
        if (begun == Begun::sent && block_state().command != GridCommand::lead)                    \
          begun = quick::await_after_carrying_##name(GMPI_LIST(GMPI_PASS, roles));                 \
      if constexpr (Function::name == Function::Sendrecv)                                          \
        if (begun == Begun::sent)                                                                  \
          begun = tell_all(thread_index() < 32 ? receive(begun) : Begun::over);                    \
      if constexpr (S == Scope::grid && Function::name == Function::Sendrecv)                      \
        if (begun == Begun::sharing)                                                               \
          begun = carry_wide();                                                                    \
      if constexpr (receives)                                                                      \
        if (is_span(begun))                                                                        \
          begun = read_span<S>(begun);                                                             \
      if (begun == Begun::over)                                                                    \
        return MPI_SUCCESS;                                                                        \
    } else {                                                                                       \
      if (context.peer == nullptr)                                                                 \
        return by_queue::alone_##name(site, GMPI_LIST(GMPI_PASS, roles));                          \
      if constexpr (peer::begins_alone<Function::name>)                                            \
        begun = lanes_here().count == 1                                                            \
                    ? quick::alone_##name(GMPI_LIST(GMPI_PASS, roles))                             \
                    : quick::in_lanes_##name(GMPI_LIST(GMPI_PASS, roles));                         \
    }                                                                                              \
    if constexpr (S != Scope::thread)                                                              \
      begun = move_together<S>(begun);                                                             \
    if (S != Scope::thread && begun == Begun::carrying)                                            \
      begun = quick::carry<Function::name, S>();                                                   \
    if constexpr (S == Scope::grid)                                                                \
      if (begun == Begun::helping)                                                                 \
        begun = quick::help_##name(GMPI_LIST(GMPI_PASS, roles));                                   \
    if (begun == Begun::over)                                                                      \
      return MPI_SUCCESS;                                                                          \
    if (S == Scope::grid && begun == Begun::made)                                                  \
      return quick::take_##name(GMPI_LIST(GMPI_PASS, roles));                                      \
    if constexpr (S != Scope::thread && kind_of(Function::name) == Kind::nonblocking)              \
      if (begun == Begun::answered) {                                                              \
        Arguments a{};                                                                             \
        GMPI_EACH(GMPI_ASSIGN, roles)                                                              \
        return give_request(a.new_request);                                                        \
      }                                                                                            \
    if (S != Scope::thread && begun == Begun::answered)                                            \
      return quick::answer_##name(GMPI_LIST(GMPI_PASS, roles));                                    \
    return either_way::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles), begun);                    \
  }
#define GMPI_LEAVE_BY(way, name, roles)                                                            \
  template <class = void>                                                                          \
  GMPI_NOINLINE std::uint32_t leave_##way##_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {  \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::leave_##way<Function::name>(site, a);                                             \
  }
#define GMPI_LEAVE(name, roles)                                                                    \
  namespace quick {                                                                                \
  GMPI_LEAVE_BY(quickly, name, roles)                                                              \
  GMPI_LEAVE_BY(queued, name, roles)                                                               \
  template <class = void>                                                                          \
  GMPI_NOINLINE std::uint32_t leave_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {          \
    if (!peer::may_come_behind<Function::name>(peer::waited_calls(), peer::sent_calls())) {        \
      make_left_calls(site);                                                                       \
      const std::uint32_t number = leave_quickly_##name(site, GMPI_LIST(GMPI_PASS, roles));        \
      if (number != peer::cannot_be_left)                                                          \
        return number;                                                                             \
    }                                                                                              \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    return peer::leave_to_next<Function::name>(site, a);                                           \
  }                                                                                                \
  }                                                                                                \
  namespace followed {                                                                             \
  template <Scope S> GMPI_DEVICE int MPI_##name(Site site, GMPI_LIST(GMPI_PARAMETER, roles)) {     \
    static_assert(S == Scope::grid);                                                               \
    if (Function::name == Function::Recv && !peer::has_left())                                     \
      return device::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles));                             \
    Arguments a{};                                                                                 \
    GMPI_EACH(GMPI_ASSIGN, roles)                                                                  \
    std::uint32_t number =                                                                         \
        peer::may_be_queued<Function::name>(a.comm)                                                \
            ? quick::leave_queued_##name(site, GMPI_LIST(GMPI_PASS, roles))                        \
            : quick::leave_quickly_##name(site, GMPI_LIST(GMPI_PASS, roles));                      \
    if (number == peer::cannot_be_left)                                                            \
      number = quick::leave_##name(site, GMPI_LIST(GMPI_PASS, roles));                             \
    if (number != peer::is_not_to_be_left)                                                         \
      return kind_of(Function::name) == Kind::nonblocking                                          \
                 ? give_request(a.new_request, request_of_number(number))                          \
                 : MPI_SUCCESS;                                                                    \
    if constexpr (!ends_series<Function::name>)                                                    \
      make_left(site);                                                                             \
    return device::MPI_##name<S>(site, GMPI_LIST(GMPI_PASS, roles));                               \
  }                                                                                                \
  }
#define GMPI_DEVICE_blocking(name, roles)                                                          \
  GMPI_CARRY_OUT_EITHER_WAY(name, roles) GMPI_LEAVE(name, roles)
#define GMPI_DEVICE_nonblocking GMPI_DEVICE_blocking
#define GMPI_DEVICE_collective(name, roles) GMPI_CARRY_OUT_EITHER_WAY(name, roles)
#define GMPI_DEVICE_completion(name, roles) GMPI_CARRY_OUT_ONE_WAY(name, roles)
#define GMPI_DEVICE_terminal(name, roles) GMPI_CARRY_OUT_ONE_WAY(name, roles)
#define GMPI_DEVICE_local(name, roles) // local_device.hpp
#define GMPI_FUNCTION(name, start, kind, roles) GMPI_DEVICE_##kind(name, roles)
#include "functions.def"
#undef GMPI_PARAMETER
#undef GMPI_ASSIGN
#undef GMPI_CARRY_OUT
#undef GMPI_CARRY_OUT_ALONE
#undef GMPI_CARRY_OUT_ONE_WAY
#undef GMPI_CARRY_OUT_EITHER_WAY
#undef GMPI_LEAVE
#undef GMPI_LEAVE_BY
#undef GMPI_PASS
#undef GMPI_DEVICE_blocking
#undef GMPI_DEVICE_nonblocking
#undef GMPI_DEVICE_collective
#undef GMPI_DEVICE_completion
#undef GMPI_DEVICE_terminal
#undef GMPI_DEVICE_local

/// MPI_Sendrecv that only sends, or only receives: see sends_or_receives(). Errors, and who waits
/// for whom, name the half that is left.
template <Scope S>
GMPI_NOINLINE int send_or_receive(Site site, const void *send_buffer, int send_count,
                                  MPI_Datatype send_datatype, int dest, int send_tag,
                                  void *recv_buffer, int recv_count, MPI_Datatype recv_datatype,
                                  int source, int recv_tag, MPI_Comm comm, MPI_Status *status) {
  return dest == MPI_PROC_NULL
             ? MPI_Recv<S>(site, recv_buffer, recv_count, recv_datatype, source, recv_tag, comm,
                           status)
             : MPI_Send<S>(site, send_buffer, send_count, send_datatype, dest, send_tag, comm);
}

template <class> GMPI_NOINLINE void make_left_calls(Site site) {
  MPI_Request none[1];
  MPI_Waitall<Scope::grid>(site, 0, none, MPI_STATUSES_IGNORE);
}

namespace quick {
template <class = void> GMPI_NOINLINE bool leave_wait(MPI_Request *request) {
  return peer::leave_wait(request);
}
} // namespace quick
namespace followed {
template <Scope S>
GMPI_DEVICE int MPI_Wait(Site site, MPI_Request *request, MPI_Status *status) {
  static_assert(S == Scope::grid);
  return status == MPI_STATUS_IGNORE && quick::leave_wait(request)
             ? MPI_SUCCESS
             : device::MPI_Wait<S>(site, request, status);
}
} // namespace followed

/// A wait with statuses of a grid, for what has been left to it, both in each thread's own memory:
/// the blocks meet once. Returns whether it has been so; else what has been left may have been made,
/// and nothing has been waited for.
template <class>
GMPI_NOINLINE bool exchange_with_statuses(Site site, int count, MPI_Request *requests,
                                          MPI_Status *statuses) {
  if (!is_local(requests) || !is_local(statuses))
    return false;
  const std::uint32_t next = peer::next_call();
  Arguments a{};
  a.count = count;
  a.requests = requests;
  a.statuses = statuses;
  Begun begun = begin_together<Function::Waitall, Scope::grid>(
      site, a, [] {}, [] { return false; }, [] { return Begun::unmet; },
      [] { peer::prepare_pair(); },
      [] { return end_with_nobody<Function::Waitall, Scope::grid>(Arguments{}); });
  while (begun == Begun::sharing)
    begun = peer::carry_with_grid() == Begun::sent
                ? quick::await_after_carrying_Waitall(count, requests, statuses)
                : Begun::answered;
  if (begun != Begun::answered)
    by_queue::MPI_Waitall<Scope::grid>(site, 0, requests, MPI_STATUSES_IGNORE, begun);
  const LaunchState &launch = *block_state().launch;
  if (launch.statuses.next != next)
    return false;
  GMPI_NO_UNROLL
  for (int i = 0; i < count; ++i) {
    CallResult result =
        nothing_received(requests[i] == MPI_REQUEST_NULL ? MPI_ANY_SOURCE : MPI_PROC_NULL);
    if (is_kernel_request(requests[i]) && requests[i] != null_peer_request()) {
      const auto &its = launch.statuses.of[i];
      result.source = its.source;
      result.tag = its.tag;
      result.bytes = its.bytes;
      if (its.source == gmpi::peer::LeftStatuses::is_result)
        result = launch.result;
    }
    statuses[i] = make_status(result);
    requests[i] = MPI_REQUEST_NULL;
  }
  return true;
}

/// MPI_Waitall with statuses: one rendezvous a request, since each has a result of its own.
template <Scope S>
GMPI_NOINLINE int wait_one_by_one(Site site, int count, MPI_Request *requests,
                                  MPI_Status *statuses) {
  if constexpr (S == Scope::grid)
    if (peer::has_left() && exchange_with_statuses(site, count, requests, statuses))
      return MPI_SUCCESS;
  int error = MPI_SUCCESS;
  for (int i = 0; i < count; ++i)
    if (MPI_Wait<S>(site, requests + i, statuses + i) != MPI_SUCCESS)
      error = MPI_ERR_IN_STATUS;
  return error;
}

} // namespace gmpi::device
