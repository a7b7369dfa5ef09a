// Composes split versions from signatures and bodies.
#include "Split.h"
#include "../../Precompiled.h"
#include "../../analyze/SpecialFunctions.h"
#include "../../emit/LineDirective.h"
#include "../SharedVariables.h"
#include "Body.h"

namespace gmpi::translate {

using namespace clang;
using llvm::StringRef;

namespace {

/// Whether calls in it suspend, in any version.
bool suspends(const ScopedFunction &F) {
  return llvm::any_of(F.Specialisations,
                      [](const Specialisation &S) { return llvm::any_of(S.Calls, suspendsFor); });
}

} // namespace

SplitLowering::SplitLowering(Lowering &L) : L(L), Singles(L.Code, L.Scopes) {}

void SplitLowering::lower() {
  L.Split = this;
  do
    makeAll();
  while (giveUpSingles());
  for (const Refused &R : Refusals) {
    L.refuseSplit(R.Loc, R.Id, R.Arguments);
    if (R.CallInLambda.isValid())
      L.Code.diagnostics().note(NoteId::call_in_lambda, R.CallInLambda);
  }
  for (auto &[F, V] : Versions)
    if (!F->Kernel && V.good())
      if (auto S = readSignature(L.Code, F->Written))
        insertDeviceFunction(V, *S);
}

void SplitLowering::makeAll() {
  Versions.clear();
  Refusals.clear();
  AnySingle = Singles.any();
  Functions.emplace(L.Code, L.Scopes, Singles);
  if (!allCanSuspend())
    return;
  for (const ScopedFunction &F : L.Scopes.Functions) {
    if (!F.Kernel)
      continue;
    const SplitFunction *Split = Functions->of(F.Function, 0);
    if (Split && !Split->Instances.empty())
      make(*Split);
  }
}

/// A kernel that cannot be split may be better off without those suspensions that the queue can
/// stand in for. True if there were any.
bool SplitLowering::giveUpSingles() {
  bool Any = false;
  for (const ScopedFunction &F : L.Scopes.Functions) {
    if (!F.Kernel || find(F.Function))
      continue;
    std::string Kernel = "'" + F.Function->getNameAsString() + "'";
    for (auto [Of, Version] : reachable(F, 0))
      Any |= Singles.giveUp(Of->Function, Version, "kernel " + Kernel + " cannot be split there");
  }
  return Any;
}

/// That version of a function, and those of all that it calls.
std::set<SplitLowering::VersionOf> SplitLowering::reachable(const ScopedFunction &F,
                                                            unsigned Version) const {
  std::set<VersionOf> Found;
  llvm::SmallVector<VersionOf> Next = {{&F, Version}};
  while (!Next.empty()) {
    VersionOf Its = Next.pop_back_val();
    if (!Found.insert(Its).second)
      continue;
    for (const CalleeUse &Use : Its.first->Specialisations[Its.second].Callees)
      if (const ScopedFunction *Callee = L.Scopes.find(Use.Callee))
        Next.push_back({Callee, Use.Specialisation});
  }
  return Found;
}

void SplitLowering::refuse(SourceLocation Loc, DiagId Id, std::vector<std::string> Arguments) {
  Refusals.push_back({Loc, Id, std::move(Arguments)});
}

/// Operators, conversions, constructors and virtual functions are called where no call is written:
/// one that makes calls for the whole grid keeps every kernel of the file from being split.
bool SplitLowering::allCanSuspend() {
  bool Good = true;
  for (const ScopedFunction &F : L.Scopes.Functions) {
    if (F.Kernel || isLambda(F.Function))
      continue;
    if (!calledWithoutName(F.Function).empty() && suspends(F)) {
      Good = false;
      refuse(Locations(L.Code).shown(F.Function->getLocation()), DiagId::split_function,
             {F.Function->getNameAsString()});
    }
  }
  return Good;
}

void SplitLowering::refuseLambdas(const FunctionDecl *Of, llvm::ArrayRef<CallInLambda> Calls) {
  Locations Where(L.Code);
  for (const CallInLambda &Each : Calls) {
    refuse(Where.shown(Each.Lambda), DiagId::split_lambda, {Of->getNameAsString()});
    Refusals.back().CallInLambda = Where.shown(Each.Call);
  }
}

const SplitVersion *SplitLowering::find(const FunctionDecl *Kernel) const {
  for (auto &[F, V] : Versions)
    if (F->Kernel && F->Written == asWritten(Kernel))
      return V.good() ? &V : nullptr;
  return nullptr;
}

SplitVersion &SplitLowering::make(const SplitFunction &F) {
  auto [Slot, New] = Versions.try_emplace(&F);
  SplitVersion &V = Slot->second;
  if (!New)
    return V;
  V.Function = &F;
  auto Refuse = [&](SourceLocation Loc, DiagId Id, std::vector<std::string> Arguments) {
    Arguments.insert(Arguments.begin(), F.Written->getNameAsString());
    refuse(Loc, Id, std::move(Arguments));
  };
  std::vector<const SplitVersion *> Callees;
  bool Good = true;
  for (const SuspensionPoint &Point : F.Points)
    if (Point.Callee) {
      const SplitVersion &Callee = make(*Point.Callee);
      Good &= Callee.good();
      V.DynamicShared |= Callee.DynamicShared;
      if (!llvm::is_contained(Callees, &Callee))
        Callees.push_back(&Callee);
    }
  if (!F.Kernel && !canBeMethod(F.Written))
    return V;
  if (F.Recursive) {
    Refuse(Locations(L.Code).shown(F.Written->getLocation()), DiagId::split_recursion, {});
    return V;
  }
  refuseLambdas(F.Written, F.InLambdas);
  for (SourceLocation Loc : F.Elsewhere)
    Refuse(Locations(L.Code).shown(Loc), DiagId::split_expression, {});
  if (F.Points.empty())
    return V;
  auto S = readSignature(L.Code, F.Written);
  auto Plan = planFrame(L.Code, L.Scopes, F, Refuse);
  for (SourceLocation Loc : F.OtherBarriers)
    Refuse(Locations(L.Code).shown(Loc), DiagId::split_barrier, {});
  for (SourceLocation Loc : F.Repeated)
    Refuse(Locations(L.Code).shown(Loc), DiagId::split_macro, {});
  if (!S || !Plan || !Good || !F.InLambdas.empty() || !F.Elsewhere.empty() ||
      !F.OtherBarriers.empty() || !F.Repeated.empty() || !checkSharedArguments(F, *Plan, Refuse))
    return V;
  V.Plan = std::move(*Plan);
  Edits Own;
  Position Brace{S->Body.File, S->Body.Offset + 1};
  if (F.Kernel)
    Own.insert(Brace, prologue(F, V.Plan));
  std::vector<Replacement> Calls;
  for (auto &[What, Text] : callEdits(L, F))
    Calls.push_back({What, Text});
  BodySplitter Splitter(L, F, V.Plan, std::move(Calls), Refuse);
  if (!Splitter.split(Own, Brace, {S->Body.File, S->Whole.End - 1}))
    return V;
  // Each function that it calls has a part of its own: threads may be in different ones.
  V.Total = V.Plan.Own;
  std::string Parts;
  for (const SplitVersion *Callee : Callees) {
    const FunctionDecl *Written = Callee->Function->Written;
    std::string Name =
        frameName(*Callee->Function, Locations(L.Code).position(Written->getLocation()).line());
    Parts += " constexpr unsigned " + Name + "_uniform = " + std::to_string(V.Total.Uniform) +
             ", " + Name + "_block = " + std::to_string(V.Total.Block) + ", " + Name +
             "_thread = " + std::to_string(V.Total.Thread) + ";";
    V.Total.add(Callee->Total);
  }
  Own.insert(Brace, Parts);
  V.DynamicShared |= V.Plan.DynamicShared;
  V.Text = F.Kernel ? kernelText(V, Own, *S) : functionText(V, Own, *S);
  return V;
}

/// A function that keeps a parameter must not be given an address that means nothing later.
bool SplitLowering::checkSharedArguments(const SplitFunction &F, const FramePlan &Plan,
                                         BodySplitter::Refusal Refuse) {
  Locations Where(L.Code);
  for (auto [Point, Argument] : Plan.SharedArguments) {
    const SplitFunction &Callee = *F.Points[Point].Callee;
    if (Argument >= Callee.Written->getNumParams())
      continue;
    const ParmVarDecl *Parameter = Callee.Written->getParamDecl(Argument);
    const FrameVariable *Kept = Versions.at(&Callee).Plan.find(Where, Parameter);
    if (!Kept || !Kept->inFrame())
      continue;
    Refuse(Where.shown(F.Points[Point].Call->getExprLoc()), DiagId::split_shared_pointer,
           {Parameter->getNameAsString()});
    return false;
  }
  return true;
}

/// Whether anything but what suspends talks to the proxy.
bool SplitLowering::usesQueue(const ScopedFunction &F, unsigned Version) const {
  return llvm::any_of(reachable(F, Version), [&](const VersionOf &Its) {
    auto TalksToIt = [&](const ScopedCall &Call) {
      return Call.Local ||
             (Call.Value != Scope::Grid && !Singles.isCut(Its.first->Function, Its.second, Call));
    };
    return llvm::any_of(Its.first->Specialisations[Its.second].Calls, TalksToIt);
  });
}

std::string SplitLowering::prologue(const SplitFunction &F, const FramePlan &Plan) const {
  std::string Text = " ::gmpi::Frame gmpi_frame(gmpi_segment);";
  if (usesQueue(*F.Scoped, F.Version))
    Text += " ::gmpi::Participant gmpi_participant(gmpi_segment.launched());";
  Text += " bool gmpi_re = gmpi_resume != 0;";
  if (Plan.Exits)
    Text += F.Single ? " if (gmpi_frame.absent()) return;" : " if (gmpi_frame.gone()) return;";
  return Text;
}

bool SplitLowering::canBeMethod(const FunctionDecl *F) {
  auto *Method = dyn_cast<CXXMethodDecl>(F);
  // A template in a class template, or in another class in one: no list of all there is of it.
  bool Nested =
      Method && Method->getParent()->isDependentContext() &&
      (F->getDescribedFunctionTemplate() || !Method->getParent()->getDescribedClassTemplate());
  auto IsFriend = [](const Decl *D) { return D->getFriendObjectKind() != Decl::FOK_None; };
  const FunctionTemplateDecl *Template = F->getDescribedFunctionTemplate();
  bool Friend = llvm::any_of(F->redecls(), IsFriend) ||
                (Template && llvm::any_of(Template->redecls(), IsFriend));
  if (cannotBeCopied(F).empty() && !Nested && !Friend && !isLambda(F) &&
      !F->getReturnType()->isRValueReferenceType())
    return true;
  refuse(Locations(L.Code).shown(F->getLocation()), DiagId::split_function, {F->getNameAsString()});
  return false;
}

std::string SplitLowering::kernelText(const SplitVersion &V, Edits &Own, const Signature &S) const {
  Own.insert({S.Name.Begin.File, S.Name.End}, "__segment");
  Span Parameters{{S.Name.Begin.File, S.OpenParen.Offset + 1}, S.CloseParen.Offset};
  if (S.Parameters.empty())
    Own.replace(Parameters, "::gmpi::Segment gmpi_segment");
  else
    Own.insert(Parameters.Begin, "::gmpi::Segment gmpi_segment, ");
  for (const Span &Default : S.DefaultArguments)
    Own.remove(Default);
  std::string Head = "template <int gmpi_resume";
  if (!S.TemplateHead.empty())
    Head += ", " + StringRef(S.TemplateHead).split('<').second.ltrim().str() + " ";
  else
    Head += "> ";
  const FunctionDecl *F = V.Function->Written;
  Position Begin = S.Head;
  bool InC = F->isInExternCContext();
  if (InC && !isa<LinkageSpecDecl>(F->getLexicalDeclContext())) // `extern "C"` without braces
    InC = false;
  if (auto *Linkage = dyn_cast<LinkageSpecDecl>(F->getLexicalDeclContext());
      Linkage && !Linkage->hasBraces()) {
    size_t Quote = StringRef(Begin.File->Text).find("\"C\"", Begin.Offset);
    Begin.Offset = unsigned(Quote) + 3;
    InC = false;
  }
  Head.append(Span{S.Whole.Begin, S.Head.Offset}.text().count('\n'), '\n');
  std::string Text = Head + Own.apply({Begin, S.Whole.End});
  return InC ? "extern \"C++\" { " + Text + " }" : Text;
}

std::string SplitLowering::functionText(const SplitVersion &V, Edits &Own,
                                        const Signature &S) const {
  const FunctionDecl *F = V.Function->Written;
  bool Void = F->getReturnType()->isVoidType();
  std::string Head = "template <int gmpi_resume";
  if (!S.TemplateHead.empty()) {
    StringRef Inner = StringRef(S.TemplateHead).split('<').second.rtrim();
    Head += ", " + Inner.drop_back().trim().str(); // without its `>`
  }
  Head += Void ? "> " : ", class gmpi_Result> ";
  auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (Method && Method->isStatic())
    Head += "static ";
  Head += "__device__ inline bool " + splitName(*V.Function) +
          "(::gmpi::Frame gmpi_frame, bool &gmpi_re" + (Void ? "" : ", gmpi_Result &gmpi_result");
  Span Parameters{{S.Name.Begin.File, S.OpenParen.Offset + 1}, S.CloseParen.Offset};
  if (!S.Parameters.empty())
    Head += ", " + Own.apply(Parameters);
  bool Const = Method && Method->isConst();
  return Head + (Const ? ") const " : ") ") + Own.apply({S.Body, S.Whole.End});
}

void SplitLowering::insertDeviceFunction(const SplitVersion &V, const Signature &S) {
  const SourceFile &File = *S.Name.Begin.File;
  insertLinesAfter(L, {&File, S.Whole.End},
                   lineDirective(File, S.Whole.Begin.line()) + V.Text + "\n");
  for (const FunctionDecl *Earlier : V.Function->Written->redecls()) {
    if (Earlier == V.Function->Written || Earlier->isThisDeclarationADefinition() ||
        Locations(L.Code).inSystemHeader(Earlier->getLocation()))
      continue;
    if (auto Declared = readSignature(L.Code, Earlier)) {
      auto Head = StringRef(V.Text).substr(0, V.Text.find('{')).rtrim();
      insertLinesAfter(L, {Declared->Name.Begin.File, Declared->Whole.End},
                       onOneLine(Head).value_or("") + ";\n");
    }
  }
}

} // namespace gmpi::translate
