/* What a warm run of a model does besides computing: calls of the C library's allocator by nd4c and by others, such as
 * oneDNN, plans that are made, and the time. Usage: bench_warm MODEL.onnx [RUNS], as
 *
 *     build/release/bench/bench_warm build/models/llama_decode.onnx
 *
 * Inputs are ones, outputs are the caller's arrays. Prints a line of JSON, and fails if a warm run allocates or plans.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"

enum { MAX_VALUES = 64 };

/* -- counting -------------------------------------------------------------------------------------------------------
 */

static _Atomic int64_t allocations, others;
static void *library; /* where libnd4c begins; NULL: nothing is counted yet */

/* An allocation that returns to `from`. */
static void note(const void *from) {
  Dl_info info = {.dli_fbase = NULL};
  if (library != NULL) {
    const bool ours = dladdr(from, &info) != 0 && info.dli_fbase == library;
    atomic_fetch_add_explicit(ours ? &allocations : &others, 1, memory_order_relaxed);
  }
}

static void begin_counting(void) {
  Dl_info info = {.dli_fbase = NULL};
  void *function = dlsym(RTLD_DEFAULT, "nd4c_model_run");
  bench_check(function != NULL && dladdr(function, &info) != 0 ? ND4C_OK : ND4C_LIBRARY, "where libnd4c is");
  library = info.dli_fbase;
}

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* These replace the C library's functions in the whole process, as its manual allows, and call its own. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

ND4C_API void *malloc(size_t bytes) {
  note(__builtin_return_address(0));
  return __libc_malloc(bytes);
}

ND4C_API void *calloc(size_t count, size_t size) {
  note(__builtin_return_address(0));
  return __libc_calloc(count, size);
}

ND4C_API void *realloc(void *memory, size_t bytes) {
  note(__builtin_return_address(0));
  return __libc_realloc(memory, bytes);
}

ND4C_API void *aligned_alloc(size_t alignment, size_t bytes) {
  note(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}

ND4C_API int posix_memalign(void **memory, size_t alignment, size_t bytes) {
  enum { NO_MEMORY = 12 };
  note(__builtin_return_address(0));
  *memory = __libc_memalign(alignment, bytes);
  return *memory != NULL ? 0 : NO_MEMORY;
}
#endif

static void count_plans(void *user, const char *what, int64_t done, int64_t total) {
  int64_t *plans = user;
  *plans += strcmp(what, "preparing") == 0 && done == total;
}

/* -- running --------------------------------------------------------------------------------------------------------
 */

typedef struct session {
  nd4c_model *model;
  const char *names[MAX_VALUES];
  nd4c_array *inputs[MAX_VALUES], *outputs[MAX_VALUES];
  int32_t input_count, output_count;
} session;

static void open_model(const char *path, session *s) {
  bench_check(nd4c_model_open(path, NULL, &s->model), path);
  s->input_count = nd4c_model_input_count(s->model);
  s->output_count = nd4c_model_output_count(s->model);
  if (s->input_count > MAX_VALUES || s->output_count > MAX_VALUES) {
    (void)fprintf(stderr, "error: %s: more than %d inputs or outputs\n", path, (int)MAX_VALUES);
    exit(1);
  }
  for (int32_t i = 0; i < s->input_count; i++) {
    nd4c_model_value value = {.struct_size = sizeof value};
    int64_t shape[ND4C_MAX_RANK];
    bench_check(nd4c_model_input(s->model, i, &value), "nd4c_model_input");
    for (int32_t axis = 0; axis < value.rank; axis++) {
      shape[axis] = value.shape[axis] < 0 ? 1 : value.shape[axis];
    }
    s->names[i] = value.name;
    bench_check(nd4c_array_full(value.dtype, value.rank < 0 ? 0 : value.rank, shape, 1, NULL, &s->inputs[i]),
                "an input");
  }
}

static void run(session *s) {
  bench_check(nd4c_model_run(s->model, NULL, s->names, (const nd4c_array *const *)s->inputs, s->input_count, s->outputs,
                             s->output_count),
              "nd4c_model_run");
}

int main(int count, char **arguments) {
  const long runs = count > 2 ? strtol(arguments[2], NULL, 10) : 100;
  session s = {0};
  int64_t plans = 0;
  if (count < 2 || count > 3 || runs < 1) {
    (void)fprintf(stderr, "usage: %s MODEL.onnx [RUNS]\n", arguments[0]);
    return 2;
  }
  begin_counting();
  open_model(arguments[1], &s);
  nd4c_model_set_progress(s.model, count_plans, &plans);
  run(&s);
  run(&s); /* the first run with given outputs */
  const int64_t first_plans = plans, before = atomic_load(&allocations), others_before = atomic_load(&others);
  const double begin = bench_now();
  for (long i = 0; i < runs; i++) {
    run(&s);
  }
  const double taken = bench_now() - begin;
  const int64_t made = atomic_load(&allocations) - before, planned = plans - first_plans,
                beside = atomic_load(&others) - others_before;
  (void)printf(
      "{\"name\": \"%s\", \"runs\": %ld, \"ns\": %.1f, \"allocations\": %lld, \"allocations_by_others\": %lld, "
      "\"plans\": %lld, \"allocations_before\": %lld, \"plans_before\": %lld}\n",
      arguments[1], runs, taken / (double)runs, (long long)made, (long long)beside, (long long)planned,
      (long long)before, (long long)first_plans);
  for (int32_t i = 0; i < s.input_count; i++) {
    nd4c_array_release(s.inputs[i]);
  }
  for (int32_t i = 0; i < s.output_count; i++) {
    nd4c_array_release(s.outputs[i]);
  }
  nd4c_model_close(s.model);
  if (before == 0) {
    (void)fprintf(stderr, "error: allocations are not counted with this C library\n");
    return 1;
  }
  return made == 0 && planned == 0 ? 0 : 1;
}
