/* Non-maximum suppression of engine simd: candidates are keys with indices, sorted only as far as boxes are still
 * wanted; the boxes that were kept lie side by side, rounded outwards to float32, and only those that may overlap a
 * candidate are compared in float64, as the reference does. Classes and images are shared among the workers.
 * dispatch/choice.c asks this kernel before the reference's. */
#include <float.h>
#include <math.h>

#include "backends/cpu/reference/reference.h"
#include "backends/cpu/simd/sorting/sorting_words.h"
#include "kernels/reference/image/image.h"

enum { BLOCK = 1024, LANES = ND4C_BOXES_LANES, ALIGNMENT = ND4C_CPU_CACHE_LINE, PIECE_SCORES = 4096 };

typedef struct nms_job {
  const nd4c_tensor *boxes, *scores;
  nd4c_ref_tensor box_values;
  const nd4c_sort_dtype *dtype;
  int64_t count, bytes; /* boxes of an image; of a score */
  uint64_t bound;       /* the largest key of a score that counts: keys fall as scores rise */
  bool center_point_box;
  double threshold;      /* of an overlap */
  float factor;          /* 1 + threshold, rounded up */
  int64_t most;          /* boxes kept of a class */
  int64_t *rows, *found; /* `most` rows a class of an image, and how many of them were used */
  char *memory;
  int64_t worker_bytes;
} nms_job;

/* Where one worker computes one class of an image. */
typedef struct nms_memory {
  uint64_t *words; /* candidates */
  uint64_t *more[3];
  nd4c_box_lanes *lanes; /* the boxes kept that can overlap others */
  nd4c_ref_edges *edges;
} nms_memory;

