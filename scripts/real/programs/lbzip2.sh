# shellcheck shell=bash
# lbzip2 (C, autoconf): its own bzip2, work for threads in priority queues under one lock; main waits for signals.
need bzip2
fetch_source lbzip2
# Its copy of gnulib is older than today's libc.
build ./configure CC="raddle cc" CFLAGS="-g -O2" CPPFLAGS="-D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100"
build make -j2

text 6000 >text
both compress --oracle 'bzip2 -dc <"$RADDLE_STDOUT" | cmp - text' -- source/src/lbzip2 -n3 -1 -k -c text
for part in 1 2 3; do
    head -c $((part * 1500)) text | tail -c 1500 | bzip2
done >streams.bz2
head -c 4500 text >start
both decompress --oracle 'cmp "$RADDLE_STDOUT" start' -- source/src/lbzip2 -n3 -d -k -c streams.bz2
