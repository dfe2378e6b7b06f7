/* Linear models and support vectors of ai.onnx.ml: products with lists of coefficients. emission/scope.c calls the emit
 * functions through the rows below. */
#include "base/status.h"
#include "import/onnx/emission/lists.h"
#include "import/onnx/family.h"
#include "ops/compose/compose.h"

static const char *const transforms[] = {ND4C_POST_TRANSFORM_TABLE(ND4C_ONNX_WORD) NULL};

/* x as [n, features] in float32, or float64 if x has that dtype. */
static nd4c_status rows_of(nd4c_onnx_emission *emission, nd4c_onnx_operand *x, nd4c_emitted_info *info) {
  *info = nd4c_emitted_get(&emission->emitter, emission->inputs[0]);
  nd4c_dtype dtype = info->dtype == ND4C_FLOAT64 ? ND4C_FLOAT64 : ND4C_FLOAT32;
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, emission->inputs[0], dtype, x));
  if (info->rank == 1) {
    ND4C_TRY(nd4c_emit_reshape(&emission->emitter, *x, 2, (int64_t[]){1, info->shape[0]}, x));
  }
  *info = nd4c_emitted_get(&emission->emitter, *x);
  return info->rank == 2 ? ND4C_OK : nd4c_fail(ND4C_SHAPE, "x has %d axes; expected [n, features]", (int)info->rank);
}

/* A list of floats as a constant [rows, columns], transposed if wanted; rows -1: as many as there are. */
static nd4c_status table_of(nd4c_onnx_emission *emission, const char *name, nd4c_dtype dtype, int64_t rows,
                            int64_t columns, nd4c_onnx_operand *table) {
  const double *values = NULL;
  int32_t count = 0;
  ND4C_TRY(nd4c_onnx_get_floats(emission, name, &values, &count));
  if (columns < 1 || rows == 0 || (rows > 0 ? count != rows * columns : count == 0 || count % columns != 0)) {
    return nd4c_fail(ND4C_FORMAT, "attribute %s has %d values; expected rows of %lld", name, (int)count,
                     (long long)columns);
  }
  ND4C_TRY(nd4c_onnx_float_list(emission, values, count, dtype, table));
  return nd4c_emit_reshape(&emission->emitter, *table, 2, (int64_t[]){count / columns, columns}, table);
}

/* y + a list of floats, if there is one. */
static nd4c_status add_list(nd4c_onnx_emission *emission, const char *name, nd4c_onnx_operand *y) {
  const double *values = NULL;
  int32_t count = 0;
  nd4c_onnx_operand list;
  ND4C_TRY(nd4c_onnx_get_floats(emission, name, &values, &count));
  if (count == 0) {
    return ND4C_OK;
  }
  ND4C_TRY(nd4c_onnx_float_list(emission, values, count, nd4c_emitted_get(&emission->emitter, *y).dtype, &list));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *y, list, y);
}

static nd4c_status linear_scores(nd4c_onnx_emission *emission, int64_t rows, nd4c_onnx_operand *scores) {
  nd4c_onnx_operand x, table;
  nd4c_emitted_info info;
  ND4C_TRY(rows_of(emission, &x, &info));
  ND4C_TRY(table_of(emission, "coefficients", info.dtype, rows, info.shape[1], &table));
  ND4C_TRY(nd4c_emit_transposed(&emission->emitter, table, &table));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_matmul, x, table, scores));
  return add_list(emission, "intercepts", scores);
}

static nd4c_status emit_linear_regressor(nd4c_onnx_emission *emission) {
  int64_t targets = 0, post = 0;
  nd4c_onnx_operand y;
  ND4C_TRY(nd4c_onnx_get_int(emission, "targets", 1, &targets));
  ND4C_TRY(nd4c_onnx_get_word(emission, "post_transform", "NONE", transforms, &post));
  ND4C_TRY(linear_scores(emission, targets, &y));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, y, ND4C_FLOAT32, &y));
  return nd4c_compose_score_transform(&emission->emitter, y, post, &emission->outputs[0]);
}

/* One score and one label: the label if the score reaches the threshold, else 0. */
static nd4c_status single_label(nd4c_onnx_emission *emission, nd4c_onnx_operand labels, double threshold) {
  nd4c_onnx_operand zero, above;
  int64_t all = -1;
  if (nd4c_emitted_get(&emission->emitter, labels).dtype != ND4C_INT64) {
    return nd4c_fail(ND4C_UNSUPPORTED, "one class with a name; expected two or more");
  }
  ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_greater_equal, emission->outputs[1], threshold, &above));
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, above, 1, &all, &above));
  ND4C_TRY(nd4c_emit_scalar(&emission->emitter, ND4C_INT64, 0, &zero));
  return nd4c_emit_where(&emission->emitter, above, labels, zero, &emission->outputs[0]);
}

