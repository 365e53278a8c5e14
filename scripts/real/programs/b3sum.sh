# shellcheck shell=bash
# b3sum (Rust, rayon, with C and assembly built by cc): a file hashed by the threads of a pool.
fetch_crate b3sum
build cargo raddle build
b3sum=$(find "$PWD/source/target/raddle" -path '*/debug/b3sum' -type f)

text 300000 >text
# The sum of one thread is what those of several have to come to.
"$b3sum" --num-threads 1 text >sums
both sum --oracle 'cmp "$RADDLE_STDOUT" sums' -- "$b3sum" --num-threads 3 text
