/* Padding, rolling, bands, and windows as columns and back. The families indexing and signal of engine reference call
 * these. */
#ifndef ND4C_KERNELS_REFERENCE_INDEXING_ARRANGEMENT_H
#define ND4C_KERNELS_REFERENCE_INDEXING_ARRANGEMENT_H

#include "kernels/reference/indexing/move.h"
#include "kernels/space.h"

/* What continues an axis beyond its ends; the numbers of ND4C_PAD_MODE_TABLE. */
typedef enum nd4c_ref_pad_mode {
  ND4C_REF_PAD_CONSTANT,
  ND4C_REF_PAD_EDGE,
  ND4C_REF_PAD_REFLECT,
  ND4C_REF_PAD_WRAP,
  ND4C_REF_PAD_SYMMETRIC
} nd4c_ref_pad_mode;

/* y[i...] = x[i - begin...], x continued on all axes by another mode than CONSTANT. */
void nd4c_ref_pad_continued(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, const int64_t *begin,
                            nd4c_ref_pad_mode mode);
/* y[i...] = x[i - begin...] where that is inside of x; the rest of y is left as it is. */
void nd4c_ref_pad_inside(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, const int64_t *begin);

/* y flat = x flat, rolled on by shift (0 .. size - 1). */
void nd4c_ref_roll_flat(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, int64_t size, int64_t shift);

/* Sliding windows over any number of axes. */
typedef struct nd4c_ref_columns {
  int32_t spatial;
  int64_t kernel[32], stride[32], pad[32], dilation[32]; /* pad: before the axis */
  int64_t windows[32];                                   /* of each axis */
  int64_t cells;                                         /* of a window */
} nd4c_ref_columns;

/* y [n, c cells, windows] from x [n, c, space...]: what lies outside of x is left as it is. */
void nd4c_ref_im2col(const nd4c_ref_columns *columns, const nd4c_ref_tensor *x, const nd4c_ref_tensor *y);
/* Elements [begin, end) of y [n, c, space...] in C order: the sums of what im2col would have taken from them. */
typedef struct nd4c_ref_col2im_args {
  nd4c_ref_columns columns;
  nd4c_ref_tensor x, y;
} nd4c_ref_col2im_args;
void nd4c_ref_col2im(const nd4c_ref_col2im_args *args, int64_t begin, int64_t end);

/* Rows of the last two axes: y = x where lower <= column - row <= upper, zero elsewhere. */
void nd4c_ref_band(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, int64_t lower, int64_t upper);

#endif
