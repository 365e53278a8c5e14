#!/bin/sh
# Builds as automake's rules would: objects and libraries in both kinds, installed afterwards.
# usage: build.sh SOURCES CC CXX PREFIX
set -eu
sources=$1 cc=$2 cxx=$3 prefix=$4
# A configure script would have made a libtool that knows the compilers.
sed "s|^CC=\"gcc\"|CC=\"$cc\"|; s|^CC=\"g++\"|CC=\"$cxx\"|" "$(command -v libtool)" >libtool
chmod +x libtool
run() { ./libtool --quiet --tag=CC "$@"; }
for unit in counter store main; do
    run --mode=compile "$cc" -O2 -c "$sources/$unit.c" -o "$unit.lo"
done
run --mode=compile "$cc" -c "$sources/step.S" -o step.lo
./libtool --quiet --tag=CXX --mode=compile "$cxx" -O2 -c "$sources/throw.cpp" -o throw.lo
# A convenience library becomes a part of those that use it.
run --mode=link "$cc" counter.lo step.lo -o libcounter.la
run --mode=link "$cc" store.lo -o libstore.la -rpath "$prefix/lib" -version-info 1:2:0
./libtool --quiet --tag=CXX --mode=link "$cxx" main.lo throw.lo libcounter.la libstore.la -pthread -o program
mkdir -p "$prefix/lib" "$prefix/bin"
run --mode=install install libstore.la "$prefix/lib/libstore.la"
run --mode=install install program "$prefix/bin/program"
