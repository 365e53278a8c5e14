# shellcheck shell=bash
# xz (C, autoconf and libtool): liblzma's threaded encoder, on some hundred kilobytes.
need xz-utils
fetch_source xz-utils
build ./configure --disable-shared --disable-doc --disable-nls --disable-lzmadec --disable-lzmainfo \
    --disable-scripts CC="raddle cc" CFLAGS="-g -O2"
build make -j2

text 400000 >text
long compress --oracle 'xz -dc <"$RADDLE_STDOUT" | cmp - text' -- \
    source/src/xz/xz -T3 -0 --block-size=65536 -k -c text
