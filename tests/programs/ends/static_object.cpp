// bug: a detached thread uses a static object, whose destructor runs when main returns
#include <semaphore.h>
#include <thread>
#include <vector>

static sem_t ready, go;
static std::vector<int> numbers(4, 1);

int main() {
    sem_init(&ready, 0, 0);
    sem_init(&go, 0, 0);
    std::thread([] {
        int *first = numbers.data();
        sem_post(&ready);
        sem_wait(&go);
        *first += 1;
    }).detach();
    sem_wait(&ready);
    sem_post(&go);
}
