// Walks a command line word by word; all knowledge of single flags is in CompilerFlags.def.
#include "CompilerFlags.h"
#include "clang/Tooling/JSONCompilationDatabase.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/StringSaver.h"
#include <algorithm>

namespace gmpi::translate {

namespace {

using llvm::StringRef;

enum class Value { no, separate, joined, optional };

struct Action {
  enum Kind { Drop, Keep, As, Define, Arch, Words, File, Relocatable } What;
  StringRef Text;
};
constexpr Action::Kind FirstKind = Action::Drop;

Action as(StringRef Text) { return {Action::As, Text}; }
Action define(StringRef Text) { return {Action::Define, Text}; }

struct Flag {
  StringRef Spelling;
  Value Takes;
  Action Does;
};

llvm::ArrayRef<Flag> flags() {
  using enum Value;
  const Action drop{FirstKind, ""}, keep{Action::Keep, ""}, arch{Action::Arch, ""},
      words{Action::Words, ""}, file{Action::File, ""}, relocatable{Action::Relocatable, ""};
  static const Flag Table[] = {
#define GMPI_FLAG(spelling, value, action) {spelling, value, action},
#include "CompilerFlags.def"
  };
  return Table;
}

/// Paths that these flags take are relative to where the compiler runs.
bool takesPath(StringRef Flag) {
  return Flag == "-I" || Flag == "-isystem" || Flag == "-iquote" || Flag == "-idirafter" ||
         Flag == "-include" || Flag == "-imacros";
}

class Adjuster {
public:
  Adjuster(bool Command, StringRef Folder, DiagnosticLog &Log)
      : Command(Command), Folder(Folder), Log(Log) {}

  bool adjust(llvm::ArrayRef<std::string> Words) {
    for (size_t I = 0; I < Words.size();)
      if (!adjustOne(Words, I))
        return false;
    return true;
  }

  CompilerFlags Result;

private:
  bool adjustOne(llvm::ArrayRef<std::string> Words, size_t &I);
  bool act(const Flag &F, StringRef Value, bool HasValue);
  bool actOnFile(StringRef Path);
  void addArchitectures(StringRef Value);
  std::string absolute(StringRef Path) const;
  bool refuse(StringRef Word, StringRef Why) {
    reportWithoutSource(Log, DiagId::bad_flag, {Word.str(), Why.str()});
    return false;
  }

