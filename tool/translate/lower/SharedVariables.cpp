// Rewrites one declaration statement. The type is the declaration's own text without what is no
// part of a type: storage, alignment and the variable's name.
#include "SharedVariables.h"
#include "../Precompiled.h"

namespace gmpi::translate {

using namespace clang;
using llvm::StringRef;

namespace {

class SharedLowering {
public:
  SharedLowering(Lowering &L, const SharedDeclaration &D, Edits &Changes)
      : L(L), Where(L.Code), D(D), Changes(Changes) {}

  void lower();

private:
  void refuse(StringRef Why) {
    L.Code.diagnostics().report(DiagId::cpu_shared, Where.shown(first()->getLocation()),
                                {first()->getNameAsString(), Why.str()});
  }
  const VarDecl *first() const { return D.Variables.front(); }
  std::string variable(unsigned I);
  bool readSpecifiers();
  /// The variable's own part of the declaration, between commas.
  Span declarator(unsigned I) const;
  /// Where an unnamed struct gets its name.
  std::string typeDefinition();

  Lowering &L;
  Locations Where;
  const SharedDeclaration &D;
  Edits &Changes;
  Span Whole;
  unsigned SpecifiersEnd = 0;
  std::string Specifiers, Definition;
  bool Good = true;
};

/// Words that are no part of a type, with the parenthesised argument that may follow them.
bool isNoType(StringRef Word) {
  return Word == "__shared__" || Word == "static" || Word == "extern" || Word == "__align__" ||
         Word == "alignas" || Word == "__attribute__" || Word == "__declspec" ||
         Word == "__device__" || Word == "constexpr";
}

/// Tokens of Text without those words.
std::string typeOf(StringRef Text) {
  std::string Line = onOneLine(Text).value_or(""), Result;
  StringRef Rest = Line;
  while (!Rest.empty()) {
    size_t Length = Rest.take_while([](char C) { return llvm::isAlnum(C) || C == '_'; }).size();
    StringRef Word = Rest.take_front(std::max<size_t>(Length, 1));
    Rest = Rest.drop_front(Word.size());
    if (!isNoType(Word)) {
      Result += Word;
      continue;
    }
    Rest = Rest.ltrim();
    int Depth = 0;
    while (Rest.starts_with("(") || Depth > 0) {
      size_t At = Rest.find_first_of("()");
      if (At == StringRef::npos)
        break;
      Depth += Rest[At] == '(' ? 1 : -1;
      Rest = Rest.drop_front(At + 1);
      if (Depth == 0)
        break;
    }
    Rest = Rest.ltrim();
  }
  return StringRef(Result).trim().str();
}

bool SharedLowering::readSpecifiers() {
  Whole.Begin = Where.position(D.Range.getBegin());
  if (!Whole.Begin.isValid())
    Whole.Begin = L.Code.position(L.Code.sources().getExpansionLoc(D.Range.getBegin()));
  Position Name = Where.position(first()->getLocation());
  Span Type = Where.span(specifierType(first()).getSourceRange());
  // A macro that hides __shared__ among other things is seen by its name only.
  if (!Whole.Begin.isValid() || Name.File != Whole.Begin.File || Type.Begin.File != Name.File)
    return false;
  StringRef Text = Name.File->Text;
  // Words may still follow the type: `float const __shared__ a[3]`.
  SpecifiersEnd = D.Type ? Where.span(D.Type->getSourceRange()).End : Type.End;
  for (;;) {
    StringRef Rest = Text.slice(SpecifiersEnd, Name.Offset);
    StringRef Word = Rest.ltrim().take_while([](char C) { return llvm::isAlnum(C) || C == '_'; });
    if (Word.empty() || SpecifiersEnd >= Name.Offset)
      break;
    SpecifiersEnd = unsigned(Word.end() - Text.begin());
    StringRef After = Text.slice(SpecifiersEnd, Name.Offset).ltrim();
    if (isNoType(Word) && After.starts_with("("))
      SpecifiersEnd = unsigned(Text.find(')', SpecifiersEnd)) + 1;
  }
  if (SpecifiersEnd > Name.Offset)
    SpecifiersEnd = Name.Offset;
  Specifiers = Text.slice(Whole.Begin.Offset, SpecifiersEnd).str();
  return StringRef(Specifiers).contains("__shared__");
}

Span SharedLowering::declarator(unsigned I) const {
  StringRef Text = Whole.Begin.File->Text;
  unsigned Begin = SpecifiersEnd, End = Whole.End - 1;
  auto NameAt = [&](unsigned J) { return Where.position(D.Variables[J]->getLocation()).Offset; };
  if (I > 0)
    Begin = unsigned(Text.rfind(',', NameAt(I))) + 1;
  if (I + 1 < D.Variables.size())
    End = unsigned(Text.rfind(',', NameAt(I + 1)));
  return {{Whole.Begin.File, Begin}, End};
}

std::string SharedLowering::typeDefinition() {
  const TagDecl *Tag = D.Type;
  Span Body = Where.span(Tag->getSourceRange());
  if (!Body.isValid())
    return "";
  std::string Name = Tag->getNameAsString(), Text = Body.text().str();
  if (!Tag->getIdentifier()) {
    Name = "gmpi_shared_" + std::to_string(Whole.Begin.line()) + "_" +
           std::to_string(Whole.Begin.File->columnOf(Whole.Begin.Offset));
    Text.insert(Tag->getKindName().size(), " " + Name);
  }
  Specifiers = Name;
  return Text + "; ";
}

std::string SharedLowering::variable(unsigned I) {
  const VarDecl *V = D.Variables[I];
  Span Own = declarator(I);
  Position NameAt = Where.position(V->getLocation());
  std::string Name = V->getNameAsString();
  std::string Text = Own.text().str();
  Text.erase(NameAt.Offset - Own.Begin.Offset, Name.size());
  bool Dynamic = V->getStorageClass() == SC_Extern;
  if (Dynamic) {
    size_t Bound = Text.find('[');
    size_t End = Bound == std::string::npos ? Bound : Text.find(']', Bound);
    if (End == std::string::npos) {
      refuse("an extern one must be an array");
      return "";
    }
    Text.erase(Bound, End + 1 - Bound);
  }
  if (V->hasInit() && !V->getType()->isRecordType() && !isa<CXXConstructExpr>(V->getInit()))
    refuse("it has an initializer");
  std::string Declarator = typeOf(Text);
  std::string Type = typeOf(Specifiers) + (Declarator.empty() ? "" : " " + Declarator);
  if (Dynamic)
    return "auto *" + Name + " = ::gmpi::cpu::dynamic_shared<" + Type + ">();";
  return "auto &" + Name + " = ::gmpi::cpu::shared<" + Type + ">({" + L.Numbers.text(*NameAt.File) +
         ", " + std::to_string(NameAt.line()) + ", " +
         std::to_string(NameAt.File->columnOf(NameAt.Offset)) + "});";
}

void SharedLowering::lower() {
  if (Where.inSystemHeader(first()->getLocation()))
    return;
  if (!D.InFunction)
    return refuse("it is declared outside of functions");
  if (!readSpecifiers())
    return refuse("it comes from a macro");
  StringRef Text = Whole.Begin.File->Text;
  unsigned LastName = Where.position(D.Variables.back()->getLocation()).Offset;
  size_t Semicolon = Text.find(';', LastName);
  if (Semicolon == StringRef::npos)
    return refuse("its end was not found");
  Whole.End = unsigned(Semicolon) + 1;
  std::string New = D.Type ? typeDefinition() : "";
  if (D.Type && New.empty())
    return refuse("its type is defined in a macro");
  for (unsigned I = 0; I < D.Variables.size(); ++I)
    New += (I ? " " : "") + variable(I);
  // Later lines keep their numbers.
  auto Before = Whole.text().count('\n'), After = StringRef(New).count('\n');
  New.append(Before > After ? Before - After : 0, '\n');
  Changes.replace(Whole, New);
}

} // namespace

void lowerSharedDeclaration(Lowering &L, const SharedDeclaration &Declaration, Edits &Changes) {
  SharedLowering(L, Declaration, Changes).lower();
}

} // namespace gmpi::translate
