# shellcheck shell=bash
# pbzip2 (C++): a producer, consumers, a writer and a terminator around queues with mutexes and condition variables.
need libbz2-dev bzip2
fetch_source pbzip2
# Its string literals are older than C++11.
build make CXX="raddle c++" CXXFLAGS="-g -O2 -Wno-reserved-user-defined-literal" pbzip2

text 300000 >text
both compress --oracle 'bzip2 -dc "$RADDLE_STDOUT" | cmp - text' -- source/pbzip2 -p3 -b1 -k -c text

# Five streams one after another. In the damaged file the second is broken: a thread meets an error while others
# still work.
for part in 1 2 3 4 5; do
    head -c $((part * 2000)) text | tail -c 2000 | bzip2 >"stream-$part"
done
head -c 10000 text >start
cat stream-[1-5] >streams.bz2
both decompress --stdin streams.bz2 --oracle 'cmp "$RADDLE_STDOUT" start' -- source/pbzip2 -p3 -d -c
printf 'damaged!' | dd of=stream-2 bs=1 seek=300 conv=notrunc status=none
cat stream-[1-5] >damaged.bz2
check damaged --stdin damaged.bz2 -- source/pbzip2 -p3 -d -c
