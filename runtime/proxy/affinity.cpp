// Linux: a thread may widen its own mask; the kernel cuts it to the job's cpuset.
#include "affinity.hpp"

#include <sched.h>
#include <sys/resource.h>

namespace gmpi {

namespace {

long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

} // namespace

void leave_single_core() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) > 1)
    return;
  CPU_ZERO(&cores);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof(cores), &cores); // if refused, all works as before, slower
}

void move_to_another_core() {
  cpu_set_t cores;
  const int core = sched_getcpu();
  if (core < 0 || sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) < 2)
    return;
  cpu_set_t others = cores;
  CPU_CLR(core, &others);
  sched_setaffinity(0, sizeof(others), &others); // it goes on there
  sched_setaffinity(0, sizeof(cores), &cores);
}

void CoreWatch::look() {
  if (is_crowded(Clock::now(), preemptions))
    move_to_another_core();
}

} // namespace gmpi
