/* group_norm and instance_norm of engine simd, f32 and f64: in C order, where each group is a run, and with channels
 * last, where the numbers of all channels are gathered side by side, as vectors; y may have another order.
 * dispatch/choice.c asks these kernels before the reference's. */
#include <math.h>

#include "backends/cpu/simd/rows.h"

/* Channels last: elements of an image that are worth a piece of their own, and the most pieces of an image. How many
 * there are does not depend on the threads, so results do not either. */
enum { PIECE = 32768, PIECES = 16 };
/* Channels of several places that are computed as one row, if places follow each other without gaps. */
enum { ROW = 256 };
/* Channels last to another order: places and channels that are computed beside each other and then turned. */
enum { TILE_PLACES = 32, TILE_CHANNELS = 64 };

typedef struct job {
  const nd4c_normalization_loops *loops;
  const char *x, *scale, *bias; /* scale and bias: per channel, or NULL */
  char *y;
  nd4c_dtype dtype;
  int64_t bytes;                    /* of an element */
  int64_t images, channels, groups; /* channels and groups of an image */
  int64_t places;                   /* of a channel */
  double epsilon;
  /* Channels last: bytes from image to image and from place to place, elements from channel to channel of y, places of
   * a piece, pieces of an image. */
  int64_t x_image, y_image, x_step, y_step, y_channel, piece, pieces;
  double *states;  /* [image][piece][3][channel]: means, squares, and what rounding took from the means */
  double *numbers; /* [image][3][channel]: means, factors, summands */
} job;

static bool in_c_order(const nd4c_tensor *tensor) {
  int64_t run = 1;
  for (int32_t axis = tensor->rank - 1; axis >= 0; axis--) {
    if (tensor->shape[axis] != 1 && tensor->strides[axis] != run) {
      return false;
    }
    run *= tensor->shape[axis];
  }
  return true;
}

static bool is_planar(const nd4c_call *call) {
  return in_c_order(&call->inputs[0]) && in_c_order(&call->outputs[0]);
}

/* Whether the channels of x lie side by side, and one step leads from place to place. */
static bool last_plan(const nd4c_call *call, job *j) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_simd_rows rows;
  nd4c_simd_rows_make(&rows, x, y, 3);
  j->x_step = rows.rank > 0 ? rows.x_strides[0] * j->bytes : 0;
  j->y_step = rows.rank > 0 ? rows.y_strides[0] * j->bytes : 0;
  j->y_channel = nd4c_simd_dense_axis(y, 1) ? 1 : y->strides[1];
  j->x_image = x->strides[0] * j->bytes;
  j->y_image = y->strides[0] * j->bytes;
  const int64_t worth = j->places * j->channels / PIECE, most = worth < PIECES ? worth : PIECES;
  j->piece = most > 1 ? (j->places + most - 1) / most : j->places;
  j->pieces = (j->places + j->piece - 1) / j->piece;
  return nd4c_simd_dense_axis(x, 1) && rows.rank <= 1;
}

static job job_make(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const nd4c_tensor *scale = nd4c_cpu_input(call, ND4C_IN_group_norm_scale);
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_group_norm_bias);
  return (job){.loops = nd4c_simd_row_loops(x->dtype),
               .x = x->data,
               .y = call->outputs[0].data,
               .scale = scale != NULL ? scale->data : NULL,
               .bias = bias != NULL ? bias->data : NULL,
               .dtype = x->dtype,
               .bytes = nd4c_simd_row_bytes(x->dtype),
               .images = x->shape[0],
               .channels = x->shape[1],
               .places = x->size / (x->shape[0] * x->shape[1])};
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(call->outputs[0].size == 0, "the result is empty");
  job j = job_make(call);
  ND4C_CPU_DECLINE_IF(!is_planar(call) && !last_plan(call, &j), "neither in C order nor x with channels last");
  for (int32_t i = 1; i < call->input_count; i++) {
    const nd4c_tensor *operand = nd4c_cpu_input(call, i);
    ND4C_CPU_DECLINE_IF(operand != NULL && operand->shape[0] > 1 && operand->strides[0] != 1,
                        "scale or bias with gaps");
  }
  return true;
}

/* What a number less the mean is multiplied by. */
static double factor_of(const job *j, double squares, int64_t count) {
  return 1 / sqrt((squares < 0 ? 0 : squares) / (double)count + j->epsilon);
}

/* -- C order ------------------------------------------------------------------------------------------------------ */

