/* Counts ten names, two of them often, and again after the pause between two requests. */
#define TAILBACK_PAUSE_MS 3000
#define TAILBACK_IMPLEMENTATION
#include "tailback.h"

int main(void) {
    struct timespec pause = {3, 100000000};
    char name[8];
    int at;
    tailback_progress("steps", 1);
    tailback_progress("bytes", 5);
    tailback_progress("steps", 2);
    tailback_progress("Not a name", 1);
    tailback_progress("", 1);
    tailback_progress("name_that_is_longer_than_32_bytes_", 1);
    for (at = 1; at < 9; at++) {
        snprintf(name, sizeof name, "n%d", at);
        tailback_progress(name, 18446744073709551615ULL);
    }
    nanosleep(&pause, NULL);
    tailback_progress("steps", 3);
    return 0;
}
