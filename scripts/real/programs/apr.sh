# shellcheck shell=bash
# apr (C, autoconf), Apache's portable runtime: the tests of its threads, locks, condition variables and atomics.
fetch_source apr
sed -i -E \
    -e 's/(define MAX_(ITER|COUNTER)) .*/\1 60/' \
    -e 's/(define NUM_THREADS) .*/\1 3/' \
    -e 's/(define NUM_ITERATIONS) .*/\1 30/' source/test/test{lock,atomic}.c
build ./configure CC="raddle cc" CFLAGS="-g -O2" --disable-shared
build make -j2
build make -C test testall
for name in testthread testlock testcond testatomic; do
    both "$name" -- source/test/testall "$name"
done
