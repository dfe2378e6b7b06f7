/* Engine reference: the family attention. */
#include <math.h>

#include "backends/cpu/reference/work.h"
#include "kernels/reference/attention/attention.h"

/* -- attention ---------------------------------------------------------------------------------------------------- */

static nd4c_ref_heads spread(const double *data, int64_t heads, int64_t length, int64_t head) {
  return (nd4c_ref_heads){data, heads * length * head, length * head, head};
}

static nd4c_ref_heads packed(const double *data, int64_t heads, int64_t length, int64_t head) {
  return (nd4c_ref_heads){data, heads * length * head, head, heads * head};
}

/* Sizes of an operand: [n, heads, t, head] or [n, t, heads * head]. */
static void read_sizes(const nd4c_tensor *x, int64_t given, int64_t *heads, int64_t *length, int64_t *head) {
  *heads = x->rank == 4 ? x->shape[1] : given;
  *length = x->rank == 4 ? x->shape[2] : x->shape[1];
  *head = x->rank == 4 ? x->shape[3] : x->shape[2] / given;
}

/* Keys or values with the past before them, [n, heads, past + own, head]. */
static const double *joined(nd4c_cpu_work *work, const nd4c_call *call, int32_t position, int32_t past_position,
                            int64_t kv_heads) {
  const nd4c_tensor *x = &call->inputs[position], *past_tensor = nd4c_cpu_input(call, past_position);
  int64_t heads, length, head, past = past_tensor != NULL ? past_tensor->shape[2] : 0;
  read_sizes(x, kv_heads, &heads, &length, &head);
  int64_t total = past + length;
  const double *own = nd4c_cpu_work_load(work, call, position), *old = nd4c_cpu_work_load(work, call, past_position);
  double *all = nd4c_cpu_work_make(work, x->shape[0] * heads * total * head);
  if (work->failed)
    return NULL;
  nd4c_ref_heads from = x->rank == 4 ? spread(own, heads, length, head) : packed(own, heads, length, head);
  for (int64_t row = 0; row < x->shape[0] * heads; row++) {
    double *to = all + row * total * head;
    if (past * head > 0)
      memcpy(to, old + row * past * head, (size_t)(past * head) * sizeof *to);
    for (int64_t t = 0; t < length && head > 0; t++)
      memcpy(to + (past + t) * head,
             from.data + row / heads * from.batch_step + row % heads * from.head_step + t * from.place_step,
             (size_t)head * sizeof *to);
  }
  return all;
}

static void read_mask(nd4c_cpu_work *work, const nd4c_call *call, int32_t position, nd4c_ref_attend_args *args) {
  const nd4c_tensor *mask = nd4c_cpu_input(call, position);
  int64_t step = 1;
  if (mask == NULL)
    return;
  args->mask = nd4c_cpu_work_load(work, call, position);
  args->mask_is_bool = mask->dtype == ND4C_BOOL;
  args->mask_keys = args->keys;
  for (int32_t axis = mask->rank - 1; axis >= 0; axis--) {
    args->mask_steps[axis + 4 - mask->rank] = mask->shape[axis] == 1 ? 0 : step;
    step *= mask->shape[axis];
  }
  /* A last axis that is shorter leaves out the keys behind it; one of extent 1 is broadcast. */
  if (mask->rank > 0 && mask->shape[mask->rank - 1] != 1 && mask->shape[mask->rank - 1] < args->keys)
    args->mask_keys = mask->shape[mask->rank - 1];
}

static void attend_range(void *user, int64_t begin, int64_t end, int32_t worker) {
  nd4c_ref_attend(user, begin, end, worker);
}

static void run_attend(const nd4c_call *call, const nd4c_ref_attend_args *args) {
  int64_t grain = nd4c_cpu_grain(args->keys * (args->head + args->v_head + 16));
  nd4c_ref_attend_args copy = *args;
  nd4c_cpu_host->parallel_for(args->batch * args->q_heads * args->queries, grain, call->width, attend_range, &copy);
}

static nd4c_status check_lengths(const nd4c_call *call, const nd4c_ref_attend_args *args) {
  for (int64_t i = 0; args->key_lengths != NULL && i < args->batch; i++)
    if (args->key_lengths[i] < 0 || args->key_lengths[i] > args->keys)
      return nd4c_cpu_index_fail(call, "a key length", args->key_lengths[i], 0, args->keys);
  return ND4C_OK;
}

