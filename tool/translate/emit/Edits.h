// The changes to the user's files, collected first and made all at once.
//
// Invariant: no two edits overlap. The same edit asked for twice (a macro's argument that is
// expanded twice) is one edit; anything else that overlaps is kept apart and told by conflict().
#pragma once

#include "../parse/SourceFiles.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gmpi::translate {

class Edits {
public:
  void replace(const Span &What, std::string Text);
  void insert(const Position &Where, std::string Text) {
    replace({Where, Where.Offset}, std::move(Text));
  }
  void remove(const Span &What) { replace(What, ""); }

  bool touches(const SourceFile &File) const { return ByFile.count(File.Index) != 0; }
  /// The files that have edits, in order of inclusion.
  std::vector<const SourceFile *> files() const;
  /// The piece of text as edited. Edits that begin in it are made; insertions at its end are not.
  std::string apply(const Span &Piece) const;
  /// Every edit, by place.
  std::vector<std::pair<Span, std::string>> all() const;
  /// Two edits that overlap, if there are any: the place of the second.
  std::optional<Position> conflict() const { return Conflict; }

private:
  struct Edit {
    unsigned Begin, End;
    std::string Text;
  };
  std::map<unsigned, std::vector<Edit>>
      ByFile; ///< each sorted by Begin, insertions first come first
  std::map<unsigned, const SourceFile *> Files;
  std::optional<Position> Conflict;
};

} // namespace gmpi::translate
