/* Inference rules of op_table/recurrent.h. nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include "base/status.h"
#include "ops/infer/rules.h"

enum { WIDEST = 1 << 28 }; /* units of a layer: products with the number of gates stay small */

/* What a layer consists of. */
typedef struct layer {
  int64_t steps, batch, inputs, hidden, directions, gates;
  int32_t functions; /* activations a direction */
} layer;

/* Activations are shared by the layers: rnn's positions. */
_Static_assert((int)ND4C_ATTR_rnn_activations == (int)ND4C_ATTR_lstm_activations &&
                   (int)ND4C_ATTR_rnn_batch_first == (int)ND4C_ATTR_gru_batch_first &&
                   (int)ND4C_ATTR_rnn_batch_first == (int)ND4C_ATTR_lstm_batch_first,
               "layers share the positions of their attributes");
_Static_assert((int)ND4C_IN_rnn_initial_h == (int)ND4C_IN_lstm_initial_h &&
                   (int)ND4C_IN_rnn_initial_h == (int)ND4C_IN_gru_initial_h,
               "layers share the positions of their inputs");

static nd4c_status check_activations(const nd4c_inference *inference, const layer *l) {
  const nd4c_attr_value *list = &inference->attrs[ND4C_ATTR_rnn_activations];
  int32_t most = l->functions * (int32_t)l->directions;
  if (list->count != 0 && list->count != most) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: activations has %d values, expected %d or none", inference->op->name,
                     (int)list->count, (int)most);
  }
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_rnn_activations));
  for (int32_t i = ND4C_ATTR_rnn_alpha; i <= ND4C_ATTR_rnn_beta; i++) {
    int32_t count = inference->attrs[i].count;
    if (count != 0 && (count != most || list->count == 0)) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: %s has %d values, expected one for each of activations, or none",
                       inference->op->name, inference->op->attrs[i].name, (int)count);
    }
  }
  if (!(inference->attrs[ND4C_ATTR_rnn_clip].as.f >= 0)) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: clip is %g, expected 0 (none) or a bound above", inference->op->name,
                     inference->attrs[ND4C_ATTR_rnn_clip].as.f);
  }
  return ND4C_OK;
}

static nd4c_status check_floats(const nd4c_inference *inference, int32_t integers) {
  for (int32_t i = 1; i < inference->input_count; i++) {
    ND4C_TRY(i == integers ? nd4c_rule_integers(inference, i) : nd4c_rule_same_dtype(inference, i));
  }
  return ND4C_OK;
}

/* A multiple of an extent; -1, which no extent is, if 64 bits do not hold it. */
static int64_t times(const nd4c_inference *inference, int64_t factor, int64_t extent) {
  int64_t product;
  return nd4c_rule_multiply(inference, factor, extent, &product) ? product : -1;
}

static nd4c_status expect(const nd4c_inference *inference, int32_t position, int32_t rank, int64_t a, int64_t b,
                          int64_t c, const char *what) {
  const int64_t shape[3] = {a, b, c};
  return nd4c_rule_expect_shape(inference, position, rank, shape, what);
}

