// Declarations of variables that are live across a suspension: each takes its value from the frame,
// where it stands, when control comes by on its way to a resume point.
#include "../../Precompiled.h"
#include "Body.h"
#include "Split.h"

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
      Construct && V->getInitStyle() == VarDecl::CallInit &&
      llvm::all_of(Construct->arguments(), llvm::IsaPred<CXXDefaultArgExpr>) &&
      !Construct->getParenOrBraceRange().isValid())
    return nullptr;
  return Init;
}

std::string slot(const FrameVariable &Of) {
  return std::to_string(Of.Offset) + ", " + std::to_string(Of.Bytes);
}

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
          Aliases[&Outer] =
              "gmpi_outer_" + Outer.Written->getNameAsString() + "_" + std::to_string(Place.line());
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

/// One statement's declarators, each with the specifiers that all share.
std::vector<BodySplitter::Declarator> BodySplitter::declarators(const DeclStmt *S) {
  std::vector<Declarator> Result;
  Span Whole = Where.statement(S);
  for (const Decl *D : S->decls()) {
    const auto *V = dyn_cast<VarDecl>(D);
    Span Name = V ? Where.token(V->getLocation()) : Span{};
    if (!Whole.isValid() || !Name.isValid() || isa<DecompositionDecl>(V)) {
      refuse(S->getBeginLoc(), DiagId::split_declaration);
      return {};
    }
    Result.push_back({V, {}, {Whole.Begin, Name.Begin.Offset}, {{Name.Begin.File, Name.End}, 0}});
  }
  StringRef Text = Whole.Begin.File->Text;
  unsigned Shared = Result.front().Before.End;
  if (Result.size() > 1) {
    Span Type = Where.span(specifierType(Result.front().Variable).getSourceRange());
    if (!Type.isValid() || Type.End > Shared) {
      refuse(S->getBeginLoc(), DiagId::split_declaration);
      return {};
    }
    Shared = Type.End; // words may follow the type: `int const a`
    for (StringRef Rest = Text.slice(Shared, Result.front().Before.End);
         Rest.ltrim().starts_with("const") || Rest.ltrim().starts_with("volatile");
         Rest = Text.slice(Shared, Result.front().Before.End))
      Shared += unsigned(Rest.size() - Rest.ltrim().size() +
                         Rest.ltrim().take_while([](char C) { return llvm::isAlpha(C); }).size());
  }
  bool OneVariable = Result.size() == 1;
  for (size_t I = 0; I < Result.size(); ++I) {
    Declarator &D = Result[I];
    D.Specifiers = Span{Whole.Begin, OneVariable ? Whole.Begin.Offset : Shared}.text().str();
    if (!OneVariable)
      D.Before.Begin.Offset = I == 0 ? Shared : unsigned(Text.rfind(',', D.Before.End)) + 1;
    D.After.End = Whole.End - (Whole.text().ends_with(";") ? 1 : 0); // a condition has none
  }
  for (size_t I = 0; I + 1 < Result.size(); ++I)
    Result[I].After.End = Result[I + 1].Before.Begin.Offset - 1;
  return Result;
}

/// The statement taken apart: each variable declared by itself, behind the calls in its
/// initializer.
std::string BodySplitter::separately(const DeclStmt *S, bool Later) {
  std::string Text;
  std::vector<Declarator> All = declarators(S);
  for (size_t I = 0; I < All.size(); ++I) {
    const VarDecl *V = All[I].Variable;
    FrameVariable *Of = Plan.find(Where, V);
    bool More = Later;
    for (size_t J = I + 1; J < All.size(); ++J)
      More |= pointsIn(All[J].Variable->getInit()).any();
    Items Before;
    hoist(V->getInit(), Before);
    Text += emit(Before, More);
    if (Of && Of->How == Keeping::Resident) {
      Text += residentText(All[I], *Of) + " ";
      continue;
    }
    std::string Restore;
    if (Of &&
        (Of->How == Keeping::Spilled || Of->How == Keeping::Reference || Of->How == Keeping::Dead))
      Restore = initialized(V, *Of);
    Text += All[I].Specifiers + " " + render(All[I].Before) + V->getNameAsString() +
            render(All[I].After, /*WithEnd=*/true) + ";" + Restore + (Of ? declareAlias(*Of) : "") +
            " ";
  }
  return oneLine(Text);
}

