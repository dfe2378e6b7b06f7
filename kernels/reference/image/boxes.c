/* Boxes: non-maximum suppression, and pooling of regions of interest (image.h). backends/cpu/reference/image.c calls
 * these. */
#include "kernels/reference/image/image.h"
#include "kernels/reference/sorting/order.h"

/* -- nms ---------------------------------------------------------------------------------------------------------- */

nd4c_ref_edges nd4c_ref_box_edges(const double number[4], bool center_point_box) {
  nd4c_ref_edges result;
  for (int i = 0; i < 2; i++) {
    if (center_point_box) {
      result.low[i] = number[1 - i] - number[3 - i] / 2;
      result.high[i] = number[1 - i] + number[3 - i] / 2;
    } else {
      bool ordered = number[i] < number[i + 2];
      result.low[i] = ordered ? number[i] : number[i + 2];
      result.high[i] = ordered ? number[i + 2] : number[i];
    }
  }
  return result;
}

static nd4c_ref_edges load_box(const nd4c_ref_nms_args *args, int64_t n, int64_t box) {
  const nd4c_ref_tensor *boxes = &args->boxes;
  double number[4];
  for (int k = 0; k < 4; k++) {
    number[k] = nd4c_ref_load(boxes, n * boxes->strides[0] + box * boxes->strides[1] + k * boxes->strides[2]);
  }
  return nd4c_ref_box_edges(number, args->center_point_box);
}

double nd4c_ref_box_area(const nd4c_ref_edges *box) {
  return (box->high[0] - box->low[0]) * (box->high[1] - box->low[1]);
}

bool nd4c_ref_boxes_overlap(const nd4c_ref_edges *a, const nd4c_ref_edges *b, double threshold) {
  double common = 1;
  for (int i = 0; i < 2; i++) {
    double low = a->low[i] > b->low[i] ? a->low[i] : b->low[i];
    double high = a->high[i] < b->high[i] ? a->high[i] : b->high[i];
    if (!(high > low)) {
      return false;
    }
    common *= high - low;
  }
  double area_a = nd4c_ref_box_area(a), area_b = nd4c_ref_box_area(b), all = area_a + area_b - common;
  return common > 0 && area_a > 0 && area_b > 0 && all > 0 && common / all > threshold;
}

/* Falling scores; of equal ones the box of the smaller number first. */
static int compare_candidates(const void *a, const void *b) {
  const nd4c_ref_candidate *left = a, *right = b;
  if (left->score != right->score) {
    return left->score > right->score ? -1 : 1;
  }
  return left->box < right->box ? -1 : left->box > right->box;
}

static int64_t collect(const nd4c_ref_nms_args *args, int64_t n, int64_t class, nd4c_ref_candidate *candidates) {
  const nd4c_ref_tensor *scores = &args->scores;
  int64_t count = 0;
  for (int64_t box = 0; box < scores->shape[2]; box++) {
    double score =
        nd4c_ref_load(scores, n * scores->strides[0] + class * scores->strides[1] + box * scores->strides[2]);
    if (args->has_score_threshold ? score > args->score_threshold : !isnan(score)) {
      candidates[count++] = (nd4c_ref_candidate){score, box};
    }
  }
  nd4c_ref_sort(candidates, count, sizeof *candidates, compare_candidates, candidates + count);
  return count;
}

int64_t nd4c_ref_nms(const nd4c_ref_nms_args *args, nd4c_ref_candidate *candidates, double *chosen, int64_t *rows) {
  int64_t total = 0;
  nd4c_ref_edges *kept = (nd4c_ref_edges *)(void *)chosen;
  for (int64_t pair = 0; pair < args->scores.shape[0] * args->scores.shape[1]; pair++) {
    int64_t n = pair / args->scores.shape[1], class = pair % args->scores.shape[1], count = 0;
    int64_t left = collect(args, n, class, candidates);
    for (int64_t i = 0; i < left && count < args->max_output; i++) {
      nd4c_ref_edges box = load_box(args, n, candidates[i].box);
      bool free_of_others = true;
      for (int64_t k = 0; k < count && free_of_others; k++) {
        free_of_others = !nd4c_ref_boxes_overlap(&box, &kept[k], args->iou_threshold);
      }
      if (free_of_others) {
        kept[count++] = box;
        rows[3 * total] = n;
        rows[3 * total + 1] = class;
        rows[3 * total + 2] = candidates[i].box;
        total++;
      }
    }
  }
  return total;
}

