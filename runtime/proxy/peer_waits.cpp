// From operations to who must act for each to end.
#include "peer_waits.hpp"

#include "host_wait.hpp"
#include "proxy.hpp"
#include "report.hpp"

#include <algorithm>
#include <sstream>

namespace gmpi {

namespace {

constexpr std::size_t most_waits = 64; ///< of one rank that are looked into

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::string rank_text(MPI_Comm comm, int rank) {
  if (rank == MPI_ANY_SOURCE)
    return "any rank";
  std::string text = "rank " + std::to_string(rank);
  if (rank == MPI_PROC_NULL || comm == MPI_COMM_WORLD)
    return text;
  int world = WorldRanks().of(comm, rank);
  return world < 0 || world == rank ? text
                                    : text + " (in MPI_COMM_WORLD " + std::to_string(world) + ")";
}

std::string tag_text(int tag) {
  return tag == MPI_ANY_TAG ? "any tag" : "tag " + std::to_string(tag);
}

std::string peer_text(const Attribute &attribute) {
  const Arguments &a = attribute.arguments;
  switch (attribute.function) {
  case Function::Send:
  case Function::Ssend:
  case Function::Isend:
    return " to " + rank_text(a.comm, a.dest) + ", " + tag_text(a.send_tag);
  case Function::Recv:
  case Function::Irecv:
  case Function::Probe:
  case Function::Iprobe:
    return " from " + rank_text(a.comm, a.source) + ", " + tag_text(a.recv_tag);
  case Function::Sendrecv: { // of one between kernels, the half that is waited for
    const std::string to = " to " + rank_text(a.comm, a.dest) + ", " + tag_text(a.send_tag);
    const std::string from = " from " + rank_text(a.comm, a.source) + ", " + tag_text(a.recv_tag);
    return a.dest == MPI_PROC_NULL     ? from
           : a.source == MPI_PROC_NULL ? to
                                       : to + "," + from;
  }
  case Function::Bcast:
  case Function::Reduce:
    return ", root " + rank_text(a.comm, a.root);
  default:
    return "";
  }
}

bool is_nonblocking(const Operation &operation) {
  return kind_of(operation.attribute.function) == Kind::nonblocking;
}

/// Whether half `i` of an operation is still under way: its send, or an MPI_Sendrecv's receive. Of
/// one between kernels MPI knows nothing, and the arguments name what is waited for alone.
bool is_under_way(const Operation &operation, int i) {
  return operation.attribute.peer || operation.requests[i] != MPI_REQUEST_NULL;
}

/// The rank that the operation still sends to, or MPI_PROC_NULL.
int destination(const Operation &operation) {
  switch (operation.attribute.function) {
  case Function::Send:
  case Function::Ssend:
  case Function::Isend:
  case Function::Sendrecv:
    return is_under_way(operation, 0) ? operation.attribute.arguments.dest : MPI_PROC_NULL;
  default:
    return MPI_PROC_NULL;
  }
}

/// The rank that the operation still receives from, or waits to hear from, or MPI_PROC_NULL.
int source(const Operation &operation) {
  const Arguments &arguments = operation.attribute.arguments;
  switch (operation.attribute.function) {
  case Function::Recv:
  case Function::Irecv:
  case Function::Probe:
  case Function::Iprobe:
    return arguments.source;
  case Function::Sendrecv:
    return is_under_way(operation, 1) ? arguments.source : MPI_PROC_NULL;
  default:
    return MPI_PROC_NULL;
  }
}

/// In a collective that no rank can leave before all have entered it, each is needed, and so is the
/// root of a reduction by the others. In any other a rank that has finished may have done its part:
/// all that can be said is that the call is lost once nobody is left.
void add_collective(PeerWait &wait, const Operation &operation, WorldRanks &ranks) {
  const Attribute &attribute = operation.attribute;
  MPI_Comm comm = attribute.arguments.comm;
  int own = MPI_PROC_NULL;
  PMPI_Comm_rank(comm, &own);
  bool for_all =
      attribute.function == Function::Barrier || attribute.function == Function::Allreduce;
  bool for_root = attribute.function == Function::Reduce && own != attribute.arguments.root;
  wait.collective = true;
  if (for_all)
    wait.needs = *ranks.others(comm);
  else if (for_root)
    wait.needs = {ranks.of(comm, attribute.arguments.root)};
  else
    wait.any = ranks.others(comm);
}

PeerWait wait_of(const Operation &operation, WorldRanks &ranks, Clock::time_point now) {
  PeerWait wait;
  wait.call = describe(operation, now);
  wait.identity = static_cast<std::uint64_t>(waited_since(operation).time_since_epoch().count()) ^
                  static_cast<std::uint64_t>(operation.attribute.slot) << 48;
  MPI_Comm comm = operation.attribute.arguments.comm;
  if (kind_of(operation.attribute.function) == Kind::collective) {
    add_collective(wait, operation, ranks);
  } else {
    if (int from = source(operation); from == MPI_ANY_SOURCE)
      wait.any = ranks.others(comm);
    else if (from != MPI_PROC_NULL)
      wait.needs.push_back(ranks.of(comm, from));
    if (int to = destination(operation); to != MPI_PROC_NULL) {
      wait.needs.push_back(ranks.of(comm, to));
      wait.receivers.push_back(wait.needs.back());
    }
  }
  std::erase_if(wait.needs, [](int rank) { return rank < 0; });
  return wait;
}

/// One call of grid scope blocks the only launch that can run: all others stand behind it in its
/// stream, and there the host program waits too.
bool is_blocked(const Progress *const *devices, std::size_t count, const HostWaitState &host) {
  const Operation *blocking = nullptr;
  const Progress *where = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    if (devices[i] == nullptr)
      continue;
    for (const Operation &operation : devices[i]->operations())
      if (is_waited_for(operation)) {
        if (blocking != nullptr)
          return false;
        blocking = &operation;
        where = devices[i];
      }
  }
  if (blocking == nullptr || !blocking->waited || blocking->wait_scope != Scope::grid ||
      !host.speaks_for_program || host.number == 0 || host.device != where->queue().device())
    return false;
  cudaStream_t stream = canonical(where->queue().launch_record(blocking->wait_launch).stream);
  if (!host.whole_device && canonical(host.stream) != stream)
    return false;
  for (std::size_t i = 0; i < count; ++i)
    if (devices[i] != nullptr)
      for (const DeviceQueue::LaunchRecord &launch : devices[i]->queue().launches_in_flight())
        if (devices[i] != where || canonical(launch.stream) != stream)
          return false;
  return true;
}

} // namespace

