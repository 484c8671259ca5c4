// Bandwidth as STREAM defines it: J. D. McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance Computers",
// IEEE TCCA Newsletter, December 1995, and the run rules at https://www.cs.virginia.edu/stream/ref.html: arrays of doubles, each
// counted once, each at least four times the last cache, filled by the threads that use them, the best of several runs, the first
// left out. Written for this bench; it prints `triad BYTES_PER_S` and `read BYTES_PER_S`, of which STREAM has only the first.
// With -DNON_TEMPORAL triad stores past the caches.
#include <immintrin.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef NON_TEMPORAL
#if defined(__AVX512F__)
#define LANES 8
#define PAST(to, x, y, by) _mm512_stream_pd(to, _mm512_fmadd_pd(by, _mm512_load_pd(y), _mm512_load_pd(x)))
#define WIDE __m512d
#define ALL(x) _mm512_set1_pd(x)
#elif defined(__AVX__)
#define LANES 4
#define PAST(to, x, y, by) _mm256_stream_pd(to, _mm256_add_pd(_mm256_mul_pd(by, _mm256_load_pd(y)), _mm256_load_pd(x)))
#define WIDE __m256d
#define ALL(x) _mm256_set1_pd(x)
#else
#define LANES 2
#define PAST(to, x, y, by) _mm_stream_pd(to, _mm_add_pd(_mm_mul_pd(by, _mm_load_pd(y)), _mm_load_pd(x)))
#define WIDE __m128d
#define ALL(x) _mm_set1_pd(x)
#endif
#endif

static const double scalar = 3.0;

static void triad(double *restrict a, const double *restrict b, const double *restrict c, long count) {
#ifdef NON_TEMPORAL
    const WIDE by = ALL(scalar);
#pragma omp parallel
    {
#pragma omp for schedule(static)
        for (long at = 0; at < count; at += LANES) PAST(a + at, b + at, c + at, by);
        _mm_sfence();
    }
#else
#pragma omp parallel for schedule(static)
    for (long at = 0; at < count; at++) a[at] = b[at] + scalar * c[at];
#endif
}

static double read_all(const double *b, long count) {
    double sum = 0.0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
    for (long at = 0; at < count; at++) sum += b[at];
    return sum;
}

static double *array(long count) {
    double *start = aligned_alloc(2 << 20, (size_t)count * sizeof(double));
    if (!start) exit(1);
    // As the arrays that it is held against.
    madvise(start, (size_t)count * sizeof(double), MADV_HUGEPAGE);
    return start;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    const long count = atol(argv[1]) / (1 << 18) * (1 << 18), runs = atol(argv[2]);
    if (count <= 0 || runs < 2) return 2;
    double *a = array(count), *b = array(count), *c = array(count);
#pragma omp parallel for schedule(static)
    for (long at = 0; at < count; at++) {
        a[at] = 0.5;
        b[at] = 1.0 + (double)(at % 1021) / 1024.0;
        c[at] = 2.0 - (double)(at % 509) / 512.0;
    }
    double best_triad = 1e30, best_read = 1e30, sum = 0.0;
    for (long run = 0; run < runs; run++) {
        const double begun = omp_get_wtime();
        triad(a, b, c, count);
        const double between = omp_get_wtime();
        sum += read_all(b, count);
        const double ended = omp_get_wtime();
        if (run > 0 && between - begun < best_triad) best_triad = between - begun;
        if (run > 0 && ended - between < best_read) best_read = ended - between;
    }
    // The results have to be right, and used.
    for (long at = 0; at < count; at += 997)
        if (a[at] != b[at] + scalar * c[at]) return 3;
    if (sum <= 0.0) return 3;
    printf("triad %.6g\nread %.6g\n", 24.0 * (double)count / best_triad, 8.0 * (double)count / best_read);
    return 0;
}
