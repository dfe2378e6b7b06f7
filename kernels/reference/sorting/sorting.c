/* Elements that are not zero (sorting.h). Engine reference calls these. */
#include "kernels/reference/sorting/sorting.h"

#include "kernels/reference/support/runs.h"

static bool is_zero(nd4c_dtype_kind kind, nd4c_value value) {
  return kind == ND4C_KIND_FLOAT ? value.f == 0 : kind == ND4C_KIND_COMPLEX ? value.c == 0 : value.u == 0;
}

/* The number of elements that are not zero; y gets the indices of number k on `axes` axes at k * step, axis_step apart.
 * NULL: they are only counted. */
static int64_t find(const nd4c_ref_tensor *x, int64_t *y, int32_t axes, int64_t step, int64_t axis_step) {
  int64_t index[ND4C_REF_RANK] = {0}, count = 0;
  nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
  for (bool more = nd4c_ref_size(x) > 0; more; more = nd4c_index_next(x->rank, x->shape, index)) {
    int64_t offset = nd4c_index_offset(x->rank, index, x->strides);
    if (!is_zero(kind, nd4c_value_load(x->dtype, x->data, offset))) {
      for (int32_t axis = 0; y != NULL && axis < axes; axis++) {
        y[count * step + axis * axis_step] = index[axis];
      }
      count++;
    }
  }
  return count;
}

int64_t nd4c_ref_count_nonzero(const nd4c_ref_tensor *x) {
  return find(x, NULL, 0, 0, 0);
}

void nd4c_ref_nonzero(const nd4c_ref_tensor *x, int64_t count, int64_t *y) {
  (void)find(x, y, x->rank > 0 ? x->rank : 1, 1, count);
}

int64_t nd4c_ref_argwhere(const nd4c_ref_tensor *x, int64_t *y) {
  return find(x, y, x->rank, x->rank, 1);
}
