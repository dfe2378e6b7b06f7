/* Products of few rows of bytes with columns that lie without gaps (layers whose weights differ from call to call), on
 * levels that have dot products of bytes. dispatch/choice.c asks these kernels of engine simd first. Constant weights
 * are better packed once: see onednn/quantization_int8.c and quantization_bytes.c. */
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/quantization_product.h"

enum { WORTH = 1 << 18 }; /* multiplications that are worth a worker */

/* Offsets in scratch: a's rows and a row of ones, as 16-bit numbers padded with zeros. */
typedef struct layout {
  int64_t whole;
  int64_t x, ones, bytes;
  nd4c_bytes_room room;
} layout;

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_bytes_call c;
  ND4C_CPU_DECLINE_IF(nd4c_simd.bytes->dots == NULL, "level %s has no dot product of bytes", nd4c_simd.level);
  const char *why = nd4c_bytes_read(call, &c);
  ND4C_CPU_DECLINE_IF(why != NULL, "%s", why);
  ND4C_CPU_DECLINE_IF(c.m > ND4C_BYTES_THIN_ROWS, "more than %d rows", ND4C_BYTES_THIN_ROWS);
  const nd4c_tensor *b = &call->inputs[c.at.b];
  ND4C_CPU_DECLINE_IF((b->flags & ND4C_TENSOR_CONSTANT) != 0, "constant weights are packed");
  return (c.b_strides[0] == 1 && (c.n == 1 || c.b_strides[1] >= c.k)) ||
         nd4c_cpu_decline(reason, reason_size, "the second factor does not lie by columns");
}

static layout place(const nd4c_bytes_call *c) {
  layout l = {.whole = (c->k + ND4C_BYTES_THIN_STEP - 1) / ND4C_BYTES_THIN_STEP * ND4C_BYTES_THIN_STEP};
  l.x = nd4c_bytes_take(&l.bytes, c->m * l.whole * 2);
  l.ones = nd4c_bytes_take(&l.bytes, l.whole * 2);
  l.room = nd4c_bytes_place(c, true, &l.bytes);
  return l;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  nd4c_bytes_call c;
  nd4c_bytes_read(call, &c);
  return place(&c).bytes;
}

/* -- running ---------------------------------------------------------------------------------------------------- */

typedef struct job {
  const nd4c_bytes_call *c;
  int64_t whole;
  const int16_t *x, *ones;
  const char *b;
  int32_t *products, *sums; /* sums: NULL if they are not wanted */
} job;

static void dot_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  const nd4c_bytes_call *c = j->c;
  int64_t column = c->n == 1 ? 0 : c->b_strides[1];
  const char *b = j->b + begin * column;
  bool flipped = nd4c_bytes_flipped(c);
  (void)worker;
  nd4c_simd.bytes->dots(c->m, end - begin, c->k, j->x, j->whole, b, column, flipped, j->products + begin, c->n);
  if (j->sums != NULL) {
    nd4c_simd.bytes->dots(1, end - begin, c->k, j->ones, 0, b, column, flipped, j->sums + begin, c->n);
  }
}

/* Rows of a as 16-bit numbers, then zeros. */
static void widen(const nd4c_bytes_call *c, const char *a, int64_t whole, int16_t *x) {
  for (int64_t row = 0; row < c->m; row++, x += whole) {
    const uint8_t *from = (const uint8_t *)a + row * c->a_row;
    for (int64_t i = 0; i < c->k; i++) {
      x[i] = c->a_dtype == ND4C_UINT8 ? from[i] : (int8_t)from[i];
    }
    memset(x + c->k, 0, (size_t)(whole - c->k) * sizeof *x);
  }
}

static nd4c_status run(const nd4c_call *call) {
  char *scratch = call->scratch;
  nd4c_bytes_call c;
  nd4c_bytes_finish finish;
  nd4c_bytes_read(call, &c); /* usable has seen that it can be read */
  layout l = place(&c);
  int16_t *x = (int16_t *)(void *)(scratch + l.x), *ones = (int16_t *)(void *)(scratch + l.ones);
  int32_t *sums = (int32_t *)(void *)(scratch + l.room.sums);
  nd4c_bytes_begin(&finish, &c, call, 0, (int32_t *)(void *)(scratch + l.room.zeros),
                   (double *)(void *)(scratch + l.room.factors));
  for (int64_t i = 0; finish.wants_sums && i < l.whole; i++) {
    ones[i] = i < c.k;
  }
  for (int64_t matrix = 0; matrix < c.batch; matrix++) {
    const char *a = (const char *)call->inputs[0].data + matrix * c.a_step;
    job j = {.c = &c,
             .whole = l.whole,
             .x = x,
             .ones = ones,
             .b = (const char *)call->inputs[c.at.b].data + matrix * c.b_step,
             .products = c.y_dtype == ND4C_INT32 ? (int32_t *)call->outputs[0].data + matrix * c.m * c.n
                                                 : (int32_t *)(void *)(scratch + l.room.products),
             .sums = finish.wants_sums ? sums : NULL};
    widen(&c, a, l.whole, x);
    nd4c_cpu_parallel(c.n, WORTH / (c.m * c.k) + 1, call->width, dot_range, &j);
    nd4c_bytes_end(&finish, matrix, a, j.products, sums, (int32_t *)(void *)(scratch + l.room.rows));
  }
  return ND4C_OK;
}

#define KERNEL(op)                                                         \
  ND4C_CPU_KERNEL("simd", op, "narrow_" #op, ND4C_CPU_PRIORITY_ONEDNN + 2, \
                  ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8), usable, run, .scratch_bytes = scratch_bytes)

const nd4c_kernel *const nd4c_cpu_simd_quantization_narrow_kernels[] = {KERNEL(matmul_integer), KERNEL(qlinear_matmul),
                                                                        KERNEL(linear_int8), NULL};
