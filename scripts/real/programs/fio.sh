# shellcheck shell=bash
# fio (C, a configure script of its own): threads that read and write a file each, and one that watches them. It keeps its
# state in System V shared memory and times itself by the processor's counter of cycles.
fetch_source fio
build ./configure --cc="raddle cc" --disable-native --disable-http --disable-rbd --disable-gfapi
build make -j2 fio

mkdir data
cat >job <<JOB
[global]
thread
ioengine=sync
rw=randrw
verify=crc32c
size=32k
bs=4k
directory=$PWD/data
[worker]
numjobs=2
JOB
both verify --oracle '! grep -q "err= *[1-9]" "$RADDLE_STDOUT"' -- source/fio job
