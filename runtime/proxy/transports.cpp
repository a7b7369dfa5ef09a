// Sums by transport, and by communicator and reason.
#include "transports.hpp"

#include "../peer/links.hpp"
#include "report.hpp"

#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace gmpi::transports {

namespace {

struct Counts {
  unsigned long long calls = 0, bytes = 0;
};

/// What does not change as long as it lives.
struct Communicator {
  std::string name;
  bool has_neighbours; ///< other ranks on this host
  bool inter;
};

struct Table {
  std::mutex mutex;
  Counts by_transport[2];
  std::map<MPI_Comm, Communicator> communicators;
  std::map<std::pair<std::string, std::string>, unsigned long long> reasons; ///< by name, why
};

Table &table() {
  static Table &table = *new Table;
  return table;
}

Communicator look_at(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0, inter = 0;
  PMPI_Comm_get_name(comm, name, &length);
  PMPI_Comm_test_inter(comm, &inter);
  return {length != 0 ? name : "a communicator", peer::Links::instance()->has_neighbours(comm),
          inter != 0};
}

std::string reason(const Attribute &attribute, const Communicator &communicator) {
  if (communicator.inter)
    return "it is an intercommunicator";
  std::string against = peer::Links::instance()->against(attribute.arguments.comm);
  if (!against.empty())
    return against;
  if (attribute.in_bytes == unknown_bytes)
    return "derived datatypes";
  if (attribute.function == Function::Reduce || attribute.function == Function::Allreduce)
    return "a reduction that kernels leave to MPI";
  return "arguments that MPI may refuse";
}

void say_one(const char *transport, const Counts &counts) {
  if (counts.calls != 0)
    say("%s: %llu calls, %llu bytes sent", transport, counts.calls, counts.bytes);
}

} // namespace

void count(Transport transport, std::size_t bytes_sent) {
  std::lock_guard lock(table().mutex);
  Counts &counts = table().by_transport[transport];
  ++counts.calls;
  counts.bytes += bytes_sent;
}

void count_reason(const Attribute &attribute) {
  MPI_Comm comm = attribute.arguments.comm;
  if (comm == MPI_COMM_NULL || peer::Links::instance() == nullptr)
    return;
  std::lock_guard lock(table().mutex);
  auto found = table().communicators.find(comm);
  if (found == table().communicators.end())
    found = table().communicators.emplace(comm, look_at(comm)).first;
  if (found->second.has_neighbours)
    ++table().reasons[{found->second.name, reason(attribute, found->second)}];
}

void forget(MPI_Comm comm) {
  std::lock_guard lock(table().mutex);
  table().communicators.erase(comm);
}

void report() {
  std::lock_guard lock(table().mutex);
  say_one("inline", table().by_transport[inlined]);
  say_one("staged", table().by_transport[staged]);
  for (const auto &[key, calls] : table().reasons)
    say("not from kernel to kernel: %llu calls on %s: %s", calls, key.first.c_str(),
        key.second.c_str());
  for (Counts &counts : table().by_transport)
    counts = {};
  table().reasons.clear();
}

} // namespace gmpi::transports
