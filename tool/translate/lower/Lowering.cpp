// Helpers of the lowering's steps.
#include "Lowering.h"
#include "../emit/LineDirective.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace gmpi::translate {

namespace {

constexpr unsigned MaxFile = (1u << 28) - 1, MaxLine = (1u << 20) - 1;

} // namespace

unsigned FileNumbers::of(const SourceFile &File) {
  auto [Known, IsNew] = Numbers.try_emplace(&File, 0);
  if (IsNew) {
    unsigned Number = unsigned(llvm::xxh3_64bits(File.Path)) & MaxFile;
    while (Number == 0 || !Taken.insert(Number).second)
      Number = (Number + 1) & MaxFile;
    Known->second = Number;
  }
  return Known->second;
}

std::string FileNumbers::text(const SourceFile &File) {
  return "0x" + llvm::utohexstr(of(File), /*LowerCase=*/true);
}

std::map<unsigned, const SourceFile *> FileNumbers::used() const {
  std::map<unsigned, const SourceFile *> ByIndex;
  for (auto [File, Number] : Numbers)
    ByIndex[File->Index] = File;
  return ByIndex;
}

bool Lowering::staysIfUnreached(const clang::FunctionDecl *Function) const {
  if (!Function->isDependentContext())
    return false;
  for (const clang::DeclContext *Around = Function; Around; Around = Around->getParent())
    if (const auto *F = llvm::dyn_cast<clang::FunctionDecl>(Around);
        F && Scopes.Exported.count(asWritten(F)))
      return false;
  return true;
}

bool Lowering::replacedWhole(const Position &At) const {
  return llvm::any_of(Whole, [&](const Span &S) {
    return S.Begin.File == At.File && S.Begin.Offset <= At.Offset && At.Offset < S.End;
  });
}

void Lowering::refuseSplit(clang::SourceLocation Loc, DiagId Id,
                           llvm::ArrayRef<std::string> Arguments) {
  if (Settings.Queue)
    Code.diagnostics().warn(Id, Loc, Arguments);
  else
    Code.diagnostics().report(Id, Loc, Arguments);
}

std::string Lowering::site(const Position &Where) {
  unsigned Line = std::min(Where.line(), MaxLine);
  return "{" + Numbers.text(*Where.File) + ", " + std::to_string(Line) + "}";
}

unsigned afterOpeningParenthesis(const SourceFile &File, unsigned Offset) {
  llvm::StringRef Text = File.Text;
  while (Offset < Text.size()) {
    llvm::StringRef Rest = Text.substr(Offset);
    size_t Skip = 1;
    if (Rest.starts_with("//"))
      Skip = Rest.find('\n');
    else if (Rest.starts_with("/*"))
      Skip = Rest.find("*/") + 2;
    else if (Rest.front() == '(')
      return Offset + 1;
    else if (!llvm::isSpace(Rest.front()) && Rest.front() != ')')
      break;
    Offset += unsigned(std::min(Skip, Rest.size()));
  }
  return unsigned(Text.size());
}

void insertLinesAfter(Lowering &L, const Position &Where, const std::string &Lines) {
  const SourceFile &File = *Where.File;
  unsigned End = File.endOfLine(Where.Offset);
  llvm::StringRef Rest = llvm::StringRef(File.Text).slice(Where.Offset, End).trim();
  bool LineIsOver = End > Where.Offset && File.Text[End - 1] == '\n' &&
                    (Rest.empty() || (Rest.starts_with("//") && !Rest.ends_with("\\")));
  Position At{&File, LineIsOver ? End : Where.Offset};
  L.Changes.insert(At, (LineIsOver ? "" : "\n") + Lines + lineDirective(File, At.line()));
}

} // namespace gmpi::translate
