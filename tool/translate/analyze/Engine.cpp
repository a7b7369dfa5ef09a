// What the interpretations of one kernel share: bodies, contexts seen, pragmas, escaped objects.
#include "Interpreter.h"
#include "clang/AST/DynamicRecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

namespace gmpi::translate {

using clang::FunctionDecl;
using clang::SourceLocation;

namespace {

constexpr size_t MaxDepth = 48;
constexpr size_t MaxContexts = 64;

} // namespace

bool Context::sameAs(const Context &Other) const {
  return Function == Other.Function && At == Other.At && This.sameAs(Other.This, true) &&
         Entry.sameAs(Other.Entry, true);
}

Engine::Engine(clang::ASTContext &Context, MpiReach &Reach, llvm::ArrayRef<ScopePragma> Pragmas)
    : Ast(Context), Reach(Reach) {
  applyPragmas(Pragmas);
}

namespace {

/// Finds the statement that begins next after a location.
class NextStatement : public clang::DynamicRecursiveASTVisitor {
public:
  NextStatement(const clang::SourceManager &Sources, SourceLocation After)
      : Sources(Sources), After(After) {}

  bool VisitFunctionDecl(FunctionDecl *Function) override {
    if (Function->doesThisDeclarationHaveABody() && contains(Function->getBody()))
      Inside = true;
    return true;
  }
  bool VisitStmt(clang::Stmt *S) override {
    SourceLocation At = Sources.getFileLoc(S->getBeginLoc());
    if (!comesAfter(At, After))
      return true;
    SourceLocation Last = Sources.getFileLoc(S->getEndLoc());
    if (Begin.isInvalid() || comesAfter(Begin, At) || (At == Begin && comesAfter(Last, End))) {
      Begin = At;
      End = Last;
    }
    return true;
  }

  bool Inside = false;
  SourceLocation Begin, End;

private:
  bool comesAfter(SourceLocation A, SourceLocation B) const {
    auto [FileA, OffsetA] = Sources.getDecomposedLoc(A);
    auto [FileB, OffsetB] = Sources.getDecomposedLoc(B);
    return FileA == FileB && OffsetA > OffsetB;
  }
  bool contains(const clang::Stmt *Body) const {
    return comesAfter(After, Sources.getFileLoc(Body->getBeginLoc())) &&
           comesAfter(Sources.getFileLoc(Body->getEndLoc()), After);
  }

