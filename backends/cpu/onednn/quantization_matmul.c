/* qlinear_matmul on oneDNN with constant scales and zero points. One primitive multiplies bytes by VNNI, scales, rounds
 * and saturates; quantization_int8.c takes the other calls. Factors may have gaps, as heads of attention have, and
 * batches. dispatch/choice.c asks this kernel.
 *
 * Results are rounded as in quantization_conv.c, with the same exceptions. */
#include <math.h>
#include <string.h>

#include "backends/cpu/onednn/onednn.h"
#include "backends/cpu/onednn/quantization.h"
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/nest.h"

enum {
  SMALL = 16384, /* multiplications; smaller products are left to engine simd, without loading oneDNN */
  A = ND4C_IN_qlinear_matmul_a,
  B = ND4C_IN_qlinear_matmul_b,
  RANK = 6
};

static const nd4c_onednn_scaled positions = {.x_scale = ND4C_IN_qlinear_matmul_a_scale,
                                             .w_scale = ND4C_IN_qlinear_matmul_b_scale,
                                             .y_scale = ND4C_IN_qlinear_matmul_y_scale,
                                             .y_zero = ND4C_IN_qlinear_matmul_y_zero_point};

/* The primitive's operands, with axes merged where b is one matrix. */
typedef struct product {
  int32_t rank;
  int64_t a_shape[RANK], b_shape[RANK], y_shape[RANK];
  int64_t a_strides[RANK], b_strides[RANK], y_strides[RANK];
} product;

/* -- may it ----------------------------------------------------------------------------------------------------- */

static bool is_dense_row(const nd4c_tensor *x) {
  return x->strides[x->rank - 1] == 1 || x->shape[x->rank - 1] == 1;
}

/* Strides of axes of one element mean nothing, but oneDNN looks at them. */
static void clean_strides(int32_t rank, const int64_t *shape, int64_t *strides) {
  for (int32_t i = rank - 1; i >= 0; i--) {
    if (shape[i] == 1) {
      strides[i] = i == rank - 1 ? 1 : strides[i + 1] * shape[i + 1];
    }
  }
}

static const char *read_product(const nd4c_call *call, product *p) {
  const nd4c_tensor *a = &call->inputs[A], *b = &call->inputs[B], *y = &call->outputs[0];
  *p = (product){.rank = a->rank};
  if (a->rank < 2 || b->rank < 2 || a->rank > RANK || a->size == 0 || b->size == 0) {
    return "an operand is a vector, empty, or of more than 6 axes";
  }
  if (b->rank == 2 && a->rank > 2) {
    if (!nd4c_in_c_order(a) || !nd4c_in_c_order(y)) {
      return "rows of more than one matrix that have gaps";
    }
    p->rank = 2;
    p->a_shape[0] = p->y_shape[0] = a->size / a->shape[a->rank - 1];
    p->a_shape[1] = p->a_strides[0] = a->shape[a->rank - 1];
    p->y_shape[1] = p->y_strides[0] = y->shape[y->rank - 1];
    p->a_strides[1] = p->y_strides[1] = 1;
  } else if (a->rank != b->rank || memcmp(a->shape, b->shape, (size_t)(a->rank - 2) * sizeof *a->shape) != 0) {
    return "batches that differ";
  } else {
    memcpy(p->a_shape, a->shape, (size_t)a->rank * sizeof *a->shape);
    memcpy(p->a_strides, a->strides, (size_t)a->rank * sizeof *a->shape);
    memcpy(p->y_shape, y->shape, (size_t)a->rank * sizeof *a->shape);
    memcpy(p->y_strides, y->strides, (size_t)a->rank * sizeof *a->shape);
  }
  memcpy(p->b_shape, b->shape, (size_t)b->rank * sizeof *b->shape);
  memcpy(p->b_strides, b->strides, (size_t)b->rank * sizeof *b->shape);
  clean_strides(p->rank, p->a_shape, p->a_strides);
  clean_strides(p->rank, p->b_shape, p->b_strides);
  clean_strides(p->rank, p->y_shape, p->y_strides);
  if (!is_dense_row(a) || !is_dense_row(y) || (!is_dense_row(b) && b->strides[b->rank - 2] != 1)) {
    return "neither rows nor columns of a factor lie without gaps";
  }
  return nd4c_onednn_strides_fit(p->rank, p->a_shape, p->a_strides) &&
                 nd4c_onednn_strides_fit(p->rank, p->b_shape, p->b_strides) &&
                 nd4c_onednn_strides_fit(p->rank, p->y_shape, p->y_strides)
             ? NULL
             : "an operand's strides are zero, negative or overlapping";
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *a = &call->inputs[A], *b = &call->inputs[B];
  product p;
  const char *why = nd4c_onednn_refuse_scaled(call, &positions);
  why = why == NULL ? read_product(call, &p) : why;
  static const int single[] = {ND4C_IN_qlinear_matmul_a_scale, ND4C_IN_qlinear_matmul_a_zero_point};
  for (size_t i = 0; i < sizeof single / sizeof *single && why == NULL; i++) {
    why = call->inputs[single[i]].size == 1 ? NULL : "more than one scale or zero point of a";
  }
  if (why == NULL && (call->inputs[ND4C_IN_qlinear_matmul_b_scale].rank > 1 ||
                      call->inputs[ND4C_IN_qlinear_matmul_b_zero_point].rank > 1)) {
    why = "scales of b by matrix";
  }
  if (why == NULL && (double)a->size * (double)b->shape[b->rank - 1] < SMALL) {
    why = "the product is small";
  }
  return nd4c_onednn_accept_bytes(why, a->dtype, reason, reason_size);
}

