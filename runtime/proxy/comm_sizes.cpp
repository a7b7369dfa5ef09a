// The table of communicators' sizes: the host's side.
#include "comm_sizes.hpp"

#include <utility>

namespace gmpi {

namespace {

/// Of an intercommunicator: its messages never go to the rank that sends them.
constexpr int no_rank = 0xffff;

} // namespace

void CommSizes::learn(MPI_Comm comm) {
  int inter = 0, size = 0;
  PMPI_Comm_test_inter(comm, &inter);
  inter ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size);
  if (size >= no_rank) // more than a word's top 16 bits hold: such sends wait for MPI
    return;
  int rank = no_rank;
  if (!inter)
    PMPI_Comm_rank(comm, &rank);
  for (auto [table, value] : {std::pair(0u, size), std::pair(comm_slots, rank)})
    __atomic_store_n(words_ + table + comm_hash(comm),
                     tag_word(to_word(comm), std::uint32_t(value)), __ATOMIC_RELEASE);
}

void CommSizes::forget(MPI_Comm comm) {
  for (std::uint32_t table : {0u, comm_slots}) {
    std::uint64_t *word = words_ + table + comm_hash(comm);
    std::uint64_t found = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (content_of(found) == content_of(to_word(comm)))
      __atomic_compare_exchange_n(word, &found, std::uint64_t(0), false, __ATOMIC_ACQ_REL,
                                  __ATOMIC_RELAXED); // if it has changed, it is another's by now
  }
}

} // namespace gmpi