static nd4c_ref_attend_args attend_args(nd4c_cpu_work *work, const nd4c_call *call) {
  const nd4c_attr_value *attrs = call->attrs;
  const nd4c_tensor *q = &call->inputs[0], *past = nd4c_cpu_input(call, ND4C_IN_attention_past_key);
  int64_t kv_heads = attrs[ND4C_ATTR_attention_kv_heads].as.i, length;
  nd4c_ref_attend_args args = {.batch = q->shape[0],
                               .scale = attrs[ND4C_ATTR_attention_scale].as.f,
                               .softcap = attrs[ND4C_ATTR_attention_softcap].as.f,
                               .is_causal = attrs[ND4C_ATTR_attention_is_causal].as.i != 0,
                               .left = attrs[ND4C_ATTR_attention_left_window].as.i,
                               .right = attrs[ND4C_ATTR_attention_right_window].as.i};
  read_sizes(q, attrs[ND4C_ATTR_attention_q_heads].as.i, &args.q_heads, &args.queries, &args.head);
  read_sizes(&call->inputs[2], kv_heads, &args.kv_heads, &length, &args.v_head);
  args.keys = length + (past != NULL ? past->shape[2] : 0);
  args.key_lengths = nd4c_cpu_work_load_integers(work, call, ND4C_IN_attention_key_lengths);
  args.past = past != NULL ? past->shape[2] : args.key_lengths != NULL ? -1 : 0;
  if (args.scale == 0)
    args.scale = 1 / sqrt((double)args.head);
  const double *queries = nd4c_cpu_work_load(work, call, 0);
  args.q = q->rank == 4 ? spread(queries, args.q_heads, args.queries, args.head)
                        : packed(queries, args.q_heads, args.queries, args.head);
  args.k = spread(joined(work, call, 1, ND4C_IN_attention_past_key, kv_heads), args.kv_heads, args.keys, args.head);
  args.v = spread(joined(work, call, 2, ND4C_IN_attention_past_value, kv_heads), args.kv_heads, args.keys, args.v_head);
  args.y_data = nd4c_cpu_work_make(work, call->outputs[0].size);
  args.y = q->rank == 4 ? spread(args.y_data, args.q_heads, args.queries, args.v_head)
                        : packed(args.y_data, args.q_heads, args.queries, args.v_head);
  args.scratch = nd4c_cpu_work_make(work, args.keys * (call->width > 0 ? call->width : 1));
  read_mask(work, call, ND4C_IN_attention_mask, &args);
  return args;
}

static nd4c_status attention_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  nd4c_ref_attend_args args = attend_args(&work, call);
  nd4c_status status = work.failed ? ND4C_OK : check_lengths(call, &args);
  if (!work.failed && status == ND4C_OK) {
    run_attend(call, &args);
    nd4c_cpu_work_store(call, 0, args.y_data);
  }
  return nd4c_cpu_work_end(&work, call, status);
}

static nd4c_status attention_with_cache_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  nd4c_ref_attend_args args = attend_args(&work, call);
  args.scores_mode = call->attrs[ND4C_ATTR_attention_with_cache_scores_mode].as.i;
  args.scores = nd4c_cpu_work_make(&work, call->outputs[3].size);
  nd4c_status status = work.failed ? ND4C_OK : check_lengths(call, &args);
  if (!work.failed && status == ND4C_OK) {
    run_attend(call, &args);
    nd4c_cpu_work_store(call, 0, args.y_data);
    nd4c_cpu_work_store(call, 1, args.k.data);
    nd4c_cpu_work_store(call, 2, args.v.data);
    nd4c_cpu_work_store(call, 3, args.scores);
  }
  return nd4c_cpu_work_end(&work, call, status);
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

static double *project(nd4c_cpu_work *work, const nd4c_call *call, const double *x, int64_t rows, int32_t weights,
                       int32_t bias) {
  const nd4c_tensor *w = &call->inputs[weights];
  projection p = {.inputs = w->shape[1], .outputs = w->shape[0], .x = x};
  p.w = nd4c_cpu_work_load(work, call, weights);
  p.bias = nd4c_cpu_work_load(work, call, bias);
  p.y = nd4c_cpu_work_make(work, rows * p.outputs);
  if (!work->failed)
    nd4c_cpu_host->parallel_for(rows * p.outputs, nd4c_cpu_grain(p.inputs), call->width, project_range, &p);
  return p.y;
}

