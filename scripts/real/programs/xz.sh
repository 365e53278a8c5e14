# shellcheck shell=bash
# xz (C, autoconf and libtool): liblzma's threaded encoder and decoder, built as the project's own library.
need xz-utils
fetch_source xz-utils
build ./configure --disable-shared --disable-doc --disable-nls --disable-lzmadec --disable-lzmainfo \
    --disable-scripts CC="raddle cc" CFLAGS="-g -O2"
build make -j2

text 12000 >text
both compress --oracle 'xz -dc <"$RADDLE_STDOUT" | cmp - text' -- \
    source/src/xz/xz -T3 -0 --block-size=4096 -k -c text
xz -T3 -0 --block-size=4096 -k -c text >packed.xz
both decompress --oracle 'cmp "$RADDLE_STDOUT" text' -- source/src/xz/xz -T3 -d -k -c packed.xz
