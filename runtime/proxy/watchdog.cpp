// When to report, to ask and to end the job.
#include "watchdog.hpp"

#include "peer_waits.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "settings.hpp"

#include <algorithm>
#include <utility>

namespace gmpi {

namespace {

constexpr auto between_looks = std::chrono::milliseconds(250);
constexpr int most_calls_listed = 20;

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

/// A message that a rank sent before it finished may take this long to arrive.
std::chrono::duration<double> patience() {
  return std::chrono::duration<double>(std::clamp(settings().stall_seconds, 1.0, 10.0));
}

/// Questions become rarer the longer a stall lasts.
double between_questions(double idle) { return std::clamp(idle / 10, 1.0, 10.0); }

} // namespace

Watchdog::Watchdog()
    : detector_(channel_.rank(), patience()), last_progress_(roughly_now()),
      last_look_(last_progress_), last_question_(last_progress_) {}

void Watchdog::wait_for_all_ranks() {
  finished_ = true;
  channel_.wait_for_all_ranks();
}

bool Watchdog::it_is_time() {
  Clock::time_point now = roughly_now();
  note_clock(now);
  return now - last_look_ >= between_looks;
}

void Watchdog::note_clock(Clock::time_point now) {
  if (!moved_.exchange(false, std::memory_order_relaxed))
    return;
  last_progress_ = now;
  reported_ = false;
  if (asking_)
    detector_.reset();
  asking_ = false;
}

/// Since when nothing has moved, or now where nothing is waited for.
Clock::time_point Watchdog::idle_since(Devices devices, std::size_t count) const {
  Clock::time_point oldest = Clock::time_point::max();
  for (std::size_t i = 0; i < count; ++i)
    if (devices[i] != nullptr)
      for (const Operation &operation : devices[i]->operations())
        if (is_waited_for(operation))
          oldest = std::min(oldest, waited_since(operation));
  return std::max(oldest, last_progress_);
}

void Watchdog::look(Devices devices, std::size_t count) {
  Clock::time_point now = last_look_ = roughly_now();
  note_clock(now);
  Clock::time_point since = idle_since(devices, count);
  double idle = since < now ? seconds(now - since) : 0;
  bool stalled = since < now && idle >= settings().stall_seconds;
  if (settings().timeout_seconds > 0 && idle >= settings().timeout_seconds)
    fatal("no progress for %.0f s, GMPI_TIMEOUT is passed; outstanding calls:%s", idle,
          outstanding_calls(devices, count, now).c_str());
  if (stalled && !std::exchange(reported_, true))
    say("no progress for %.0f s; outstanding calls:%s", idle,
        outstanding_calls(devices, count, now).c_str());
  converse(devices, count, now, stalled);
  if (!stalled || idle < between_questions(idle) ||
      seconds(now - last_question_) < between_questions(idle))
    return;
  last_question_ = now;
  asking_ = true;
  Standing standing = look_at(devices, count, now);
  standing.stalled = true;
  send(detector_.ask(standing));
}

std::string Watchdog::outstanding_calls(Devices devices, std::size_t count,
                                        Clock::time_point now) const {
  std::string calls;
  int listed = 0, more = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (devices[i] != nullptr)
      for (const Operation &operation : devices[i]->operations())
        if (is_outstanding(operation)) {
          if (++listed <= most_calls_listed)
            calls += "\n  " + describe(operation, now);
          else
            ++more;
        }
  return more == 0 ? calls : calls + "\n  and " + std::to_string(more) + " more";
}

/// Hears what other ranks say, answers, and draws the conclusions.
void Watchdog::converse(Devices devices, std::size_t count, Clock::time_point now, bool stalled) {
  int from = 0;
  PeerMessage message;
  bool heard = channel_.receive(from, message);
  if (!heard && !stalled)
    return;
  Standing standing;
  if (stalled || finished_)
    standing = look_at(devices, count, now);
  standing.stalled = stalled;
  standing.finished = finished_;
  for (; heard; heard = channel_.receive(from, message))
    send(detector_.receive(from, message, standing, now));
  if (auto verdict = detector_.verdict(standing, now))
    verdict->fatal ? fatal("%s", verdict->text.c_str()) : say("%s", verdict->text.c_str());
}

void Watchdog::send(const DeadlockDetector::Outbox &outbox) {
  for (const auto &[to, message] : outbox)
    if (to >= 0)
      channel_.send(to, message);
}

} // namespace gmpi
