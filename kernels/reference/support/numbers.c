/* Implements numbers.h: operands as doubles or integers in C order. backends/cpu/reference/work.c loads the inputs of
 * many families with it. */
#include "kernels/reference/support/numbers.h"

#include "kernels/reference/support/runs.h"

void nd4c_ref_numbers_load(const nd4c_ref_tensor *x, int32_t rank, const int64_t *shape, double *numbers) {
  int64_t strides[ND4C_REF_RANK];
  const int64_t *list[1] = {strides};
  nd4c_ref_walk walk;
  for (int32_t axis = 0; axis < rank; axis++) {
    int32_t own = axis - (rank - x->rank);
    strides[axis] = own < 0 || x->shape[own] != shape[axis] ? 0 : x->strides[own];
  }
  for (bool more = nd4c_ref_walk_start(&walk, rank, shape, 1, list); more; more = nd4c_ref_walk_next(&walk)) {
    nd4c_ref_read_doubles(x->dtype, x->data, walk.at[0], walk.step[0], walk.length, numbers);
    numbers += walk.length;
  }
}

/* The same for the elements of a tensor as it is, forth and back. */
#define WALK(name, constness, type, run, element)                                                            \
  void name(const nd4c_ref_tensor *tensor, constness type *numbers) {                                        \
    nd4c_ref_walk walk;                                                                                      \
    for (bool more = nd4c_ref_walk_start(&walk, tensor->rank, tensor->shape, 1, &tensor->strides); more;     \
         more = nd4c_ref_walk_next(&walk)) {                                                                 \
      run(tensor->dtype, tensor->data, walk.at[0], walk.step[0], walk.length, (constness element *)numbers); \
      numbers += walk.length;                                                                                \
    }                                                                                                        \
  }
WALK(nd4c_ref_numbers_store, const, double, nd4c_ref_write_doubles, double)
WALK(nd4c_ref_integers_store, const, int64_t, nd4c_ref_write_words, uint64_t)
WALK(nd4c_ref_integers_load, , int64_t, nd4c_ref_read_words, uint64_t)
