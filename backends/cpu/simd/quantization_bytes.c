/* Products of bytes of engine simd, on levels that have one (kernels/cpu/quantization/bytes.h).
 * support/quantization_product.h does the work around the product. dispatch/choice.c asks these kernels after
 * oneDNN's. */
#include <string.h>

#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/quantization_product.h"

enum { ROWS = 64 }; /* of a times one panel of b: a piece of work */

/* Offsets in scratch: of a, padded with zeros, and of b's panels, flipped bytes and sums, unless b was packed
 * before. */
typedef struct layout {
  int64_t whole, panels; /* k rounded up; panels of b */
  int64_t a, b, flipped, bytes;
  nd4c_bytes_room room;
} layout;

/* CONSTANT weights: panels, then sums of columns. */
typedef struct packed {
  int8_t *b;
  int32_t *sums;
  nd4c_cpu_held held; /* both of them */
} packed;

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  nd4c_bytes_call c;
  ND4C_CPU_DECLINE_IF(nd4c_simd.bytes->multiply == NULL, "level %s has no product of bytes", nd4c_simd.level);
  const char *why = nd4c_bytes_read(call, &c);
  return why == NULL || nd4c_cpu_decline(reason, reason_size, "%s", why);
}

static layout place(const nd4c_bytes_call *c, bool is_packed) {
  int64_t depth = nd4c_simd.bytes->depth;
  layout l = {.whole = (c->k + depth - 1) / depth * depth,
              .panels = (c->n + ND4C_BYTES_COLUMNS - 1) / ND4C_BYTES_COLUMNS};
  l.a = nd4c_bytes_take(&l.bytes, c->m * l.whole);
  l.b = nd4c_bytes_take(&l.bytes, is_packed ? 0 : l.panels * ND4C_BYTES_COLUMNS * l.whole);
  l.flipped = nd4c_bytes_take(&l.bytes, is_packed || !nd4c_bytes_flipped(c) ? 0 : c->k * c->n);
  l.room = nd4c_bytes_place(c, !is_packed, &l.bytes);
  return l;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  nd4c_bytes_call c;
  nd4c_bytes_read(call, &c);
  return place(&c, call->state != NULL && ((const packed *)call->state)->b != NULL).bytes;
}

/* -- packing ---------------------------------------------------------------------------------------------------- */

typedef struct pack_job {
  const nd4c_bytes_call *c;
  const layout *l;
  const int8_t *b;
  int64_t strides[2];
  int8_t *to;
} pack_job;

static void pack_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const pack_job *j = user;
  (void)worker;
  for (int64_t panel = begin; panel < end; panel++) {
    int64_t column = panel * ND4C_BYTES_COLUMNS, left = j->c->n - column;
    nd4c_simd.bytes->pack(left < ND4C_BYTES_COLUMNS ? left : ND4C_BYTES_COLUMNS, j->c->k, j->b + column * j->strides[1],
                          j->strides[0], j->strides[1], j->to + column * j->l->whole);
  }
}

/* One matrix b as panels, signed, and the sums of its columns. flipped: room for it where b is unsigned. */
static void pack_weights(const nd4c_bytes_call *c, const layout *l, int32_t width, const char *b, int8_t *flipped,
                         int8_t *to, int32_t *sums) {
  bool turned = nd4c_bytes_flipped(c);
  nd4c_bytes_walk_columns(c, width, b, turned ? flipped : NULL, sums);
  pack_job j = {.c = c, .l = l, .b = turned ? flipped : (const int8_t *)b, .to = to};
  nd4c_bytes_weight_strides(c, j.strides);
  nd4c_cpu_parallel(l->panels, 65536 / (l->whole * ND4C_BYTES_COLUMNS) + 1, width, pack_range, &j);
}

static void unprepare(void *state) {
  packed *p = state;
  nd4c_cpu_let_go(&p->held);
  nd4c_cpu_host->free(p);
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  nd4c_bytes_call c;
  nd4c_bytes_read(call, &c);
  const nd4c_tensor *b = &call->inputs[c.at.b];
  packed *p = nd4c_cpu_host->allocate(sizeof *p);
  ND4C_CPU_FAIL_IF(p == NULL, ND4C_MEMORY, "%s: no memory for %zu bytes of prepared state", call->op->name, sizeof *p);
  *state = p;
  if ((b->flags & ND4C_TENSOR_CONSTANT) == 0 || b->data == NULL || c.batch != 1) {
    return ND4C_OK;
  }
  layout l = place(&c, false);
  int64_t panels = (l.panels * ND4C_BYTES_COLUMNS * l.whole + 63) & ~(int64_t)63;
  size_t beside = nd4c_bytes_flipped(&c) ? (size_t)(c.k * c.n) : 0;
  int8_t *flipped = beside > 0 ? nd4c_cpu_host->allocate_pages(beside) : NULL;
  if ((beside == 0 || flipped != NULL) &&
      nd4c_cpu_hold(call, (size_t)(panels + c.n * 4), "packed weights", &p->held) == ND4C_OK) {
    p->b = p->held.memory;
    p->sums = (int32_t *)(void *)(p->b + panels);
    pack_weights(&c, &l, call->width, b->data, flipped, p->b, p->sums);
  }
  if (flipped != NULL) {
    nd4c_cpu_host->free_pages(flipped, beside);
  }
  return ND4C_OK; /* without this memory every call packs the weights */
}

