// Several threads post letters to an actor: each swings the tail to its letter and links the letter in afterwards.
//@ none
#include <atomic>
#include <cassert>
#include <thread>

struct Letter {
    std::atomic<Letter *> next{nullptr};
    int text = 0;
};

static Letter stub;
static std::atomic<Letter *> tail{&stub};
static Letter letters[2];

static void post(Letter *letter, int text) {
    letter->text = text;
    Letter *last = tail.exchange(letter, std::memory_order_relaxed);
    last->next.store(letter, std::memory_order_release);
}

static int receive_all() {
    int sum = 0;
    Letter *at = &stub;
    for (int received = 0; received < 2;) {
        Letter *next = at->next.load(std::memory_order_acquire);
        if (next == nullptr) {
            std::this_thread::yield();
            continue;
        }
        at = next;
        sum += at->text;
        received++;
    }
    return sum;
}

int main() {
    std::thread first([] { post(&letters[0], 3); });
    std::thread second([] { post(&letters[1], 4); });
    int sum = receive_all();
    assert(sum == 7);
    first.join();
    second.join();
}
