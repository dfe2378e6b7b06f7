/* Engine simd: median over the last axes, by partitions of words (kernels/cpu/sorting/sort.h) around the middle.
 * dispatch/choice.c asks this kernel before the reference's. */
#include <math.h>
#include <stdatomic.h>

#include "backends/cpu/simd/sorting/sorting_words.h"
#include "backends/cpu/support/reduction.h"
#include "kernels/reference/support/value.h"

enum { LONG_LINE = 1 << 17 }; /* elements that pay for sharing out a line */

typedef struct median_call {
  const nd4c_tensor *x, *y;
  nd4c_reduction axes;
  const nd4c_sort_dtype *dtype;
  int64_t length;
  int32_t width; /* for one line */
  size_t line_bytes;
  char *memory; /* of each worker: words, and room for as many */
  atomic_bool failed;
} median_call;

typedef struct median_line {
  const median_call *m;
  const char *x;
} median_line;

static uint32_t key_source(const void *user, int64_t begin, int64_t n, void *words) {
  const median_line *line = user;
  return line->m->dtype->keys(n, line->x + begin * line->m->axes.x_bytes, 0, words);
}

/* The one in the middle, or the mean of the two. */
static double middle_of(const median_call *m, const nd4c_words *job) {
  uint64_t ends[2];
  int64_t count = job->to - job->from;
  m->dtype->elements(count, (const char *)job->words + job->from * (job->wide ? 8 : 4), 0, ends);
  double a = nd4c_value_load(m->x->dtype, (const char *)ends, 0).f;
  double b = nd4c_value_load(m->x->dtype, (const char *)ends, count - 1).f;
  return a == b ? a : a / 2 + b / 2;
}

static void lines_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  median_call *m = user;
  char *memory = m->memory + (size_t)worker * 2 * m->line_bytes;
  for (int64_t i = begin; i < end; i++) {
    int64_t y = 0;
    median_line line = {m, m->axes.x + nd4c_reduction_locate(&m->axes, false, i, &y)};
    nd4c_words job = {.wide = m->dtype->wide != 0, .count = m->length, .source = key_source, .user = &line};
    uint32_t special;
    job.from = (m->length - 1) / 2;
    job.to = m->length / 2 + 1;
    job.words = memory;
    job.work = memory + m->line_bytes;
    if (nd4c_words_sort(&job, m->width, &special) != ND4C_OK) {
      atomic_store(&m->failed, true);
    } else {
      nd4c_value_store(m->y->dtype, m->axes.y + y, 0,
                       (nd4c_value){.f = special & ND4C_SORT_NAN ? NAN : middle_of(m, &job)});
    }
  }
}

static nd4c_status run(const nd4c_call *call) {
  median_call m = {.x = &call->inputs[0], .y = &call->outputs[0]};
  nd4c_reduction_over_axes(&m.axes, call);
  m.dtype = &nd4c_simd.sort->dtypes[m.x->dtype];
  m.length = nd4c_reduction_last(&m.axes);
  m.line_bytes = ((size_t)m.length * (m.dtype->wide ? 8 : 4) + 63) / 64 * 64;
  int64_t lines = m.axes.outer_kept;
  bool is_shared = m.length >= LONG_LINE && lines < 4 * (int64_t)call->width;
  int32_t workers = is_shared || call->width < 1 ? 1 : call->width;
  m.width = is_shared ? call->width : 1;
  size_t bytes = 2 * m.line_bytes * (size_t)workers;
  m.memory = nd4c_cpu_host->allocate_pages(bytes);
  ND4C_CPU_FAIL_IF(m.memory == NULL, ND4C_MEMORY, "median: no memory for %zu bytes to sort in", bytes);
  nd4c_cpu_parallel(lines, 2048 / m.length + 1, workers, lines_range, &m);
  nd4c_cpu_host->free_pages(m.memory, bytes);
  return atomic_load(&m.failed) ? nd4c_cpu_host->fail(ND4C_MEMORY, "median: no memory to sort in") : ND4C_OK;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0];
  bool reduced[ND4C_CPU_MAX_RANK], any = false, last = true;
  nd4c_cpu_reduced_axes(x->rank, &call->attrs[0], reduced);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    if (x->shape[axis] == 1) {
      continue;
    }
    last = last && (reduced[axis] || !any);
    any = any || reduced[axis];
  }
  ND4C_CPU_DECLINE_IF(x->size == 0 || !any || !last || (x->flags & ND4C_TENSOR_CONTIGUOUS) == 0,
                      "what is reduced is not one run of elements");
  return true;
}

const nd4c_kernel *const nd4c_cpu_simd_statistics_median_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(median, ND4C_CPU_FLOATS, usable, run), NULL};