/* Sizes from x [t, n, i] and r [d, gates * h, h]; refuses everything else that does not fit. */
static nd4c_status check_layer(nd4c_inference *inference, layer *l) {
  const nd4c_tensor *x = &inference->inputs[0], *r = &inference->inputs[ND4C_IN_rnn_r];
  bool first = inference->attrs[ND4C_ATTR_rnn_batch_first].as.i != 0;
  int64_t direction = inference->attrs[ND4C_ATTR_rnn_direction].as.i;
  ND4C_TRY(check_floats(inference, ND4C_IN_rnn_sequence_lengths));
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_rnn_direction));
  ND4C_TRY(nd4c_rule_expect_rank(inference, 0, 3, first ? "[batch, steps, inputs]" : "[steps, batch, inputs]"));
  ND4C_TRY(nd4c_rule_expect_rank(inference, ND4C_IN_rnn_r, 3, "[directions, gates * hidden, hidden]"));
  l->steps = x->shape[first ? 1 : 0];
  l->batch = x->shape[first ? 0 : 1];
  l->inputs = x->shape[2];
  l->hidden = r->shape[2];
  l->directions = direction == ND4C_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  if (l->hidden > WIDEST) {
    return nd4c_rule_refuse(inference, ND4C_IN_rnn_r, ND4C_OVERFLOW, "expected at most %d hidden units", (int)WIDEST);
  }
  int64_t rows = times(inference, l->gates, l->hidden), d = l->directions;
  ND4C_TRY(expect(inference, ND4C_IN_rnn_r, 3, d, rows, l->hidden, "[directions, gates * hidden, hidden]"));
  ND4C_TRY(expect(inference, ND4C_IN_rnn_w, 3, d, rows, l->inputs, "[directions, gates * hidden, inputs]"));
  ND4C_TRY(expect(inference, ND4C_IN_rnn_bias, 2, d, times(inference, 2 * l->gates, l->hidden), 0,
                  "[directions, 2 * gates * hidden]"));
  ND4C_TRY(expect(inference, ND4C_IN_rnn_sequence_lengths, 1, l->batch, 0, 0, "one length a sequence"));
  ND4C_TRY(expect(inference, ND4C_IN_rnn_initial_h, 3, first ? l->batch : d, first ? d : l->batch, l->hidden,
                  first ? "[batch, directions, hidden]" : "[directions, batch, hidden]"));
  return check_activations(inference, l);
}

static void layer_outputs(nd4c_inference *inference, const layer *l) {
  bool first = inference->attrs[ND4C_ATTR_rnn_batch_first].as.i != 0;
  const int64_t y[4] = {first ? l->batch : l->steps, first ? l->steps : l->directions, first ? l->directions : l->batch,
                        l->hidden};
  const int64_t h[3] = {first ? l->batch : l->directions, first ? l->directions : l->batch, l->hidden};
  nd4c_rule_output(inference, inference->inputs[0].dtype, 4, y);
  for (int32_t i = 1; i < inference->op->output_count; i++) {
    nd4c_rule_output_at(inference, i, inference->inputs[0].dtype, 3, h);
  }
}

/* Gives: y: [t, directions, n, hidden], h: [directions, n, hidden], in x's dtype; with batch_first [n, t, directions,
 * hidden] and [n, directions, hidden]. */
nd4c_status nd4c_infer_rnn(nd4c_inference *inference) {
  layer l = {.gates = 1, .functions = 1};
  ND4C_TRY(check_layer(inference, &l));
  layer_outputs(inference, &l);
  return ND4C_OK;
}

/* Gives: y: [t, directions, n, hidden], h: [directions, n, hidden], in x's dtype; with batch_first [n, t, directions,
 * hidden] and [n, directions, hidden]. */
nd4c_status nd4c_infer_gru(nd4c_inference *inference) {
  layer l = {.gates = 3, .functions = 2};
  ND4C_TRY(check_layer(inference, &l));
  layer_outputs(inference, &l);
  return ND4C_OK;
}

/* Gives: y: [t, directions, n, hidden], h and c: [directions, n, hidden], in x's dtype; with batch_first [n, t,
 * directions, hidden] and [n, directions, hidden]. */
nd4c_status nd4c_infer_lstm(nd4c_inference *inference) {
  bool first = inference->attrs[ND4C_ATTR_rnn_batch_first].as.i != 0;
  layer l = {.gates = 4, .functions = 3};
  ND4C_TRY(check_layer(inference, &l));
  ND4C_TRY(expect(inference, ND4C_IN_lstm_initial_c, 3, first ? l.batch : l.directions, first ? l.directions : l.batch,
                  l.hidden, first ? "[batch, directions, hidden]" : "[directions, batch, hidden]"));
  ND4C_TRY(expect(inference, ND4C_IN_lstm_peepholes, 2, l.directions, times(inference, 3, l.hidden), 0,
                  "[directions, 3 * hidden]"));
  layer_outputs(inference, &l);
  return ND4C_OK;
}

/* -- cells -------------------------------------------------------------------------------------------------------- */