/* -- preparing -------------------------------------------------------------------------------------------------- */

enum { FACTORS, ADDED, A_ZERO, B_ZERO, NUMBERS };
static const int arguments[NUMBERS] = {DNN_ARG_SCALES(DNN_ARG_WEIGHTS), DNN_ARG_BIAS, DNN_ARG_ZERO_POINTS(DNN_ARG_SRC),
                                       DNN_ARG_ZERO_POINTS(DNN_ARG_WEIGHTS)};

typedef struct node {
  const nd4c_onednn *dnn;
  int32_t width;
  nd4c_onednn_step step;
  bool flips;           /* b is unsigned: its highest bits are turned, in scratch if it is no constant */
  bool gathers;         /* b has gaps, which it then loses on the way */
  nd4c_cpu_held packed; /* CONSTANT b in the layout of the primitive */
  int64_t b_bytes, b_offset;
  void *numbers[NUMBERS]; /* NULL: none */
} node;

/* How many elements b's memory spans if it has no gaps, whatever order its axes are in; else 0. */
static int64_t span(const product *p) {
  int64_t last = 0, size = 1;
  for (int32_t i = 0; i < p->rank; i++) {
    last += (p->b_shape[i] - 1) * p->b_strides[i];
    size *= p->b_shape[i];
  }
  return last + 1 == size ? size : 0;
}

/* All zero points of b are one number. */
static bool is_one_zero(const nd4c_tensor *zeros) {
  for (int64_t i = 1; i < zeros->size; i++) {
    if (nd4c_bytes_number(zeros, i) != nd4c_bytes_number(zeros, 0)) {
      return false;
    }
  }
  return true;
}

/* Lets b's elements lie in C order. */
static void lose_gaps(product *p) {
  int64_t stride = 1;
  for (int32_t i = p->rank - 1; i >= 0; i--) {
    p->b_strides[i] = stride;
    stride *= p->b_shape[i];
  }
}

static void *take(size_t bytes) {
  return nd4c_cpu_host->allocate(bytes);
}

static nd4c_status take_numbers(node *s, const nd4c_call *call) {
  const nd4c_tensor *scales = &call->inputs[ND4C_IN_qlinear_matmul_b_scale];
  const nd4c_tensor *b = &call->inputs[B];
  const int64_t columns = b->shape[b->rank - 1];
  const int32_t a_zero = (int32_t)nd4c_bytes_number(&call->inputs[ND4C_IN_qlinear_matmul_a_zero_point], 0);
  const int32_t b_zero =
      (int32_t)nd4c_bytes_number(&call->inputs[ND4C_IN_qlinear_matmul_b_zero_point], 0) - (s->flips ? 128 : 0);
  const float y_zero = (float)nd4c_bytes_number(&call->inputs[ND4C_IN_qlinear_matmul_y_zero_point], 0);
  s->numbers[FACTORS] = take((size_t)scales->size * sizeof(float));
  s->numbers[ADDED] = y_zero != 0 ? take((size_t)columns * sizeof(float)) : NULL;
  s->numbers[A_ZERO] = a_zero != 0 ? take(sizeof a_zero) : NULL;
  s->numbers[B_ZERO] = b_zero != 0 ? take(sizeof b_zero) : NULL;
  ND4C_CPU_FAIL_IF(s->numbers[FACTORS] == NULL || (y_zero != 0 && s->numbers[ADDED] == NULL) ||
                       (a_zero != 0 && s->numbers[A_ZERO] == NULL) || (b_zero != 0 && s->numbers[B_ZERO] == NULL),
                   ND4C_MEMORY, "%s: no memory for the factors of %lld columns", call->op->name, (long long)columns);
  for (int64_t i = 0; i < scales->size; i++) {
    ((float *)s->numbers[FACTORS])[i] = nd4c_onednn_factor(call, &positions, i);
  }
  for (int64_t i = 0; y_zero != 0 && i < columns; i++) {
    ((float *)s->numbers[ADDED])[i] = y_zero;
  }
  if (a_zero != 0) {
    memcpy(s->numbers[A_ZERO], &a_zero, sizeof a_zero);
  }
  if (b_zero != 0) {
    memcpy(s->numbers[B_ZERO], &b_zero, sizeof b_zero);
  }
  return ND4C_OK;
}

