# shellcheck shell=bash
# libevent (C, autoconf): the tests of event loops that several threads use.
fetch_source libevent
sed -i -E -e 's/(define NUM_THREADS)\s+100$/\1 3/' -e 's/(define NUM_ITERATIONS)\s+100$/\1 10/' \
    source/test/regress_thread.c
# Debian's patches make generated files look out of date.
touch source/aclocal.m4
touch source/configure source/config.h.in source/Makefile.in
build ./configure CC="raddle cc" CFLAGS="-g -O2" --disable-shared --disable-openssl --disable-samples
# Headers are made by the default target alone, so the tests come after it.
build make -j2
build make test/regress
for name in basic conditions_simple no_events; do
    both "$name" -- source/test/regress --no-fork "thread/$name"
done
