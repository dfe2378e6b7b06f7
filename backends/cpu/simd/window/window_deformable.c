/* deformable_conv of engine simd in f32, for two axes in C order. For a tile of output positions at a time, where each
 * tap reads is found once for the channels that share offsets; what the taps read lies side by side, and is multiplied
 * by the weights. dispatch/choice.c asks this kernel before the reference's. */
#include <math.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/window.h"

/* Output positions of a tile; cells that one place lies between. */
enum { PLACES = 64, CORNERS = 4 };

typedef struct job {
  const nd4c_gemm_loops *loops;
  const nd4c_tensor *x, *w, *y, *bias;
  const float *offset, *mask; /* mask: or NULL */
  nd4c_ref_window window;
  int64_t groups, offset_groups, taps, cells, tiles; /* cells: of a plane of y */
  char *scratch;
  int64_t worker_bytes;
} job;

/* What a tap reads at the places of a tile: elements of a plane with their weights, [corner][place], the mask in them.
 * A mask of 0 or one that is not finite is odd: it multiplies the sum, as an infinite element times 0 is NaN, and a
 * cell outside counts nothing, whatever the mask is. */
typedef struct places {
  int32_t indices[CORNERS * PLACES];
  double weights[CORNERS * PLACES];
  int64_t odd_count;
  int64_t odd_places[PLACES];
  float odd_masks[PLACES];
} places;

static int64_t aligned(int64_t bytes) {
  return (bytes + 63) & ~(int64_t)63;
}

static void job_make(job *j, const nd4c_call *call) {
  const nd4c_cpu_window_attrs at = ND4C_CPU_WINDOW_ATTRS_PADDED(deformable_conv);
  const nd4c_tensor *mask = nd4c_cpu_input(call, ND4C_IN_deformable_conv_mask);
  *j = (job){.loops = nd4c_simd.gemm->float32,
             .x = &call->inputs[ND4C_IN_deformable_conv_x],
             .w = &call->inputs[ND4C_IN_deformable_conv_w],
             .y = &call->outputs[0],
             .bias = nd4c_cpu_input(call, ND4C_IN_deformable_conv_bias),
             .offset = call->inputs[ND4C_IN_deformable_conv_offset].data,
             .mask = mask != NULL ? mask->data : NULL,
             .groups = ND4C_INT_OF(call, deformable_conv_groups),
             .offset_groups = ND4C_INT_OF(call, deformable_conv_offset_groups),
             .scratch = call->scratch};
  nd4c_cpu_window(call, at, j->w->shape + 2, &j->window);
  j->taps = j->w->shape[2] * j->w->shape[3];
  j->cells = j->y->shape[2] * j->y->shape[3];
  j->tiles = nd4c_cpu_divide_up(j->cells, PLACES);
  j->worker_bytes =
      aligned(j->loops->buffer_bytes) + aligned(j->x->shape[1] * j->taps * PLACES * (int64_t)sizeof(float));
}

/* The two cells around a place of an axis; the weight of one outside is 0. */
static void find_cells(double place, int64_t extent, int64_t cells[2], double weights[2]) {
  const double below = floor(place);
  for (int side = 0; side < 2; side++) {
    const double cell = below + side;
    const bool inside = cell >= 0 && cell < (double)extent; /* false for NaN */
    cells[side] = inside ? (int64_t)cell : 0;
    weights[side] = inside ? (side == 0 ? 1 - (place - below) : place - below) : 0;
  }
}

/* Where tap `tap` of an offset group reads at output positions [first, first + n) of an image. */
static void find_places(const job *j, int64_t image, int64_t group, int64_t tap, int64_t first, int64_t n, places *p) {
  const nd4c_ref_window *w = &j->window;
  const int64_t channel = (image * j->offset_groups + group) * j->taps + tap, columns = j->y->shape[3];
  const int64_t k[2] = {tap / w->kernel[1], tap % w->kernel[1]};
  const float *offset = j->offset + 2 * channel * j->cells, *mask = j->mask;
  p->odd_count = 0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t cell = first + i, at[2] = {cell / columns, cell % columns};
    int64_t cells[2][2];
    double weights[2][2];
    for (int axis = 0; axis < 2; axis++) {
      const int64_t start = at[axis] * w->stride[axis] - w->pad_begin[axis] + k[axis] * w->dilation[axis];
      find_cells((double)start + (double)offset[axis * j->cells + cell], w->input[axis], cells[axis], weights[axis]);
    }
    double scale = mask != NULL ? (double)mask[channel * j->cells + cell] : 1;
    if (scale == 0 || !isfinite(scale)) {
      p->odd_places[p->odd_count] = i;
      p->odd_masks[p->odd_count++] = (float)scale;
      scale = 1;
    }
    for (int corner = 0; corner < CORNERS; corner++) {
      const int row = corner >> 1, column = corner & 1;
      p->indices[corner * n + i] = (int32_t)(cells[0][row] * w->input[1] + cells[1][column]);
      p->weights[corner * n + i] = weights[0][row] * weights[1][column] * scale;
    }
  }
}