static nd4c_status emit_linear_classifier(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand labels, scores, best;
  int64_t classes = 0, post = 0;
  ND4C_TRY(nd4c_onnx_class_labels(emission, "classlabels_ints", &labels, &classes));
  ND4C_TRY(nd4c_onnx_get_word(emission, "post_transform", "NONE", transforms, &post));
  nd4c_onnx_ignore(emission, "multi_class"); /* ONNX Runtime ignores it, too */
  ND4C_TRY(linear_scores(emission, -1, &scores));
  int64_t columns = nd4c_emitted_get(&emission->emitter, scores).shape[1];
  if (columns == 1 && classes == 2) {
    ND4C_TRY(nd4c_compose_both_signs(&emission->emitter, scores, 0, &scores));
    columns = 2;
  }
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, scores, ND4C_FLOAT32, &scores));
  ND4C_TRY(nd4c_compose_score_transform(&emission->emitter, scores, post, &emission->outputs[1]));
  if (columns == 1) {
    return single_label(emission, labels, post == ND4C_POST_TRANSFORM_NONE ? 0 : 0.5);
  }
  ND4C_TRY(nd4c_compose_best_class(&emission->emitter, emission->outputs[1], &best));
  return nd4c_compose_pick(&emission->emitter, labels, best, &emission->outputs[0]);
}

/* -- support vectors ---------------------------------------------------------------------------------------------- */

/* Values of the kernel between each row of x and each support vector. */
static nd4c_status kernel_values(nd4c_onnx_emission *emission, nd4c_onnx_operand x, nd4c_onnx_operand vectors,
                                 nd4c_onnx_operand *y) {
  static const char *const kernels[] = {ND4C_KERNEL_FUNCTION_TABLE(ND4C_ONNX_WORD) NULL};
  nd4c_onnx_operand inputs[2] = {x, vectors};
  const double *parameters = NULL;
  int32_t count = 0;
  int64_t kernel = 0;
  ND4C_TRY(nd4c_onnx_get_word(emission, "kernel_type", "LINEAR", kernels, &kernel));
  ND4C_TRY(nd4c_onnx_get_floats(emission, "kernel_params", &parameters, &count));
  if (count != 0 && count != 3) {
    return nd4c_fail(ND4C_FORMAT, "attribute kernel_params has %d values; expected gamma, coef0 and degree",
                     (int)count);
  }
  nd4c_attr attrs[] = {nd4c_attr_of_int("kernel", kernel), nd4c_attr_of_float("gamma", count > 0 ? parameters[0] : 0),
                       nd4c_attr_of_float("coef0", count > 0 ? parameters[1] : 0),
                       nd4c_attr_of_float("degree", count > 0 ? parameters[2] : 0)};
  return nd4c_emit(&emission->emitter, ND4C_OP_svm_kernel, inputs, 2, attrs, 4, y);
}

static nd4c_status emit_svm_regressor(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand x, vectors, table, y;
  nd4c_emitted_info info;
  int64_t supports = 0, one_class = 0, post = 0;
  ND4C_TRY(rows_of(emission, &x, &info));
  ND4C_TRY(nd4c_onnx_get_int(emission, "n_supports", 0, &supports));
  ND4C_TRY(nd4c_onnx_get_int(emission, "one_class", 0, &one_class));
  ND4C_TRY(nd4c_onnx_get_word(emission, "post_transform", "NONE", transforms, &post));
  nd4c_onnx_ignore(emission, "n_targets");
  if (supports > 0) {
    ND4C_TRY(table_of(emission, "support_vectors", info.dtype, supports, info.shape[1], &vectors));
    ND4C_TRY(kernel_values(emission, x, vectors, &x));
  } else { /* without support vectors the model is linear */
    nd4c_onnx_ignore(emission, "kernel_type");
    nd4c_onnx_ignore(emission, "kernel_params");
    nd4c_onnx_ignore(emission, "support_vectors");
  }
  ND4C_TRY(table_of(emission, "coefficients", info.dtype, 1, supports > 0 ? supports : info.shape[1], &table));
  ND4C_TRY(nd4c_emit_transposed(&emission->emitter, table, &table));
  ND4C_TRY(nd4c_emit_binary(&emission->emitter, ND4C_OP_matmul, x, table, &y));
  ND4C_TRY(add_list(emission, "rho", &y));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, y, ND4C_FLOAT32, &y));
  if (one_class != 0) { /* inside 1, outside -1 */
    nd4c_onnx_operand inside, one, minus_one;
    ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_greater, y, 0, &inside));
    ND4C_TRY(nd4c_emit_scalar(&emission->emitter, ND4C_FLOAT32, 1, &one));
    ND4C_TRY(nd4c_emit_scalar(&emission->emitter, ND4C_FLOAT32, -1, &minus_one));
    ND4C_TRY(nd4c_emit_where(&emission->emitter, inside, one, minus_one, &y));
  }
  return nd4c_compose_score_transform(&emission->emitter, y, post, &emission->outputs[0]);
}