bool is_outstanding(const Operation &operation) {
  Phase phase = operation.phase;
  return phase == Phase::running || phase == Phase::copying_in;
}

bool is_waited_for(const Operation &operation) {
  return operation.phase == Phase::running && (operation.waited || operation.host_waits_since != 0);
}

Clock::time_point waited_since(const Operation &operation) {
  if (operation.waited)
    return operation.waited_since;
  return Clock::time_point(Clock::duration(operation.host_waits_since));
}

std::string describe(const Operation &operation, Clock::time_point now) {
  const Attribute &attribute = operation.attribute;
  std::ostringstream text;
  text.precision(0);
  text << std::fixed << name_of(attribute.function) << peer_text(attribute) << " ("
       << name_of(operation.waited ? operation.wait_scope : attribute.scope) << " scope, "
       << place(attribute.site);
  if (operation.waited && is_nonblocking(operation))
    text << ", waited for at " << place(operation.wait_site);
  else if (operation.host_waits_since != 0)
    text << ", waited for by the host program";
  else if (!operation.waited)
    text << ", not waited for";
  Clock::time_point since = is_waited_for(operation) ? waited_since(operation) : operation.started;
  text << ", for " << seconds(now - since) << " s)";
  return text.str();
}

WorldRanks::WorldRanks() {
  PMPI_Comm_group(MPI_COMM_WORLD, &world_);
  PMPI_Comm_rank(MPI_COMM_WORLD, &own_);
}

WorldRanks::~WorldRanks() {
  for (auto &[comm, entry] : entries_)
    PMPI_Group_free(&entry.group);
  PMPI_Group_free(&world_);
}

WorldRanks::Entry &WorldRanks::entry(MPI_Comm comm) {
  auto [found, added] = entries_.try_emplace(comm);
  if (added) {
    int inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
      PMPI_Comm_remote_group(comm, &found->second.group);
    else
      PMPI_Comm_group(comm, &found->second.group);
  }
  return found->second;
}

int WorldRanks::of(MPI_Comm comm, int rank) {
  int world = MPI_UNDEFINED;
  PMPI_Group_translate_ranks(entry(comm).group, 1, &rank, world_, &world);
  return world == MPI_UNDEFINED ? -1 : world;
}

std::shared_ptr<const Ranks> WorldRanks::others(MPI_Comm comm) {
  Entry &found = entry(comm);
  if (found.others)
    return found.others;
  int size = 0;
  PMPI_Group_size(found.group, &size);
  Ranks local(static_cast<std::size_t>(size)), world(local.size());
  for (int i = 0; i < size; ++i)
    local[static_cast<std::size_t>(i)] = i;
  PMPI_Group_translate_ranks(found.group, size, local.data(), world_, world.data());
  // A rank outside MPI_COMM_WORLD stays in the list as -1: it cannot be asked, and never finishes.
  std::erase(world, own_);
  std::replace(world.begin(), world.end(), int(MPI_UNDEFINED), -1);
  return found.others = std::make_shared<const Ranks>(std::move(world));
}

Standing look_at(const Progress *const *devices, std::size_t count, Clock::time_point now) {
  Standing standing;
  WorldRanks ranks;
  for (std::size_t i = 0; i < count; ++i) {
    if (devices[i] == nullptr)
      continue;
    for (const Operation &operation : devices[i]->operations()) {
      if (operation.phase != Phase::running)
        continue;
      if (int to = destination(operation); to != MPI_PROC_NULL)
        standing.sending_to.insert(ranks.of(operation.attribute.arguments.comm, to));
      if (int from = source(operation); from == MPI_ANY_SOURCE)
        standing.receiving_from_any = true;
      else if (from != MPI_PROC_NULL)
        standing.receiving_from.insert(ranks.of(operation.attribute.arguments.comm, from));
      if (is_waited_for(operation) && operation.foreign == MPI_REQUEST_NULL &&
          standing.waits.size() < most_waits)
        standing.waits.push_back(wait_of(operation, ranks, now));
    }
  }
  if (Proxy *proxy = Proxy::instance())
    proxy->relay().add_unsent(standing.sending_to);
  HostWaitState host = host_wait_state();
  standing.host_wait = host.number;
  standing.blocked = is_blocked(devices, count, host);
  return standing;
}

} // namespace gmpi
