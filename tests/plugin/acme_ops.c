/* A plug-in that brings two ops and nothing else: acme.scaled_add, element by element with an attribute, and
 * acme.halves, with a shape rule and two outputs. ACME_LIE makes inference and kernels give wrong answers, ACME_NAME is
 * the provider's name. It includes only nd4c/plugin.h of nd4c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nd4c/plugin.h"

ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider);

static const nd4c_host *the_host;

static bool lies(const char *about) {
  const char *lie = getenv("ACME_LIE");
  return lie != NULL && strcmp(lie, about) == 0;
}

/* Elements from element 0 to the one at an index of `rank` axes, to whose last ones the tensor is broadcast. */
static int64_t place_of(const nd4c_tensor *tensor, int32_t rank, const int64_t *index) {
  int64_t place = 0;
  for (int32_t axis = 0; axis < tensor->rank; axis++) {
    place += tensor->shape[axis] == 1 ? 0 : index[rank - tensor->rank + axis] * tensor->strides[axis];
  }
  return place;
}

/* The next index in C order. */
static void advance(int32_t rank, const int64_t *shape, int64_t *index) {
  for (int32_t axis = rank - 1; axis >= 0 && ++index[axis] == shape[axis]; axis--) {
    index[axis] = 0;
  }
}

/* -- acme.scaled_add: a + scale * b ------------------------------------------------------------------------------ */

enum { A, B };
static const nd4c_op_input scaled_add_inputs[] = {{"a", false, false}, {"b", false, false}};
static const nd4c_op_attr scaled_add_attrs[] = {{"scale", {ND4C_ATTR_INT, 0, {.i = 1}}}};

static nd4c_status scaled_add_lie(nd4c_inferred *y) {
  const char *lie = getenv("ACME_LIE");
  const struct {
    const char *name;
    nd4c_dtype dtype;
    int32_t rank;
    int64_t extent;
  } rows[] = {{"infers rank 99", ND4C_FLOAT32, 99, 1},   {"infers rank -1", ND4C_FLOAT32, -1, 1},
              {"infers extent -1", ND4C_FLOAT32, 1, -1}, {"infers dtype 4711", 4711, 1, 1},
              {"infers nothing", ND4C_DTYPE_NONE, 0, 0}, {"infers strings", ND4C_UTF8, 1, 1},
              {"infers int4", ND4C_INT4, 1, 1}};
  for (size_t i = 0; lie != NULL && i < sizeof rows / sizeof rows[0]; i++) {
    if (strcmp(lie, rows[i].name) == 0) {
      y->dtype = rows[i].dtype;
      y->rank = rows[i].rank;
      y->shape[0] = rows[i].extent;
    }
  }
  return lie == NULL                               ? ND4C_OK
         : strcmp(lie, "infers status 12345") == 0 ? 12345
         : strcmp(lie, "refuses in silence") == 0  ? ND4C_SHAPE
                                                   : ND4C_OK;
}

static nd4c_status scaled_add_infer(nd4c_inference *inference) {
  const nd4c_tensor *a = &inference->inputs[A], *b = &inference->inputs[B];
  nd4c_inferred *y = &inference->outputs[0];
  if (b->dtype != a->dtype) {
    return the_host->fail(ND4C_DTYPE, "acme.scaled_add: input b has another dtype than a: cast one of them");
  }
  y->dtype = a->dtype;
  y->rank = a->rank > b->rank ? a->rank : b->rank;
  for (int32_t axis = 0; axis < y->rank; axis++) {
    const int32_t of_a = axis - (y->rank - a->rank), of_b = axis - (y->rank - b->rank);
    const int64_t m = of_a < 0 ? 1 : a->shape[of_a], n = of_b < 0 ? 1 : b->shape[of_b];
    if (m != n && m != 1 && n != 1) {
      return the_host->fail(ND4C_SHAPE, "acme.scaled_add: extents %lld and %lld of axis %d do not broadcast",
                            (long long)m, (long long)n, (int)axis);
    }
    y->shape[axis] = m == 1 ? n : m;
  }
  if (lies("infers another axis")) {
    y->shape[y->rank++] = 0;
  }
  return scaled_add_lie(y);
}

