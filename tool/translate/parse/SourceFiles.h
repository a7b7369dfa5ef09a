// The user's files as they are on disk, shared by the passes that parse them, and positions in
// them.
//
// Invariant: a Position is an offset in the text on disk, whichever pass and whatever buffer
// (launches with braces are parsed from a changed copy) a location came from.
#pragma once

#include "LaunchBraces.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

namespace gmpi::translate {

struct SourceFile {
  std::string Path; ///< as #line directives and messages name it
  std::string Text; ///< on disk
  unsigned Index;   ///< in order of first inclusion; the main file is 0
  bool System;      ///< a system header or one of the translator's own: never rewritten
  OffsetMap Offsets;

  unsigned lineOf(unsigned Offset) const;
  unsigned columnOf(unsigned Offset) const;
  /// Offset of the first character after Offset's line, or the end of the text.
  unsigned endOfLine(unsigned Offset) const;
};

struct Position {
  const SourceFile *File = nullptr;
  unsigned Offset = 0;

  bool isValid() const { return File != nullptr; }
  unsigned line() const { return File->lineOf(Offset); }
  friend bool operator==(const Position &, const Position &) = default;
  friend bool operator<(const Position &A, const Position &B) {
    unsigned FileA = A.File ? A.File->Index : ~0u, FileB = B.File ? B.File->Index : ~0u;
    return std::tie(FileA, A.Offset) < std::tie(FileB, B.Offset);
  }
};

/// A half-open piece of one file.
struct Span {
  Position Begin;
  unsigned End = 0;

  bool isValid() const { return Begin.isValid(); }
  llvm::StringRef text() const {
    return llvm::StringRef(Begin.File->Text).slice(Begin.Offset, End);
  }
};

class SourceFiles {
public:
  /// The file behind an entry, read on first use. Text is what is on disk.
  SourceFile &get(clang::FileEntryRef Entry, llvm::StringRef Text, bool System);
  const SourceFile *find(const clang::FileEntry *Entry) const;
  const SourceFile &main() const { return *InOrder.front(); }
  bool empty() const { return InOrder.empty(); }
  llvm::ArrayRef<std::unique_ptr<SourceFile>> all() const { return InOrder; }

private:
  std::vector<std::unique_ptr<SourceFile>> InOrder;
  std::map<llvm::sys::fs::UniqueID, SourceFile *> ById;
};

} // namespace gmpi::translate
