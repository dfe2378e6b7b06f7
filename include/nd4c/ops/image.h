/* Op functions of the family image, made from include/nd4c/op_table/image.h by scripts/ops_header.py (target
 * ops-header): change the table, not this file. nd4c/ops.h says how to read the comments. */
#ifndef ND4C_OPS_IMAGE_H
#define ND4C_OPS_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "nd4c/array.h"
#include "nd4c/context.h"
#include "nd4c/dtype.h"
#include "nd4c/export.h"
#include "nd4c/options.h"
#include "nd4c/ops/enums.h"
#include "nd4c/status.h"

ND4C_EXTERN_C_BEGIN

/* Options of nd4c_resize. */
typedef struct nd4c_resize_options {
  uint32_t struct_size; /* set by ND4C_RESIZE_DEFAULTS */
  const nd4c_array *roi;
  const int64_t *sizes;
  int32_t sizes_count;
  const double *scales;
  int32_t scales_count;
  const int64_t *axes;
  int32_t axes_count;
  nd4c_interpolation mode;
  nd4c_resize_coordinates coordinates;
  nd4c_resize_nearest nearest;
  double cubic_a;
  bool exclude_outside;
  bool antialias;
  nd4c_resize_aspect aspect;
  double extrapolation;
} nd4c_resize_options;
#define ND4C_RESIZE_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_resize_options, extrapolation), NULL, NULL, 0, NULL, 0, NULL, 0, \
   ND4C_INTERPOLATION_NEAREST, ND4C_RESIZE_COORDINATES_HALF_PIXEL, ND4C_RESIZE_NEAREST_ROUND_PREFER_FLOOR, -0.75, \
   false, false, ND4C_RESIZE_ASPECT_STRETCH, 0}

/* resize: x resized on the axes (none: all) to sizes or by scales: the nearest element, or a weighted sum of the
 * neighbours along each axis (linear; cubic: Keys 1981, cubic_a); antialias widens the weights when the axis shrinks;
 * roi [starts, ends] is for tf_crop_and_resize, with extrapolation outside x; integers are rounded to even and
 * saturate (ONNX Resize).
 * In: x (bool, int, uint, float, complex).
 * Options: roi (NULL), sizes (NULL, 0), scales (NULL, 0), axes (NULL, 0), mode (ND4C_INTERPOLATION_NEAREST),
 *     coordinates (ND4C_RESIZE_COORDINATES_HALF_PIXEL), nearest (ND4C_RESIZE_NEAREST_ROUND_PREFER_FLOOR), cubic_a
 *     (-0.75), exclude_outside (false), antialias (false), aspect (ND4C_RESIZE_ASPECT_STRETCH), extrapolation (0).
 * Out: y: x with the resized axes as long as sizes says, or floor(length * scale) with scales, in x's dtype; a scale
 *     that float32 holds is multiplied in float32; an aspect other than STRETCH may change sizes.
 * Statuses: ARGUMENT, DTYPE, SHAPE, INDEX, OVERFLOW. */