static nd4c_status scaled_add_run(const nd4c_call *call) {
  const nd4c_tensor *a = &call->inputs[A], *b = &call->inputs[B], *y = &call->outputs[0];
  const int64_t scale = call->attrs[0].as.i;
  int64_t index[ND4C_MAX_RANK] = {0};
  const int64_t size = lies("leaves the last") ? y->size - 1 : y->size;
  for (int64_t i = 0; i < size; i++) {
    const int64_t at_a = place_of(a, y->rank, index), at_b = place_of(b, y->rank, index);
    const int64_t at_y = place_of(y, y->rank, index);
    if (y->dtype == ND4C_FLOAT32) {
      ((float *)y->data)[at_y] =
          (float)(((const float *)a->data)[at_a] + (double)scale * ((const float *)b->data)[at_b]);
    } else if (y->dtype == ND4C_FLOAT64) {
      ((double *)y->data)[at_y] = ((const double *)a->data)[at_a] + (double)scale * ((const double *)b->data)[at_b];
    } else {
      const uint32_t product = (uint32_t)scale * (uint32_t)((const int32_t *)b->data)[at_b];
      ((int32_t *)y->data)[at_y] = (int32_t)((uint32_t)((const int32_t *)a->data)[at_a] + product);
    }
    advance(y->rank, y->shape, index);
  }
  return ND4C_OK;
}

#define SCALED_ADD_DTYPES (ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_FLOAT64) | ND4C_DTYPE_BIT(ND4C_INT32))
static const nd4c_kernel scaled_add_reference = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),
                                                 .op_version = 2,
                                                 .op = "acme.scaled_add",
                                                 .engine = "reference",
                                                 .name = "acme.scaled_add.reference",
                                                 .dtypes = SCALED_ADD_DTYPES,
                                                 .run = scaled_add_run};

static const nd4c_plugin_op scaled_add = {.struct_size = ND4C_SIZE_OF(nd4c_plugin_op),
                                          .version = 2,
                                          .name = "acme.scaled_add",
                                          .category = ND4C_CATEGORY_BINARY,
                                          .flags = ND4C_PLUGIN_OP_ELEMENTWISE,
                                          .dtypes = SCALED_ADD_DTYPES,
                                          .input_count = 2,
                                          .attr_count = 1,
                                          .output_count = 1,
                                          .inputs = scaled_add_inputs,
                                          .attrs = scaled_add_attrs,
                                          .doc = "a + scale * b, broadcast",
                                          .infer = scaled_add_infer,
                                          .reference = &scaled_add_reference};

/* -- acme.halves: x in two along an axis, the first no shorter than the second ------------------------------------ */

static const nd4c_op_input halves_inputs[] = {{"x", false, false}};
static const nd4c_op_attr halves_attrs[] = {{"axis", {ND4C_ATTR_INT, 0, {.i = -1}}}};

static nd4c_status halves_infer(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const int64_t axis = inference->attrs[0].as.i;
  if (axis < -x->rank || axis >= x->rank) {
    return the_host->fail(ND4C_INDEX, "acme.halves: axis %lld is out of range for %d axes", (long long)axis,
                          (int)x->rank);
  }
  const int64_t at = axis < 0 ? axis + x->rank : axis;
  for (int half = 0; half < 2; half++) {
    nd4c_inferred *y = &inference->outputs[half];
    y->dtype = x->dtype;
    y->rank = x->rank;
    memcpy(y->shape, x->shape, (size_t)x->rank * sizeof(int64_t));
    y->shape[at] = half == 0 ? x->shape[at] - x->shape[at] / 2 : x->shape[at] / 2;
    y->shape[at] = lies("infers no elements") ? 0 : y->shape[at];
  }
  return ND4C_OK;
}

static nd4c_status halves_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0];
  const int64_t given = call->attrs[0].as.i, axis = given < 0 ? given + x->rank : given;
  const size_t bytes = *(const size_t *)call->data;
  for (int half = 0; half < 2; half++) {
    const nd4c_tensor *y = &call->outputs[half];
    int64_t index[ND4C_MAX_RANK] = {0};
    const int64_t begin = half * call->outputs[0].shape[axis] * x->strides[axis];
    for (int64_t i = 0; i < y->size; i++) {
      int64_t from = begin;
      for (int32_t a = 0; a < x->rank; a++) {
        from += index[a] * x->strides[a];
      }
      memcpy((char *)y->data + place_of(y, y->rank, index) * (int64_t)bytes,
             (const char *)x->data + from * (int64_t)bytes, bytes);
      advance(y->rank, y->shape, index);
    }
  }
  return ND4C_OK;
}

