// Interprets one function in one context (who calls it, under what control, with which arguments
// and local memory) over the uniformity lattice, until nothing changes; and, through the Engine,
// the functions it calls, each in its own context.
//
// Invariant: states only go down the lattice from pass to pass. The verdicts on MPI calls are those
// of the last pass, in which everything they depend on stood still.
#pragma once

#include "Divergence.h"
#include "KnownFunctions.h"
#include "Memory.h"
#include "MpiReach.h"
#include "SingleThread.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <memory>
#include <vector>

namespace gmpi::translate {

/// On which of the group's threads a function or block runs.
struct Control {
  Scope Level = Scope::Grid;  ///< the same threads of the whole grid, of a block, or some
  const Cause *Why = nullptr; ///< the condition
  unsigned Fixed = 0;         ///< IndexParts that have one value for all that are here
  unsigned Zero = 0;          ///< those that are always zero
  /// Those that have always one value of another kind, and which: `threadIdx.x == 5`.
  std::map<unsigned, std::string> Named = {};

  bool operator==(const Control &) const = default;
};

/// An error with its notes, kept until the last pass.
struct ScopeError {
  struct Line {
    clang::SourceLocation Loc;
    std::string Id;
    std::vector<std::string> Arguments;
  };
  std::vector<Line> Lines;
};

/// What one MPI call is in one context.
struct Verdict {
  Scope Value = Scope::Thread;
  std::string Why;
  const MpiFunction *Function = nullptr;
  std::string Caller;       ///< see ScopedCall
  std::string ReceivesInto; ///< see ScopedCall
  std::optional<ScopeError> Error;
};

/// A function interpreted in one context.
struct Run {
  const clang::FunctionDecl *Function = nullptr;
  std::map<const clang::CallExpr *, Verdict> Calls;
  struct Callee {
    std::shared_ptr<const Run> Of;
    clang::SourceLocation Loc;
  };
  /// By what calls: a CallExpr or CXXConstructExpr, or the variable destroyed.
  std::map<const void *, Callee> Callees;
  /// At each call that may suspend a split kernel: the variables that are the same in the whole grid.
  std::map<const clang::CallExpr *, std::set<const clang::ValueDecl *>> Uniform;
  std::map<const void *, ScopeError> Errors; ///< calls that cannot be followed
  State Exit;
  std::vector<Place> Stored; ///< what was stored to, the caller's objects among it
};

struct Context {
  const clang::FunctionDecl *Function;
  Control At;
  State Entry;
  Value This; ///< where *this lies
  bool IsKernel = false;

  bool sameAs(const Context &Other) const;
};

/// A function's control flow graph and what follows from it.
struct Body {
  std::unique_ptr<clang::CFG> Graph;
  std::unique_ptr<Divergence> Flow;
  std::vector<const clang::CFGBlock *> Blocks;
};

/// What the interpretations of one kernel share.
class Engine {
public:
  Engine(clang::ASTContext &Context, MpiReach &Reach, llvm::ArrayRef<ScopePragma> Pragmas);

  /// Interprets a kernel, or a function called by nobody known.
  std::shared_ptr<const Run> runKernel(const clang::FunctionDecl *Kernel);
  /// Interprets a callee; null if that is refused (recursion, too deep).
  std::shared_ptr<const Run> run(const Context &Call);
  bool isRunning(const clang::FunctionDecl *Function) const;

  /// The pragma that holds for a call.
  std::optional<Scope> pragmaFor(clang::SourceLocation Call) const;
  /// Those that pragmaFor() never found.
  std::vector<clang::SourceLocation> unusedPragmas() const;
  const Body *bodyOf(const clang::FunctionDecl *Function, bool IsKernel);

  /// From here on (and before) the object may be changed by others.
  void escape(Object Root, const Cause *Why);
  const Cause *escaped(Object Root) const;
  bool anyEscaped() const { return !Escaped.empty(); }
  /// What this load saw may have been changed before other threads load.
  void changeLoad(const clang::Expr *Load, const Cause *Why);
  const Cause *changedLoad(const clang::Expr *Load) const;

  std::string text(const clang::Stmt *S) const;
  unsigned line(clang::SourceLocation Loc) const;

  clang::ASTContext &Ast;
  MpiReach &Reach;
  Causes Why;
  unsigned UsedParts = 0; ///< of the kernel's indices, y and z above all

private:
  struct Cached {
    Context Key;
    std::shared_ptr<const Run> Result;
  };
  struct PragmaRange {
    ScopePragma Pragma;
    clang::SourceLocation Begin, End; ///< of the statement; invalid if there is none
    mutable bool Used = false;
  };

  void applyPragmas(llvm::ArrayRef<ScopePragma> Pragmas);

  std::map<std::pair<const clang::FunctionDecl *, bool>, Body> Bodies;
  std::map<const clang::FunctionDecl *, std::vector<Cached>> Cache;
  std::vector<const clang::FunctionDecl *> Stack;
  std::vector<PragmaRange> Ranges;
  std::map<Object, const Cause *> Escaped;
  std::map<const clang::Expr *, const Cause *> ChangedLoads;
  unsigned Version = 0;
};

class Interpreter {
public:
  Interpreter(Engine &Shared, const Context &Call, const Body &Of);
  std::shared_ptr<const Run> interpret();

private:
  // Control.cpp: the fixpoint
  bool visit(unsigned Block);
  bool updateBranches();
  State entryOf(unsigned Block) const;
  void joinPaths(unsigned Block, State &At) const;
  Control controlOf(unsigned Block) const;
  const clang::Expr *conditionOf(unsigned Block) const;

