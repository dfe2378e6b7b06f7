/* The functions of openmp_code.c. */
#ifndef ND4C_TESTS_BASE_OPENMP_CODE_H
#define ND4C_TESTS_BASE_OPENMP_CODE_H

typedef void (*code_member)(void *user, int number, int members);
typedef void (*code_block)(void *user, int number, long begin, long end);

/* What the calling thread is told. */
int code_max_threads(void);
int code_in_parallel(void);
int code_number(void);
/* Runs a region, in the way of newer and of older compilers. */
void code_region(int threads, code_member member, void *user);
void code_old_region(int threads, void (*member)(void *user), void *user);
/* Inside a region. */
void code_barrier(void);
void code_loop(long start, long end, long increment, long chunk, code_block block, void *user);

/* X(result, name, parameters) */
#define CODE_FUNCTIONS(X)                                                         \
  X(int, code_max_threads, (void))                                                \
  X(int, code_in_parallel, (void))                                                \
  X(int, code_number, (void))                                                     \
  X(void, code_region, (int threads, code_member member, void *user))             \
  X(void, code_old_region, (int threads, void (*member)(void *user), void *user)) \
  X(void, code_barrier, (void))                                                   \
  X(void, code_loop, (long start, long end, long increment, long chunk, code_block block, void *user))

#endif
