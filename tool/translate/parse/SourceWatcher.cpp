// Preprocessor callbacks and the handler of `#pragma gmpi`.
#include "SourceWatcher.h"
#include "Driver.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/PPCallbacks.h"
#include "clang/Lex/Pragma.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/Support/Path.h"

namespace gmpi::translate {

namespace {

using llvm::StringRef;

/// Headers of device code that the cpu device has no counterpart of.
bool isCudaOnly(StringRef Name) {
  for (StringRef Prefix : {"cub/", "thrust/", "cuda/", "nv/", "cutlass/", "cute/"})
    if (Name.starts_with(Prefix))
      return true;
  return Name == "mma.h" || Name == "texture_fetch_functions.h" ||
         Name == "texture_indirect_functions.h" || Name == "surface_functions.h";
}

class Watcher final : public clang::PPCallbacks {
public:
  Watcher(clang::CompilerInstance &Compiler, const Options &Options, SourceFiles &Files,
          Diagnostics &Messages, std::vector<Inclusion> &Inclusions)
      : Sources(Compiler.getSourceManager()), Options(Options), Files(Files), Messages(Messages),
        Inclusions(Inclusions) {}

  void addMain(clang::FileEntryRef Entry, StringRef Text) {
    SourceFile &File = Files.get(Entry, Text, /*System=*/false);
    if (auto Braced = spellLaunchBraces(Text))
      File.Offsets = Braced->Offsets;
  }

  void addFile(clang::FileEntryRef Entry, bool System) {
    auto Buffer = Sources.getFileManager().getBufferForFile(Entry);
    if (!Buffer)
      return;
    SourceFile &File = Files.get(Entry, System ? "" : (*Buffer)->getBuffer(), System);
    if (System || Sources.isFileOverridden(&Entry.getFileEntry()))
      return;
    if (auto Braced = spellLaunchBraces(File.Text)) {
      File.Offsets = Braced->Offsets;
      Sources.overrideFileContents(Entry,
                                   llvm::MemoryBuffer::getMemBufferCopy(Braced->Text, File.Path));
    }
  }

  void InclusionDirective(clang::SourceLocation HashLoc, const clang::Token &, StringRef Name,
                          bool IsAngled, clang::CharSourceRange NameRange,
                          clang::OptionalFileEntryRef Entry, StringRef SearchPath, StringRef,
                          const clang::Module *, bool,
                          clang::SrcMgr::CharacteristicKind Kind) override {
    if (Options.Target == Device::Cpu && isCudaOnly(Name) && !isInSystemHeader(HashLoc))
      Messages.report(DiagId::cpu_header, NameRange.getBegin(), {Name.str()});
    if (!Entry)
      return;
    bool System = clang::SrcMgr::isSystem(Kind) || Entry->getName().starts_with(OwnHeaders);
    addFile(*Entry, System);
    record(HashLoc, NameRange, IsAngled, *Entry, SearchPath);
  }

  bool FileNotFound(StringRef Name) override {
    // Told already, with the way on.
    return Options.Target == Device::Cpu && isCudaOnly(Name);
  }

private:
  bool isInSystemHeader(clang::SourceLocation Loc) const { return Sources.isInSystemHeader(Loc); }

  void record(clang::SourceLocation HashLoc, clang::CharSourceRange NameRange, bool IsAngled,
              clang::FileEntryRef Entry, StringRef SearchPath) {
    auto FromEntry = Sources.getFileEntryRefForID(Sources.getFileID(HashLoc));
    const SourceFile *To = Files.find(&Entry.getFileEntry());
    if (!To || (!FromEntry && To->System))
      return;
    Inclusion I{FromEntry ? Files.find(&FromEntry->getFileEntry()) : nullptr, {}, 0, To, false};
    if (I.From) {
      I.Line = Sources.getSpellingLineNumber(HashLoc);
      I.Beside = !IsAngled && SearchPath == FromEntry->getDir().getName();
      fillName(NameRange, I);
    }
    Inclusions.push_back(I);
  }

  void fillName(clang::CharSourceRange Range, Inclusion &I) const {
    if (!Range.getBegin().isFileID() || !Range.getEnd().isFileID() || I.From->System)
      return;
    unsigned Begin = I.From->Offsets.toUser(Sources.getFileOffset(Range.getBegin()));
    unsigned End = I.From->Offsets.toUser(Sources.getFileOffset(Range.getEnd()));
    char First = Begin < I.From->Text.size() ? I.From->Text[Begin] : ' ';
    if (First == '"' || First == '<')
      I.Name = {{I.From, Begin}, End};
  }

  clang::SourceManager &Sources;
  const struct Options &Options;
  SourceFiles &Files;
  Diagnostics &Messages;
  std::vector<Inclusion> &Inclusions;
};

/// `#pragma gmpi scope(grid)`. Anything else after `gmpi` is told as a mistake.
class ScopePragmaHandler final : public clang::PragmaHandler {
public:
  ScopePragmaHandler(Diagnostics &Messages, std::vector<ScopePragma> &Pragmas)
      : PragmaHandler("gmpi"), Messages(Messages), Pragmas(Pragmas) {}

  void HandlePragma(clang::Preprocessor &PP, clang::PragmaIntroducer Introducer,
                    clang::Token &) override {
    clang::SourceLocation Loc = PP.getSourceManager().getFileLoc(Introducer.Loc);
    std::string Text;
    clang::Token Token;
    for (PP.LexUnexpandedToken(Token); Token.isNot(clang::tok::eod); PP.LexUnexpandedToken(Token))
      Text += PP.getSpelling(Token);
    for (Scope S : {Scope::Grid, Scope::Block, Scope::Thread})
      if (Text == "scope(" + spelling(S).str() + ")") {
        Pragmas.push_back({Loc, S});
        return;
      }
    Messages.report(DiagId::bad_pragma, Loc, {Text});
  }

private:
  Diagnostics &Messages;
  std::vector<ScopePragma> &Pragmas;
};

} // namespace

void watchSources(clang::CompilerInstance &Compiler, const Options &Options, StringRef MainText,
                  SourceFiles &Files, Diagnostics &Messages, std::vector<Inclusion> &Inclusions,
                  std::vector<ScopePragma> &Pragmas) {
  auto Watch = std::make_unique<Watcher>(Compiler, Options, Files, Messages, Inclusions);
  clang::SourceManager &Sources = Compiler.getSourceManager();
  if (auto Main = Sources.getFileEntryRefForID(Sources.getMainFileID()))
    Watch->addMain(*Main, MainText);
  Compiler.getPreprocessor().addPPCallbacks(std::move(Watch));
  Compiler.getPreprocessor().AddPragmaHandler(new ScopePragmaHandler(Messages, Pragmas));
}

} // namespace gmpi::translate
