// Filters and prints Clang's messages.
#include "PassDiagnostics.h"
#include "../MpiFunctions.h"
#include "clang/Basic/DiagnosticSema.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/Support/raw_ostream.h"

namespace gmpi::translate {

bool isForNvcc(unsigned Id) {
  switch (Id) {
  case clang::diag::err_ref_bad_target:
  case clang::diag::err_ref_bad_target_global_initializer:
  case clang::diag::err_cuda_device_exceptions:
  case clang::diag::err_thread_unsupported:
  case clang::diag::err_target_unsupported_type:
    return true;
  default:
    return false;
  }
}

bool isOwn(const clang::Diagnostic &Info) {
  return Info.getID() >= clang::diag::DIAG_UPPER_LIMIT;
}

PassDiagnostics::PassDiagnostics(DiagnosticLog &Log, bool FollowsLines)
    : Printer(llvm::errs(), PrinterOptions), Log(Log) {
  PrinterOptions.ShowPresumedLoc = FollowsLines;
}

void PassDiagnostics::BeginSourceFile(const clang::LangOptions &Options,
                                      const clang::Preprocessor *PP) {
  Printer.BeginSourceFile(Options, PP);
}

void PassDiagnostics::EndSourceFile() { Printer.EndSourceFile(); }

/// The MPI library's functions are the host's. For those of the table, Clang saw the translator's
/// own declarations besides: an error there is about the arguments.
bool PassDiagnostics::noteUnsupportedCall(const clang::Diagnostic &Info, llvm::StringRef Text) {
  if (Info.getID() != clang::diag::err_ovl_no_viable_function_in_call)
    return false;
  llvm::StringRef Name = Text.split('\'').second.split('\'').first;
  if (!isMpiName(Name) || findMpiFunction(Name))
    return false;
  Unsupported.push_back({Info.getLocation(), Name.str()});
  return true;
}

void PassDiagnostics::HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                                       const clang::Diagnostic &Info) {
  bool Own = isOwn(Info); // told once by Diagnostics
  if (Level == clang::DiagnosticsEngine::Note && !LastWasShown)
    return;
  if (!Own && Level != clang::DiagnosticsEngine::Note) {
    LastWasShown = Level >= clang::DiagnosticsEngine::Error && !isForNvcc(Info.getID());
    if (!LastWasShown)
      return;
    llvm::SmallString<128> Text;
    Info.FormatDiagnostic(Text);
    LastWasShown = !noteUnsupportedCall(Info, Text);
    if (!LastWasShown)
      return;
    Failed = true;
    std::string Where = Info.hasSourceManager() && Info.getLocation().isValid()
                            ? Info.getLocation().printToString(Info.getSourceManager())
                            : "";
    LastWasShown = Log.remember(Where + ": " + Text.str().str());
    if (!LastWasShown)
      return;
  } else if (Own) {
    LastWasShown = true;
  }
  Printer.HandleDiagnostic(Level, Info);
}

} // namespace gmpi::translate
