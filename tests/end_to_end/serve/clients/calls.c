/* Asks as often as its first argument says, or reports if the second one is "report"; prints the last answer, and the median and the
 * longest call in microseconds. If it is "fork" two processes ask after half of the calls, and the first one prints. */
#define TAILBACK_PAUSE_MS 0
#define TAILBACK_IMPLEMENTATION
#include "tailback.h"
#include <sys/wait.h>

static int by_size(const void *a, const void *b) {
    double one = *(const double *)a, other = *(const double *)b;
    return (one > other) - (one < other);
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(int count, char **arguments) {
    int calls = count > 1 ? atoi(arguments[1]) : 1, call;
    const char *mode = count > 2 ? arguments[2] : "";
    pid_t child = -1;
    double *took = calloc((size_t)calls, sizeof *took);
    struct tailback_answer answer = {TAILBACK_NOT_JUDGED, -1, -1, -1, -1, -1};
    if (took == NULL) return 1;
    for (call = 0; call < calls; call++) {
        double start;
        if (strcmp(mode, "fork") == 0 && call == calls / 2) child = fork();
        start = microseconds();
        if (strcmp(mode, "report") == 0)
            tailback_progress("steps", (unsigned long long)call + 1);
        else
            answer = tailback_contention();
        took[call] = microseconds() - start;
    }
    if (child == 0) _exit(0);
    if (child > 0) waitpid(child, NULL, 0);
    qsort(took, (size_t)calls, sizeof *took, by_size);
    printf("%d %.1f %.1f %.1f\n", answer.state, answer.lost_s, took[calls / 2], took[calls - 1]);
    free(took);
    return 0;
}
