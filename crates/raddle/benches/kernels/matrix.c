// Matrix multiplication, the rows shared out among the threads.
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, SIZE = 220 };

static double a[SIZE][SIZE], b[SIZE][SIZE], c[SIZE][SIZE];

static void *work(void *argument) {
    for (long row = (long)argument; row < SIZE; row += THREADS)
        for (int column = 0; column < SIZE; column++) {
            double sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += a[row][k] * b[k][column];
            c[row][column] = sum;
        }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++) {
            a[i][j] = i + j;
            b[i][j] = i - j;
        }
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    double trace = 0;
    for (int i = 0; i < SIZE; i++)
        trace += c[i][i];
    printf("%.0f\n", trace);
}