static nd4c_status multi_head_attention_run(const nd4c_call *call) {
  enum { WQ = ND4C_IN_multi_head_attention_wq, BQ = ND4C_IN_multi_head_attention_bq };
  nd4c_cpu_work work = {0};
  const double *parts[3];
  int64_t heads = call->attrs[ND4C_ATTR_multi_head_attention_heads].as.i;
  for (int32_t i = 0; i < 3; i++) {
    const nd4c_tensor *x = &call->inputs[i];
    parts[i] = project(&work, call, nd4c_cpu_work_load(&work, call, i), x->shape[0] * x->shape[1], WQ + i, BQ + i);
  }
  const nd4c_tensor *q = &call->inputs[0], *k = &call->inputs[1];
  nd4c_ref_attend_args args = {.batch = q->shape[0],
                               .q_heads = heads,
                               .kv_heads = heads,
                               .queries = q->shape[1],
                               .keys = k->shape[1],
                               .head = call->inputs[WQ].shape[0] / heads,
                               .v_head = call->inputs[WQ + 2].shape[0] / heads,
                               .is_causal = call->attrs[ND4C_ATTR_multi_head_attention_is_causal].as.i != 0,
                               .left = -1,
                               .right = -1};
  args.scale = 1 / sqrt((double)args.head);
  args.q = packed(parts[0], heads, args.queries, args.head);
  args.k = packed(parts[1], heads, args.keys, args.head);
  args.v = packed(parts[2], heads, args.keys, args.v_head);
  args.y_data = nd4c_cpu_work_make(&work, args.batch * args.queries * heads * args.v_head);
  args.y = packed(args.y_data, heads, args.queries, args.v_head);
  args.scratch = nd4c_cpu_work_make(&work, args.keys * (call->width > 0 ? call->width : 1));
  read_mask(&work, call, ND4C_IN_multi_head_attention_mask, &args);
  if (!work.failed)
    run_attend(call, &args);
  const double *y = project(&work, call, args.y_data, args.batch * args.queries, WQ + 3, BQ + 3);
  if (!work.failed)
    nd4c_cpu_work_store(call, 0, y);
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

/* -- rotary_embedding --------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(rotary_range, nd4c_ref_rotary)

static nd4c_status rotary_embedding_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *x = &call->inputs[0];
  int64_t turned = call->attrs[ND4C_ATTR_rotary_embedding_rotary_dim].as.i;
  nd4c_ref_rotary_args args = {.batch = x->shape[0],
                               .positions = call->inputs[1].shape[0],
                               .interleaved = call->attrs[ND4C_ATTR_rotary_embedding_interleaved].as.i != 0,
                               .packed = x->rank == 3,
                               .x = nd4c_cpu_work_load(&work, call, 0),
                               .cos = nd4c_cpu_work_load(&work, call, 1),
                               .sin = nd4c_cpu_work_load(&work, call, 2),
                               .ids = nd4c_cpu_work_load_integers(&work, call, 3),
                               .y = nd4c_cpu_work_make(&work, x->size)};
  read_sizes(x, call->attrs[ND4C_ATTR_rotary_embedding_heads].as.i, &args.heads, &args.length, &args.head);
  args.pairs = (turned == 0 ? args.head : turned) / 2;
  nd4c_status status = ND4C_OK;
  for (int64_t i = 0; !work.failed && args.ids != NULL && status == ND4C_OK && i < args.batch * args.length; i++)
    if (args.ids[i] < 0 || args.ids[i] >= args.positions)
      status = nd4c_cpu_index_fail(call, "a position", args.ids[i], 0, args.positions - 1);
  if (!work.failed && status == ND4C_OK) {
    int64_t rows = args.batch * args.heads * args.length;
    nd4c_cpu_host->parallel_for(rows, nd4c_cpu_grain(4 * args.head), call->width, rotary_range, &args);
    nd4c_cpu_work_store(call, 0, args.y);
  }
  return nd4c_cpu_work_end(&work, call, status);
}

/* -- linear_attention --------------------------------------------------------------------------------------------- */

ND4C_CPU_RANGE(linear_range, nd4c_ref_linear_attend)

static int64_t last_extent(const nd4c_tensor *x) {
  return x == NULL ? 0 : x->shape[x->rank - 1];
}

static nd4c_status linear_attention_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *q = &call->inputs[0], *state = &call->outputs[1];
  const double *past = nd4c_cpu_work_load(&work, call, ND4C_IN_linear_attention_past_state);
  nd4c_ref_linear_attend_args args = {.batch = q->shape[0],
                                      .q_heads = call->attrs[ND4C_ATTR_linear_attention_q_heads].as.i,
                                      .kv_heads = call->attrs[ND4C_ATTR_linear_attention_kv_heads].as.i,
                                      .length = q->shape[1],
                                      .head = state->shape[2],
                                      .v_head = state->shape[3],
                                      .decay_heads = last_extent(nd4c_cpu_input(call, ND4C_IN_linear_attention_decay)),
                                      .beta_heads = last_extent(nd4c_cpu_input(call, ND4C_IN_linear_attention_beta)),
                                      .q = nd4c_cpu_work_load(&work, call, ND4C_IN_linear_attention_q),
                                      .k = nd4c_cpu_work_load(&work, call, ND4C_IN_linear_attention_k),
                                      .v = nd4c_cpu_work_load(&work, call, ND4C_IN_linear_attention_v),
                                      .decay = nd4c_cpu_work_load(&work, call, ND4C_IN_linear_attention_decay),
                                      .beta = nd4c_cpu_work_load(&work, call, ND4C_IN_linear_attention_beta),
                                      .scale = call->attrs[ND4C_ATTR_linear_attention_scale].as.f,
                                      .state = nd4c_cpu_work_make(&work, state->size),
                                      .y = nd4c_cpu_work_make(&work, call->outputs[0].size)};
  int64_t states = args.batch * args.kv_heads;
  args.scratch = nd4c_cpu_work_make(&work, states * args.v_head);
  if (args.scale == 0)
    args.scale = 1 / sqrt((double)args.head);
  if (!work.failed) {
    if (past != NULL)
      memcpy(args.state, past, (size_t)state->size * sizeof *past);
    int64_t grain = nd4c_cpu_grain(4 * args.length * args.head * args.v_head);
    nd4c_cpu_host->parallel_for(states, grain, call->width, linear_range, &args);
    nd4c_cpu_work_store(call, 0, args.y);
    nd4c_cpu_work_store(call, 1, args.state);
  }
  return nd4c_cpu_work_end(&work, call, ND4C_OK);
}

