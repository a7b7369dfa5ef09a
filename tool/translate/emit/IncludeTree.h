// Changed headers go into a tree beside the output, `out.cu.d/<path>`. Every #include on the way
// from the main file to a changed header is changed to name the copy.
#pragma once

#include "../lower/Lowering.h"
#include <set>

namespace gmpi::translate {

class IncludeTree {
public:
  /// Adds the edits of #include directives to L.Changes.
  IncludeTree(Lowering &L, const SourceFiles &Files);

  /// The headers to be written, in order of inclusion.
  std::vector<const SourceFile *> headers() const;
  std::string pathOf(const SourceFile &Header) const;

private:
  void collect(const SourceFiles &Files);
  void redirect(const Inclusion &I);
  std::string pathFrom(const SourceFile &From, const std::string &To) const;

  Lowering &L;
  std::map<unsigned, const SourceFile *> Changed; ///< the main file included
};

} // namespace gmpi::translate
