/* Attention, with caches and projections; rotary embeddings; bags of embeddings. dispatch/choice.c asks these kernels
 * for arrays on OpenCL devices. */
#include <math.h>
#include <string.h>

#include "backends/opencl/support/gemm.h"
#include "backends/opencl/support/reduction.h"

enum { MOST_RESULTS = 8, LEAST_GROUP = 64 };

/* The same struct as in attention.cl. */
typedef struct sizes {
  int64_t batch, q_heads, kv_heads, queries, keys, head, v_head, past, frontier;
  int64_t left, right, mask_keys;
  int64_t q[4], k[4], v[4], y[4], past_key[4], past_value[4], mask[4], scores[4];
  int64_t lengths;
} sizes;

typedef struct attention {
  sizes s;
  const nd4c_tensor *q, *k, *v, *mask, *past_key, *past_value, *lengths, *y, *scores;
  bool is_causal;
  double scale, softcap;
  int32_t scores_mode; /* -1: none */
} attention;

/* Strides of [n, heads, t, head], or of [n, t, heads * head]; none, if there is no tensor. */
static void head_strides(const nd4c_tensor *x, int64_t head, int64_t *strides) {
  if (x != NULL && x->rank == 3) {
    const int64_t packed[] = {x->strides[0], x->strides[2] * head, x->strides[1], x->strides[2]};
    memcpy(strides, packed, sizeof packed);
  } else if (x != NULL) {
    memcpy(strides, x->strides, 4 * sizeof *strides);
  }
}

static void read_sizes(const nd4c_tensor *x, int64_t given, int64_t *heads, int64_t *length, int64_t *head) {
  *heads = x->rank == 4 ? x->shape[1] : given;
  *length = x->rank == 4 ? x->shape[2] : x->shape[1];
  *head = x->rank == 4 ? x->shape[3] : given > 0 ? x->shape[2] / given : 0;
}

static void set_mask(attention *a, const nd4c_tensor *mask) {
  a->mask = mask;
  a->s.mask_keys = a->s.keys;
  for (int32_t axis = 0; mask != NULL && axis < mask->rank; axis++) {
    a->s.mask[axis + 4 - mask->rank] = mask->shape[axis] == 1 ? 0 : mask->strides[axis];
  }
  /* If the mask's last axis is shorter than the keys, the keys beyond it are masked out; extent 1 is broadcast. */
  if (mask != NULL && mask->rank > 0 && mask->shape[mask->rank - 1] != 1 && mask->shape[mask->rank - 1] < a->s.keys) {
    a->s.mask_keys = mask->shape[mask->rank - 1];
  }
}

static attention attention_of(const nd4c_call *call) {
  const nd4c_attr_value *attrs = call->attrs;
  attention a = {.q = &call->inputs[0],
                 .k = &call->inputs[1],
                 .v = &call->inputs[2],
                 .y = &call->outputs[0],
                 .past_key = nd4c_cl_input(call, ND4C_IN_attention_past_key),
                 .past_value = nd4c_cl_input(call, ND4C_IN_attention_past_value),
                 .lengths = nd4c_cl_input(call, ND4C_IN_attention_key_lengths),
                 .is_causal = attrs[ND4C_ATTR_attention_is_causal].as.i != 0,
                 .scale = attrs[ND4C_ATTR_attention_scale].as.f,
                 .softcap = attrs[ND4C_ATTR_attention_softcap].as.f,
                 .scores_mode = -1};
  sizes *s = &a.s;
  int64_t own;
  s->batch = a.q->shape[0];
  s->left = attrs[ND4C_ATTR_attention_left_window].as.i;
  s->right = attrs[ND4C_ATTR_attention_right_window].as.i;
  s->past = a.past_key != NULL ? a.past_key->shape[2] : 0;
  s->frontier = a.past_key == NULL && a.lengths != NULL ? -1 : s->past;
  read_sizes(a.q, attrs[ND4C_ATTR_attention_q_heads].as.i, &s->q_heads, &s->queries, &s->head);
  read_sizes(a.v, attrs[ND4C_ATTR_attention_kv_heads].as.i, &s->kv_heads, &own, &s->v_head);
  s->keys = own + s->past;
  head_strides(a.q, s->head, s->q);
  head_strides(a.k, s->head, s->k);
  head_strides(a.v, s->v_head, s->v);
  head_strides(a.y, s->v_head, s->y);
  head_strides(a.past_key, s->head, s->past_key);
  head_strides(a.past_value, s->v_head, s->past_value);
  s->lengths = nd4c_cl_stride_of(a.lengths, 0);
  if (a.scale == 0) {
    a.scale = 1 / sqrt((double)s->head);
  }
  set_mask(&a, nd4c_cl_input(call, ND4C_IN_attention_mask));
  return a;
}

