/* qlinear_conv and conv_integer of engine simd: windows are copied side by side and multiplied as
 * kernels/cpu/quantization/bytes.h does it; with one channel and one output a group, channels are multiplied side by
 * side. dispatch/choice.c asks these kernels after oneDNN's, which need VNNI. quantization_conv_pack.c reads the calls
 * and arranges the operands. */
#include <string.h>

#include "backends/cpu/simd/quantization/quantization_conv.h"

typedef struct job {
  const nd4c_bytes_conv *c;
  const nd4c_bytes_conv_room *room;
  const int8_t *x;       /* signed, [image][cell][channel] */
  const int16_t *x_wide; /* the same less the zero point, for single channels */
  const nd4c_bytes_conv_weights *weights;
  const int16_t *w_wide; /* [cell][channel] less their zero points, for single channels */
  const int32_t *zeros;  /* of the weights, as of signed bytes; NULL: all are 0 */
  const double *factors; /* NULL: sums are the results */
  const int32_t *bias;   /* NULL: none */
  char *workers;         /* room->worker_bytes each */
} job;

/* -- windows ------------------------------------------------------------------------------------------------------- */

/* The first cell of x that the window of a place sees, along each axis; it may be outside. */
static void first_cell(const nd4c_bytes_conv *c, int64_t place, int64_t *first) {
  for (int32_t i = c->window.spatial - 1; i >= 0; place /= c->y->shape[2 + i--]) {
    first[i] = place % c->y->shape[2 + i] * c->window.stride[i] - c->window.pad_begin[i];
  }
}

/* Number of the cell of an image that cell `cell` of the window sees; -1: it is outside. */
static int64_t seen_cell(const nd4c_bytes_conv *c, const int64_t *first, int64_t cell) {
  int64_t at = 0, step = 1;
  for (int32_t i = c->window.spatial - 1; i >= 0; cell /= c->window.kernel[i--]) {
    const int64_t along = first[i] + cell % c->window.kernel[i] * c->window.dilation[i];
    if (along < 0 || along >= c->window.input[i]) {
      return -1;
    }
    at += along * step;
    step *= c->window.input[i];
  }
  return at;
}

/* The window of row `row` in group `group`, cell by cell, each with all channels. Padding counts as the zero point. */
static void copy_window(const job *j, int64_t row, int64_t group, int8_t *to) {
  const nd4c_bytes_conv *c = j->c;
  const int64_t all = c->groups * c->channels;
  const int8_t *image = j->x + row / c->places * c->cells_of_x * all + group * c->channels;
  int64_t first[ND4C_MAX_RANK] = {0};
  first_cell(c, row % c->places, first);
  for (int64_t cell = 0; cell < c->cells; cell++, to += c->channels) {
    const int64_t at = seen_cell(c, first, cell);
    if (at < 0) {
      memset(to, c->x_zero, (size_t)c->channels);
    } else {
      memcpy(to, image + at * all, (size_t)c->channels);
    }
  }
  memset(to, 0, (size_t)(c->whole - c->k));
}

/* Sums of rows [row, row + rows) in group `group`, [row][output], without what zero points take off. */
static void multiply_windows(const job *j, int64_t row, int64_t rows, int64_t group, int8_t *windows, int32_t *sums) {
  const nd4c_bytes_conv *c = j->c;
  const int8_t *panels = j->weights->panels + group * c->panels * ND4C_BYTES_COLUMNS * c->whole;
  for (int64_t i = 0; i < rows; i++) {
    copy_window(j, row + i, group, windows + i * c->whole);
  }
  for (int64_t column = 0; column < c->outputs; column += ND4C_BYTES_COLUMNS) {
    const int64_t left = c->outputs - column;
    nd4c_simd.bytes->multiply(rows, left < ND4C_BYTES_COLUMNS ? left : ND4C_BYTES_COLUMNS, c->whole, windows,
                              panels + column * c->whole, sums + column, c->outputs);
  }
  for (int64_t i = 0; i < rows; i++) {
    const int32_t *zeros = j->zeros != NULL ? j->zeros + group * c->outputs : NULL;
    int32_t row_sum = 0;
    if (zeros != NULL) {
      row_sum = (int32_t)((uint32_t)nd4c_simd.scales->sum(c->k, windows + i * c->whole, true) -
                          (uint32_t)c->k * (uint32_t)c->x_zero);
    }
    nd4c_simd.scales->correct(c->outputs, sums + i * c->outputs, c->x_zero, j->weights->sums + group * c->outputs,
                              row_sum, zeros, sums + i * c->outputs);
  }
}