/* One against one: the tables that make scores of pairs from kernel values, and votes from scores. */
typedef struct pairs {
  const int64_t *sizes; /* vectors of each class */
  const double *coefficients;
  int64_t classes, vectors, count;
  double *weights;          /* [vectors, count] */
  double *winners, *losers; /* [count, classes] */
} pairs;

static nd4c_status read_pairs(nd4c_onnx_emission *emission, pairs *p) {
  int32_t classes = 0, count = 0;
  ND4C_TRY(nd4c_onnx_get_ints(emission, "vectors_per_class", &p->sizes, &classes));
  ND4C_TRY(nd4c_onnx_get_floats(emission, "coefficients", &p->coefficients, &count));
  for (int32_t i = 0; i < classes; i++) {
    if (p->sizes[i] < 0 || p->sizes[i] > count) {
      return nd4c_fail(ND4C_FORMAT, "vectors_per_class[%d] is %lld", (int)i, (long long)p->sizes[i]);
    }
    p->vectors += p->sizes[i];
  }
  if (classes != p->classes || classes > 1024 || count != (p->classes - 1) * p->vectors) {
    return nd4c_fail(ND4C_FORMAT, "%d vectors_per_class and %d coefficients for %lld classes", (int)classes, (int)count,
                     (long long)p->classes);
  }
  p->count = p->classes * (p->classes - 1) / 2;
  const size_t votes = (size_t)(p->count * p->classes) + 1, weights = (size_t)(p->vectors * p->count) + 1;
  ND4C_TRY(nd4c_onnx_claim(emission, weights, sizeof *p->weights, "pairs of classes", &p->weights));
  ND4C_TRY(nd4c_onnx_claim(emission, votes, sizeof *p->winners, "pairs of classes", &p->winners));
  return nd4c_onnx_claim(emission, votes, sizeof *p->losers, "pairs of classes", &p->losers);
}

static void fill_pairs(pairs *p) {
  int64_t pair = 0;
  for (int64_t i = 0, begin_i = 0; i < p->classes; begin_i += p->sizes[i++]) {
    for (int64_t j = i + 1, begin_j = begin_i + p->sizes[i]; j < p->classes; begin_j += p->sizes[j++], pair++) {
      for (int64_t k = begin_i; k < begin_i + p->sizes[i]; k++) {
        p->weights[k * p->count + pair] = p->coefficients[(j - 1) * p->vectors + k];
      }
      for (int64_t k = begin_j; k < begin_j + p->sizes[j]; k++) {
        p->weights[k * p->count + pair] = p->coefficients[i * p->vectors + k];
      }
      p->winners[pair * p->classes + i] = 1;
      p->losers[pair * p->classes + j] = 1;
    }
  }
}

static nd4c_status product(nd4c_onnx_emission *emission, nd4c_onnx_operand x, const double *values, int64_t rows,
                           int64_t columns, nd4c_onnx_operand *y) {
  nd4c_onnx_operand table;
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, x).dtype;
  ND4C_TRY(nd4c_onnx_float_list(emission, values, rows * columns, dtype, &table));
  ND4C_TRY(nd4c_emit_reshape(&emission->emitter, table, 2, (int64_t[]){rows, columns}, &table));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_matmul, x, table, y);
}

