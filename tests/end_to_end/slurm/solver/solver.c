/* Heat in a plate, by Jacobi's method: solver SERVER NODE ITERATIONS REPORTS
 *
 * It writes a checkpoint every so many iterations, and waits for it. Each iteration hands a frame of pictures to a thread that writes
 * them beside the computation; a frame is left out while the one before is still being written. With REPORTS 1 it reports its
 * iterations. It asks whether it is contended, and prints each change of the answer.
 *
 * An iteration takes PERIOD_S of the time outside of checkpoints, as one that waits for its neighbours does: other programs of the
 * machine do not slow it. */
#define TAILBACK_IMPLEMENTATION
#include "tailback.h"

#include "file_server.h"
#include <pthread.h>

#define PERIOD_S 0.05
enum { SIDE = 160, SWEEPS = 20, EACH_CHECKPOINT = 20, CHECKPOINT_BYTES = 1500000, FRAME_BYTES = 400000 };

static double plate[SIDE][SIDE], next[SIDE][SIDE];
static char block[CHECKPOINT_BYTES];

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int server, is_waiting, is_over;
    unsigned long written;
} frames = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, -1, 0, 0, 0};

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void sleep_for(double pause_s) {
    struct timespec pause;
    if (pause_s <= 0) return;
    pause.tv_sec = (time_t)pause_s;
    pause.tv_nsec = (long)((pause_s - (double)pause.tv_sec) * 1e9);
    nanosleep(&pause, NULL);
}

/* Some sweeps over the plate; the last change. */
static double iterate(void) {
    double change = 0;
    int sweep, row, column;
    for (sweep = 0; sweep < SWEEPS; sweep++) {
        change = 0;
        for (row = 1; row < SIDE - 1; row++)
            for (column = 1; column < SIDE - 1; column++) {
                double mean = (plate[row - 1][column] + plate[row + 1][column] + plate[row][column - 1] + plate[row][column + 1]) / 4;
                change += mean > plate[row][column] ? mean - plate[row][column] : plate[row][column] - mean;
                next[row][column] = mean;
            }
        for (row = 1; row < SIDE - 1; row++) memcpy(&plate[row][1], &next[row][1], (SIDE - 2) * sizeof(double));
    }
    return change;
}

static void *write_frames(void *unused) {
    static char frame[FRAME_BYTES];
    pthread_mutex_lock(&frames.lock);
    for (;;) {
        while (!frames.is_waiting && !frames.is_over) pthread_cond_wait(&frames.changed, &frames.lock);
        if (frames.is_over) break;
        pthread_mutex_unlock(&frames.lock);
        write_block(frames.server, frame, sizeof frame);
        pthread_mutex_lock(&frames.lock);
        frames.is_waiting = 0;
        frames.written++;
    }
    pthread_mutex_unlock(&frames.lock);
    return unused;
}

/* Hands over a frame unless the one before is still being written; ends the thread where `is_over`. */
static void signal_frame(int is_over) {
    pthread_mutex_lock(&frames.lock);
    frames.is_waiting = 1;
    frames.is_over = is_over;
    pthread_cond_signal(&frames.changed);
    pthread_mutex_unlock(&frames.lock);
}

int main(int argc, char **argv) {
    double begun, writing_s = 0, change = 0;
    int server, iteration, iterations, column, state = -1;
    pthread_t writer;
    if (argc != 5) return 2;
    iterations = atoi(argv[3]);
    server = open_server(argv[1], argv[2]);
    frames.server = open_server(argv[1], argv[2]);
    for (column = 0; column < SIDE; column++) plate[0][column] = 100;
    pthread_create(&writer, NULL, write_frames, NULL);
    begun = seconds(CLOCK_MONOTONIC);
    printf("begun %.3f\n", seconds(CLOCK_REALTIME));
    for (iteration = 1; iteration <= iterations; iteration++) {
        struct tailback_answer answer = tailback_contention();
        if ((int)answer.state != state) printf("state %.3f %d\n", seconds(CLOCK_REALTIME), state = (int)answer.state);
        change = iterate();
        signal_frame(0);
        sleep_for(begun + writing_s + iteration * PERIOD_S - seconds(CLOCK_MONOTONIC));
        if (iteration % EACH_CHECKPOINT == 0) {
            double from = seconds(CLOCK_MONOTONIC);
            memcpy(block, plate, sizeof plate);
            write_block(server, block, sizeof block);
            writing_s += seconds(CLOCK_MONOTONIC) - from;
        }
        if (argv[4][0] == '1') tailback_progress("iterations", (unsigned long long)iteration);
    }
    printf("wall_s %.3f\n", seconds(CLOCK_MONOTONIC) - begun);
    signal_frame(1);
    pthread_join(writer, NULL);
    printf("writing_s %.3f\nframes %lu\nchange %.6f\n", writing_s, frames.written, change);
    return 0;
}
