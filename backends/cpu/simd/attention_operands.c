/* Implements attention_operands.h: reads the operands and attributes of attention, and finds the keys that a query
 * takes. */
#include "backends/cpu/simd/attention_operands.h"

#include <math.h>

#include "backends/cpu/reference/reference.h"

/* Panels for each worker, so that none waits long for the last one. */
enum { PANELS_EACH = 4 };

/* -- operands --------------------------------------------------------------------------------------------------- */

static nd4c_attention_heads heads_of(const nd4c_tensor *x, int64_t head) {
  if (x->rank == 4) {
    return (nd4c_attention_heads){x->data, x->strides[0], x->strides[1], x->strides[2], x->strides[3]};
  }
  return (nd4c_attention_heads){x->data, x->strides[0], head * x->strides[2], x->strides[1], x->strides[2]};
}

/* The mask by steps over [n, heads, queries, keys]: 0 where it is broadcast. */
static nd4c_attention_heads mask_of(const nd4c_tensor *mask) {
  int64_t steps[4] = {0};
  for (int32_t axis = 0; axis < mask->rank; axis++) {
    steps[axis + 4 - mask->rank] = mask->shape[axis] == 1 ? 0 : mask->strides[axis];
  }
  return (nd4c_attention_heads){mask->data, steps[0], steps[1], steps[2], steps[3]};
}

static int64_t heads_in(const nd4c_tensor *x, int64_t given) {
  return x->rank == 4 ? x->shape[1] : given;
}

static int64_t head_size(const nd4c_tensor *x, int64_t given) {
  return x->rank == 4 ? x->shape[3] : x->shape[2] / given;
}

static int64_t places_in(const nd4c_tensor *x) {
  return x->shape[x->rank == 4 ? 2 : 1];
}

static void add_run(nd4c_attention_job *j, const nd4c_tensor *k, const nd4c_tensor *v, int64_t first) {
  nd4c_attend_panel *p = &j->start;
  nd4c_attention_heads *key = &j->k[p->runs], *value = &j->v[p->runs];
  *key = heads_of(k, p->head);
  *value = heads_of(v, p->v_head);
  p->run[p->runs++] = (nd4c_attend_run){.first = first,
                                        .count = places_in(k),
                                        .k_step = key->place,
                                        .k_feature = key->feature,
                                        .v_step = value->place,
                                        .v_feature = value->feature};
}

static void read_mask(nd4c_attention_job *j, const nd4c_tensor *mask) {
  nd4c_attend_panel *p = &j->start;
  j->mask_keys = j->keys;
  if (mask == NULL) {
    return;
  }
  int64_t last = mask->rank > 0 ? mask->shape[mask->rank - 1] : 1;
  if (last != 1 && last < j->keys) {
    j->mask_keys = last; /* the keys beyond are left out; extent 1 is broadcast */
  }
  j->mask = mask_of(mask);
  p->mask = mask->dtype == ND4C_BOOL ? ND4C_ATTEND_CHOSEN : ND4C_ATTEND_ADDED;
  p->mask_step = j->mask.feature;
  p->mask_is_shared = j->mask.place == 0 && (j->mask.head == 0 || j->q_heads == j->kv_heads);
  j->mask_bytes = mask->dtype == ND4C_BOOL ? 1 : j->bytes;
}

static nd4c_attend_storage storage_of(nd4c_dtype dtype) {
  return dtype == ND4C_BFLOAT16  ? ND4C_ATTEND_BFLOAT16
         : dtype == ND4C_FLOAT16 ? ND4C_ATTEND_FLOAT16
                                 : ND4C_ATTEND_PLAIN;
}

static const nd4c_attend_loops *loops_of(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT64 ? nd4c_simd.attention->float64 : nd4c_simd.attention->float32;
}

void nd4c_attention_divide(nd4c_attention_job *j, int64_t panel_rows) {
  const nd4c_attend_panel *p = &j->start;
  j->panel_rows = panel_rows;
  j->panels = (j->rows + panel_rows - 1) / panel_rows;
  j->buffer_bytes = (j->loops->buffer_bytes(panel_rows, p->head, p->v_head, p->storage) + 63) / 64 * 64;
}

