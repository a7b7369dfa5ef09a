// A syntax-only parse whose first error becomes a diagnostic of the translator's.
#include "Lint.h"
#include "../parse/Compiler.h"
#include "../parse/Driver.h"
#include "../parse/PassDiagnostics.h"
#include "../parse/SourceWatcher.h"
#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Decl.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Lex/Preprocessor.h"
#include "clang/Parse/ParseAST.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace gmpi::translate {

namespace {

using clang::DiagnosticsEngine;

struct Message {
  clang::SourceLocation Loc;
  std::string Text;
};

/// Keeps Clang's first error and its notes; prints nothing but the translator's own messages.
class FirstError final : public clang::DiagnosticConsumer {
public:
  explicit FirstError(DiagnosticLog &Log) : Printer(Log, /*FollowsLines=*/true) {}

  void BeginSourceFile(const clang::LangOptions &Options, const clang::Preprocessor *PP) override {
    Printer.BeginSourceFile(Options, PP);
  }
  void EndSourceFile() override { Printer.EndSourceFile(); }

  void HandleDiagnostic(DiagnosticsEngine::Level Level, const clang::Diagnostic &Info) override {
    if (isOwn(Info)) {
      Printer.HandleDiagnostic(Level, Info);
      return;
    }
    bool IsNote = Level == DiagnosticsEngine::Note;
    if (!IsNote)
      Keeps = Said.empty() && Level >= DiagnosticsEngine::Error && !isForNvcc(Info.getID());
    if (!Keeps)
      return;
    llvm::SmallString<128> Text;
    Info.FormatDiagnostic(Text);
    Said.push_back({Info.getLocation(), Text.str().str()});
  }

  llvm::ArrayRef<Message> said() const { return Said; }

private:
  PassDiagnostics Printer;
  std::vector<Message> Said; ///< the error first
  bool Keeps = false;
};

/// Does not look into functions that no translation can have broken: those in system headers, but for
/// the runtime's templates, whose assertions are about what the translation makes of them.
class WithoutSystemBodies final : public clang::ASTConsumer {
public:
  explicit WithoutSystemBodies(const clang::SourceManager &Sources) : Sources(Sources) {}

  bool shouldSkipFunctionBody(clang::Decl *D) override {
    clang::SourceLocation Loc = Sources.getExpansionLoc(D->getLocation());
    bool Template = D->isTemplateDecl() || D->getDeclContext()->isDependentContext();
    bool Own = Sources.getFilename(Loc).starts_with(OwnHeaders);
    return Sources.isInSystemHeader(Loc) && !(Own && Template);
  }

private:
  const clang::SourceManager &Sources;
};

class LintAction final : public clang::ASTFrontendAction {
protected:
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &Compiler,
                                                        llvm::StringRef) override {
    return std::make_unique<WithoutSystemBodies>(Compiler.getSourceManager());
  }
};

std::string absolute(llvm::StringRef Path) {
  llvm::SmallString<256> Result(Path);
  llvm::sys::fs::make_absolute(Result);
  llvm::sys::path::remove_dots(Result, /*remove_dot_dot=*/true);
  return Result.str().str();
}

/// Where the runtime's headers alone do not parse, as with an mpi.h that they do not know, nothing can be
/// said of the output; the compiler will tell.
bool isOfOutput(llvm::ArrayRef<Message> Said, const clang::SourceManager &Sources) {
  return llvm::any_of(Said, [&](const Message &Each) {
    return !Sources.getFilename(Sources.getExpansionLoc(Each.Loc)).starts_with(OwnHeaders);
  });
}

/// The error, at the user's line, with the generated line below; then Clang's notes.
void tell(const Options &Options, llvm::ArrayRef<Message> Said, Diagnostics &Messages) {
  std::string Other = Options.Split ? "; --lower=queue may get around it" : "";
  Messages.report(DiagId::output_does_not_parse, Said.front().Loc, {Said.front().Text, Other});
  for (const Message &Note : Said.drop_front())
    Messages.note(NoteId::clang_note, Note.Loc, {Note.Text});
}

} // namespace

void lint(const Options &Options, const CompilerFlags &Flags, const OutputFiles &Output,
          DiagnosticLog &Log) {
  std::map<std::string, std::string> InMemory;
  for (auto &[Path, Text] : Output)
    InMemory[absolute(Path)] = Text;
  Side Side = Options.Target == Device::Cpu ? Side::Host : Side::Gpu;
  FirstError Consumer(Log);
  auto Words = outputArguments(Options, Flags, Side, absolute(Options.Output));
  Compiler Created = createCompiler(Words, fileSystem(InMemory), Consumer);
  if (!Created.Instance)
    return;
  clang::CompilerInstance &Clang = *Created.Instance;
  Clang.getFrontendOpts().SkipFunctionBodies = true;
  LintAction Action;
  if (!Action.BeginSourceFile(Clang, Clang.getFrontendOpts().Inputs.front()))
    return;
  // For the copies of headers whose launches have braces; what it tells was told of the input.
  DiagnosticLog Unused;
  Diagnostics Quiet(Clang.getDiagnostics(), nullptr, Unused);
  SourceFiles Files;
  std::vector<Inclusion> Inclusions;
  std::vector<ScopePragma> Pragmas;
  watchSources(Clang, Options, Created.MainText, Files, Quiet, Inclusions, Pragmas);
  if (llvm::Error Error = Action.Execute())
    llvm::consumeError(std::move(Error));
  // After a fatal error it would say nothing more.
  Clang.getDiagnostics().Reset(/*soft=*/true);
  Clang.getDiagnostics().setSuppressSystemWarnings(false);
  Diagnostics Messages(Clang.getDiagnostics(), &Clang.getSourceManager(), Log);
  if (isOfOutput(Consumer.said(), Clang.getSourceManager()))
    tell(Options, Consumer.said(), Messages);
  Action.EndSourceFile();
}

} // namespace gmpi::translate
