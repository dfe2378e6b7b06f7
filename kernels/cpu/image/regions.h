/* The bins of a region of an image, from the weighted cells of each axis: what roi_align takes. Engine simd calls these
 * (backends/cpu/simd/image/image_regions.c). */
#ifndef ND4C_KERNELS_CPU_IMAGE_REGIONS_H
#define ND4C_KERNELS_CPU_IMAGE_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Bin b weighs cells[begins[b]] to cells[begins[b + 1] - 1]; outside[b]: a sample of it lies outside the image. */
typedef struct nd4c_region_axis {
  int64_t bins;
  const int64_t *begins;
  const int32_t *cells;
  const double *weights;
  const bool *outside;
} nd4c_region_axis;

/* Both write [rows->bins][columns->bins] to y. Rows of the plane are `step` elements apart; line: memory for the
 * `width` columns that are weighed. */
typedef struct nd4c_regions_table {
  /* Sums of products of both weights with the element, in float64, rounded once. */
  void (*average)(const float *plane, int64_t step, const nd4c_region_axis *rows, const nd4c_region_axis *columns,
                  int64_t width, double *line, float *y);
  /* The largest product, or NaN if one is; a sample outside counts as 0. Rows come in pairs. */
  void (*largest)(const float *plane, int64_t step, const nd4c_region_axis *rows, const nd4c_region_axis *columns,
                  int64_t width, double *line, float *y);
} nd4c_regions_table;

#endif