void BodySplitter::declaration(const DeclStmt *S, bool Later) {
  Span Whole = Where.statement(S);
  if (!Whole.isValid())
    return refuse(S->getBeginLoc(), DiagId::split_macro);
  if (const auto *Bindings = dyn_cast<DecompositionDecl>(*S->decl_begin())) {
    FrameVariable *Of = Plan.find(Where, Bindings);
    bool Plain = !Of || Of->How == Keeping::Recomputed ||
                 (Of->How == Keeping::Dead && Plan.isPure(Of->Example->getInit()));
    if (Plain && !pointsIn(S).any())
      return;
    Items Before;
    hoist(Bindings->getInit(), Before);
    std::string Prefix = oneLine(emit(Before, Later));
    if (Of)
      replace(Whole, Prefix + decomposition(S, Bindings, *Of));
    return;
  }
  if (anyResident(S) || (!S->isSingleDecl() && pointsIn(S).any())) {
    std::string Text = separately(S, Later);
    return replace(Whole, StringRef(Text).rtrim().str() + missingLines(Whole, Text));
  }
  Items Before;
  std::string After;
  for (const Decl *D : S->decls())
    if (const auto *V = dyn_cast<VarDecl>(D)) {
      hoist(V->getInit(), Before);
      After += inPlace(V);
    }
  insert(Whole.Begin, oneLine(emit(Before, Later)));
  insert({Whole.Begin.File, Whole.End}, After);
}

/// Edits one variable's initializer where it stands; returns what has to follow the statement.
std::string BodySplitter::inPlace(const VarDecl *V) {
  FrameVariable *Of = Plan.find(Where, V);
  if (!Of)
    return "";
  std::string After;
  if (Of->How == Keeping::Spilled || Of->How == Keeping::Reference || Of->How == Keeping::Dead)
    After = initialized(V, *Of);
  return After + declareAlias(*Of);
}

