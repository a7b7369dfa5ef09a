// From the contexts in which functions were interpreted to the versions of them that the output
// needs: one version for each combination of scopes.
#pragma once

#include "Interpreter.h"

namespace gmpi::translate {

class Specialiser {
public:
  Specialiser(clang::ASTContext &Context, MpiReach &Reach, ScopeDiagnosticSink &Sink)
      : Context(Context), Reach(Reach), Sink(Sink) {}

  /// Takes in one kernel as interpreted; says its errors.
  void addKernel(const clang::FunctionDecl *Kernel, const std::shared_ptr<const Run> &Of);
  /// Calls that no kernel of this file reaches: they have the scope that a pragma says, else
  /// thread. With LeaveOut, a function is left out if no kernel here reaches any of it.
  void addUnreached(const clang::FunctionDecl *Function, const Engine &Shared, bool LeaveOut);
  void refuse(clang::SourceLocation Loc, std::string Id, std::vector<std::string> Arguments) {
    report({{{Loc, std::move(Id), std::move(Arguments)}}});
  }
  /// In source order.
  ScopeResult finish();
  bool failed() const { return Failed; }

private:
  /// What stands at one place of a function, in one version.
  struct Entry {
    ScopedCall Call;
    std::optional<CalleeUse> Callee;
    const clang::FunctionDecl *In = nullptr; ///< the function or lambda it stands in
    bool agreesWith(const Entry &Other) const;
    void add(const Entry &Other);
  };
  using Version = std::map<clang::SourceLocation, Entry>;
  struct Function {
    bool Kernel = false;
    std::optional<Scope> Widest;
    std::vector<Version> Versions;
    const clang::FunctionDecl *Example = nullptr;
  };

  Version versionOf(const Run &Of, std::optional<Scope> &Widest);
  Version takeOutside(Version &All, const clang::FunctionDecl *Written) const;
  void merge(Version &Into, const Entry &New, clang::SourceLocation At,
             const clang::FunctionDecl *In);
  void refuseLambda(clang::SourceLocation At, const Entry &In);
  unsigned place(const clang::FunctionDecl *Function, const Version &New, bool Kernel);
  std::vector<std::pair<const void *, Run::Callee>> calleesInOrder(const Run &Of) const;
  void report(const ScopeError &Error);
  void reportErrors(const Run &Of);
  void noteUniform(const Run &Of);

  clang::ASTContext &Context;
  MpiReach &Reach;
  ScopeDiagnosticSink &Sink;
  bool Failed = false;
  std::map<const clang::FunctionDecl *, Function> Functions;
  struct Placed {
    unsigned Index = 0;
    Version Lambdas; ///< of lambdas that are not the callee's own
    std::optional<Scope> Widest;
  };
  std::map<const Run *, Placed> Done;
  std::vector<std::shared_ptr<const Run>> Kept;
  std::set<const Run *> Reported, Noted;
  std::map<clang::SourceLocation, std::set<clang::SourceLocation>> Uniform;
};

} // namespace gmpi::translate
