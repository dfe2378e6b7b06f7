/* Reference kernels of the image ops: any strides, computed in double and rounded once. Numbers of modes are those of
 * the op table. Inference has checked the shapes. backends/cpu/reference/image.c calls these. */
#ifndef ND4C_KERNELS_REFERENCE_IMAGE_IMAGE_H
#define ND4C_KERNELS_REFERENCE_IMAGE_IMAGE_H

#include <stdbool.h>

#include "kernels/reference/support/tensor.h"

enum { ND4C_REF_NEAREST = 0, ND4C_REF_LINEAR = 1, ND4C_REF_CUBIC = 2 };

/* -- resize.c ---------------------------------------------------------------------------------------------------- */

/* One axis of a resize: element `o` of the result takes elements index[o * taps ...] of x with the weights there. */
typedef struct nd4c_ref_resize_axis {
  int64_t in, out, taps;
  int64_t *index;
  double *weight;
  bool *outside; /* places of the result that lie outside x */
} nd4c_ref_resize_axis;

typedef struct nd4c_ref_resize_setting {
  int64_t mode, coordinates, nearest;
  double cubic_a;
  bool exclude_outside, antialias;
} nd4c_ref_resize_setting;

/* Taps of an axis that is scaled. */
int64_t nd4c_ref_resize_taps(const nd4c_ref_resize_setting *setting, double scale);
/* Fills an axis whose in, out and lists are set. `width`: out before it was rounded; roi: start and end. */
void nd4c_ref_resize_fill(const nd4c_ref_resize_setting *setting, double scale, double width, const double *roi,
                          const nd4c_ref_resize_axis *axis);

typedef struct nd4c_ref_resize_args {
  nd4c_ref_tensor x, y;
  const nd4c_ref_resize_axis *axes; /* one an axis of x */
  int64_t mode;
  double extrapolation;
} nd4c_ref_resize_args;
/* Rows of y's last axis [begin, end) in C order; `row` has room for x's last axis. Rank at least 1. */
void nd4c_ref_resize(const nd4c_ref_resize_args *args, double *row, int64_t begin, int64_t end);

/* -- sample.c ---------------------------------------------------------------------------------------------------- */

/* grid_sample takes its places from `grid`, spatial_transformer from `theta`; the other has no data. */
typedef struct nd4c_ref_sample_args {
  nd4c_ref_tensor x, grid, theta, y;
  int64_t mode, padding;
  bool align_corners;
} nd4c_ref_sample_args;
/* The elements that place `number` (of n times the spatial axes of y) weighs, as offsets from the first one of a
 * channel of its image. Returns their number, at most ND4C_REF_SAMPLE_TAPS; -1: the place is nowhere. The lists have
 * room for one more. */
enum { ND4C_REF_SAMPLE_TAPS = 64 };
int32_t nd4c_ref_sample_taps(const nd4c_ref_sample_args *args, int64_t number, int64_t *offsets, double *weights);
/* Places [begin, end) of n times the spatial axes of y, all channels of each. */
void nd4c_ref_sample(const nd4c_ref_sample_args *args, int64_t begin, int64_t end);

typedef struct nd4c_ref_grid_args {
  nd4c_ref_tensor theta, grid;
  bool align_corners;
} nd4c_ref_grid_args;
/* Places [begin, end) of grid [n, ..., d]. */
void nd4c_ref_affine_grid(const nd4c_ref_grid_args *args, int64_t begin, int64_t end);

/* Place `index` of `extent` ones between -1 and 1. */
double nd4c_ref_base_coordinate(int64_t index, int64_t extent, bool align_corners);

typedef struct nd4c_ref_crop_args {
  nd4c_ref_tensor x, boxes, indices, y;
  int64_t mode;
  double extrapolation;
} nd4c_ref_crop_args;
/* Places [begin, end) of y [boxes, h, w], all channels of each. */
void nd4c_ref_crop_and_resize(const nd4c_ref_crop_args *args, int64_t begin, int64_t end);

/* Where place `index` of `count` lies between two corners (0 .. 1) of an axis. */
double nd4c_ref_crop_coordinate(double from, double to, int64_t index, int64_t count, int64_t extent);

/* -- boxes.c ----------------------------------------------------------------------------------------------------- */