  const clang::SourceManager &Sources;
  SourceLocation After;
};

} // namespace

void Engine::applyPragmas(llvm::ArrayRef<ScopePragma> Pragmas) {
  for (const ScopePragma &Pragma : Pragmas) {
    const auto &Sources = Ast.getSourceManager();
    NextStatement Next(Sources, Sources.getFileLoc(Pragma.Loc));
    auto [File, Offset] = Sources.getDecomposedLoc(Sources.getFileLoc(Pragma.Loc));
    for (clang::Decl *Declaration : Ast.getTranslationUnitDecl()->decls()) {
      auto [EndFile, End] = Sources.getDecomposedLoc(Sources.getFileLoc(Declaration->getEndLoc()));
      if (EndFile == File && End > Offset)
        Next.TraverseDecl(Declaration);
    }
    bool Found = Next.Inside && Next.Begin.isValid();
    Ranges.push_back({Pragma, Found ? Next.Begin : SourceLocation(), Next.End});
  }
}

std::optional<Scope> Engine::pragmaFor(SourceLocation Call) const {
  const auto &Sources = Ast.getSourceManager();
  auto [File, Offset] = Sources.getDecomposedLoc(Sources.getFileLoc(Call));
  const PragmaRange *Innermost = nullptr;
  for (const PragmaRange &Range : Ranges) {
    if (Range.Begin.isInvalid())
      continue;
    auto [BeginFile, Begin] = Sources.getDecomposedLoc(Range.Begin);
    auto [EndFile, End] = Sources.getDecomposedLoc(Range.End);
    if (BeginFile != File || EndFile != File || Offset < Begin || Offset > End)
      continue;
    if (!Innermost || Sources.isBeforeInTranslationUnit(Innermost->Begin, Range.Begin))
      Innermost = &Range;
  }
  if (!Innermost)
    return std::nullopt;
  Innermost->Used = true;
  return Innermost->Pragma.Value;
}

std::vector<SourceLocation> Engine::unusedPragmas() const {
  std::vector<SourceLocation> Unused;
  for (const PragmaRange &Range : Ranges)
    if (!Range.Used)
      Unused.push_back(Range.Pragma.Loc);
  return Unused;
}

const Body *Engine::bodyOf(const FunctionDecl *Function, bool IsKernel) {
  auto [Slot, New] = Bodies.try_emplace({Function, IsKernel});
  Body &Of = Slot->second;
  if (!New)
    return Of.Graph ? &Of : nullptr;
  clang::CFG::BuildOptions Options;
  Options.setAllAlwaysAdd();
  Options.AddInitializers = true;
  Options.AddImplicitDtors = true;
  Of.Graph = clang::CFG::buildCFG(Function, Function->getBody(), &Ast, Options);
  if (!Of.Graph)
    return nullptr;
  Of.Blocks.resize(Of.Graph->getNumBlockIDs());
  for (const clang::CFGBlock *Block : *Of.Graph)
    Of.Blocks[Block->getBlockID()] = Block;
  Of.Flow = std::make_unique<Divergence>(
      *Of.Graph, Function, IsKernel, [this](const clang::CFGBlock &Block) {
        for (const clang::CFGElement &Element : Block)
          if (auto S = Element.getAs<clang::CFGStmt>();
              S && llvm::isa<clang::CallExpr, clang::CXXConstructExpr>(S->getStmt()) &&
              Reach.maySynchronise(S->getStmt()))
            return true;
        return false;
      });
  return &Of;
}

std::shared_ptr<const Run> Engine::run(const Context &Call) {
  for (const Cached &Known : Cache[Call.Function])
    if (Known.Key.sameAs(Call))
      return Known.Result;
  const Body *Of = bodyOf(Call.Function, Call.IsKernel);
  if (!Of || Stack.size() >= MaxDepth)
    return nullptr;
  Stack.push_back(Call.Function);
  unsigned Before = Version;
  std::shared_ptr<const Run> Result = Interpreter(*this, Call, *Of).interpret();
  Stack.pop_back();
  if (Version == Before) {
    auto &Seen = Cache[Call.Function];
    if (Seen.size() >= MaxContexts)
      Seen.erase(Seen.begin());
    Seen.push_back({Call, Result});
  }
  return Result;
}

std::shared_ptr<const Run> Engine::runKernel(const FunctionDecl *Kernel) {
  UsedParts = Reach.usedParts(Kernel);
  Context Call;
  Call.Function = Kernel;
  Call.IsKernel = true;
  Call.Entry.Reached = true;
  for (const clang::ParmVarDecl *Parameter : Kernel->parameters()) {
    Place Global;
    Global.Memory = Place::Kind::Global;
    Global.Root = static_cast<const clang::ValueDecl *>(Parameter);
    Place Own;
    Own.Root = static_cast<const clang::ValueDecl *>(Parameter);
    bool HoldsPointer = !Parameter->getType()->isArithmeticType();
    Call.Entry.Memory.write(Own, HoldsPointer ? Value::pointerTo(Global) : Value());
  }
  // Escapes and changed loads hold from the start: once one is found, everything is looked at
  // again.
  for (;;) {
    unsigned Before = Version;
    Cache.clear();
    std::shared_ptr<const Run> Result = run(Call);
    if (Version == Before)
      return Result;
  }
}

bool Engine::isRunning(const FunctionDecl *Function) const {
  return llvm::is_contained(Stack, Function);
}

void Engine::escape(Object Root, const Cause *Why) {
  if (Escaped.try_emplace(Root, Why).second)
    ++Version;
}

const Cause *Engine::escaped(Object Root) const {
  auto Found = Escaped.find(Root);
  return Found == Escaped.end() ? nullptr : Found->second;
}

void Engine::changeLoad(const clang::Expr *Load, const Cause *Why) {
  if (ChangedLoads.try_emplace(Load, Why).second)
    ++Version;
}

const Cause *Engine::changedLoad(const clang::Expr *Load) const {
  auto Found = ChangedLoads.find(Load);
  return Found == ChangedLoads.end() ? nullptr : Found->second;
}

std::string Engine::text(const clang::Stmt *S) const {
  const auto &Sources = Ast.getSourceManager();
  auto Range = clang::CharSourceRange::getTokenRange(Sources.getFileLoc(S->getBeginLoc()),
                                                     Sources.getFileLoc(S->getEndLoc()));
  llvm::StringRef Written = clang::Lexer::getSourceText(Range, Sources, Ast.getLangOpts());
  std::string Text;
  for (llvm::StringRef Rest = Written.trim(); !Rest.empty();) {
    auto [Word, After] = Rest.split('\n');
    Text += (Text.empty() ? "" : " ") + Word.trim().str();
    Rest = After.ltrim();
  }
  if (Text.size() > 72)
    Text.replace(69, std::string::npos, "...");
  return Text;
}

unsigned Engine::line(SourceLocation Loc) const {
  return Ast.getSourceManager().getPresumedLineNumber(Ast.getSourceManager().getFileLoc(Loc));
}

} // namespace gmpi::translate
