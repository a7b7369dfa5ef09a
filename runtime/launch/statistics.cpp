// Sums by kernel and lowering.
#include "statistics.hpp"

#include "../proxy/report.hpp"
#include "../proxy/settings.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace gmpi::launch {

namespace {

struct Table {
  std::mutex mutex;
  std::map<std::pair<const KernelEntry *, Lowering>, Counts> counts;
};

Table &table() {
  static Table &table = *new Table;
  return table;
}

double milliseconds(Counts::Duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

void say_one(const KernelEntry &kernel, Lowering lowering, const Counts &counts) {
  std::string where = place({kernel.info.file, kernel.info.line});
  auto number = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
  if (lowering == Lowering::queue)
    return say("kernel %s (%s), queue: %llu launches, %llu MPI calls", kernel.info.name,
               where.c_str(), number(counts.launches), number(counts.calls));
  say("kernel %s (%s), split: %llu launches, %llu MPI calls, %llu segments, %llu bytes saved and "
      "restored at most; %.3f ms in segments, %.3f ms in MPI, %.3f ms idle",
      kernel.info.name, where.c_str(), number(counts.launches), number(counts.calls),
      number(counts.segments), number(counts.saved_bytes), milliseconds(counts.in_segments),
      milliseconds(counts.in_mpi), milliseconds(counts.total - counts.in_segments - counts.in_mpi));
}

} // namespace

void count(const KernelEntry &kernel, Lowering lowering, const Counts &counts) {
  if (!settings().stats)
    return;
  std::lock_guard lock(table().mutex);
  Counts &sum = table().counts[{&kernel, lowering}];
  sum.launches += counts.launches;
  sum.calls += counts.calls;
  sum.segments += counts.segments;
  sum.saved_bytes += counts.saved_bytes;
  sum.in_segments += counts.in_segments;
  sum.in_mpi += counts.in_mpi;
  sum.total += counts.total;
}

void report_statistics() {
  std::lock_guard lock(table().mutex);
  for (const auto &[key, counts] : table().counts)
    say_one(*key.first, key.second, counts);
  table().counts.clear();
}

} // namespace gmpi::launch
