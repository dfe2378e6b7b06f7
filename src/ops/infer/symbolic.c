/* Inference with symbolic extents: which rules take them, what nd4c_op_infer (infer.c) adds to an inference with a
 * table, and the functions of arithmetic.h that are not inline. */
#include "ops/infer/symbolic.h"

#include <stdarg.h>
#include <stdio.h>

#include "array/shape.h"
#include "base/status.h"
#include "ops/infer/rules.h"

/* -- the rules that take symbolic extents ------------------------------------------------------------------------ */

/* A rule, and the attributes that may hold symbolic extents, by a bit of their positions. */
typedef struct symbolic_rule {
  nd4c_infer_function rule;
  uint32_t attrs;
} symbolic_rule;

#define ATTR(op, name) (UINT32_C(1) << ND4C_ATTR_##op##_##name)

static const symbolic_rule symbolic_rules[] = {
    /* element by element */
    {nd4c_infer_same, 0},
    {nd4c_infer_magnitude, 0},
    {nd4c_infer_predicate, 0},
    {nd4c_infer_clip, 0},
    {nd4c_infer_cast, 0},
    {nd4c_infer_promote, 0},
    {nd4c_infer_compare, 0},
    {nd4c_infer_promote_three, 0},
    {nd4c_infer_where, 0},
    {nd4c_infer_bit_count, 0},
    {nd4c_infer_bit_cast, 0},
    {nd4c_infer_true_divide, 0},
    {nd4c_infer_ldexp, 0},
    {nd4c_infer_prelu, 0},
    {nd4c_infer_divisor, 0},
    {nd4c_infer_glu, 0},
    {nd4c_infer_crelu, 0},
    /* products */
    {nd4c_infer_matmul, 0},
    {nd4c_infer_linear, 0},
    {nd4c_infer_matvec, 0},
    {nd4c_infer_vecmat, 0},
    {nd4c_infer_vecdot, 0},
    {nd4c_infer_inner, 0},
    {nd4c_infer_outer, 0},
    {nd4c_infer_cross, 0},
    {nd4c_infer_kron, 0},
    {nd4c_infer_tensordot, 0},
    {nd4c_infer_multi_dot, 0},
    {nd4c_infer_einsum, 0},
    {nd4c_infer_diagonal, 0},
    {nd4c_infer_trace, 0},
    /* factorisations and solvers */
    {nd4c_infer_matrix_square, 0},
    {nd4c_infer_cholesky, 0},
    {nd4c_infer_det, 0},
    {nd4c_infer_slogdet, 0},
    {nd4c_infer_eigvalsh, 0},
    {nd4c_infer_eigh, 0},
    {nd4c_infer_eigvals, 0},
    {nd4c_infer_eig, 0},
    {nd4c_infer_qr, 0},
    {nd4c_infer_svd, 0},
    {nd4c_infer_svdvals, 0},
    {nd4c_infer_pinv, 0},
    {nd4c_infer_matrix_rank, 0},
    {nd4c_infer_lu, 0},
    {nd4c_infer_lu_factor, 0},
    {nd4c_infer_solve, 0},
    {nd4c_infer_triangular_solve, 0},
    {nd4c_infer_lu_solve, 0},
    {nd4c_infer_lstsq, 0},
    {nd4c_infer_matrix_norm, 0},
    {nd4c_infer_vector_norm, 0},
    /* signals */
    {nd4c_infer_fft, 0},
    {nd4c_infer_rfft, 0},
    {nd4c_infer_irfft, 0},
    {nd4c_infer_fftn, 0},
    {nd4c_infer_rfftn, 0},
    {nd4c_infer_irfftn, 0},
    {nd4c_infer_fftshift, 0},
    {nd4c_infer_stft, 0},
    {nd4c_infer_istft, 0},
    {nd4c_infer_convolve, 0},
    {nd4c_infer_view_as_complex, 0},
    {nd4c_infer_view_as_real, 0},
    /* attention */
    {nd4c_infer_attention, 0},
    {nd4c_infer_attention_with_cache, 0},
    {nd4c_infer_multi_head_attention, 0},
    {nd4c_infer_rotary_embedding, 0},
    {nd4c_infer_linear_attention, 0},
    {nd4c_infer_embedding_bag, 0},
    /* windows */
    {nd4c_infer_conv, 0},
    {nd4c_infer_separable_conv2d, 0},
    {nd4c_infer_pool, 0},
    {nd4c_infer_conv_transpose, 0},
    {nd4c_infer_deformable_conv, 0},
    {nd4c_infer_causal_conv, 0},
    {nd4c_infer_max_pool_with_indices, 0},
    {nd4c_infer_lp_pool, 0},
    {nd4c_infer_max_unpool, 0},
    {nd4c_infer_global_pool, 0},
    {nd4c_infer_global_lp_pool, 0},
    {nd4c_infer_adaptive_pool, 0},
    {nd4c_infer_adaptive_max_pool, 0},
    {nd4c_infer_morphology, 0},
    {nd4c_infer_resize, ATTR(resize, sizes)},
    {nd4c_infer_crop_and_resize, 0},
    {nd4c_infer_grid_sample, 0},
    {nd4c_infer_affine_grid, ATTR(affine_grid, size)},
    {nd4c_infer_spatial_transformer, 0},
    {nd4c_infer_roi_align, 0},
    {nd4c_infer_max_roi_pool, 0},
    {nd4c_infer_color, 0},
    {nd4c_infer_grayscale, 0},
    {nd4c_infer_contrast, 0},
    /* shapes */
    {nd4c_infer_reshape, ATTR(reshape, shape)},
    {nd4c_infer_broadcast_to, ATTR(broadcast_to, shape)},
    {nd4c_infer_flatten, 0},
    {nd4c_infer_transpose, 0},
    {nd4c_infer_squeeze, 0},
    {nd4c_infer_expand_dims, 0},
    {nd4c_infer_concat, 0},
    {nd4c_infer_gather, 0},
    {nd4c_infer_slice, ATTR(slice, starts) | ATTR(slice, stops)},
    {nd4c_infer_flip, 0},
    {nd4c_infer_swapaxes, 0},
    {nd4c_infer_moveaxis, 0},
    {nd4c_infer_atleast_nd, 0},
    {nd4c_infer_select, 0},
    {nd4c_infer_matrix_transpose, 0},
    {nd4c_infer_sliding_window_view, 0},
    {nd4c_infer_unfold, 0},
    /* arrangement */
    {nd4c_infer_stack, 0},
    {nd4c_infer_pad, ATTR(pad, pads)},
    {nd4c_infer_tile, ATTR(tile, repeats)},
    {nd4c_infer_repeat, 0},
    {nd4c_infer_roll, 0},
    {nd4c_infer_depth_to_space, 0},
    {nd4c_infer_space_to_depth, 0},
    {nd4c_infer_space_to_batch, 0},
    {nd4c_infer_batch_to_space, 0},
    {nd4c_infer_im2col, 0},
    {nd4c_infer_col2im, 0},
    {nd4c_infer_reverse_sequence, 0},
    /* indices */
    {nd4c_infer_take, 0},
    {nd4c_infer_embedding_lookup, 0},
    {nd4c_infer_take_along_axis, 0},
    {nd4c_infer_gather_elements, 0},
    {nd4c_infer_gather_nd, 0},
    {nd4c_infer_put_along_axis, 0},
    {nd4c_infer_scatter_elements, 0},
    {nd4c_infer_scatter_nd, 0},
    {nd4c_infer_scatter, 0},
    {nd4c_infer_index_fill, 0},
    {nd4c_infer_tensor_scatter, 0},
    {nd4c_infer_masked_fill, 0},
    {nd4c_infer_masked_scatter, 0},
    {nd4c_infer_triangle, ATTR(tril, k)}, /* triu's lies there, too */
    {nd4c_infer_band, 0},
    {nd4c_infer_diag, 0},
    {nd4c_infer_diag_embed, 0},
    {nd4c_infer_matrix_set_diag, 0},
    {nd4c_infer_invert_permutation, 0},
    {nd4c_infer_unravel_index, 0},
    {nd4c_infer_ravel_multi_index, 0},
    {nd4c_infer_dynamic_partition, 0},
    {nd4c_infer_segment_reduce, 0},
    {nd4c_infer_sequence_mask, ATTR(sequence_mask, maxlen)},
    {nd4c_infer_one_hot, ATTR(one_hot, depth)},
    /* sorting and searching */
    {nd4c_infer_sort, 0},
    {nd4c_infer_argsort, 0},
    {nd4c_infer_lexsort, 0},
    {nd4c_infer_top_k, ATTR(top_k, k)},
    {nd4c_infer_kth_value, 0},
    {nd4c_infer_searchsorted, 0},
    {nd4c_infer_digitize, 0},
    {nd4c_infer_is_ordered, 0},
    {nd4c_infer_isin, 0},
    {nd4c_infer_in_top_k, 0},
    {nd4c_infer_histogram, 0},
    {nd4c_infer_bin_edges, 0},
    {nd4c_infer_fixed_width, 0},
    {nd4c_infer_confusion_matrix, 0},
    /* learning */
    {nd4c_infer_label_index, 0},
    {nd4c_infer_tree_ensemble, 0},
    {nd4c_infer_score_transform, 0},
    {nd4c_infer_svm_kernel, 0},
    {nd4c_infer_svm_probabilities, 0},
    /* reductions and statistics */
    {nd4c_infer_reduce_sum, 0},
    {nd4c_infer_reduce_same, 0},
    {nd4c_infer_reduce_bool, 0},
    {nd4c_infer_reduce_nonempty, 0},
    {nd4c_infer_arg_reduce, 0},
    {nd4c_infer_reduce_real, 0},
    {nd4c_infer_reduce_real_nonempty, 0},
    {nd4c_infer_reduce_count, 0},
    {nd4c_infer_reduce_fraction, 0},
    {nd4c_infer_reduce_quantile, 0},
    {nd4c_infer_moments, 0},
    {nd4c_infer_distance, 0},
    {nd4c_infer_quantile, 0},
    {nd4c_infer_along_axis, 0},
    {nd4c_infer_cumulative, 0},
    {nd4c_infer_cumulative_best, 0},
    {nd4c_infer_diff, 0},
    /* normalisation */
    {nd4c_infer_batch_norm, 0},
    {nd4c_infer_layer_norm, 0},
    {nd4c_infer_axis_same, 0},
    {nd4c_infer_lrn, 0},
    {nd4c_infer_instance_norm, 0},
    {nd4c_infer_group_norm, 0},
    {nd4c_infer_rms_norm, 0},
    {nd4c_infer_layer_norm_with_statistics, 0},
    {nd4c_infer_skip_layer_norm, 0},
    {nd4c_infer_lp_normalize, 0},
    {nd4c_infer_standardize, 0},
    {nd4c_infer_batch_norm_training, 0},
    {nd4c_infer_bias_add, 0},
    {nd4c_infer_clip_by_norm, 0},
    {nd4c_infer_global_norm, 0},
    /* losses and optimisers */
    {nd4c_infer_loss, 0},
    {nd4c_infer_loss_delta, 0},
    {nd4c_infer_loss_beta, 0},
    {nd4c_infer_loss_epsilon, 0},
    {nd4c_infer_loss_smoothing, 0},
    {nd4c_infer_loss_log, 0},
    {nd4c_infer_axis_loss, 0},
    {nd4c_infer_nll_loss, 0},
    {nd4c_infer_softmax_cross_entropy, 0},
    {nd4c_infer_optimizer, 0},
    {nd4c_infer_optimizer_step, 0},
    /* recurrent layers */
    {nd4c_infer_rnn, 0},
    {nd4c_infer_gru, 0},
    {nd4c_infer_lstm, 0},
    {nd4c_infer_rnn_cell, 0},
    {nd4c_infer_gru_cell, 0},
    {nd4c_infer_lstm_cell, 0},
    {nd4c_infer_sru, 0},
    {nd4c_infer_ctc_decode, 0},
    {nd4c_infer_ctc_beam_decode, 0},
    {nd4c_infer_ctc_loss, 0},
    /* quantisation */
    {nd4c_infer_cast_float8, 0},
    {nd4c_infer_quantize_linear, 0},
    {nd4c_infer_dequantize_linear, 0},
    {nd4c_infer_dynamic_quantize_linear, 0},
    {nd4c_infer_fake_quantize, 0},
    {nd4c_infer_matmul_integer, 0},
    {nd4c_infer_qlinear_matmul, 0},
    {nd4c_infer_qlinear_add, 0},
    {nd4c_infer_linear_int8, 0},
    {nd4c_infer_matmul_nbits, 0},
    {nd4c_infer_conv_integer, 0},
    {nd4c_infer_qlinear_conv, 0},
    /* creation */
    {nd4c_infer_full, ATTR(full, shape)},
    {nd4c_infer_full_like, 0},
    {nd4c_infer_filled, ATTR(zeros, shape)},
    {nd4c_infer_like, 0},
    {nd4c_infer_eye, ATTR(eye, rows) | ATTR(eye, columns)},
    {nd4c_infer_indices, ATTR(indices, shape)},
    {nd4c_infer_random_bits, ATTR(random_bits, shape)},
    {nd4c_infer_random_uniform, ATTR(random_uniform, shape)},
    {nd4c_infer_random_normal, ATTR(random_normal, shape)},
    {nd4c_infer_random_bernoulli, ATTR(random_bernoulli, shape)},
    {nd4c_infer_random_truncated, ATTR(random_truncated_normal, shape)},
    {nd4c_infer_random_exponential, ATTR(random_exponential, shape)},
    {nd4c_infer_random_integers, ATTR(random_integers, shape)},
    {nd4c_infer_random_binomial, ATTR(random_binomial, shape)},
    {nd4c_infer_random_poisson, ATTR(random_poisson, shape)},
    {nd4c_infer_random_gamma, ATTR(random_gamma, shape)},
    {nd4c_infer_random_categorical, 0},
    {nd4c_infer_random_shuffle, 0},
    {nd4c_infer_random_dropout, 0},
    {nd4c_infer_rrelu, 0},
    {nd4c_infer_integer_range, ATTR(integer_range, start) | ATTR(integer_range, stop)},
};

