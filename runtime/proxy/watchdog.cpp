// Reports of calls that do not end.
#include "watchdog.hpp"

#include "progress.hpp"
#include "report.hpp"
#include "settings.hpp"

#include <sstream>

namespace gmpi {

namespace {

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::string peer_of(const Attribute &attribute) {
  const Arguments &a = attribute.arguments;
  auto rank = [](int peer) {
    return peer == MPI_ANY_SOURCE ? std::string("any rank") : "rank " + std::to_string(peer);
  };
  auto tag = [](int value) {
    return value == MPI_ANY_TAG ? std::string("any tag") : "tag " + std::to_string(value);
  };
  switch (attribute.function) {
  case Function::Send:
  case Function::Ssend:
  case Function::Isend:
    return " to " + rank(a.dest) + ", " + tag(a.send_tag);
  case Function::Recv:
  case Function::Irecv:
    return " from " + rank(a.source) + ", " + tag(a.recv_tag);
  case Function::Sendrecv:
    return " to " + rank(a.dest) + ", " + tag(a.send_tag) + ", from " + rank(a.source) + ", " +
           tag(a.recv_tag);
  case Function::Bcast:
  case Function::Reduce:
    return ", root " + rank(a.root);
  default:
    return "";
  }
}

std::string describe(const Operation &operation) {
  const Attribute &attribute = operation.attribute;
  std::ostringstream text;
  text.precision(0);
  text << std::fixed << name_of(attribute.function) << peer_of(attribute) << " ("
       << name_of(attribute.scope) << " scope, " << place(attribute.site) << ", for "
       << seconds(Clock::now() - operation.started) << " s"
       << (operation.waited ? "" : ", not waited for") << ")";
  return text.str();
}

bool outstanding(const Operation &operation) {
  Phase phase = operation.phase;
  return phase == Phase::running || phase == Phase::copying_in;
}

} // namespace

Watchdog::Watchdog() : last_progress_(Clock::now().time_since_epoch().count()) {}
Watchdog::~Watchdog() = default;

void Watchdog::look(const Progress *const *devices, std::size_t count, int) {
  double idle = seconds(Clock::now().time_since_epoch() - Clock::duration(last_progress_.load()));
  if (idle < settings().stall_seconds)
    reported_ = false;
  bool timed_out = settings().timeout_seconds > 0 && idle >= settings().timeout_seconds;
  if ((reported_ || idle < settings().stall_seconds) && !timed_out)
    return;
  std::string calls;
  bool waited = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (devices[i] == nullptr)
      continue;
    for (const Operation &operation : devices[i]->operations())
      if (outstanding(operation)) {
        calls += "\n  " + describe(operation);
        waited |= operation.waited;
      }
  }
  if (!waited)
    return;
  reported_ = true;
  if (timed_out)
    fatal("no progress for %.0f s, GMPI_TIMEOUT is passed; outstanding calls:%s", idle,
          calls.c_str());
  say("no progress for %.0f s; outstanding calls:%s", idle, calls.c_str());
}

void Watchdog::answer_peers() {}

} // namespace gmpi