  bool Command;
  StringRef Folder;
  DiagnosticLog &Log;
  unsigned Depth = 0;
};

/// How a flag's value was found in its word: not at all, as the next word, or within the word.
enum class Match { None, Alone, Next, Optional, Within };

Match match(const Flag &F, StringRef Word, StringRef &Within) {
  StringRef Rest = Word;
  if (!Rest.consume_front(F.Spelling))
    return Match::None;
  if (Rest.empty())
    return F.Takes == Value::no         ? Match::Alone
           : F.Takes == Value::optional ? Match::Optional
                                        : Match::Next;
  if (F.Takes == Value::no)
    return Match::None;
  if (F.Takes == Value::separate && !Rest.consume_front("="))
    return Match::None;
  if (F.Takes == Value::joined && F.Spelling.size() > 2)
    Rest.consume_front("=");
  Within = Rest;
  return Match::Within;
}

bool Adjuster::adjustOne(llvm::ArrayRef<std::string> Words, size_t &I) {
  StringRef Word = Words[I++];
  if (!Word.starts_with("-"))
    return Command || refuse(Word, "it is no flag");
  const Flag *Best = nullptr;
  Match How = Match::None;
  StringRef Value;
  for (const Flag &F : flags()) {
    StringRef Within;
    Match M = match(F, Word, Within);
    if (M != Match::None && (!Best || F.Spelling.size() > Best->Spelling.size())) {
      Best = &F;
      How = M;
      Value = Within;
    }
  }
  if (!Best)
    return true; // of no interest to a parser
  if (How == Match::Optional && I < Words.size() && !StringRef(Words[I]).starts_with("-"))
    ++I;
  if (How == Match::Next) {
    if (I == Words.size())
      return refuse(Word, "its value is missing");
    Value = Words[I++];
  }
  return act(*Best, Value, How == Match::Next || How == Match::Within);
}

bool Adjuster::act(const Flag &F, StringRef Value, bool HasValue) {
  switch (F.Does.What) {
  case Action::Drop:
    return true;
  case Action::Define:
    Result.Words.push_back("-D" + F.Does.Text.str() + "=1");
    return true;
  case Action::Arch:
    addArchitectures(Value);
    return true;
  case Action::Relocatable:
    Result.RelocatableDeviceCode = Value != "false";
    return true;
  case Action::Words: {
    llvm::SmallVector<StringRef> Parts;
    Value.split(Parts, ',', -1, false);
    Adjuster Inner(true, Folder, Log);
    std::vector<std::string> Words;
    for (StringRef Part : Parts)
      Words.push_back(Part.trim("\"'").str());
    if (!Inner.adjust(Words))
      return false;
    llvm::append_range(Result.Words, Inner.Result.Words);
    return true;
  }
  case Action::File: {
    llvm::SmallVector<StringRef> Files;
    Value.split(Files, ',', -1, false);
    return llvm::all_of(Files, [&](StringRef Path) { return actOnFile(Path); });
  }
  case Action::Keep:
  case Action::As: {
    StringRef Name = F.Does.What == Action::As ? F.Does.Text : F.Spelling;
    std::string Text = takesPath(Name) ? absolute(Value) : Value.str();
    if (!HasValue) {
      Result.Words.push_back(Name.str());
    } else if (Name.ends_with("=") || Name.size() == 2) {
      Result.Words.push_back(Name.str() + Text);
    } else {
      Result.Words.push_back(Name.str());
      Result.Words.push_back(Text);
    }
    return true;
  }
  }
  return true;
}

bool Adjuster::actOnFile(StringRef Path) {
  auto Buffer = llvm::MemoryBuffer::getFile(absolute(Path), /*IsText=*/true);
  if (!Buffer || ++Depth > 16)
    return refuse("--options-file " + Path.str(),
                  Buffer ? "it includes itself" : Buffer.getError().message());
  llvm::BumpPtrAllocator Allocator;
  llvm::StringSaver Saver(Allocator);
  llvm::SmallVector<const char *> Words;
  llvm::cl::TokenizeGNUCommandLine((*Buffer)->getBuffer(), Saver, Words);
  bool Good = adjust(std::vector<std::string>(Words.begin(), Words.end()));
  --Depth;
  return Good;
}

/// sm_90, compute_90a, `arch=compute_90,code=[sm_90,compute_90]`. Not native, all, all-major: these
/// leave the choice to nvcc.
void Adjuster::addArchitectures(StringRef Value) {
  Value.consume_front("arch=");
  Value = Value.split(',').first;
  if (!Value.consume_front("sm_") && !Value.consume_front("compute_"))
    return;
  std::string Arch = "sm_" + Value.str();
  if (!llvm::is_contained(Result.Architectures, Arch))
    Result.Architectures.push_back(Arch);
}

std::string Adjuster::absolute(StringRef Path) const {
  if (Folder.empty() || llvm::sys::path::is_absolute(Path))
    return Path.str();
  llvm::SmallString<256> Joined(Folder);
  llvm::sys::path::append(Joined, Path);
  return Joined.str().str();
}

/// `-Xcompiler -iquote -Xcompiler dir` is one flag with its value: joins the pieces.
std::vector<std::string> joinForwarded(llvm::ArrayRef<std::string> Words) {
  std::vector<std::string> Joined;
  size_t LastForwarded = size_t(-1);
  for (size_t I = 0; I < Words.size(); ++I) {
    StringRef Word = Words[I];
    bool Equals = Word.consume_front("-Xcompiler=") || Word.consume_front("--compiler-options=");
    if (!Equals && (Word == "-Xcompiler" || Word == "--compiler-options") && I + 1 < Words.size()) {
      Word = Words[++I];
      Equals = true;
    }
    if (!Equals) {
      Joined.push_back(Words[I]);
      continue;
    }
    if (LastForwarded == Joined.size() && !Word.starts_with("-")) {
      Joined.back() += "," + Word.str();
    } else {
      Joined.push_back("-Xcompiler=" + Word.str());
    }
    LastForwarded = Joined.size();
  }
  return Joined;
}

std::optional<CompilerFlags> adjust(llvm::ArrayRef<std::string> Words, bool Command,
                                    StringRef Folder, DiagnosticLog &Log) {
  Adjuster A(Command, Folder, Log);
  if (!A.adjust(joinForwarded(Words)))
    return std::nullopt;
  return std::move(A.Result);
}

} // namespace

std::optional<CompilerFlags> adjustFlags(llvm::ArrayRef<std::string> Words, bool Command,
                                         DiagnosticLog &Log) {
  return adjust(Words, Command, "", Log);
}

std::optional<CompilerFlags> flagsFromDatabase(StringRef Folder, StringRef File,
                                               DiagnosticLog &Log) {
  llvm::SmallString<256> Path(Folder);
  llvm::sys::path::append(Path, "compile_commands.json");
  std::string Error;
  auto Database = clang::tooling::JSONCompilationDatabase::loadFromFile(
      Path, Error, clang::tooling::JSONCommandLineSyntax::Gnu);
  if (!Database) {
    reportWithoutSource(Log, DiagId::cannot_read, {Path.str().str(), Error});
    return std::nullopt;
  }
  llvm::SmallString<256> Absolute(File);
  llvm::sys::fs::make_absolute(Absolute);
  llvm::sys::path::remove_dots(Absolute, true);
  auto Commands = Database->getCompileCommands(Absolute);
  if (Commands.empty()) {
    reportWithoutSource(Log, DiagId::no_compile_command, {Folder.str(), File.str()});
    return std::nullopt;
  }
  std::vector<std::string> Words = Commands.front().CommandLine;
  // The compiler and whatever launches it (ccache) come first, as words without a dash.
  auto FirstFlag = llvm::find_if(Words, [](StringRef W) { return W.starts_with("-"); });
  Words.erase(Words.begin(), FirstFlag);
  return adjust(Words, /*Command=*/true, Commands.front().Directory, Log);
}

} // namespace gmpi::translate