static void planar_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const int64_t channels = j->channels / j->groups, length = channels * j->places;
  (void)worker;
  for (int64_t group = begin; group < end; group++) {
    const char *x = j->x + group * length * j->bytes;
    char *y = j->y + group * length * j->bytes;
    double mean = 0, squares = 0, lesser = 0;
    for (int64_t i = 0; i < length; i += ND4C_GATHER_PIECE) {
      int64_t count = length - i < ND4C_GATHER_PIECE ? length - i : ND4C_GATHER_PIECE;
      nd4c_simd.moments->moments[j->dtype].run(count, x + i * j->bytes, i, (nd4c_gathered){&mean, &squares, &lesser});
    }
    const double factor = factor_of(j, squares, length);
    for (int64_t c = 0; c < channels; c++) {
      int64_t channel = (group * channels + c) % j->channels, at = c * j->places * j->bytes;
      j->loops->affine_one(j->places, x + at, j->scale, j->bias, channel, mean + lesser, factor, y + at);
    }
  }
}

/* -- channels last ------------------------------------------------------------------------------------------------ */

static nd4c_gathered state_at(const job *j, int64_t piece, int64_t channel) {
  double *at = j->states + piece * 3 * j->channels + channel;
  return (nd4c_gathered){at, at + j->channels, at + 2 * j->channels};
}

static int64_t piece_places(const job *j, int64_t piece) {
  const int64_t left = j->places - piece * j->piece;
  return left < j->piece ? left : j->piece;
}

/* Gathers each channel of a piece of an image. */
static void gather_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  for (int64_t number = begin; number < end; number++) {
    const int64_t piece = number % j->pieces, places = piece_places(j, piece);
    const char *x = j->x + number / j->pieces * j->x_image + piece * j->piece * j->x_step;
    for (int64_t place = 0; place < places; place += ND4C_GATHER_ROWS) {
      const int64_t rows = places - place < ND4C_GATHER_ROWS ? places - place : ND4C_GATHER_ROWS;
      for (int64_t c = 0; c < j->channels; c += ND4C_GATHER_COLUMNS) {
        const int64_t n = j->channels - c < ND4C_GATHER_COLUMNS ? j->channels - c : ND4C_GATHER_COLUMNS;
        nd4c_simd.moments->moments[j->dtype].block(rows, n, x + place * j->x_step + c * j->bytes, j->x_step, place,
                                                   state_at(j, number, c));
      }
    }
  }
}

static double parameter(const job *j, const char *values, int64_t channel, double otherwise) {
  if (values == NULL) {
    return otherwise;
  }
  return j->dtype == ND4C_FLOAT32 ? (double)((const float *)(const void *)values)[channel]
                                  : ((const double *)(const void *)values)[channel];
}

/* Takes a piece of a channel into the state of `count` elements; of none it is the piece's, bit by bit. */
static void merge(const job *j, int64_t count, nd4c_gathered state, int64_t places, nd4c_gathered other) {
  if (count > 0) {
    nd4c_simd.moments->moments[j->dtype].merge(count, state, places, other);
    return;
  }
  *state.first = *other.first;
  *state.second = *other.second;
  *state.third = *other.third;
}

/* Makes the numbers of a group's channels from what was gathered. */
static void finish_group(const job *j, int64_t image, int64_t group) {
  const int64_t channels = j->channels / j->groups;
  double mean = 0, squares = 0, lesser = 0;
  int64_t count = 0;
  for (int64_t piece = 0; piece < j->pieces; piece++) {
    const int64_t places = piece_places(j, piece);
    for (int64_t c = 0; c < channels; c++) {
      merge(j, count, (nd4c_gathered){&mean, &squares, &lesser}, places,
            state_at(j, image * j->pieces + piece, group * channels + c));
      count += places;
    }
  }
  const double factor = factor_of(j, squares, count);
  double *means = j->numbers + image * 3 * j->channels, *factors = means + j->channels;
  double *summands = factors + j->channels;
  for (int64_t c = group * channels; c < (group + 1) * channels; c++) {
    means[c] = mean + lesser;
    factors[c] = factor * parameter(j, j->scale, c, 1);
    summands[c] = parameter(j, j->bias, c, 0);
  }
}

static void finish_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  for (int64_t number = begin; number < end; number++) {
    finish_group(j, number / j->groups, number % j->groups);
  }
}

