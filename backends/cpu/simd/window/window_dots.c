/* conv of engine simd with windows of one cell and few output channels, f32 and bfloat16, channels last: the last conv
 * of a network that gives each place of an image a few numbers. Cells are read once, as they lie, and sums are kept in
 * f32 and rounded once. dispatch/choice.c asks this kernel before oneDNN's, whose tiles have 16 output channels at
 * least. */
#include "backends/cpu/simd/rows.h"

/* Up to MOST_CHANNELS, and MOST_SUMS for the square of the outputs times the channels of whole blocks, this kernel took
 * 0.2 to 1.07 of oneDNN's time. With more outputs oneDNN's tiles fill up, and cost the same for all.
 * PIECE_RESULTS: of some cells, which stay in the L1 cache until they are activated and rounded. GRAIN: multiplications
 * that are worth another worker. */
enum { MOST_CHANNELS = 256, MOST_SUMS = 30 * 30, PIECE_RESULTS = 512, GRAIN = 1 << 18 };

typedef struct job {
  nd4c_unary_loop activate; /* NULL: none */
  nd4c_unary_parameters parameters;
  const nd4c_tensor *x, *w, *y, *bias, *addend;
  bool narrow;
  int64_t x_step, outputs, channels, row; /* row: channels of a row of weights, to whole blocks */
  int64_t cells, piece, piece_elements;   /* piece: cells; piece_elements: of its results, and behind them */
  float *weights, *start, *results;       /* start: the bias; results: each worker's, and as much for the addend */
} job;

static void job_make(job *j, const nd4c_call *call) {
  const int64_t activation = ND4C_INT_OF(call, conv_activation), block = nd4c_simd.dots->block;
  *j = (job){.x = &call->inputs[ND4C_IN_conv_x], .w = &call->inputs[ND4C_IN_conv_w], .y = &call->outputs[0]};
  j->bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  j->addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  j->activate = nd4c_cpu_activation_loop(activation, ND4C_FLOAT32);
  j->parameters = nd4c_cpu_activation_parameters(activation, ND4C_FLOAT32);
  j->narrow = j->y->dtype == ND4C_BFLOAT16;
  j->x_step = nd4c_cpu_cell_step(j->x);
  j->outputs = j->w->shape[0];
  j->channels = j->w->shape[1];
  j->row = nd4c_cpu_divide_up(j->channels, block) * block;
  j->cells = j->y->size / j->outputs;
  j->piece = PIECE_RESULTS / j->outputs;
  j->piece_elements = PIECE_RESULTS + nd4c_simd.dots->beyond;
  j->weights = call->scratch;
  j->start = j->weights != NULL ? j->weights + j->outputs * j->row : NULL;
  j->results = j->weights != NULL ? j->start + nd4c_simd.dots->most_outputs : NULL;
}

/* -- may it ------------------------------------------------------------------------------------------------------- */

static const char *refuse(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_conv_x], *w = &call->inputs[ND4C_IN_conv_w], *y = &call->outputs[0];
  const nd4c_tensor *bias = nd4c_cpu_input(call, ND4C_IN_conv_bias);
  const nd4c_tensor *addend = nd4c_cpu_input(call, ND4C_IN_conv_addend);
  if (x->size == 0 || w->size == 0 || y->size == 0) {
    return "an operand is empty";
  }
  if (strcmp(nd4c_simd.level, "avx512") != 0) {
    return "without AVX-512 the libraries are faster";
  }
  if (w->shape[0] > nd4c_simd.dots->most_outputs || ND4C_INT_OF(call, conv_groups) != 1) {
    return "many results of a cell, or groups of channels";
  }
  const int64_t row = nd4c_cpu_divide_up(w->shape[1], nd4c_simd.dots->block) * nd4c_simd.dots->block;
  if (w->shape[1] > MOST_CHANNELS || w->shape[0] * w->shape[0] * row > MOST_SUMS) {
    return "many channels for so many results: oneDNN is faster";
  }
  nd4c_ref_window window;
  nd4c_cpu_conv_window(call, &window);
  if (!nd4c_cpu_sees_one_cell(&window, x, y)) {
    return "windows of several cells, or not of each cell";
  }
  if (nd4c_cpu_cell_step(x) == 0 || nd4c_cpu_cell_step(y) != y->shape[1]) {
    return "channels do not lie side by side, or cells not equally far apart";
  }
  return addend != NULL && (!nd4c_cpu_same_shape(addend, y) || nd4c_cpu_cell_step(addend) != y->shape[1])
             ? "the addend does not lie as the result does"
         : bias != NULL && bias->size != y->shape[1] ? "the bias is not of the result's channels"
                                                     : NULL;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const char *why = refuse(call);
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