/* x [n, i], h [n, h], then (lstm) c, w [gates * h, i], r [gates * h, h], bias [2 * gates * h]. */
static nd4c_status check_cell(nd4c_inference *inference, int64_t gates, int32_t w) {
  const nd4c_tensor *x = &inference->inputs[0], *h = &inference->inputs[1];
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(nd4c_rule_expect_rank(inference, 0, 2, "[batch, inputs]"));
  if (h->rank != 2 || !nd4c_rule_is_equal(inference, h->shape[0], x->shape[0]) || h->shape[1] > WIDEST) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected (%lld, hidden), hidden at most %d",
                            (long long)x->shape[0], (int)WIDEST);
  }
  int64_t hidden = h->shape[1], rows = times(inference, gates, hidden);
  ND4C_TRY(expect(inference, w, 2, rows, x->shape[1], 0, "[gates * hidden, inputs]"));
  ND4C_TRY(expect(inference, w + 1, 2, rows, hidden, 0, "[gates * hidden, hidden]"));
  ND4C_TRY(expect(inference, w + 2, 1, times(inference, 2 * gates, hidden), 0, 0, "[2 * gates * hidden]"));
  for (int32_t i = 0; i < inference->op->output_count; i++) {
    nd4c_rule_output_at(inference, i, x->dtype, 2, h->shape);
  }
  return ND4C_OK;
}

/* Gives: the shape and dtype of h [n, hidden]. All inputs have one dtype. */
nd4c_status nd4c_infer_rnn_cell(nd4c_inference *inference) {
  return check_cell(inference, 1, ND4C_IN_rnn_cell_w);
}

/* Gives: the shape and dtype of h [n, hidden]. All inputs have one dtype. */
nd4c_status nd4c_infer_gru_cell(nd4c_inference *inference) {
  return check_cell(inference, 3, ND4C_IN_gru_cell_w);
}

/* Gives: each the shape and dtype of h [n, hidden]. All inputs have one dtype. */
nd4c_status nd4c_infer_lstm_cell(nd4c_inference *inference) {
  const nd4c_tensor *h = &inference->inputs[1];
  ND4C_TRY(check_cell(inference, 4, ND4C_IN_lstm_cell_w));
  ND4C_TRY(nd4c_rule_expect_shape(inference, ND4C_IN_lstm_cell_c, 2, h->shape, "the shape of h"));
  return expect(inference, ND4C_IN_lstm_cell_peepholes, 1, times(inference, 3, h->shape[1]), 0, 0, "[3 * hidden]");
}

/* Gives: y: the shape of x [t, n, hidden], c: [n, hidden], in x's dtype. */
nd4c_status nd4c_infer_sru(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_all_same_dtype(inference));
  ND4C_TRY(nd4c_rule_expect_rank(inference, 0, 3, "[steps, batch, hidden]"));
  int64_t hidden = x->shape[2];
  if (hidden > WIDEST) {
    return nd4c_rule_refuse(inference, 0, ND4C_OVERFLOW, "expected at most %d hidden units", (int)WIDEST);
  }
  ND4C_TRY(expect(inference, ND4C_IN_sru_w, 2, times(inference, 3, hidden), hidden, 0, "[3 * hidden, hidden]"));
  ND4C_TRY(expect(inference, ND4C_IN_sru_bias, 1, times(inference, 2, hidden), 0, 0, "[2 * hidden]"));
  ND4C_TRY(expect(inference, ND4C_IN_sru_initial_c, 2, x->shape[1], hidden, 0, "[batch, hidden]"));
  nd4c_rule_output(inference, x->dtype, 3, x->shape);
  nd4c_rule_output_at(inference, 1, x->dtype, 2, x->shape + 1);
  return ND4C_OK;
}

/* -- connectionist temporal classification ------------------------------------------------------------------------ */

static nd4c_status check_classes(const nd4c_inference *inference, int64_t blank) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(nd4c_rule_expect_rank(inference, 0, 3, "[steps, batch, classes]"));
  if (blank < 0 || blank == INT64_MAX || !nd4c_rule_is_at_least(inference, x->shape[2], blank + 1)) {
    return nd4c_rule_refuse(inference, 0, ND4C_INDEX, "blank is %lld, expected a class, 0 or more and below %lld",
                            (long long)blank, (long long)x->shape[2]);
  }
  return ND4C_OK;
}

