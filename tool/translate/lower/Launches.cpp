// Launches, and other uses of kernels' names in host code.
//
//   k<<<grid, block>>>(n)        becomes  k__launch(::gmpi::Launch(grid, block), n)
//   pointer<<<grid, block>>>(n)  becomes  ::gmpi::of(pointer)(::gmpi::Launch(grid, block))(n)
//
// The latter asks the registry; it also serves kernels whose body is in another file.
#include "../Precompiled.h"
#include "../model/KernelFunctions.h"
#include "Lowering.h"

namespace gmpi::translate {

using namespace clang;

namespace {

class LaunchLowering {
public:
  explicit LaunchLowering(Lowering &L) : L(L), P(L.Host), Where(P) {}

  void lower() {
    for (const LaunchSite &Launch : L.HostModel.Launches)
      lowerLaunch(Launch);
    for (const KernelApiCall &Call : L.HostModel.ApiCalls)
      lowerApiCall(Call);
    for (const KernelReference &Reference : L.HostModel.References)
      lowerReference(Reference);
    for (const LaunchSite &Launch : L.CodeModel.Launches)
      tellLaunchFromDevice(Launch);
  }

private:
  enum class Form { Leave, Generated, ByAddress };
  Form formOf(const LaunchSite &Launch) const;
  void lowerLaunch(const LaunchSite &Launch);
  void lowerByName(const LaunchSite &Launch, const Span &Open, const Span &Close);
  void lowerByAddress(const LaunchSite &Launch, const Span &Open, const Span &Close);
  bool checkAddress(const LaunchSite &Launch);
  void lowerApiCall(const KernelApiCall &Call);
  void lowerReference(const KernelReference &Reference);
  void tellLaunchFromDevice(const LaunchSite &Launch);

  bool anyWithMpi(const std::set<Position> &Kernels) const {
    return llvm::any_of(Kernels, [&](auto &Key) { return L.WithMpi.count(Key); });
  }
  /// All bodies are in this file and none calls MPI.
  bool allPlain(const std::set<Position> &Kernels) const {
    return !Kernels.empty() && llvm::all_of(Kernels, [&](auto &Key) {
      const Kernel *K = L.HostModel.find(Key);
      return K && K->Definition && !L.WithMpi.count(Key);
    });
  }
  bool allLaunchable(const std::set<Position> &Kernels) const {
    return llvm::all_of(Kernels, [&](auto &Key) { return L.Launchable.count(Key) != 0; });
  }
  std::string nameOf(const Position &Key) const {
    return L.HostModel.find(Key)->First->getNameAsString();
  }

