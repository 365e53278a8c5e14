// Bidders raise the price of an auction; a bidder whose try comes too late looks up the winner under both locks.
// bug: the late bidder takes the bidders' lock first and the auction's second, the winner the other way round
//@ expect: deadlock
//@ consequence: deadlock
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex auction_lock, bidders_lock;
static std::atomic<int> price{10};
static int winner;
static int late_bids;

static void win(int bidder) {
    std::lock_guard<std::mutex> auction(auction_lock);
    std::lock_guard<std::mutex> bidders(bidders_lock);
    winner = bidder;
}

static void give_up() {
    std::lock_guard<std::mutex> bidders(bidders_lock);
    std::lock_guard<std::mutex> auction(auction_lock);
    late_bids++;
}

static void bid(int bidder) {
    int seen = price.load();
    if (price.compare_exchange_strong(seen, seen + bidder))
        win(bidder);
    else
        give_up();
}

int main() {
    std::thread first(bid, 1);
    std::thread second(bid, 2);
    first.join();
    second.join();
    assert(winner == 1 || winner == 2);
    assert(late_bids <= 1);
}
