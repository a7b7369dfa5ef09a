// Runs Clang on the input and keeps what it made: AST, preprocessor, inclusions, pragmas.
#include "Parse.h"
#include "Compiler.h"
#include "Driver.h"
#include "PassDiagnostics.h"
#include "SourceWatcher.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendActions.h"
#include "clang/Lex/Preprocessor.h"

namespace gmpi::translate {

namespace {

class ClangPass final : public Pass {
public:
  ClangPass(Side Side, SourceFiles &AllFiles, DiagnosticLog &Log) : Consumer(Log), Log(Log) {
    ParsedSide = Side;
    Files = &AllFiles;
    WritableFiles = &AllFiles;
  }
  ~ClangPass() override {
    if (Action)
      Action->EndSourceFile();
  }

  bool run(const Options &Options, const CompilerFlags &Flags);

  clang::ASTContext &context() const override { return Compiler->getASTContext(); }
  clang::Preprocessor &preprocessor() const override { return Compiler->getPreprocessor(); }

private:
  PassDiagnostics Consumer;
  DiagnosticLog &Log;
  SourceFiles *WritableFiles;
  std::unique_ptr<clang::CompilerInstance> Compiler;
  std::unique_ptr<clang::FrontendAction> Action;
};

bool ClangPass::run(const Options &Options, const CompilerFlags &Flags) {
  auto Created =
      createCompiler(driverArguments(Options, Flags, ParsedSide), fileSystem(), Consumer);
  if (!Created.Instance || Consumer.failed())
    return false;
  Compiler = std::move(Created.Instance);
  auto Syntax = std::make_unique<clang::SyntaxOnlyAction>();
  if (!Syntax->BeginSourceFile(*Compiler, Compiler->getFrontendOpts().Inputs.front()))
    return false;
  Action = std::move(Syntax);
  Messages =
      std::make_unique<Diagnostics>(Compiler->getDiagnostics(), &Compiler->getSourceManager(), Log);
  watchSources(*Compiler, Options, Created.MainText, *WritableFiles, *Messages, Inclusions, Pragmas);
  if (llvm::Error Error = Action->Execute())
    llvm::consumeError(std::move(Error));
  Compiler->getDiagnostics().setIgnoreAllWarnings(false);
  for (const auto &[Loc, Function] : Consumer.unsupportedCalls())
    Messages->report(DiagId::unsupported_function,
                     Compiler->getSourceManager().getExpansionLoc(Loc), {Function});
  return !Consumer.failed();
}

} // namespace

Pass::~Pass() = default;

clang::SourceManager &Pass::sources() const { return context().getSourceManager(); }

Position Pass::position(clang::SourceLocation Loc) const {
  if (Loc.isInvalid() || !Loc.isFileID())
    return {};
  auto [Id, Offset] = sources().getDecomposedLoc(Loc);
  auto Entry = sources().getFileEntryRefForID(Id);
  const SourceFile *File = Entry ? Files->find(&Entry->getFileEntry()) : nullptr;
  return File ? Position{File, File->Offsets.toUser(Offset)} : Position{};
}

std::unique_ptr<Pass> parse(const Options &Options, const CompilerFlags &Flags, Side Side,
                            SourceFiles &Files, DiagnosticLog &Log) {
  auto Parsed = std::make_unique<ClangPass>(Side, Files, Log);
  bool Good = Parsed->run(Options, Flags);
  if (Good && !Log.hasErrors())
    return Parsed;
  if (!Log.hasErrors())
    reportWithoutSource(Log, DiagId::does_not_parse, {Options.Input});
  return nullptr;
}

} // namespace gmpi::translate
