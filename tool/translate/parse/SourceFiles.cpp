// Registry of the files that the passes read.
#include "SourceFiles.h"
#include <algorithm>

namespace gmpi::translate {

unsigned SourceFile::lineOf(unsigned Offset) const {
  return 1 + unsigned(std::count(Text.begin(), Text.begin() + Offset, '\n'));
}

unsigned SourceFile::columnOf(unsigned Offset) const {
  size_t Newline = Offset ? Text.rfind('\n', Offset - 1) : std::string::npos;
  return Newline == std::string::npos ? Offset + 1 : Offset - unsigned(Newline);
}

unsigned SourceFile::endOfLine(unsigned Offset) const {
  size_t Newline = Text.find('\n', Offset);
  return Newline == std::string::npos ? unsigned(Text.size()) : unsigned(Newline) + 1;
}

SourceFile &SourceFiles::get(clang::FileEntryRef Entry, llvm::StringRef Text, bool System) {
  SourceFile *&Known = ById[Entry.getUniqueID()];
  if (Known)
    return *Known;
  llvm::StringRef Path = Entry.getName();
  while (Path.consume_front("./"))
    Path = Path.ltrim('/');
  InOrder.push_back(std::make_unique<SourceFile>(
      SourceFile{Path.str(), Text.str(), unsigned(InOrder.size()), System, {}}));
  return *(Known = InOrder.back().get());
}

const SourceFile *SourceFiles::find(const clang::FileEntry *Entry) const {
  auto Found = Entry ? ById.find(Entry->getUniqueID()) : ById.end();
  return Found == ById.end() ? nullptr : Found->second;
}

} // namespace gmpi::translate
