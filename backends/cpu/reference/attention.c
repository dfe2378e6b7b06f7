/* Engine reference: the family attention, computed in double. dispatch/choice.c asks these kernels last, after those of
 * all other engines. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "backends/cpu/support/moving.h"
#include "kernels/reference/attention/attention.h"

/* -- attention ---------------------------------------------------------------------------------------------------- */

static nd4c_ref_heads spread(const double *data, int64_t heads, int64_t length, int64_t head) {
  return (nd4c_ref_heads){data, heads * length * head, length * head, head};
}

static nd4c_ref_heads packed(const double *data, int64_t heads, int64_t length, int64_t head) {
  return (nd4c_ref_heads){data, heads * length * head, head, heads * head};
}

/* Heads of an operand of four axes, or of three. */
static nd4c_ref_heads heads_of(const nd4c_tensor *x, const double *data, int64_t heads, int64_t length, int64_t head) {
  return x->rank == 4 ? spread(data, heads, length, head) : packed(data, heads, length, head);
}

/* Sizes of an operand: [n, heads, t, head] or [n, t, heads * head]. */
static void read_sizes(const nd4c_tensor *x, int64_t given, int64_t *heads, int64_t *length, int64_t *head) {
  *heads = x->rank == 4 ? x->shape[1] : given;
  *length = x->rank == 4 ? x->shape[2] : x->shape[1];
  *head = x->rank == 4 ? x->shape[3] : x->shape[2] / given;
}

/* Keys or values with the past before them, [n, heads, past + own, head]. */
static const double *joined(nd4c_cpu_work *work, int32_t position, int32_t past_position, int64_t kv_heads) {
  const nd4c_tensor *x = &work->call->inputs[position], *past_tensor = nd4c_cpu_input(work->call, past_position);
  int64_t heads, length, head, past = past_tensor != NULL ? past_tensor->shape[2] : 0;
  read_sizes(x, kv_heads, &heads, &length, &head);
  int64_t total = past + length;
  const double *own = nd4c_cpu_work_load(work, position), *old = nd4c_cpu_work_load(work, past_position);
  double *all = nd4c_cpu_work_make(work, x->shape[0] * heads * total * head);
  if (work->failed) {
    return NULL;
  }
  nd4c_ref_heads from = heads_of(x, own, heads, length, head);
  for (int64_t row = 0; row < x->shape[0] * heads; row++) {
    double *to = all + row * total * head;
    if (past * head > 0) {
      memcpy(to, old + row * past * head, (size_t)(past * head) * sizeof *to);
    }
    for (int64_t t = 0; t < length && head > 0; t++) {
      memcpy(to + (past + t) * head,
             from.data + row / heads * from.batch_step + row % heads * from.head_step + t * from.place_step,
             (size_t)head * sizeof *to);
    }
  }
  return all;
}

static void read_mask(nd4c_cpu_work *work, int32_t position, nd4c_ref_attend_args *args) {
  const nd4c_tensor *mask = nd4c_cpu_input(work->call, position);
  int64_t step = 1;
  if (mask == NULL) {
    return;
  }
  args->mask = nd4c_cpu_work_load(work, position);
  args->mask_is_bool = mask->dtype == ND4C_BOOL;
  args->mask_keys = args->keys;
  for (int32_t axis = mask->rank - 1; axis >= 0; axis--) {
    args->mask_steps[axis + 4 - mask->rank] = mask->shape[axis] == 1 ? 0 : step;
    step *= mask->shape[axis];
  }
  /* If the mask's last axis is shorter than the keys, the keys beyond it are masked out; extent 1 is broadcast. */
  if (mask->rank > 0 && mask->shape[mask->rank - 1] != 1 && mask->shape[mask->rank - 1] < args->keys) {
    args->mask_keys = mask->shape[mask->rank - 1];
  }
}

static void attend_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  nd4c_ref_attend(user, begin, end, worker);
}

static nd4c_status run_attend(nd4c_cpu_work *work, nd4c_ref_attend_args *args) {
  const int64_t *lengths = args->key_lengths;
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(nd4c_cpu_check_integers(work->call, "a key length", lengths, args->batch, 0, args->keys));
  return nd4c_cpu_work_parallel(work, args->batch * args->q_heads * args->queries,
                                args->keys * (args->head + args->v_head + 16), attend_range, args);
}

