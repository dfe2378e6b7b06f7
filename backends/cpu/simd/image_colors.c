/* Conversions of colours of engine simd, in float32 and float64 in C order: blocks of pixels, of which the colours
 * become planes of float64. dispatch/choice.c asks these kernels before the reference's. */
#include "backends/cpu/simd/simd.h"
#include "kernels/reference/image/image.h"

enum { BLOCK = ND4C_COLORS_BLOCK, PIECE_BLOCKS = 16 };

typedef struct color_job {
  const nd4c_tensor *x, *y;
  nd4c_ref_color what;
  double amount;
  int64_t inner, colors, blocks; /* elements behind the axis; colours of y; blocks of an image */
  int64_t pixels;                /* of an image: what a block does not cross */
} color_job;

static void convert(const color_job *j, double (*pixels)[BLOCK]) {
  const nd4c_colors_table *table = nd4c_simd.colors;
  const double(*matrix)[3] = nd4c_ref_color_matrix(j->what);
  if (matrix != NULL) {
    table->multiply(matrix, j->colors, pixels);
    return;
  }
  if (j->what != ND4C_REF_HSV_TO_RGB) {
    table->to_hsv(pixels);
  }
  if (j->what == ND4C_REF_HUE) {
    table->adjust(j->amount, 1, 0, pixels);
  } else if (j->what == ND4C_REF_SATURATION) {
    table->adjust(0, j->amount, 1, pixels);
  }
  if (j->what != ND4C_REF_RGB_TO_HSV) {
    table->from_hsv(pixels);
  }
}

/* Channels last: all pixels are one image, three elements apart. Else each image has planes. */
static void color_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const color_job *j = user;
  const bool last = j->inner == 1, single = j->x->dtype == ND4C_FLOAT32;
  (void)worker;
  for (int64_t block = begin; block < end; block++) {
    double pixels[3][BLOCK];
    const int64_t image = block / j->blocks, first = block % j->blocks * BLOCK;
    const int64_t n = j->pixels - first < BLOCK ? j->pixels - first : BLOCK;
    const int64_t from = image * 3 * j->pixels + first * (last ? 3 : 1), x_step = last ? 3 : 1;
    const int64_t to = image * j->colors * j->pixels + first * (last ? j->colors : 1), y_step = last ? j->colors : 1;
    if (single) {
      nd4c_simd.colors->load_float32(n, (const float *)j->x->data + from, x_step, j->inner, pixels);
    } else {
      nd4c_simd.colors->load_float64(n, (const double *)j->x->data + from, x_step, j->inner, pixels);
    }
    convert(j, pixels);
    if (single) {
      nd4c_simd.colors->store_float32(n, j->colors, pixels, y_step, j->inner, (float *)j->y->data + to);
    } else {
      nd4c_simd.colors->store_float64(n, j->colors, pixels, y_step, j->inner, (double *)j->y->data + to);
    }
  }
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  ND4C_CPU_DECLINE_IF(!nd4c_in_c_order(&call->inputs[0]) || !nd4c_in_c_order(&call->outputs[0]), "not in C order");
  return true;
}

static nd4c_status run_any(const nd4c_call *call, nd4c_ref_color what, double amount, int64_t axis_number) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  const int32_t axis = nd4c_axis(axis_number, x->rank);
  color_job j = {.x = x, .y = y, .what = what, .amount = amount, .inner = 1, .colors = y->shape[axis]};
  if (x->size == 0) {
    return ND4C_OK;
  }
  for (int32_t i = axis + 1; i < x->rank; i++) {
    j.inner *= x->shape[i];
  }
  j.pixels = j.inner == 1 ? x->size / 3 : j.inner;
  j.blocks = nd4c_cpu_divide_up(j.pixels, BLOCK);
  nd4c_cpu_parallel(x->size / 3 / j.pixels * j.blocks, PIECE_BLOCKS, call->width, color_range, &j);
  return ND4C_OK;
}

/* X(op, conversion, amount, axis) */
#define COLOR_OPS(X)                                                                           \
  X(rgb_to_hsv, RGB_TO_HSV, 0, call->attrs[0].as.i)                                            \
  X(hsv_to_rgb, HSV_TO_RGB, 0, call->attrs[0].as.i)                                            \
  X(rgb_to_yiq, RGB_TO_YIQ, 0, call->attrs[0].as.i)                                            \
  X(yiq_to_rgb, YIQ_TO_RGB, 0, call->attrs[0].as.i)                                            \
  X(rgb_to_yuv, RGB_TO_YUV, 0, call->attrs[0].as.i)                                            \
  X(yuv_to_rgb, YUV_TO_RGB, 0, call->attrs[0].as.i)                                            \
  X(rgb_to_grayscale, GRAYSCALE, 0, call->attrs[0].as.i)                                       \
  X(adjust_hue, HUE, ND4C_REAL_OF(call, adjust_hue_delta), ND4C_INT_OF(call, adjust_hue_axis)) \
  X(adjust_saturation, SATURATION, ND4C_REAL_OF(call, adjust_saturation_factor),               \
    ND4C_INT_OF(call, adjust_saturation_axis))
#define RUN(op, conversion, amount, axis)                          \
  static nd4c_status op##_run(const nd4c_call *call) {             \
    return run_any(call, ND4C_REF_##conversion, (amount), (axis)); \
  }
#define ROW(op, ...) \
  ND4C_CPU_SIMD_KERNEL(op, ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64), usable, op##_run),
COLOR_OPS(RUN)

const nd4c_kernel *const nd4c_cpu_simd_image_colors_kernels[] = {COLOR_OPS(ROW) NULL};
