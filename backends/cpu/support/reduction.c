/* Reads a reduction as nested loops over kept and reduced axes (reduction.h), for engine simd. */
#include "backends/cpu/support/reduction.h"

#include "backends/cpu/simd/simd.h"
#include "kernels/cpu/support/units.h"

static int64_t magnitude(int64_t x) {
  return x < 0 ? -x : x;
}

static void swap_axes(nd4c_reduction *r, int32_t a, int32_t b) {
  int64_t *const lists[] = {r->shape, r->x_strides, r->y_strides, r->z_strides};
  for (int32_t i = 0; i < (r->z != NULL ? 4 : 3); i++) {
    int64_t kept = lists[i][a];
    lists[i][a] = lists[i][b];
    lists[i][b] = kept;
  }
  bool reduced = r->reduced[a];
  r->reduced[a] = r->reduced[b];
  r->reduced[b] = reduced;
}

static void sort_axes(nd4c_reduction *r) {
  for (int32_t axis = 1; axis < r->rank; axis++) {
    for (int32_t i = axis; i > 0 && magnitude(r->x_strides[i - 1]) < magnitude(r->x_strides[i]); i--) {
      swap_axes(r, i - 1, i);
    }
  }
}

/* Only x's order along kept axes and the order of summation change; positions of argmax keep their direction. */
static void turn_axes(nd4c_reduction *r, bool ordered) {
  for (int32_t axis = 0; axis < r->rank; axis++) {
    if (r->x_strides[axis] >= 0 || (ordered && r->reduced[axis])) {
      continue;
    }
    r->x += (r->shape[axis] - 1) * r->x_strides[axis] * r->x_bytes;
    r->y += (r->shape[axis] - 1) * r->y_strides[axis] * r->y_bytes;
    r->x_strides[axis] = -r->x_strides[axis];
    r->y_strides[axis] = -r->y_strides[axis];
    if (r->z != NULL) {
      r->z += (r->shape[axis] - 1) * r->z_strides[axis] * r->x_bytes;
      r->z_strides[axis] = -r->z_strides[axis];
    }
  }
}

static void drop_axis(nd4c_reduction *r, int32_t axis) {
  for (; axis + 1 < r->rank; axis++) {
    swap_axes(r, axis, axis + 1);
  }
  r->rank--;
}

static void merge_axes(nd4c_reduction *r) {
  for (int32_t axis = r->rank - 2; axis >= 0; axis--) {
    int64_t inner = r->shape[axis + 1];
    if (r->reduced[axis] != r->reduced[axis + 1] || r->x_strides[axis] != r->x_strides[axis + 1] * inner ||
        r->y_strides[axis] != r->y_strides[axis + 1] * inner ||
        (r->z != NULL && r->z_strides[axis] != r->z_strides[axis + 1] * inner)) {
      continue;
    }
    r->shape[axis + 1] *= r->shape[axis];
    drop_axis(r, axis);
  }
}

static void prepare(nd4c_reduction *r, const nd4c_call *call, const bool *reduced, bool keepdims, bool ordered,
                    const nd4c_tensor *z) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  int64_t y_strides[ND4C_CPU_MAX_RANK];
  nd4c_cpu_reduction_strides(x->rank, reduced, keepdims, y, y_strides);
  r->rank = 0;
  r->cancellation = call->cancellation;
  atomic_init(&r->stopped, ND4C_OK);
  r->x = x->data;
  r->y = y->data;
  r->z = z != NULL ? z->data : NULL;
  r->x_bytes = nd4c_cpu_dtype_bytes(x->dtype);
  r->y_bytes = nd4c_cpu_dtype_bytes(y->dtype);
  for (int32_t axis = 0; axis < x->rank; axis++) {
    if (x->shape[axis] == 1) {
      continue;
    }
    r->shape[r->rank] = x->shape[axis];
    r->x_strides[r->rank] = x->strides[axis];
    r->y_strides[r->rank] = y_strides[axis];
    r->z_strides[r->rank] = z != NULL ? z->strides[axis] : 0;
    r->reduced[r->rank++] = reduced[axis];
  }
  if (r->rank == 0) {
    r->rank = 1;
    r->shape[0] = 1;
    r->x_strides[0] = r->z_strides[0] = 1;
    r->reduced[0] = true;
  }
  turn_axes(r, ordered);
  sort_axes(r);
  merge_axes(r);
  r->outer_kept = r->outer_reduced = 1;
  for (int32_t axis = 0; axis + 1 < r->rank; axis++) {
    *(r->reduced[axis] ? &r->outer_reduced : &r->outer_kept) *= r->shape[axis];
  }
}

void nd4c_reduction_prepare(nd4c_reduction *r, const nd4c_call *call, const bool *reduced, bool keepdims,
                            bool ordered) {
  prepare(r, call, reduced, keepdims, ordered, NULL);
}

void nd4c_reduction_prepare_pair(nd4c_reduction *r, const nd4c_call *call, const bool *reduced, bool keepdims,
                                 const nd4c_tensor *z) {
  prepare(r, call, reduced, keepdims, false, z);
}

