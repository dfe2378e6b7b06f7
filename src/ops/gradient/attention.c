/* The rule for the gradients of attention. gradient.c looks rules up in this list. It computes the scores again, as
 * products of matrices. */
#include <math.h>

#include "base/status.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

/* The operands as [n, heads, t, head], each head of k and v repeated for its group of q's heads, and what was computed
 * of them. */
typedef struct attending {
  nd4c_emitted q, k, v, given;
  int64_t heads, kv_heads; /* of 3-D operands, else 0 */
  int64_t repeats;         /* heads of q for one of k */
  double scale, cap;       /* cap 0: none */
  nd4c_emitted slope;      /* of the soft cap; NONE: there is none */
  nd4c_emitted allowed;    /* true for each key that takes part; NONE: all do */
  nd4c_emitted shares;     /* the softmax */
} attending;

enum { AXES = 4 };

static nd4c_status swap_last(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  return nd4c_emit_unary(e, ND4C_OP_matrix_transpose, x, y);
}

/* [n, t, heads * head] and [n, heads, t, head] become each other. */
static nd4c_status swap_heads(nd4c_emitter *e, nd4c_emitted x, nd4c_emitted *y) {
  static const int64_t axes[] = {0, 2, 1, 3};
  return nd4c_emit_axes(e, ND4C_OP_transpose, x, AXES, axes, y);
}

static nd4c_status split_heads(nd4c_emitter *e, nd4c_emitted x, int64_t heads, nd4c_emitted *y) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, x);
  *y = x;
  if (heads == 0) {
    return ND4C_OK;
  }
  const int64_t features = nd4c_gradient_join_extents(info.shape + 2, 1);
  const int64_t shape[] = {info.shape[0], info.shape[1], heads, features < 0 ? -1 : features / heads};
  ND4C_TRY(nd4c_emit_reshape(e, x, AXES, shape, y));
  return swap_heads(e, *y, y);
}

static nd4c_status join_heads(nd4c_emitter *e, nd4c_emitted like, int64_t heads, nd4c_emitted *x) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, like);
  if (heads == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(swap_heads(e, *x, x));
  return nd4c_emit_reshape(e, *x, info.rank, info.shape, x);
}

/* Each head `times` times, one behind the other. */
static nd4c_status repeat_heads(nd4c_emitter *e, int64_t times, nd4c_emitted *x) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, *x);
  const int64_t *s = info.shape;
  const int64_t apart[] = {s[0], s[1], 1, s[2], s[3]}, spread[] = {s[0], s[1], times, s[2], s[3]},
                joined[] = {s[0], s[1] * times, s[2], s[3]};
  if (times == 1) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit_reshape(e, *x, AXES + 1, apart, x));
  ND4C_TRY(nd4c_emit_broadcast(e, *x, AXES + 1, spread, x));
  return nd4c_emit_reshape(e, *x, AXES, joined, x);
}

/* The sum over the heads that one was repeated for. */
static nd4c_status sum_heads(nd4c_emitter *e, int64_t times, nd4c_emitted *x) {
  static const int64_t repeated = 2;
  const nd4c_emitted_info info = nd4c_emitted_get(e, *x);
  const int64_t *s = info.shape;
  const int64_t apart[] = {s[0], s[1] / times, times, s[2], s[3]};
  if (times == 1) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_emit_reshape(e, *x, AXES + 1, apart, x));
  return nd4c_emit_reduce(e, ND4C_OP_sum, *x, 1, &repeated, false, x);
}

static nd4c_status check(nd4c_emitter *e, const nd4c_gradient_step *step) {
  const nd4c_emitted mask = nd4c_gradient_input(step, ND4C_IN_attention_mask);
  const bool past = nd4c_gradient_input(step, ND4C_IN_attention_past_key) != ND4C_EMITTED_NONE;
  const bool lengths = nd4c_gradient_input(step, ND4C_IN_attention_key_lengths) != ND4C_EMITTED_NONE;
  const bool windows =
      step->attrs[ND4C_ATTR_attention_left_window].as.i >= 0 || step->attrs[ND4C_ATTR_attention_right_window].as.i >= 0;
  if (past || lengths || windows) {
    return nd4c_fail(ND4C_UNSUPPORTED, "attention with %s has no gradient",
                     past      ? "past keys"
                     : lengths ? "lengths of keys"
                               : "windows");
  }
  if (mask == ND4C_EMITTED_NONE) {
    return ND4C_OK;
  }
  const nd4c_emitted_info info = nd4c_emitted_get(e, mask), k = nd4c_emitted_get(e, step->inputs[1]);
  const int64_t keys = k.shape[k.rank - 2], last = info.rank > 0 ? info.shape[info.rank - 1] : 1;
  return last == 1 || last == keys
             ? ND4C_OK
             : nd4c_fail(ND4C_UNSUPPORTED, "attention with a mask for some of the keys has no gradient");
}

