/* max_pool of bytes whose channels lie side by side, on engine simd: the largest of the cells of a window, by the loops
 * of `maximum`. Quantised networks have such pools. dispatch/choice.c asks this kernel before the reference's;
 * window_pool.c has those of floats. */
#include <string.h>

#include "backends/cpu/simd/rows.h"
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/window.h"

typedef struct job {
  const nd4c_tensor *x, *y;
  nd4c_ref_window window;
  nd4c_binary_loop larger;
} job;

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(y->size == 0 || x->size == 0, "an operand is empty");
  ND4C_CPU_DECLINE_IF(!nd4c_simd_dense_axis(x, 1) || !nd4c_simd_dense_axis(y, 1),
                      "the channels do not lie without gaps");
  return true;
}

/* Puts the largest cells of one window into y. output: its spatial position. */
static void pool_window(const job *j, const char *image, const int64_t *output, char *y) {
  const nd4c_ref_window *w = &j->window;
  int64_t cell[3] = {0, 0, 0}, channels = j->x->shape[1];
  bool any = false;
  for (bool more = true; more;) {
    const char *from = image;
    bool inside = true;
    for (int32_t i = 0; i < w->spatial; i++) {
      int64_t at = output[i] * w->stride[i] - w->pad_begin[i] + cell[i] * w->dilation[i];
      inside = inside && at >= 0 && at < w->input[i];
      from += at * j->x->strides[i + 2];
    }
    if (inside && any) {
      j->larger(channels, y, from, y);
    } else if (inside) {
      memcpy(y, from, (size_t)channels);
      any = true;
    }
    more = false;
    for (int32_t i = w->spatial - 1; i >= 0 && !more; i--) {
      more = ++cell[i] < w->kernel[i];
      cell[i] = more ? cell[i] : 0;
    }
  }
  if (!any) {
    memset(y, j->y->dtype == ND4C_INT8 ? INT8_MIN : 0, (size_t)channels);
  }
}

static void position_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_tensor *y = j->y;
  (void)worker;
  for (int64_t index = begin; index < end; index++) {
    int64_t output[3] = {0, 0, 0}, rest = index, to = 0;
    for (int32_t i = j->window.spatial - 1; i >= 0; i--) {
      output[i] = rest % y->shape[i + 2];
      rest /= y->shape[i + 2];
      to += output[i] * y->strides[i + 2];
    }
    pool_window(j, (const char *)j->x->data + rest * j->x->strides[0], output,
                (char *)y->data + to + rest * y->strides[0]);
  }
}

static nd4c_status run(const nd4c_call *call) {
  const nd4c_tensor *y = &call->outputs[0];
  job j = {.x = &call->inputs[0], .y = y, .larger = nd4c_simd.binary->loops[ND4C_BINARY_maximum][y->dtype].both};
  nd4c_cpu_pool_window(call, &j.window);
  int64_t cells = 1;
  for (int32_t i = 0; i < j.window.spatial; i++) {
    cells *= j.window.kernel[i];
  }
  nd4c_cpu_parallel(y->size / y->shape[1], nd4c_simd_grain(y->shape[1] * cells / 8 + 8 * cells), call->width,
                    position_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_window_pool_bytes_kernels[] = {
    ND4C_CPU_KERNEL("simd", max_pool, "max_pool_bytes", ND4C_SIMD_PRIORITY,
                    ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8), usable, run),
    NULL};
