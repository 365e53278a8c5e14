# shellcheck shell=bash
# leveldb (C++, CMake): a thread reads a list without locks while another one adds to it, a thousand times over.
need cmake libgtest-dev libgmock-dev
fetch_source leveldb
build cmake -S . -B build -DCMAKE_C_COMPILER=raddle-cc -DCMAKE_CXX_COMPILER=raddle-cxx \
    -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLEVELDB_BUILD_TESTS=OFF -DLEVELDB_BUILD_BENCHMARKS=OFF -DHAVE_SNAPPY=OFF
build make -C build -j2 leveldb
build raddle c++ -std=c++17 -g -O2 -I. -Iinclude -Ibuild/include -DLEVELDB_PLATFORM_POSIX=1 -o skiplist_test \
    db/skiplist_test.cc build/libleveldb.a -lgtest -lgmock -lpthread
long concurrent1 -- source/skiplist_test --gtest_filter=SkipTest.Concurrent1
