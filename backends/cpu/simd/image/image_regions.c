/* roi_align of engine simd in float32. The weights of a bin's samples are products of one for the row and one for the
 * column, so the cells that the bins of each axis weigh are found once for a roi, and a bin is a weighted sum of rows,
 * then of columns. dispatch/choice.c asks this kernel before the reference's. */
#include "backends/cpu/simd/simd.h"
#include "backends/cpu/support/regions.h"

/* Channels of a roi that are computed together; the most samples along a bin, where the call says how many. */
enum { CHANNELS = 64, MOST_SAMPLES = 1024 };

typedef struct roi_job {
  nd4c_ref_roi_args args;
  int64_t channels, groups; /* of an image; CHANNELS of them or fewer */
  double *memory;           /* of the workers */
  int64_t worker_size;
} roi_job;

/* An axis of a roi, and where its lists lie. */
typedef struct roi_axis {
  nd4c_region_axis table;
  int64_t *begins;
  int32_t *cells;
  double *weights;
  bool *outside;
  int64_t first, last; /* cells that are weighed: first .. last - 1; the list counts from `first` */
} roi_axis;

/* The most cells that all bins of an axis weigh. As many samples as a bin is long lie in different places, so that
 * those within x are few; the average counts each cell of a bin once. */
static int64_t most_cells(int64_t samples, bool maximum, int64_t extent, int64_t bins) {
  if (samples > 0) {
    return bins * (maximum || 2 * samples < extent ? 2 * samples : extent);
  }
  return (maximum ? 4 * (extent + 1) : extent) + 4 * bins + 8;
}

static int64_t axis_size(int64_t most, int64_t bins) {
  return most + (most + 1) / 2 + bins + 1 + (bins + 7) / 8;
}

static double *place_axis(double *memory, int64_t most, int64_t bins, roi_axis *axis) {
  *axis = (roi_axis){.weights = memory};
  memory += most;
  axis->begins = (int64_t *)(void *)memory;
  memory += bins + 1;
  axis->cells = (int32_t *)(void *)memory;
  memory += (most + 1) / 2;
  axis->outside = (bool *)memory;
  axis->table = (nd4c_region_axis){bins, axis->begins, axis->cells, axis->weights, axis->outside};
  return memory + (bins + 7) / 8;
}

/* The weights of bin `bin`, added up in sums, which are 0; the cells [*low, *high) have some. */
static void add_samples(const nd4c_ref_roi_span *span, int64_t bin, int64_t extent, double *sums, int64_t *low,
                        int64_t *high) {
  const double share = 1 / (double)span->samples;
  *low = extent;
  *high = 0;
  for (int64_t p = 0; p < span->samples; p++) {
    nd4c_ref_roi_cells cells;
    if (nd4c_ref_roi_find_cells(span, bin, p, extent, &cells)) {
      sums[cells.low] += (1 - cells.weight) * share;
      sums[cells.high] += cells.weight * share;
      *low = cells.low < *low ? cells.low : *low;
      *high = cells.high + 1 > *high ? cells.high + 1 : *high;
    }
  }
}

/* Lists what the bins average; cells without a weight are left out. */
static void list_sums(const nd4c_ref_roi_span *span, int64_t extent, double *sums, roi_axis *axis) {
  int64_t count = 0;
  memset(sums, 0, (size_t)extent * sizeof *sums);
  for (int64_t bin = 0; bin < axis->table.bins; bin++) {
    int64_t low, high;
    axis->begins[bin] = count;
    add_samples(span, bin, extent, sums, &low, &high);
    for (int64_t cell = low; cell < high; cell++) {
      if (sums[cell] != 0) {
        axis->cells[count] = (int32_t)cell;
        axis->weights[count++] = sums[cell];
        sums[cell] = 0;
      }
    }
  }
  axis->begins[axis->table.bins] = count;
}

/* Lists both cells of every sample, of which the largest product counts. A bin without samples is 0. */
static void list_samples(const nd4c_ref_roi_span *span, int64_t extent, roi_axis *axis) {
  int64_t count = 0;
  for (int64_t bin = 0; bin < axis->table.bins; bin++) {
    axis->begins[bin] = count;
    axis->outside[bin] = span->samples == 0;
    for (int64_t p = 0; p < span->samples; p++) {
      nd4c_ref_roi_cells cells;
      if (!nd4c_ref_roi_find_cells(span, bin, p, extent, &cells)) {
        axis->outside[bin] = true;
        continue;
      }
      axis->cells[count] = (int32_t)cells.low;
      axis->weights[count++] = 1 - cells.weight;
      axis->cells[count] = (int32_t)cells.high;
      axis->weights[count++] = cells.weight;
    }
  }
  axis->begins[axis->table.bins] = count;
}

static int64_t worker_size(const nd4c_tensor *x, const nd4c_tensor *y, int64_t samples, bool maximum) {
  const int64_t h = x->shape[2], w = x->shape[3];
  return axis_size(most_cells(samples, maximum, h, y->shape[2]), y->shape[2]) +
         axis_size(most_cells(samples, maximum, w, y->shape[3]), y->shape[3]) + (h > w ? h : w);
}

