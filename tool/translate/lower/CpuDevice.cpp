// What only the cpu device needs: the GPU's features that the host compiler does not have are
// rewritten or refused by name.
#include "../Precompiled.h"
#include "Lowering.h"
#include "SharedVariables.h"

namespace gmpi::translate {

using namespace clang;

namespace {

/// Host compilers see one signature where CUDA tells a host and a device function apart.
void tellOverloads(Lowering &L) {
  const ASTContext &Context = L.Code.context();
  Locations Where(L.Code);
  std::map<std::pair<const DeclContext *, std::string>, std::vector<const FunctionDecl *>> ByName;
  for (const FunctionDecl *F : L.CodeModel.Functions)
    if (F->getIdentifier() && !Where.inSystemHeader(F->getLocation()))
      ByName[{F->getDeclContext()->getPrimaryContext(), F->getNameAsString()}].push_back(F);
  auto IsPair = [&](const FunctionDecl *A, const FunctionDecl *B) {
    bool Sides = isDeviceCode(A) && !A->hasAttr<CUDAHostAttr>() && isHostCode(B);
    bool Templates = !A->getDescribedFunctionTemplate() == !B->getDescribedFunctionTemplate();
    return Sides && Templates && Context.hasSameType(A->getType(), B->getType());
  };
  for (auto &[Name, Set] : ByName)
    for (const FunctionDecl *A : Set)
      for (const FunctionDecl *B : Set)
        if (IsPair(A, B)) {
          L.Code.diagnostics().report(DiagId::cpu_overload, A->getLocation(),
                                      {A->getNameAsString()});
          L.Code.diagnostics().note(NoteId::other_overload, B->getLocation());
        }
}

void tellAssembly(Lowering &L) {
  Locations Where(L.Code);
  for (auto &[Loc, Function] : L.CodeModel.Assembly)
    if (!Where.inSystemHeader(Loc))
      L.Code.diagnostics().report(DiagId::cpu_assembly, Where.shown(Loc),
                                  {Function->getNameAsString()});
}

} // namespace

void lowerForCpu(Lowering &L) {
  tellAssembly(L);
  tellOverloads(L);
  Locations Where(L.Code);
  for (const SharedDeclaration &Declaration : L.CodeModel.Shared)
    if (!L.replacedWhole(Where.position(Declaration.Variables.front()->getLocation())))
      lowerSharedDeclaration(L, Declaration, L.Changes);
}

} // namespace gmpi::translate
