/* Implements the part of table.h that holds ranges and names, and the functions of nd4c/calibration.h that look at
 * them.
 */
#include "graph/calibration/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"
#include "graph/calibration/session.h"

enum { ALIVE = 0x63616c69, DEAD = 0x64636c69 };

static const char *const method_names[] = {[ND4C_CALIBRATION_MIN_MAX] = "min_max",
                                           [ND4C_CALIBRATION_MOVING_AVERAGE] = "moving_average",
                                           [ND4C_CALIBRATION_PERCENTILE] = "percentile",
                                           [ND4C_CALIBRATION_ENTROPY] = "entropy",
                                           [ND4C_CALIBRATION_MSE] = "mse"};

const char *nd4c_calibration_method_name(nd4c_calibration_method method) {
  const int32_t count = (int32_t)(sizeof method_names / sizeof *method_names);
  return (int32_t)method < 0 || (int32_t)method >= count ? NULL : method_names[method];
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_calibration_allocate(nd4c_calibration **calibration) {
  nd4c_calibration *made = NULL;
  ND4C_TRY(nd4c_allocate_or_fail(1, sizeof *made, "a calibration", &made));
  made->magic = ALIVE;
  atomic_init(&made->references, 1);
  *calibration = made;
  return ND4C_OK;
}

nd4c_calibration *nd4c_calibration_retain(nd4c_calibration *calibration) {
  if (calibration != NULL) {
    atomic_fetch_add_explicit(&calibration->references, 1, memory_order_relaxed);
  }
  return calibration;
}

void nd4c_calibration_release(nd4c_calibration *calibration) {
  if (calibration == NULL || calibration->magic != ALIVE ||
      atomic_fetch_sub_explicit(&calibration->references, 1, memory_order_acq_rel) > 1) {
    return;
  }
  if (calibration->session != NULL) {
    calibration->session->free(calibration->session);
  }
  nd4c_region_free(&calibration->region);
  calibration->magic = DEAD;
  nd4c_deallocate(calibration);
}

nd4c_status nd4c_calibration_check(const nd4c_calibration *calibration) {
  if (calibration == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "calibration is NULL");
  }
  return calibration->magic == ALIVE
             ? ND4C_OK
             : nd4c_fail(ND4C_HANDLE, "calibration %p is no calibration, or was released", (const void *)calibration);
}

nd4c_status nd4c_calibration_check_finished(const nd4c_calibration *calibration, const char *what) {
  ND4C_TRY(nd4c_calibration_check(calibration));
  return calibration->finished
             ? ND4C_OK
             : nd4c_fail(ND4C_ARGUMENT, "%s: the calibration has no ranges yet: nd4c_calibration_finish makes them",
                         what);
}

/* -- filling ------------------------------------------------------------------------------------------------------- */

static nd4c_status copy_text(nd4c_calibration *calibration, const char *text, const char **copy) {
  *copy = nd4c_region_text(&calibration->region, text);
  return *copy != NULL ? ND4C_OK : nd4c_fail_memory("a name", strlen(text));
}

nd4c_status nd4c_calibration_add(nd4c_calibration *calibration, const char *name, double low, double high) {
  nd4c_calibration_range *range = NULL;
  const char *copy = NULL;
  ND4C_TRY(copy_text(calibration, name, &copy));
  ND4C_TRY(nd4c_region_append(&calibration->region, &calibration->ranges, sizeof *range, "ranges", &range));
  *range = (nd4c_calibration_range){copy, low, high};
  return ND4C_OK;
}

