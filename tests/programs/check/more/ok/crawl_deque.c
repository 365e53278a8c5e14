// A crawler pushes pages to fetch at the bottom of its deque; an idle helper that finds one there steals it from the
// top.
//@ none
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { PAGES = 3 };

static int pages[PAGES];
static atomic_int top, bottom;
static int fetched_by_helper;

static int steal(void) {
    int from = atomic_load_explicit(&top, memory_order_acquire);
    if (from >= atomic_load_explicit(&bottom, memory_order_acquire))
        return 0;
    int page = pages[from];
    if (!atomic_compare_exchange_strong(&top, &from, from + 1))
        return 0;
    assert(page == 100 + from);
    return 1;
}

static void *help(void *arg) {
    fetched_by_helper += steal();
    return arg;
}

static void *crawl(void *arg) {
    for (int i = 0; i < PAGES; i++) {
        pages[i] = 100 + i;
        atomic_store_explicit(&bottom, i + 1, memory_order_release);
    }
    return arg;
}

int main(void) {
    pthread_t helper, crawler;
    pthread_create(&helper, NULL, help, NULL);
    pthread_create(&crawler, NULL, crawl, NULL);
    pthread_join(helper, NULL);
    pthread_join(crawler, NULL);
    assert(fetched_by_helper == atomic_load(&top));
    return 0;
}
