/* Rows of the op table: images (resizing, sampling, regions of interest, decoding, colours). op_table.h says how to
 * read them. */
#ifndef ND4C_OP_TABLE_IMAGE_H
#define ND4C_OP_TABLE_IMAGE_H

/* How an image is sampled between its pixels; crop_and_resize refuses CUBIC. */
#define ND4C_INTERPOLATION_TABLE(X) \
  X(NEAREST, 0, "nearest")          \
  X(LINEAR, 1, "linear")            \
  X(CUBIC, 2, "cubic")

/* How resize maps a position of the result to a position of x; the names are ONNX's. */
#define ND4C_RESIZE_COORDINATES_TABLE(X)             \
  X(HALF_PIXEL, 0, "half_pixel")                     \
  X(HALF_PIXEL_SYMMETRIC, 1, "half_pixel_symmetric") \
  X(PYTORCH_HALF_PIXEL, 2, "pytorch_half_pixel")     \
  X(ALIGN_CORNERS, 3, "align_corners")               \
  X(ASYMMETRIC, 4, "asymmetric")                     \
  X(TF_CROP_AND_RESIZE, 5, "tf_crop_and_resize")     \
  X(TF_HALF_PIXEL_FOR_NN, 6, "tf_half_pixel_for_nn")

/* Which of two neighbours resize takes with ND4C_INTERPOLATION_NEAREST. */
#define ND4C_RESIZE_NEAREST_TABLE(X)             \
  X(ROUND_PREFER_FLOOR, 0, "round_prefer_floor") \
  X(ROUND_PREFER_CEIL, 1, "round_prefer_ceil")   \
  X(FLOOR, 2, "floor")                           \
  X(CEIL, 3, "ceil")

/* Whether the result of resize has exactly `sizes`, or keeps the aspect ratio of x: the largest result that is not
 * larger than `sizes`, or the smallest that is not smaller. */
#define ND4C_RESIZE_ASPECT_TABLE(X) \
  X(STRETCH, 0, "stretch")          \
  X(NOT_LARGER, 1, "not_larger")    \
  X(NOT_SMALLER, 2, "not_smaller")

/* What grid_sample and spatial_transformer read outside x. */
#define ND4C_SAMPLE_PADDING_TABLE(X) \
  X(ZEROS, 0, "zeros")               \
  X(BORDER, 1, "border")             \
  X(REFLECTION, 2, "reflection")

/* The channels of a decoded image and their order. */
#define ND4C_PIXEL_FORMAT_TABLE(X) \
  X(RGB, 0, "RGB")                 \
  X(BGR, 1, "BGR")                 \
  X(GRAYSCALE, 2, "Grayscale")

/* How roi_align combines the samples of a cell. */
#define ND4C_ROI_MODE_TABLE(X) \
  X(AVERAGE, 0, "average")     \
  X(MAX, 1, "max")

#define ND4C_SIG_RESIZE(A, op)                                                     \
  A(op, IN, x, 0)                                                                  \
  A(op, OPT, roi, 0)                                                               \
  A(op, INTS, sizes, 0)                                                            \
  A(op, FLOATS, scales, 0)                                                         \
  A(op, INTS, axes, 0)                                                             \
  A(op, WORD, mode, interpolation, ND4C_INTERPOLATION_NEAREST)                     \
  A(op, WORD, coordinates, resize_coordinates, ND4C_RESIZE_COORDINATES_HALF_PIXEL) \
  A(op, WORD, nearest, resize_nearest, ND4C_RESIZE_NEAREST_ROUND_PREFER_FLOOR)     \
  A(op, FLOAT, cubic_a, -0.75)                                                     \
  A(op, BOOL, exclude_outside, 0)                                                  \
  A(op, BOOL, antialias, 0)                                                        \
  A(op, WORD, aspect, resize_aspect, ND4C_RESIZE_ASPECT_STRETCH) A(op, FLOAT, extrapolation, 0) A(op, OUT, y, 0)
#define ND4C_SIG_CROP_AND_RESIZE(A, op) \
  A(op, IN, x, 0)                       \
  A(op, IN, boxes, 0)                   \
  A(op, IN, box_indices, 0)             \
  A(op, INTS, size, 0)                  \
  A(op, WORD, mode, interpolation, ND4C_INTERPOLATION_LINEAR) A(op, FLOAT, extrapolation, 0) A(op, OUT, y, 0)
#define ND4C_SIG_GRID_SAMPLE(A, op)                           \
  A(op, IN, x, 0)                                             \
  A(op, IN, grid, 0)                                          \
  A(op, WORD, mode, interpolation, ND4C_INTERPOLATION_LINEAR) \
  A(op, WORD, padding, sample_padding, ND4C_SAMPLE_PADDING_ZEROS) A(op, BOOL, align_corners, 0) A(op, OUT, y, 0)
#define ND4C_SIG_AFFINE_GRID(A, op) \
  A(op, IN, theta, 0) A(op, INTS, size, 0) A(op, BOOL, align_corners, 0) A(op, OUT, grid, 0)