static const symbolic_rule *find_rule(nd4c_infer_function rule) {
  for (size_t i = 0; i < sizeof symbolic_rules / sizeof *symbolic_rules; i++) {
    if (symbolic_rules[i].rule == rule) {
      return &symbolic_rules[i];
    }
  }
  return NULL;
}

bool nd4c_op_takes_symbolic(const nd4c_op_def *def, uint32_t *attrs) {
  const symbolic_rule *row = nd4c_op_is_foreign(def) ? NULL : find_rule(def->infer);
  if (attrs != NULL) {
    *attrs = row != NULL ? row->attrs : 0;
  }
  return row != NULL;
}

/* -- checks ------------------------------------------------------------------------------------------------------ */

static bool has_symbolic(const nd4c_extents *extents, int32_t count, const int64_t *numbers) {
  for (int32_t i = 0; i < count; i++) {
    if (nd4c_extents_has(extents, numbers[i])) {
      return true;
    }
  }
  return false;
}

static bool attr_is_symbolic(const nd4c_extents *extents, const nd4c_attr_value *value) {
  return value->kind == ND4C_ATTR_INT    ? has_symbolic(extents, 1, &value->as.i)
         : value->kind == ND4C_ATTR_INTS ? value->as.ints != NULL && has_symbolic(extents, value->count, value->as.ints)
                                         : false;
}