  Lowering &L;
  const Pass &P;
  Locations Where;
};

LaunchLowering::Form LaunchLowering::formOf(const LaunchSite &Launch) const {
  bool OnHost =
      !Launch.Within || isHostCode(Launch.Within) || Launch.Within->hasAttr<CUDAHostAttr>();
  if (!OnHost || Where.inSystemHeader(Launch.Call->getBeginLoc()))
    return Form::Leave;
  if (Launch.Named && allLaunchable(Launch.Kernels))
    return Form::Generated;
  if (Launch.Named && allPlain(Launch.Kernels) && !L.isCpu())
    return Form::Leave;
  return Form::ByAddress;
}

void LaunchLowering::lowerLaunch(const LaunchSite &Launch) {
  Form How = formOf(Launch);
  if (How == Form::Leave)
    return;
  const CallExpr *Configuration = Launch.Call->getConfig();
  Span Open = Where.token(Configuration->getCallee()->getExprLoc());
  Span Close = Where.token(Configuration->getRParenLoc());
  bool InText = Open.isValid() && Close.isValid() && Open.text() == "<<<" && Close.text() == ">>>";
  // The arguments' opening parenthesis follows `>>>`.
  if (InText)
    Close.End = afterOpeningParenthesis(*Close.Begin.File, Close.End);
  if (!InText || Close.End == Close.Begin.File->Text.size()) {
    SourceLocation Loc = Configuration->getCallee()->getExprLoc();
    P.diagnostics().report(DiagId::launch_in_macro, Where.shown(Loc));
    auto [Macro, Body] = Where.macroOf(Loc);
    if (!Macro.empty())
      P.diagnostics().note(NoteId::macro_here, Body, {Macro});
    return;
  }
  if (How == Form::Generated)
    lowerByName(Launch, Open, Close);
  else
    lowerByAddress(Launch, Open, Close);
}

/// `::ns::k__launch` for a name that came by a using-declaration, which does not bring k__launch.
std::string qualifiedLaunchName(const DeclRefExpr *Reference, const std::string &Name) {
  std::string Qualified = "::" + Name;
  for (const DeclContext *C = Reference->getDecl()->getDeclContext(); C; C = C->getParent())
    if (auto *N = dyn_cast<NamespaceDecl>(C); N && !N->isAnonymousNamespace() && !N->isInline())
      Qualified = "::" + N->getNameAsString() + Qualified;
  return Qualified;
}

void LaunchLowering::lowerByName(const LaunchSite &Launch, const Span &Open, const Span &Close) {
  const Expr *Callee = Launch.Call->getCallee()->IgnoreParenImpCasts();
  Span Name = Where.token(nameLocation(Callee));
  if (!Name.isValid()) {
    P.diagnostics().report(DiagId::launch_in_macro, Where.shown(Callee->getExprLoc()));
    return;
  }
  std::string Launcher = L.Launchable.at(*Launch.Kernels.begin()).launch();
  auto *Reference = dyn_cast<DeclRefExpr>(Callee);
  if (Reference && Reference->getFoundDecl() != Reference->getDecl() &&
      isa<UsingShadowDecl>(Reference->getFoundDecl()))
    L.Changes.replace(Name, qualifiedLaunchName(Reference, Launcher));
  else
    L.Changes.insert({Name.Begin.File, Name.End}, "__launch");
  L.Changes.replace(Open, "(::gmpi::Launch(");
  bool AnyWritten = llvm::any_of(Launch.Call->arguments(), [](const Expr *Argument) {
    return !isa<CXXDefaultArgExpr>(Argument);
  });
  L.Changes.replace(Close, AnyWritten ? "), " : ")");
}

/// A pointer's type has no default arguments, and no template arguments to deduce.
bool LaunchLowering::checkAddress(const LaunchSite &Launch) {
  const Expr *Callee = Launch.Call->getCallee()->IgnoreParenImpCasts();
  auto *Reference = dyn_cast<DeclRefExpr>(Callee);
  auto *Lookup = dyn_cast<OverloadExpr>(Callee);
  for (const Expr *Argument : Launch.Call->arguments())
    if (isa<CXXDefaultArgExpr>(Argument)) {
      P.diagnostics().report(DiagId::launch_default_argument, Where.shown(Callee->getExprLoc()),
                             {Launch.Named ? nameOf(*Launch.Kernels.begin()) : "pointer"});
      return false;
    }
  if (!Launch.Named)
    return true;
  auto *Function = Reference ? dyn_cast<FunctionDecl>(Reference->getDecl()) : nullptr;
  bool Deduced = Function && Function->getPrimaryTemplate() &&
                 Reference->getNumTemplateArgs() <
                     Function->getPrimaryTemplate()->getTemplateParameters()->size();
  bool Unknown = Lookup && !Lookup->hasExplicitTemplateArgs();
  if (!Deduced && !Unknown)
    return true;
  P.diagnostics().report(DiagId::launch_needs_arguments, Where.shown(Callee->getExprLoc()),
                         {nameOf(*Launch.Kernels.begin())});
  return false;
}

void LaunchLowering::lowerByAddress(const LaunchSite &Launch, const Span &Open, const Span &Close) {
  if (!checkAddress(Launch))
    return;
  Span Callee = Where.span(Launch.Call->getCallee()->getSourceRange());
  if (!Callee.isValid()) {
    P.diagnostics().report(DiagId::launch_in_macro, Where.shown(Launch.Call->getBeginLoc()));
    return;
  }
  // Overloaded: the one that the arguments chose, by its type as Clang prints it.
  std::string Cast, EndOfCast;
  auto *Reference = dyn_cast<DeclRefExpr>(Launch.Call->getCallee()->IgnoreParenImpCasts());
  if (Reference && Reference->hadMultipleCandidates()) {
    Cast = "static_cast<" +
           P.context()
               .getPointerType(Reference->getType())
               .getAsString(P.context().getPrintingPolicy()) +
           ">(";
    EndOfCast = ")";
  }
  L.Changes.insert(Callee.Begin, "::gmpi::of(" + Cast);
  L.Changes.replace(Open, EndOfCast + ")(::gmpi::Launch(");
  L.Changes.replace(Close, "))(");
}

void LaunchLowering::lowerApiCall(const KernelApiCall &Call) {
  const KernelFunction &Api = *findKernelFunction(Call.Function);
  SourceLocation Loc = nameLocation(Call.Call->getCallee()->IgnoreParenImpCasts());
  if (Where.inSystemHeader(Loc) || Api.Argument >= Call.Call->getNumArgs() ||
      (Call.Within && !isHostCode(Call.Within) && !Call.Within->hasAttr<CUDAHostAttr>()))
    return;
  std::set<Position> Kernels;
  for (const KernelReference &Reference : L.HostModel.References)
    if (Reference.Argument == Call.Call)
      Kernels = Reference.Kernels;
  if (allPlain(Kernels) && !L.isCpu())
    return;
  if (Api.Launches) {
    SourceLocation Begin = Call.Call->getCallee()->IgnoreParenImpCasts()->getBeginLoc();
    Span Name = Where.span({Begin, Loc});
    if (!Name.isValid()) {
      P.diagnostics().report(DiagId::launch_in_macro, Where.shown(Loc));
      return;
    }
    L.Changes.replace(Name, "::gmpi::" + Call.Function);
    return;
  }
  // Asked of a kernel with MPI whose body is here: lowerReference names the translated one.
  if (anyWithMpi(Kernels) || (allPlain(Kernels)))
    return;
  Span Kernel = Where.span(Call.Call->getArg(Api.Argument)->getSourceRange());
  if (!Kernel.isValid())
    return;
  L.Changes.insert(Kernel.Begin, "::gmpi::implementation(");
  L.Changes.insert({Kernel.Begin.File, Kernel.End}, ")");
}

void LaunchLowering::lowerReference(const KernelReference &Reference) {
  if (!anyWithMpi(Reference.Kernels))
    return;
  const KernelFunction *Api = nullptr;
  if (Reference.Argument) {
    auto *Callee = Reference.Argument->getDirectCallee();
    Api = Callee ? findKernelFunction(Callee->getName()) : nullptr;
  }
  Position Key = *Reference.Kernels.begin();
  const KernelNames &Names = L.Launchable.at(Key);
  auto *Name = dyn_cast<DeclRefExpr>(Reference.Name);
  bool IsTemplate = L.HostModel.find(Key)->First->getDescribedFunctionTemplate() != nullptr;
  SourceLocation NameLoc = nameLocation(Reference.Name);
  Span Token = Where.token(NameLoc);
  if (!Token.isValid()) {
    P.diagnostics().report(DiagId::code_in_macro, Where.shown(NameLoc),
                           {"the name of kernel '" + Names.Kernel + "'"});
    return;
  }
  if (Api && !Api->Launches) {
    L.Changes.insert({Token.Begin.File, Token.End}, "__queue");
    return;
  }
  if (!IsTemplate)
    return;
  if (Reference.InTemplateArgument) {
    P.diagnostics().report(DiagId::kernel_template_argument, Where.shown(NameLoc), {Names.Kernel});
    return;
  }
  bool Explicit = Name ? Name->hasExplicitTemplateArgs()
                       : cast<OverloadExpr>(Reference.Name)->hasExplicitTemplateArgs();
  if (!Explicit) {
    P.diagnostics().report(DiagId::kernel_address, Where.shown(NameLoc), {Names.Kernel});
    return;
  }
  if (Reference.AddressOf)
    L.Changes.remove(Where.token(Reference.Whole.getBegin()));
  L.Changes.insert({Token.Begin.File, Token.End}, "__pointer");
  Span Whole = Where.span(Reference.Name->getSourceRange());
  L.Changes.insert({Whole.Begin.File, Whole.End}, "()");
}

void LaunchLowering::tellLaunchFromDevice(const LaunchSite &Launch) {
  if (!Launch.Within || !isDeviceCode(Launch.Within) || Launch.Within->hasAttr<CUDAHostAttr>() ||
      !anyWithMpi(Launch.Kernels))
    return;
  L.Code.diagnostics().report(DiagId::launch_in_device_code,
                              Locations(L.Code).shown(Launch.Call->getBeginLoc()),
                              {nameOf(*Launch.Kernels.begin())});
}

} // namespace

void lowerLaunches(Lowering &L) { LaunchLowering(L).lower(); }

} // namespace gmpi::translate
