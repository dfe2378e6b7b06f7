/* grid_sample of engine simd in float32: what a place weighs is found once, for all channels. It reads channels last,
 * too: the channels of a place are weighed as vectors. dispatch/choice.c asks this kernel. */
#include <math.h>
#include <string.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/rows.h"
#include "kernels/reference/image/image.h"

/* Places whose weights are found together; the most elements that one of them weighs. */
enum { PLACES = 64, TAPS = ND4C_REF_SAMPLE_TAPS };
/* Channels last: places and channels of a block. */
enum { LAST_PLACES = 32, LAST_CHANNELS = 128 };

/* What a block of places weighs, [tap][place]; places with fewer elements are filled up with weights of 0. */
typedef struct block {
  int64_t places, taps;
  int32_t indices[TAPS * PLACES];
  double weights[TAPS * PLACES];
} block;

static void begin_block(block *b, int64_t places) {
  b->places = places;
  b->taps = 0;
}

/* count: -1 for a place that is nowhere, whose sums are NaN. */
static void set_place(block *b, int64_t place, int64_t count, const int64_t *offsets, const double *weights) {
  const int64_t taps = count < 0 ? 1 : count;
  for (; b->taps < taps; b->taps++) {
    for (int64_t i = 0; i < b->places; i++) {
      b->indices[b->taps * b->places + i] = 0;
      b->weights[b->taps * b->places + i] = 0;
    }
  }
  for (int64_t k = 0; k < taps; k++) {
    b->indices[k * b->places + place] = count < 0 ? 0 : (int32_t)offsets[k];
    b->weights[k * b->places + place] = count < 0 ? (double)NAN : weights[k];
  }
}

/* All channels of an image for the block, to y, whose channels are y_step apart. */
static void sum_channels(const block *b, int64_t channels, const float *x, int64_t x_step, float *y, int64_t y_step) {
  for (int64_t c = 0; c < channels; c++) {
    nd4c_simd.resample->pick(b->places, b->taps, x + c * x_step, b->indices, b->weights, y + c * y_step);
  }
}

static const char *why_not(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  if (x->dtype != ND4C_FLOAT32 || y->dtype != ND4C_FLOAT32 || !nd4c_in_c_order(x) || !nd4c_in_c_order(y)) {
    return "not float32 in C order";
  }
  if (x->size == 0 || y->size == 0 || x->size / x->shape[0] / x->shape[1] > INT32_MAX) {
    return "no elements, or channels of more than 2^31";
  }
  return NULL;
}

/* Multiplications that are worth a worker. */
static int64_t grain(int64_t work) {
  return (1 << 15) / (work + 1) + 1;
}

typedef struct grid_job {
  nd4c_ref_sample_args args;
  int64_t channels, x_step, y_step, blocks; /* elements of a channel; blocks of an image */
  int64_t y_place;                          /* channels last: from place to place */
} grid_job;

/* Whether the channels of x lie side by side, and one step of y leads from place to place. */
static bool grid_last(const nd4c_call *call, int64_t *y_place) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  nd4c_simd_rows rows;
  nd4c_simd_rows_make(&rows, y, y, 3);
  *y_place = rows.rank > 0 ? rows.y_strides[0] : 1;
  return x->dtype == ND4C_FLOAT32 && x->size > 0 && y->size > 0 && nd4c_simd_dense_axis(x, 1) && rows.rank <= 1;
}

static bool grid_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = why_not(call);
  int64_t y_place = 0;
  return why == NULL || grid_last(call, &y_place) || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

static void grid_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const grid_job *j = user;
  (void)worker;
  for (int64_t number = begin; number < end; number++) {
    const int64_t image = number / j->blocks, first = number % j->blocks * PLACES, left = j->y_step - first;
    block b;
    begin_block(&b, left < PLACES ? left : PLACES);
    for (int64_t i = 0; i < b.places; i++) {
      int64_t offsets[TAPS + 1];
      double weights[TAPS + 1];
      const int32_t count = nd4c_ref_sample_taps(&j->args, image * j->y_step + first + i, offsets, weights);
      set_place(&b, i, count, offsets, weights);
    }
    sum_channels(&b, j->channels, (const float *)(const void *)j->args.x.data + image * j->channels * j->x_step,
                 j->x_step, (float *)(void *)j->args.y.data + image * j->channels * j->y_step + first, j->y_step);
  }
}

