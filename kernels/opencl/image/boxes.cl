/* Boxes: non-maximum suppression, and pooling of regions of interest, by the methods of
 * kernels/reference/image/boxes.c; behind convert.cl and places.cl. families/image_boxes.c launches these. */
#ifdef HAS_FP64

#ifdef TYPE_D
/* -- nms: TYPE_A of boxes, TYPE_B of scores, TYPE_C of iou_threshold, TYPE_D of score_threshold ----------------------------- */

/* Keys that ascend as scores fall, of the pairs of batch and class one after the other; the largest for boxes that are
 * not chosen. */
#define NO_CANDIDATE ULONG_MAX
__kernel void score_keys(__global const STORAGE(B) *scores, long scores0, nd4c_walk walk, long boxes,
                         __global const STORAGE(D) *threshold, long threshold0, int has_threshold,
                         __global ulong *words, long keys_at, long order_at, long items) {
  ITEM(i, items)
  double score = CONVERT(TYPE_B, float64, LOAD(B, scores, scores0 + nd4c_walk_place(&walk, 0, (INDEX)i)));
  bool candidate = has_threshold ? score > CONVERT(TYPE_D, float64, LOAD(D, threshold, threshold0)) : !isnan(score);
  ulong bits = as_ulong(score == 0 ? 0.0 : score), sign = (ulong)1 << 63;
  words[keys_at + i] = !candidate ? NO_CANDIDATE : bits & sign ? bits : ~(bits | sign);
  UINTS(order_at)[i] = i % boxes;
}

/* Edges of a box, low before high: y, x. */
typedef struct {
  double low[2], high[2];
} edges;

typedef struct {
  long batch, box, number;
  int center_point_box, unused;
} nd4c_box_steps;

static inline edges load_box(__global const STORAGE(A) *boxes, long place, const nd4c_box_steps *steps) {
  double number[4];
  edges e;
  for (int k = 0; k < 4; k++) {
    number[k] = CONVERT(TYPE_A, float64, LOAD(A, boxes, place + k * steps->number));
  }
  for (int i = 0; i < 2; i++) {
    bool ordered = number[i] < number[i + 2];
    e.low[i] = ordered ? number[i] : number[i + 2];
    e.high[i] = ordered ? number[i + 2] : number[i];
    if (steps->center_point_box) { /* x, y of the centre, width, height */
      e.low[i] = number[1 - i] - number[3 - i] / 2;
      e.high[i] = number[1 - i] + number[3 - i] / 2;
    }
  }
  return e;
}

static inline double area(const edges *box) {
  return (box->high[0] - box->low[0]) * (box->high[1] - box->low[1]);
}

static inline bool overlaps(const edges *a, const edges *b, double threshold) {
  double common = 1;
  for (int i = 0; i < 2; i++) {
    double low = a->low[i] > b->low[i] ? a->low[i] : b->low[i];
    double high = a->high[i] < b->high[i] ? a->high[i] : b->high[i];
    if (!(high > low)) {
      return false;
    }
    common *= high - low;
  }
  double area_a = area(a), area_b = area(b), all = area_a + area_b - common;
  return common > 0 && area_a > 0 && area_b > 0 && all > 0 && common / all > threshold;
}

/* A group a pair of batch and class: candidates one after the other, each held against all that are kept, whose numbers
 * are written to kept_at; how many there are to counts_at. */
