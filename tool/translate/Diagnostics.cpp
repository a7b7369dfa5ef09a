// Texts of Diagnostics.def to Clang's diagnostics engine.
#include "Diagnostics.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

namespace gmpi::translate {

using clang::DiagnosticIDs;
using clang::SourceLocation;

namespace {

struct Row {
  llvm::StringRef Id;
  DiagnosticIDs::Level Severity;
  llvm::StringRef Text, Advice;
};

const Row Rows[] = {
#define GMPI_DIAGNOSTIC(id, severity, text, advice) {#id, DiagnosticIDs::severity, text, advice},
#include "Diagnostics.def"
};

const Row Notes[] = {
#define GMPI_NOTE(id, text) {#id, DiagnosticIDs::Note, text, ""},
#include "Diagnostics.def"
};

std::string withDashes(llvm::StringRef Id) {
  std::string Text = Id.str();
  std::replace(Text.begin(), Text.end(), '_', '-');
  return Text;
}

std::string fill(llvm::StringRef Text, llvm::ArrayRef<std::string> Arguments) {
  std::string Filled;
  for (size_t I = 0; I < Text.size(); ++I) {
    size_t Number = I + 1 < Text.size() ? size_t(Text[I + 1] - '0') : Arguments.size();
    if (Text[I] == '%' && Number < Arguments.size()) {
      Filled += Arguments[Number];
      ++I;
    } else {
      Filled += Text[I];
    }
  }
  return Filled;
}

std::string message(const Row &Row, llvm::ArrayRef<std::string> Arguments) {
  return fill(Row.Text, Arguments) + " [gmpi-" + withDashes(Row.Id) + "]";
}

const Row *findRow(llvm::ArrayRef<Row> Table, llvm::StringRef Id) {
  for (const Row &Row : Table)
    if (withDashes(Row.Id) == withDashes(Id))
      return &Row;
  return nullptr;
}

} // namespace

std::string spelling(DiagId Id) { return withDashes(Rows[static_cast<size_t>(Id)].Id); }

void Diagnostics::emit(DiagnosticIDs::Level Level, SourceLocation Loc, llvm::StringRef Text) {
  unsigned Custom = Engine.getDiagnosticIDs()->getCustomDiagID(Level, "%0");
  Engine.Report(Loc, Custom) << Text;
}

void Diagnostics::report(DiagId Id, SourceLocation Loc, llvm::ArrayRef<std::string> Arguments) {
  report(Rows[static_cast<size_t>(Id)].Id, Loc, Arguments);
}

void Diagnostics::report(llvm::StringRef Id, SourceLocation Loc,
                         llvm::ArrayRef<std::string> Arguments) {
  if (const Row *Note = findRow(Notes, Id)) {
    if (LastWasSaid)
      emit(DiagnosticIDs::Note, Loc, fill(Note->Text, Arguments));
    return;
  }
  const Row *Row = findRow(Rows, Id);
  if (Row)
    say(Row->Severity, Loc, message(*Row, Arguments), fill(Row->Advice, Arguments));
  else
    say(DiagnosticIDs::Error, Loc, "internal error: no message '" + Id.str() + "'", "");
}

void Diagnostics::warn(DiagId Id, SourceLocation Loc, llvm::ArrayRef<std::string> Arguments) {
  const Row &Row = Rows[static_cast<size_t>(Id)];
  say(DiagnosticIDs::Warning, Loc, message(Row, Arguments), fill(Row.Advice, Arguments));
}

void Diagnostics::say(DiagnosticIDs::Level Severity, SourceLocation Loc, const std::string &Text,
                      const std::string &Advice) {
  if (Severity >= DiagnosticIDs::Error)
    Log.countError();
  std::string Where = Sources && Loc.isValid() ? Loc.printToString(*Sources) : "";
  LastWasSaid = Log.remember(Where + ": " + Text);
  if (!LastWasSaid)
    return;
  emit(Severity, Loc, Text);
  if (!Advice.empty())
    emit(DiagnosticIDs::Note, SourceLocation(), Advice);
}

void Diagnostics::note(NoteId Id, SourceLocation Loc, llvm::ArrayRef<std::string> Arguments) {
  report(Notes[static_cast<size_t>(Id)].Id, Loc, Arguments);
}

void reportWithoutSource(DiagnosticLog &Log, DiagId Id, llvm::ArrayRef<std::string> Arguments) {
  const Row &Row = Rows[static_cast<size_t>(Id)];
  Log.countError();
  if (!Log.remember(message(Row, Arguments)))
    return;
  llvm::errs() << "gmpi-translate: error: " << message(Row, Arguments) << "\n";
  if (!Row.Advice.empty())
    llvm::errs() << "gmpi-translate: note: " << fill(Row.Advice, Arguments) << "\n";
}

} // namespace gmpi::translate
