/* A library with OpenMP, as a vendor's: test_openmp.c opens it in several copies. It is compiled for GCC's runtime. One
 * copy (OPENMP_CODE_CRITICAL) also calls a function that nd4c lacks. */
#include <omp.h>
#include <stdbool.h>

#include "base/openmp_code.h"

/* Calls that older compilers make for static loops and regions; newer ones compute static loops in place. */
bool GOMP_loop_static_start(long start, long end, long increment, long chunk, long *begin, long *stop);
bool GOMP_loop_static_next(long *begin, long *stop);
void GOMP_loop_end_nowait(void);
void GOMP_parallel_start(void (*function)(void *), void *data, unsigned threads);
void GOMP_parallel_end(void);

int code_max_threads(void) {
  return omp_get_max_threads();
}

int code_in_parallel(void) {
  return omp_in_parallel();
}

void code_region(int threads, code_member member, void *user) {
#pragma omp parallel num_threads(threads)
  member(user, omp_get_thread_num(), omp_get_num_threads());
}

void code_old_region(int threads, void (*member)(void *user), void *user) {
  GOMP_parallel_start(member, user, (unsigned)threads);
  member(user);
  GOMP_parallel_end();
}

int code_number(void) {
  return omp_get_thread_num();
}

void code_barrier(void) {
#pragma omp barrier
}

void code_loop(long start, long end, long increment, long chunk, code_block block, void *user) {
  long from, to;
  if (GOMP_loop_static_start(start, end, increment, chunk, &from, &to)) {
    do {
      block(user, omp_get_thread_num(), from, to);
    } while (GOMP_loop_static_next(&from, &to));
  }
  GOMP_loop_end_nowait();
}

#if defined(OPENMP_CODE_CRITICAL)
int code_critical(int value) {
#pragma omp critical
  value++;
  return value;
}
#endif