/* A pair's score above 0 is a vote for its first class, else for its second. */
static nd4c_status count_votes(nd4c_onnx_emission *emission, const pairs *p, nd4c_onnx_operand scores,
                               nd4c_onnx_operand *votes) {
  nd4c_onnx_operand above, below, lost;
  nd4c_dtype dtype = nd4c_emitted_get(&emission->emitter, scores).dtype;
  ND4C_TRY(nd4c_emit_with_scalar(&emission->emitter, ND4C_OP_greater, scores, 0, &above));
  ND4C_TRY(nd4c_emit_unary(&emission->emitter, ND4C_OP_logical_not, above, &below));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, above, dtype, &above));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, below, dtype, &below));
  ND4C_TRY(product(emission, above, p->winners, p->count, p->classes, votes));
  ND4C_TRY(product(emission, below, p->losers, p->count, p->classes, &lost));
  return nd4c_emit_binary(&emission->emitter, ND4C_OP_add, *votes, lost, votes);
}

static nd4c_status pair_scores(nd4c_onnx_emission *emission, pairs *p, nd4c_onnx_operand *scores,
                               nd4c_onnx_operand *votes) {
  nd4c_onnx_operand x, vectors;
  nd4c_emitted_info info;
  ND4C_TRY(rows_of(emission, &x, &info));
  ND4C_TRY(read_pairs(emission, p));
  fill_pairs(p);
  ND4C_TRY(table_of(emission, "support_vectors", info.dtype, p->vectors, info.shape[1], &vectors));
  ND4C_TRY(kernel_values(emission, x, vectors, &x));
  ND4C_TRY(product(emission, x, p->weights, p->vectors, p->count, scores));
  ND4C_TRY(add_list(emission, "rho", scores));
  return count_votes(emission, p, *scores, votes);
}

/* Probabilities of the classes if the model has prob_a; else the scores of the pairs. A single pair gives its score
 * with both signs. */
static nd4c_status class_scores(nd4c_onnx_emission *emission, int64_t count, nd4c_onnx_operand *scores) {
  const double *a = NULL, *b = NULL;
  int32_t a_count = 0, b_count = 0;
  ND4C_TRY(nd4c_onnx_get_floats(emission, "prob_a", &a, &a_count));
  ND4C_TRY(nd4c_onnx_get_floats(emission, "prob_b", &b, &b_count));
  if (a_count > 0) {
    nd4c_attr attrs[] = {nd4c_attr_of_floats("prob_a", a, a_count), nd4c_attr_of_floats("prob_b", b, b_count)};
    return nd4c_emit(&emission->emitter, ND4C_OP_svm_probabilities, scores, 1, attrs, 2, scores);
  }
  return count == 1 ? nd4c_compose_both_signs(&emission->emitter, *scores, 0, scores) : ND4C_OK;
}

static nd4c_status emit_svm_classifier(nd4c_onnx_emission *emission) {
  nd4c_onnx_operand labels, scores, votes, best;
  int64_t post = 0;
  pairs p = {.vectors = 0};
  if (nd4c_onnx_attribute_find(emission, "vectors_per_class") == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "planes without support vectors: nd4c has those that vote (vectors_per_class)");
  }
  ND4C_TRY(nd4c_onnx_class_labels(emission, "classlabels_ints", &labels, &p.classes));
  ND4C_TRY(nd4c_onnx_get_word(emission, "post_transform", "NONE", transforms, &post));
  ND4C_TRY(pair_scores(emission, &p, &scores, &votes));
  ND4C_TRY(class_scores(emission, p.count, &scores));
  ND4C_TRY(nd4c_emit_cast(&emission->emitter, scores, ND4C_FLOAT32, &scores));
  ND4C_TRY(nd4c_compose_score_transform(&emission->emitter, scores, post, &emission->outputs[1]));
  ND4C_TRY(nd4c_compose_best_class(&emission->emitter, votes, &best));
  return nd4c_compose_pick(&emission->emitter, labels, best, &emission->outputs[0]);
}

/* -- rows ------------------------------------------------------------------------------------------------------ */

#define ROWS                                                                                             \
  CHAIN(LinearRegressor, 1, LAST, 1, 1, 1, linear_regressor, NONE, "matmul, add, score_transform")       \
  CHAIN(LinearClassifier, 1, LAST, 1, 1, 2, linear_classifier, NONE,                                     \
        "matmul, add, score_transform; the label: argmax or greater, gather")                            \
  CHAIN(SVMRegressor, 1, LAST, 1, 1, 1, svm_regressor, NONE, "svm_kernel, matmul, add, score_transform") \
  CHAIN(SVMClassifier, 1, LAST, 1, 1, 2, svm_classifier, NONE,                                           \
        "svm_kernel, matmul, add, svm_probabilities, score_transform; the label: votes by greater")

ND4C_ONNX_FAMILY(vectors, "ai.onnx.ml", ROWS)
