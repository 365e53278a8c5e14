# shellcheck shell=bash
# apr (C, autoconf), Apache's portable runtime: the tests of its threads, locks, condition variables and atomics.
fetch_source apr
sed -i -E \
    -e 's/(define MAX_(ITER|COUNTER)) .*/\1 60/' \
    -e 's/(define NUM_THREADS) 40$/\1 3/' \
    -e 's/(define NUM_ITERATIONS) .*/\1 30/' \
    -e 's/(loop =) 50;/\1 5;/' source/test/test{lock,atomic}.c
# Two threads wake each other for three seconds: 26 million events.
sed -i -E \
    -e 's/(define NTHREADS) .*/\1 4/' \
    -e 's/(loop =) 500;/\1 20;/' \
    -e 's/apr_sleep\(3000000\)/apr_sleep(3000)/' source/test/testcond.c
build ./configure CC="raddle cc" CFLAGS="-g -O2" --disable-shared
build make -j2
build make -C test testall
for name in testthread testlock testcond testatomic; do
    both "$name" -- source/test/testall "$name"
done