static int64_t aligned(int64_t bytes) {
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int64_t word_bytes(int64_t count) {
  return aligned((count + ND4C_SORT_FILTER_ROOM) * (int64_t)sizeof(uint64_t));
}

/* Lists of words beside the candidates: what sorts them; indices, scores and their order for keys of 64 bits. */
static int32_t list_count(const nd4c_sort_dtype *dtype) {
  return dtype->wide ? 3 : nd4c_simd.sort->needs_work;
}

static int64_t lane_bytes(int64_t count) {
  return nd4c_cpu_divide_up(count, LANES) * (int64_t)sizeof(nd4c_box_lanes);
}

static int64_t worker_bytes(const nd4c_sort_dtype *dtype, int64_t count) {
  return (1 + list_count(dtype)) * word_bytes(count) + lane_bytes(count) +
         aligned(count * (int64_t)sizeof(nd4c_ref_edges));
}

static nms_memory memory_of(const nms_job *j, int32_t worker) {
  char *at = j->memory + worker * j->worker_bytes;
  nms_memory m = {.words = (uint64_t *)(void *)at};
  at += word_bytes(j->count);
  for (int32_t i = 0; i < list_count(j->dtype); i++) {
    m.more[i] = (uint64_t *)(void *)at;
    at += word_bytes(j->count);
  }
  m.lanes = (nd4c_box_lanes *)(void *)at;
  m.edges = (nd4c_ref_edges *)(void *)(at + lane_bytes(j->count));
  return m;
}

/* -- candidates --------------------------------------------------------------------------------------------------- */

/* The largest key of scores above the threshold, in the order that falls; false: there are none. */
static bool find_bound(const nd4c_sort_dtype *dtype, nd4c_dtype of, double threshold, uint64_t *bound) {
  union {
    uint64_t bits;
    char bytes[sizeof(uint64_t)];
  } nearest = {0};
  uint64_t wide = 0;
  uint32_t narrow = 0;
  nd4c_value_store(of, nearest.bytes, 0, (nd4c_value){.f = threshold});
  (void)dtype->keys(1, nearest.bytes, dtype->flip, dtype->wide ? (void *)&wide : (void *)&narrow);
  *bound = dtype->wide ? wide : narrow;
  if (!(nd4c_value_load(of, nearest.bytes, 0).f > threshold)) {
    if (isnan(threshold) || *bound == 0) {
      return false;
    }
    (*bound)--;
  }
  return true;
}

/* `n` scores from `first` on, contiguous: as they are, or copied to `line`. */
static const char *scores_of(const nms_job *j, const char *scores, int64_t first, int64_t n, void *line) {
  const int64_t stride = j->scores->strides[2];
  if (stride == 1) {
    return scores + first * j->bytes;
  }
  nd4c_simd.move->move[j->bytes](1, n, scores + first * stride * j->bytes, 0, stride, line, 0, 1);
  return line;
}

/* Candidates of float64: indices first, then their scores, which are sorted. */
static nd4c_status sort_wide(const nms_job *j, const char *scores, const nms_memory *m, int64_t *count) {
  const int64_t stride = j->scores->strides[2];
  uint64_t line[BLOCK], keys[BLOCK], *indices = m->more[0];
  double *values = (double *)(void *)m->more[1];
  int64_t all = 0, kept = 0;
  for (int64_t i = 0; i < j->count; i += BLOCK) {
    const int64_t n = j->count - i < BLOCK ? j->count - i : BLOCK;
    (void)j->dtype->keys(n, scores_of(j, scores, i, n, line), j->dtype->flip, keys);
    (void)nd4c_simd.sort->filter_wide(n, keys, i, j->bound, (int64_t *)indices, j->count + ND4C_SORT_FILTER_ROOM, &all);
  }
  for (int64_t i = 0; i < all; i++) {
    const double score = ((const double *)(const void *)scores)[(int64_t)indices[i] * stride];
    indices[kept] = indices[i];
    values[kept] = score;
    kept += !isnan(score);
  }
  *count = kept;
  if (kept == 0) {
    return ND4C_OK;
  }
  nd4c_order_line order = {.dtype = j->dtype, .x = (const char *)values, .bytes = j->bytes, .flip = j->dtype->flip};
  ND4C_BACKEND_TRY(nd4c_order_sort(&order, kept, kept, 1, m->more[2], (int64_t *)m->words));
  for (int64_t i = 0; i < kept; i++) {
    m->words[i] = indices[m->words[i]];
  }
  return ND4C_OK;
}

/* Candidates of up to 32 bits: words of key and index, not yet sorted. */
static int64_t collect(const nms_job *j, const char *scores, uint64_t *words) {
  uint32_t line[BLOCK], keys[BLOCK], special = 0;
  int64_t count = 0, kept = 0;
  for (int64_t i = 0; i < j->count; i += BLOCK) {
    const int64_t n = j->count - i < BLOCK ? j->count - i : BLOCK;
    special |= j->dtype->keys(n, scores_of(j, scores, i, n, line), j->dtype->flip, keys);
    (void)nd4c_simd.sort->filter(n, keys, i, (uint32_t)j->bound, words, j->count + ND4C_SORT_FILTER_ROOM, &count);
  }
  if ((special & ND4C_SORT_NAN) == 0) {
    return count;
  }
  for (int64_t i = 0; i < count; i++) { /* NaN has the largest key, which the falling order makes 0 */
    words[kept] = words[i];
    kept += words[i] >> 32 != 0;
  }
  return kept;
}

/* Sorts more of `count` words, of which `sorted` are in place. Returns how many then are. */
static int64_t sort_more(const nms_job *j, const nms_memory *m, int64_t count, int64_t sorted) {
  int64_t next = sorted > 0 ? 4 * sorted : j->most < count / 8 ? 2 * j->most + 64 : count;
  if (next > count / 2 || nd4c_simd.sort->needs_work) { /* the sort that needs memory sorts all or nothing */
    next = count;
  }
  nd4c_simd.sort->words[1].sort(m->words + sorted, count - sorted, 0, next - sorted, m->more[0]);
  return next;
}

/* -- boxes -------------------------------------------------------------------------------------------------------- */

/* The number below, of which nextafterf would be a call. */
static float number_below(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = x > 0 ? bits - 1 : x < 0 ? bits + 1 : UINT32_C(0x80000001);
  memcpy(&x, &bits, sizeof x);
  return x;
}

static float rounded_down(double x) {
  const float nearest = (float)x;
  return (double)nearest > x ? number_below(nearest) : nearest;
}

static float rounded_up(double x) {
  return -rounded_down(-x);
}

/* The reference compares common / (a + b - common) with the threshold, in float64. A box is passed over only if
 * common * (1 + threshold) < threshold * a + threshold * b holds in float32 by far more than all the roundings: a
 * millionth of each share, and what is lost of products below the smallest normal number. */
static nd4c_box_wide wide_box(const nms_job *j, const nd4c_ref_edges *edges, double area) {
  nd4c_box_wide box;
  const double share = j->threshold * area * (1 - 1e-6) - 4 * (double)FLT_MIN;
  for (int i = 0; i < 2; i++) {
    box.low[i] = rounded_down(edges->low[i]);
    box.high[i] = rounded_up(edges->high[i]);
  }
  box.share = j->threshold > 0 ? rounded_down(share) : -INFINITY;
  return box;
}

static nd4c_ref_edges edges_of(const nms_job *j, int64_t image, int64_t box) {
  const nd4c_tensor *t = j->boxes;
  const int64_t at = image * t->strides[0] + box * t->strides[1], step = t->strides[2];
  double number[4];
  for (int k = 0; k < 4; k++) {
    number[k] = t->dtype == ND4C_FLOAT32 ? (double)((const float *)t->data)[at + k * step]
                                         : nd4c_ref_load(&j->box_values, at + k * step);
  }
  return nd4c_ref_box_edges(number, j->center_point_box);
}

static bool overlaps_any(const nms_job *j, const nms_memory *m, int64_t kept, const nd4c_ref_edges *edges,
                         const nd4c_box_wide *box) {
  const int64_t blocks = nd4c_cpu_divide_up(kept, LANES);
  uint32_t lanes = 0;
  for (int64_t block = 0;; block++) {
    block = nd4c_simd.boxes->find(block, blocks, m->lanes, box, j->factor, &lanes);
    if (block >= blocks) {
      return false;
    }
    for (int lane = 0; lane < LANES; lane++) {
      if ((lanes >> lane & 1) != 0 && nd4c_ref_boxes_overlap(edges, &m->edges[block * LANES + lane], j->threshold)) {
        return true;
      }
    }
  }
}

static void keep(const nms_memory *m, int64_t kept, const nd4c_ref_edges *edges, const nd4c_box_wide *box) {
  nd4c_box_lanes *block = &m->lanes[kept / LANES];
  const int64_t at = kept % LANES;
  for (int64_t lane = at; at == 0 && lane < LANES; lane++) {
    for (int i = 0; i < 2; i++) {
      block->low[i][lane] = INFINITY;
      block->high[i][lane] = -INFINITY;
    }
    block->share[lane] = 0;
  }
  for (int i = 0; i < 2; i++) {
    block->low[i][at] = box->low[i];
    block->high[i][at] = box->high[i];
  }
  block->share[at] = box->share;
  m->edges[kept] = *edges;
}

/* -- classes ------------------------------------------------------------------------------------------------------ */

static nd4c_status choose(const nms_job *j, int64_t pair, const nms_memory *m, int64_t *found) {
  const int64_t classes = j->scores->shape[1], image = pair / classes, class = pair % classes;
  const char *scores =
      (const char *)j->scores->data + (image * j->scores->strides[0] + class * j->scores->strides[1]) * j->bytes;
  int64_t count = 0, sorted = 0, taken = 0, kept = 0, *rows = j->rows + 3 * pair * j->most;
  if (j->dtype->wide) {
    ND4C_BACKEND_TRY(sort_wide(j, scores, m, &count));
    sorted = count;
  } else {
    count = collect(j, scores, m->words);
  }
  for (int64_t i = 0; i < count && taken < j->most; i++) {
    if (i == sorted) {
      sorted = sort_more(j, m, count, sorted);
    }
    const int64_t number = (int64_t)(m->words[i] & UINT32_MAX);
    const nd4c_ref_edges edges = edges_of(j, image, number);
    const double area = nd4c_ref_box_area(&edges);
    if (area > 0) { /* other boxes overlap nothing, nor does a NaN */
      const nd4c_box_wide box = wide_box(j, &edges, area);
      if (overlaps_any(j, m, kept, &edges, &box)) {
        continue;
      }
      keep(m, kept++, &edges, &box);
    }
    memcpy(rows + 3 * taken++, (const int64_t[]){image, class, number}, 3 * sizeof *rows);
  }
  *found = taken;
  return ND4C_OK;
}

static void choose_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const nms_job *j = user;
  const nms_memory m = memory_of(j, worker);
  for (int64_t pair = begin; pair < end; pair++) {
    if (choose(j, pair, &m, &j->found[pair]) != ND4C_OK) {
      j->found[pair] = -1;
    }
  }
}

