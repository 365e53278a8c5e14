// A store has four shards with a lock each; moving a key locks its shard and the next one.
//@ none
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>

enum { SHARDS = 4 };

struct Shard {
    std::mutex lock;
    int keys = 1;
};

static Shard shards[SHARDS];

static void move_key(int from) {
    int to = (from + 1) % SHARDS;
    std::lock_guard<std::mutex> first(shards[from < to ? from : to].lock);
    std::lock_guard<std::mutex> second(shards[from < to ? to : from].lock);
    shards[from].keys--;
    shards[to].keys++;
}

int main() {
    std::vector<std::thread> movers;
    for (int i = 0; i < SHARDS; i++)
        movers.emplace_back(move_key, i);
    for (std::thread &mover : movers)
        mover.join();
    int keys = 0;
    for (Shard &shard : shards)
        keys += shard.keys;
    assert(keys == SHARDS);
}
