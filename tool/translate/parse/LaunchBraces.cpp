// A pass over raw tokens: between `<<<` and `>>>`, a brace that begins an argument gets its type.
#include "LaunchBraces.h"
#include "clang/Basic/LangOptions.h"
#include "clang/Lex/Lexer.h"

namespace gmpi::translate {

namespace {

namespace tok = clang::tok;

/// The types of a launch's arguments, in order.
const llvm::StringRef ConfigurationTypes[] = {"dim3", "dim3", "decltype(sizeof(0))",
                                              "cudaStream_t"};

clang::LangOptions cudaOptions() {
  clang::LangOptions Options;
  Options.CPlusPlus = Options.CPlusPlus11 = Options.CPlusPlus14 = Options.CPlusPlus17 = true;
  Options.CUDA = true;
  Options.LineComment = true;
  return Options;
}

/// Where in one launch's configuration the lexer is.
struct Configuration {
  bool Inside = false, AtArgument = false;
  unsigned Index = 0;
  int Depth = 0;

  void open() { *this = {true, true, 0, 0}; }

  /// The type to write before this token, or nothing.
  llvm::StringRef see(const clang::Token &Token) {
    bool First = AtArgument;
    AtArgument = false;
    switch (Token.getKind()) {
    case tok::greatergreatergreater:
    case tok::semi:
      Inside = false;
      return "";
    case tok::l_brace:
      ++Depth;
      return First && Index < 4 ? ConfigurationTypes[Index] : "";
    case tok::l_paren:
    case tok::l_square:
      ++Depth;
      return "";
    case tok::r_brace:
    case tok::r_paren:
    case tok::r_square:
      --Depth;
      return "";
    case tok::comma:
      if (Depth == 0) {
        ++Index;
        AtArgument = true;
      }
      return "";
    default:
      return "";
    }
  }
};

} // namespace

unsigned OffsetMap::toUser(unsigned Parsed) const {
  unsigned Added = 0;
  for (auto [UserOffset, Length] : Insertions) {
    if (Parsed <= UserOffset + Added)
      break;
    // Within the inserted text itself: the brace it belongs to.
    if (Parsed < UserOffset + Added + Length)
      return UserOffset;
    Added += Length;
  }
  return Parsed - Added;
}

std::optional<BracedLaunches> spellLaunchBraces(llvm::StringRef Text) {
  if (!Text.contains("<<<") || !Text.contains('{'))
    return std::nullopt;
  clang::LangOptions Options = cudaOptions();
  clang::Lexer Lexer(clang::SourceLocation(), Options, Text.begin(), Text.begin(), Text.end());
  BracedLaunches Result;
  Configuration Config;
  unsigned Copied = 0;
  clang::Token Token;
  for (;;) {
    Lexer.LexFromRawLexer(Token);
    if (Token.is(tok::eof))
      break;
    if (Token.is(tok::lesslessless)) {
      Config.open();
      continue;
    }
    if (!Config.Inside)
      continue;
    llvm::StringRef Type = Config.see(Token);
    if (Type.empty())
      continue;
    unsigned Offset = unsigned(Lexer.getBufferLocation() - Text.begin()) - Token.getLength();
    Result.Text += Text.slice(Copied, Offset).str() + Type.str();
    Result.Offsets.addInsertion(Offset, unsigned(Type.size()));
    Copied = Offset;
  }
  if (Copied == 0)
    return std::nullopt;
  Result.Text += Text.substr(Copied).str();
  return Result;
}

} // namespace gmpi::translate
