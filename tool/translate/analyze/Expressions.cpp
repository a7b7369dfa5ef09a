// Expressions. The value of a glvalue, and of an object that has no name, is its address.
#include "Interpreter.h"

namespace gmpi::translate {

using clang::Expr;

namespace {

/// Expressions that say what another does.
const Expr *standsFor(const Expr *E) {
  switch (E->getStmtClass()) {
  case clang::Stmt::ParenExprClass:
    return llvm::cast<clang::ParenExpr>(E)->getSubExpr();
  case clang::Stmt::ConstantExprClass:
  case clang::Stmt::ExprWithCleanupsClass:
    return llvm::cast<clang::FullExpr>(E)->getSubExpr();
  case clang::Stmt::CXXBindTemporaryExprClass:
    return llvm::cast<clang::CXXBindTemporaryExpr>(E)->getSubExpr();
  case clang::Stmt::SubstNonTypeTemplateParmExprClass:
    return llvm::cast<clang::SubstNonTypeTemplateParmExpr>(E)->getReplacement();
  case clang::Stmt::CXXRewrittenBinaryOperatorClass:
    return llvm::cast<clang::CXXRewrittenBinaryOperator>(E)->getSemanticForm();
  case clang::Stmt::OpaqueValueExprClass:
    return llvm::cast<clang::OpaqueValueExpr>(E)->getSourceExpr();
  case clang::Stmt::StmtExprClass: {
    const auto *Body = llvm::cast<clang::StmtExpr>(E)->getSubStmt();
    bool HasValue = !Body->body_empty() && !E->getType()->isVoidType();
    return HasValue ? llvm::dyn_cast<Expr>(Body->body_back()) : nullptr;
  }
  default:
    return nullptr;
  }
}

/// Written in the code, or known to the compiler.
bool isConstant(const Expr *E) {
  switch (E->getStmtClass()) {
  case clang::Stmt::IntegerLiteralClass:
  case clang::Stmt::FloatingLiteralClass:
  case clang::Stmt::CharacterLiteralClass:
  case clang::Stmt::CXXBoolLiteralExprClass:
  case clang::Stmt::CXXNullPtrLiteralExprClass:
  case clang::Stmt::GNUNullExprClass:
  case clang::Stmt::UnaryExprOrTypeTraitExprClass:
  case clang::Stmt::SizeOfPackExprClass:
  case clang::Stmt::TypeTraitExprClass:
  case clang::Stmt::OffsetOfExprClass:
  case clang::Stmt::ImplicitValueInitExprClass:
  case clang::Stmt::CXXScalarValueInitExprClass:
  case clang::Stmt::CXXNoexceptExprClass:
  case clang::Stmt::ConceptSpecializationExprClass:
  case clang::Stmt::RequiresExprClass:
  case clang::Stmt::NoInitExprClass:
  case clang::Stmt::SourceLocExprClass:
    return true;
  default:
    return E->getType()->isVoidType() && llvm::isa<clang::StmtExpr>(E);
  }
}

} // namespace

Value Interpreter::value(const Expr *E) {
  // A block's elements are evaluated in order, and their values stay for whoever uses them later.
  if (auto Known = Values.find(E); Known != Values.end())
    return Known->second;
  return compute(E);
}

Value Interpreter::joinOfChildren(const clang::Stmt *S) {
  Value Joined;
  for (const clang::Stmt *Child : S->children())
    if (const auto *E = llvm::dyn_cast_if_present<Expr>(Child)) {
      Value V = value(E);
      Joined.lower(V);
      Joined.addTargets(V);
    }
  return Joined;
}

Value Interpreter::unknown(const Expr *E, std::string What, std::string Detail) {
  return Value::varying(
      Scope::Thread, Shared.Why.get({E->getExprLoc(), std::move(What), std::move(Detail), false}));
}

Value Interpreter::seed(const Expr *E, Scope Level, bool Proven) {
  return Value::varying(Level,
                        Shared.Why.get({E->getBeginLoc(), "`" + Shared.text(E) + "`", "", Proven}));
}

Value Interpreter::compute(const Expr *E) {
  if (isConstant(E))
    return Value();
  if (const Expr *Other = standsFor(E))
    return value(Other);
  switch (E->getStmtClass()) {
  case clang::Stmt::DeclRefExprClass:
    return reference(llvm::cast<clang::DeclRefExpr>(E));
  case clang::Stmt::MemberExprClass:
    return member(llvm::cast<clang::MemberExpr>(E));
  case clang::Stmt::ArraySubscriptExprClass:
    return subscript(llvm::cast<clang::ArraySubscriptExpr>(E));
  case clang::Stmt::UnaryOperatorClass:
    return unary(llvm::cast<clang::UnaryOperator>(E));
  case clang::Stmt::BinaryOperatorClass:
  case clang::Stmt::CompoundAssignOperatorClass:
    return binary(llvm::cast<clang::BinaryOperator>(E));
  case clang::Stmt::ConditionalOperatorClass:
  case clang::Stmt::BinaryConditionalOperatorClass:
    return choice(llvm::cast<clang::AbstractConditionalOperator>(E));
  case clang::Stmt::ImplicitCastExprClass:
  case clang::Stmt::CStyleCastExprClass:
  case clang::Stmt::CXXStaticCastExprClass:
  case clang::Stmt::CXXReinterpretCastExprClass:
  case clang::Stmt::CXXConstCastExprClass:
  case clang::Stmt::CXXFunctionalCastExprClass:
  case clang::Stmt::BuiltinBitCastExprClass:
    return convert(llvm::cast<clang::CastExpr>(E));
  case clang::Stmt::CallExprClass:
  case clang::Stmt::CXXMemberCallExprClass:
  case clang::Stmt::CXXOperatorCallExprClass:
  case clang::Stmt::UserDefinedLiteralClass:
    return call(llvm::cast<clang::CallExpr>(E));
  case clang::Stmt::CXXConstructExprClass:
  case clang::Stmt::CXXTemporaryObjectExprClass:
    return construct(llvm::cast<clang::CXXConstructExpr>(E));
  default:
    return computeRare(E);
  }
}

Value Interpreter::computeRare(const Expr *E) {
  switch (E->getStmtClass()) {
  case clang::Stmt::StringLiteralClass:
  case clang::Stmt::PredefinedExprClass:
    return anywhere();
  case clang::Stmt::CXXDefaultArgExprClass:
    return compute(llvm::cast<clang::CXXDefaultArgExpr>(E)->getExpr());
  case clang::Stmt::CXXDefaultInitExprClass:
    return compute(llvm::cast<clang::CXXDefaultInitExpr>(E)->getExpr());
  case clang::Stmt::PseudoObjectExprClass:
    return compute(llvm::cast<clang::PseudoObjectExpr>(E)->getSyntacticForm());
  case clang::Stmt::MSPropertyRefExprClass:
    return property(llvm::cast<clang::MSPropertyRefExpr>(E));
  case clang::Stmt::MaterializeTemporaryExprClass:
    return materialized(llvm::cast<clang::MaterializeTemporaryExpr>(E));
  case clang::Stmt::InitListExprClass:
    return initializerList(llvm::cast<clang::InitListExpr>(E));
  case clang::Stmt::CXXParenListInitExprClass:
  case clang::Stmt::DesignatedInitExprClass:
  case clang::Stmt::ArrayInitLoopExprClass:
  case clang::Stmt::CompoundLiteralExprClass:
    return wholeObject(E);
  case clang::Stmt::CXXThisExprClass:
    return thisPointer(E);
  case clang::Stmt::LambdaExprClass:
    return lambda(llvm::cast<clang::LambdaExpr>(E));
  case clang::Stmt::CXXStdInitializerListExprClass:
  case clang::Stmt::ShuffleVectorExprClass:
  case clang::Stmt::ConvertVectorExprClass:
    return joinOfChildren(E);
  case clang::Stmt::AtomicExprClass: {
    Cause Why{E->getBeginLoc(), "the result of an atomic operation", ""};
    Value Result = Value::varying(Scope::Thread, Shared.Why.get(std::move(Why)));
    store(value(llvm::cast<clang::AtomicExpr>(E)->getPtr()), {}, Result, E, true, true);
    return Result;
  }
  case clang::Stmt::CXXNewExprClass: {
    joinOfChildren(E);
    Value Result = anywhere();
    Result.lower(seed(E, Scope::Thread));
    return Result;
  }
  default:
    escape(joinOfChildren(E), E->getExprLoc(), "an expression that is not understood");
    return unknown(E, "`" + Shared.text(E) + "`", "which is not understood");
  }
}

} // namespace gmpi::translate