/* Places of one image to a y whose channels lie apart. */
static void affine_turned(const job *j, int64_t image, int64_t place, int64_t count) {
  _Alignas(64) char tile[TILE_PLACES * TILE_CHANNELS * sizeof(double)];
  const double *means = j->numbers + image * 3 * j->channels, *factors = means + j->channels;
  const double *summands = factors + j->channels;
  const char *x = j->x + image * j->x_image + place * j->x_step;
  char *y = j->y + image * j->y_image + place * j->y_step;
  for (int64_t i = 0; i < count; i += TILE_PLACES) {
    const int64_t places = count - i < TILE_PLACES ? count - i : TILE_PLACES;
    for (int64_t c = 0; c < j->channels; c += TILE_CHANNELS) {
      const int64_t n = j->channels - c < TILE_CHANNELS ? j->channels - c : TILE_CHANNELS;
      for (int64_t k = 0; k < places; k++) {
        j->loops->affine_each(n, x + (i + k) * j->x_step + c * j->bytes, means + c, factors + c, summands + c,
                              tile + k * n * j->bytes);
      }
      nd4c_simd.move->move[j->bytes](n, places, tile, 1, n, y + i * j->y_step + c * j->y_channel * j->bytes,
                                     j->y_channel, j->y_step / j->bytes);
    }
  }
}

/* Places of one image, from `place` on. */
static void affine_places(const job *j, int64_t image, int64_t place, int64_t count) {
  const double *numbers = j->numbers + image * 3 * j->channels;
  const char *x = j->x + image * j->x_image + place * j->x_step;
  char *y = j->y + image * j->y_image + place * j->y_step;
  const int64_t dense = j->channels * j->bytes;
  double repeated[3][ROW];
  int64_t together = 1, length = j->channels;
  const double *means = numbers, *factors = numbers + length, *summands = numbers + 2 * length;
  if (j->x_step == dense && j->y_step == dense && 2 * length <= ROW && count > 1) {
    together = ROW / length;
    for (int64_t i = 0; i < together * length; i++) {
      repeated[0][i] = means[i % length];
      repeated[1][i] = factors[i % length];
      repeated[2][i] = summands[i % length];
    }
    means = repeated[0], factors = repeated[1], summands = repeated[2];
  }
  for (int64_t i = 0; i < count; i += together) {
    const int64_t n = (count - i < together ? count - i : together) * length;
    j->loops->affine_each(n, x + i * j->x_step, means, factors, summands, y + i * j->y_step);
  }
}

static void affine_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  (void)worker;
  for (int64_t number = begin; number < end;) {
    const int64_t image = number / j->places, place = number % j->places;
    const int64_t count = end - number < j->places - place ? end - number : j->places - place;
    (j->y_channel == 1 ? affine_places : affine_turned)(j, image, place, count);
    number += count;
  }
}

static int64_t scratch_bytes(const nd4c_call *call) {
  if (is_planar(call)) {
    return 0;
  }
  job j = job_make(call);
  (void)last_plan(call, &j);
  return j.images * (j.pieces + 1) * 3 * j.channels * (int64_t)sizeof(double);
}

static void last_run(const nd4c_call *call, job *j) {
  (void)last_plan(call, j);
  j->states = call->scratch;
  j->numbers = j->states + j->images * j->pieces * 3 * j->channels;
  nd4c_cpu_parallel(j->images * j->pieces, nd4c_simd_grain(2 * j->piece * j->channels), call->width, gather_range, j);
  nd4c_cpu_parallel(j->images * j->groups, nd4c_simd_grain(16 * j->pieces * j->channels / j->groups), call->width,
                    finish_range, j);
  nd4c_cpu_parallel(j->images * j->places, nd4c_simd_grain(j->channels), call->width, affine_range, j);
}

/* -- ops ---------------------------------------------------------------------------------------------------------- */

static nd4c_status run(const nd4c_call *call, int64_t groups, double epsilon) {
  job j = job_make(call);
  j.groups = groups;
  j.epsilon = epsilon;
  if (is_planar(call)) {
    nd4c_cpu_parallel(j.images * groups, nd4c_simd_grain(3 * j.channels / groups * j.places), call->width, planar_range,
                      &j);
  } else {
    last_run(call, &j);
  }
  return ND4C_OK;
}

static nd4c_status group_norm_run(const nd4c_call *call) {
  return run(call, ND4C_INT_OF(call, group_norm_groups), ND4C_REAL_OF(call, group_norm_epsilon));
}

static nd4c_status instance_norm_run(const nd4c_call *call) {
  return run(call, call->inputs[0].shape[1], ND4C_REAL_OF(call, instance_norm_epsilon));
}

const nd4c_kernel *const nd4c_cpu_simd_normalization_groups_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(group_norm, ND4C_SIMD_ROW_DTYPES, usable, group_norm_run, .scratch_bytes = scratch_bytes),
    ND4C_CPU_SIMD_KERNEL(instance_norm, ND4C_SIMD_ROW_DTYPES, usable, instance_norm_run,
                         .scratch_bytes = scratch_bytes),
    NULL};