/* -- regions of interest ------------------------------------------------------------------------------------------ */

nd4c_ref_roi_span nd4c_ref_roi_find_span(const nd4c_ref_roi_args *args, int64_t roi, int axis) {
  const nd4c_ref_tensor *rois = &args->rois;
  int64_t base = roi * rois->strides[0], bins = args->y.shape[2 + axis];
  double shift = args->half_pixel ? 0.5 : 0;
  double start = nd4c_ref_load(rois, base + (1 - axis) * rois->strides[1]) * args->spatial_scale - shift;
  double length = nd4c_ref_load(rois, base + (3 - axis) * rois->strides[1]) * args->spatial_scale - shift - start;
  if (!args->half_pixel && length < 1) {
    length = 1; /* a malformed roi is one cell */
  }
  nd4c_ref_roi_span result = {start, length / (double)bins, args->sampling_ratio};
  if (result.samples == 0) {
    double wanted = ceil(result.bin);
    result.samples = wanted <= 0 ? 0 : wanted <= ND4C_REF_ROI_SAMPLES ? (int64_t)wanted : -1;
  }
  return isfinite(start) && isfinite(length) ? result : (nd4c_ref_roi_span){start, 0, -1};
}

int64_t nd4c_ref_roi_samples(const nd4c_ref_roi_args *args, int64_t roi) {
  nd4c_ref_roi_span rows = nd4c_ref_roi_find_span(args, roi, 0), columns = nd4c_ref_roi_find_span(args, roi, 1);
  if (rows.samples < 0 || columns.samples < 0) {
    return -1;
  }
  return rows.samples > columns.samples ? rows.samples : columns.samples;
}

/* The two cells around a place on one axis, and the weight of the second; false outside. */
static bool find_cells(double place, int64_t extent, int64_t *low, int64_t *high, double *weight) {
  if (!(place >= -1 && place <= (double)extent)) {
    return false;
  }
  place = place > 0 ? place : 0;
  *low = (int64_t)place;
  *high = *low + 1;
  if (*low >= extent - 1) {
    *low = *high = extent - 1;
    place = (double)*low;
  }
  *weight = place - (double)*low;
  return true;
}

/* One sample: bilinear, or the largest of the four weighted cells (as ONNX and its runtime define mode max). */
static double sample(const nd4c_ref_roi_args *args, int64_t base, double row, double column) {
  const nd4c_ref_tensor *x = &args->x;
  int64_t at[2][2];
  double down = 0, right = 0, sum = 0, best = -(double)INFINITY;
  if (!find_cells(row, x->shape[2], &at[0][0], &at[0][1], &down) ||
      !find_cells(column, x->shape[3], &at[1][0], &at[1][1], &right)) {
    return 0;
  }
  for (int corner = 0; corner < 4; corner++) {
    double weight = (corner & 2 ? down : 1 - down) * (corner & 1 ? right : 1 - right);
    double value =
        weight * nd4c_ref_load(x, base + at[0][corner >> 1] * x->strides[2] + at[1][corner & 1] * x->strides[3]);
    sum += value;
    best = isnan(best) || value <= best ? best : value;
  }
  return args->maximum ? best : sum;
}

/* The middle of sample p of bin i. */
static double middle_of(const nd4c_ref_roi_span *s, int64_t i, int64_t p) {
  return s->start + (double)i * s->bin + ((double)p + 0.5) * s->bin / (double)s->samples;
}

bool nd4c_ref_roi_find_cells(const nd4c_ref_roi_span *span, int64_t i, int64_t p, int64_t extent,
                             nd4c_ref_roi_cells *cells) {
  return find_cells(middle_of(span, i, p), extent, &cells->low, &cells->high, &cells->weight);
}

