# shellcheck shell=bash
# pigz (C): compressing threads and a writing one; its own locks, which are counters with a mutex and a condition.
need zlib1g-dev gzip
fetch_source pigz
build make CC="raddle cc" CFLAGS="-g -O2" pigz

text 600000 >text
both compress --oracle 'gzip -dc <"$RADDLE_STDOUT" | cmp - text' -- source/pigz -p3 -b128 -k -c text
gzip -c text >packed.gz
both decompress --oracle 'cmp "$RADDLE_STDOUT" text' -- source/pigz -p3 -d -k -c packed.gz
