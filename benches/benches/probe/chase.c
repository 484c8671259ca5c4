// How long a load takes that the next one waits for, in nanoseconds: pointers in one random cycle (S. Sattolo, Information
// Processing Letters 22, 1986), a line each, in huge pages. The best of several runs is printed.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

struct line {
    struct line *next;
    char rest[64 - sizeof(struct line *)];
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const size_t count = (size_t)atol(argv[1]) / sizeof(struct line);
    const long runs = atol(argv[2]), steps = 1000000;
    struct line *lines = aligned_alloc(2 << 20, count * sizeof(struct line));
    size_t *order = malloc(count * sizeof(size_t));
    if (!lines || !order || count < 2) return 1;
    madvise(lines, count * sizeof(struct line), MADV_HUGEPAGE);
    uint64_t state = 88172645463325252u;
    for (size_t at = 0; at < count; at++) order[at] = at;
    for (size_t last = count - 1; last > 0; last--) {
        // Marsaglia's xorshift, Journal of Statistical Software 8(14), 2003.
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        const size_t other = state % last, kept = order[last];
        order[last] = order[other], order[other] = kept;
    }
    for (size_t at = 0; at < count; at++) lines[at].next = &lines[order[at]];
    free(order);
    struct line *volatile place = lines;
    double best = 1e30;
    for (long run = 0; run < runs; run++) {
        struct line *at = place;
        const double begun = now();
        for (long step = 0; step < steps; step++) at = at->next;
        place = at;
        const double took = now() - begun;
        if (run > 0 && took < best) best = took;
    }
    printf("latency %.6g\n", 1e9 * best / (double)steps);
    return 0;
}
