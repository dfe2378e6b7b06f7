/* Inference rules of op_table/text.h. nd4c_op_infer (infer.c) calls the rule that an op's row names. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "ops/infer/rules.h"

/* Gives: utf8, in the shape that the inputs broadcast to. */
nd4c_status nd4c_infer_string_concat(nd4c_inference *inference) {
  ND4C_TRY(nd4c_rule_accepted_dtype(inference, 1));
  return nd4c_rule_broadcast(inference, 0, 1, ND4C_UTF8);
}

/* Gives: utf8, in x's shape. */
nd4c_status nd4c_infer_string_same(nd4c_inference *inference) {
  nd4c_rule_output(inference, ND4C_UTF8, inference->inputs[0].rank, inference->inputs[0].shape);
  return ND4C_OK;
}

/* Gives: int64, in x's shape. */
nd4c_status nd4c_infer_string_length(nd4c_inference *inference) {
  nd4c_rule_output(inference, ND4C_INT64, inference->inputs[0].rank, inference->inputs[0].shape);
  return ND4C_OK;
}

/* Gives: parts: utf8, in x's shape with a new last axis, whose length depends on the data; counts: int64, in x's
 * shape. */
nd4c_status nd4c_infer_string_split(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  int64_t shape[ND4C_MAX_RANK] = {0};
  if (x->rank == ND4C_MAX_RANK) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected at most %d axes: the result has one more",
                            ND4C_MAX_RANK - 1);
  }
  if (inference->attrs[ND4C_ATTR_string_split_maxsplit].as.i < -1) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: maxsplit is %lld, expected at least -1", inference->op->name,
                     (long long)inference->attrs[ND4C_ATTR_string_split_maxsplit].as.i);
  }
  if (x->rank > 0) {
    memcpy(shape, x->shape, (size_t)x->rank * sizeof *shape);
  }
  nd4c_rule_output_at(inference, 0, ND4C_UTF8, x->rank + 1, shape); /* the last extent depends on the data */
  nd4c_rule_output_at(inference, 1, ND4C_INT64, x->rank, shape);
  inference->outputs[0].shape_depends_on_data = true;
  return ND4C_OK;
}

/* Gives: utf8, in x's shape [n] or [1, n]; n depends on the data if stopwords are left out of it. */
nd4c_status nd4c_infer_string_normalizer(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0];
  const nd4c_tensor *stopwords = nd4c_rule_input(inference, ND4C_IN_string_normalizer_stopwords);
  ND4C_TRY(nd4c_rule_choice(inference, ND4C_ATTR_string_normalizer_change_case));
  if (x->rank != 1 && (x->rank != 2 || x->shape[0] != 1)) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [c] or [1, c]");
  }
  ND4C_TRY(nd4c_rule_same_dtype(inference, ND4C_IN_string_normalizer_stopwords));
  if (stopwords != NULL && stopwords->rank != 1) {
    return nd4c_rule_refuse(inference, ND4C_IN_string_normalizer_stopwords, ND4C_SHAPE, "expected 1 axis");
  }
  nd4c_rule_output(inference, ND4C_UTF8, x->rank, x->shape);
  inference->outputs[0].shape_depends_on_data = true;
  return ND4C_OK;
}

/* Gives: bool, in x's shape. */
nd4c_status nd4c_infer_regex(nd4c_inference *inference) {
  nd4c_rule_output(inference, ND4C_BOOL, inference->inputs[0].rank, inference->inputs[0].shape);
  return ND4C_OK;
}

/* -- tfidf_vectorizer ---------------------------------------------------------------------------------------------- */