/// Whether a declaration may stay in its header: nvcc does not know the variable there yet that
/// `T x = gmpi_re ? gmpi_frame.saved<decltype(x), ...>() : ...` names.
bool BodySplitter::staysInHeader(const DeclStmt *S) {
  return !pointsIn(S).any() && llvm::all_of(S->decls(), [&](const Decl *D) {
    const auto *V = dyn_cast<VarDecl>(D);
    FrameVariable *Of = V ? Plan.find(Where, V) : nullptr;
    if (!Of)
      return true;
    bool Dead = Of->How == Keeping::Dead && (!writtenInit(V) || Plan.isPure(V->getInit()) ||
                                             Plan.isPure(Of->Example->getInit()));
    return Dead || !(Of->inFrame() || Of->How == Keeping::Dead);
  });
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
std::string BodySplitter::residentText(const Declarator &D, const FrameVariable &Of) {
  const VarDecl *V = D.Variable;
  std::string Variable = V->getNameAsString(), Type = "gmpi_" + Variable + "_t";
  std::string Before = D.Specifiers + " " + onOneLine(render(D.Before)).value_or("") + " ";
  const Expr *Init = writtenInit(V);
  std::string Alias;
  if (isAuto(V) && containsLambda(Init)) {
    std::string Made = "gmpi_made_" + Variable;
    return madeOnce(Made, render(Where.span(Init->getSourceRange()))) + "auto &" + Variable +
           " = gmpi_frame.resident<decltype(" + Made + "), " + slot(Of) +
           ">(); if (!gmpi_re) ::gmpi::split::copy(" + Variable + ", " + Made + ");";
  }
  if (isAuto(V)) {
    Alias = "using " + Type + " = ::gmpi::split::Plain<decltype(" +
            onOneLine(render(Init)).value_or("") + ")>; ";
  } else {
    unsigned End = D.After.End;
    StringRef Text = D.After.Begin.File->Text;
    if (Init) {
      End = Where.position(Init->getBeginLoc()).Offset;
      if (V->getInitStyle() == VarDecl::CInit)
        End = unsigned(Text.rfind('=', End));
      else if (V->getInitStyle() == VarDecl::CallInit)
        End = unsigned(Text.find('(', D.After.Begin.Offset));
    }
    std::string Suffix = Span{D.After.Begin, End}.text().str();
    if (const auto *Array = dyn_cast<ConstantArrayType>(Of.Example->getType()))
      if (size_t Empty = Suffix.find("[]"); Empty != std::string::npos)
        Suffix.insert(Empty + 1, std::to_string(Array->getSize().getZExtValue()));
    if (Before.find("alignas") != std::string::npos ||
        Before.find("__align__") != std::string::npos) {
      refuse(V->getLocation(), DiagId::split_declaration);
      return "";
    }
    Alias = "typedef " + Before + Type + Suffix + "; ";
  }
  std::string Text =
      Alias + Type + " &" + Variable + " = gmpi_frame.resident<" + Type + ", " + slot(Of) + ">();";
  if (Init || Of.Constructed)
    Text += " if (!gmpi_re) { " + Before + "gmpi_init" + render(D.After) +
            "; ::gmpi::split::copy(" + Variable + ", gmpi_init); }";
  return Text;
}

/// Gives it the saved value where control only comes by; nothing in particular if it is dead.
/// Returns what has to follow the declaration.
std::string BodySplitter::initialized(const VarDecl *V, FrameVariable &Of) {
  std::string Name = V->getNameAsString();
  const Expr *Init = writtenInit(V);
  bool IsArray = Of.Example->getType()->isArrayType();
  bool Dead = Of.How == Keeping::Dead;
  if (Dead && (!Init || Plan.isPure(Init) || Plan.isPure(Of.Example->getInit())))
    return "";
  if (!Init || IsArray) // an array's initializer is pure: see the planner
    return " if (gmpi_re) gmpi_frame.restore" + std::string(Of.Uniform ? "_uniform" : "") + "<" +
           slot(Of) + ">(" + Name + ");";
  Span Text = Where.span(Init->getSourceRange()), Token = Where.token(V->getLocation());
  if (!Text.isValid() || !Token.isValid()) {
    refuse(V->getLocation(), DiagId::split_macro);
    return "";
  }
  std::string Saved;
  if (Of.How == Keeping::Reference || (Dead && Of.Example->getType()->isReferenceType())) {
    std::string Type = isAuto(V) ? "(" + onOneLine(render(Init)).value_or("") + ")" : Name;
    Saved = Dead ? "::gmpi::split::nothing_reference<decltype(" + Type + ")>()"
                 : "gmpi_frame.saved_reference<decltype(" + Type + "), " + slot(Of) + ">()";
  } else if (Dead) {
    Saved =
        isAuto(V) ? "::gmpi::split::Nothing()" : "::gmpi::split::nothing<decltype(" + Name + ")>()";
  } else {
    Saved = savedValue(Of, Name);
  }
  bool List = isa<InitListExpr>(Init->IgnoreImplicit()) || Text.text().starts_with("{");
  std::string Plain = isAuto(V) ? "" : "::gmpi::split::Plain<decltype(" + Name + ")>";
  if (V->getInitStyle() == VarDecl::CInit) {
    insert(Text.Begin, "gmpi_re ? " + Saved + " : " + (List ? Plain : "("));
    insert({Text.Begin.File, Text.End}, List ? "" : ")");
    return "";
  }
  if (isAuto(V) && List)
    refuse(V->getLocation(), DiagId::split_declaration);
  insert({Token.Begin.File, Token.End}, " = gmpi_re ? " + Saved + " : " + Plain);
  return "";
}

/// Variables without an initializer that control comes by only where it does not come by this
/// label.
void BodySplitter::restoreCrossed(const SwitchCase *Label) {
  std::string Text;
  for (const DeclStmt *S : CrossedByLabels)
    for (const Decl *D : S->decls())
      if (const auto *V = dyn_cast<VarDecl>(D))
        if (FrameVariable *Of = Plan.find(Where, V); Of && !writtenInit(V)) {
          if (Of->How == Keeping::Resident) // a reference has to be initialized
            return refuse(V->getLocation(), DiagId::split_declaration);
          if (Of->How == Keeping::Spilled)
            Text += initialized(V, *Of);
        }
  if (Text.empty())
    return;
  Position Colon = Where.position(Label->getColonLoc());
  if (Label->getColonLoc().isMacroID())
    return refuse(Label->getBeginLoc(), DiagId::split_macro);
  insert({Colon.File, Colon.Offset + 1}, Text);
}

/// `auto [a, b] = f();` by way of a variable that can be named.
std::string BodySplitter::decomposition(const DeclStmt *S, const DecompositionDecl *V,
                                        FrameVariable &Of) {
  Span Whole = Where.statement(S);
  const Expr *Init = V->getInit();
  Span Text = Init ? Where.span(Init->IgnoreUnlessSpelledInSource()->getSourceRange()) : Span{};
  if (!Whole.isValid() || !Text.isValid() || V->getInitStyle() != VarDecl::CInit) {
    refuse(V->getBeginLoc(), DiagId::split_declaration);
    return "";
  }
  return bindings(Whole, V, Of, onOneLine(render(Text)).value_or(""));
}

/// Of a declaration that begins with `auto [a, b]`, whatever initializes it.
std::string BodySplitter::bindings(const Span &Declared, const DecompositionDecl *V,
                                   FrameVariable &Of, const std::string &Value) {
  StringRef All = Declared.text();
  size_t Open = All.find('['), Close = All.find(']');
  QualType Example = Of.Example->getType();
  if (Close == StringRef::npos) {
    refuse(V->getBeginLoc(), DiagId::split_declaration);
    return "";
  }
  std::string Name = "gmpi_bound_" + std::to_string(Declared.Begin.line()) + "_" +
                     std::to_string(Declared.Begin.File->columnOf(Declared.Begin.Offset));
  std::string Type = All.take_front(Open).rtrim(" \t\n&").str();
  std::string Of1 = "decltype((" + Value + "))";
  std::string New, Names = Type + " &" + All.slice(Open, Close + 1).str() + " = " + Name + ";";
  Aliases[&Of] = Name;
  if (Of.How == Keeping::Resident || Example->isArrayType()) {
    std::string Kept =
        Of.How == Keeping::Dead ? "" : " else gmpi_frame.restore<" + slot(Of) + ">(" + Name + ");";
    std::string Plain = Name + "_t";
    New = "using " + Plain + " = ::gmpi::split::Plain<" + Of1 + ">; ";
    New += Of.How == Keeping::Resident
               ? Plain + " &" + Name + " = gmpi_frame.resident<" + Plain + ", " + slot(Of) + ">();"
               : Plain + " " + Name + ";";
    New += " if (!gmpi_re) ::gmpi::split::copy(" + Name + ", " + Value + ");" +
           (Of.How == Keeping::Resident ? "" : Kept);
    return New + " " + Names;
  }
  std::string Saved;
  bool Bound =
      Example->isReferenceType() && (Of.How == Keeping::Reference || Of.How == Keeping::Dead);
  if (Bound)
    Saved = Of.How == Keeping::Dead ? "::gmpi::split::nothing_reference<" + Of1 + ">()"
                                    : "gmpi_frame.saved_reference<" + Of1 + ", " + slot(Of) + ">()";
  else
    Saved = Of.How == Keeping::Dead ? "::gmpi::split::Nothing()" : savedValue(Of, Name);
  return Type + (Bound ? " &" : " ") + Name + " = gmpi_re ? " + Saved + " : (" + Value + "); " +
         Names;
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
              (Of->How == Keeping::Reference ? "_reference"
               : Of->Uniform                 ? "_uniform"
                                             : "") +
              "<" + Type + ", " + slot(*Of) + ">() : " + Passed + ";";
    Text += declareAlias(*Of);
  }
  return Text;
}