  // Statements.cpp
  void evaluate(const clang::CFGElement &Element);
  void evaluateStatement(const clang::Stmt *S);
  void declare(const clang::VarDecl *Variable);
  void initialize(const clang::CXXCtorInitializer *Initializer);
  void returnValue(const clang::ReturnStmt *Return);
  void assembly(const clang::Stmt *Asm);

  // Expressions.cpp
  Value value(const clang::Expr *E);
  Value compute(const clang::Expr *E);
  Value computeRare(const clang::Expr *E);
  Value joinOfChildren(const clang::Stmt *S);
  Value unknown(const clang::Expr *E, std::string What, std::string Detail);
  Value seed(const clang::Expr *E, Scope Level, bool Proven = true);

  // Operators.cpp
  Value convert(const clang::CastExpr *E);
  Value unary(const clang::UnaryOperator *E);
  Value binary(const clang::BinaryOperator *E);
  Value assign(const clang::BinaryOperator *E);
  Value subscript(const clang::ArraySubscriptExpr *E);
  Value choice(const clang::AbstractConditionalOperator *E);
  Value moved(Value Pointer, const clang::Expr *By, bool FromArray);

  // Objects.cpp
  Value reference(const clang::DeclRefExpr *E);
  Value member(const clang::MemberExpr *E);
  Value property(const clang::MSPropertyRefExpr *E);
  Value builtinComponent(BuiltinVariable Variable, llvm::StringRef Component, const clang::Expr *E);
  Value builtinObject(BuiltinVariable Variable, const clang::Expr *E);
  Value partOf(const Value &Address, const clang::FieldDecl *Field);
  std::optional<Value> captured(const clang::ValueDecl *Variable);
  Value thisPointer(const clang::Expr *E);
  Value temporary(const clang::Expr *E);
  Value materialized(const clang::MaterializeTemporaryExpr *E);
  Value initializerList(const clang::InitListExpr *E);
  Value wholeObject(const clang::Expr *E);
  Value lambda(const clang::LambdaExpr *E);
  static Value anywhere();

  // LoadsAndStores.cpp
  Value load(const Value &Address, clang::QualType Type, const clang::Expr *E);
  void loadTarget(Value &Result, const Place &Target, const Value &Address, clang::QualType Type,
                  const clang::Expr *E);
  void loadGlobal(Value &Result, const Place &Target, const Value &Address, clang::QualType Type,
                  const clang::Expr *E);
  void loadBlockShared(Value &Result, const Place &Target, const Value &Address,
                       clang::QualType Type, const clang::Expr *E);
  void store(const Value &Address, clang::QualType Type, Value V, const clang::Expr *E,
             bool Atomic = false, bool Maybe = false);
  void storeShared(const Place &Target, clang::QualType Type, const clang::Expr *E, bool Atomic);
  void copyObject(const Value &To, const Value &From, clang::QualType Type, const clang::Expr *E);
  void bind(const Place &To, clang::QualType Type, const Value &V, const clang::Expr *E);
  void escape(const Value &V, clang::SourceLocation Loc, const std::string &To);
  void log(const Place &P) { StoredIn[CurrentBlock].insert(P); }
  Value contents(const Value &Pointer, bool OneOnly, const clang::Expr *E);

  // Calls.cpp
  Value call(const clang::CallExpr *E);
  Value knownCall(const clang::CallExpr *E, const KnownFunction &Known);
  Value construct(const clang::CXXConstructExpr *E);
  void destroy(const clang::VarDecl *Variable, const clang::CXXDestructorDecl *Destructor);
  std::shared_ptr<const Run> enter(const clang::FunctionDecl *Function,
                                   llvm::ArrayRef<const clang::Expr *> Arguments, Value This,
                                   const void *By, clang::SourceLocation Loc);
  Value unknownCall(const clang::Expr *E, llvm::ArrayRef<const clang::Expr *> Arguments,
                    std::string Name);
  Value indirectCall(const clang::CallExpr *E);
  Value resultOf(const clang::FunctionDecl *Function, const Run &Callee, const clang::Expr *E);
  void refuse(const void *By, clang::SourceLocation Loc, std::string Id,
              std::vector<std::string> Arguments, const clang::FunctionDecl *Note);

  void noteUniform(const clang::CallExpr *E);

  // MpiCalls.cpp
  struct MpiCall;
  Value mpiCall(const clang::CallExpr *E, const MpiFunction &Function);
  void judge(MpiCall &Call);
  void judgeControl(MpiCall &Call);
  void findCaller(MpiCall &Call);
  void explain(MpiCall &Call);
  void writeResults(MpiCall &Call);
  const clang::Expr *culprit(const clang::Expr *E, Scope Level);
  void addNotes(ScopeError &Error, std::string Name, const Cause *Why);

  Engine &Shared;
  const Context &In;
  const Body &Of;
  std::shared_ptr<Run> Result;

  State Now;
  unsigned CurrentBlock = 0;
  std::vector<State> Ends; ///< of the blocks
  std::vector<State> Begins;
  std::vector<std::set<Place>> StoredIn; ///< by block
  std::vector<Value> Branches;           ///< the levels of the blocks' conditions
  std::vector<Control> Controls;
  llvm::DenseMap<const clang::Expr *, Value> Values;
  llvm::DenseMap<const clang::ValueDecl *, clang::FieldDecl *> Captures;
  clang::FieldDecl *ThisCapture = nullptr;
};

} // namespace gmpi::translate
