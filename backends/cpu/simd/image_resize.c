/* resize of engine simd, where the elements of x and y lie side by side along the same axis, the last one in C order or
 * the channels with channels last. Rows of y are weighted sums of rows of x, whose elements are then weighed
 * along that axis; nearest elements of any dtype are picked. The sums are float64, as the reference's.
 * dispatch/choice.c asks these kernels. */
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/resize.h"

enum { ROWS = 64 }; /* of x that a row of y weighs at most */

typedef struct job {
  const nd4c_tensor *x, *y;
  nd4c_ref_resize_axis axes[ND4C_CPU_MAX_RANK];
  int32_t order[ND4C_CPU_MAX_RANK]; /* the axes as y has them in memory; "last" means the last of these */
  int32_t outer;                    /* axes before the last */
  int64_t columns, bytes;           /* of a row of x; of an element */
  bool same_columns;                /* the last axis stays as it is */
  int32_t *indices;                 /* of the last axis: [tap][place] */
  double *weights, *rows;           /* rows: one a worker */
} job;

static int64_t padded(int64_t bytes) {
  return (bytes + 63) & ~(int64_t)63;
}

static bool is_nearest(const nd4c_call *call) {
  return ND4C_INT_OF(call, resize_mode) == ND4C_INTERPOLATION_NEAREST;
}

/* The axes in y's order of memory, outermost first; the last one is that of rows. False: their elements do not lie side
 * by side. Axes of extent 1 have any stride, and rows along them would be single elements, so they are not the last. */
