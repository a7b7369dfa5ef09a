// What a kernel becomes.
//
//   __global__ void k(int n) { ... }
//
// turns into
//
//   __global__ void GMPI_KERNEL_REGISTERS k__queue(::gmpi::Launched gmpi_launched, int n) {
//   ::gmpi::Participant ...; ... } static constexpr ::gmpi::KernelInfo k__info{...};
//   __global__ void k(int n) { ::gmpi::raw_launch({"k", ...}, n); }
//   static inline void k__launch(const ::gmpi::Launch &gmpi_launch, int n) {
//   gmpi_launch.queue(...); } static const ::gmpi::Kernel k__kernel{k, k__queue, k__info};
//
// The name k thus still means a kernel of the user's type: taking its address, overloading and
// declaring it work as before; only what runs is k__queue. Templates have a k__pointer that
// registers an instantiation when its address is taken.
#include "../Precompiled.h"
#include "../emit/LineDirective.h"
#include "Lowering.h"
#include "split/Split.h"
#include "clang/Lex/Preprocessor.h"
#include "llvm/ADT/StringExtras.h"

namespace gmpi::translate {

using namespace clang;

namespace {

class KernelLowering {
public:
  KernelLowering(Lowering &L, const Kernel &K, const ScopedFunction *Scoped)
      : L(L), P(L.Code), Where(P), K(K), Scoped(Scoped), Names(L.Launchable.at(K.Key)),
        Segments(Scoped && L.Split ? L.Split->find(K.Definition) : nullptr) {}

  void lower();

private:
  bool withMpi() const { return Scoped != nullptr; }
  bool withQueue() const { return withMpi() && (L.Settings.Queue || !Segments); }
  bool canBeRewritten();
  bool namesAreFree();
  void rewriteInPlace();
  bool hasFewRegisters() const;
  bool isLaunchedBeforeDefinition() const;
  void declareLaunchEarly();
  void addInheritedDefaults();

  std::string info();
  std::string infoObject();
  std::string stub();
  std::string launchHead(const Signature &From, bool WithDefaults) const;
  std::string launchFunction();
  std::string pointerFunction();
  std::string kernelObject();
  std::string splitFunction();
  std::string queueAndSplit(const std::string &Queue, const std::string &SplitArguments) const;
  std::string castTo(const std::string &Types, const std::string &Name, bool Queue) const;

  void refuse(DiagId Id) {
    P.diagnostics().report(Id, Where.shown(K.Definition->getLocation()), {Names.Kernel});
  }