static int64_t scratch_bytes(const nd4c_call *call) {
  const nd4c_tensor *scores = &call->inputs[ND4C_IN_nms_scores];
  return aligned(scores->shape[0] * scores->shape[1] * (int64_t)sizeof(int64_t)) +
         worker_bytes(&nd4c_simd.sort->dtypes[scores->dtype], scores->shape[2]) * (call->width > 1 ? call->width : 1);
}

/* Closes up the rows of all classes; returns how many there are, or -1 for a class without memory. */
static int64_t close_up(const nms_job *j, int64_t pairs) {
  int64_t total = 0;
  for (int64_t pair = 0; pair < pairs; pair++) {
    if (j->found[pair] < 0) {
      return -1;
    }
    memmove(j->rows + 3 * total, j->rows + 3 * pair * j->most, (size_t)(3 * j->found[pair]) * sizeof *j->rows);
    total += j->found[pair];
  }
  return total;
}

static bool usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *scores = &call->inputs[ND4C_IN_nms_scores];
  ND4C_CPU_DECLINE_IF((ND4C_DTYPE_BIT(scores->dtype) & ND4C_CPU_FLOATS) == 0, "scores of another dtype");
  ND4C_CPU_DECLINE_IF(scores->shape[2] > INT32_MAX, "2^31 boxes or more");
  return true;
}