nd4c_status nd4c_calibration_add_kept(nd4c_calibration *calibration, const char *name) {
  if (calibration->kept.count >= (int32_t)ND4C_CALIBRATION_MOST_KEPT) {
    return nd4c_fail(ND4C_ARGUMENT, "a calibration keeps at most %d names in float32", (int)ND4C_CALIBRATION_MOST_KEPT);
  }
  const char *copy = NULL, **item = NULL;
  ND4C_TRY(copy_text(calibration, name, &copy));
  ND4C_TRY(nd4c_region_append(&calibration->region, &calibration->kept, sizeof *item, "names", &item));
  *item = copy;
  return ND4C_OK;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(((const nd4c_calibration_range *)a)->name, ((const nd4c_calibration_range *)b)->name);
}

static int compare_kept(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names that stay in float32, each once. */
static void sort_kept(nd4c_calibration *calibration) {
  const char **kept = calibration->kept.items;
  int32_t count = 0;
  if (calibration->kept.count > 0) {
    qsort((void *)kept, (size_t)calibration->kept.count, sizeof *kept, compare_kept);
  }
  for (int32_t i = 0; i < calibration->kept.count; i++) {
    if (count == 0 || strcmp(kept[count - 1], kept[i]) != 0) {
      kept[count++] = kept[i];
    }
  }
  calibration->kept.count = count;
}

nd4c_status nd4c_calibration_seal(nd4c_calibration *calibration) {
  nd4c_calibration_range *ranges = calibration->ranges.items;
  const int32_t count = calibration->ranges.count;
  if (count > 0) {
    qsort(ranges, (size_t)count, sizeof *ranges, compare_names);
  }
  for (int32_t i = 1; i < count; i++) {
    if (strcmp(ranges[i - 1].name, ranges[i].name) == 0) {
      return nd4c_fail(ND4C_FORMAT, "the range of '%.200s' comes twice", ranges[i].name);
    }
  }
  sort_kept(calibration);
  calibration->finished = true;
  return ND4C_OK;
}

/* -- looking ------------------------------------------------------------------------------------------------------- */

const nd4c_calibration_range *nd4c_calibration_find(const nd4c_calibration *calibration, const char *name) {
  const nd4c_calibration_range key = {.name = name};
  return calibration->ranges.count == 0
             ? NULL
             : bsearch(&key, calibration->ranges.items, (size_t)calibration->ranges.count, sizeof key, compare_names);
}

static bool has_kept(const nd4c_calibration *calibration, const char *name) {
  return calibration->kept.count > 0 && bsearch((const void *)&name, calibration->kept.items,
                                                (size_t)calibration->kept.count, sizeof name, compare_kept) != NULL;
}

bool nd4c_calibration_keeps(const nd4c_calibration *calibration, const char *name, const char *op) {
  return has_kept(calibration, op) || (name != NULL && has_kept(calibration, name));
}

int32_t nd4c_calibration_count(const nd4c_calibration *calibration) {
  return calibration != NULL && calibration->finished ? calibration->ranges.count : 0;
}

nd4c_status nd4c_calibration_get_range(const nd4c_calibration *calibration, int32_t index, const char **name,
                                       double *low, double *high) {
  ND4C_TRY(nd4c_calibration_check(calibration));
  if (name == NULL || low == NULL || high == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_calibration_get_range: %s is NULL",
                     name == NULL  ? "name"
                     : low == NULL ? "low"
                                   : "high");
  }
  const int32_t count = nd4c_calibration_count(calibration);
  if (index < 0 || index >= count) {
    return nd4c_fail(ND4C_INDEX, "nd4c_calibration_get_range: there are %d ranges, not one number %d", (int)count,
                     (int)index);
  }
  const nd4c_calibration_range *range = (const nd4c_calibration_range *)calibration->ranges.items + index;
  *name = range->name;
  *low = range->low;
  *high = range->high;
  return ND4C_OK;
}

