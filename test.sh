#!/bin/sh
# Checks everything: format, lints, tests. Installs what is missing first: clang, because the tests build C
# and C++ programs, OpenMP and oneTBB, because some of those use them, gdb, because they debug one, z3, because they
# hold the solver against it, and the tools that the projects in tests/projects are built with.
set -eu
cd "$(dirname "$0")"

install() {
    if [ "$(id -u)" = 0 ]; then
        apt-get update && apt-get install -y --no-install-recommends "$@"
    elif command -v sudo >/dev/null; then
        sudo apt-get update && sudo apt-get install -y --no-install-recommends "$@"
    else
        echo "test.sh: please install $* first; this needs root, and there is no sudo here" >&2
        exit 1
    fi
}

missing=
command -v clang++ >/dev/null || missing="$missing clang"
command -v gdb >/dev/null || missing="$missing gdb"
command -v z3 >/dev/null || missing="$missing z3"
command -v make >/dev/null || missing="$missing make"
command -v cmake >/dev/null || missing="$missing cmake"
command -v libtool >/dev/null || missing="$missing libtool libtool-bin"
command -v objcopy >/dev/null || missing="$missing binutils"
command -v gcc >/dev/null || missing="$missing gcc"
echo 'int main(void) { return 0; }' | clang -fopenmp -x c -o /dev/null - 2>/dev/null || missing="$missing libomp-dev"
echo '#include <tbb/version.h>' | clang++ -fsyntax-only -x c++ - 2>/dev/null || missing="$missing libtbb-dev"
if [ -n "$missing" ]; then
    if ! command -v apt-get >/dev/null; then
        echo "test.sh: please install$missing with your package manager first" >&2
        exit 1
    fi
    # shellcheck disable=SC2086
    install $missing
fi

cargo fmt --all --check
cargo clippy --workspace --all-targets -- -D warnings
cargo test --workspace
