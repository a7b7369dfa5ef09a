// The files that lead to changed headers, and the paths between the copies.
#include "IncludeTree.h"
#include "LineDirective.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace gmpi::translate {

namespace {

namespace path = llvm::sys::path;
using llvm::StringRef;

std::string absolute(StringRef Path) {
  llvm::SmallString<256> Result(Path);
  llvm::sys::fs::make_absolute(Result);
  path::remove_dots(Result, /*remove_dot_dot=*/true);
  return Result.str().str();
}

/// The path to To as seen from Folder.
std::string relative(const std::string &To, const std::string &Folder) {
  auto ToAt = path::begin(To), ToEnd = path::end(To);
  auto FolderAt = path::begin(Folder), FolderEnd = path::end(Folder);
  while (ToAt != ToEnd && FolderAt != FolderEnd && *ToAt == *FolderAt) {
    ++ToAt;
    ++FolderAt;
  }
  llvm::SmallString<256> Result;
  for (; FolderAt != FolderEnd; ++FolderAt)
    path::append(Result, "..");
  for (; ToAt != ToEnd; ++ToAt)
    path::append(Result, *ToAt);
  return Result.str().str();
}

} // namespace

IncludeTree::IncludeTree(Lowering &L, const SourceFiles &Files) : L(L) {
  collect(Files);
  for (const Pass *Each : {&L.Code, &L.Host})
    for (const Inclusion &I : Each->inclusions())
      redirect(I);
}

void IncludeTree::collect(const SourceFiles &Files) {
  for (const SourceFile *File : L.Changes.files())
    Changed[File->Index] = File;
  Changed[Files.main().Index] = &Files.main();
  for (bool Grew = true; Grew;) {
    Grew = false;
    for (const Pass *Each : {&L.Code, &L.Host})
      for (const Inclusion &I : Each->inclusions())
        if (I.From && I.To->Index != Files.main().Index && Changed.count(I.To->Index))
          Grew |= Changed.try_emplace(I.From->Index, I.From).second;
  }
}

void IncludeTree::redirect(const Inclusion &I) {
  bool ToCopy = I.To->Index != 0 && Changed.count(I.To->Index);
  if (!I.From || I.From->System) {
    if (ToCopy)
      L.Code.diagnostics().report(DiagId::system_header, {}, {I.To->Path});
    return;
  }
  // A copied header still finds its neighbours.
  bool ToNeighbour = I.Beside && I.From->Index != 0 && Changed.count(I.From->Index);
  if (!ToCopy && !ToNeighbour)
    return;
  if (!I.Name.isValid()) {
    L.Code.diagnostics().report(DiagId::code_in_macro, {},
                                {"the name of '" + I.To->Path + "' in an #include"});
    return;
  }
  std::string Target = ToCopy ? pathOf(*I.To) : I.To->Path;
  L.Changes.replace(I.Name, quoted(pathFrom(*I.From, Target)));
}

std::vector<const SourceFile *> IncludeTree::headers() const {
  std::vector<const SourceFile *> Result;
  for (auto &[Index, File] : Changed)
    if (Index != 0)
      Result.push_back(File);
  return Result;
}

std::string IncludeTree::pathOf(const SourceFile &Header) const {
  // Paths above the working folder must not lead out of the tree.
  llvm::SmallString<256> Inside;
  for (auto Part = path::begin(Header.Path), End = path::end(Header.Path); Part != End; ++Part)
    if (*Part != "." && *Part != "/")
      path::append(Inside, *Part == ".." ? StringRef("up") : *Part);
  return L.Settings.Output + ".d/" + Inside.str().str();
}

std::string IncludeTree::pathFrom(const SourceFile &From, const std::string &To) const {
  std::string Copy = From.Index == 0 ? L.Settings.Output : pathOf(From);
  return relative(absolute(To), path::parent_path(absolute(Copy)).str());
}

} // namespace gmpi::translate
