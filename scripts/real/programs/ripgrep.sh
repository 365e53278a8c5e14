# shellcheck shell=bash
# ripgrep (Rust): a directory searched by several threads that steal work from each other.
fetch_crate ripgrep
build cargo raddle build
rg=$(find "$PWD/source/target/raddle" -path '*/debug/rg' -type f)

mkdir -p tree/0 tree/1/deep tree/2/deeper
for part in $(seq 12); do
    text $((part * 700)) | tail -c 700 >"tree/$((part % 3))/$part"
done
grep -rc 'fn ' tree | grep -v ':0$' | sort >expected
both search --oracle 'sort "$RADDLE_STDOUT" | cmp - expected' -- "$rg" -j3 --no-config -c 'fn ' tree