static nd4c_status check_attrs(const nd4c_inference *inference, const symbolic_rule *row, bool *symbolic) {
  const nd4c_op_info *op = inference->op;
  for (int32_t i = 0; inference->attrs != NULL && i < op->attr_count; i++) {
    if (!attr_is_symbolic(inference->extents, &inference->attrs[i])) {
      continue;
    }
    *symbolic = true;
    if (row != NULL && (row->attrs & (UINT32_C(1) << i)) == 0) {
      return nd4c_fail(ND4C_UNSUPPORTED, "%s: attribute %s holds an extent of the graph's dims, expected a number",
                       op->name, op->attrs[i].name);
    }
  }
  return ND4C_OK;
}

static const char advice[] = "bind the graph's dims first (nd4c_graph_bind)";

nd4c_status nd4c_rule_needs_numbers(const nd4c_inference *inference, int32_t input, const char *format, ...) {
  char text[ND4C_RULE_TEXT_SIZE / 2];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return nd4c_rule_refuse(inference, input, ND4C_UNSUPPORTED, "%s: %s", text, advice);
}

nd4c_status nd4c_rule_too_long(const nd4c_inference *inference, int32_t input, int32_t axis) {
  return nd4c_rule_refuse(inference, input, ND4C_OVERFLOW, "axis %d of the result exceeds 64 bits", (int)axis);
}

