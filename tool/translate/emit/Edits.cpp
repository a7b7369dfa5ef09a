// Sorted edits a file, checked for overlap as they come.
#include "Edits.h"
#include <algorithm>

namespace gmpi::translate {

void Edits::replace(const Span &What, std::string Text) {
  unsigned Begin = What.Begin.Offset, End = What.End;
  std::vector<Edit> &All = ByFile[What.Begin.File->Index];
  Files[What.Begin.File->Index] = What.Begin.File;
  // After the insertions at the same place, before a replacement that begins there.
  auto After = std::find_if(All.begin(), All.end(), [&](const Edit &E) {
    return E.Begin > Begin || (E.Begin == Begin && E.End > E.Begin);
  });
  for (const Edit &E : All) {
    if (E.Begin == Begin && E.End == End && E.Text == Text)
      return;
    bool BothReplace = Begin < E.End && E.Begin < End;
    bool Within = Begin == End ? E.Begin < Begin && Begin < E.End
                               : E.Begin == E.End && Begin < E.Begin && E.Begin < End;
    if (BothReplace || Within) {
      Conflict = What.Begin;
      return;
    }
  }
  All.insert(After, {Begin, End, std::move(Text)});
}

std::vector<const SourceFile *> Edits::files() const {
  std::vector<const SourceFile *> Result;
  for (auto &[Index, File] : Files)
    Result.push_back(File);
  return Result;
}

std::vector<std::pair<Span, std::string>> Edits::all() const {
  std::vector<std::pair<Span, std::string>> Result;
  for (auto &[Index, List] : ByFile)
    for (const Edit &E : List)
      Result.push_back({{{Files.at(Index), E.Begin}, E.End}, E.Text});
  return Result;
}

std::string Edits::apply(const Span &Piece) const {
  const std::string &Text = Piece.Begin.File->Text;
  std::string Result;
  unsigned At = Piece.Begin.Offset;
  auto Found = ByFile.find(Piece.Begin.File->Index);
  if (Found != ByFile.end())
    for (const Edit &E : Found->second) {
      bool AtEndOfFile = E.Begin == Piece.End && Piece.End == Text.size();
      if (E.Begin < Piece.Begin.Offset || (E.Begin >= Piece.End && !AtEndOfFile))
        continue;
      Result += Text.substr(At, E.Begin - At) + E.Text;
      At = E.End;
    }
  return Result + Text.substr(At, Piece.End - At);
}

} // namespace gmpi::translate
