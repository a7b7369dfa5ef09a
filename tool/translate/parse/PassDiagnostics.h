// Where Clang's own messages go: to stderr, except those that are not for the user of a translator.
#pragma once

#include "../Diagnostics.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Basic/SourceLocation.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"

namespace gmpi::translate {

/// Clang is stricter than nvcc about these errors, or nvcc says them in its own words. Calls of MPI
/// functions that kernels do not have are told by the model.
bool isForNvcc(unsigned Id);
/// One of Diagnostics.def.
bool isOwn(const clang::Diagnostic &Info);

/// Prints each message once over all passes. Errors that nvcc is a better judge of (host functions
/// called from device code, types the GPU lacks) are left to nvcc and do not count; so are
/// warnings.
class PassDiagnostics final : public clang::DiagnosticConsumer {
public:
  /// FollowsLines: `#line` says where a message is shown, as in what this program writes.
  explicit PassDiagnostics(DiagnosticLog &Log, bool FollowsLines = false);

  /// Whether Clang gave up on something that matters.
  bool failed() const { return Failed; }
  /// Calls, in device code, of MPI functions that kernels do not have. Clang's own words for them
  /// ("no matching function") are not printed.
  llvm::ArrayRef<std::pair<clang::SourceLocation, std::string>> unsupportedCalls() const {
    return Unsupported;
  }

  void BeginSourceFile(const clang::LangOptions &Options, const clang::Preprocessor *PP) override;
  void EndSourceFile() override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override;

private:
  bool noteUnsupportedCall(const clang::Diagnostic &Info, llvm::StringRef Text);

  clang::DiagnosticOptions PrinterOptions;
  clang::TextDiagnosticPrinter Printer;
  DiagnosticLog &Log;
  std::vector<std::pair<clang::SourceLocation, std::string>> Unsupported;
  bool Failed = false, LastWasShown = true;
};

} // namespace gmpi::translate