static int make_attr(const node *s, const nd4c_call *call, int32_t rank, dnn_attr *attr) {
  const nd4c_onednn *dnn = s->dnn;
  bool many = call->inputs[ND4C_IN_qlinear_matmul_b_scale].size > 1;
  int status = nd4c_onednn_attr(dnn, attr, NULL, ND4C_ACTIVATION_NONE);
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_primitive_attr_set_scales_mask(*attr, DNN_ARG_WEIGHTS, many ? 1 << (rank - 1) : 0);
  }
  if (status == DNN_SUCCESS && s->numbers[A_ZERO] != NULL) {
    status = dnn->dnnl_primitive_attr_set_zero_points_mask(*attr, DNN_ARG_SRC, 0);
  }
  if (status == DNN_SUCCESS && s->numbers[B_ZERO] != NULL) {
    status = dnn->dnnl_primitive_attr_set_zero_points_mask(*attr, DNN_ARG_WEIGHTS, 0);
  }
  return status;
}

/* The descriptors of a primitive while it is made. */
typedef struct descs {
  dnn_desc a, given, wanted, y, bias, vector, one;
} descs;

static int describe(const node *s, const product *p, const nd4c_call *call, bool constant, descs *d) {
  const nd4c_onednn *dnn = s->dnn;
  const int64_t one = 1, count = call->inputs[ND4C_IN_qlinear_matmul_b_scale].size;
  int64_t shape[RANK], strides[RANK];
  for (int32_t i = 0; i < p->rank; i++) {
    shape[i] = i == p->rank - 1 ? p->b_shape[i] : 1;
    strides[i] = i == p->rank - 1 ? 1 : p->b_shape[p->rank - 1];
  }
  const struct {
    dnn_desc *desc;
    int32_t rank;
    const int64_t *shape;
    nd4c_dtype dtype;
    const int64_t *strides;
  } wanted[] = {{&d->a, p->rank, p->a_shape, call->inputs[A].dtype, p->a_strides},
                {&d->given, p->rank, p->b_shape, ND4C_INT8, p->b_strides},
                {&d->y, p->rank, p->y_shape, call->outputs[0].dtype, p->y_strides},
                {&d->bias, p->rank, shape, ND4C_FLOAT32, strides},
                {&d->vector, 1, &count, ND4C_FLOAT32, &one},
                {&d->one, 1, &one, ND4C_INT32, &one}};
  int status = DNN_SUCCESS;
  for (size_t i = 0; i < sizeof wanted / sizeof *wanted && status == DNN_SUCCESS; i++) {
    status = nd4c_onednn_desc(dnn, wanted[i].desc, wanted[i].rank, wanted[i].shape, wanted[i].dtype, wanted[i].strides);
  }
  if (status == DNN_SUCCESS) {
    status = constant ? dnn->dnnl_memory_desc_create_with_tag(&d->wanted, p->rank, p->b_shape,
                                                              nd4c_onednn_dtype(ND4C_INT8), DNN_TAG_ANY)
                      : dnn->dnnl_memory_desc_clone(&d->wanted, d->given);
  }
  return status;
}

static void free_descs(const nd4c_onednn *dnn, const descs *d) {
  const dnn_desc all[] = {d->a, d->given, d->wanted, d->y, d->bias, d->vector, d->one};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i] != NULL) {
      dnn->dnnl_memory_desc_destroy(all[i]);
    }
  }
}

