#include "Flags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace gmpi {

namespace {

enum class Match { Exact, Prefix, ExactOrJoined };

struct Row {
  StringLiteral Name;
  FlagClass Class;
  Match How;
  unsigned ExtraWords; // behind an exact spelling
};

// The first row that fits decides, so nvcc's -maxrregcount stands before the host's -m….
constexpr Row Table[] = {
    {"-I", FlagClass::Preprocess, Match::ExactOrJoined, 1},
    {"-D", FlagClass::Preprocess, Match::ExactOrJoined, 1},
    {"-U", FlagClass::Preprocess, Match::ExactOrJoined, 1},
    {"-isystem", FlagClass::Preprocess, Match::ExactOrJoined, 1},
    {"-iquote", FlagClass::Preprocess, Match::ExactOrJoined, 1},
    {"-include", FlagClass::Preprocess, Match::ExactOrJoined, 1},
    {"--include-path", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--define-macro", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-std=", FlagClass::Preprocess, Match::Prefix, 0},
    {"--std=", FlagClass::Preprocess, Match::Prefix, 0},
    {"-std", FlagClass::Preprocess, Match::Exact, 1},
    {"--std", FlagClass::Preprocess, Match::Exact, 1},

    {"-O0", FlagClass::Common, Match::Exact, 0},
    {"-O1", FlagClass::Common, Match::Exact, 0},
    {"-O2", FlagClass::Common, Match::Exact, 0},
    {"-O3", FlagClass::Common, Match::Exact, 0},
    {"-O", FlagClass::Host, Match::Prefix, 0},
    {"-g", FlagClass::Common, Match::Exact, 0},
    {"-w", FlagClass::Common, Match::Exact, 0},
    {"-m64", FlagClass::Common, Match::Exact, 0},

    {"-lineinfo", FlagClass::Nvcc, Match::Exact, 0}, // before -l…
    {"-l", FlagClass::Link, Match::ExactOrJoined, 1},
    {"-L", FlagClass::Link, Match::ExactOrJoined, 1},
    {"-Wl,", FlagClass::Link, Match::Prefix, 0},
    {"-Xlinker", FlagClass::Link, Match::ExactOrJoined, 1},
    {"-static", FlagClass::Link, Match::Prefix, 0},
    {"-shared", FlagClass::Link, Match::Prefix, 0},
    {"-rdynamic", FlagClass::Link, Match::Exact, 0},

    {"-Xcompiler", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--compiler-options", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-ccbin", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--compiler-bindir", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-allow-unsupported-compiler", FlagClass::Nvcc, Match::Exact, 0},
    {"-arch", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--gpu-architecture", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-gencode", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--generate-code", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-code", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--gpu-code", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-maxrregcount", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--maxrregcount", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-Xptxas", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--ptxas-options", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-Xnvlink", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-Xfatbin", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-Xcudafe", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-diag-suppress", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--diag-suppress", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-cudart", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--cudart", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-rdc", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--relocatable-device-code", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-default-stream", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--default-stream", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"-t", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--threads", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--generate-line-info", FlagClass::Nvcc, Match::Exact, 0},
    {"-G", FlagClass::Nvcc, Match::Exact, 0},
    {"--device-debug", FlagClass::Nvcc, Match::Exact, 0},
    {"-dlto", FlagClass::Nvcc, Match::Exact, 0},
    {"-use_fast_math", FlagClass::Nvcc, Match::Exact, 0},
    {"--use_fast_math", FlagClass::Nvcc, Match::Exact, 0},
    {"-extended-lambda", FlagClass::Nvcc, Match::Exact, 0},
    {"-expt-", FlagClass::Nvcc, Match::Prefix, 0},
    {"-ftz=", FlagClass::Nvcc, Match::Prefix, 0},
    {"-fmad=", FlagClass::Nvcc, Match::Prefix, 0},
    {"-prec-", FlagClass::Nvcc, Match::Prefix, 0},
    {"-res-usage", FlagClass::Nvcc, Match::Exact, 0},
    {"-keep", FlagClass::Nvcc, Match::Exact, 0},
    {"-keep-dir", FlagClass::Nvcc, Match::ExactOrJoined, 1},
    {"--coverage", FlagClass::Host, Match::Exact, 0},
    {"--sysroot=", FlagClass::Host, Match::Prefix, 0},
    {"--", FlagClass::Nvcc, Match::Prefix, 0}, // nvcc's long options: g++ has next to none
};

bool fits(const Row &Row, StringRef Argument) {
  switch (Row.How) {
  case Match::Exact:
    return Argument == Row.Name;
  case Match::Prefix:
    return Argument.starts_with(Row.Name);
  case Match::ExactOrJoined:
    // One-letter flags join directly (-Idir), longer ones with '=' or directly for -isystem and
    // kin.
    if (!Argument.consume_front(Row.Name))
      return false;
    return Argument.empty() || Row.Name.size() == 2 || Argument.front() == '=' ||
           Row.Class == FlagClass::Preprocess;
  }
  llvm_unreachable("covered switch");
}

/// The value of a flag spelled `-x v`, `-x=v` or `-xv`, given its name.
StringRef valueOf(const Flag &Flag, StringRef Name) {
  if (Flag.Spelling.size() > 1)
    return Flag.Spelling[1];
  StringRef Value = Flag.Spelling.front();
  Value.consume_front(Name);
  Value.consume_front("=");
  return Value;
}

Words splitAtCommas(StringRef List) {
  SmallVector<StringRef> Parts;
  List.split(Parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return Words(Parts.begin(), Parts.end());
}

bool isFlag(const Flag &Flag, StringRef Name) {
  StringRef First = Flag.Spelling.front();
  return First.consume_front(Name) && (First.empty() || First.front() == '=');
}

} // namespace

FlagShape shapeOf(StringRef Argument) {
  for (const Row &Row : Table)
    if (fits(Row, Argument))
      return {Row.Class, Argument == Row.Name ? Row.ExtraWords : 0};
  return {FlagClass::Host, 0};
}

bool saysWhetherSeparate(const Flag &Flag) {
  return isFlag(Flag, "-rdc") || isFlag(Flag, "--relocatable-device-code");
}

bool saysRegisters(const Flag &Flag) {
  for (StringRef Name : {"-Xptxas", "--ptxas-options"})
    if (isFlag(Flag, Name))
      return any_of(splitAtCommas(valueOf(Flag, Name)), [](StringRef Option) {
        return Option == "-O0" || Option == "-O1" || Option.contains("maxrregcount");
      });
  return isFlag(Flag, "-maxrregcount") || isFlag(Flag, "--maxrregcount");
}

bool saysArchitecture(const Flag &Flag) {
  return isFlag(Flag, "-arch") || isFlag(Flag, "--gpu-architecture") || isFlag(Flag, "-gencode") ||
         isFlag(Flag, "--generate-code");
}

Words behindXcompiler(ArrayRef<std::string> HostWords) {
  Words Result;
  for (StringRef Word : HostWords)
    Result.push_back(("-Xcompiler=" + Word).str());
  return Result;
}

Words forNvcc(const Flag &Flag) {
  StringRef First = Flag.Spelling.front();
  switch (Flag.Class) {
  case FlagClass::Host:
    return behindXcompiler(Flag.Spelling);
  case FlagClass::Preprocess:
    if (First.starts_with("-iquote"))
      return behindXcompiler(Flag.Spelling);
    return Flag.Spelling;
  case FlagClass::Link: {
    // nvcc knows -L, -l and -Xlinker, and hands its host compiler the rest.
    if (First.consume_front("-Wl,"))
      return {"-Xlinker", First.str()};
    if (First.starts_with("-l") || First.starts_with("-L") || First == "-Xlinker" ||
        First == "-shared")
      return Flag.Spelling;
    return behindXcompiler(Flag.Spelling);
  }
  case FlagClass::Common:
  case FlagClass::Nvcc:
    return Flag.Spelling;
  }
  llvm_unreachable("covered switch");
}

Words forHost(const Flag &Flag) {
  if (Flag.Class != FlagClass::Nvcc) {
    if (isFlag(Flag, "--std") || isFlag(Flag, "-std"))
      return {("-std=" + valueOf(Flag, isFlag(Flag, "--std") ? "--std" : "-std")).str()};
    return Flag.Spelling;
  }
  for (StringRef Name : {"-Xcompiler", "--compiler-options"})
    if (isFlag(Flag, Name))
      return splitAtCommas(valueOf(Flag, Name));
  if (isFlag(Flag, "--include-path"))
    return {("-I" + valueOf(Flag, "--include-path")).str()};
  if (isFlag(Flag, "--define-macro"))
    return {("-D" + valueOf(Flag, "--define-macro")).str()};
  if (isFlag(Flag, "-lineinfo") || isFlag(Flag, "--generate-line-info") || isFlag(Flag, "-G") ||
      isFlag(Flag, "--device-debug"))
    return {"-g"};
  if (isFlag(Flag, "-use_fast_math") || isFlag(Flag, "--use_fast_math"))
    return {"-ffast-math"};
  return {};
}

Words forTranslator(const Flag &Flag) {
  switch (Flag.Class) {
  case FlagClass::Preprocess:
  case FlagClass::Nvcc:
    return Flag.Spelling;
  case FlagClass::Host:
    // -fopenmp, -m… and the like define macros; warnings are the compiler's business.
    if (StringRef(Flag.Spelling.front()).starts_with("-W"))
      return {};
    return behindXcompiler(Flag.Spelling);
  case FlagClass::Common:
  case FlagClass::Link:
    return {};
  }
  llvm_unreachable("covered switch");
}

} // namespace gmpi