/// What is live across a suspension point goes to the frame.
std::string BodySplitter::saves(size_t Point) {
  std::string Text;
  const char *Singles = L.Split->anySingle() ? ", true" : ""; // not all of a block may be here
  bool Dynamic = false;
  for (auto &[Place, V] : Plan.Variables) {
    if (!V.inFrame() || !V.LiveAt[Point] || V.How == Keeping::Resident)
      continue;
    if (V.Dynamic) {
      std::string All = *Singles ? "<true>" : "";
      Text += Dynamic ? "" : "gmpi_frame.save_dynamic_shared" + All + "(); ";
      Dynamic = true;
      continue;
    }
    bool Shared = V.How == Keeping::Shared;
    std::string How = Shared                        ? "_shared"
                      : V.How == Keeping::Reference ? "_reference"
                      : V.Uniform                   ? "_uniform"
                                                    : "";
    Text +=
        "gmpi_frame.save" + How + "<" + slot(V) + (Shared ? Singles : "") + ">(" + alias(V) + "); ";
  }
  return Text + Extra[Point];
}

/// Before control goes on: what its block shares.
std::string BodySplitter::restoresShared(size_t Point) {
  std::string Text;
  bool Dynamic = false;
  for (auto &[Place, V] : Plan.Variables) {
    if (V.How != Keeping::Shared || !V.LiveAt[Point] || (V.Dynamic && Dynamic) ||
        F.Points[Point].Single)
      continue;
    Dynamic |= V.Dynamic;
    Text += V.Dynamic ? "gmpi_frame.restore_dynamic_shared(); "
                      : "gmpi_frame.restore_shared<" + slot(V) + ">(" + alias(V) + "); ";
  }
  std::string Alone = L.Split->anySingle() ? " && !gmpi_frame.alone()" : "";
  return Text.empty() ? "" : "if (gmpi_re" + Alone + ") { " + Text + "} ";
}

} // namespace gmpi::translate