/* Counts the cells of an axis from the first one that is weighed. */
static void shift_cells(roi_axis *axis) {
  const int64_t count = axis->begins[axis->table.bins];
  axis->first = count > 0 ? axis->cells[0] : 0;
  axis->last = axis->first;
  for (int64_t k = 0; k < count; k++) {
    axis->first = axis->cells[k] < axis->first ? axis->cells[k] : axis->first;
    axis->last = axis->cells[k] + 1 > axis->last ? axis->cells[k] + 1 : axis->last;
  }
  for (int64_t k = 0; k < count; k++) {
    axis->cells[k] -= (int32_t)axis->first;
  }
}

/* Finds what the bins of a roi weigh. Returns memory that is left, for the longer side of x. */
static double *list_axes(const roi_job *j, int64_t roi, int32_t worker, roi_axis axes[2]) {
  const nd4c_ref_roi_args *args = &j->args;
  double *memory = j->memory + worker * j->worker_size;
  for (int k = 0; k < 2; k++) {
    const int64_t extent = args->x.shape[2 + k], bins = args->y.shape[2 + k];
    memory = place_axis(memory, most_cells(args->sampling_ratio, args->maximum, extent, bins), bins, &axes[k]);
  }
  for (int k = 0; k < 2; k++) {
    const nd4c_ref_roi_span span = nd4c_ref_roi_find_span(args, roi, k);
    if (args->maximum) {
      list_samples(&span, args->x.shape[2 + k], &axes[k]);
    } else {
      list_sums(&span, args->x.shape[2 + k], memory, &axes[k]);
    }
    shift_cells(&axes[k]);
  }
  return memory;
}

static void roi_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const roi_job *j = user;
  const nd4c_ref_tensor *x = &j->args.x, *y = &j->args.y, *images = &j->args.indices;
  roi_axis axes[2];
  double *line = NULL;
  int64_t listed = -1;
  for (int64_t number = begin; number < end; number++) {
    const int64_t roi = number / j->groups, from = number % j->groups * CHANNELS;
    const int64_t to = from + CHANNELS < j->channels ? from + CHANNELS : j->channels;
    const int64_t image = nd4c_value_load(images->dtype, images->data, roi * images->strides[0]).i;
    line = roi != listed ? list_axes(j, roi, worker, axes) : line;
    listed = roi;
    const float *first =
        (const float *)(const void *)x->data + image * x->strides[0] + axes[0].first * x->strides[2] + axes[1].first;
    for (int64_t c = from; c < to; c++) {
      float *bins = (float *)(void *)y->data + roi * y->strides[0] + c * y->strides[1];
      (j->args.maximum ? nd4c_simd.regions->largest : nd4c_simd.regions->average)(
          first + c * x->strides[1], x->strides[2], &axes[0].table, &axes[1].table, axes[1].last - axes[1].first, line,
          bins);
    }
  }
}

static bool roi_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  ND4C_CPU_DECLINE_IF(
      x->dtype != ND4C_FLOAT32 || y->dtype != ND4C_FLOAT32 || !nd4c_in_c_order(x) || !nd4c_in_c_order(y),
      "not float32 in C order");
  ND4C_CPU_DECLINE_IF(x->size == 0 || y->size == 0 || x->shape[2] > INT32_MAX || x->shape[3] > INT32_MAX,
                      "no elements, or an axis of 2^31 or more");
  ND4C_CPU_DECLINE_IF(ND4C_INT_OF(call, roi_align_sampling_ratio) > MOST_SAMPLES, "more than 1024 samples along a bin");
  return true;
}

static int64_t roi_scratch_bytes(const nd4c_call *call) {
  const int64_t size = worker_size(&call->inputs[0], &call->outputs[0], ND4C_INT_OF(call, roi_align_sampling_ratio),
                                   ND4C_INT_OF(call, roi_align_mode) == ND4C_ROI_MODE_MAX);
  return size * (int64_t)sizeof(double) * (call->width > 1 ? call->width : 1);
}

static nd4c_status roi_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0];
  roi_job j = {.channels = x->shape[1], .groups = nd4c_cpu_divide_up(x->shape[1], CHANNELS), .memory = call->scratch};
  ND4C_BACKEND_TRY(nd4c_cpu_roi_align_read(call, &j.args));
  j.worker_size = worker_size(x, y, j.args.sampling_ratio, j.args.maximum);
  const int64_t work = (y->shape[2] * y->shape[3] + 8) * 16 * (j.channels < CHANNELS ? j.channels : CHANNELS);
  nd4c_cpu_parallel(y->shape[0] * j.groups, (1 << 15) / work + 1, call->width, roi_range, &j);
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_image_regions_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(roi_align, ND4C_DTYPE_BIT(ND4C_FLOAT32), roi_usable, roi_run,
                         .scratch_bytes = roi_scratch_bytes),
    NULL};