#define ND4C_SIG_SPATIAL_TRANSFORMER(A, op)                   \
  A(op, IN, x, 0)                                             \
  A(op, IN, theta, 0)                                         \
  A(op, INTS, size, 0)                                        \
  A(op, WORD, mode, interpolation, ND4C_INTERPOLATION_LINEAR) \
  A(op, WORD, padding, sample_padding, ND4C_SAMPLE_PADDING_ZEROS) A(op, BOOL, align_corners, 0) A(op, OUT, y, 0)
#define ND4C_SIG_NMS(A, op)    \
  A(op, IN, boxes, 0)          \
  A(op, IN, scores, 0)         \
  A(op, OPT, max_output, 0)    \
  A(op, OPT, iou_threshold, 0) \
  A(op, OPT, score_threshold, 0) A(op, BOOL, center_point_box, 0) A(op, OUT, selected, 0)
#define ND4C_SIG_ROI_ALIGN(A, op)                    \
  A(op, IN, x, 0)                                    \
  A(op, IN, rois, 0)                                 \
  A(op, IN, batch_indices, 0)                        \
  A(op, INTS, size, 0)                               \
  A(op, WORD, mode, roi_mode, ND4C_ROI_MODE_AVERAGE) \
  A(op, INT, sampling_ratio, 0)                      \
  A(op, FLOAT, spatial_scale, 1.0) A(op, BOOL, half_pixel, 1) A(op, OUT, y, 0)
#define ND4C_SIG_MAX_ROI_POOL(A, op) \
  A(op, IN, x, 0) A(op, IN, rois, 0) A(op, INTS, size, 0) A(op, FLOAT, spatial_scale, 1.0) A(op, OUT, y, 0)
#define ND4C_SIG_DECODE_IMAGE(A, op) \
  A(op, IN, x, 0) A(op, WORD, pixel_format, pixel_format, ND4C_PIXEL_FORMAT_RGB) A(op, OUT, y, 0)
#define ND4C_SIG_COLOR_FACTOR(A, op) A(op, IN, x, 0) A(op, FLOAT, factor, 1.0) A(op, INT, axis, -1) A(op, OUT, y, 0)
#define ND4C_SIG_COLOR_DELTA(A, op) A(op, IN, x, 0) A(op, FLOAT, delta, 0) A(op, INT, axis, -1) A(op, OUT, y, 0)