static bool read(const nd4c_call *call, nms_job *j) {
  const nd4c_ref_tensor most = nd4c_cpu_ref_input(call, ND4C_IN_nms_max_output);
  const nd4c_ref_tensor overlap = nd4c_cpu_ref_input(call, ND4C_IN_nms_iou_threshold);
  const nd4c_ref_tensor least = nd4c_cpu_ref_input(call, ND4C_IN_nms_score_threshold);
  j->boxes = &call->inputs[0];
  j->scores = &call->inputs[ND4C_IN_nms_scores];
  j->box_values = nd4c_cpu_ref_tensor(j->boxes);
  j->dtype = &nd4c_simd.sort->dtypes[j->scores->dtype];
  j->bytes = nd4c_cpu_dtype_bytes(j->scores->dtype);
  j->count = j->scores->shape[2];
  j->center_point_box = ND4C_FLAG_OF(call, nms_center_point_box);
  j->threshold = overlap.data != NULL ? nd4c_ref_load(&overlap, 0) : 0;
  if (!(j->threshold < 2)) { /* nothing overlaps by more than 1, nor by more than NaN */
    j->threshold = 2;
  }
  j->factor = rounded_up(1 + j->threshold);
  j->most = most.data != NULL ? nd4c_value_load(most.dtype, most.data, 0).i : INT64_MAX;
  j->most = j->most < j->count ? j->most : j->count;
  j->bound = j->dtype->flip;
  return j->most > 0 &&
         (least.data == NULL || find_bound(j->dtype, j->scores->dtype, nd4c_ref_load(&least, 0), &j->bound));
}

static nd4c_status run(const nd4c_call *call) {
  nms_job j = {.rows = call->outputs[0].data, .found = call->scratch};
  const bool any = read(call, &j);
  const int64_t pairs = any ? j.scores->shape[0] * j.scores->shape[1] : 0;
  j.memory = (char *)call->scratch + aligned(pairs * (int64_t)sizeof *j.found);
  j.worker_bytes = worker_bytes(j.dtype, j.count);
  if (pairs > 0) {
    nd4c_cpu_parallel(pairs, PIECE_SCORES / j.count + 1, call->width, choose_range, &j);
  }
  const int64_t total = close_up(&j, pairs);
  ND4C_CPU_FAIL_IF(total < 0, ND4C_MEMORY, "nms: no memory to sort %lld scores", (long long)j.count);
  call->true_shapes[0][0] = total;
  call->true_shapes[0][1] = 3;
  return ND4C_OK;
}

const nd4c_kernel *const nd4c_cpu_simd_image_boxes_kernels[] = {
    ND4C_CPU_SIMD_KERNEL(nms, ND4C_CPU_FLOATS, usable, run, .scratch_bytes = scratch_bytes), NULL};
