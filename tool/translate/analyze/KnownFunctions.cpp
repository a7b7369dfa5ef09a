#include "KnownFunctions.h"
#include "Lattice.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/StringSwitch.h"

namespace gmpi::translate {

using llvm::StringRef;

std::optional<BuiltinVariable> builtinVariable(const clang::NamedDecl *Declaration) {
  if (!Declaration->getIdentifier())
    return std::nullopt;
  return llvm::StringSwitch<std::optional<BuiltinVariable>>(Declaration->getName())
      .Case("threadIdx", BuiltinVariable::ThreadIdx)
      .Case("blockIdx", BuiltinVariable::BlockIdx)
      .Case("blockDim", BuiltinVariable::BlockDim)
      .Case("gridDim", BuiltinVariable::GridDim)
      .Case("warpSize", BuiltinVariable::WarpSize)
      .Default(std::nullopt);
}

namespace {

bool isIn(const clang::Decl *Declaration, StringRef Namespace) {
  for (const auto *Context = Declaration->getDeclContext(); Context; Context = Context->getParent())
    if (const auto *N = llvm::dyn_cast<clang::NamespaceDecl>(Context))
      if (N->getIdentifier() && N->getName() == Namespace)
        return true;
  return false;
}

StringRef nameOf(const clang::FunctionDecl *Function) {
  return Function->getIdentifier() ? Function->getName() : StringRef();
}

/// Groups other than the grid and the block (tiles, coalesced threads, clusters) are smaller than a
/// block, or a scope that MPI calls do not have: all of theirs differs from thread to thread.
KnownFunction classifyGroupFunction(StringRef Name, StringRef Group) {
  bool Grid = Group == "grid_group", Block = Group == "thread_block";
  if (Name == "sync" || Name == "barrier_wait" || Name == "barrier_sync")
    return {Grid ? Effect::GridMeets : Block ? Effect::BlockMeets : Effect::Nothing};
  if (Name == "this_grid" || Name == "this_thread_block" || Name == "this_cluster" ||
      Name == "this_multi_grid")
    return {Effect::Uniform};
  if (!Grid && !Block)
    return {Effect::Varies};
  return llvm::StringSwitch<KnownFunction>(Name)
      .Case("thread_rank", {Effect::Rank, Grid ? AllThread | AllBlock : AllThread + 0u})
      .Case("block_rank", {Effect::Rank, AllBlock})
      .Cases({"block_index", "group_index"}, {Effect::VariesByBlock})
      .Case("thread_index", {Effect::Varies})
      .Cases({"size", "num_threads", "num_blocks", "group_dim", "dim_blocks", "dim_threads"},
             {Effect::Uniform})
      .Cases({"is_valid", "get_type", "num_clusters", "dim_clusters"}, {Effect::Uniform})
      .Default({Effect::Varies});
}

StringRef recordName(clang::QualType Type) {
  if (Type.isNull())
    return "";
  Type = Type.getNonReferenceType();
  if (Type->isPointerType())
    Type = Type->getPointeeType();
  const auto *Record = Type->getAsCXXRecordDecl();
  return Record && Record->getIdentifier() ? Record->getName() : StringRef();
}

bool startsWithAny(StringRef Name, std::initializer_list<StringRef> Prefixes) {
  return llvm::any_of(Prefixes, [&](StringRef Prefix) { return Name.starts_with(Prefix); });
}

/// Functions of the toolkit or the language that only compute: numbers in, a number out, no body to
/// look into. Whatever reads a register of the hardware is told by its name.
bool onlyComputes(const clang::FunctionDecl *Function, StringRef Name) {
  const auto &Sources = Function->getASTContext().getSourceManager();
  if (!Function->getBuiltinID() && !Sources.isInSystemHeader(Function->getLocation()))
    return false;
  for (StringRef Part :
       {"sreg",   "tid",    "lane",  "clock",  "time",     "rand",    "shfl", "vote",
        "ballot", "active", "match", "elect",  "redux",    "barrier", "atom", "mbar",
        "bar_",   "alloca", "smid",  "warpid", "volatile", "swap"})
    if (Name.contains(Part))
      return false;
  auto IsNumber = [](clang::QualType Type) {
    return Type->isArithmeticType() || Type->isEnumeralType() || Type->isVectorType();
  };
  return IsNumber(Function->getReturnType()) &&
         llvm::all_of(Function->parameters(), [&](const clang::ParmVarDecl *Parameter) {
           return IsNumber(Parameter->getType());
         });
}

KnownFunction classifyByName(const clang::FunctionDecl *Function, StringRef Name) {
  if (startsWithAny(Name, {"atomic", "__atomic", "__iAtomic", "__uAtomic", "__fAtomic", "__dAtomic",
                           "__ullAtomic", "__illAtomic", "__nv_atomic", "__sync_"}))
    return {Effect::Atomic};
  if (startsWithAny(Name,
                    {"__shfl", "__ballot", "__any", "__all", "__match", "__activemask", "__reduce_",
                     "__lanemask", "clock", "__clock", "__globaltimer", "__nvvm_read_ptx_sreg_tid",
                     "__nvvm_read_ptx_sreg_laneid", "__nvvm_read_ptx_sreg_warpid", "curand"}))
    return {Effect::Varies};
  if (Name.starts_with("__nvvm_read_ptx_sreg_ctaid"))
    return {Effect::VariesByBlock};
  if (startsWithAny(Name, {"__nvvm_read_ptx_sreg_ntid", "__nvvm_read_ptx_sreg_nctaid",
                           "__nvvm_read_ptx_sreg_warpsize"}))
    return {Effect::Uniform};
  if (startsWithAny(Name, {"__syncthreads", "__nvvm_bar0", "__barrier_sync_all"}) ||
      Name == "__nvvm_barrier0")
    return {Effect::BlockMeets};
  if (startsWithAny(Name, {"__syncwarp", "__threadfence", "__assert", "__trap", "__brkpt",
                           "__prof_trigger", "__builtin_trap", "__builtin_unreachable",
                           "__builtin_assume"}))
    return {Effect::Nothing};
  return llvm::StringSwitch<KnownFunction>(Name)
      .Cases({"printf", "vprintf", "__nanosleep", "abort", "__nv_tex_surf_handler"},
             {Effect::Nothing})
      .Cases({"__ldg", "__ldca", "__ldcs", "__ldlu"}, {Effect::Loads})
      .Cases({"__ldcg", "__ldcv"}, {Effect::LoadsAfresh})
      .Cases({"__stcg", "__stcs", "__stwb", "__stwt"}, {Effect::Stores})
      .Cases({"memcpy", "memmove", "__builtin_memcpy", "__builtin_memmove"}, {Effect::CopiesMemory})
      .Cases({"memset", "__builtin_memset"}, {Effect::SetsMemory})
      .Case("__builtin_expect", {Effect::Computes})
      .Default({!Function->hasBody() && onlyComputes(Function, Name) ? Effect::Computes
                                                                     : Effect::Unknown});
}

} // namespace

namespace {

/// Members of groups may be static: `grid.thread_rank()` is a plain call then.
clang::QualType groupOf(const clang::CallExpr *Call) {
  if (const auto *Member = llvm::dyn_cast<clang::MemberExpr>(Call->getCallee()->IgnoreParens()))
    return Member->getBase()->IgnoreParenImpCasts()->getType();
  if (const auto *Method = llvm::dyn_cast<clang::CXXMethodDecl>(Call->getDirectCallee()))
    return Call->getDirectCallee()->getASTContext().getCanonicalTagType(Method->getParent());
  return Call->getNumArgs() ? Call->getArg(0)->IgnoreParenImpCasts()->getType() : clang::QualType();
}

} // namespace

bool isInCooperativeGroups(const clang::Decl *Declaration) {
  return isIn(Declaration, "cooperative_groups");
}

KnownFunction classify(const clang::CallExpr *Call) {
  const clang::FunctionDecl *Function = Call->getDirectCallee();
  clang::QualType Group = groupOf(Call);
  StringRef Name = nameOf(Function);
  if (isIn(Function, "cooperative_groups") && !llvm::isa<clang::CXXConstructorDecl>(Function))
    return classifyGroupFunction(Name, recordName(Group));
  // cuda::atomic, cuda::atomic_ref and std's, whatever they do.
  if (const auto *Method = llvm::dyn_cast<clang::CXXMethodDecl>(Function);
      Method && !llvm::isa<clang::CXXConstructorDecl>(Method)) {
    StringRef Class = Method->getParent()->getIdentifier() ? Method->getParent()->getName() : "";
    if ((isIn(Function, "cuda") || isIn(Function, "std")) && Class.ltrim('_').starts_with("atomic"))
      return {Effect::Atomic};
    return {};
  }
  // The user's own function of such a name is looked into.
  const auto &Sources = Function->getASTContext().getSourceManager();
  if (Name.empty() || (Function->hasBody() && !Sources.isInSystemHeader(Function->getLocation())))
    return {};
  return classifyByName(Function, Name);
}

const MpiFunction *mpiFunctionOf(const clang::FunctionDecl *Function) {
  if (!Function || !Function->getIdentifier() ||
      !Function->getDeclContext()->getRedeclContext()->isTranslationUnit())
    return nullptr;
  return findMpiFunction(Function->getName());
}

namespace {

struct Role {
  StringRef Name, Use;
};

const Role Roles[] = {
#define GMPI_ARGUMENT(role, type, use) {#role, #use},
#include "mpi/functions.def"
};

} // namespace

llvm::SmallVector<StringRef, 12> argumentRoles(const MpiFunction &Function) {
  llvm::SmallVector<StringRef, 12> Names;
  Function.Roles.trim("()").split(Names, ',', -1, false);
  for (StringRef &Name : Names)
    Name = Name.trim();
  return Names;
}

llvm::SmallVector<StringRef, 12> argumentUses(const MpiFunction &Function) {
  llvm::SmallVector<StringRef, 12> Uses;
  for (StringRef Name : argumentRoles(Function)) {
    const auto *Found = llvm::find_if(Roles, [&](const Role &R) { return R.Name == Name; });
    Uses.push_back(Found == std::end(Roles) ? StringRef("value") : Found->Use);
  }
  return Uses;
}

} // namespace gmpi::translate