#define ND4C_OPS_IMAGE(OP)                                                                                            \
  OP(770, 1, resize, IMAGE, ND4C_SIG_RESIZE, resize, NUMBER_OR_BOOL,                                                  \
     "x resized on the axes (none: all) to sizes or by scales: the nearest element, or a weighted sum of the "        \
     "neighbours along each axis (linear; cubic: Keys 1981, cubic_a); antialias widens the weights when the axis "    \
     "shrinks; roi [starts, ends] is for tf_crop_and_resize, with extrapolation outside x; integers are rounded to "  \
     "even and saturate (ONNX Resize)",                                                                               \
     "|nn.functional.interpolate|Resize, Upsample|image.resize, upsampling2d", FIRST_ORDER, OPTIONS)                  \
  OP(771, 1, crop_and_resize, IMAGE, ND4C_SIG_CROP_AND_RESIZE, crop_and_resize, REAL_FLOATING,                        \
     "each box [y1, x1, y2, x2] (0 .. 1) of image box_indices[i] of x [b, h, w, c], resized to size [h, w] by "       \
     "nearest or linear: y [boxes, h, w, c] (TensorFlow crop_and_resize)",                                            \
     "|||image.cropAndResize")                                                                                        \
  OP(772, 1, grid_sample, IMAGE, ND4C_SIG_GRID_SAMPLE, grid_sample, REAL,                                             \
     "x [n, c, ...] sampled at the positions in grid [n, ..., d], for d = 1 to 3 spatial axes; coordinates are -1 "   \
     ".. 1, the last axis first; a NaN position gives NaN (integers: 0)",                                             \
     "|nn.functional.grid_sample|GridSample|", FIRST_ORDER)                                                           \
  OP(773, 1, affine_grid, IMAGE, ND4C_SIG_AFFINE_GRID, affine_grid, REAL_FLOATING,                                    \
     "grid [n, ..., d] = theta [n, d, d + 1] times (position, 1), for each position of size [n, c, ...], d = 2 or 3", \
     "|nn.functional.affine_grid|AffineGrid|")                                                                        \
  OP(774, 1, spatial_transformer, IMAGE, ND4C_SIG_SPATIAL_TRANSFORMER, spatial_transformer, REAL,                     \
     "grid_sample of x at affine_grid of theta, to the spatial extents size (Jaderberg 2015)",                        \
     "|nn.functional.grid_sample||")                                                                                  \
  OP(775, 1, nms, IMAGE, ND4C_SIG_NMS, nms, REAL_FLOATING,                                                            \
     "rows [batch, class, box] of the chosen boxes: boxes [n, b, 4] in the order of falling scores [n, c, b] above "  \
     "score_threshold, at most max_output of each class (left out: all), skipping a box that overlaps a chosen one "  \
     "by more than iou_threshold (left out: 0); NaN scores are never chosen",                                         \
     "|torchvision.ops.nms|NonMaxSuppression|image.nonMaxSuppression")                                                \
  OP(776, 1, roi_align, IMAGE, ND4C_SIG_ROI_ALIGN, roi_align, REAL_FLOATING,                                          \
     "for each roi [x1, y1, x2, y2] times spatial_scale, in x [n, c, h, w]: size [h, w] bins, each the average of "   \
     "sampling_ratio^2 bilinear samples (0: as many as the bin has cells), or the largest weighted cell (He 2017, "   \
     "ONNX RoiAlign)",                                                                                                \
     "|torchvision.ops.roi_align|RoiAlign|", NONE, OPTIONS)                                                           \
  OP(777, 1, max_roi_pool, IMAGE, ND4C_SIG_MAX_ROI_POOL, max_roi_pool, REAL_FLOATING,                                 \
     "for each roi [batch, x1, y1, x2, y2] times spatial_scale, rounded: the largest element in each of size [h, w] " \
     "bins; an empty bin gives 0 (Girshick 2015)",                                                                    \
     "|torchvision.ops.roi_pool|MaxRoiPool|")                                                                         \
  OP(779, 1, decode_image, IMAGE, ND4C_SIG_DECODE_IMAGE, decode_image, BYTE,                                          \
     "uint8 [h, w, c] from the bytes of a file: JPEG (libjpeg-turbo), PNG (libpng), WebP (libwebp), TIFF (libtiff), " \
     "JPEG 2000 (OpenJPEG), BMP, PNM; ignores alpha, profiles and gamma; runs on the host, and only eagerly",         \
     "|torchvision.io.decode_image|ImageDecoder|")                                                                    \
  OP(780, 1, rgb_to_hsv, IMAGE, ND4C_SIG_AXIS, color, REAL_FLOATING,                                                  \
     "hue, saturation, value (0 .. 1) of the 3 colours on axis (Smith 1978)", "|||image.rgbToHsv")                    \
  OP(781, 1, hsv_to_rgb, IMAGE, ND4C_SIG_AXIS, color, REAL_FLOATING, "inverse of rgb_to_hsv; hue counts modulo 1",    \
     "|||image.hsvToRgb")                                                                                             \
  OP(782, 1, rgb_to_yiq, IMAGE, ND4C_SIG_AXIS, color, REAL_FLOATING,                                                  \
     "luma and chroma of NTSC (scikit-image's matrix) of the 3 colours on axis; TensorFlow rounds 0.21153661 of it "  \
     "to 0.2115",                                                                                                     \
     "|||image.rgbToYiq")                                                                                             \
  OP(783, 1, yiq_to_rgb, IMAGE, ND4C_SIG_AXIS, color, REAL_FLOATING,                                                  \
     "inverse of rgb_to_yiq (matrix of scikit-image and TensorFlow)", "|||image.yiqToRgb")                            \
  OP(784, 1, rgb_to_yuv, IMAGE, ND4C_SIG_AXIS, color, REAL_FLOATING,                                                  \
     "luma and chroma of PAL (TensorFlow's matrix) of the 3 colours on axis", "|||image.rgbToYuv")                    \
  OP(785, 1, yuv_to_rgb, IMAGE, ND4C_SIG_AXIS, color, REAL_FLOATING, "inverse of rgb_to_yuv (TensorFlow's matrix)",   \
     "|||image.yuvToRgb")                                                                                             \
  OP(786, 1, rgb_to_grayscale, IMAGE, ND4C_SIG_AXIS, grayscale, REAL_FLOATING,                                        \
     "0.2989 red + 0.587 green + 0.114 blue of the 3 colours on axis; axis keeps length 1", "|||rgb_to_grs")          \
  OP(787, 1, adjust_hue, IMAGE, ND4C_SIG_COLOR_DELTA, color, REAL_FLOATING,                                           \
     "the 3 colours on axis with delta (turns) added to their hue", "|||image.adjustHue")                             \
  OP(788, 1, adjust_saturation, IMAGE, ND4C_SIG_COLOR_FACTOR, color, REAL_FLOATING,                                   \
     "the 3 colours on axis with their saturation multiplied by factor and kept within 0 .. 1",                       \
     "|||image.adjustSaturation")                                                                                     \
  OP(789, 1, adjust_contrast, IMAGE, ND4C_SIG_COLOR_FACTOR, contrast, REAL_FLOATING,                                  \
     "(x - m) factor + m, m the mean of each channel (on axis) over the two image axes: those before axis if it is "  \
     "the last one, else those after it",                                                                             \
     "|||image.adjustContrast")

#endif