/* -- running ---------------------------------------------------------------------------------------------------- */

typedef struct job {
  const nd4c_bytes_call *c;
  const layout *l;
  const char *a;
  int8_t *a_whole;
  const int8_t *b;
  int32_t *products;
  int64_t row_pieces;
} job;

/* Rows of a, signed and filled up. */
static void fill_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  int64_t k = j->c->k, whole = j->l->whole;
  (void)worker;
  for (int64_t row = begin; row < end; row++) {
    const char *from = j->a + row * j->c->a_row;
    int8_t *to = j->a_whole + row * whole;
    if (j->c->a_dtype == ND4C_UINT8) {
      nd4c_simd.scales->flip(k, (const uint8_t *)from, to);
    } else {
      memcpy(to, from, (size_t)k);
    }
    memset(to + k, 0, (size_t)(whole - k));
  }
}

/* Computes pieces: ROWS rows of a times one panel of b, panel by panel. A panel stays in the cache for all rows of a
 * piece. */
static void multiply_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const job *j = user;
  int64_t whole = j->l->whole, n = j->c->n;
  (void)worker;
  for (int64_t piece = begin; piece < end; piece++) {
    int64_t column = piece / j->row_pieces * ND4C_BYTES_COLUMNS, row = piece % j->row_pieces * ROWS;
    int64_t columns = n - column < ND4C_BYTES_COLUMNS ? n - column : ND4C_BYTES_COLUMNS;
    int64_t rows = j->c->m - row < ROWS ? j->c->m - row : ROWS;
    nd4c_simd.bytes->multiply(rows, columns, whole, j->a_whole + row * whole, j->b + column * whole,
                              j->products + row * n + column, n);
  }
}

static void run_matrix(const nd4c_bytes_call *c, const layout *l, nd4c_bytes_finish *finish, int64_t matrix) {
  const nd4c_call *call = finish->call;
  const packed *p = call->state;
  char *scratch = call->scratch;
  const int32_t *sums = p->sums;
  job j = {.c = c,
           .l = l,
           .a = (const char *)call->inputs[0].data + matrix * c->a_step,
           .a_whole = (int8_t *)(scratch + l->a),
           .b = p->b,
           .products = c->y_dtype == ND4C_INT32 ? (int32_t *)call->outputs[0].data + matrix * c->m * c->n
                                                : (int32_t *)(void *)(scratch + l->room.products),
           .row_pieces = (c->m + ROWS - 1) / ROWS};
  if (p->b == NULL) {
    int32_t *own_sums = (int32_t *)(void *)(scratch + l->room.sums);
    pack_weights(c, l, call->width, (const char *)call->inputs[c->at.b].data + matrix * c->b_step,
                 (int8_t *)(scratch + l->flipped), (int8_t *)(scratch + l->b), own_sums);
    j.b = (const int8_t *)(scratch + l->b);
    sums = own_sums;
  }
  nd4c_cpu_parallel(c->m, 65536 / l->whole + 1, call->width, fill_range, &j);
  int64_t work = (c->m < ROWS ? c->m : ROWS) * ND4C_BYTES_COLUMNS * l->whole;
  nd4c_cpu_parallel(l->panels * j.row_pieces, (1 << 20) / work + 1, call->width, multiply_range, &j);
  nd4c_bytes_end(finish, matrix, j.a, j.products, sums, (int32_t *)(void *)(scratch + l->room.rows));
}

static nd4c_status run(const nd4c_call *call) {
  const packed *p = call->state;
  char *scratch = call->scratch;
  nd4c_bytes_call c;
  nd4c_bytes_finish finish;
  nd4c_bytes_read(call, &c); /* usable has seen that it can be read */
  layout l = place(&c, p->b != NULL);
  nd4c_bytes_begin(&finish, &c, call, c.a_dtype == ND4C_UINT8 ? 128 : 0, (int32_t *)(void *)(scratch + l.room.zeros),
                   (double *)(void *)(scratch + l.room.factors));
  for (int64_t matrix = 0; matrix < c.batch; matrix++) {
    run_matrix(&c, &l, &finish, matrix);
  }
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_quantization_bytes_kernels[] = {
    ND4C_BYTES_KERNEL("simd", matmul_integer, ND4C_SIMD_PRIORITY),
    ND4C_BYTES_KERNEL("simd", qlinear_matmul, ND4C_SIMD_PRIORITY),
    ND4C_BYTES_KERNEL("simd", linear_int8, ND4C_SIMD_PRIORITY), NULL};
