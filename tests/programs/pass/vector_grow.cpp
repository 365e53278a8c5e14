// corrected: the element is used under the lock
#include <mutex>
#include <thread>
#include <vector>

struct Player {
    int score = 0;
};

static std::mutex lock;
static std::vector<Player> players(2);

static void add_score(size_t index, int points) {
    std::lock_guard guard(lock);
    players[index].score += points;
}

int main() {
    std::thread joining([] {
        std::lock_guard guard(lock);
        players.push_back(Player{});
    });
    add_score(0, 5);
    joining.join();
    return players[0].score == 5 ? 0 : 1;
}