static bool find_order(const nd4c_tensor *x, const nd4c_tensor *y, int32_t *order) {
  for (int32_t i = 0; i < y->rank; i++) {
    int32_t at = i;
    for (; at > 0 && y->shape[order[at - 1]] > 1 && (y->shape[i] == 1 || y->strides[order[at - 1]] < y->strides[i]);
         at--) {
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
  const int32_t rows = order[y->rank - 1];
  return (x->shape[rows] == 1 || x->strides[rows] == 1) && (y->shape[rows] == 1 || y->strides[rows] == 1);
}

/* Whether a row of y weighs few enough rows of x, also if no tap has the weight 0. */
static bool has_few_rows(const nd4c_call *call, const int32_t *order) {
  int64_t rows = 1;
  for (int32_t i = 0; i < call->inputs[0].rank - 1 && rows <= ROWS; i++) {
    nd4c_ref_resize_axis table;
    nd4c_cpu_resize_describe(call, order[i], &table);
    rows *= table.taps < ROWS ? table.taps : ROWS + 1;
  }
  return rows <= ROWS;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int32_t order[ND4C_CPU_MAX_RANK];
  ND4C_CPU_DECLINE_IF(x->rank == 0 || y->size == 0 || !find_order(x, y, order),
                      "no axes, no elements, or elements apart");
  ND4C_CPU_DECLINE_IF(ND4C_INT_OF(call, resize_coordinates) == ND4C_RESIZE_COORDINATES_TF_CROP_AND_RESIZE,
                      "places outside x");
  ND4C_CPU_DECLINE_IF(!is_nearest(call) && x->dtype != ND4C_FLOAT32, "weighted sums of another dtype than float32");
  ND4C_CPU_DECLINE_IF(x->shape[order[x->rank - 1]] > INT32_MAX, "rows of more than 2^31 elements");
  ND4C_CPU_DECLINE_IF(!has_few_rows(call, order), "a row of more than %d rows", ROWS);
  return true;
}

/* Offsets in scratch. */
typedef struct places {
  int64_t tables, indices, weights, rows, bytes;
} places;

static places places_of(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_resize_axis last;
  int32_t order[ND4C_CPU_MAX_RANK];
  (void)find_order(x, &call->outputs[0], order);
  nd4c_cpu_resize_describe(call, order[x->rank - 1], &last);
  places p = {.indices = padded(nd4c_cpu_resize_bytes(call))};
  p.weights = p.indices + padded(last.out * last.taps * (int64_t)sizeof(int32_t));
  p.rows = p.weights + padded(last.out * last.taps * (int64_t)sizeof(double));
  p.bytes = p.rows + (call->width > 1 ? call->width : 1) * padded(last.in * (int64_t)sizeof(double));
  return p;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  return places_of(call).bytes;
}

/* The last axis's table, each tap of all places together. */
static void turn_table(job *j, bool nearest) {
  const nd4c_ref_resize_axis *last = &j->axes[j->order[j->outer]];
  j->same_columns = last->in == last->out;
  for (int64_t o = 0; o < last->out; o++) {
    for (int64_t k = 0; k < last->taps; k++) {
      j->indices[k * last->out + o] = (int32_t)last->index[o * last->taps + k];
      j->weights[k * last->out + o] = last->weight[o * last->taps + k];
      const bool counts = nearest || last->weight[o * last->taps + k] != 0;
      j->same_columns = j->same_columns && (!counts || last->index[o * last->taps + k] == o);
    }
  }
}

/* The row of y after that at `position`. */
static void next_position(const job *j, int64_t *position) {
  for (int32_t i = j->outer - 1; i >= 0; i--) {
    const int32_t axis = j->order[i];
    if (++position[axis] < j->y->shape[axis]) {
      return;
    }
    position[axis] = 0;
  }
}

/* The first element of the row of y at `position`. */
static char *target_at(const job *j, const int64_t *position) {
  int64_t to = 0;
  for (int32_t i = 0; i < j->outer; i++) {
    to += position[j->order[i]] * j->y->strides[j->order[i]];
  }
  return (char *)j->y->data + to * j->bytes;
}

/* Where row `number` of y is among the outer axes. */
static void find_position(const job *j, int64_t number, int64_t *position) {
  for (int32_t i = j->outer - 1; i >= 0; i--) {
    const int32_t axis = j->order[i];
    position[axis] = number % j->y->shape[axis];
    number /= j->y->shape[axis];
  }
}

/* -- weighted sums ------------------------------------------------------------------------------------------------ */

/* The rows of x that a row of y weighs; returns their number. */
static int64_t find_rows(const job *j, const int64_t *position, const float **rows, double *weights) {
  int64_t count = 1;
  rows[0] = j->x->data;
  weights[0] = 1;
  for (int32_t outer = 0; outer < j->outer; outer++) {
    const int32_t axis = j->order[outer];
    const nd4c_ref_resize_axis *table = &j->axes[axis];
    const int64_t *index = table->index + position[axis] * table->taps;
    const double *weight = table->weight + position[axis] * table->taps;
    const float *before[ROWS];
    double by[ROWS];
    int64_t made = 0;
    memcpy(before, rows, (size_t)count * sizeof *rows);
    memcpy(by, weights, (size_t)count * sizeof *by);
    for (int64_t i = 0; i < count; i++) {
      for (int64_t k = 0; k < table->taps; k++) {
        if (weight[k] != 0) {
          rows[made] = before[i] + index[k] * j->x->strides[axis];
          weights[made++] = by[i] * weight[k];
        }
      }
    }
    count = made;
  }
  return count;
}

static void weigh_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_ref_resize_axis *last = &j->axes[j->order[j->outer]];
  double *row = j->rows + worker * (padded(j->columns * (int64_t)sizeof *row) / (int64_t)sizeof *row);
  int64_t position[ND4C_CPU_MAX_RANK];
  find_position(j, begin, position);
  for (int64_t number = begin; number < end; number++, next_position(j, position)) {
    const float *rows[ROWS];
    double weights[ROWS];
    float *to = (float *)(void *)target_at(j, position);
    const int64_t count = find_rows(j, position, rows, weights);
    nd4c_simd.resample->blend(j->columns, count, rows, weights, row);
    if (j->same_columns) {
      nd4c_simd.resample->store(last->out, row, to);
    } else {
      nd4c_simd.resample->weigh(last->out, last->taps, row, j->indices, j->weights, to);
    }
  }
}

/* -- nearest elements --------------------------------------------------------------------------------------------- */

static const char *row_at(const job *j, const int64_t *position) {
  int64_t from = 0;
  for (int32_t i = 0; i < j->outer; i++) {
    const int32_t axis = j->order[i];
    from += j->axes[axis].index[position[axis]] * j->x->strides[axis];
  }
  return (const char *)j->x->data + from * j->bytes;
}

static void pick_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_ref_resize_axis *last = &j->axes[j->order[j->outer]];
  const int64_t bytes = last->out * j->bytes;
  const nd4c_indices indices = {.data = j->indices, .wide = false, .extent = last->in};
  const char *before = NULL, *to_before = NULL;
  (void)worker;
  int64_t position[ND4C_CPU_MAX_RANK];
  find_position(j, begin, position);
  for (int64_t number = begin; number < end; number++, next_position(j, position)) {
    char *to = target_at(j, position);
    const char *from = row_at(j, position);
    if (j->same_columns) {
      memcpy(to, from, (size_t)bytes);
    } else if (from == before) {
      memcpy(to, to_before, (size_t)bytes);
    } else {
      nd4c_simd.pick->pick[j->bytes](last->out, &indices, from, 1, 0, to);
    }
    before = from;
    to_before = to;
  }
}

static nd4c_status run(const nd4c_call *call) {
  const places p = places_of(call);
  char *scratch = call->scratch;
  job j = {.x = &call->inputs[0], .y = &call->outputs[0], .bytes = nd4c_cpu_dtype_bytes(call->inputs[0].dtype)};
  (void)find_order(j.x, j.y, j.order);
  j.outer = j.x->rank - 1;
  j.columns = j.x->shape[j.order[j.outer]];
  j.indices = (int32_t *)(void *)(scratch + p.indices);
  j.weights = (double *)(void *)(scratch + p.weights);
  j.rows = (double *)(void *)(scratch + p.rows);
  nd4c_cpu_resize_fill(call, scratch + p.tables, j.axes);
  turn_table(&j, is_nearest(call));
  const int64_t last = j.y->shape[j.order[j.outer]];
  nd4c_cpu_parallel(j.y->size / last, (1 << 13) / (j.columns + last) + 1, call->width,
                    is_nearest(call) ? pick_range : weigh_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_image_resize_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(resize, ND4C_CPU_ALL, usable, run, .scratch_bytes = scratch_bytes), NULL};
