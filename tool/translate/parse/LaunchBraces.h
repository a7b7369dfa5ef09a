// Clang does not parse `kernel<<<grid, {x, y, 1}>>>()`, which nvcc takes. This writes the type
// before such braces into the text that Clang gets, and maps offsets back.
//
//   kernel<<<grid, {x, y, 1}>>>(n)   is parsed as   kernel<<<grid, dim3{x, y, 1}>>>(n)
#pragma once

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gmpi::translate {

/// From offsets in the parsed text to offsets in the user's. Empty: they are the same.
class OffsetMap {
public:
  /// Length characters were put in before the user's offset; called in increasing order.
  void addInsertion(unsigned UserOffset, unsigned Length) {
    Insertions.push_back({UserOffset, Length});
  }
  unsigned toUser(unsigned Parsed) const;

private:
  std::vector<std::pair<unsigned, unsigned>> Insertions;
};

struct BracedLaunches {
  std::string Text;
  OffsetMap Offsets;
};

/// Nothing where the text has no such launch.
std::optional<BracedLaunches> spellLaunchBraces(llvm::StringRef Text);

} // namespace gmpi::translate
