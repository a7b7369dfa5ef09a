// Declarations of variables that are live across a suspension: each takes its value from the frame,
// where it stands, when control comes by on its way to a resume point.
#include "../../Precompiled.h"
#include "Body.h"

namespace gmpi::translate {

using namespace clang;
using llvm::StringRef;

namespace {

bool isAuto(const VarDecl *V) {
  return V->getTypeSourceInfo() && V->getTypeSourceInfo()->getType()->getContainedAutoType();
}

/// Its initializer as written; null for `T x;`.
const Expr *writtenInit(const VarDecl *V) {
  const Expr *Init = V->getInit();
  if (!Init || V->isCXXForRangeDecl())
    return nullptr;
  if (const auto *Construct = dyn_cast<CXXConstructExpr>(Init->IgnoreUnlessSpelledInSource());
      Construct && V->getInitStyle() == VarDecl::CallInit && Construct->getNumArgs() == 0 &&
      !Construct->getParenOrBraceRange().isValid())
    return nullptr;
  return Init;
}

std::string slot(const FrameVariable &Of) {
  return std::to_string(Of.Offset) + ", " + std::to_string(Of.Bytes);
}

std::string lines(StringRef Text) { return std::string(Text.count('\n'), '\n'); }

} // namespace

std::string BodySplitter::alias(const FrameVariable &Of) const {
  auto Found = Aliases.find(&Of);
  return Found == Aliases.end() ? Of.Written->getNameAsString() : Found->second;
}

/// Where a variable is to be saved, an inner one may have its name.
void BodySplitter::findAliases() {
  for (auto &[Place, Outer] : Plan.Variables)
    for (auto &[OtherPlace, Inner] : Plan.Variables) {
      if (&Outer == &Inner || !Outer.inFrame() || Outer.How == Keeping::Resident ||
          !Outer.Written->getIdentifier() || Inner.DeclaredAt <= Outer.DeclaredAt ||
          Outer.Written->getDeclName() != Inner.Written->getDeclName())
        continue;
      for (size_t I = 0; I < F.Points.size(); ++I) {
        unsigned At = F.Points[I].Name.Begin.Offset;
        if (Outer.LiveAt[I] && Inner.DeclaredAt <= At && At <= Inner.ScopeEnd)
          Aliases[&Outer] = "gmpi_outer_" + Outer.Written->getNameAsString() + "_" +
                            std::to_string(Place.line());
      }
    }
}

std::string BodySplitter::declareAlias(const FrameVariable &Of) const {
  auto Found = Aliases.find(&Of);
  return Found == Aliases.end() || isa<DecompositionDecl>(Of.Written)
             ? ""
             : " auto &" + Found->second + " = " + Of.Written->getNameAsString() + ";";
}

std::string BodySplitter::savedValue(const FrameVariable &Of, const std::string &Name) const {
  std::string Uniform = Of.Uniform ? "_uniform" : "";
  if (isAuto(Of.Written))
    return "gmpi_frame.saved" + Uniform + "_auto<" + slot(Of) + ">()";
  return "gmpi_frame.saved" + Uniform + "<decltype(" + Name + "), " + slot(Of) + ">()";
}

void BodySplitter::declaration(const DeclStmt *S, bool InHeader) {
  std::string After;
  for (const Decl *D : S->decls()) {
    const auto *V = dyn_cast<VarDecl>(D);
    FrameVariable *Of = V ? Plan.find(Where, V) : nullptr;
    if (!Of)
      continue;
    if (const auto *Bindings = dyn_cast<DecompositionDecl>(V))
      decomposition(S, Bindings, *Of);
    else
      variable(S, V, *Of, InHeader);
    After += declareAlias(*Of);
  }
  if (After.empty())
    return;
  if (InHeader) {
    LoopStart += After + " ";
    return;
  }
  Span Whole = wholeSpan(S);
  insert({Whole.Begin.File, Whole.End}, After);
}

void BodySplitter::variable(const DeclStmt *S, const VarDecl *V, FrameVariable &Of,
                            bool InHeader) {
  switch (Of.How) {
  case Keeping::Resident:
    if (!InHeader) // a loop's header: forStatement() has moved it
      replace(wholeSpan(S), residentText(S, V, Of));
    return;
  case Keeping::Spilled:
  case Keeping::Reference:
  case Keeping::Dead:
    return initialized(S, V, Of, InHeader);
  default:
    return;
  }
}

bool BodySplitter::anyResident(const DeclStmt *S) {
  return llvm::any_of(S->decls(), [&](const Decl *D) {
    const auto *V = dyn_cast<VarDecl>(D);
    FrameVariable *Of = V ? Plan.find(Where, V) : nullptr;
    return Of && Of->How == Keeping::Resident;
  });
}

/// `double x = 1;` as a reference to the frame:
/// `typedef double gmpi_x_t; gmpi_x_t &x = gmpi_frame.resident<gmpi_x_t, 0, 8>();
///  if (!gmpi_re) { double gmpi_init = 1; ::gmpi::split::copy(x, gmpi_init); }`
std::string BodySplitter::residentText(const DeclStmt *S, const VarDecl *V, FrameVariable &Of) {
  Span Whole = wholeSpan(S), Name = Where.token(V->getLocation());
  if (!S->isSingleDecl() || !Whole.isValid() || !Name.isValid()) {
    refuse(V->getLocation(), DiagId::split_declaration);
    return "";
  }
  std::string Variable = V->getNameAsString(), Type = "gmpi_" + Variable + "_t";
  Span Specifiers{Whole.Begin, Name.Begin.Offset}, Rest{{Name.Begin.File, Name.End}, Whole.End};
  const Expr *Init = writtenInit(V);
  std::string Alias;
  if (isAuto(V)) {
    Alias = "using " + Type + " = ::gmpi::split::Plain<decltype(" +
            onOneLine(render(Init)).value_or("") + ")>; ";
  } else {
    unsigned End = Whole.End - 1;
    if (Init) {
      End = Where.position(Init->getBeginLoc()).Offset;
      if (V->getInitStyle() == VarDecl::CInit)
        End = unsigned(StringRef(Name.Begin.File->Text).rfind('=', End));
      else if (V->getInitStyle() == VarDecl::CallInit)
        End = unsigned(StringRef(Name.Begin.File->Text).find('(', Name.End));
    }
    std::string Suffix = Span{{Name.Begin.File, Name.End}, End}.text().str();
    if (const auto *Array = dyn_cast<ConstantArrayType>(Of.Example->getType()))
      if (size_t Empty = Suffix.find("[]"); Empty != std::string::npos)
        Suffix.insert(Empty + 1, std::to_string(Array->getSize().getZExtValue()));
    StringRef Words = Specifiers.text();
    if (Words.contains("alignas") || Words.contains("__align__")) {
      refuse(V->getLocation(), DiagId::split_declaration);
      return "";
    }
    Alias = "typedef " + onOneLine(Words).value_or("") + " " + Type + Suffix + "; ";
  }
  std::string Text = Alias + Type + " &" + Variable + " = gmpi_frame.resident<" + Type + ", " +
                     slot(Of) + ">();";
  if (Init)
    Text += " if (!gmpi_re) { " + render(Specifiers) + "gmpi_init" + render(Rest) +
            " ::gmpi::split::copy(" + Variable + ", gmpi_init); }";
  else
    Text += lines(Whole.text());
  return Text;
}

/// Gives it the saved value where control only comes by; nothing in particular if it is dead.
void BodySplitter::initialized(const DeclStmt *S, const VarDecl *V, FrameVariable &Of,
                               bool InHeader) {
  std::string Name = V->getNameAsString();
  const Expr *Init = writtenInit(V);
  bool IsArray = Of.Example->getType()->isArrayType();
  bool Dead = Of.How == Keeping::Dead;
  if (Dead && (!Init || Plan.isPure(Init) || Plan.isPure(Of.Example->getInit())))
    return;
  if (!Init || IsArray) { // an array's initializer is pure: see the planner
    Span Whole = wholeSpan(S);
    if (InHeader || !Whole.isValid())
      return refuse(V->getLocation(), DiagId::split_declaration);
    insert({Whole.Begin.File, Whole.End}, " if (gmpi_re) gmpi_frame.restore" +
                                              std::string(Of.Uniform ? "_uniform" : "") + "<" +
                                              slot(Of) + ">(" + Name + ");");
    return;
  }
  Span Text = Where.span(Init->getSourceRange()), Token = Where.token(V->getLocation());
  if (!Text.isValid() || !Token.isValid())
    return refuse(V->getLocation(), DiagId::split_macro);
  std::string Saved;
  if (Of.How == Keeping::Reference || (Dead && Of.Example->getType()->isReferenceType())) {
    std::string Type = isAuto(V) ? "(" + onOneLine(render(Init)).value_or("") + ")" : Name;
    Saved = Dead ? "::gmpi::split::nothing_reference<decltype(" + Type + ")>()"
                 : "gmpi_frame.saved_reference<decltype(" + Type + "), " + slot(Of) + ">()";
  } else if (Dead) {
    Saved = isAuto(V) ? "::gmpi::split::Nothing()"
                      : "::gmpi::split::nothing<decltype(" + Name + ")>()";
  } else {
    Saved = savedValue(Of, Name);
  }
  bool List = isa<InitListExpr>(Init->IgnoreImplicit()) || Text.text().starts_with("{");
  std::string Plain = isAuto(V) ? "" : "::gmpi::split::Plain<decltype(" + Name + ")>";
  if (V->getInitStyle() == VarDecl::CInit) {
    insert(Text.Begin, "gmpi_re ? " + Saved + " : " + (List ? Plain : "("));
    insert({Text.Begin.File, Text.End}, List ? "" : ")");
    return;
  }
  if (isAuto(V) && List)
    return refuse(V->getLocation(), DiagId::split_declaration);
  insert({Token.Begin.File, Token.End}, " = gmpi_re ? " + Saved + " : " + Plain);
}

/// `auto [a, b] = f();` by way of a variable that can be named.
void BodySplitter::decomposition(const DeclStmt *S, const DecompositionDecl *V,
                                 FrameVariable &Of) {
  Span Whole = wholeSpan(S);
  const Expr *Init = V->getInit();
  Span Text = Init ? Where.span(Init->IgnoreUnlessSpelledInSource()->getSourceRange()) : Span{};
  if (!Whole.isValid() || !Text.isValid())
    return refuse(V->getBeginLoc(), DiagId::split_macro);
  StringRef All = Whole.text();
  size_t Open = All.find('['), Close = All.find(']');
  bool Reference = Of.Example->getType()->isReferenceType() && Of.How == Keeping::Reference;
  if (V->getInitStyle() != VarDecl::CInit || Of.Example->getType()->isArrayType() ||
      Close == StringRef::npos || (Of.Example->getType()->isReferenceType() && !Reference &&
                                   Of.How != Keeping::Dead))
    return refuse(V->getBeginLoc(), DiagId::split_declaration);
  std::string Name = "gmpi_bound_" + std::to_string(Whole.Begin.line()) + "_" +
                     std::to_string(Whole.Begin.File->columnOf(Whole.Begin.Offset));
  std::string Value = render(Text), Bindings = All.slice(Open, Close + 1).str();
  std::string Type = All.take_front(Open).rtrim(" \t\n&").str();
  std::string Type1 = "decltype((" + onOneLine(Value).value_or("") + "))";
  std::string New;
  if (Of.How == Keeping::Resident)
    New = "using " + Name + "_t = ::gmpi::split::Plain<" + Type1 + ">; " + Name + "_t &" + Name +
          " = gmpi_frame.resident<" + Name + "_t, " + slot(Of) +
          ">(); if (!gmpi_re) ::gmpi::split::copy(" + Name + ", " + Value + ");";
  else if (Of.Example->getType()->isReferenceType())
    New = Type + " &" + Name + " = gmpi_re ? " +
          (Reference ? "gmpi_frame.saved_reference<" + Type1 + ", " + slot(Of) + ">()"
                     : "::gmpi::split::nothing_reference<" + Type1 + ">()") +
          " : (" + Value + ");";
  else
    New = Type + " " + Name + " = gmpi_re ? " +
          (Of.How == Keeping::Dead ? "::gmpi::split::Nothing()" : savedValue(Of, Name)) + " : (" +
          Value + ");";
  Aliases[&Of] = Name;
  replace(Whole, New + " auto &" + Bindings + " = " + Name + ";");
}

/// What a function does first with parameters that its later segments need.
std::string BodySplitter::parameters() {
  std::string Text;
  for (const ParmVarDecl *P : F.Written->parameters()) {
    FrameVariable *Of = Plan.find(Where, P);
    if (!Of || !Of->inFrame() || !P->getIdentifier())
      continue;
    std::string Name = P->getNameAsString(), Passed = "gmpi_passed_" + Name;
    std::string Type = "decltype(" + Passed + ")";
    bool Rename = Of->How != Keeping::Spilled || Of->Example->getType().isConstQualified();
    if (P->isParameterPack() || Of->Example->getType()->isRValueReferenceType()) {
      refuse(P->getLocation(), DiagId::split_declaration);
      continue;
    }
    if (Rename)
      replace(Where.token(P->getLocation()), Passed);
    if (!Rename)
      Text += " if (gmpi_re) gmpi_frame.restore" + std::string(Of->Uniform ? "_uniform" : "") +
              "<" + slot(*Of) + ">(" + Name + ");";
    else if (Of->How == Keeping::Resident)
      Text += " ::gmpi::split::Plain<" + Type + "> &" + Name +
              " = gmpi_frame.resident<::gmpi::split::Plain<" + Type + ">, " + slot(*Of) +
              ">(); if (!gmpi_re) ::gmpi::split::copy(" + Name + ", " + Passed + ");";
    else
      Text += " " + Type + " " + Name + " = gmpi_re ? gmpi_frame.saved" +
              (Of->How == Keeping::Reference ? "_reference" : Of->Uniform ? "_uniform" : "") +
              "<" + Type + ", " + slot(*Of) + ">() : " + Passed + ";";
    Text += declareAlias(*Of);
  }
  return Text;
}

/// What is live across a suspension point goes to the frame.
std::string BodySplitter::saves(size_t Point) {
  std::string Text;
  bool Dynamic = false;
  for (auto &[Place, V] : Plan.Variables) {
    if (!V.inFrame() || !V.LiveAt[Point] || V.How == Keeping::Resident)
      continue;
    if (V.Dynamic) {
      Text += Dynamic ? "" : "gmpi_frame.save_dynamic_shared(); ";
      Dynamic = true;
      continue;
    }
    std::string How = V.How == Keeping::Shared      ? "_shared"
                      : V.How == Keeping::Reference ? "_reference"
                      : V.Uniform                   ? "_uniform"
                                                    : "";
    Text += "gmpi_frame.save" + How + "<" + slot(V) + ">(" + alias(V) + "); ";
  }
  return Text + Extra[Point];
}

/// Before control goes on: what its block shares.
std::string BodySplitter::restoresShared(size_t Point) {
  std::string Text;
  bool Dynamic = false;
  for (auto &[Place, V] : Plan.Variables) {
    if (V.How != Keeping::Shared || !V.LiveAt[Point] || (V.Dynamic && Dynamic))
      continue;
    Dynamic |= V.Dynamic;
    Text += V.Dynamic ? "gmpi_frame.restore_dynamic_shared(); "
                      : "gmpi_frame.restore_shared<" + slot(V) + ">(" + alias(V) + "); ";
  }
  return Text.empty() ? "" : "if (gmpi_re) { " + Text + "} ";
}

} // namespace gmpi::translate
