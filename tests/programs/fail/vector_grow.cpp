// bug: a reference into a vector is used after the lock is released, while another thread makes the vector grow
// expect: use-after-free|exit
#include <mutex>
#include <thread>
#include <vector>

struct Player {
    int score = 0;
};

static std::mutex lock;
static std::vector<Player> players(2);

static Player &find(size_t index) {
    std::lock_guard guard(lock);
    return players[index];
}

int main() {
    std::thread joining([] {
        std::lock_guard guard(lock);
        players.push_back(Player{});
    });
    find(0).score += 5;
    joining.join();
    return players[0].score == 5 ? 0 : 1;
}
