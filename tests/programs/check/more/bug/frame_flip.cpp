// A game draws into the back buffer and flips; a display copies the front buffer.
// bug: the display takes the front buffer's number and copies without the lock, while a second flip reuses it
//@ expect: data-race draw copy
//@ also: data-race
//@ also: atomicity-violation
//@ consequence: none|assertion
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex lock;
static int front;
static int frames[2][2];

static void draw(int color) {
    std::lock_guard<std::mutex> guard(lock);
    int back = 1 - front;
    for (int i = 0; i < 2; i++) {
        frames[back][i] = color; // @draw
    }
    front = back;
}

static void play() {
    draw(1);
    draw(2);
}

static void show() {
    int shown;
    {
        std::lock_guard<std::mutex> guard(lock);
        shown = front;
    }
    int left = frames[shown][0]; // @copy
    int right = frames[shown][1];
    assert(left == right);
}

int main() {
    std::thread game(play);
    std::thread display(show);
    game.join();
    display.join();
}