static nd4c_ref_attend_args attend_args(nd4c_cpu_work *work) {
  const nd4c_call *call = work->call;
  const nd4c_tensor *q = &call->inputs[0], *past = nd4c_cpu_input(call, ND4C_IN_attention_past_key);
  int64_t kv_heads = ND4C_INT_OF(call, attention_kv_heads), length;
  nd4c_ref_attend_args args = {.batch = q->shape[0],
                               .scale = ND4C_REAL_OF(call, attention_scale),
                               .softcap = ND4C_REAL_OF(call, attention_softcap),
                               .is_causal = ND4C_FLAG_OF(call, attention_is_causal),
                               .left = ND4C_INT_OF(call, attention_left_window),
                               .right = ND4C_INT_OF(call, attention_right_window)};
  read_sizes(q, ND4C_INT_OF(call, attention_q_heads), &args.q_heads, &args.queries, &args.head);
  read_sizes(&call->inputs[2], kv_heads, &args.kv_heads, &length, &args.v_head);
  args.keys = length + (past != NULL ? past->shape[2] : 0);
  args.key_lengths = nd4c_cpu_work_load_integers(work, ND4C_IN_attention_key_lengths);
  args.past = past != NULL ? past->shape[2] : args.key_lengths != NULL ? -1 : 0;
  if (args.scale == 0) {
    args.scale = 1 / sqrt((double)args.head);
  }
  args.q = heads_of(q, nd4c_cpu_work_load(work, 0), args.q_heads, args.queries, args.head);
  args.k = spread(joined(work, 1, ND4C_IN_attention_past_key, kv_heads), args.kv_heads, args.keys, args.head);
  args.v = spread(joined(work, 2, ND4C_IN_attention_past_value, kv_heads), args.kv_heads, args.keys, args.v_head);
  args.y_data = nd4c_cpu_work_output(work, 0);
  args.y = heads_of(q, args.y_data, args.q_heads, args.queries, args.v_head);
  args.scratch = nd4c_cpu_work_make(work, args.keys * (call->width > 0 ? call->width : 1));
  read_mask(work, ND4C_IN_attention_mask, &args);
  return args;
}

static nd4c_status attention(nd4c_cpu_work *work) {
  nd4c_ref_attend_args args = attend_args(work);
  return run_attend(work, &args);
}

static nd4c_status attention_with_cache(const nd4c_call *call, nd4c_cpu_work *work) {
  nd4c_ref_attend_args args = attend_args(work);
  args.scores_mode = ND4C_INT_OF(call, attention_with_cache_scores_mode);
  args.scores = nd4c_cpu_work_output(work, 3);
  nd4c_cpu_work_result(work, 1, args.k.data);
  nd4c_cpu_work_result(work, 2, args.v.data);
  return run_attend(work, &args);
}

/* -- multi_head_attention ----------------------------------------------------------------------------------------- */

/* rows of x [rows, inputs] times w^T + bias */
typedef struct projection {
  int64_t inputs, outputs;
  const double *x, *w, *bias;
  double *y;
} projection;

static void project_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  const projection *p = user;
  (void)worker;
  for (int64_t i = begin; i < end; i++) {
    int64_t row = i / p->outputs, column = i % p->outputs;
    double bias = p->bias != NULL ? p->bias[column] : 0;
    p->y[i] = bias + nd4c_ref_dot(p->inputs, p->x + row * p->inputs, p->w + column * p->inputs);
  }
}

static double *project(nd4c_cpu_work *work, const double *x, int64_t rows, int32_t weights, int32_t bias) {
  const nd4c_tensor *w = &work->call->inputs[weights];
  projection p = {.inputs = w->shape[1],
                  .outputs = w->shape[0],
                  .x = x,
                  .w = nd4c_cpu_work_load(work, weights),
                  .bias = nd4c_cpu_work_load(work, bias),
                  .y = nd4c_cpu_work_make(work, rows * w->shape[0])};
  (void)nd4c_cpu_work_parallel(work, rows * p.outputs, p.inputs, project_range, &p);
  return p.y;
}

