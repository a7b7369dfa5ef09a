// Sums by transport, and by communicator and reason.
#include "transports.hpp"

#include "../peer/hosts/links.hpp"
#include "../queue/context.hpp"
#include "../transport/gpu_aware.hpp"
#include "report.hpp"
#include "settings.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace gmpi::transports {

namespace {

struct Counts {
  unsigned long long calls = 0, bytes = 0;
};

struct Replies {
  bool on_device;
  std::string against;
};

/// What does not change as long as it lives.
struct Communicator {
  std::string name;
  bool has_neighbours; ///< other ranks on this host
  bool inter;
};

struct Table {
  std::mutex mutex;
  Counts by_transport[3];
  std::map<MPI_Comm, Communicator> communicators;
  std::map<std::pair<std::string, std::string>, unsigned long long> reasons; ///< by name, why
  std::map<int, Replies> replies;                                            ///< by device
  std::map<std::pair<bool, std::string>, unsigned long long> staging; ///< by split or queue, why
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

/// Why a call's data is staged.
std::string why_staged(const Attribute &attribute, const Buffers &buffers, bool split) {
  const launch::Lowering lowering = split ? launch::Lowering::split : launch::Lowering::queue;
  const std::string &against = gmpi::gpu_aware::against(lowering);
  if (!against.empty())
    return against;
  if (!takes_device_memory(attribute.function))
    return "reductions";
  const std::uint64_t longest = std::max(attribute.direct_in ? 0 : buffers.in_bytes,
                                         attribute.direct_out ? 0 : buffers.out_bytes);
  if (longest <= gmpi::gpu_aware::above(lowering))
    return "they are not longer than GMPI_GPU_AWARE_KB says";
  return gmpi::gpu_aware::takes_own_messages()
             ? "a thread's own or __shared__ memory"
             : "a thread's own or __shared__ memory, or to the own rank";
}

void say_one(const char *transport, const Counts &counts) {
  if (counts.calls != 0)
    say("%s: %llu calls, %llu bytes sent", transport, counts.calls, counts.bytes);
}

/// `device`: -1 where there is but one.
void say_replies(int device, const Replies &replies) {
  const std::string whose = device < 0 ? "" : " of device " + std::to_string(device);
  const std::string why = replies.against.empty() ? "" : ": " + replies.against;
  say("completions%s lie in the %s", whose.c_str(),
      replies.on_device ? "GPU's memory, which the host writes by way of GDRCopy"
                        : ("host's memory" + why).c_str());
}

} // namespace

void count(const Attribute &attribute, const Buffers &buffers, bool split) {
  const bool stages = (!attribute.inline_in && !attribute.direct_in && buffers.in_bytes != 0) ||
                      (!attribute.direct_out && buffers.out_bytes > inline_bytes);
  const bool direct = (attribute.direct_in && buffers.in_bytes != 0) ||
                      (attribute.direct_out && buffers.out_bytes > inline_bytes);
  std::lock_guard lock(table().mutex);
  Counts &counts = table().by_transport[stages ? staged : direct ? gpu_aware : inlined];
  ++counts.calls;
  counts.bytes += buffers.in_bytes;
  if (stages)
    ++table().staging[{split, why_staged(attribute, buffers, split)}];
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

void note_replies(int device, bool on_device, const std::string &against) {
  std::lock_guard lock(table().mutex);
  table().replies[device] = {on_device, against};
}

void forget(MPI_Comm comm) {
  std::lock_guard lock(table().mutex);
  table().communicators.erase(comm);
}

void report() {
  std::lock_guard lock(table().mutex);
  say_one("inline", table().by_transport[inlined]);
  say_one("staged", table().by_transport[staged]);
  say_one("gpu-aware", table().by_transport[gpu_aware]);
  for (const auto &[key, calls] : table().reasons)
    say("not from kernel to kernel: %llu calls on %s: %s", calls, key.first.c_str(),
        key.second.c_str());
  for (const auto &[key, calls] : table().staging)
    say("device pointers are not given to MPI in %s: %llu calls: %s", key.first ? "split" : "queue",
        calls, key.second.c_str());
  if (settings().stats)
    for (const auto &[device, replies] : table().replies)
      say_replies(table().replies.size() == 1 ? -1 : device, replies);
  for (Counts &counts : table().by_transport)
    counts = {};
  table().reasons.clear();
  table().staging.clear();
  table().replies.clear();
}

} // namespace gmpi::transports
