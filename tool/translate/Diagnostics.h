// The translator's messages: ids and texts from Diagnostics.def, printed through Clang's own
// diagnostics, at the user's line. The two passes over a file share one DiagnosticLog, so that what
// both find is said once.
#pragma once

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <set>
#include <string>

namespace gmpi::translate {

enum class DiagId {
#define GMPI_DIAGNOSTIC(id, severity, text, advice) id,
#include "Diagnostics.def"
};

enum class NoteId {
#define GMPI_NOTE(id, text) id,
#include "Diagnostics.def"
};

/// "call-in-macro" for DiagId::call_in_macro.
std::string spelling(DiagId Id);

/// What was said so far, over all passes.
class DiagnosticLog {
public:
  bool hasErrors() const { return Errors != 0; }
  void countError() { ++Errors; }
  /// False if exactly this was said before.
  bool remember(const std::string &Message) { return Said.insert(Message).second; }

private:
  unsigned Errors = 0;
  std::set<std::string> Said;
};

/// Says things about one pass's source locations. Neither the engine nor the log is owned.
class Diagnostics {
public:
  Diagnostics(clang::DiagnosticsEngine &Engine, const clang::SourceManager *Sources,
              DiagnosticLog &Log)
      : Engine(Engine), Sources(Sources), Log(Log) {}

  /// The message, its `[gmpi-id]`, and its advice as a note. Loc may be invalid.
  void report(DiagId Id, clang::SourceLocation Loc, llvm::ArrayRef<std::string> Arguments = {});
  /// The same as a warning, whatever its severity: there is another way.
  void warn(DiagId Id, clang::SourceLocation Loc, llvm::ArrayRef<std::string> Arguments);
  /// The same by the id's spelling (with - or _); an unknown id is reported as it is.
  void report(llvm::StringRef Id, clang::SourceLocation Loc, llvm::ArrayRef<std::string> Arguments);
  /// Belongs to the report before it, and is dropped with it where that was said before.
  void note(NoteId Id, clang::SourceLocation Loc, llvm::ArrayRef<std::string> Arguments = {});

  DiagnosticLog &log() { return Log; }

private:
  void say(clang::DiagnosticIDs::Level Severity, clang::SourceLocation Loc, const std::string &Text,
           const std::string &Advice);
  void emit(clang::DiagnosticIDs::Level Level, clang::SourceLocation Loc, llvm::StringRef Text);

  clang::DiagnosticsEngine &Engine;
  const clang::SourceManager *Sources;
  DiagnosticLog &Log;
  bool LastWasSaid = true;
};

/// For messages that have no place in a file: to stderr, counted in Log.
void reportWithoutSource(DiagnosticLog &Log, DiagId Id, llvm::ArrayRef<std::string> Arguments);

} // namespace gmpi::translate