ND4C_API nd4c_status nd4c_resize(const nd4c_array *x, const nd4c_resize_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_resize_on(nd4c_context *context, const nd4c_array *x, const nd4c_resize_options *options,
                                    nd4c_array **y);

/* crop_and_resize: each box [y1, x1, y2, x2] (0 .. 1) of image box_indices[i] of x [b, h, w, c], resized to size [h,
 * w] by nearest or linear: y [boxes, h, w, c] (TensorFlow crop_and_resize).
 * In: x (float), boxes, box_indices.
 * Attributes: size (NULL, 0), mode (ND4C_INTERPOLATION_LINEAR), extrapolation (0).
 * Out: y: [boxes, h, w, c] with h and w of size, in x's dtype, for x [b, h, w, c].
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_crop_and_resize(const nd4c_array *x, const nd4c_array *boxes, const nd4c_array *box_indices,
                                          const int64_t *size, int32_t size_count, nd4c_interpolation mode,
                                          double extrapolation, nd4c_array **y);
ND4C_API nd4c_status nd4c_crop_and_resize_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *boxes,
                                             const nd4c_array *box_indices, const int64_t *size, int32_t size_count,
                                             nd4c_interpolation mode, double extrapolation, nd4c_array **y);

/* grid_sample: x [n, c, ...] sampled at the positions in grid [n, ..., d], for d = 1 to 3 spatial axes; coordinates
 * are -1 .. 1, the last axis first; a NaN position gives NaN (integers: 0).
 * In: x (int, uint, float), grid.
 * Attributes: mode (ND4C_INTERPOLATION_LINEAR), padding (ND4C_SAMPLE_PADDING_ZEROS), align_corners (false).
 * Out: y: [n, c, ...] with the spatial axes of grid [n, ..., d], in x's dtype, for x [n, c, ...] with d spatial axes.
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_grid_sample(const nd4c_array *x, const nd4c_array *grid, nd4c_interpolation mode,
                                      nd4c_sample_padding padding, bool align_corners, nd4c_array **y);
ND4C_API nd4c_status nd4c_grid_sample_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *grid,
                                         nd4c_interpolation mode, nd4c_sample_padding padding, bool align_corners,
                                         nd4c_array **y);

/* affine_grid: grid [n, ..., d] = theta [n, d, d + 1] times (position, 1), for each position of size [n, c, ...], d =
 * 2 or 3.
 * In: theta (float).
 * Attributes: size (NULL, 0), align_corners (false).
 * Out: grid: [n, h, w, 2] or [n, d, h, w, 3], in theta's dtype, for size [n, c, h, w] or [n, c, d, h, w].
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_affine_grid(const nd4c_array *theta, const int64_t *size, int32_t size_count,
                                      bool align_corners, nd4c_array **grid);
ND4C_API nd4c_status nd4c_affine_grid_on(nd4c_context *context, const nd4c_array *theta, const int64_t *size,
                                         int32_t size_count, bool align_corners, nd4c_array **grid);

/* spatial_transformer: grid_sample of x at affine_grid of theta, to the spatial extents size (Jaderberg 2015).
 * In: x (int, uint, float), theta.
 * Attributes: size (NULL, 0), mode (ND4C_INTERPOLATION_LINEAR), padding (ND4C_SAMPLE_PADDING_ZEROS), align_corners
 *     (false).
 * Out: y: [n, c, ...size], in x's dtype, for x [n, c, ...].
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_spatial_transformer(const nd4c_array *x, const nd4c_array *theta, const int64_t *size,
                                              int32_t size_count, nd4c_interpolation mode, nd4c_sample_padding padding,
                                              bool align_corners, nd4c_array **y);
ND4C_API nd4c_status nd4c_spatial_transformer_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *theta,
                                                 const int64_t *size, int32_t size_count, nd4c_interpolation mode,
                                                 nd4c_sample_padding padding, bool align_corners, nd4c_array **y);

/* nms: rows [batch, class, box] of the chosen boxes: boxes [n, b, 4] in the order of falling scores [n, c, b] above
 * score_threshold, at most max_output of each class (left out: all), skipping a box that overlaps a chosen one by
 * more than iou_threshold (left out: 0); NaN scores are never chosen.
 * In: boxes (float), scores, max_output or NULL, iou_threshold or NULL, score_threshold or NULL.
 * Attributes: center_point_box (false).
 * Out: selected: int64 [selected, 3]: image, class, box. The number of rows depends on the data.
 * Statuses: DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_nms(const nd4c_array *boxes, const nd4c_array *scores, const nd4c_array *max_output,
                              const nd4c_array *iou_threshold, const nd4c_array *score_threshold, bool center_point_box,
                              nd4c_array **selected);
ND4C_API nd4c_status nd4c_nms_on(nd4c_context *context, const nd4c_array *boxes, const nd4c_array *scores,
                                 const nd4c_array *max_output, const nd4c_array *iou_threshold,
                                 const nd4c_array *score_threshold, bool center_point_box, nd4c_array **selected);

/* Options of nd4c_roi_align. */
typedef struct nd4c_roi_align_options {
  uint32_t struct_size; /* set by ND4C_ROI_ALIGN_DEFAULTS */
  const int64_t *size;
  int32_t size_count;
  nd4c_roi_mode mode;
  int64_t sampling_ratio;
  double spatial_scale;
  bool half_pixel;
} nd4c_roi_align_options;
#define ND4C_ROI_ALIGN_DEFAULTS \
  {ND4C_OPTIONS_SIZE(nd4c_roi_align_options, half_pixel), NULL, 0, ND4C_ROI_MODE_AVERAGE, 0, 1.0, true}

/* roi_align: for each roi [x1, y1, x2, y2] times spatial_scale, in x [n, c, h, w]: size [h, w] bins, each the average
 * of sampling_ratio^2 bilinear samples (0: as many as the bin has cells), or the largest weighted cell (He 2017, ONNX
 * RoiAlign).
 * In: x (float), rois, batch_indices.
 * Options: size (NULL, 0), mode (ND4C_ROI_MODE_AVERAGE), sampling_ratio (0), spatial_scale (1.0), half_pixel (true).
 * Out: y: [rois, c, ...size], in x's dtype, for x [n, c, h, w].
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_roi_align(const nd4c_array *x, const nd4c_array *rois, const nd4c_array *batch_indices,
                                    const nd4c_roi_align_options *options, nd4c_array **y);
ND4C_API nd4c_status nd4c_roi_align_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *rois,
                                       const nd4c_array *batch_indices, const nd4c_roi_align_options *options,
                                       nd4c_array **y);

/* max_roi_pool: for each roi [batch, x1, y1, x2, y2] times spatial_scale, rounded: the largest element in each of
 * size [h, w] bins; an empty bin gives 0 (Girshick 2015).
 * In: x (float), rois.
 * Attributes: size (NULL, 0), spatial_scale (1.0).
 * Out: y: [rois, c, ...size], in x's dtype, for x [n, c, h, w].
 * Statuses: ARGUMENT, DTYPE, SHAPE. */
ND4C_API nd4c_status nd4c_max_roi_pool(const nd4c_array *x, const nd4c_array *rois, const int64_t *size,
                                       int32_t size_count, double spatial_scale, nd4c_array **y);
ND4C_API nd4c_status nd4c_max_roi_pool_on(nd4c_context *context, const nd4c_array *x, const nd4c_array *rois,
                                          const int64_t *size, int32_t size_count, double spatial_scale,
                                          nd4c_array **y);

/* decode_image: uint8 [h, w, c] from the bytes of a file: JPEG (libjpeg-turbo), PNG (libpng), WebP (libwebp), TIFF
 * (libtiff), JPEG 2000 (OpenJPEG), BMP, PNM; ignores alpha, profiles and gamma; runs on the host, and only eagerly.
 * In: x (uint8).
 * Attributes: pixel_format (ND4C_PIXEL_FORMAT_RGB).
 * Out: y: uint8 [h, w, channels], 1 channel for GRAYSCALE, else 3. Height and width depend on the data.
 * Statuses: ARGUMENT, SHAPE. */
ND4C_API nd4c_status nd4c_decode_image(const nd4c_array *x, nd4c_pixel_format pixel_format, nd4c_array **y);
ND4C_API nd4c_status nd4c_decode_image_on(nd4c_context *context, const nd4c_array *x, nd4c_pixel_format pixel_format,
                                          nd4c_array **y);

/* rgb_to_hsv: hue, saturation, value (0 .. 1) of the 3 colours on axis (Smith 1978).
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of x.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_rgb_to_hsv(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_rgb_to_hsv_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* hsv_to_rgb: inverse of rgb_to_hsv; hue counts modulo 1.
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of x.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_hsv_to_rgb(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_hsv_to_rgb_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* rgb_to_yiq: luma and chroma of NTSC (scikit-image's matrix) of the 3 colours on axis; TensorFlow rounds 0.21153661
 * of it to 0.2115.
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of x.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_rgb_to_yiq(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_rgb_to_yiq_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* yiq_to_rgb: inverse of rgb_to_yiq (matrix of scikit-image and TensorFlow).
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of x.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_yiq_to_rgb(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_yiq_to_rgb_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* rgb_to_yuv: luma and chroma of PAL (TensorFlow's matrix) of the 3 colours on axis.
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of x.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_rgb_to_yuv(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_rgb_to_yuv_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* yuv_to_rgb: inverse of rgb_to_yuv (TensorFlow's matrix).
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: the shape and dtype of x.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_yuv_to_rgb(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_yuv_to_rgb_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* rgb_to_grayscale: 0.2989 red + 0.587 green + 0.114 blue of the 3 colours on axis; axis keeps length 1.
 * In: x (float).
 * Attributes: axis (-1).
 * Out: y: x with 1 on the axis, which must have 3, in x's dtype.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_rgb_to_grayscale(const nd4c_array *x, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_rgb_to_grayscale_on(nd4c_context *context, const nd4c_array *x, int64_t axis, nd4c_array **y);

/* adjust_hue: the 3 colours on axis with delta (turns) added to their hue.
 * In: x (float).
 * Attributes: delta (0), axis (-1).
 * Out: y: the shape and dtype of x.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_adjust_hue(const nd4c_array *x, double delta, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_adjust_hue_on(nd4c_context *context, const nd4c_array *x, double delta, int64_t axis,
                                        nd4c_array **y);

/* adjust_saturation: the 3 colours on axis with their saturation multiplied by factor and kept within 0 .. 1.
 * In: x (float).
 * Attributes: factor (1.0), axis (-1).
 * Out: y: the shape and dtype of x.
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_adjust_saturation(const nd4c_array *x, double factor, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_adjust_saturation_on(nd4c_context *context, const nd4c_array *x, double factor, int64_t axis,
                                               nd4c_array **y);

/* adjust_contrast: (x - m) factor + m, m the mean of each channel (on axis) over the two image axes: those before
 * axis if it is the last one, else those after it.
 * In: x (float).
 * Attributes: factor (1.0), axis (-1).
 * Out: y: the shape and dtype of x, [..., h, w, c] or [..., c, h, w].
 * Statuses: SHAPE, INDEX. */
ND4C_API nd4c_status nd4c_adjust_contrast(const nd4c_array *x, double factor, int64_t axis, nd4c_array **y);
ND4C_API nd4c_status nd4c_adjust_contrast_on(nd4c_context *context, const nd4c_array *x, double factor, int64_t axis,
                                             nd4c_array **y);

ND4C_EXTERN_C_END
#endif
