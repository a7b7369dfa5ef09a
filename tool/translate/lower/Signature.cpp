// Reads signatures off the user's text, guided by Clang's locations.
#include "Signature.h"
#include "../Precompiled.h"
#include "llvm/ADT/StringExtras.h"

namespace gmpi::translate {

using namespace clang;
using llvm::StringRef;

namespace {

std::string join(llvm::ArrayRef<std::string> Parts) { return llvm::join(Parts, ", "); }

/// Reads one function's signature. Every step may fail; Failed then says so.
class Reader {
public:
  Reader(const Pass &P, const FunctionDecl *F) : P(P), Where(P), F(F) {}

  std::optional<Signature> read() {
    if (!readPlaces()) {
      P.diagnostics().report(DiagId::code_in_macro, Where.shown(F->getLocation()),
                             {"the signature of '" + F->getNameAsString() + "'"});
      return std::nullopt;
    }
    readTemplateHead();
    for (unsigned I = 0; I < F->getNumParams(); ++I)
      readParameter(I);
    if (!Good) {
      P.diagnostics().report(DiagId::directive_in_signature, Where.shown(F->getLocation()),
                             {F->getNameAsString()});
      return std::nullopt;
    }
    return std::move(S);
  }

private:
  bool readPlaces();
  void readTemplateHead();
  void readParameter(unsigned I);

  /// The place in the file, where a macro expands to this token the macro's.
  Position place(SourceLocation Loc) const {
    Position Spelled = Where.position(Loc);
    return Spelled.isValid() ? Spelled : P.position(P.sources().getExpansionLoc(Loc));
  }
  char at(const Position &Where) const { return Where.File->Text[Where.Offset]; }
  StringRef text() const { return S.Name.Begin.File->Text; }
  std::string clean(unsigned Begin, unsigned End) {
    auto Line = onOneLine(text().slice(Begin, End));
    Good &= Line.has_value();
    return Line.value_or("");
  }
  Position firstSpecifier() const;
  /// `text` with a name put in at Offset, cleaned.
  std::string withName(unsigned Begin, unsigned End, unsigned NameAt, const std::string &Name) {
    return (clean(Begin, NameAt) + " " + Name + " " + clean(NameAt, End));
  }

