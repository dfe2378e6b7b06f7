#include "kernels/reference/window.h"

/* The largest cell: each kind of number in its own order, so that 64-bit integers stay exact. A window without a cell
 * inside gives the lowest number of the dtype (-infinity). */
static double largest_real(const nd4c_ref_pool_args *args, const int64_t *position, int64_t base) {
  double best = -(double)INFINITY;
  for (int64_t cell = 0; cell < nd4c_ref_window_cells(&args->window); cell++) {
    int64_t at[3];
    if (nd4c_ref_window_cell(&args->window, position + 2, cell, at) == ND4C_REF_INSIDE) {
      double value = nd4c_ref_load(&args->x, base + nd4c_ref_spatial_offset(&args->x, at));
      best = isnan(best) || value <= best ? best : value;
    }
  }
  return best;
}

static uint64_t largest_integer(const nd4c_ref_pool_args *args, const int64_t *position, int64_t base, bool is_signed) {
  /* Flipping the sign bit maps signed order to unsigned order. */
  uint64_t flip = is_signed ? UINT64_C(1) << 63 : 0;
  uint64_t best = is_signed ? flip - (UINT64_C(1) << (8 * nd4c_reference_bytes(args->x.dtype) - 1)) : 0;
  for (int64_t cell = 0; cell < nd4c_ref_window_cells(&args->window); cell++) {
    int64_t at[3];
    if (nd4c_ref_window_cell(&args->window, position + 2, cell, at) == ND4C_REF_INSIDE) {
      int64_t offset = base + nd4c_ref_spatial_offset(&args->x, at);
      uint64_t value = nd4c_value_load(args->x.dtype, args->x.data, offset).u ^ flip;
      best = value > best ? value : best;
    }
  }
  return best ^ flip;
}

void nd4c_ref_max_pool(const nd4c_ref_pool_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t position[5] = {0};
    nd4c_ref_position(y, flat, position);
    int64_t base = position[0] * x->strides[0] + position[1] * x->strides[1];
    int64_t offset = nd4c_ref_offset(y, y->rank, y->shape, flat);
    if (kind == ND4C_KIND_FLOAT) {
      nd4c_ref_store(y, offset, largest_real(args, position, base));
    } else {
      nd4c_value value = {.u = largest_integer(args, position, base, kind == ND4C_KIND_INT)};
      nd4c_value_store(y->dtype, y->data, offset, value);
    }
  }
}

void nd4c_ref_average_pool(const nd4c_ref_pool_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  for (int64_t flat = begin; flat < end; flat++) {
    int64_t position[5] = {0};
    nd4c_ref_position(y, flat, position);
    int64_t base = position[0] * x->strides[0] + position[1] * x->strides[1];
    double sum = 0;
    int64_t count = 0;
    for (int64_t cell = 0; cell < nd4c_ref_window_cells(&args->window); cell++) {
      int64_t at[3];
      nd4c_ref_cell where = nd4c_ref_window_cell(&args->window, position + 2, cell, at);
      if (where == ND4C_REF_INSIDE) {
        sum += nd4c_ref_load(x, base + nd4c_ref_spatial_offset(x, at));
      }
      count += where == ND4C_REF_INSIDE || (where == ND4C_REF_PADDING && args->count_include_pad);
    }
    nd4c_ref_store(y, nd4c_ref_offset(y, y->rank, y->shape, flat), count > 0 ? sum / (double)count : 0);
  }
}
