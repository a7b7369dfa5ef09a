// A block of a kernel takes 1 / per_multiprocessor of a multiprocessor, of whichever resource it
// runs out of first.
#include "residency.hpp"

namespace gmpi::launch {

namespace {

/// Multiprocessors that the blocks of all kernels but `which` may make too full for one of its.
double lost_multiprocessors(const std::vector<Footprint> &kernels, std::size_t which) {
  double share = 1.0 / kernels[which].per_multiprocessor;
  double filled = 0, blocks = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (i != which) {
      filled += static_cast<double>(kernels[i].blocks) / kernels[i].per_multiprocessor;
      blocks += static_cast<double>(kernels[i].blocks);
    }
  // To lose one, the others must fill more than 1 - share of it, with a block at least.
  double most = share < 1 ? filled / (1 - share) : blocks;
  return most < blocks ? most : blocks;
}

} // namespace

bool all_find_room(const std::vector<Footprint> &kernels, unsigned multiprocessors) {
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    double left = multiprocessors - lost_multiprocessors(kernels, i);
    if (left < 0 || static_cast<double>(kernels[i].blocks) > left * kernels[i].per_multiprocessor)
      return false;
  }
  return true;
}

} // namespace gmpi::launch