  const Pass &P;
  Locations Where;
  const FunctionDecl *F;
  Signature S;
  bool Good = true;
};

/// Attributes come before or among the specifiers; Clang's own begin may lie after them.
Position Reader::firstSpecifier() const {
  Position Begin = place(F->getBeginLoc());
  if (const FunctionTemplateDecl *T = F->getDescribedFunctionTemplate()) {
    Position Template = place(T->getBeginLoc());
    Begin = Template < Begin ? place(F->getInnerLocStart()) : Begin;
  }
  for (const Attr *A : F->attrs())
    if (Position At = place(A->getLocation());
        !A->isImplicit() && !A->isInherited() && At.File == Begin.File && At < Begin)
      Begin = At;
  return Begin;
}

bool Reader::readPlaces() {
  S.Name = Where.token(F->getLocation());
  FunctionTypeLoc Type = F->getFunctionTypeLoc();
  if (!S.Name.isValid() || !Type)
    return false;
  S.OpenParen = Where.position(Type.getLParenLoc());
  S.CloseParen = Where.position(Type.getRParenLoc());
  S.Head = firstSpecifier();
  S.Whole.Begin = S.Head;
  if (const FunctionTemplateDecl *T = F->getDescribedFunctionTemplate())
    S.Whole.Begin = place(T->getBeginLoc());
  if (auto *Linkage = dyn_cast<LinkageSpecDecl>(F->getLexicalDeclContext());
      Linkage && !Linkage->hasBraces()) {
    S.Whole.Begin = place(Linkage->getBeginLoc());
    S.Head = S.Whole.Begin;
  }
  const SourceFile *File = S.Name.Begin.File;
  auto In = [&](const Position &At) { return At.File == File; };
  if (!In(S.OpenParen) || !In(S.CloseParen) || !In(S.Whole.Begin) || at(S.OpenParen) != '(' ||
      at(S.CloseParen) != ')' || S.Name.Begin < S.Whole.Begin)
    return false;
  if (!F->isThisDeclarationADefinition()) {
    size_t Semicolon = text().find(';', S.CloseParen.Offset);
    S.Whole.End = unsigned(Semicolon == StringRef::npos ? text().size() : Semicolon + 1);
    return true;
  }
  auto *Body = dyn_cast_or_null<CompoundStmt>(F->getBody());
  // Generated lines follow the body: it must not be a macro's argument.
  if (!Body || !Body->getRBracLoc().isFileID())
    return false;
  S.Body = Where.position(Body->getLBracLoc());
  Position End = Where.position(Body->getRBracLoc());
  if (!In(S.Body) || !In(End) || at(S.Body) != '{' || at(End) != '}' || S.Body < S.CloseParen)
    return false;
  S.Whole.End = End.Offset + 1;
  return true;
}

void Reader::readTemplateHead() {
  const FunctionTemplateDecl *T = F->getDescribedFunctionTemplate();
  if (!T)
    return;
  unsigned Begin = S.Whole.Begin.Offset;
  for (const NamedDecl *D : *T->getTemplateParameters()) {
    std::string Name = D->getNameAsString();
    bool Pack = D->isTemplateParameterPack();
    if (Name.empty()) {
      Name = "gmpi_type_" + std::to_string(S.TemplateArguments.size());
      unsigned At = place(D->getLocation()).Offset;
      S.TemplateHead += clean(Begin, At) + " " + Name + " ";
      Begin = At;
    }
    S.TemplateArguments.push_back(Name + (Pack ? "..." : ""));
  }
  S.TemplateHead += clean(Begin, S.Head.Offset);
}

void Reader::readParameter(unsigned I) {
  const ParmVarDecl *D = F->getParamDecl(I);
  unsigned Begin = S.OpenParen.Offset + 1, End = S.CloseParen.Offset;
  // A parameter's attributes may stand before what Clang calls its beginning: split at commas.
  if (I > 0)
    Begin = unsigned(text().rfind(',', place(D->getBeginLoc()).Offset)) + 1;
  if (I + 1 < F->getNumParams())
    End = unsigned(text().rfind(',', place(F->getParamDecl(I + 1)->getBeginLoc()).Offset));
  Parameter Result;
  if (D->hasDefaultArg() && !D->hasInheritedDefaultArg()) {
    unsigned Value = place(D->getDefaultArgRange().getBegin()).Offset;
    unsigned Equals = unsigned(text().rfind('=', Value));
    S.DefaultArguments.push_back({{S.Name.Begin.File, Equals}, End});
    Result.Default = clean(Equals, End);
    End = Equals;
  }
  Result.Name = D->getNameAsString();
  Result.Pack = D->isParameterPack();
  if (Result.Name.empty()) {
    Result.Name = "gmpi_parameter_" + std::to_string(I);
    Result.Named = false;
    Result.Text = withName(Begin, End, std::min(End, place(D->getLocation()).Offset), Result.Name);
  } else {
    Result.Text = clean(Begin, End);
  }
  // Only a kernel's own parameters may be __grid_constant__.
  size_t Constant = Result.Text.find("__grid_constant__");
  if (Constant != std::string::npos)
    Result.Text.erase(Constant, StringRef("__grid_constant__").size());
  Result.Text = StringRef(Result.Text).trim().str();
  S.Parameters.push_back(std::move(Result));
}

} // namespace

std::string Signature::declaration() const {
  Span All{Whole.Begin, Body.isValid() ? Body.Offset : Whole.End};
  return onOneLine(All.text()).value_or("");
}

std::string Signature::templateArguments() const {
  return TemplateHead.empty() ? "" : "<" + join(TemplateArguments) + ">";
}

std::string Signature::parameters(bool WithDefaults) const {
  std::vector<std::string> Parts;
  for (const Parameter &Each : Parameters)
    Parts.push_back(Each.Text + (WithDefaults && !Each.Default.empty() ? " " + Each.Default : ""));
  return join(Parts);
}

std::string Signature::parameterTypes() const {
  std::vector<std::string> Parts;
  for (const Parameter &Each : Parameters)
    Parts.push_back("decltype(" + Each.Name + ")" + (Each.Pack ? "..." : ""));
  return join(Parts);
}

std::string Signature::arguments() const {
  std::vector<std::string> Parts;
  for (const Parameter &Each : Parameters)
    Parts.push_back(Each.Name + (Each.Pack ? "..." : ""));
  return join(Parts);
}

std::string Signature::namedArguments() const {
  std::vector<std::string> Parts;
  for (const Parameter &Each : Parameters)
    if (Each.Named)
      Parts.push_back(Each.Name + (Each.Pack ? "..." : ""));
  return join(Parts);
}

std::optional<Signature> readSignature(const Pass &P, const FunctionDecl *Function) {
  return Reader(P, Function).read();
}

TypeLoc specifierType(const VarDecl *V) {
  TypeLoc Type = V->getTypeSourceInfo()->getTypeLoc();
  for (;;) {
    if (auto Array = Type.getAs<ArrayTypeLoc>())
      Type = Array.getElementLoc();
    else if (auto Pointer = Type.getAs<PointerTypeLoc>())
      Type = Pointer.getPointeeLoc();
    else if (auto Reference = Type.getAs<ReferenceTypeLoc>())
      Type = Reference.getPointeeLoc();
    else if (auto Paren = Type.getAs<ParenTypeLoc>())
      Type = Paren.getInnerLoc();
    else if (auto Function = Type.getAs<FunctionTypeLoc>())
      Type = Function.getReturnLoc();
    else if (auto Qualified = Type.getAs<QualifiedTypeLoc>())
      Type = Qualified.getUnqualifiedLoc();
    else if (auto Attributed = Type.getAs<AttributedTypeLoc>())
      Type = Attributed.getModifiedLoc();
    else
      return Type;
  }
}

std::optional<std::string> onOneLine(StringRef Text) {
  LangOptions Language;
  Language.CPlusPlus = Language.CPlusPlus11 = Language.CPlusPlus17 = Language.CUDA = true;
  Language.LineComment = true;
  std::string Copy = Text.str();
  Lexer Raw(SourceLocation(), Language, Copy.data(), Copy.data(), Copy.data() + Copy.size());
  std::string Line;
  Token Tok;
  for (;;) {
    const char *Before = Raw.getBufferLocation();
    Raw.LexFromRawLexer(Tok);
    if (Tok.is(tok::eof))
      return Line;
    if (Tok.is(tok::hash) && Tok.isAtStartOfLine() && Before != Copy.data())
      return std::nullopt;
    StringRef Spelling(Raw.getBufferLocation() - Tok.getLength(), Tok.getLength());
    bool Space = Tok.hasLeadingSpace() || Tok.isAtStartOfLine();
    Line += (Space && !Line.empty() ? " " : "") + Spelling.str();
  }
}

} // namespace gmpi::translate