__kernel void keep_boxes(__global const STORAGE(A) *boxes, long boxes0, nd4c_box_steps steps, long count, long classes,
                         __global const STORAGE(C) *threshold, long threshold0, int has_threshold,
                         __global const int *most, long most0, int wide, int has_most, __global ulong *words,
                         long keys_at, long order_at, long kept_at, long counts_at) {
  __local int taken;
  long pair = get_group_id(0), item = get_local_id(0), first = pair * count, kept = 0;
  long from = boxes0 + pair / classes * steps.batch;
  long limit = has_most ? index_at(most, most0, wide) : LONG_MAX;
  double iou = has_threshold ? CONVERT(TYPE_C, float64, LOAD(C, threshold, threshold0)) : 0;
  for (long i = 0; i < count && kept < limit && words[keys_at + first + i] != NO_CANDIDATE; i++) {
    long number = found_place(UINTS(order_at)[first + i], count);
    edges own = load_box(boxes, from + number * steps.box, &steps);
    if (item == 0) {
      taken = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (long k = item; k < kept; k += get_local_size(0)) {
      edges other = load_box(boxes, from + UINTS(kept_at)[first + k] * steps.box, &steps);
      if (overlaps(&own, &other, iou)) {
        atomic_or(&taken, 1);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    bool free_of_others = taken == 0;
    if (free_of_others && item == 0) {
      UINTS(kept_at)[first + kept] = number;
    }
    kept += free_of_others;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  if (item == 0) {
    words[counts_at + pair] = kept;
  }
}

/* Rows [batch, class, box], for which y has room for `rows`; starts: rows before each pair's, and all of them. */
__kernel void write_boxes(__global const ulong *words, long kept_at, long starts_at, long count, long classes,
                          long rows, __global long *y, long y0, long items) {
  WITHIN(items)
  long pair = get_global_id(0) / count, k = get_global_id(0) - pair * count, row = words[starts_at + pair] + k;
  if (row >= 0 && row < min((long)words[starts_at + pair + 1], rows)) {
    y[y0 + 3 * row] = pair / classes;
    y[y0 + 3 * row + 1] = pair % classes;
    y[y0 + 3 * row + 2] = ((__global const uint *)(words + kept_at))[pair * count + k];
  }
}
#else
/* -- regions of interest: TYPE_A of x, TYPE_B of rois, TYPE_Y ---------------------------------------------------------------- */

/* x and y [n, c, h, w]; steps of rois. */
typedef struct {
  long x_shape[4], x_strides[4], y_shape[4], y_strides[4], rois_strides[2];
  long sampling_ratio, most_samples, images_step;
  int wide, maximum, half_pixel, unused;
} nd4c_rois;

static inline double roi_number(__global const STORAGE(B) *rois, long rois0, const nd4c_rois *r, long roi, int column) {
  return CONVERT(TYPE_B, float64, LOAD(B, rois, rois0 + roi * r->rois_strides[0] + column * r->rois_strides[1]));
}

/* A roi along one axis (0 rows, 1 columns): where it begins, the length of a bin, samples a bin. */
typedef struct {
  double start, bin;
  long samples;
} span;

static inline span find_span(__global const STORAGE(B) *rois, long rois0, const nd4c_rois *r, double scale, long roi,
                             int axis) {
  double shift = r->half_pixel ? 0.5 : 0;
  double start = roi_number(rois, rois0, r, roi, 1 - axis) * scale - shift;
  double length = roi_number(rois, rois0, r, roi, 3 - axis) * scale - shift - start;
  if (!r->half_pixel && length < 1) {
    length = 1; /* a malformed roi is one cell */
  }
  span result = {start, length / (double)r->y_shape[2 + axis], r->sampling_ratio};
  if (result.samples == 0) {
    double wanted = ceil(result.bin);
    result.samples = wanted <= 0 ? 0 : wanted <= (double)r->most_samples ? (long)wanted : -1;
  }
  if (!isfinite(start) || !isfinite(length)) {
    result.samples = -1;
  }
  return result;
}

/* verdict: the first roi of an image that is not there; the first that is no box. Both are the largest before. */
__kernel void judge_rois(__global const STORAGE(B) *rois, long rois0, __global const int *images, long images0,
                         nd4c_rois r, double scale, __global uint *verdict, long items) {
  ITEM(roi, items)
  long image = index_at(images, images0 + roi * r.images_step, r.wide);
  if (image < 0 || image >= r.x_shape[0]) {
    atomic_min(&verdict[0], (uint)roi);
  }
  if (find_span(rois, rois0, &r, scale, roi, 0).samples < 0 || find_span(rois, rois0, &r, scale, roi, 1).samples < 0) {
    atomic_min(&verdict[1], (uint)roi);
  }
}

/* The two cells around a place on one axis, and the weight of the second; false outside. */
static inline bool find_cells(double place, long extent, long *low, long *high, double *weight) {
  if (!(place >= -1 && place <= (double)extent)) {
    return false;
  }
  place = place > 0 ? place : 0;
  *low = (long)place;
  *high = *low + 1;
  if (*low >= extent - 1) {
    *low = *high = extent - 1;
    place = (double)*low;
  }
  *weight = place - (double)*low;
  return true;
}

/* One sample: bilinear, or the largest of the four weighted cells. */
static inline double sample(__global const STORAGE(A) *x, long base, const nd4c_rois *r, double row, double column) {
  long at[2][2];
  double down = 0, right = 0, sum = 0, best = -INFINITY;
  if (!find_cells(row, r->x_shape[2], &at[0][0], &at[0][1], &down) ||
      !find_cells(column, r->x_shape[3], &at[1][0], &at[1][1], &right)) {
    return 0;
  }
  for (int corner = 0; corner < 4; corner++) {
    double weight = (corner & 2 ? down : 1 - down) * (corner & 1 ? right : 1 - right);
    long place = base + at[0][corner >> 1] * r->x_strides[2] + at[1][corner & 1] * r->x_strides[3];
    double value = weight * CONVERT(TYPE_A, float64, LOAD(A, x, place));
    sum += value;
    best = isnan(best) || value <= best ? best : value;
  }
  return r->maximum ? best : sum;
}

/* Splits the number of an element of y; its place. */
static inline long split_element(const nd4c_rois *r, long number, long *at) {
  long place = 0;
  for (int axis = 3; axis >= 0; axis--) {
    long next = number / r->y_shape[axis];
    at[axis] = number - next * r->y_shape[axis];
    place += at[axis] * r->y_strides[axis];
    number = next;
  }
  return place;
}

__kernel void align_rois(__global const STORAGE(A) *x, long x0, __global const STORAGE(B) *rois, long rois0,
                         __global const int *images, long images0, __global STORAGE(Y) *y, long y0, nd4c_rois r,
                         double scale, long items) {
  WITHIN(items)
  long at[4], place = split_element(&r, get_global_id(0), at);
  long image = clamp(index_at(images, images0 + at[0] * r.images_step, r.wide), (long)0, r.x_shape[0] - 1);
  long base = x0 + image * r.x_strides[0] + at[1] * r.x_strides[1];
  span rows = find_span(rois, rois0, &r, scale, at[0], 0), columns = find_span(rois, rois0, &r, scale, at[0], 1);
  double sum = 0, best = 0;
  for (long p = 0; p < rows.samples; p++) {
    double row = rows.start + (double)at[2] * rows.bin + ((double)p + 0.5) * rows.bin / (double)rows.samples;
    for (long q = 0; q < columns.samples; q++) {
      double column =
          columns.start + (double)at[3] * columns.bin + ((double)q + 0.5) * columns.bin / (double)columns.samples;
      double value = sample(x, base, &r, row, column);
      sum += value;
      best = (p == 0 && q == 0) || (!isnan(best) && !(value <= best)) ? value : best;
    }
  }
  double count = (double)rows.samples * (double)columns.samples;
  SAVE(Y, y, y0 + place, CONVERT_LETTER(D, TYPE_Y, r.maximum ? best : sum / (count > 1 ? count : 1)));
}

/* Cells [*begin, *end) of bin `bin` along an axis: the bins of a rounded roi may share cells. */
static inline void bin_cells(__global const STORAGE(B) *rois, long rois0, const nd4c_rois *r, double scale, long roi,
                             int axis, long bin, long *begin, long *end) {
  double extent = (double)r->x_shape[2 + axis];
  double start = round(roi_number(rois, rois0, r, roi, 2 - axis) * scale);
  double last = round(roi_number(rois, rois0, r, roi, 4 - axis) * scale);
  double length = last - start + 1 > 1 ? last - start + 1 : 1;
  double step = length / (double)r->y_shape[2 + axis];
  double low = floor((double)bin * step) + start, high = ceil((double)(bin + 1) * step) + start;
  *begin = !(low > 0) ? 0 : low < extent ? (long)low : r->x_shape[2 + axis];
  *end = !(high > 0) ? 0 : high < extent ? (long)high : r->x_shape[2 + axis];
}

/* The first number of a roi is its image's: judged, but not relied on, like those of align_rois. */
__kernel void pool_rois(__global const STORAGE(A) *x, long x0, __global const STORAGE(B) *rois, long rois0,
                        __global STORAGE(Y) *y, long y0, nd4c_rois r, double scale, long items) {
  WITHIN(items)
  long at[4], top, bottom, left, right, place = split_element(&r, get_global_id(0), at);
  bin_cells(rois, rois0, &r, scale, at[0], 0, at[2], &top, &bottom);
  bin_cells(rois, rois0, &r, scale, at[0], 1, at[3], &left, &right);
  long image = clamp((long)roi_number(rois, rois0, &r, at[0], 0), (long)0, r.x_shape[0] - 1);
  long base = x0 + image * r.x_strides[0] + at[1] * r.x_strides[1];
  double best = top < bottom && left < right ? -INFINITY : 0;
  for (long i = top; i < bottom; i++) {
    for (long j = left; j < right; j++) {
      double value = CONVERT(TYPE_A, float64, LOAD(A, x, base + i * r.x_strides[2] + j * r.x_strides[3]));
      best = isnan(best) || value <= best ? best : value;
    }
  }
  SAVE(Y, y, y0 + place, CONVERT_LETTER(D, TYPE_Y, best));
}
#endif
#endif