/* -- embedding_bag ------------------------------------------------------------------------------------------------ */

ND4C_CPU_RANGE(bag_range, nd4c_ref_embedding_bag)

/* Indices are rows of the table; offsets grow from 0 to the number of indices. */
static nd4c_status check_bags(const nd4c_call *call, const nd4c_ref_bag_args *args) {
  int64_t rows = call->inputs[0].shape[0];
  for (int64_t i = 0; i < args->count; i++)
    if (args->indices[i] < 0 || args->indices[i] >= rows)
      return nd4c_cpu_index_fail(call, "an index", args->indices[i], 0, rows - 1);
  for (int64_t i = 0; args->offsets != NULL && i < args->bags; i++) {
    int64_t least = i > 0 ? args->offsets[i - 1] : 0;
    if (args->offsets[i] < least || args->offsets[i] > args->count)
      return nd4c_cpu_index_fail(call, "an offset", args->offsets[i], least, args->count);
  }
  return ND4C_OK;
}

static nd4c_status embedding_bag_run(const nd4c_call *call) {
  nd4c_cpu_work work = {0};
  const nd4c_tensor *indices = &call->inputs[1], *y = &call->outputs[0];
  nd4c_ref_bag_args args = {.bags = y->shape[0],
                            .features = y->shape[1],
                            .count = indices->size,
                            .each = indices->rank == 2 ? indices->shape[1] : 0,
                            .mode = call->attrs[ND4C_ATTR_embedding_bag_mode].as.i,
                            .padding = call->attrs[ND4C_ATTR_embedding_bag_padding_index].as.i,
                            .table = nd4c_cpu_work_load(&work, call, ND4C_IN_embedding_bag_table),
                            .weights = nd4c_cpu_work_load(&work, call, ND4C_IN_embedding_bag_weights),
                            .indices = nd4c_cpu_work_load_integers(&work, call, ND4C_IN_embedding_bag_indices),
                            .offsets = nd4c_cpu_work_load_integers(&work, call, ND4C_IN_embedding_bag_offsets),
                            .y = nd4c_cpu_work_make(&work, y->size)};
  nd4c_status status = work.failed ? ND4C_OK : check_bags(call, &args);
  if (!work.failed && status == ND4C_OK) {
    int64_t each = args.bags > 0 ? args.count / args.bags * args.features : 0;
    nd4c_cpu_host->parallel_for(args.bags, nd4c_cpu_grain(each), call->width, bag_range, &args);
    nd4c_cpu_work_store(call, 0, args.y);
  }
  return nd4c_cpu_work_end(&work, call, status);
}

#define OPS(X)            \
  X(attention)            \
  X(attention_with_cache) \
  X(multi_head_attention) \
  X(rotary_embedding)     \
  X(linear_attention)     \
  X(embedding_bag)
#define DEFINE_KERNEL(op) ND4C_CPU_REFERENCE_KERNEL(op, ND4C_CPU_FLOATS, op##_run),

const nd4c_kernel *const nd4c_cpu_reference_attention_kernels[] = {OPS(DEFINE_KERNEL) NULL};
