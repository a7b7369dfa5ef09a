// Turns a function's body into one that suspends and resumes: guarded re-entry.
//
//   int s = 0;                       int s = gmpi_re ? gmpi_frame.saved<decltype(s), 0, 4>() : (0);
//   while (s < n) {                  while (gmpi_re || (s < n)) {
//     work(s);              becomes    if (!gmpi_re) { work(s); }
//     MPI_Barrier(c);                  if (::gmpi::split::MPI_Barrier<1>(gmpi_frame, gmpi_re, {..},
//     c)) {
//     ++s;                               gmpi_frame.save<0, 4>(s); return; }
//   }                                  ++s;
//                                    }
//
// Invariant: gmpi_re is true from the start of a resumed segment until its resume point is reached,
// and control takes the path to that point alone: what stands before it is skipped, conditions and
// loop headers on the path let it in, declarations take their values from the frame. Nobody jumps,
// so the user's scopes, shadowing and macros keep their meaning. Only text is inserted, never a
// line.
#pragma once

#include "../../analyze/FramePlan.h"
#include "../Lowering.h"

namespace gmpi::translate {

/// A piece of text to be put in place of another.
struct Replacement {
  Span What;
  std::string Text;
};

/// Without parentheses and what is implicit.
const clang::Expr *strip(const clang::Expr *E);

/// Name of the split version of a function.
std::string splitName(const SplitFunction &F);
/// What its parts of the frames of those that call it are called: `gmpi_f_12`, by where it stands.
std::string frameName(const SplitFunction &F, unsigned Line);

/// Whether a lambda is written in it. One may not stand in a decltype, and is of a new type each
/// time.
bool containsLambda(const clang::Stmt *S);

class BodySplitter {
public:
  using Refusal = llvm::function_ref<void(clang::SourceLocation, DiagId, std::vector<std::string>)>;
  /// `Calls`: what becomes of the calls that do not suspend.
  BodySplitter(Lowering &L, const SplitFunction &F, FramePlan &Plan, std::vector<Replacement> Calls,
               Refusal Refuse);

  /// Makes the edits to the body. False where something was refused.
  bool split(Edits &Out, const Position &AfterOpeningBrace, const Position &ClosingBrace);

private:
  /// Resume points, from First to Last.
  struct Range {
    unsigned First = 0, Last = 0;
    bool any() const { return First != 0; }
  };

  // What is made before a statement, of calls that stood within its expressions.
  struct Item {
    enum Kind { Declare, Run, Suspend, Block } What;
    std::string Text;                 ///< Declare: the initializer; Block: its condition
    unsigned First = 0, Last = 0;     ///< resume points within
    size_t Point = 0;                 ///< Suspend: which
    std::string Saves = {};           ///< Suspend: of its own arguments
    std::string Type = {}, Name = {}; ///< Declare
    unsigned Bytes = 0, Offset = 0;
    std::vector<Item> Inner = {}; ///< Block
    std::string Result = {};      ///< Block: its last statement
  };
  using Items = std::vector<Item>;

  // Statements.cpp
  void sequence(llvm::ArrayRef<const clang::Stmt *> Statements);
  void statement(const clang::Stmt *S, bool Later);
  void structure(const clang::Stmt *S);
  void body(const clang::Stmt *S, const std::string &First = "");
  void returns();
  void openGroup(const clang::Stmt *S);
  void closeGroup();
  bool fromMacro(const clang::Stmt *S) const;
  void macroStatement(const clang::Stmt *S, bool Later);
  Position beforeDirectives(const Position &Begin) const;
  static std::string oneLine(const std::string &Text);
  static std::string missingLines(const Span &Old, llvm::StringRef New);

  // ControlFlow.cpp
  void ifStatement(const clang::IfStmt *S);
  std::string movedDeclaration(const clang::DeclStmt *S, bool Later);
  void moveInit(const clang::Stmt *S, const clang::Stmt *Init, bool Always = false);
  void replaceWithEnd(const Span &What, const std::string &Text);
  void loopCondition(const clang::Expr *Condition);
  std::string conditionInBody(const clang::Expr *Condition, const clang::DeclStmt *Variable,
                              const std::string &Left);
  void forStatement(const clang::ForStmt *S);
  void whileStatement(const clang::WhileStmt *S);
  void doStatement(const clang::DoStmt *S);
  void switchStatement(const clang::SwitchStmt *S);
  void rangeFor(const clang::CXXForRangeStmt *S);

