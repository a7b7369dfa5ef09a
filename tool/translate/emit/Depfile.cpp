// Spelling of a depfile.
#include "Depfile.h"

namespace gmpi::translate {

namespace {

std::string escaped(llvm::StringRef Path) {
  std::string Text;
  for (char C : Path) {
    if (C == ' ' || C == '#' || C == '\\')
      Text += '\\';
    if (C == '$')
      Text += '$';
    Text += C;
  }
  return Text;
}

} // namespace

std::string depfile(const Options &Options, const SourceFiles &Files) {
  std::string Text = escaped(Options.Output) + ":";
  for (const auto &File : Files.all())
    if (!File->System)
      Text += " \\\n  " + escaped(File->Path);
  return Text + "\n";
}

} // namespace gmpi::translate