/* Rows of a panel: the more, the more often a block of keys is used once it is in the cache, but all workers shall have
 * some panels each. */
static int64_t rows_for(const nd4c_attention_job *j, int64_t workers) {
  const int64_t lanes = j->loops->lanes, parts = (j->rows + lanes - 1) / lanes;
  int64_t together = j->batch * j->kv_heads * parts / (PANELS_EACH * workers);
  together = together < parts ? together : parts;
  together = together < ND4C_ATTEND_LANES / lanes ? together : ND4C_ATTEND_LANES / lanes;
  return (together > 1 ? together : 1) * lanes;
}

nd4c_attention_job nd4c_attention_read(const nd4c_call *call) {
  const nd4c_tensor *q = &call->inputs[0], *k = &call->inputs[1], *v = &call->inputs[2];
  const nd4c_tensor *past_key = nd4c_cpu_input(call, ND4C_IN_attention_past_key);
  const nd4c_tensor *past_value = nd4c_cpu_input(call, ND4C_IN_attention_past_value);
  int64_t given = ND4C_INT_OF(call, attention_kv_heads);
  nd4c_attention_job j = {.loops = loops_of(q->dtype),
                          .bytes = nd4c_cpu_dtype_bytes(q->dtype),
                          .batch = q->shape[0],
                          .q_heads = heads_in(q, ND4C_INT_OF(call, attention_q_heads)),
                          .kv_heads = heads_in(k, given),
                          .queries = places_in(q),
                          .past = past_key != NULL ? past_key->shape[2] : 0,
                          .is_causal = ND4C_FLAG_OF(call, attention_is_causal),
                          .left = ND4C_INT_OF(call, attention_left_window),
                          .right = ND4C_INT_OF(call, attention_right_window)};
  nd4c_attend_panel *p = &j.start;
  p->storage = storage_of(q->dtype);
  p->pairs = nd4c_simd.attention->has_pairs && nd4c_simd_multiplies_pairs && (call->flags & ND4C_CALL_REDUCED) != 0;
  p->head = head_size(q, ND4C_INT_OF(call, attention_q_heads));
  p->v_head = head_size(v, given);
  p->scale = ND4C_REAL_OF(call, attention_scale);
  p->scale = p->scale == 0 ? 1 / sqrt((double)p->head) : p->scale;
  p->softcap = ND4C_REAL_OF(call, attention_softcap);
  if (past_key != NULL) {
    add_run(&j, past_key, past_value, 0);
  }
  add_run(&j, k, v, j.past);
  j.keys = j.past + places_in(k);
  j.q = heads_of(q, p->head);
  j.y = heads_of(&call->outputs[0], p->v_head);
  j.to = call->outputs[0].data;
  p->q_feature = j.q.feature;
  p->y_feature = j.y.feature;
  read_mask(&j, nd4c_cpu_input(call, ND4C_IN_attention_mask));
  j.rows = j.q_heads / j.kv_heads * j.queries;
  p->few = j.rows <= ND4C_ATTEND_FEW;
  nd4c_attention_divide(&j, rows_for(&j, call->width > 1 ? call->width : 1));
  return j;
}

bool nd4c_attention_usable(const nd4c_call *call, char *reason, size_t reason_size) {
  const nd4c_tensor *q = &call->inputs[0], *mask = nd4c_cpu_input(call, ND4C_IN_attention_mask);
  const nd4c_tensor *lengths = nd4c_cpu_input(call, ND4C_IN_attention_key_lengths);
  ND4C_CPU_DECLINE_IF(q->size == 0 || call->inputs[1].size == 0 || call->outputs[0].size == 0, "an operand is empty");
  for (int32_t i = 1; i < call->input_count; i++) {
    const nd4c_tensor *x = nd4c_cpu_input(call, i);
    bool own = i == ND4C_IN_attention_mask || i == ND4C_IN_attention_key_lengths;
    ND4C_CPU_DECLINE_IF(x != NULL && !own && x->dtype != q->dtype, "operands have several dtypes");
  }
  ND4C_CPU_DECLINE_IF(mask != NULL && mask->dtype != ND4C_BOOL && mask->dtype != q->dtype,
                      "the mask is neither of bool nor of q's dtype");
  ND4C_CPU_DECLINE_IF(lengths != NULL && lengths->dtype != ND4C_INT64, "key_lengths is not int64");
  return true;
}