/* The same where each group has one channel and one output. */
static void multiply_channels(const job *j, int64_t row, int64_t rows, int32_t *sums) {
  const nd4c_bytes_conv *c = j->c;
  for (int64_t i = 0; i < rows; i++, sums += c->groups) {
    const int16_t *image = j->x_wide + (row + i) / c->places * c->cells_of_x * c->groups;
    int64_t first[ND4C_MAX_RANK] = {0};
    first_cell(c, (row + i) % c->places, first);
    memset(sums, 0, (size_t)c->groups * sizeof *sums);
    for (int64_t cell = 0; cell < c->cells; cell++) {
      const int64_t at = seen_cell(c, first, cell);
      if (at >= 0) {
        nd4c_simd.scales->multiply_add(c->groups, image + at * c->groups, j->w_wide + cell * c->groups, sums);
      }
    }
  }
}

/* -- results ------------------------------------------------------------------------------------------------------- */

/* Writes `rows` rows of n results each, side by side, to y: n channels from `channel` on. */
static void store(const nd4c_bytes_conv *c, int64_t row, int64_t rows, int64_t channel, int64_t n, const char *from) {
  const nd4c_tensor *y = c->y;
  const int64_t bytes = nd4c_cpu_dtype_bytes(y->dtype);
  for (int64_t i = 0, some; i < rows; i += some) {
    const int64_t place = (row + i) % c->places, image = (row + i) / c->places;
    some = c->places - place < rows - i ? c->places - place : rows - i;
    char *to = (char *)y->data + (image * y->strides[0] + place * c->y_step + channel * y->strides[1]) * bytes;
    nd4c_simd.move->move[bytes](some, n, from + i * n * bytes, n, 1, to, c->y_step, y->strides[1]);
  }
}

static void finish(const job *j, int64_t row, int64_t rows, int64_t channel, int64_t n, const int32_t *sums,
                   uint8_t *bytes) {
  const nd4c_bytes_conv *c = j->c;
  if (j->factors == NULL) {
    store(c, row, rows, channel, n, (const char *)sums);
    return;
  }
  for (int64_t i = 0; i < rows; i++) {
    nd4c_simd.scales->requantize(n, sums + i * n, j->bias != NULL ? j->bias + channel : NULL, j->factors + channel,
                                 c->y_zero, c->y->dtype == ND4C_INT8 ? -128 : 0, bytes + i * n);
  }
  store(c, row, rows, channel, n, (const char *)bytes);
}

/* Blocks of rows; each with all groups. */
static void block_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_bytes_conv *c = j->c;
  char *own = j->workers + worker * j->room->worker_bytes;
  int32_t *sums = (int32_t *)(void *)(own + j->room->own_sums);
  int8_t *windows = (int8_t *)(own + j->room->own_windows);
  uint8_t *bytes = (uint8_t *)(own + j->room->own_bytes);
  for (int64_t block = begin; block < end; block++) {
    const int64_t row = block * ND4C_BYTES_CONV_ROWS, left = c->rows - row;
    const int64_t rows = left < ND4C_BYTES_CONV_ROWS ? left : ND4C_BYTES_CONV_ROWS;
    if (c->single) {
      multiply_channels(j, row, rows, sums);
      finish(j, row, rows, 0, c->groups, sums, bytes);
      continue;
    }
    for (int64_t group = 0; group < c->groups; group++) {
      multiply_windows(j, row, rows, group, windows, sums);
      finish(j, row, rows, group * c->outputs, c->outputs, sums, bytes);
    }
  }
}

/* -- calls --------------------------------------------------------------------------------------------------------- */

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_bytes_conv c;
  ND4C_CPU_DECLINE_IF(nd4c_simd.bytes->multiply == NULL, "level %s has no product of bytes", nd4c_simd.level);
  const char *why = nd4c_bytes_conv_read(call, &c);
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