static nd4c_status multi_head_attention(const nd4c_call *call, nd4c_cpu_work *work) {
  enum { WQ = ND4C_IN_multi_head_attention_wq, BQ = ND4C_IN_multi_head_attention_bq };
  const double *parts[3];
  int64_t heads = ND4C_INT_OF(call, multi_head_attention_heads);
  for (int32_t i = 0; i < 3; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    parts[i] = project(work, nd4c_cpu_work_load(work, i), x->shape[0] * x->shape[1], WQ + i, BQ + i);
  }
  const nd4c_tensor *q = &call->inputs[0], *k = &call->inputs[1];
  nd4c_ref_attend_args args = {.batch = q->shape[0],
                               .q_heads = heads,
                               .kv_heads = heads,
                               .queries = q->shape[1],
                               .keys = k->shape[1],
                               .head = call->inputs[WQ].shape[0] / heads,
                               .v_head = call->inputs[WQ + 2].shape[0] / heads,
                               .is_causal = ND4C_FLAG_OF(call, multi_head_attention_is_causal),
                               .left = -1,
                               .right = -1};
  args.scale = 1 / sqrt((double)args.head);
  args.q = packed(parts[0], heads, args.queries, args.head);
  args.k = packed(parts[1], heads, args.keys, args.head);
  args.v = packed(parts[2], heads, args.keys, args.v_head);
  args.y_data = nd4c_cpu_work_make(work, args.batch * args.queries * heads * args.v_head);
  args.y = packed(args.y_data, heads, args.queries, args.v_head);
  args.scratch = nd4c_cpu_work_make(work, args.keys * (call->width > 0 ? call->width : 1));
  read_mask(work, ND4C_IN_multi_head_attention_mask, &args);
  ND4C_BACKEND_TRY(run_attend(work, &args));
  nd4c_cpu_work_result(work, 0, project(work, args.y_data, args.batch * args.queries, WQ + 3, BQ + 3));
  return nd4c_cpu_work_check(work);
}

/* -- rotary_embedding --------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(rotary_range, nd4c_ref_rotary)

static nd4c_status rotary_embedding(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *x = &call->inputs[0];
  int64_t turned = ND4C_INT_OF(call, rotary_embedding_rotary_dim);
  nd4c_ref_rotary_args args = {.batch = x->shape[0],
                               .positions = call->inputs[1].shape[0],
                               .interleaved = ND4C_FLAG_OF(call, rotary_embedding_interleaved),
                               .packed = x->rank == 3,
                               .x = nd4c_cpu_work_load(work, 0),
                               .cos = nd4c_cpu_work_load(work, 1),
                               .sin = nd4c_cpu_work_load(work, 2),
                               .ids = nd4c_cpu_work_load_integers(work, 3),
                               .y = nd4c_cpu_work_output(work, 0)};
  read_sizes(x, ND4C_INT_OF(call, rotary_embedding_heads), &args.heads, &args.length, &args.head);
  args.pairs = (turned == 0 ? args.head : turned) / 2;
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(
      nd4c_cpu_check_integers(call, "a position", args.ids, args.batch * args.length, 0, args.positions - 1));
  return nd4c_cpu_work_parallel(work, args.batch * args.heads * args.length, 4 * args.head, rotary_range, &args);
}

/* -- linear_attention --------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(linear_range, nd4c_ref_linear_attend)

static int64_t last_extent(const nd4c_tensor *x) {
  return x == NULL ? 0 : x->shape[x->rank - 1];
}

static nd4c_status linear_attention(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *q = &call->inputs[0], *state = &call->outputs[1];
  double *past = nd4c_cpu_work_load(work, ND4C_IN_linear_attention_past_state);
  nd4c_ref_linear_attend_args args = {.batch = q->shape[0],
                                      .q_heads = ND4C_INT_OF(call, linear_attention_q_heads),
                                      .kv_heads = ND4C_INT_OF(call, linear_attention_kv_heads),
                                      .length = q->shape[1],
                                      .head = state->shape[2],
                                      .v_head = state->shape[3],
                                      .decay_heads = last_extent(nd4c_cpu_input(call, ND4C_IN_linear_attention_decay)),
                                      .beta_heads = last_extent(nd4c_cpu_input(call, ND4C_IN_linear_attention_beta)),
                                      .q = nd4c_cpu_work_load(work, ND4C_IN_linear_attention_q),
                                      .k = nd4c_cpu_work_load(work, ND4C_IN_linear_attention_k),
                                      .v = nd4c_cpu_work_load(work, ND4C_IN_linear_attention_v),
                                      .decay = nd4c_cpu_work_load(work, ND4C_IN_linear_attention_decay),
                                      .beta = nd4c_cpu_work_load(work, ND4C_IN_linear_attention_beta),
                                      .scale = ND4C_REAL_OF(call, linear_attention_scale),
                                      .state = past != NULL ? past : nd4c_cpu_work_make(work, state->size),
                                      .y = nd4c_cpu_work_output(work, 0)};
  int64_t states = args.batch * args.kv_heads;
  args.scratch = nd4c_cpu_work_make(work, states * args.v_head);
  if (args.scale == 0) {
    args.scale = 1 / sqrt((double)args.head);
  }
  nd4c_cpu_work_result(work, 1, args.state);
  return nd4c_cpu_work_parallel(work, states, 4 * args.length * args.head * args.v_head, linear_range, &args);
}

/* -- embedding_bag ------------------------------------------------------------------------------------------------ */

