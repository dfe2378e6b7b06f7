/* Implements fence_steps.h as a row of bits for each result. graph/modes/stream_parts.c fills a table; fence.c reads it
 * when a run has failed. */
#include "device/stream/fence_steps.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "base/status.h"

struct nd4c_fence_steps {
  _Atomic int32_t references;
  int32_t step_count, words; /* a part's row: a bit for each step */
  char **names;              /* by point - 1 */
  uint64_t *rows;
};

nd4c_status nd4c_fence_steps_make(int32_t step_count, int32_t part_count, nd4c_fence_steps **out) {
  nd4c_fence_steps *steps = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *steps, "a table of steps", &steps));
  steps->references = 1;
  steps->step_count = step_count;
  steps->words = step_count / 64 + 1;
  size_t words = (size_t)steps->words * (size_t)part_count + 1;
  steps->rows = nd4c_allocate_zeroed(words, sizeof *steps->rows);
  steps->names = nd4c_allocate_zeroed((size_t)step_count + 1, sizeof *steps->names);
  if (steps->rows == NULL || steps->names == NULL) {
    nd4c_fence_steps_release(steps);
    return nd4c_fail_memory("a table of steps", words * sizeof *steps->rows);
  }
  *out = steps;
  return ND4C_OK;
}

nd4c_status nd4c_fence_steps_set_name(nd4c_fence_steps *steps, int32_t point, const char *name) {
  steps->names[point - 1] = nd4c_duplicate_text(name);
  return steps->names[point - 1] != NULL ? ND4C_OK : nd4c_fail_memory("the name of a step", sizeof(char *));
}

static uint64_t *row_of(const nd4c_fence_steps *steps, int32_t part) {
  return steps->rows + (size_t)part * (size_t)steps->words;
}

void nd4c_fence_steps_add(nd4c_fence_steps *steps, int32_t part, int32_t point) {
  row_of(steps, part)[point / 64] |= UINT64_C(1) << (point % 64);
}

const char *nd4c_fence_steps_get_name(const nd4c_fence_steps *steps, int32_t point) {
  return point >= 1 && point <= steps->step_count ? steps->names[point - 1] : NULL;
}

bool nd4c_fence_steps_depends(const nd4c_fence_steps *steps, int32_t part, int32_t first, int32_t last) {
  if (first < 1 || last > steps->step_count) {
    return true;
  }
  const uint64_t *row = row_of(steps, part);
  for (int32_t point = first; point <= last; point++) {
    if ((row[point / 64] >> (point % 64) & 1) != 0) {
      return true;
    }
  }
  return false;
}

nd4c_fence_steps *nd4c_fence_steps_retain(nd4c_fence_steps *steps) {
  if (steps != NULL) {
    atomic_fetch_add_explicit(&steps->references, 1, memory_order_relaxed);
  }
  return steps;
}

void nd4c_fence_steps_release(nd4c_fence_steps *steps) {
  if (steps == NULL || atomic_fetch_sub_explicit(&steps->references, 1, memory_order_acq_rel) != 1) {
    return;
  }
  for (int32_t i = 0; steps->names != NULL && i < steps->step_count; i++) {
    nd4c_deallocate(steps->names[i]);
  }
  nd4c_deallocate(steps->names);
  nd4c_deallocate(steps->rows);
  nd4c_deallocate(steps);
}