  Lowering &L;
  const Pass &P;
  Locations Where;
  const Kernel &K;
  const ScopedFunction *Scoped;
  const KernelNames &Names;
  const SplitVersion *Segments; ///< null: the kernel is not split
  Signature S;
};

/// A multiprocessor has 65536 registers, and a thread may have 128 where 512 are to find room.
bool KernelLowering::hasFewRegisters() const {
  const auto *Bounds = K.Definition->getAttr<CUDALaunchBoundsAttr>();
  if (!Bounds)
    return false;
  std::uint64_t Threads = 1;
  for (const Expr *Bound : {Bounds->getMaxThreads(), Bounds->getMinBlocks()}) {
    if (!Bound)
      continue;
    Expr::EvalResult Value;
    if (Bound->isValueDependent() || !Bound->EvaluateAsInt(Value, P.context()))
      return true;
    Threads *= Value.Val.getInt().getLimitedValue(65536);
  }
  return Threads > 512;
}

void KernelLowering::lower() {
  if (!canBeRewritten())
    return;
  auto Read = readSignature(P, K.Definition);
  if (!Read || !namesAreFree())
    return;
  S = std::move(*Read);
  if (isLaunchedBeforeDefinition())
    declareLaunchEarly();
  else
    addInheritedDefaults();
  std::string Lines;
  if (Segments && withQueue())
    Lines = lineDirective(*S.Name.Begin.File, S.Whole.Begin.line()) + Segments->Text + "\n";
  Lines += infoObject();
  if (withQueue())
    rewriteInPlace();
  else if (withMpi()) {
    L.Changes.replace({S.Whole.Begin, S.Whole.End}, Segments->Text);
    L.Whole.push_back({S.Whole.Begin, S.Whole.End});
  }
  if (withMpi()) {
    Lines += stub();
    L.HasFewRegisters |= hasFewRegisters();
  }
  if (Segments)
    Lines += splitFunction();
  Lines += launchFunction();
  Lines += S.TemplateHead.empty() ? kernelObject() : pointerFunction();
  insertLinesAfter(L, {S.Name.Begin.File, S.Whole.End}, Lines);
}

bool KernelLowering::canBeRewritten() {
  const FunctionDecl *F = K.Definition;
  if (isa<CXXRecordDecl>(F->getDeclContext())) {
    refuse(DiagId::kernel_is_member);
    return false;
  }
  if (K.Specialized || F->getTemplateSpecializationKind() == TSK_ExplicitSpecialization) {
    refuse(DiagId::kernel_specialization);
    return false;
  }
  if (const FunctionTemplateDecl *Template = F->getDescribedFunctionTemplate())
    for (const NamedDecl *Parameter : *Template->getTemplateParameters())
      if (Parameter->isImplicit()) { // made by `auto`
        refuse(DiagId::kernel_auto_parameter);
        return false;
      }
  if (!Where.inSystemHeader(F->getLocation()))
    return true;
  P.diagnostics().report(DiagId::system_header, Where.shown(F->getLocation()), {Names.Kernel});
  return false;
}

bool KernelLowering::namesAreFree() {
  const IdentifierTable &Known = P.preprocessor().getIdentifierTable();
  for (const std::string &Name : {Names.queue(), Names.launch(), Names.info(), Names.object()})
    if (Known.find(Name) != Known.end()) {
      P.diagnostics().report(DiagId::name_taken, Where.shown(K.Definition->getLocation()), {Name});
      return false;
    }
  return true;
}

void KernelLowering::rewriteInPlace() {
  // (A name that is a macro's argument stays one word: it may be pasted.)
  if (!K.Definition->hasAttr<CUDALaunchBoundsAttr>() && !K.Definition->getLocation().isMacroID())
    L.Changes.insert(S.Name.Begin, "GMPI_KERNEL_REGISTERS ");
  L.Changes.insert({S.Name.Begin.File, S.Name.End}, "__queue");
  Span Parameters{{S.Name.Begin.File, S.OpenParen.Offset + 1}, S.CloseParen.Offset};
  if (S.Parameters.empty()) // `()` or `(void)`
    L.Changes.replace(Parameters, "::gmpi::Launched gmpi_launched");
  else
    L.Changes.insert(Parameters.Begin, "::gmpi::Launched gmpi_launched, ");
  for (const Span &Default : S.DefaultArguments)
    L.Changes.remove(Default);
  L.Changes.insert({S.Body.File, S.Body.Offset + 1},
                   " ::gmpi::Participant gmpi_participant(gmpi_launched);");
}

bool KernelLowering::isLaunchedBeforeDefinition() const {
  if (K.First == K.Definition)
    return false;
  for (const Model *Each : {&L.CodeModel, &L.HostModel})
    for (const LaunchSite &Launch : Each->Launches)
      if (Launch.Kernels.count(K.Key)) {
        const SourceManager &Sources = (Each == &L.CodeModel ? L.Code : L.Host).sources();
        const Kernel *Same = Each->find(K.Key);
        if (Same && Same->Definition &&
            Sources.isBeforeInTranslationUnit(Launch.Call->getBeginLoc(),
                                              Same->Definition->getEndLoc()))
          return true;
      }
  return false;
}

void KernelLowering::declareLaunchEarly() {
  if (K.First->getLexicalDeclContext()->isFunctionOrMethod())
    return;
  auto First = readSignature(P, K.First);
  if (First)
    insertLinesAfter(L, {First->Name.Begin.File, First->Whole.End},
                     launchHead(*First, /*WithDefaults=*/true) + ";\n");
}

/// A default argument may stand on an earlier declaration only.
void KernelLowering::addInheritedDefaults() {
  for (const FunctionDecl *Earlier : K.Definition->redecls()) {
    if (Earlier == K.Definition || Where.inSystemHeader(Earlier->getLocation()))
      continue;
    auto Read = readSignature(P, Earlier);
    if (!Read)
      continue;
    for (size_t I = 0; I < S.Parameters.size() && I < Read->Parameters.size(); ++I)
      if (S.Parameters[I].Default.empty())
        S.Parameters[I].Default = Read->Parameters[I].Default;
  }
}

std::string KernelLowering::info() {
  std::string Scope = Scoped && Scoped->Widest ? spelling(*Scoped->Widest).str() : "thread";
  return "{\"" + Names.Kernel + "\", " + L.Numbers.text(*S.Name.Begin.File) + ", " +
         std::to_string(S.Name.Begin.line()) + ", ::gmpi::Scope::" + Scope + "}";
}

std::string KernelLowering::infoObject() {
  return "static constexpr ::gmpi::KernelInfo " + Names.info() + info() + ";\n";
}

/// The info is spelled out again: device code cannot refer to a host object. The arguments are
/// there so that no compiler calls the parameters unused.
std::string KernelLowering::stub() {
  std::string Arguments = S.namedArguments();
  return S.declaration() + " { ::gmpi::raw_launch(" + info() +
         (Arguments.empty() ? "" : ", " + Arguments) + "); }\n";
}

std::string KernelLowering::launchHead(const Signature &From, bool WithDefaults) const {
  std::string Parameters = From.parameters(WithDefaults);
  return From.TemplateHead + (From.TemplateHead.empty() ? "" : " ") + "static inline void " +
         Names.launch() + "(const ::gmpi::Launch &gmpi_launch" +
         (Parameters.empty() ? "" : ", " + Parameters) + ")";
}

std::string KernelLowering::castTo(const std::string &Types, const std::string &Name,
                                   bool Queue) const {
  std::string First = Queue ? (Types.empty() ? "::gmpi::Launched" : "::gmpi::Launched, ") : "";
  return "static_cast<void (*)(" + First + Types + ")>(" + Name + S.templateArguments() + ")";
}

std::string KernelLowering::launchFunction() {
  std::string Types = S.parameterTypes(), Arguments = S.arguments();
  std::string Rest = Arguments.empty() ? "" : ", " + Arguments;
  std::string Call =
      withMpi() ? (Segments ? "gmpi_launch.split(" : "gmpi_launch.queue(") +
                      castTo(Types, Names.Kernel, false) + ", " +
                      queueAndSplit(castTo(Types, Names.queue(), true), S.templateArguments()) +
                      ", " + Names.info() + Rest
                : "gmpi_launch(" + castTo(Types, Names.Kernel, false) + Rest;
  return launchHead(S, /*WithDefaults=*/true) + " { " + Call + "); }\n";
}

std::string KernelLowering::pointerFunction() {
  std::string Queue = withMpi() ? ", " + queueAndSplit("&" + Names.queue() + S.templateArguments(),
                                                       S.templateArguments())
                                : "";
  return S.TemplateHead + " static inline auto " + Names.pointer() +
         "() { static const ::gmpi::Kernel gmpi_kernel(&" + Names.Kernel + S.templateArguments() +
         Queue + ", " + Names.info() + "); return &" + Names.Kernel + S.templateArguments() +
         "; }\n";
}

std::string KernelLowering::kernelObject() {
  bool Overloaded = !Names.Suffix.empty();
  std::string Types = S.parameters(/*WithDefaults=*/false);
  auto Name = [&](const std::string &Kernel, bool Queue) {
    return Overloaded ? castTo(Types, Kernel, Queue) : Kernel;
  };
  return "static const ::gmpi::Kernel " + Names.object() + "{" + Name(Names.Kernel, false) +
         (withMpi() ? ", " + queueAndSplit(Name(Names.queue(), true), "") : "") + ", " +
         Names.info() + "};\n";
}

/// The kernels that run in the user's place.
std::string KernelLowering::queueAndSplit(const std::string &Queue,
                                          const std::string &SplitArguments) const {
  if (!Segments)
    return Queue;
  return (withQueue() ? Queue : "nullptr") + ", " + Names.split() + SplitArguments;
}

/// `static inline ::gmpi::SplitKernel k__split() { ... }`: what saves how much, and the segments.
std::string KernelLowering::splitFunction() {
  std::string Parameters = S.parameters(/*WithDefaults=*/false);
  std::string Type = "static_cast<void (*)(::gmpi::Segment" +
                     (Parameters.empty() ? "" : ", " + Parameters) + ")>(";
  std::string Arguments = llvm::join(S.TemplateArguments, ", "), List;
  bool Overloaded = !Names.Suffix.empty();
  for (unsigned I = 0; I <= Segments->Function->resumePoints(); ++I)
    List += (I ? ", " : "") + (Overloaded ? Type : "") + Names.Kernel + "__segment<" +
            std::to_string(I) + (Arguments.empty() ? "" : ", " + Arguments) +
            (Overloaded ? ">)" : ">");
  const FrameSize &Size = Segments->Total;
  auto Bool = [](bool B) { return B ? "true" : "false"; };
  return S.TemplateHead + (S.TemplateHead.empty() ? "" : " ") +
         "static inline ::gmpi::SplitKernel " + Names.split() +
         "() { return ::gmpi::split_kernel({" + std::to_string(Size.Uniform) + ", " +
         std::to_string(Size.Block) + ", " + std::to_string(Size.Thread) + ", " +
         Bool(Segments->Plan.Exits) + ", " + Bool(Segments->DynamicShared) + "}, " + List +
         "); }\n";
}

/// Whether the kernel's name alone may mean something else, too.
bool isOverloaded(const Kernel &K) {
  std::set<const Decl *> Meanings;
  for (const NamedDecl *D :
       K.Definition->getDeclContext()->getRedeclContext()->lookup(K.Definition->getDeclName()))
    Meanings.insert(D->getUnderlyingDecl()->getCanonicalDecl());
  return Meanings.size() > 1;
}

/// The kernels that get a __launch: those with MPI and their overloads, for the cpu device all.
void chooseKernels(Lowering &L) {
  auto Name = [](const Kernel &K) { return K.Definition->getNameAsString(); };
  auto Scope = [](const Kernel &K) {
    return K.Definition->getDeclContext()->getRedeclContext()->getPrimaryContext();
  };
  std::map<std::pair<const DeclContext *, std::string>, std::vector<const Kernel *>> Overloads;
  for (auto &[Key, K] : L.CodeModel.Kernels)
    if (K.Definition && !Key.File->System)
      Overloads[{Scope(K), Name(K)}].push_back(&K);
  for (auto &[Unused, Set] : Overloads) {
    bool AnyMpi = false;
    for (const Kernel *K : Set)
      if (L.Scopes.find(K->Definition)) {
        L.WithMpi.insert(K->Key);
        AnyMpi = true;
      }
    if (!AnyMpi && !L.isCpu())
      continue;
    for (const Kernel *K : Set) {
      Position At = Locations(L.Code).position(K->Definition->getLocation());
      L.Launchable[K->Key] = {Name(*K), isOverloaded(*K) ? "_" + std::to_string(At.line()) : ""};
    }
  }
}

/// The other pass must know the same kernel at the same place.
void checkOtherPass(Lowering &L, const Kernel &K) {
  const Model &Other = &L.CodeModel == &L.HostModel ? L.CodeModel : L.HostModel;
  const Kernel *Same = Other.find(K.Key);
  if (!Same || !Same->Definition ||
      Same->Definition->getNumParams() != K.Definition->getNumParams())
    L.Code.diagnostics().report(DiagId::passes_disagree, K.Definition->getLocation(),
                                {"kernel '" + K.Definition->getNameAsString() + "'"});
}

} // namespace

void lowerKernels(Lowering &L) {
  chooseKernels(L);
  for (auto &[Key, Names] : L.Launchable) {
    const Kernel &K = *L.CodeModel.find(Key);
    checkOtherPass(L, K);
    KernelLowering(L, K, L.Scopes.find(K.Definition)).lower();
  }
}

} // namespace gmpi::translate
