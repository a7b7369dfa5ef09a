// What kinds of functions there are besides ordinary ones.
#include "SpecialFunctions.h"
#include "../Precompiled.h"

namespace gmpi::translate {

using namespace clang;

bool isLambda(const FunctionDecl *Function) {
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  return Method && Method->getParent()->isLambda();
}

std::string calledWithoutName(const FunctionDecl *Function) {
  if (isa<CXXConstructorDecl>(Function))
    return "a constructor";
  if (isa<CXXDestructorDecl>(Function))
    return "a destructor";
  if (isa<CXXConversionDecl>(Function))
    return "a conversion";
  if (Function->isOverloadedOperator())
    return "an operator";
  const auto *Method = dyn_cast<CXXMethodDecl>(Function);
  return Method && Method->isVirtual() ? "a virtual function" : "";
}

std::string cannotBeCopied(const FunctionDecl *Function) {
  if (std::string Why = calledWithoutName(Function); !Why.empty())
    return Why;
  if (Function->isOutOfLine())
    return "a member that is defined outside of its class";
  return Function->getTemplateSpecializationKind() == TSK_ExplicitSpecialization
             ? "an explicit specialization"
             : "";
}

} // namespace gmpi::translate