/* Gives: a vector of one loss for each sequence for the reduction NONE, else a scalar; in the dtype of x [t, n,
 * classes]. */
nd4c_status nd4c_infer_ctc_loss(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *targets = &inference->inputs[1];
  int64_t reduction = inference->attrs[ND4C_ATTR_ctc_loss_reduction].as.i;
  for (int32_t i = 1; i < inference->input_count; i++) {
    ND4C_TRY(nd4c_rule_integers(inference, i));
  }
  ND4C_TRY(check_classes(inference, inference->attrs[ND4C_ATTR_ctc_loss_blank].as.i));
  ND4C_TRY(nd4c_rule_choice_below(inference, ND4C_ATTR_ctc_loss_reduction, ND4C_LOSS_REDUCTION_MEAN + 1));
  int64_t batch = x->shape[1];
  if (targets->rank != 2 || !nd4c_rule_is_equal(inference, targets->shape[0], batch) ||
      targets->shape[1] > INT64_MAX / 4) {
    return nd4c_rule_refuse(inference, 1, ND4C_SHAPE, "expected (%lld, longest target)", (long long)batch);
  }
  ND4C_TRY(expect(inference, ND4C_IN_ctc_loss_input_lengths, 1, batch, 0, 0, "one length a sequence"));
  ND4C_TRY(expect(inference, ND4C_IN_ctc_loss_target_lengths, 1, batch, 0, 0, "one length a sequence"));
  nd4c_rule_output(inference, x->dtype, reduction == 0 ? 1 : 0, &batch);
  return ND4C_OK;
}

static nd4c_status check_decode(nd4c_inference *inference, int64_t blank) {
  ND4C_TRY(nd4c_rule_integers(inference, 1));
  ND4C_TRY(check_classes(inference, blank));
  return expect(inference, 1, 1, inference->inputs[0].shape[1], 0, 0, "one length a sequence");
}

/* Gives: labels: int64 [n, t]; lengths: int64 [n]; score: [n], in the dtype of x [t, n, classes]. */
nd4c_status nd4c_infer_ctc_decode(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  ND4C_TRY(check_decode(inference, inference->attrs[ND4C_ATTR_ctc_greedy_decode_blank].as.i));
  const int64_t labels[2] = {x->shape[1], x->shape[0]};
  nd4c_rule_output(inference, ND4C_INT64, 2, labels);
  nd4c_rule_output_at(inference, 1, ND4C_INT64, 1, labels);
  nd4c_rule_output_at(inference, 2, x->dtype, 1, labels);
  return ND4C_OK;
}

/* Gives: labels: int64 [n, top_paths, t]; lengths: int64 [n, top_paths]; log_probability: [n, top_paths], in the
 * dtype of x [t, n, classes]. */
nd4c_status nd4c_infer_ctc_beam_decode(nd4c_inference *inference) {
  enum { WIDEST_BEAM = 1 << 16 };
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t width = inference->attrs[ND4C_ATTR_ctc_beam_decode_beam_width].as.i;
  int64_t paths = inference->attrs[ND4C_ATTR_ctc_beam_decode_top_paths].as.i;
  ND4C_TRY(check_decode(inference, inference->attrs[ND4C_ATTR_ctc_beam_decode_blank].as.i));
  if (width < 1 || width > WIDEST_BEAM || paths < 1 || paths > width) {
    return nd4c_fail(ND4C_ARGUMENT,
                     "%s: beam_width is %lld and top_paths %lld, expected 1 <= top_paths <= beam_width <= %d",
                     inference->op->name, (long long)width, (long long)paths, (int)WIDEST_BEAM);
  }
  const int64_t labels[3] = {x->shape[1], paths, x->shape[0]};
  nd4c_rule_output(inference, ND4C_INT64, 3, labels);
  nd4c_rule_output_at(inference, 1, ND4C_INT64, 2, labels);
  nd4c_rule_output_at(inference, 2, x->dtype, 2, labels);
  return ND4C_OK;
}