static nd4c_status take_operands(nd4c_emitter *e, const nd4c_gradient_step *step, attending *a) {
  const nd4c_attr_value *attrs = step->attrs;
  const bool packed = nd4c_emitted_get(e, step->inputs[0]).rank == 3;
  ND4C_TRY(check(e, step));
  a->heads = packed ? attrs[ND4C_ATTR_attention_q_heads].as.i : 0;
  a->kv_heads = packed ? attrs[ND4C_ATTR_attention_kv_heads].as.i : 0;
  ND4C_TRY(split_heads(e, step->inputs[0], a->heads, &a->q));
  ND4C_TRY(split_heads(e, step->inputs[1], a->kv_heads, &a->k));
  ND4C_TRY(split_heads(e, step->inputs[2], a->kv_heads, &a->v));
  ND4C_TRY(split_heads(e, step->given, a->heads, &a->given));
  const nd4c_emitted_info q = nd4c_emitted_get(e, a->q), k = nd4c_emitted_get(e, a->k);
  if (nd4c_extent_is_symbolic(q.shape[1]) || nd4c_extent_is_symbolic(k.shape[1]) || k.shape[1] == 0 ||
      nd4c_extent_is_symbolic(q.shape[3]) || q.shape[3] == 0) {
    return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of attention needs numbers of heads and features");
  }
  a->repeats = q.shape[1] / k.shape[1];
  a->scale =
      attrs[ND4C_ATTR_attention_scale].as.f != 0 ? attrs[ND4C_ATTR_attention_scale].as.f : 1 / sqrt((double)q.shape[3]);
  a->cap = attrs[ND4C_ATTR_attention_softcap].as.f;
  ND4C_TRY(repeat_heads(e, a->repeats, &a->k));
  return repeat_heads(e, a->repeats, &a->v);
}

/* True for each key that is not behind its query. */
static nd4c_status find_causal(nd4c_emitter *e, nd4c_emitted scores, nd4c_emitted *allowed) {
  const nd4c_emitted_info info = nd4c_emitted_get(e, scores);
  ND4C_TRY(nd4c_emit_full(e, info.dtype, 1, 2, info.shape + 2, allowed));
  ND4C_TRY(nd4c_emit_unary(e, ND4C_OP_tril, *allowed, allowed));
  return nd4c_emit_with_scalar(e, ND4C_OP_greater, *allowed, 0, allowed);
}

/* Adds a mask of numbers to the scores, and finds which keys take part. */
static nd4c_status mask_scores(nd4c_emitter *e, const nd4c_gradient_step *step, attending *a, nd4c_emitted *scores) {
  const nd4c_dtype dtype = nd4c_emitted_get(e, *scores).dtype;
  nd4c_emitted mask = nd4c_gradient_input(step, ND4C_IN_attention_mask), part = ND4C_EMITTED_NONE;
  if (step->attrs[ND4C_ATTR_attention_is_causal].as.i != 0) {
    ND4C_TRY(find_causal(e, *scores, &a->allowed));
  }
  if (mask == ND4C_EMITTED_NONE) {
    return ND4C_OK;
  }
  if (nd4c_emitted_get(e, mask).dtype == ND4C_BOOL) {
    part = mask;
  } else { /* compared in its own dtype: a number may be -infinity in the scores' */
    ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_greater, mask, -(double)INFINITY, &part));
    ND4C_TRY(nd4c_emit_cast(e, mask, dtype, &mask));
    ND4C_TRY(nd4c_emit_binary(e, ND4C_OP_add, *scores, mask, scores));
  }
  if (a->allowed == ND4C_EMITTED_NONE) {
    a->allowed = part;
    return ND4C_OK;
  }
  return nd4c_emit_binary(e, ND4C_OP_logical_and, a->allowed, part, &a->allowed);
}