/* Refuses symbolic extents where the op's rule cannot take them. */
static nd4c_status check_rule(const nd4c_op_def *def, const nd4c_inference *inference) {
  const symbolic_rule *row = nd4c_op_is_foreign(def) ? NULL : find_rule(def->infer);
  bool symbolic = false;
  int32_t input = -1;
  ND4C_TRY(check_attrs(inference, row, &symbolic));
  for (int32_t i = 0; i < inference->input_count && inference->inputs != NULL; i++) {
    const nd4c_tensor *x = &inference->inputs[i];
    bool fine = x->dtype != ND4C_DTYPE_NONE && x->rank > 0 && x->rank <= ND4C_MAX_RANK && x->shape != NULL;
    input = fine && input < 0 && has_symbolic(inference->extents, x->rank, x->shape) ? i : input;
  }
  if (row != NULL || (!symbolic && input < 0)) {
    return ND4C_OK;
  }
  return input < 0
             ? nd4c_fail(ND4C_UNSUPPORTED, "%s: its inference rule takes numbers only: %s", def->info.name, advice)
             : nd4c_rule_needs_numbers(inference, input, "its inference rule takes numbers only");
}

nd4c_status nd4c_infer_symbolic(const nd4c_op_def *def, nd4c_inference *inference, nd4c_symbolic_function infer) {
  nd4c_extents *extents = inference->extents;
  int32_t guards = nd4c_extents_guard_count(extents);
  (void)nd4c_extents_failure(extents);
  nd4c_extents_set_asker(extents, def->info.name);
  nd4c_status status = check_rule(def, inference);
  status = status == ND4C_OK ? infer(def, inference) : status;
  nd4c_extents_set_asker(extents, NULL);
  nd4c_status failure = nd4c_extents_failure(extents);
  if (failure != ND4C_OK) {
    nd4c_extents_forget(extents, guards);
    return nd4c_fail(
        failure, "%s: the extents of its results could not be computed: %s", def->info.name,
        failure == ND4C_MEMORY ? "expected more memory for them" : "expected expressions of fewer terms and factors");
  }
  if (status != ND4C_OK) {
    nd4c_extents_forget(extents, guards);
    return nd4c_extents_translate_error(extents, status);
  }
  return ND4C_OK;
}