/* Makes the primitive; *weights is the arrangement that it picked for b. */
static int make_step(node *s, const nd4c_call *call, const product *p, const descs *d,
                     const struct dnnl_memory_desc **weights) {
  const nd4c_onednn *dnn = s->dnn;
  dnn_attr attr = NULL;
  int status = make_attr(s, call, p->rank, &attr);
  if (status == DNN_SUCCESS) {
    status = dnn->dnnl_matmul_primitive_desc_create(&s->step.desc, dnn->engine, d->a, d->wanted,
                                                    s->numbers[ADDED] != NULL ? d->bias : NULL, d->y, attr);
  }
  if (attr != NULL) {
    dnn->dnnl_primitive_attr_destroy(attr);
  }
  if (status != DNN_SUCCESS) {
    return status;
  }
  *weights = dnn->dnnl_primitive_desc_query_md(s->step.desc, DNN_QUERY_WEIGHTS, 0);
  status = nd4c_onednn_step_add(dnn, &s->step, DNN_ARG_SRC, d->a);
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_step_add(dnn, &s->step, DNN_ARG_WEIGHTS, *weights);
  }
  if (status == DNN_SUCCESS) {
    status = nd4c_onednn_step_add(dnn, &s->step, DNN_ARG_DST, d->y);
  }
  const dnn_desc of[NUMBERS] = {d->vector, d->bias, d->one, d->one};
  for (int i = 0; i < NUMBERS && status == DNN_SUCCESS; i++) {
    if (s->numbers[i] != NULL) {
      status = nd4c_onednn_step_add(dnn, &s->step, arguments[i], of[i]);
    }
  }
  return status == DNN_SUCCESS ? nd4c_onednn_step_make(dnn, &s->step) : status;
}

typedef struct flip_job {
  const uint8_t *from;
  int8_t *to;
} flip_job;

static void flip_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const flip_job *j = user;
  (void)worker;
  nd4c_simd.scales->flip(end - begin, j->from + begin, j->to + begin);
}

/* b as signed bytes, without gaps. */
static void turn_weights(const node *s, const nd4c_call *call, void *to) {
  const nd4c_tensor *b = &call->inputs[B];
  flip_job j = {.from = b->data, .to = to};
  if (s->gathers) {
    int64_t strides[ND4C_CPU_MAX_RANK], stride = 1;
    nd4c_tensor dense = *b;
    for (int32_t i = b->rank - 1; i >= 0; i--) {
      strides[i] = stride;
      stride *= b->shape[i];
    }
    dense.strides = strides;
    dense.data = to;
    nd4c_nest_copy_tensor(b, &dense, s->width);
    j.from = to;
  }
  nd4c_cpu_parallel(s->b_bytes, 1 << 18, s->width, flip_range, &j);
}

/* Moves constant weights to the arrangement of the primitive. */
static nd4c_status pack(node *s, const nd4c_call *call, const descs *d, const struct dnnl_memory_desc *weights) {
  const nd4c_onednn *dnn = s->dnn;
  nd4c_onednn_step reorder = {0};
  ND4C_BACKEND_TRY(nd4c_cpu_hold(call, dnn->dnnl_memory_desc_get_size(weights), "onednn packed weights", &s->packed));
  int made = nd4c_onednn_step_reorder(dnn, &reorder, d->given, weights);
  nd4c_status status = made == DNN_SUCCESS ? ND4C_OK : nd4c_onednn_fail("making the reorder of weights", made);
  size_t plain = s->flips ? (size_t)nd4c_onednn_align(s->b_bytes) : 0;
  size_t beside = plain + (size_t)reorder.scratchpad_bytes;
  char *memory = status == ND4C_OK && beside > 0 ? nd4c_cpu_host->allocate_pages(beside) : NULL;
  if (status == ND4C_OK && beside > 0 && memory == NULL) {
    status = nd4c_cpu_host->fail(ND4C_MEMORY, "%s: no memory for %zu bytes to pack weights in", call->op->name, beside);
  }
  if (status == ND4C_OK) {
    void *from = call->inputs[B].data;
    if (s->flips) {
      turn_weights(s, call, memory);
      from = memory;
    }
    status =
        nd4c_onednn_step_run(dnn, &reorder, (void *[]){from, s->packed.memory}, memory != NULL ? memory + plain : NULL);
  }
  if (memory != NULL) {
    nd4c_cpu_host->free_pages(memory, beside);
  }
  nd4c_onednn_step_free(dnn, &reorder);
  return status;
}