static int64_t group_of(const nd4c_call *call, int64_t v_head) {
  int64_t group = LEAST_GROUP;
  while (group * MOST_RESULTS < v_head) {
    group *= 2;
  }
  return nd4c_cl_group_within(call, group, 2 * sizeof(double));
}

static nd4c_cl_options attend_options(const nd4c_call *call, const attention *a, int64_t group) {
  nd4c_cl_options options = {{0}};
  nd4c_cl_define(&options, "ATTEND", "1");
  nd4c_cl_define(&options, "RESULTS", "%d", (int)((a->s.v_head + group - 1) / group));
  ND4C_CL_TYPES(&options, "ABCDEY", a->q->dtype, a->k->dtype, a->v->dtype, nd4c_cl_dtype_of(a->mask, a->q->dtype),
                nd4c_cl_dtype_of(a->lengths, ND4C_INT64), a->y->dtype);
  nd4c_cl_define_pair(&options, call);
  nd4c_cl_define_if(&options, nd4c_cl_dtype_of(a->mask, ND4C_DTYPE_NONE) == ND4C_BOOL, "BOOL_MASK");
  return options;
}

/* Begins a launch of the largest group that the kernel takes itself. */
static nd4c_status begin_attend(const nd4c_call *call, const attention *a, nd4c_cl_launch *launch) {
  for (launch->group = group_of(call, a->s.v_head);; launch->group /= 2) {
    nd4c_cl_options options = attend_options(call, a, launch->group);
    ND4C_BACKEND_TRY(nd4c_cl_begin(launch, call, ND4C_CL_BY_PAIRS(call, "share+attention"), "attend", &options));
    if (nd4c_cl_kernel_fit(launch->kernel, launch->group) == launch->group) {
      return ND4C_OK;
    }
  }
}

static nd4c_status attend(const nd4c_cl_step *step, const attention *a) {
  nd4c_cl_launch launch;
  int64_t groups = a->s.batch * a->s.q_heads * a->s.queries;
  if (nd4c_cl_is_dry(step)) {
    int64_t most = group_of(step->call, a->s.v_head) * MOST_RESULTS;
    return a->s.v_head > most ? nd4c_cl_step_refuse(step, "heads of more than %lld features", (long long)most)
                              : nd4c_cl_step_call(step);
  }
  if (groups == 0 || a->s.kv_heads == 0) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(begin_attend(step->call, a, &launch));
  int64_t global = groups * launch.group;
  ND4C_CL_ARGS(&launch, ND4C_CL_VALUE(a->s), ND4C_CL_IN(a->q), ND4C_CL_IN(a->k), ND4C_CL_IN(a->v),
               ND4C_CL_IN(a->past_key), ND4C_CL_IN(a->past_value), ND4C_CL_IN(a->mask), ND4C_CL_IN(a->lengths),
               ND4C_CL_OUT(a->y), ND4C_CL_OUT(a->scores),
               ND4C_CL_INT(a->mask != NULL, a->lengths != NULL, a->is_causal, a->scores_mode),
               ND4C_CL_PAIR(a->scale, a->softcap), ND4C_CL_LOCAL_EACH(sizeof(double)),
               ND4C_CL_LOCAL_EACH(sizeof(double)), ND4C_CL_FAULT);
  return nd4c_cl_launch_run(&launch, 1, &global, &launch.group);
}

