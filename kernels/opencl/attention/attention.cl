/* Attention: a group computes one query of one head, keys in blocks of as many as it has work items, with the largest
 * score and the sum of exponentials so far (online softmax). Also rotary embeddings, caches, and sums of rows of
 * tables. families/attention.c launches these. ATTEND and BAG come behind real.cl. */

#ifdef ATTEND
/* Strides by batch, head, place and feature. The same struct as nd4c_cl_attend_sizes. */
typedef struct {
  long batch, q_heads, kv_heads, queries, keys, head, v_head, past, frontier; /* frontier -1: from the key lengths */
  long left, right, mask_keys;
  long q[4], k[4], v[4], y[4], past_key[4], past_value[4], mask[4], scores[4];
  long lengths;
} sizes;

/* Beside a mask's number a score counts as far as double keeps it: keys that all have the least float weigh the same. */
#ifdef PAIRS
static inline REAL masked(REAL score, float bias) {
  return fabs(score.x) < fabs(bias) * 0x1p-54f ? R(bias) : r_add(score, R(bias));
}
#else
#define masked(score, bias) ((score) + R(bias))
#endif

__kernel void attend(sizes s, __global const STORAGE(A) *q, long q0, __global const STORAGE(B) *k, long k0,
                     __global const STORAGE(C) *v, long v0, __global const STORAGE(B) *past_key, long past_key0,
                     __global const STORAGE(C) *past_value, long past_value0, __global const STORAGE(D) *mask,
                     long mask0, __global const STORAGE(E) *lengths, long lengths0, __global STORAGE(Y) *y, long y0,
                     __global STORAGE(Y) *scores, long scores0, int has_mask, int has_lengths, int is_causal,
                     int scores_mode, REAL scale, REAL softcap, __local REAL *shared, __local REAL *shares,
                     __global int *fault) {
  int lane = get_local_id(0), lanes = get_local_size(0);
  long number = get_group_id(0), query = number % s.queries, head = number / s.queries % s.q_heads;
  long batch = number / s.queries / s.q_heads, kv = head / (s.q_heads / s.kv_heads), length = s.keys;
  if (has_lengths) {
    length = (long)LOAD(E, lengths, lengths0 + batch * s.lengths);
    if (length < 0 || length > s.keys) {
      if (lane == 0) nd4c_fault_index(fault, length, s.keys + 1);
      length = 0;
    }
  }
  long own = query + (s.frontier >= 0 ? s.frontier : length - s.queries);
  q0 += batch * s.q[0] + head * s.q[1] + query * s.q[2];
  k0 += batch * s.k[0] + kv * s.k[1];
  v0 += batch * s.v[0] + kv * s.v[1];
  past_key0 += batch * s.past_key[0] + kv * s.past_key[1];
  past_value0 += batch * s.past_value[0] + kv * s.past_value[1];
  mask0 += batch * s.mask[0] + head * s.mask[1] + query * s.mask[2];
  scores0 += batch * s.scores[0] + head * s.scores[1] + query * s.scores[2];
  REAL largest = R(-INFINITY), sum = R(0), result[RESULTS];
  for (int i = 0; i < RESULTS; i++) result[i] = R(0);
  /* The second pass writes the shares, which want the whole sum. */
  for (int pass = 0; pass < (scores_mode == 3 ? 2 : 1); pass++) {
    for (long first = 0; first < s.keys; first += lanes) {
      long key = first + lane;
      REAL score = R(0), capped, total = R(-INFINITY);
      if (key < s.keys) {
        for (long i = 0; i < s.head; i++) {
          COMPUTE(B) other = key < s.past ? LOAD(B, past_key, past_key0 + key * s.past_key[2] + i * s.past_key[3])
                                         : LOAD(B, k, k0 + (key - s.past) * s.k[2] + i * s.k[3]);
          score = r_take_product(score, LOAD(A, q, q0 + i * s.q[3]), other);
        }
        score = r_mul(r_sum(score), scale);
        capped = r_less(R(0), softcap) ? r_mul(softcap, r_tanh(r_div(score, softcap))) : score;
        bool out = key >= length || (is_causal && key > own) || (s.left >= 0 && key < own - s.left) ||
                   (s.right >= 0 && key - own > s.right) || (has_mask && key >= s.mask_keys);
        if (!out && has_mask) {
          COMPUTE(D) bias = LOAD(D, mask, mask0 + key * s.mask[3]);
#ifdef BOOL_MASK
          out = bias == 0;
          total = capped;
#else
          out = bias == -INFINITY;
          total = masked(capped, bias);
#endif
        } else {
          total = capped;
        }
        total = out ? R(-INFINITY) : total;
        if (scores_mode >= 0 && scores_mode < 3)
          SAVE(Y, scores, scores0 + key * s.scores[3],
                 R_ROUND(Y, scores_mode == 0 ? score : scores_mode == 1 ? capped : total));
      }
      if (pass == 1) {
        REAL share = r_is(largest, -INFINITY) ? R(0) : r_div(r_exp(r_sub(total, largest)), sum);
        if (key < s.keys) SAVE(Y, scores, scores0 + key * s.scores[3], R_ROUND(Y, share));
        continue;
      }
      REAL next = share_largest(total, lane, lanes, 1, shared);
      next = r_isnan(largest) || r_at_most(next, largest) ? largest : next;
      REAL share = r_is(next, -INFINITY) || key >= s.keys ? R(0) : r_exp(r_sub(total, next));
      REAL shrink = r_is(largest, -INFINITY) ? R(0) : r_exp(r_sub(largest, next));
      largest = next;
      shares[lane] = share;
      sum = r_add(r_mul(sum, shrink), share_sum(share, lane, lanes, 1, shared));
      int block = s.keys - first < lanes ? (int)(s.keys - first) : lanes;
      for (int i = 0; i < RESULTS; i++) {
        long feature = lane + (long)i * lanes;
        if (feature >= s.v_head) continue;
        result[i] = r_mul(result[i], shrink);
        for (int j = 0; j < block; j++) {
          long at = first + j;
          if (r_is(shares[j], 0)) continue;
          COMPUTE(C) value = at < s.past
                                ? LOAD(C, past_value, past_value0 + at * s.past_value[2] + feature * s.past_value[3])
                                : LOAD(C, v, v0 + (at - s.past) * s.v[2] + feature * s.v[3]);
          result[i] = r_take_scaled(result[i], shares[j], value);
        }
        result[i] = r_sum(result[i]);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  for (int i = 0; i < RESULTS; i++) {
    long feature = lane + (long)i * lanes;
    if (feature < s.v_head)
      SAVE(Y, y, y0 + batch * s.y[0] + head * s.y[1] + query * s.y[2] + feature * s.y[3],
             R_ROUND(Y, r_is(largest, -INFINITY) ? R(0) : r_div(result[i], sum)));
  }
}
#endif

#ifdef PRESENT
/* The past keys or values, then the new ones: a work item per element of [n, heads, places, head]. */
__kernel void present(long count, long heads, long places, long head, long past, __global const STORAGE(B) *x, long x0,
                      long x_batch, long x_head, long x_place, long x_step, __global const STORAGE(B) *old, long old0,
                      long old_batch, long old_head, long old_place, long old_step, __global STORAGE(B) *y, long y0,
                      long y_batch, long y_head, long y_place, long y_step) {
  ITEM(i, count)
  long feature = i % head, place = i / head % places, of = i / head / places % heads, n = i / head / places / heads;
  long from = old0 + n * old_batch + of * old_head + place * old_place + feature * old_step;
  if (place < past)
    SAVE(B, y, y0 + n * y_batch + of * y_head + place * y_place + feature * y_step, LOAD(B, old, from));
  else
    SAVE(B, y, y0 + n * y_batch + of * y_head + place * y_place + feature * y_step,
           LOAD(B, x, x0 + n * x_batch + of * x_head + (place - past) * x_place + feature * x_step));
}
#endif

#ifdef ROTARY
__kernel void rotary(long count, long heads, long length, long head, long pairs, int interleaved, long positions,
                     __global const STORAGE(A) *x, long x0, long x_batch, long x_head, long x_place, long x_step,
                     __global const STORAGE(B) *cosine, long cosine0, long cosine_batch, long cosine_place,
                     long cosine_step, __global const STORAGE(C) *sine, long sine0, long sine_batch, long sine_place,
                     long sine_step, __global const STORAGE(D) *ids, long ids0, long ids_batch, long ids_place,
                     int has_ids, __global STORAGE(Y) *y, long y0, long y_batch, long y_head, long y_place, long y_step,
                     __global int *fault) {
  ITEM(i, count)
  long feature = i % head, place = i / head % length, of = i / head / length % heads, n = i / head / length / heads;
  long from = x0 + n * x_batch + of * x_head + place * x_place;
  REAL value = (REAL)LOAD(A, x, from + feature * x_step);
  if (feature < 2 * pairs) {
    long pair = interleaved ? feature / 2 : feature % pairs;
    bool second = interleaved ? feature % 2 == 1 : feature >= pairs;
    long other = interleaved ? (second ? feature - 1 : feature + 1) : (second ? feature - pairs : feature + pairs);
    long row = place;
    if (has_ids) {
      row = (long)LOAD(D, ids, ids0 + n * ids_batch + place * ids_place);
      if (row < 0 || row >= positions) {
        nd4c_fault_index(fault, row, positions);
        return;
      }
    }
    REAL c = (REAL)LOAD(B, cosine, cosine0 + n * cosine_batch + row * cosine_place + pair * cosine_step);
    REAL t = (REAL)LOAD(C, sine, sine0 + n * sine_batch + row * sine_place + pair * sine_step);
    REAL partner = (REAL)LOAD(A, x, from + other * x_step);
    value = second ? t * partner + c * value : c * value - t * partner;
  }
  SAVE(Y, y, y0 + n * y_batch + of * y_head + place * y_place + feature * y_step, ROUND(Y, value));
}
#endif

#ifdef BAG
/* A work item one feature of one bag. Index i of all stands at i / each, i % each. */
__kernel void bag(long bags, long features, long count, long each, long rows, int mode, long padding,
                  __global const STORAGE(A) *table, long table0, long row_step, long feature_step,
                  __global const STORAGE(B) *indices, long indices0, long index_row, long index_step,
                  __global const STORAGE(C) *offsets, long offsets0, long offset_step, int has_offsets,
                  __global const STORAGE(D) *weights, long weights0, long weight_row, long weight_step, int has_weights,
                  __global STORAGE(Y) *y, long y0, long y_row, long y_step, __global int *fault) {
  ITEM(number, bags * features)
  long bag = number / features, feature = number % features, first = bag * each, last = first + each, taken = 0;
  if (has_offsets) {
    long least = bag > 0 ? (long)LOAD(C, offsets, offsets0 + (bag - 1) * offset_step) : 0;
    first = (long)LOAD(C, offsets, offsets0 + bag * offset_step);
    last = bag + 1 < bags ? (long)LOAD(C, offsets, offsets0 + (bag + 1) * offset_step) : count;
    if (first < least || first > count || first < 0 || last > count) {
      nd4c_fault_index(fault, first < least || first > count ? first : last, count + 1);
      return;
    }
  }
  REAL value = R(0);
  for (long i = first; i < last; i++) {
    long at = (long)LOAD(B, indices, indices0 + i / each * index_row + i % each * index_step);
    if (at < 0 || at >= rows) {
      nd4c_fault_index(fault, at, rows);
      return;
    }
    if (at == padding) continue;
    COMPUTE(A) x = LOAD(A, table, table0 + at * row_step + feature * feature_step);
    COMPUTE(D) weight = has_weights ? LOAD(D, weights, weights0 + i / each * weight_row + i % each * weight_step) : 1;
    if (mode != 2)
      value = r_take_product(value, weight, x);
    else if (taken == 0 || (!r_isnan(value) && !r_at_most(R(x), value)))
      value = R(x);
    taken++;
  }
  value = r_sum(value);
  if (mode == 1 && taken > 0) value = r_div(value, r_long(taken));
  SAVE(Y, y, y0 + bag * y_row + feature * y_step, R_ROUND(Y, value));
}
#endif
