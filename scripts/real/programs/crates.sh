# shellcheck shell=bash
# parking_lot, crossbeam, rayon and tokio (Rust): small programs of this workspace on these crates.
cp -r "$workspace/tests/projects/crates" source
build cargo raddle build
for name in parking_lot crossbeam rayon tokio; do
    both "$name" -- "$(find "$PWD/source/target/raddle" -path "*/debug/$name" -type f)"
done