/* -- what arithmetic.h declares ---------------------------------------------------------------------------------- */

bool nd4c_symbolic_same_shape(const nd4c_inference *inference, int32_t a_rank, const int64_t *a, int32_t b_rank,
                              const int64_t *b) {
  bool same = a_rank == b_rank;
  for (int32_t i = 0; same && i < a_rank; i++) {
    same = nd4c_rule_is_equal(inference, a[i], b[i]);
  }
  return same;
}

bool nd4c_symbolic_broadcasts_into(const nd4c_inference *inference, int64_t extent, int64_t to) {
  bool number = !nd4c_extents_has(inference->extents, extent), into_number = !nd4c_extents_has(inference->extents, to);
  if (number && into_number) {
    return false;
  }
  nd4c_relation relation = !number && into_number ? ND4C_RELATION_BROADCASTS : ND4C_RELATION_EQUAL;
  return nd4c_extents_assume(inference->extents, relation, extent, to);
}

bool nd4c_rule_broadcast_axis(const nd4c_inference *inference, int64_t a, int64_t b, int64_t *extent) {
  bool from_b = a == 1 || (b != 1 && nd4c_extents_has(inference->extents, a) && b >= 0);
  *extent = from_b ? b : a;
  return nd4c_rule_broadcasts_into(inference, from_b ? a : b, *extent);
}