bool nd4c_reduction_look(const nd4c_reduction *r) {
  const nd4c_status status = nd4c_cpu_host->check_cancelled(r->cancellation);
  if (status != ND4C_OK) { /* threads share what is else constant */
    atomic_store_explicit(&((nd4c_reduction *)(uintptr_t)r)->stopped, (int32_t)status, memory_order_relaxed);
  }
  return nd4c_reduction_stopped(r);
}

nd4c_status nd4c_reduction_end(const nd4c_reduction *r, const nd4c_call *call) {
  const nd4c_status seen = (nd4c_status)atomic_load_explicit(&r->stopped, memory_order_relaxed);
  const nd4c_status now = seen != ND4C_OK ? nd4c_cpu_host->check_cancelled(r->cancellation) : ND4C_OK;
  return seen == now ? now : nd4c_cpu_host->fail(seen, "%s was cancelled while it ran", call->op->name);
}

int64_t nd4c_reduction_locate(const nd4c_reduction *r, bool reduced, int64_t index, int64_t *y_offset) {
  int64_t x_offset = 0;
  for (int32_t axis = r->rank - 2; axis >= 0 && index > 0; axis--) {
    if (r->reduced[axis] != reduced) {
      continue;
    }
    bool ends = index < r->shape[axis]; /* mostly: a division takes longer than a short row */
    int64_t i = ends ? index : index % r->shape[axis];
    index = ends ? 0 : index / r->shape[axis];
    x_offset += i * r->x_strides[axis] * r->x_bytes;
    *y_offset += i * r->y_strides[axis] * r->y_bytes;
  }
  return x_offset;
}

int64_t nd4c_reduction_locate_second(const nd4c_reduction *r, bool reduced, int64_t index) {
  int64_t offset = 0;
  for (int32_t axis = r->rank - 2; axis >= 0 && index > 0; axis--) {
    if (r->reduced[axis] == reduced) {
      offset += index % r->shape[axis] * r->z_strides[axis] * r->x_bytes;
      index /= r->shape[axis];
    }
  }
  return offset;
}

void nd4c_reduction_over_axes(nd4c_reduction *r, const nd4c_call *call) {
  bool reduced[ND4C_CPU_MAX_RANK];
  nd4c_cpu_reduced_axes(call->inputs[0].rank, &call->attrs[ND4C_ATTR_sum_axes], reduced);
  nd4c_reduction_prepare(r, call, reduced, ND4C_FLAG_OF(call, sum_keepdims), false);
}

const char *nd4c_reduction_gather(const nd4c_reduction *r, int64_t n, const char *x, char *buffer) {
  int64_t stride = r->x_strides[r->rank - 1];
  if (stride == 1) {
    return x;
  }
  nd4c_simd.move->move[r->x_bytes](1, n, x, 0, stride, buffer, 0, 1);
  return buffer;
}

void nd4c_reduction_store(nd4c_dtype dtype, double value, char *y) {
  switch (dtype) {
    case ND4C_FLOAT64:
      *(double *)(void *)y = value;
      break;
    case ND4C_INT64:
      *(int64_t *)(void *)y = (int64_t)value;
      break;
#ifndef ND4C_DTYPES_LITE
    case ND4C_FLOAT16:
      *(uint16_t *)(void *)y = nd4c_float16_from_float(nd4c_double_to_odd_float(value));
      break;
    case ND4C_BFLOAT16:
      *(uint16_t *)(void *)y = nd4c_bfloat16_from_float(nd4c_double_to_odd_float(value));
      break;
#endif
    default:
      *(float *)(void *)y = (float)value;
  }
}

/* Without their sign, numbers are NaN above the bits of infinity. */
#define DROP_NAN(bits, unit)                                                           \
  static int64_t drop_nan_##bits(int64_t n, const void *vx, void *vy, unit infinity) { \
    const unit *x = vx;                                                                \
    unit *y = vy;                                                                      \
    int64_t kept = 0;                                                                  \
    for (int64_t i = 0; i < n; i++) {                                                  \
      const unit one = x[i];                                                           \
      y[kept] = one;                                                                   \
      kept += (one & (UINT##bits##_MAX >> 1)) <= infinity;                             \
    }                                                                                  \
    return kept;                                                                       \
  }
DROP_NAN(32, nd4c_unit_4)
DROP_NAN(64, nd4c_unit_8)
#ifndef ND4C_DTYPES_LITE
DROP_NAN(16, nd4c_unit_2)
#endif

int64_t nd4c_reduction_drop_nan(nd4c_dtype dtype, int64_t n, const char *x, char *y) {
  switch (dtype) {
    case ND4C_FLOAT64:
      return drop_nan_64(n, x, y, UINT64_C(0x7ff0000000000000));
#ifndef ND4C_DTYPES_LITE
    case ND4C_FLOAT16:
      return drop_nan_16(n, x, y, 0x7c00);
    case ND4C_BFLOAT16:
      return drop_nan_16(n, x, y, 0x7f80);
#endif
    default:
      return drop_nan_32(n, x, y, 0x7f800000);
  }
}
