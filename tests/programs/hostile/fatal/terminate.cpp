// hostile: an exception leaves a thread's function while main waits for another thread
// failure: crash: SIGABRT
#include <mutex>
#include <stdexcept>
#include <thread>

int main() {
    std::mutex lock;
    std::thread patient([&] {
        for (int i = 0; i < 3; i++)
            std::lock_guard guard(lock);
    });
    std::thread thrower([&] {
        std::lock_guard guard(lock);
        throw std::runtime_error("nobody catches this");
    });
    patient.join();
    thrower.join();
}