static void unprepare(void *state) {
  node *s = state;
  nd4c_onednn_step_free(s->dnn, &s->step);
  nd4c_cpu_let_go(&s->packed);
  for (int i = 0; i < NUMBERS; i++) {
    nd4c_cpu_host->free(s->numbers[i]);
  }
  nd4c_cpu_host->free(s);
}

static nd4c_status fill(node *s, const nd4c_call *call, const product *p) {
  const nd4c_tensor *b = &call->inputs[B];
  const bool constant = p->rank == 2 && (b->flags & ND4C_TENSOR_CONSTANT) != 0 && b->data != NULL;
  descs d = {NULL};
  const struct dnnl_memory_desc *weights = NULL;
  ND4C_BACKEND_TRY(take_numbers(s, call));
  int made = describe(s, p, call, constant, &d);
  if (made == DNN_SUCCESS) {
    made = make_step(s, call, p, &d, &weights);
    nd4c_onednn_cache_count(call);
  }
  nd4c_status status = made != DNN_SUCCESS ? nd4c_onednn_fail("making the product of bytes", made)
                       : constant          ? pack(s, call, &d, weights)
                                           : ND4C_OK;
  free_descs(s->dnn, &d);
  s->b_offset = nd4c_onednn_align(s->step.scratchpad_bytes);
  return status;
}

static nd4c_status prepare(const nd4c_call *call, void **state) {
  const nd4c_onednn *dnn = NULL;
  void *memory = NULL;
  product p;
  const char *why = nd4c_onednn_refuse_factors(call, &positions);
  read_product(call, &p); /* cannot fail: `usable` checked the call */
  const bool flips = call->inputs[B].dtype == ND4C_UINT8;
  const bool gathers = flips && span(&p) == 0;
  if (why == NULL && !is_one_zero(&call->inputs[ND4C_IN_qlinear_matmul_b_zero_point])) {
    why = "different zero points of b's columns";
  }
  ND4C_CPU_FAIL_IF(why != NULL, ND4C_UNSUPPORTED, "%s: %s", call->op->name, why);
  ND4C_BACKEND_TRY(nd4c_onednn_take(call, sizeof(node), &dnn, &memory));
  node *s = memory;
  s->dnn = dnn;
  s->width = nd4c_onednn_width(call, (double)call->outputs[0].size * (double)p.a_shape[p.rank - 1], 1);
  s->flips = flips;
  s->gathers = gathers;
  if (gathers) {
    lose_gaps(&p);
  }
  s->b_bytes = call->inputs[B].size;
  int before = nd4c_openmp_enter(&dnn->omp, s->width);
  nd4c_status status = fill(s, call, &p);
  nd4c_openmp_leave(&dnn->omp, before);
  if (status != ND4C_OK) {
    unprepare(s);
    return status;
  }
  *state = s;
  return ND4C_OK;
}

static int64_t scratch_bytes(const nd4c_call *call) {
  const node *s = call->state;
  return s->b_offset + (s->flips && s->packed.memory == NULL ? nd4c_onednn_align(s->b_bytes) : 0);
}

/* -- running ---------------------------------------------------------------------------------------------------- */

static nd4c_status run(const nd4c_call *call) {
  node *s = call->state;
  char *scratch = call->scratch;
  void *b = s->packed.memory != NULL ? s->packed.memory : call->inputs[B].data;
  if (s->flips && s->packed.memory == NULL) {
    b = scratch + s->b_offset;
    turn_weights(s, call, b);
  }
  void *data[3 + NUMBERS] = {call->inputs[A].data, b, call->outputs[0].data};
  int32_t count = 3;
  for (int i = 0; i < NUMBERS; i++) {
    if (s->numbers[i] != NULL) {
      data[count++] = s->numbers[i];
    }
  }
  int before = nd4c_openmp_enter(&s->dnn->omp, s->width);
  nd4c_status status = nd4c_onednn_step_run(s->dnn, &s->step, data, scratch);
  nd4c_openmp_leave(&s->dnn->omp, before);
  return status;
}

const nd4c_kernel *const nd4c_cpu_onednn_quantization_matmul_kernels[] = {
    ND4C_CPU_KERNEL("onednn", qlinear_matmul, "qlinear_matmul_constant", ND4C_CPU_PRIORITY_ONEDNN + 1,
                    ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8), usable, run, .prepare = prepare,
                    .unprepare = unprepare, .scratch_bytes = scratch_bytes),
    NULL};
