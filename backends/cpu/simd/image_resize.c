/* resize of engine simd, where the elements of x lie side by side along an axis, the last one in C order or the
 * channels with channels last. Rows of y are weighted sums of rows of x, whose elements are then weighed along that
 * axis; nearest elements of any dtype are picked. Where y has another order, several rows are made and then turned. The
 * sums are float64, as the reference's. dispatch/choice.c asks these kernels. */
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/resize.h"

/* Rows of x that a row of y weighs at most. Rows of y that are turned together at most, and their bytes. */
enum { ROWS = 64, TURNED_ROWS = 32, TURNED_BYTES = 1 << 16 };

typedef struct job {
  const nd4c_tensor *x, *y;
  nd4c_ref_resize_axis axes[ND4C_CPU_MAX_RANK];
  int32_t order[ND4C_CPU_MAX_RANK]; /* the axes as y has them in memory, or x if y is turned; "last" means the last of
                                       these */
  int32_t outer;                    /* axes before the last */
  int64_t columns, bytes;           /* of a row of x; of an element */
  bool nearest, same_columns;       /* same_columns: the last axis stays as it is */
  int32_t *indices;                 /* of the last axis: [tap][place] */
  double *weights, *rows;           /* rows: one a worker */
  char *turned;                     /* `turned_rows` rows of y for each worker; NULL: y is not turned */
  int64_t turned_rows;
} job;

static int64_t padded(int64_t bytes) {
  return (bytes + 63) & ~(int64_t)63;
}

static bool is_nearest(const nd4c_call *call) {
  return ND4C_INT_OF(call, resize_mode) == ND4C_INTERPOLATION_NEAREST;
}

/* The axes in the tensor's order of memory, outermost first. Axes of extent 1 have any stride, and rows along them
 * would be single elements, so they are not the last. */