/* Edges of a box, low before high: y, x, y, x. */
typedef struct nd4c_ref_edges {
  double low[2], high[2];
} nd4c_ref_edges;
/* Of the four numbers of a box: two corners (y, x), or x and y of the centre, width and height. */
nd4c_ref_edges nd4c_ref_box_edges(const double number[4], bool center_point_box);
double nd4c_ref_box_area(const nd4c_ref_edges *box);
/* Whether what they share is a larger part of both than the threshold. */
bool nd4c_ref_boxes_overlap(const nd4c_ref_edges *a, const nd4c_ref_edges *b, double threshold);

typedef struct nd4c_ref_nms_args {
  nd4c_ref_tensor boxes, scores;
  int64_t max_output;
  double iou_threshold, score_threshold;
  bool has_score_threshold, center_point_box;
} nd4c_ref_nms_args;
/* A box that may be chosen. */
typedef struct nd4c_ref_candidate {
  double score;
  int64_t box;
} nd4c_ref_candidate;
/* Writes rows [batch, class, box] and returns how many; `chosen` has room for all boxes, `candidates` for twice as
 * many. */
int64_t nd4c_ref_nms(const nd4c_ref_nms_args *args, nd4c_ref_candidate *candidates, double *chosen, int64_t *rows);

typedef struct nd4c_ref_roi_args {
  nd4c_ref_tensor x, rois, indices, y;
  int64_t sampling_ratio;
  double spatial_scale;
  bool maximum, half_pixel;
} nd4c_ref_roi_args;
enum { ND4C_REF_ROI_SAMPLES = 1 << 20 };
/* Samples along the longer side of a bin of a roi, -1 if there are more than ND4C_REF_ROI_SAMPLES or it is no box. */
int64_t nd4c_ref_roi_samples(const nd4c_ref_roi_args *args, int64_t roi);
/* A roi along one axis (0 rows, 1 columns): where it begins, the length of a bin, samples a bin. */
typedef struct nd4c_ref_roi_span {
  double start, bin;
  int64_t samples;
} nd4c_ref_roi_span;
nd4c_ref_roi_span nd4c_ref_roi_find_span(const nd4c_ref_roi_args *args, int64_t roi, int axis);
/* The two cells around sample p of bin i on one axis, and the weight of the second; false outside. */
typedef struct nd4c_ref_roi_cells {
  int64_t low, high;
  double weight;
} nd4c_ref_roi_cells;
bool nd4c_ref_roi_find_cells(const nd4c_ref_roi_span *span, int64_t i, int64_t p, int64_t extent,
                             nd4c_ref_roi_cells *cells);
/* Elements [begin, end) of y in C order. */
void nd4c_ref_roi_align(const nd4c_ref_roi_args *args, int64_t begin, int64_t end);
void nd4c_ref_max_roi_pool(const nd4c_ref_roi_args *args, int64_t begin, int64_t end);

/* -- color.c ----------------------------------------------------------------------------------------------------- */

typedef enum nd4c_ref_color {
  ND4C_REF_RGB_TO_HSV,
  ND4C_REF_HSV_TO_RGB,
  ND4C_REF_RGB_TO_YIQ,
  ND4C_REF_YIQ_TO_RGB,
  ND4C_REF_RGB_TO_YUV,
  ND4C_REF_YUV_TO_RGB,
  ND4C_REF_GRAYSCALE,
  ND4C_REF_HUE,
  ND4C_REF_SATURATION
} nd4c_ref_color;
typedef struct nd4c_ref_color_args {
  nd4c_ref_tensor x, y;
  nd4c_ref_color what;
  double amount; /* of hue and saturation */
  int32_t axis;
} nd4c_ref_color_args;
/* The matrix of a conversion that is a product, of one row for GRAYSCALE; else NULL. */
const double (*nd4c_ref_color_matrix(nd4c_ref_color what))[3];
/* Pixels [begin, end) in C order of the other axes. */
void nd4c_ref_color_convert(const nd4c_ref_color_args *args, int64_t begin, int64_t end);
typedef struct nd4c_ref_contrast_args {
  nd4c_ref_tensor x, y;
  double factor;
  int32_t spatial; /* the first of two axes of a plane */
} nd4c_ref_contrast_args;
/* Planes [begin, end) in C order of the other axes. */
void nd4c_ref_contrast(const nd4c_ref_contrast_args *args, int64_t begin, int64_t end);

#endif