/* The softmax over the keys that take part; a query without keys has no shares. */
static nd4c_status find_shares(nd4c_emitter *e, nd4c_emitted scores, attending *a) {
  nd4c_emitted other = ND4C_EMITTED_NONE;
  if (a->allowed != ND4C_EMITTED_NONE) { /* an allowed key's score may be the lowest number there is */
    ND4C_TRY(nd4c_emit_scalar_like(e, scores, -(double)INFINITY, &other));
    ND4C_TRY(nd4c_emit_where(e, a->allowed, scores, other, &scores));
  }
  ND4C_TRY(nd4c_emit_along(e, ND4C_OP_softmax, &scores, 1, -1, &a->shares));
  if (a->allowed != ND4C_EMITTED_NONE) { /* without keys the softmax is NaN */
    ND4C_TRY(nd4c_emit_scalar_like(e, scores, 0, &other));
    ND4C_TRY(nd4c_emit_where(e, a->allowed, a->shares, other, &a->shares));
  }
  return ND4C_OK;
}

static nd4c_status attend(nd4c_emitter *e, const nd4c_gradient_step *step, attending *a) {
  nd4c_emitted turned = ND4C_EMITTED_NONE, scores = ND4C_EMITTED_NONE;
  ND4C_TRY(swap_last(e, a->k, &turned));
  BINARY(matmul, a->q, turned, &scores);
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_multiply, scores, a->scale, &scores));
  if (a->cap > 0) { /* cap tanh(s / cap), whose slope is 1 - tanh^2 */
    nd4c_emitted one = ND4C_EMITTED_NONE;
    ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_divide, scores, a->cap, &scores));
    UNARY(tanh, scores, &scores);
    UNARY(square, scores, &a->slope);
    ND4C_TRY(nd4c_emit_scalar_like(e, scores, 1, &one));
    BINARY(subtract, one, a->slope, &a->slope);
    ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_multiply, scores, a->cap, &scores));
  }
  const nd4c_dtype dtype = nd4c_emitted_get(e, scores).dtype;
  ND4C_TRY(nd4c_emit_cast(e, scores, nd4c_gradient_wide(dtype), &scores)); /* a mask of float32 stays finite */
  ND4C_TRY(mask_scores(e, step, a, &scores));
  ND4C_TRY(find_shares(e, scores, a));
  return nd4c_emit_cast(e, a->shares, dtype, &a->shares);
}

/* What the scores behind the mask give: p (d - sum of d p) with d = g v^T. */
static nd4c_status go_to_scores(nd4c_emitter *e, const attending *a, nd4c_emitted *gradient) {
  static const int64_t keys = -1;
  nd4c_emitted sum = ND4C_EMITTED_NONE;
  ND4C_TRY(swap_last(e, a->v, gradient));
  BINARY(matmul, a->given, *gradient, gradient);
  BINARY(multiply, *gradient, a->shares, &sum);
  ND4C_TRY(nd4c_emit_reduce(e, ND4C_OP_sum, sum, 1, &keys, true, &sum));
  BINARY(subtract, *gradient, sum, gradient);
  return nd4c_emit_binary(e, ND4C_OP_multiply, *gradient, a->shares, gradient);
}

ND4C_GRADIENT(attention) {
  attending a = {.slope = ND4C_EMITTED_NONE, .allowed = ND4C_EMITTED_NONE};
  ND4C_TRY(take_operands(e, step, &a));
  ND4C_TRY(attend(e, step, &a));
  if (index == 2) {
    ND4C_TRY(swap_last(e, a.shares, gradient));
    BINARY(matmul, *gradient, a.given, gradient);
    ND4C_TRY(sum_heads(e, a.repeats, gradient));
    return join_heads(e, step->inputs[2], a.kv_heads, gradient);
  }
  ND4C_TRY(go_to_scores(e, &a, gradient));
  if (index == ND4C_IN_attention_mask) {
    return ND4C_OK;
  }
  if (a.slope != ND4C_EMITTED_NONE) {
    BINARY(multiply, *gradient, a.slope, gradient);
  }
  ND4C_TRY(nd4c_emit_with_scalar(e, ND4C_OP_multiply, *gradient, a.scale, gradient));
  if (index == 0) {
    BINARY(matmul, *gradient, a.k, gradient);
    return join_heads(e, step->inputs[0], a.heads, gradient);
  }
  ND4C_TRY(swap_last(e, *gradient, gradient));
  BINARY(matmul, *gradient, a.q, gradient);
  ND4C_TRY(sum_heads(e, a.repeats, gradient));
  return join_heads(e, step->inputs[1], a.kv_heads, gradient);
}

const nd4c_gradient_row nd4c_gradient_attention[] = {ND4C_GRADIENT_ATTENTION(ROW){ND4C_OP_NONE, NULL}};
