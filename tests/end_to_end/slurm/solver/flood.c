/* Writes to the file server from several threads without pause, in stretches: flood SERVER NODE THREADS BEFORE_S CONTENDED_S CLEAR_S STRETCHES
 *
 * The first stretch begins after BEFORE_S, the others after CLEAR_S; each lasts CONTENDED_S. It prints when. */
#define _POSIX_C_SOURCE 200809L
#include "file_server.h"
#include <pthread.h>
#include <time.h>

enum { THREADS_MAX = 16 };

static const char *path, *node;
static double until_s;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *flood(void *unused) {
    static const char block[100000];
    int server = open_server(path, node);
    while (now_s() < until_s) write_block(server, block, sizeof block);
    close(server);
    return unused;
}

int main(int argc, char **argv) {
    pthread_t writers[THREADS_MAX];
    int threads, stretch, at;
    if (argc != 8) return 2;
    path = argv[1], node = argv[2], threads = atoi(argv[3]);
    if (threads > THREADS_MAX) return 2;
    for (stretch = 0; stretch < atoi(argv[7]); stretch++) {
        sleep((unsigned)atoi(argv[stretch == 0 ? 4 : 6]));
        double begun_s = now_s();
        until_s = begun_s + atof(argv[5]);
        for (at = 0; at < threads; at++) pthread_create(&writers[at], NULL, flood, NULL);
        for (at = 0; at < threads; at++) pthread_join(writers[at], NULL);
        printf("stretch %.3f %.3f\n", begun_s, now_s());
    }
    return 0;
}
