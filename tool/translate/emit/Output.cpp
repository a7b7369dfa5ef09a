// Composes the output files.
#include "Output.h"
#include "IncludeTree.h"
#include "LineDirective.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace gmpi::translate {

namespace {

std::string firstLine(const Lowering &L) {
  return "// Translated by gmpi-translate from " + quoted(L.Settings.Input) + " (device " +
         (L.isCpu() ? "cpu" : "cuda") + ", lowerings " + lowerings(L.Settings) +
         "). Do not edit.\n";
}

/// Names of the source files that call sites mention.
std::string sourceTable(Lowering &L) {
  auto Used = L.Numbers.used();
  if (Used.empty())
    return "";
  std::string Rows;
  for (auto &[Index, File] : Used)
    Rows += (Rows.empty() ? "{" : ", {") + L.Numbers.text(*File) + ", " + quoted(File->Path) + "}";
  return "namespace { const ::gmpi::SourceFile gmpi_sources[] = {" + Rows + "}; }\n";
}

std::string wholeFile(const Edits &Changes, const SourceFile &File) {
  return Changes.apply({{&File, 0}, unsigned(File.Text.size())});
}

std::string mainFile(Lowering &L, const SourceFile &Main) {
  std::string Text = wholeFile(L.Changes, Main);
  if (!Text.empty() && Text.back() != '\n')
    Text += '\n';
  return firstLine(L) + (L.HasFewRegisters ? "#define GMPI_FEW_REGISTERS\n" : "") +
         "#include <gmpi/gmpi.hpp>\n" + lineDirective(Main, 1) + Text + sourceTable(L);
}

bool write(const std::string &Path, const std::string &Text, std::string &Error) {
  llvm::SmallString<256> Temporary;
  int File;
  llvm::sys::fs::create_directories(llvm::sys::path::parent_path(Path));
  if (auto Code = llvm::sys::fs::createUniqueFile(Path + ".%%%%%%%%", File, Temporary)) {
    Error = Code.message();
    return false;
  }
  llvm::raw_fd_ostream Stream(File, /*shouldClose=*/true);
  Stream << Text;
  Stream.close();
  std::error_code Code = Stream.error();
  Stream.clear_error();
  if (!Code)
    Code = llvm::sys::fs::rename(Temporary, Path);
  if (Code) {
    Error = Code.message();
    llvm::sys::fs::remove(Temporary);
  }
  return !Code;
}

} // namespace

OutputFiles composeOutput(Lowering &L, const SourceFiles &Files) {
  OutputFiles Result;
  const SourceFile &Main = Files.main();
  if (L.Changes.files().empty()) {
    Result[L.Settings.Output] = Main.Text;
    return Result;
  }
  IncludeTree Tree(L, Files);
  for (const SourceFile *Header : Tree.headers())
    Result[Tree.pathOf(*Header)] = lineDirective(*Header, 1) + wholeFile(L.Changes, *Header);
  Result[L.Settings.Output] = mainFile(L, Main);
  return Result;
}

bool writeFiles(const OutputFiles &Files, DiagnosticLog &Log) {
  std::vector<std::string> Written;
  for (auto &[Path, Text] : Files) {
    std::string Error;
    if (write(Path, Text, Error)) {
      Written.push_back(Path);
      continue;
    }
    reportWithoutSource(Log, DiagId::cannot_write, {Path, Error});
    for (const std::string &Each : Written)
      llvm::sys::fs::remove(Each);
    return false;
  }
  return true;
}

} // namespace gmpi::translate
