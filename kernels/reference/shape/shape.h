/* reshape, concat and gather: elements move, none is computed. The family shape of engine reference calls these. */
#ifndef ND4C_KERNELS_REFERENCE_SHAPE_SHAPE_H
#define ND4C_KERNELS_REFERENCE_SHAPE_SHAPE_H

#include "kernels/reference/support/value.h"

/* y = x element by element, each in the C order of its own shape; the shapes have equally many elements. */
void nd4c_reference_reshape(const nd4c_operand *x, int32_t x_rank, const int64_t *x_shape, const nd4c_operand *y,
                            int32_t y_rank, const int64_t *y_shape);

/* First index that is not in -extent .. extent - 1, in C order: true and its value, or false if all are. */
bool nd4c_reference_find_bad_index(const nd4c_operand *indices, int32_t rank, const int64_t *shape, int64_t extent,
                                   int64_t *bad);

/* y[before, i, after] = x[before, indices[i], after], with `axis` axes before and the indices' axes in the middle. */
void nd4c_reference_gather(const nd4c_operand *x, const int64_t *x_shape, const nd4c_operand *indices, int32_t axis,
                           int32_t index_rank, const nd4c_operand *y, int32_t y_rank, const int64_t *y_shape);

#endif