static bool is_packed(const nd4c_call *call) {
  return call->state != NULL && ((const nd4c_bytes_conv_weights *)call->state)->held.memory != NULL;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  nd4c_bytes_conv c;
  (void)nd4c_bytes_conv_read(call, &c);
  return nd4c_bytes_conv_place(&c, call->width, !is_packed(call)).bytes;
}

static nd4c_status run(const nd4c_call *call) {
  nd4c_bytes_conv c;
  nd4c_bytes_conv_weights own = {.panels = NULL};
  (void)nd4c_bytes_conv_read(call, &c); /* usable has seen that it can be read */
  nd4c_bytes_conv_read_numbers(&c);
  const nd4c_bytes_conv_room room = nd4c_bytes_conv_place(&c, call->width, !is_packed(call));
  char *scratch = call->scratch;
  job j = {.c = &c, .room = &room, .workers = scratch + room.workers};
  j.weights = is_packed(call) ? call->state : &own;
  if (!is_packed(call)) {
    nd4c_bytes_conv_pack(&c, scratch + room.weights, (int8_t *)(scratch + room.line), &own);
  }
  j.zeros = nd4c_bytes_conv_zeros(&c, (int32_t *)(void *)(scratch + room.zeros));
  j.factors = nd4c_bytes_conv_factors(&c, (double *)(void *)(scratch + room.factors));
  j.bias = nd4c_bytes_conv_bias(&c, (int32_t *)(void *)(scratch + room.bias));
  if (c.single) {
    j.x_wide = (int16_t *)(void *)(scratch + room.x);
    j.w_wide = (int16_t *)(void *)(scratch + room.w_wide);
    nd4c_bytes_conv_widen_weights(&c, j.weights, j.zeros, (int16_t *)(void *)(scratch + room.w_wide));
  }
  j.x = (const int8_t *)(scratch + room.x);
  nd4c_bytes_conv_arrange(&c, scratch + room.x, call->width);
  const int64_t work = c.k * c.outputs * c.groups * ND4C_BYTES_CONV_ROWS;
  nd4c_cpu_parallel(nd4c_cpu_divide_up(c.rows, ND4C_BYTES_CONV_ROWS), (1 << 20) / work + 1, call->width, block_range,
                    &j);
  return ND4C_OK;
}

static void unprepare(void *state) {
  nd4c_bytes_conv_weights *w = state;
  nd4c_cpu_let_go(&w->held);
  nd4c_cpu_host->free(w);
}

/* Without memory for them every call packs the weights. */
static nd4c_status prepare(const nd4c_call *call, void **state) {
  nd4c_bytes_conv c;
  (void)nd4c_bytes_conv_read(call, &c);
  nd4c_bytes_conv_weights *w = nd4c_cpu_host->allocate(sizeof *w);
  ND4C_CPU_FAIL_IF(w == NULL, ND4C_MEMORY, "%s: no memory for %zu bytes of prepared state", call->op->name, sizeof *w);
  *w = (nd4c_bytes_conv_weights){.panels = NULL};
  *state = w;
  if ((c.w->flags & ND4C_TENSOR_CONSTANT) == 0 || c.w->data == NULL) {
    return ND4C_OK;
  }
  int8_t *line = nd4c_cpu_host->allocate((size_t)nd4c_bytes_conv_line_bytes(&c));
  if (line != NULL &&
      nd4c_cpu_hold(call, (size_t)nd4c_bytes_conv_weight_bytes(&c), "packed weights", &w->held) == ND4C_OK) {
    nd4c_bytes_conv_pack(&c, w->held.memory, line, w);
  }
  nd4c_cpu_host->free(line);
  return ND4C_OK;
}

/* Bytes are widened before they are multiplied. Convolutions of float32 are faster, so passes that may choose between
 * floats and bytes take these kernels as they take the reference's. */
#define KERNEL(op)                                                                                                     \
  ND4C_CPU_KERNEL("simd", op, #op, ND4C_SIMD_PRIORITY, ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8), usable, \
                  run, .prepare = prepare, .unprepare = unprepare, .scratch_bytes = scratch_bytes,                     \
                  .flags = ND4C_KERNEL_CONVERTS)

const nd4c_kernel *const nd4c_cpu_simd_quantization_conv_kernels[] = {KERNEL(qlinear_conv), KERNEL(conv_integer), NULL};
