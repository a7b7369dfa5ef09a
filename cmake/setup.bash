# Shared by ./quickstart and ./check: what GMPI needs on this machine, installing it where that is
# possible, and building. Sourced from the repository's root, with `set -euo pipefail`.
# Afterwards nothing else needs to know about packages.

say() { printf '\n== %s\n' "$*"; }
fail() { printf '%s: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# What is needed: Debian package, and a test that tells whether something else provides it already.
gmpi_needs() {
  cat <<'NEEDS'
g++                have_command g++ && have_header iostream
cmake              have_command cmake
ninja-build        have_command ninja
ccache             have_command ccache
python3            have_command python3
clang-22           [ -x "$(llvm_dir)/bin/clang-22" ]
llvm-22-dev        [ -f "$(llvm_dir)/lib/cmake/llvm/LLVMConfig.cmake" ]
libclang-22-dev    [ -f "$(llvm_dir)/lib/cmake/clang/ClangConfig.cmake" ]
llvm-22-tools      [ -x "$(llvm_dir)/bin/FileCheck" ]
libboost-context-dev have_header boost/context/fiber.hpp && have_library boost_context
mpich              have_command mpiexec.mpich || have_command mpiexec
libmpich-dev       have_command mpicxx.mpich || have_command mpicxx
NEEDS
  if [ "${1:-}" = tests ]; then
    echo 'libgtest-dev       have_header gtest/gtest.h && have_library gtest'
  fi
}

have_command() { command -v "$1" >/dev/null 2>&1; }
have_header() { have_command g++ && echo "#include <$1>" | g++ -std=c++17 -x c++ -fsyntax-only - 2>/dev/null; }
# Headers come by other packages, too: Debian's libboost-dev has all of Boost's, and no library.
have_library() { have_command g++ && echo 'int main() {}' | g++ -x c++ - "-l$1" -o /dev/null 2>/dev/null; }
llvm_dir() { if [ -n "${LLVM_DIR:-}" ]; then echo "${LLVM_DIR%/lib/cmake/llvm}"; else echo /usr/lib/llvm-22; fi; }

# gmpi_missing [tests]: the packages whose test fails, on one line.
gmpi_missing() {
  local package test missing=
  while read -r package test; do
    eval "$test" || missing+=" $package"
  done < <(gmpi_needs "$@")
  echo "${missing# }"
}

# gmpi_install [tests]: installs what is missing, or says exactly what is and stops.
gmpi_install() {
  local missing sudo=
  missing=$(gmpi_missing "$@")
  [ -n "$missing" ] || return 0
  have_command apt-get || gmpi_say_other_distribution "$missing"
  if [ "$(id -u)" != 0 ]; then
    sudo=sudo
    if ! have_command sudo || ! sudo -n true 2>/dev/null && [ ! -t 0 ]; then
      fail "these packages are missing; install them as root and run this again:

    apt-get update
    apt-get install -y --no-install-recommends $missing"
    fi
  fi
  say "Installing: $missing"
  export DEBIAN_FRONTEND=noninteractive
  $sudo apt-get update -q || echo "(apt-get update failed: going on with the package lists at hand)"
  # shellcheck disable=SC2086
  $sudo apt-get install -q -y --no-install-recommends $missing || gmpi_say_no_clang "$missing"
  missing=$(gmpi_missing "$@")
  [ -z "$missing" ] || fail "still missing after the installation: $missing"
}

gmpi_say_no_clang() {
  fail "apt-get could not install: $1

If it is Clang 22 that this release does not carry: Debian 12 and later have it; for other Debian and
Ubuntu releases the LLVM project's own apt repository has the same packages: clang-22 llvm-22-dev
libclang-22-dev llvm-22-tools. Add its line for your release, then run this again.
Without Clang the runtime builds alone: cmake -B build -DGMPI_BUILD_TOOL=OFF"
}

gmpi_say_other_distribution() {
  fail "this machine has no apt-get. Under Debian's names, these are missing: $1

  Fedora:     dnf install gcc-c++ cmake ninja-build ccache python3 boost-devel gtest-devel mpich-devel
  Arch Linux: pacman -S gcc cmake ninja ccache python boost gtest mpich
  openSUSE:   zypper install gcc-c++ cmake ninja ccache python3 libboost_context-devel gtest mpich-devel
  Clang 22:   clang, clang-devel, llvm-devel and lit in version 22.1 where the distribution has it
              (Fedora: clang-devel llvm-devel llvm-test; Arch: clang llvm), else an LLVM 22.1 release
              unpacked anywhere.
Then name LLVM's place and run this again: LLVM_DIR=PREFIX/lib/cmake/llvm ./${0##*/}"
}

# gmpi_configure FOLDER OPTIONS...: configures once; later runs keep what is there, unless something was
# missing then that may have been installed since.
gmpi_configure() {
  local folder=$1 generator=()
  shift
  if [ -f "$folder/CMakeCache.txt" ] && [ -f "$folder/.gmpi-options" ] &&
     [ "$(cat "$folder/.gmpi-options")" = "$*" ] &&
     ! grep -q 'was not found (Debian:' "$folder/configure.log"; then
    return 0
  fi
  have_command ninja && generator=(-G Ninja)
  [ -f "$folder/CMakeCache.txt" ] && generator=()
  mkdir -p "$folder"
  cmake -S . -B "$folder" "${generator[@]}" "$@" >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log" >&2
    fail "configuring $folder failed"
  }
  grep '^-- GMPI:' "$folder/configure.log" || true
  echo "$*" >"$folder/.gmpi-options"
}

# gmpi_build FOLDER TARGETS...: quiet when there is nothing to do.
gmpi_build() {
  local folder=$1
  shift
  cmake --build "$folder" --parallel "${GMPI_JOBS:-$(nproc)}" --target "$@"
}

# A GPU that can be used: a driver that sees one, and nvcc to compile for it.
gmpi_nvcc() {
  if have_command nvcc; then command -v nvcc
  elif [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]; then echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"
  fi
}
gmpi_have_gpu() { have_command nvidia-smi && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# gmpi_tool_options: what CMake must be told that the environment knows.
gmpi_tool_options() {
  if [ -n "${LLVM_DIR:-}" ]; then echo "-DLLVM_DIR=$LLVM_DIR"; fi
  if [ -n "${GMPI_MPICXX:-}" ]; then echo "-DGMPI_MPICXX=$GMPI_MPICXX"; fi
}