static nd4c_status attention_alone(const nd4c_cl_step *step) {
  attention a = attention_of(step->call);
  return attend(step, &a);
}

/* -- with a cache -------------------------------------------------------------------------------------------------- */

static nd4c_status present(const nd4c_call *call, const sizes *s, int64_t head, const nd4c_tensor *x,
                           const int64_t *x_strides, const nd4c_tensor *old, const int64_t *old_strides,
                           const nd4c_tensor *y) {
  nd4c_cl_options options = {{0}};
  int64_t strides[4];
  head_strides(y, head, strides);
  nd4c_cl_define(&options, "PRESENT", "1");
  nd4c_cl_define_type(&options, 'B', x->dtype);
  return ND4C_CL_RUN(call, "attention", "present", options, y->size,
                     ND4C_CL_LONG(y->size, s->kv_heads, s->keys, head, s->past), ND4C_CL_IN(x),
                     ND4C_CL_LONGS(x_strides, 4), ND4C_CL_IN(old), ND4C_CL_LONGS(old_strides, 4), ND4C_CL_OUT(y),
                     ND4C_CL_LONGS(strides, 4));
}

static nd4c_status attention_with_cache(const nd4c_cl_step *step) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *y = call->outputs;
  attention a = attention_of(call);
  a.scores = &y[3];
  a.scores_mode = (int32_t)ND4C_INT_OF(call, attention_with_cache_scores_mode);
  memcpy(a.s.scores, a.scores->strides, sizeof a.s.scores);
  ND4C_BACKEND_TRY(attend(step, &a));
  if (nd4c_cl_is_dry(step)) {
    return ND4C_OK;
  }
  ND4C_BACKEND_TRY(present(call, &a.s, a.s.head, a.k, a.s.k, a.past_key, a.s.past_key, &y[1]));
  return present(call, &a.s, a.s.v_head, a.v, a.s.v, a.past_value, a.s.past_value, &y[2]);
}

/* -- multi_head_attention: projections, unrounded, in the scratch buffer ------------------------------------------ */

enum { WQ = ND4C_IN_multi_head_attention_wq, BQ = ND4C_IN_multi_head_attention_bq };

typedef struct projected {
  nd4c_tensor parts[4]; /* q, k, v projected, and what attention gives */
  int64_t shapes[4][3], strides[4][3], bytes;
} projected;

static void place_parts(const nd4c_call *call, projected *h) {
  h->bytes = 0;
  for (int i = 0; i < 4; i++) {
    const nd4c_tensor *x = &call->inputs[i < 3 ? i : 0];
    h->shapes[i][0] = x->shape[0];
    h->shapes[i][1] = x->shape[1];
    h->shapes[i][2] = call->inputs[WQ + (i < 3 ? i : 2)].shape[0];
    h->strides[i][0] = h->shapes[i][1] * h->shapes[i][2];
    h->strides[i][1] = h->shapes[i][2];
    h->strides[i][2] = 1;
    bool wide = nd4c_cl_wide(call);
    h->parts[i] = (nd4c_tensor){.dtype = wide ? ND4C_FLOAT64 : ND4C_FLOAT32,
                                .rank = 3,
                                .shape = h->shapes[i],
                                .strides = h->strides[i],
                                .size = h->shapes[i][0] * h->strides[i][0],
                                .buffer = call->scratch_buffer,
                                .offset = h->bytes / (wide ? 8 : 4)};
    h->bytes += (h->parts[i].size * 8 + 63) / 64 * 64;
  }
}