nd4c_status nd4c_symbolic_broadcast(const nd4c_inference *inference, int32_t a_rank, const int64_t *a, int32_t b_rank,
                                    const int64_t *b, int32_t *rank, int64_t *shape) {
  int64_t result[ND4C_MAX_RANK];
  int32_t longer = a_rank > b_rank ? a_rank : b_rank;
  bool fits = true;
  for (int32_t i = 0; i < longer; i++) {
    int32_t of_a = i - (longer - a_rank), of_b = i - (longer - b_rank);
    fits = fits && nd4c_rule_broadcast_axis(inference, of_a < 0 ? 1 : a[of_a], of_b < 0 ? 1 : b[of_b], &result[i]);
  }
  if (!fits) {
    char left[512], right[512];
    return nd4c_fail(ND4C_SHAPE, "shapes %s and %s do not broadcast", nd4c_shape_text(a_rank, a, left, sizeof left),
                     nd4c_shape_text(b_rank, b, right, sizeof right));
  }
  *rank = longer;
  memcpy(shape, result, (size_t)longer * sizeof *shape);
  return ND4C_OK;
}

nd4c_status nd4c_rule_extent_range(nd4c_inference *inference, int64_t start, int64_t stop, int64_t step,
                                   bool endpoint) {
  const nd4c_dtype dtype = (nd4c_dtype)inference->attrs[ND4C_ATTR_integer_range_dtype].as.i;
  nd4c_extents *extents = inference->extents;
  int64_t end, count;
  const bool counts = !endpoint && step > 0 && (start >= 0 || nd4c_extents_has(extents, start)) &&
                      (stop >= 0 || nd4c_extents_has(extents, stop)) && (dtype == ND4C_INT64 || dtype == ND4C_INT32);
  if (!counts) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "integer_range: from or to an extent of the graph's dims by %lld, expected a step of at least 1, "
                     "ends of at least 0, no endpoint, and dtype int64 or int32",
                     (long long)step);
  }
  if (dtype == ND4C_INT32 &&
      !(nd4c_rule_is_at_least(inference, INT32_MAX, start) && nd4c_rule_is_at_least(inference, INT32_MAX, stop))) {
    return nd4c_fail(ND4C_OVERFLOW, "integer_range: an end does not fit int32");
  }
  if (!nd4c_extents_maximum(extents, start, stop, &end) || !nd4c_rule_subtract(inference, end, start, &count) ||
      !nd4c_rule_divide_up(inference, count, step, &count)) {
    return nd4c_fail(ND4C_OVERFLOW, "integer_range: more elements than 64 bits count");
  }
  nd4c_rule_output(inference, dtype, 1, &count);
  return ND4C_OK;
}