ND4C_CPU_RANGE(bag_range, nd4c_ref_embedding_bag)

nd4c_status nd4c_cpu_check_bags(const nd4c_call *call, const int64_t *indices, const int64_t *offsets) {
  int64_t rows = call->inputs[0].shape[0], count = call->inputs[1].size, bags = call->outputs[0].shape[0], least = 0;
  ND4C_BACKEND_TRY(nd4c_cpu_check_integers(call, "an index", indices, count, 0, rows - 1));
  for (int64_t i = 0; offsets != NULL && i < bags; least = offsets[i++]) {
    ND4C_BACKEND_TRY(nd4c_cpu_check_integers(call, "an offset", offsets + i, 1, least, count));
  }
  return ND4C_OK;
}

static nd4c_status embedding_bag(const nd4c_call *call, nd4c_cpu_work *work) {
  const nd4c_tensor *indices = &call->inputs[1], *y = &call->outputs[0];
  nd4c_ref_bag_args args = {.bags = y->shape[0],
                            .features = y->shape[1],
                            .count = indices->size,
                            .each = indices->rank == 2 ? indices->shape[1] : 0,
                            .mode = ND4C_INT_OF(call, embedding_bag_mode),
                            .padding = ND4C_INT_OF(call, embedding_bag_padding_index),
                            .table = nd4c_cpu_work_load(work, ND4C_IN_embedding_bag_table),
                            .weights = nd4c_cpu_work_load(work, ND4C_IN_embedding_bag_weights),
                            .indices = nd4c_cpu_work_load_integers(work, ND4C_IN_embedding_bag_indices),
                            .offsets = nd4c_cpu_work_load_integers(work, ND4C_IN_embedding_bag_offsets),
                            .y = nd4c_cpu_work_output(work, 0)};
  ND4C_BACKEND_TRY(nd4c_cpu_work_check(work));
  ND4C_BACKEND_TRY(nd4c_cpu_check_bags(call, args.indices, args.offsets));
  int64_t each = args.bags > 0 ? args.count / args.bags * args.features : 0;
  return nd4c_cpu_work_parallel(work, args.bags, each, bag_range, &args);
}

#define F ND4C_CPU_FLOATS
#define OPS(X)                                                 \
  X(attention, F, attention(work))                             \
  X(attention_with_cache, F, attention_with_cache(call, work)) \
  X(multi_head_attention, F, multi_head_attention(call, work)) \
  X(rotary_embedding, F, rotary_embedding(call, work))         \
  X(linear_attention, F, linear_attention(call, work))         \
  X(embedding_bag, F, embedding_bag(call, work))
OPS(ND4C_CPU_WORK_RUN)

const nd4c_kernel *const nd4c_cpu_reference_attention_kernels[] = {OPS(ND4C_CPU_WORK_ROW) NULL};