static nd4c_status project(const nd4c_cl_step *step, const nd4c_tensor *x, int32_t part, const nd4c_tensor *y) {
  const nd4c_call *call = step->call;
  const nd4c_tensor *w = &call->inputs[WQ + part], *bias = nd4c_cl_input(call, BQ + part);
  nd4c_cl_gemm gemm = {.a = x, .b = w, .y = y, .bias = bias, .epilogue = true, .sum = "REAL"};
  const int64_t none[1] = {0};
  const int64_t *const batch[] = {&x->strides[0], none, &y->strides[0]}, *const more[] = {none, none};
  gemm.matrices = (nd4c_cl_matrices){.m = x->shape[1],
                                     .n = w->shape[0],
                                     .k = w->shape[1],
                                     .a_row = x->strides[1],
                                     .a_column = x->strides[2],
                                     .b_row = w->strides[1],
                                     .b_column = w->strides[0],
                                     .y_row = y->strides[1],
                                     .y_column = y->strides[2],
                                     .bias_column = bias != NULL ? bias->strides[0] : 0};
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &gemm.batch, 1, x->shape, 3, batch));
  ND4C_BACKEND_TRY(nd4c_cl_step_walk(step, &gemm.more, 1, x->shape, 2, more));
  return nd4c_cl_gemm_run(step, &gemm);
}

static attention heads_attention(const nd4c_call *call, const projected *h) {
  int64_t count = ND4C_INT_OF(call, multi_head_attention_heads);
  attention a = {.q = &h->parts[0],
                 .k = &h->parts[1],
                 .v = &h->parts[2],
                 .y = &h->parts[3],
                 .is_causal = ND4C_FLAG_OF(call, multi_head_attention_is_causal),
                 .scores_mode = -1};
  a.s = (sizes){.batch = h->shapes[0][0],
                .q_heads = count,
                .kv_heads = count,
                .queries = h->shapes[0][1],
                .keys = h->shapes[1][1],
                .head = h->shapes[0][2] / count,
                .v_head = h->shapes[2][2] / count,
                .left = -1,
                .right = -1};
  head_strides(a.q, a.s.head, a.s.q);
  head_strides(a.k, a.s.head, a.s.k);
  head_strides(a.v, a.s.v_head, a.s.v);
  head_strides(a.y, a.s.v_head, a.s.y);
  a.scale = 1 / sqrt((double)a.s.head);
  set_mask(&a, nd4c_cl_input(call, ND4C_IN_multi_head_attention_mask));
  return a;
}

static int64_t multi_head_attention_scratch(const nd4c_call *call) {
  projected h;
  place_parts(call, &h);
  return h.bytes;
}

static nd4c_status multi_head_attention(const nd4c_cl_step *step) {
  projected h;
  place_parts(step->call, &h);
  attention a = heads_attention(step->call, &h);
  for (int32_t i = 0; i < 3; i++) {
    ND4C_BACKEND_TRY(project(step, &step->call->inputs[i], i, &h.parts[i]));
  }
  ND4C_BACKEND_TRY(attend(step, &a));
  return project(step, &h.parts[3], 3, &step->call->outputs[0]);
}

/* -- rotary_embedding ---------------------------------------------------------------------------------------------- */

static nd4c_status rotary_embedding_run(const nd4c_call *call) {
  const nd4c_tensor *x = &call->inputs[0], *y = &call->outputs[0], *cosines = &call->inputs[1], *sines = cosines + 1;
  const nd4c_tensor *ids = nd4c_cl_input(call, ND4C_IN_rotary_embedding_position_ids);
  int64_t heads, length, head, turned = ND4C_INT_OF(call, rotary_embedding_rotary_dim), steps[2][4];
  nd4c_cl_options options = {{0}};
  read_sizes(x, ND4C_INT_OF(call, rotary_embedding_heads), &heads, &length, &head);
  head_strides(x, head, steps[0]);
  head_strides(y, head, steps[1]);
  nd4c_cl_define(&options, "ROTARY", "1");
  ND4C_CL_TYPES(&options, "ABCDY", x->dtype, cosines->dtype, sines->dtype, nd4c_cl_dtype_of(ids, ND4C_INT64), y->dtype);
  nd4c_cl_define_real(&options, call);
/* [positions, pairs], or [n, t, pairs] */
#define ANGLES(a) \
  ND4C_CL_IN(a), ND4C_CL_LONG((a)->rank == 3 ? (a)->strides[0] : 0), ND4C_CL_LONGS((a)->strides + (a)->rank - 2, 2)
  return ND4C_CL_RUN(call, "attention", "rotary", options, x->size,
                     ND4C_CL_LONG(x->size, heads, length, head, (turned == 0 ? head : turned) / 2),
                     ND4C_CL_INT(ND4C_FLAG_OF(call, rotary_embedding_interleaved)), ND4C_CL_LONG(cosines->shape[0]),
                     ND4C_CL_IN(x), ND4C_CL_LONGS(steps[0], 4), ANGLES(cosines), ANGLES(sines), ND4C_CL_IN(ids),
                     ND4C_CL_LONG(nd4c_cl_stride_of(ids, 0), nd4c_cl_stride_of(ids, 1)), ND4C_CL_INT(ids != NULL),
                     ND4C_CL_OUT(y), ND4C_CL_LONGS(steps[1], 4), ND4C_CL_FAULT);
#undef ANGLES
}

