// Linux: a thread may widen its own mask; the kernel cuts it to the job's cpuset.
#include "affinity.hpp"

#include <sched.h>

namespace gmpi {

void leave_single_core() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0 || CPU_COUNT(&cores) > 1)
    return;
  CPU_ZERO(&cores);
  for (int core = 0; core < CPU_SETSIZE; ++core)
    CPU_SET(core, &cores);
  sched_setaffinity(0, sizeof(cores), &cores); // if refused, all works as before, slower
}

} // namespace gmpi