static double pool_bin(const nd4c_ref_roi_args *args, int64_t base, int64_t roi, int64_t i, int64_t j) {
  nd4c_ref_roi_span rows = nd4c_ref_roi_find_span(args, roi, 0), columns = nd4c_ref_roi_find_span(args, roi, 1);
  double sum = 0, best = 0;
  for (int64_t p = 0; p < rows.samples; p++) {
    double row = middle_of(&rows, i, p);
    for (int64_t q = 0; q < columns.samples; q++) {
      double value = sample(args, base, row, middle_of(&columns, j, q));
      sum += value;
      best = (p == 0 && q == 0) || (!isnan(best) && !(value <= best)) ? value : best;
    }
  }
  double count = (double)rows.samples * (double)columns.samples;
  return args->maximum ? best : sum / (count > 1 ? count : 1);
}

/* Splits the number of an element of y. */
static void split_element(const nd4c_ref_tensor *y, int64_t number, int64_t *at, int64_t *offset) {
  *offset = 0;
  for (int32_t axis = 3; axis >= 0; axis--) {
    at[axis] = number % y->shape[axis];
    number /= y->shape[axis];
    *offset += at[axis] * y->strides[axis];
  }
}

void nd4c_ref_roi_align(const nd4c_ref_roi_args *args, int64_t begin, int64_t end) {
  for (int64_t number = begin; number < end; number++) {
    int64_t at[4], offset;
    split_element(&args->y, number, at, &offset);
    int64_t image = nd4c_value_load(args->indices.dtype, args->indices.data, at[0] * args->indices.strides[0]).i;
    int64_t base = image * args->x.strides[0] + at[1] * args->x.strides[1];
    nd4c_ref_store(&args->y, offset, pool_bin(args, base, at[0], at[2], at[3]));
  }
}

/* Cells [*begin, *end) of bin `bin` along an axis: the bins of a rounded roi may share cells. */
static void bin_cells(const nd4c_ref_roi_args *args, int64_t roi, int axis, int64_t bin, int64_t *begin, int64_t *end) {
  const nd4c_ref_tensor *rois = &args->rois;
  int64_t base = roi * rois->strides[0];
  double extent = (double)args->x.shape[2 + axis];
  double start = round(nd4c_ref_load(rois, base + (2 - axis) * rois->strides[1]) * args->spatial_scale);
  double last = round(nd4c_ref_load(rois, base + (4 - axis) * rois->strides[1]) * args->spatial_scale);
  double length = last - start + 1 > 1 ? last - start + 1 : 1;
  double step = length / (double)args->y.shape[2 + axis];
  double low = floor((double)bin * step) + start, high = ceil((double)(bin + 1) * step) + start;
  *begin = !(low > 0) ? 0 : low < extent ? (int64_t)low : args->x.shape[2 + axis];
  *end = !(high > 0) ? 0 : high < extent ? (int64_t)high : args->x.shape[2 + axis];
}

void nd4c_ref_max_roi_pool(const nd4c_ref_roi_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x;
  for (int64_t number = begin; number < end; number++) {
    int64_t at[4], offset, top, bottom, left, right;
    split_element(&args->y, number, at, &offset);
    bin_cells(args, at[0], 0, at[2], &top, &bottom);
    bin_cells(args, at[0], 1, at[3], &left, &right);
    int64_t image = (int64_t)nd4c_ref_load(&args->rois, at[0] * args->rois.strides[0]);
    int64_t base = image * x->strides[0] + at[1] * x->strides[1];
    double best = top < bottom && left < right ? -(double)INFINITY : 0;
    for (int64_t i = top; i < bottom; i++) {
      for (int64_t j = left; j < right; j++) {
        double value = nd4c_ref_load(x, base + i * x->strides[2] + j * x->strides[3]);
        best = isnan(best) || value <= best ? best : value;
      }
    }
    nd4c_ref_store(&args->y, offset, best);
  }
}