/* -- embedding_bag ------------------------------------------------------------------------------------------------- */

static nd4c_status embedding_bag_run(const nd4c_call *call) {
  const nd4c_tensor *table = &call->inputs[0], *indices = &call->inputs[1], *y = &call->outputs[0];
  const nd4c_tensor *offsets = nd4c_cl_input(call, ND4C_IN_embedding_bag_offsets);
  const nd4c_tensor *weights = nd4c_cl_input(call, ND4C_IN_embedding_bag_weights);
  bool bags = indices->rank == 2, bag_weights = weights != NULL && weights->rank == 2;
  nd4c_cl_options options = {{0}};
  nd4c_cl_define(&options, "BAG", "1");
  ND4C_CL_TYPES(&options, "ABCDY", table->dtype, indices->dtype, nd4c_cl_dtype_of(offsets, ND4C_INT64),
                nd4c_cl_dtype_of(weights, table->dtype), y->dtype);
  nd4c_cl_define_pair(&options, call);
  return ND4C_CL_RUN(
      call, ND4C_CL_BY_PAIRS(call, "attention"), "bag", options, y->size,
      ND4C_CL_LONG(y->shape[0], y->shape[1], indices->size, bags ? indices->shape[1] : indices->size, table->shape[0]),
      ND4C_CL_INT((int32_t)ND4C_INT_OF(call, embedding_bag_mode)),
      ND4C_CL_LONG(ND4C_INT_OF(call, embedding_bag_padding_index)), ND4C_CL_STRIDED(table, READ), ND4C_CL_IN(indices),
      ND4C_CL_LONG(bags ? indices->strides[0] : 0, indices->strides[indices->rank - 1]), ND4C_CL_IN(offsets),
      ND4C_CL_LONG(nd4c_cl_stride_of(offsets, 0)), ND4C_CL_INT(offsets != NULL), ND4C_CL_IN(weights),
      ND4C_CL_LONG(bag_weights ? weights->strides[0] : 0, nd4c_cl_stride_of(weights, bag_weights ? 1 : 0)),
      ND4C_CL_INT(weights != NULL), ND4C_CL_STRIDED(y, WRITE), ND4C_CL_FAULT);
}

ND4C_CL_STEP_KERNEL(attention, ND4C_CL_FLOATS, attention_alone(step), NULL)
ND4C_CL_STEP_KERNEL(attention_with_cache, ND4C_CL_FLOATS, attention_with_cache(step), NULL)
ND4C_CL_STEP_KERNEL(multi_head_attention, ND4C_CL_FLOATS, multi_head_attention(step), multi_head_attention_scratch)
ND4C_CL_KERNEL(rotary_embedding, ND4C_CL_FLOATS, nd4c_cl_call_usable, rotary_embedding_run, NULL)
ND4C_CL_KERNEL(embedding_bag, ND4C_CL_FLOATS, nd4c_cl_call_usable, embedding_bag_run, NULL)

const nd4c_kernel *const nd4c_cl_attention_kernels[] = {
    &opencl_attention,        &opencl_attention_with_cache, &opencl_multi_head_attention,
    &opencl_rotary_embedding, &opencl_embedding_bag,        NULL};
