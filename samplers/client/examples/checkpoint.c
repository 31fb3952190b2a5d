/* A program that reports its steps, and puts off its checkpoint while it is contended, but not for longer than ten steps. */
#define TAILBACK_IMPLEMENTATION
#include "tailback.h"
#include <stdio.h>

int main(void) {
    int put_off = 0;
    for (int step = 1; step <= 100; step++) {
        /* compute(step); */
        tailback_progress("steps", (unsigned long long)step);
        if (step % 10 != 0 && put_off == 0) continue;
        struct tailback_answer now = tailback_contention();
        if (now.state == TAILBACK_CONTENDED && put_off < 10) {
            put_off++;
            continue;
        }
        put_off = 0;
        printf("step %d: checkpoint, lost so far: %.1f s\n", step, now.lost_s < 0 ? 0.0 : now.lost_s);
        /* checkpoint(step); */
    }
    return 0;
}