static nd4c_status check_grams(const nd4c_inference *inference) {
  const nd4c_attr_value *attrs = inference->attrs;
  int64_t least = attrs[ND4C_ATTR_tfidf_vectorizer_min_gram_length].as.i;
  int64_t most = attrs[ND4C_ATTR_tfidf_vectorizer_max_gram_length].as.i;
  int64_t skip = attrs[ND4C_ATTR_tfidf_vectorizer_max_skip_count].as.i;
  const nd4c_attr_value *counts = &attrs[ND4C_ATTR_tfidf_vectorizer_ngram_counts];
  if (least < 1 || most < least || most > counts->count) {
    return nd4c_fail(
        ND4C_ARGUMENT,
        "%s: min_gram_length is %lld and max_gram_length %lld, expected 1 to %d, the number of ngram_counts",
        inference->op->name, (long long)least, (long long)most, (int)counts->count);
  }
  if (skip < 0) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: max_skip_count is %lld, expected at least 0", inference->op->name,
                     (long long)skip);
  }
  return nd4c_rule_choice(inference, ND4C_ATTR_tfidf_vectorizer_mode);
}

/* ngram_counts rise within the pool, and cut it into whole n-grams; as many indexes as there are n-grams. */
static nd4c_status check_pool(const nd4c_inference *inference, int64_t *columns) {
  const nd4c_attr_value *counts = &inference->attrs[ND4C_ATTR_tfidf_vectorizer_ngram_counts];
  const nd4c_attr_value *indexes = &inference->attrs[ND4C_ATTR_tfidf_vectorizer_ngram_indexes];
  int64_t size = inference->inputs[1].size, grams = 0;
  for (int32_t i = 0; i < counts->count; i++) {
    int64_t begin = counts->as.ints[i], end = i + 1 < counts->count ? counts->as.ints[i + 1] : size;
    if (begin < 0 || begin > end || end > size || (end - begin) % (i + 1) != 0) {
      return nd4c_fail(ND4C_ARGUMENT, "%s: ngram_counts[%d] is %lld: expected whole %d-grams within the pool of %lld",
                       inference->op->name, (int)i, (long long)begin, (int)i + 1, (long long)size);
    }
    grams += (end - begin) / (i + 1);
  }
  if (indexes->count != grams) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d ngram_indexes, expected %lld, one an n-gram of the pool",
                     inference->op->name, (int)indexes->count, (long long)grams);
  }
  *columns = 0;
  for (int32_t i = 0; i < indexes->count; i++) {
    int64_t column = indexes->as.ints[i];
    if (column < 0 || column > INT32_MAX) {
      return nd4c_fail(ND4C_INDEX, "%s: ngram_indexes[%d] is %lld, expected 0 to %d", inference->op->name, (int)i,
                       (long long)column, INT32_MAX);
    }
    *columns = column + 1 > *columns ? column + 1 : *columns;
  }
  return ND4C_OK;
}

/* Gives: float32 [columns], or [n, columns] for x [n, tokens]; ngram_indexes says how many columns there are. */
nd4c_status nd4c_infer_tfidf(nd4c_inference *inference) {
  const nd4c_tensor *x = &inference->inputs[0], *pool = &inference->inputs[1];
  const nd4c_attr_value *weights = &inference->attrs[ND4C_ATTR_tfidf_vectorizer_weights];
  int64_t columns = 0;
  bool strings = x->dtype == ND4C_UTF8;
  if (x->rank > 2) {
    return nd4c_rule_refuse(inference, 0, ND4C_SHAPE, "expected [c] or [n, c]");
  }
  if (pool->dtype != (strings ? ND4C_UTF8 : ND4C_INT64) || pool->rank != 1) {
    return nd4c_rule_refuse(inference, 1, pool->rank != 1 ? ND4C_SHAPE : ND4C_DTYPE, "expected 1 axis of %s",
                            strings ? "utf8" : "int64");
  }
  ND4C_TRY(check_grams(inference));
  ND4C_TRY(check_pool(inference, &columns));
  if (weights->count != 0 && weights->count < columns) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d weights, expected at least %lld, one a column", inference->op->name,
                     (int)weights->count, (long long)columns);
  }
  int64_t shape[2] = {x->rank == 2 ? x->shape[0] : columns, columns};
  nd4c_rule_output(inference, ND4C_FLOAT32, x->rank == 2 ? 2 : 1, shape);
  return ND4C_OK;
}