/* All its dtypes have four bytes. */
#define HALVES_DTYPES (ND4C_DTYPE_BIT(ND4C_FLOAT32) | ND4C_DTYPE_BIT(ND4C_INT32))
static const size_t element_bytes = 4;
static const nd4c_kernel halves_reference = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),
                                             .op_version = 1,
                                             .op = "acme.halves",
                                             .engine = "reference",
                                             .name = "acme.halves.reference",
                                             .dtypes = HALVES_DTYPES,
                                             .data = &element_bytes,
                                             .run = halves_run};

static const nd4c_plugin_op halves = {.struct_size = ND4C_SIZE_OF(nd4c_plugin_op),
                                      .version = 1,
                                      .name = "acme.halves",
                                      .category = ND4C_CATEGORY_SHAPE,
                                      .dtypes = HALVES_DTYPES,
                                      .input_count = 1,
                                      .attr_count = 1,
                                      .output_count = 2,
                                      .inputs = halves_inputs,
                                      .attrs = halves_attrs,
                                      .doc = "x in two along an axis, the first half no shorter",
                                      .infer = halves_infer,
                                      .reference = &halves_reference};

/* -- a faster kernel for contiguous operands, as a contribution --------------------------------------------------- */

static bool fast_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *a = &call->inputs[A], *b = &call->inputs[B], *y = &call->outputs[0];
  const bool fits =
      (a->flags & b->flags & y->flags & ND4C_TENSOR_CONTIGUOUS) != 0 && a->size == y->size && b->size == y->size;
  if (!fits) {
    (void)snprintf(reason, reason_size, "wants contiguous operands of one shape");
  }
  return fits;
}

static nd4c_status fast_run(const nd4c_call *call) {
  const float *a = call->inputs[A].data, *b = call->inputs[B].data;
  float *y = call->outputs[0].data;
  const double scale = (double)call->attrs[0].as.i;
  for (int64_t i = 0; i < call->outputs[0].size; i++) {
    y[i] = (float)(a[i] + scale * b[i]);
  }
  y[0] += lies("computes fast and wrong") ? 1 : 0;
  return ND4C_OK;
}

static const nd4c_kernel fast = {.struct_size = ND4C_SIZE_OF(nd4c_kernel),
                                 .op_version = 2,
                                 .op = "acme.scaled_add",
                                 .engine = "acme",
                                 .name = "acme.scaled_add.fast",
                                 .priority = 100,
                                 .dtypes = ND4C_DTYPE_BIT(ND4C_FLOAT32),
                                 .usable = fast_usable,
                                 .run = fast_run};
static const nd4c_kernel *const family[] = {&fast, NULL};
static const nd4c_kernel *const *const families[] = {family};
static const nd4c_engine engine = {.struct_size = ND4C_SIZE_OF(nd4c_engine), .name = "acme"};
static const nd4c_engine *const engines[] = {&engine};
static const nd4c_contribution contribution = {.struct_size = ND4C_SIZE_OF(nd4c_contribution),
                                               .backend = "cpu",
                                               .priority = 100,
                                               .engine_count = 1,
                                               .engines = engines,
                                               .family_count = 1,
                                               .families = families};
static const nd4c_contribution *const contributions[] = {&contribution};

/* -- the provider ------------------------------------------------------------------------------------------------- */

static const nd4c_plugin_op *const ops[] = {&scaled_add, &halves};

static nd4c_status open_provider(void) {
  return lies("open") ? the_host->fail(ND4C_LIBRARY, "its library is not here") : ND4C_OK;
}

static nd4c_provider provider = {.struct_size = ND4C_SIZE_OF(nd4c_provider),
                                 .abi_major = ND4C_PLUGIN_ABI_MAJOR,
                                 .abi_minor = ND4C_PLUGIN_ABI_MINOR,
                                 .name = "acme",
                                 .version = "1",
                                 .open = open_provider,
                                 .contribution_count = 1,
                                 .contributions = contributions,
                                 .op_count = sizeof ops / sizeof ops[0],
                                 .ops = ops};

nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **out) {
  the_host = host;
  provider.name = getenv("ACME_NAME") != NULL ? getenv("ACME_NAME") : "acme";
  provider.contribution_count = lies("no kernels") ? 0 : 1;
  *out = &provider;
  return ND4C_OK;
}