/* Whether a value of the graph that samples run through has the name. */
static bool session_has(const nd4c_calibration_session *session, const char *name) {
  for (int32_t i = 0; session != NULL && i < session->graph->value_count; i++) {
    if (session->names[i] != NULL && strcmp(session->names[i], name) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_known(const nd4c_calibration *calibration, const char *name) {
  const nd4c_op_info *op = NULL;
  return nd4c_op_find(name, &op) == ND4C_OK || session_has(calibration->session, name) ||
         (calibration->finished && nd4c_calibration_find(calibration, name) != NULL);
}

nd4c_status nd4c_calibration_keep(nd4c_calibration *calibration, const char *name) {
  ND4C_TRY(nd4c_calibration_check(calibration));
  if (name == NULL || name[0] == '\0') {
    return nd4c_fail(name == NULL ? ND4C_NULL_ARGUMENT : ND4C_ARGUMENT, "nd4c_calibration_keep: name is %s",
                     name == NULL ? "NULL" : "empty");
  }
  if (!is_known(calibration, name)) {
    return nd4c_fail(ND4C_NAME, "nd4c_calibration_keep: there is no op and no node '%.200s' with a range", name);
  }
  if (calibration->finished && has_kept(calibration, name)) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_calibration_add_kept(calibration, name));
  const char **kept = calibration->kept.items;
  for (int32_t i = calibration->kept.count - 1; calibration->finished && i > 0 && strcmp(kept[i - 1], kept[i]) > 0;
       i--) {
    const char *later = kept[i - 1];
    kept[i - 1] = kept[i];
    kept[i] = later;
  }
  return ND4C_OK;
}

/* -- bytes --------------------------------------------------------------------------------------------------------- */

enum { STEPS = 255 };

bool nd4c_calibration_fits(double low, double high) {
  return (fmax(high, 0) - fmin(low, 0)) / STEPS <= 0x1p118; /* what the kernels take */
}

nd4c_calibration_affine nd4c_calibration_affine_of(double low, double high) {
  const double least = fmin(low, 0), most = fmax(high, 0);
  const float step = (float)((most - least) / STEPS);
  const bool normal = step >= 0x1p-126F;
  const double zero = normal ? nearbyint(-least / (double)step) : 0;
  return (nd4c_calibration_affine){.step = normal ? step : 1, .zero = (int32_t)fmin(fmax(zero, 0), STEPS)};
}

void nd4c_calibration_weights_free(nd4c_calibration_weights *weights) {
  nd4c_deallocate(weights->codes);
  nd4c_deallocate(weights->steps);
  *weights = (nd4c_calibration_weights){.codes = NULL};
}

nd4c_status nd4c_calibration_round_weights(double *numbers, int32_t rank, const int64_t *shape, int32_t axis,
                                           nd4c_calibration_weights *weights) {
  enum { MOST = 127 };
  int64_t inner = 1, count = 1;
  for (int32_t i = 0; i < rank; i++) {
    inner *= i > axis ? shape[i] : 1;
    count *= shape[i];
  }
  *weights = (nd4c_calibration_weights){.codes = numbers, .outputs = shape[axis]};
  nd4c_status status =
      nd4c_allocate_or_fail((size_t)weights->outputs + 1, sizeof *weights->steps, "steps", &weights->steps);
  for (int64_t i = 0; status == ND4C_OK && i < count; i++) {
    double *step = &weights->steps[i / inner % weights->outputs];
    *step = fmax(*step, fabs(numbers[i]));
    status = isfinite(numbers[i]) ? ND4C_OK : nd4c_fail(ND4C_UNSUPPORTED, "weights are not finite");
  }
  for (int64_t i = 0; status == ND4C_OK && i < weights->outputs; i++) {
    const float step = (float)(weights->steps[i] / MOST);
    weights->steps[i] = step >= 0x1p-126F ? (double)step : 1;
  }
  for (int64_t i = 0; status == ND4C_OK && i < count; i++) {
    const double code = nearbyint(numbers[i] / weights->steps[i / inner % weights->outputs]);
    numbers[i] = fmin(fmax(code, -MOST), MOST);
  }
  if (status != ND4C_OK) {
    nd4c_calibration_weights_free(weights);
  }
  return status;
}