  // Declarations.cpp
  /// One variable of a declaration statement.
  struct Declarator {
    const clang::VarDecl *Variable;
    std::string Specifiers; ///< those that all share; empty where there is one variable only
    Span Before, After;     ///< around its name
  };
  std::vector<Declarator> declarators(const clang::DeclStmt *S);
  void declaration(const clang::DeclStmt *S, bool Later);
  bool staysInHeader(const clang::DeclStmt *S);
  std::string separately(const clang::DeclStmt *S, bool Later);
  std::string inPlace(const clang::VarDecl *V);
  std::string residentText(const Declarator &D, const FrameVariable &Of);
  bool anyResident(const clang::DeclStmt *S);
  std::string initialized(const clang::VarDecl *V, FrameVariable &Of);
  void restoreCrossed(const clang::SwitchCase *Label);
  std::string decomposition(const clang::DeclStmt *S, const clang::DecompositionDecl *V,
                            FrameVariable &Of);
  std::string bindings(const Span &Declared, const clang::DecompositionDecl *V, FrameVariable &Of,
                       const std::string &Value);
  std::string parameters();
  std::string savedValue(const FrameVariable &Of, const std::string &Type) const;
  std::string saves(size_t Point);
  std::string restoresShared(size_t Point);
  void findAliases();
  std::string alias(const FrameVariable &Of) const;
  std::string declareAlias(const FrameVariable &Of) const;

  // Expressions.cpp
  void hoist(const clang::Expr *E, Items &Into);
  void hoistCall(const clang::CallExpr *E, size_t Point, Items &Into, bool ValueUsed = true);
  void hoistLogical(const clang::BinaryOperator *E, Items &Into);
  void hoistConditional(const clang::ConditionalOperator *E, Items &Into);
  /// A variable of the translator's that is given its value where control comes by the first time.
  static std::string madeOnce(const std::string &Name, const std::string &Value) {
    return "auto " + Name + " = gmpi_re ? ::gmpi::split::Nothing() : (" + Value + "); ";
  }
  void listElements(llvm::ArrayRef<const clang::Expr *> Elements, Items &Into);
  void argument(const clang::CallExpr *E, unsigned I, size_t Point, Items &Into,
                std::string &Saves);
  bool harmless(const clang::Stmt *E, bool IsResult) const;
  bool checkOrder(const clang::Expr *E);
  std::string callText(size_t Point, const std::string &Arguments) const;
  std::string calleeText(const SuspensionPoint &P, const clang::CallExpr *E);
  std::string emit(Items &From, bool PointsFollow, std::vector<const Item *> Before = {});
  static std::string slotOf(const Item &Value);
  std::string suspension(const Item &From, const std::vector<const Item *> &Before);
  void forEffective(const Span *Within, llvm::function_ref<void(const Replacement &)> Visit) const;
  /// `WithEnd`: with what is inserted right behind it, too.
  std::string render(const Span &What, bool WithEnd = false) const;
  std::string render(const clang::Expr *E) const;
  void replace(const Span &What, std::string Text) { Replaced.push_back({What, std::move(Text)}); }

  // Points
  Range pointsIn(const clang::Stmt *S) const;
  std::optional<size_t> pointOf(const clang::Stmt *S) const;
  static std::string within(Range R);
  std::string keep(const std::string &Name, Range R);
  static std::string guard(Range R) { return "if (!gmpi_re || " + within(R) + ") "; }

  void refuse(clang::SourceLocation Loc, DiagId Id, std::vector<std::string> Arguments = {}) {
    Good = false;
    Refuse(Where.shown(Loc), Id, std::move(Arguments));
  }
  void insert(const Position &At, const std::string &Text) { replace({At, At.Offset}, Text); }
  std::string temporary(const char *Kind) { return Kind + std::to_string(++Temporaries); }

  Lowering &L;
  Locations Where;
  const SplitFunction &F;
  FramePlan &Plan;
  std::vector<Replacement> Calls;
  Refusal Refuse;
  std::vector<Replacement> Replaced;
  std::map<const clang::Expr *, size_t> Points; ///< by call, parentheses and casts left out
  std::map<const FrameVariable *, std::string> Aliases;
  std::map<size_t, std::string> Extra; ///< saves of values that the translator made, by point
  bool GroupOpen = false;
  Position GroupEnd;
  /// Declarations so far in the innermost switch: its next label may be reached without them.
  std::vector<const clang::DeclStmt *> CrossedByLabels;
  unsigned Temporaries = 0;
  bool Good = true;
};

} // namespace gmpi::translate