/* -- running ------------------------------------------------------------------------------------------------------ */

static int64_t scratch_bytes(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  const int64_t workers = call->width > 1 ? call->width : 1;
  return (j.outputs * j.row + nd4c_simd.dots->most_outputs + 2 * workers * j.piece_elements) * (int64_t)sizeof(float);
}

/* Weights and bias are few: each call widens them. */
static void load_weights(const job *j) {
  memset(j->weights, 0, (size_t)(j->outputs * j->row) * sizeof *j->weights);
  for (int64_t output = 0; output < j->outputs; output++) {
    float *to = j->weights + output * j->row;
    for (int64_t channel = 0; channel < j->channels; channel++) {
      const int64_t at = j->narrow ? nd4c_simd.depthwise_last->spread(channel) : channel;
      to[at] = nd4c_cpu_wide_element(j->w, output * j->w->strides[0] + channel * j->w->strides[1]);
    }
    j->start[output] = j->bias != NULL ? nd4c_cpu_wide_element(j->bias, output * j->bias->strides[0]) : 0;
  }
}

/* Adds `count` elements of the addend; wide: room for them. */
static void add_addend(const job *j, int64_t first, int64_t count, float *wide, float *results) {
  const float *from = wide;
  if (j->narrow) {
    nd4c_simd.cast->loops[ND4C_BFLOAT16][ND4C_FLOAT32](count, (const uint16_t *)j->addend->data + first, wide);
  } else {
    from = (const float *)j->addend->data + first;
  }
  nd4c_simd.gemm->float32->start(count, results, from, 1, results);
}

static void piece_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  float *results = j->results + 2 * worker * j->piece_elements, *wide = results + j->piece_elements;
  for (int64_t piece = begin; piece < end; piece++) {
    const int64_t cell = piece * j->piece, cells = j->cells - cell < j->piece ? j->cells - cell : j->piece;
    const int64_t first = cell * j->outputs, count = cells * j->outputs;
    if (j->narrow) {
      nd4c_simd.dots->convolve_bfloat16(cells, j->outputs, j->channels, (const uint16_t *)j->x->data + cell * j->x_step,
                                        j->x_step, j->weights, j->start, results);
    } else {
      nd4c_simd.dots->convolve_float32(cells, j->outputs, j->channels, (const float *)j->x->data + cell * j->x_step,
                                       j->x_step, j->weights, j->start, results);
    }
    if (j->addend != NULL) {
      add_addend(j, first, count, wide, results);
    }
    if (j->activate != NULL) {
      j->activate(count, results, results, &j->parameters);
    }
    if (j->narrow) {
      nd4c_simd.cast->loops[ND4C_FLOAT32][ND4C_BFLOAT16](count, results, (uint16_t *)j->y->data + first);
    } else {
      memcpy((float *)j->y->data + first, results, (size_t)count * sizeof *results);
    }
  }
}

static nd4c_status run(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  load_weights(&j);
  const int64_t work = j.piece * j.outputs * j.channels;
  nd4c_cpu_parallel(nd4c_cpu_divide_up(j.cells, j.piece), GRAIN / work + 1, call->width, piece_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_window_dots_kernels[] = {
    ND4C_CPU_KERNEL("simd", conv, "conv_dots", ND4C_CPU_PRIORITY_ONEDNN + 2,
                    ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_BFLOAT16), usable, run,
                    .scratch_bytes = scratch_bytes),
    NULL};
