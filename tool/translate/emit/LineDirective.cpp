// Spelling of #line.
#include "LineDirective.h"

namespace gmpi::translate {

std::string quoted(llvm::StringRef Path) {
  std::string Text = "\"";
  for (char C : Path) {
    if (C == '"' || C == '\\')
      Text += '\\';
    Text += C;
  }
  return Text + "\"";
}

std::string lineDirective(const SourceFile &File, unsigned Line) {
  return "#line " + std::to_string(Line) + " " + quoted(File.Path) + "\n";
}

} // namespace gmpi::translate