/* The elements that a place weighs, as offsets of their first channels in x. */
typedef struct grid_place {
  int64_t count, offsets[TAPS + 1];
  double weights[TAPS + 1];
} grid_place;

/* n channels of a place, from x on. */
static void weigh_channels(const grid_place *place, int64_t n, const float *x, float *y) {
  double sums[LAST_CHANNELS];
  const float *rows[TAPS + 1];
  if (place->count == 0) {
    memset(y, 0, (size_t)n * sizeof *y);
    return;
  }
  for (int64_t k = 0; k < place->count; k++) {
    rows[k] = x + place->offsets[k];
  }
  nd4c_simd.resample->blend(n, place->count, rows, place->weights, sums);
  nd4c_simd.resample->store(n, sums, y);
}

/* `count` places of an image, from `first` on, whose channels lie side by side in x. */
static void sample_places(const grid_job *j, int64_t image, int64_t first, int64_t count) {
  const nd4c_ref_tensor *x = &j->args.x, *y = &j->args.y;
  grid_place places[LAST_PLACES];
  _Alignas(64) float tile[LAST_PLACES * LAST_CHANNELS];
  for (int64_t i = 0; i < count; i++) {
    grid_place *p = &places[i];
    p->count = nd4c_ref_sample_taps(&j->args, image * j->y_step + first + i, p->offsets, p->weights);
    if (p->count < 0) { /* nowhere */
      p->count = 1;
      p->offsets[0] = 0;
      p->weights[0] = (double)NAN;
    }
  }
  for (int64_t c = 0; c < j->channels; c += LAST_CHANNELS) {
    const int64_t n = j->channels - c < LAST_CHANNELS ? j->channels - c : LAST_CHANNELS;
    const float *from = (const float *)(const void *)x->data + image * x->strides[0] + c;
    float *to = (float *)(void *)y->data + image * y->strides[0] + first * j->y_place + c * y->strides[1];
    for (int64_t i = 0; i < count; i++) {
      weigh_channels(&places[i], n, from, tile + i * n);
    }
    nd4c_simd.move->move[sizeof *to](count, n, tile, n, 1, to, j->y_place, y->strides[1]);
  }
}

static void grid_last_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const grid_job *j = user;
  (void)worker;
  for (int64_t number = begin; number < end; number++) {
    const int64_t first = number % j->blocks * LAST_PLACES, left = j->y_step - first;
    sample_places(j, number / j->blocks, first, left < LAST_PLACES ? left : LAST_PLACES);
  }
}

static nd4c_status grid_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  grid_job j = {.args = {.x = nd4c_cpu_ref_tensor(x),
                         .grid = nd4c_cpu_ref_input(call, ND4C_IN_grid_sample_grid),
                         .y = nd4c_cpu_ref_tensor(y),
                         .mode = ND4C_INT_OF(call, grid_sample_mode),
                         .padding = ND4C_INT_OF(call, grid_sample_padding),
                         .align_corners = ND4C_FLAG_OF(call, grid_sample_align_corners)},
                .channels = x->shape[1]};
  j.x_step = x->size / x->shape[0] / j.channels;
  j.y_step = y->size / y->shape[0] / j.channels;
  const bool planar = why_not(call) == NULL;
  const int64_t places = planar ? PLACES : LAST_PLACES;
  (void)grid_last(call, &j.y_place);
  j.blocks = (j.y_step + places - 1) / places;
  nd4c_cpu_parallel(y->shape[0] * j.blocks, grain(places * (4 * j.channels + 32)), call->width,
                    planar ? grid_range : grid_last_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_image_sample_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(grid_sample, ND4C_DTYPE_BIT(ND4C_FLOAT32), grid_usable, grid_run), NULL};
