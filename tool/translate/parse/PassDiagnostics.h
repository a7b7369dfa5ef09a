// Where Clang's own messages go: to stderr, except those that are not for the user of a translator.
#pragma once

#include "../Diagnostics.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"

namespace gmpi::translate {

/// Prints each message once over all passes. Errors that nvcc is a better judge of (host functions
/// called from device code, types the GPU lacks) are left to nvcc and do not count; so are warnings.
class PassDiagnostics final : public clang::DiagnosticConsumer {
public:
  explicit PassDiagnostics(DiagnosticLog &Log);

  /// Whether Clang gave up on something that matters.
  bool failed() const { return Failed; }

  void BeginSourceFile(const clang::LangOptions &Options, const clang::Preprocessor *PP) override;
  void EndSourceFile() override;
  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override;

private:
  clang::DiagnosticOptions PrinterOptions;
  clang::TextDiagnosticPrinter Printer;
  DiagnosticLog &Log;
  bool Failed = false, LastWasShown = true;
};

} // namespace gmpi::translate