static void sort_axes(const nd4c_tensor *tensor, int32_t *order) {
  const int64_t *shape = tensor->shape, *strides = tensor->strides;
  for (int32_t i = 0; i < tensor->rank; i++) {
    int32_t at = i;
    for (; at > 0 && shape[order[at - 1]] > 1 && (shape[i] == 1 || strides[order[at - 1]] < strides[i]); at--) {
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
}

static bool is_dense(const nd4c_tensor *tensor, int32_t axis) {
  return tensor->shape[axis] == 1 || tensor->strides[axis] == 1;
}

/* The order of the axes, of which the last one is that of rows: y's, or x's where its elements lie side by side along
 * another axis than y's; *turned says which. False: the elements of x do not lie side by side. */
static bool find_order(const nd4c_tensor *x, const nd4c_tensor *y, int32_t *order, bool *turned) {
  sort_axes(y, order);
  *turned = !is_dense(x, order[y->rank - 1]) || !is_dense(y, order[y->rank - 1]);
  if (*turned) {
    sort_axes(x, order);
  }
  return is_dense(x, order[x->rank - 1]);
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
  bool turned = false;
  ND4C_CPU_DECLINE_IF(x->rank == 0 || y->size == 0 || !find_order(x, y, order, &turned),
                      "no axes, no elements, or elements apart");
  ND4C_CPU_DECLINE_IF(ND4C_INT_OF(call, resize_coordinates) == ND4C_RESIZE_COORDINATES_TF_CROP_AND_RESIZE,
                      "places outside x");
  ND4C_CPU_DECLINE_IF(!is_nearest(call) && x->dtype != ND4C_FLOAT32, "weighted sums of another dtype than float32");
  ND4C_CPU_DECLINE_IF(x->shape[order[x->rank - 1]] > INT32_MAX, "rows of more than 2^31 elements");
  ND4C_CPU_DECLINE_IF(!has_few_rows(call, order), "a row of more than %d rows", ROWS);
  return true;
}

/* Rows of y that are turned together. */
static int64_t turned_rows(int64_t row_bytes) {
  const int64_t fit = TURNED_BYTES / row_bytes;
  return fit < 1 ? 1 : fit < TURNED_ROWS ? fit : TURNED_ROWS;
}

/* Offsets in scratch. */
typedef struct places {
  int64_t tables, indices, weights, rows, turned, bytes;
} places;

static places places_of(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  nd4c_ref_resize_axis last;
  int32_t order[ND4C_CPU_MAX_RANK];
  bool turned = false;
  (void)find_order(x, &call->outputs[0], order, &turned);
  nd4c_cpu_resize_describe(call, order[x->rank - 1], &last);
  places p = {.indices = padded(nd4c_cpu_resize_bytes(call))};
  p.weights = p.indices + padded(last.out * last.taps * (int64_t)sizeof(int32_t));
  p.rows = p.weights + padded(last.out * last.taps * (int64_t)sizeof(double));
  const int64_t workers = call->width > 1 ? call->width : 1, row_bytes = last.out * nd4c_cpu_dtype_bytes(x->dtype);
  p.turned = p.rows + workers * padded(last.in * (int64_t)sizeof(double));
  p.bytes = p.turned + (turned ? workers * padded(turned_rows(row_bytes) * row_bytes) : 0);
  return p;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  return places_of(call).bytes;
}

/* The last axis's table, each tap of all places together. */
static void turn_table(job *j) {
  const nd4c_ref_resize_axis *last = &j->axes[j->order[j->outer]];
  j->same_columns = last->in == last->out;
  for (int64_t o = 0; o < last->out; o++) {
    for (int64_t k = 0; k < last->taps; k++) {
      j->indices[k * last->out + o] = (int32_t)last->index[o * last->taps + k];
      j->weights[k * last->out + o] = last->weight[o * last->taps + k];
      const bool counts = j->nearest || last->weight[o * last->taps + k] != 0;
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

static void weigh_row(const job *j, const int64_t *position, int32_t worker, char *to) {
  const nd4c_ref_resize_axis *last = &j->axes[j->order[j->outer]];
  double *row = j->rows + worker * (padded(j->columns * (int64_t)sizeof *row) / (int64_t)sizeof *row);
  const float *rows[ROWS];
  double weights[ROWS];
  const int64_t count = find_rows(j, position, rows, weights);
  nd4c_simd.resample->blend(j->columns, count, rows, weights, row);
  if (j->same_columns) {
    nd4c_simd.resample->store(last->out, row, (float *)(void *)to);
  } else {
    nd4c_simd.resample->weigh(last->out, last->taps, row, j->indices, j->weights, (float *)(void *)to);
  }
}

static void weigh_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  int64_t position[ND4C_CPU_MAX_RANK];
  find_position(j, begin, position);
  for (int64_t number = begin; number < end; number++, next_position(j, position)) {
    weigh_row(j, position, worker, target_at(j, position));
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

static void pick_row(const job *j, const int64_t *position, char *to) {
  const nd4c_ref_resize_axis *last = &j->axes[j->order[j->outer]];
  const nd4c_indices indices = {.data = j->indices, .wide = false, .extent = last->in};
  if (j->same_columns) {
    memcpy(to, row_at(j, position), (size_t)(last->out * j->bytes));
  } else {
    nd4c_simd.pick->pick[j->bytes](last->out, &indices, row_at(j, position), 1, 0, to);
  }
}

static void pick_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_ref_resize_axis *last = &j->axes[j->order[j->outer]];
  const int64_t bytes = last->out * j->bytes;
  const char *before = NULL, *to_before = NULL;
  (void)worker;
  int64_t position[ND4C_CPU_MAX_RANK];
  find_position(j, begin, position);
  for (int64_t number = begin; number < end; number++, next_position(j, position)) {
    char *to = target_at(j, position);
    const char *from = row_at(j, position);
    if (!j->same_columns && from == before) {
      memcpy(to, to_before, (size_t)bytes);
    } else {
      pick_row(j, position, to);
    }
    before = from;
    to_before = to;
  }
}

/* -- y in another order ------------------------------------------------------------------------------------------- */

/* Makes rows that follow each other along the innermost outer axis, and turns them to their places in y. */
static void turn_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const int32_t along = j->order[j->outer], across = j->outer > 0 ? j->order[j->outer - 1] : along;
  const int64_t length = j->y->shape[along];
  char *rows = j->turned + worker * padded(j->turned_rows * length * j->bytes);
  int64_t position[ND4C_CPU_MAX_RANK], count = 0;
  find_position(j, begin, position);
  for (int64_t number = begin; number < end; number += count) {
    const int64_t left = j->outer > 0 ? j->y->shape[across] - position[across] : 1;
    char *to = target_at(j, position);
    count = end - number < j->turned_rows ? end - number : j->turned_rows;
    count = count < left ? count : left;
    for (int64_t k = 0; k < count; k++, next_position(j, position)) {
      char *row = rows + k * length * j->bytes;
      if (j->nearest) {
        pick_row(j, position, row);
      } else {
        weigh_row(j, position, worker, row);
      }
    }
    nd4c_simd.move->move[j->bytes](length, count, rows, 1, length, to, j->y->strides[along], j->y->strides[across]);
  }
}

static nd4c_status run(const nd4c_call *call) {
  const places p = places_of(call);
  char *scratch = call->scratch;
  job j = {.x = &call->inputs[0], .y = &call->outputs[0], .bytes = nd4c_cpu_dtype_bytes(call->inputs[0].dtype)};
  bool turned = false;
  (void)find_order(j.x, j.y, j.order, &turned);
  j.nearest = is_nearest(call);
  j.outer = j.x->rank - 1;
  j.columns = j.x->shape[j.order[j.outer]];
  j.indices = (int32_t *)(void *)(scratch + p.indices);
  j.weights = (double *)(void *)(scratch + p.weights);
  j.rows = (double *)(void *)(scratch + p.rows);
  nd4c_cpu_resize_fill(call, scratch + p.tables, j.axes);
  turn_table(&j);
  const int64_t last = j.y->shape[j.order[j.outer]];
  j.turned = turned ? scratch + p.turned : NULL;
  j.turned_rows = turned_rows(last * j.bytes);
  nd4c_cpu_parallel(j.y->size / last, (1 << 13) / (j.columns + last) + 1, call->width,
                    turned      ? turn_range
                    : j.nearest ? pick_range
                                : weigh_range,
                    &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_image_resize_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(resize, ND4C_CPU_ALL, usable, run, .scratch_bytes = scratch_bytes), NULL};