/* What all taps read at the positions: [channel, tap][position]. */
static void read_tile(const job *j, int64_t image, int64_t first, int64_t n, float *columns) {
  const int64_t channels = j->x->shape[1], each = channels / j->offset_groups;
  const int64_t plane = j->x->shape[2] * j->x->shape[3];
  const float *x = (const float *)j->x->data + image * channels * plane;
  places p;
  for (int64_t group = 0; group < j->offset_groups; group++) {
    for (int64_t tap = 0; tap < j->taps; tap++) {
      find_places(j, image, group, tap, first, n, &p);
      for (int64_t c = group * each; c < (group + 1) * each; c++) {
        float *column = columns + (c * j->taps + tap) * n;
        nd4c_simd.resample->pick(n, CORNERS, x + c * plane, p.indices, p.weights, column);
        for (int64_t i = 0; i < p.odd_count; i++) {
          column[p.odd_places[i]] *= p.odd_masks[i];
        }
      }
    }
  }
}

static void tile_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  char *buffer = j->scratch + worker * j->worker_bytes, *columns = buffer + aligned(j->loops->buffer_bytes);
  const int64_t outputs = j->w->shape[0] / j->groups, depth = j->w->shape[1] * j->taps, size = (int64_t)sizeof(float);
  for (int64_t tile = begin; tile < end; tile++) {
    const int64_t image = tile / j->tiles, first = tile % j->tiles * PLACES;
    const int64_t n = j->cells - first < PLACES ? j->cells - first : PLACES;
    float *y = (float *)j->y->data + image * j->w->shape[0] * j->cells + first;
    read_tile(j, image, first, n, (float *)(void *)columns);
    for (int64_t o = 0; j->bias != NULL && o < j->w->shape[0]; o++) {
      nd4c_simd.normalization->float32->fill(n, (double)((const float *)j->bias->data)[o * j->bias->strides[0]],
                                             y + o * j->cells);
    }
    for (int64_t group = 0; group < j->groups; group++) {
      const nd4c_gemm_matrix a = {
          .data = (char *)j->w->data + group * outputs * depth * size, .row_stride = depth, .column_stride = 1};
      const nd4c_gemm_matrix b = {.data = columns + group * depth * n * size, .row_stride = n, .column_stride = 1};
      const nd4c_gemm_matrix to = {
          .data = (char *)(y + group * outputs * j->cells), .row_stride = j->cells, .column_stride = 1};
      j->loops->multiply(outputs, n, depth, a, b, to, j->bias != NULL, buffer);
    }
  }
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[ND4C_IN_deformable_conv_x];
  ND4C_CPU_DECLINE_IF(x->rank != 4, "not two axes");
  for (int32_t i = -1; i < call->input_count; i++) {
    const nd4c_tensor *tensor = i < 0 ? &call->outputs[0] : nd4c_cpu_input(call, i);
    if (tensor != NULL && i != ND4C_IN_deformable_conv_bias) {
      ND4C_CPU_DECLINE_IF(tensor->dtype != ND4C_FLOAT32 || !nd4c_in_c_order(tensor), "not float32 in C order");
      ND4C_CPU_DECLINE_IF(tensor->size == 0, "an operand is empty");
    }
  }
  return x->shape[2] * x->shape[3] <= INT32_MAX || nd4c_cpu_decline(reason, reason_size, "planes of more than 2^31");
}

static int64_t scratch_bytes(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  return j.worker_bytes * (call->width > 1 ? call->width : 1);
}

static nd4c_status run(const nd4c_call *call) {
  job j;
  job_make(&j, call);
  nd4c_cpu_parallel(j.y->shape[0] * j.tiles, 1, call->width, tile_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_window_deformable_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(deformable_conv, ND4C_DTYPE_BIT(ND4C_FLOAT32), usable, run, .scratch_bytes = scratch_bytes),
    NULL};