nd4c_status nd4c_attention_read_lengths(const nd4c_call *call, int64_t *lengths, nd4c_attention_job *j) {
  const nd4c_tensor *given = nd4c_cpu_input(call, ND4C_IN_attention_key_lengths);
  if (given == NULL) {
    return ND4C_OK;
  }
  for (int64_t i = 0; i < j->batch; i++) {
    lengths[i] = ((const int64_t *)given->data)[i * given->strides[0]];
    ND4C_CPU_FAIL_IF(lengths[i] < 0 || lengths[i] > j->keys, ND4C_INDEX, "%s: a key length is %lld, expected 0 to %lld",
                     call->op->name, (long long)lengths[i], (long long)j->keys);
  }
  j->lengths = lengths;
  return ND4C_OK;
}

/* -- panels ----------------------------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* The keys that one query takes, masks aside. */
static void bound(const nd4c_attention_job *j, int64_t batch, int64_t query, nd4c_attend_lane *lane) {
  int64_t length = j->lengths != NULL ? j->lengths[batch] : j->keys;
  int64_t own = query + (j->lengths != NULL ? length - j->queries : j->past);
  lane->first = j->left >= 0 && own > j->left ? own - j->left : 0;
  lane->last = least(length, j->mask_keys);
  if (j->is_causal) {
    lane->last = least(lane->last, own + 1);
  }
  if (j->right >= 0 && j->right < j->keys) {
    lane->last = least(lane->last, own + j->right + 1);
  }
}

void nd4c_attention_find_keys(const nd4c_attention_job *j, int64_t heads, nd4c_attend_panel *p) {
  const int64_t batch = heads / j->kv_heads, kv_head = heads % j->kv_heads;
  for (int64_t r = 0; r < p->runs; r++) {
    p->run[r].k = j->k[r].data + (batch * j->k[r].batch + kv_head * j->k[r].head) * j->bytes;
    p->run[r].v = j->v[r].data + (batch * j->v[r].batch + kv_head * j->v[r].head) * j->bytes;
  }
}

void nd4c_attention_find_lanes(const nd4c_attention_job *j, int64_t heads, int64_t first, int64_t count,
                               nd4c_attend_lane *lanes) {
  const int64_t batch = heads / j->kv_heads, kv_head = heads % j->kv_heads, group = j->q_heads / j->kv_heads;
  for (int64_t l = 0; l < count; l++) {
    nd4c_attend_lane *lane = &lanes[l];
    int64_t head = kv_head * group + (first + l) / j->queries, query = (first + l) % j->queries;
    lane->q = j->q.data + (batch * j->q.batch + head * j->q.head + query * j->q.place) * j->bytes;
    lane->y = j->to + (batch * j->y.batch + head * j->y.head + query * j->y.place) * j->bytes;
    if (j->start.mask != ND4C_ATTEND_UNMASKED) {
      lane->mask = j->mask.data + (batch * j->mask.batch + head * j->mask.head + query * j->mask.place) * j->mask_bytes;
    }
    bound(j, batch, query, lane);
  }
}

void nd4c_attention_attend(const nd4c_attention_job *j, int64_t index, nd4c_attend_panel *p, void *buffer) {
  const int64_t first = index % j->panels * j->panel_rows, heads = index / j->panels;
  nd4c_attention_find_keys(j, heads, p);
  p->lanes = least(j->panel_rows, j->rows - first);
  nd4c_attention_find_lanes(j, heads, first, p->lanes, p->lane);
  j->loops->attend(p, buffer);
}
