/* The op tfidf_vectorizer: looks n-grams up in sorted lists, one for each length. Each string is replaced by the number
 * of the pool's word that it equals. dispatch/host_ops.c lists the op. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "dispatch/text/text.h"

/* A word of the pool: its text, and the number that stands for all words of that text. */
typedef struct pool_word {
  nd4c_string text;
  int64_t place, number;
} pool_word;

/* The n-grams of one length, sorted by their words. */
typedef struct gram {
  const int64_t *words;
  int64_t length, column;
} gram;

typedef struct vectorizer {
  int64_t *pool, *tokens; /* numbers of words; -1: not in the pool */
  int64_t least, most, skips;
  gram *grams; /* all lengths one after the other */
  const int64_t *first;
  int64_t columns;
} vectorizer;

/* -- words -------------------------------------------------------------------------------------------------------- */

static int compare_words(const void *a, const void *b) {
  return nd4c_string_compare(((const pool_word *)a)->text, ((const pool_word *)b)->text);
}

static nd4c_status number_words(nd4c_pending *p, vectorizer *v, pool_word *words) {
  nd4c_string *strings = NULL;
  int64_t count = p->inputs[1]->size;
  ND4C_TRY(nd4c_strings_read(p, 1, &strings));
  for (int64_t i = 0; i < count; i++) {
    words[i] = (pool_word){.text = strings[i], .place = i};
  }
  ND4C_TRY(nd4c_text_sort(p, words, count, sizeof *words, compare_words));
  for (int64_t i = 0; i < count; i++) {
    bool same = i > 0 && compare_words(&words[i - 1], &words[i]) == 0;
    words[i].number = same ? words[i - 1].number : i;
    v->pool[words[i].place] = words[i].number;
  }
  ND4C_TRY(nd4c_strings_read(p, 0, &strings));
  for (int64_t i = 0; i < p->inputs[0]->size; i++) {
    pool_word wanted = {.text = strings[i]};
    const pool_word *found = count > 0 ? bsearch(&wanted, words, (size_t)count, sizeof *words, compare_words) : NULL;
    v->tokens[i] = found != NULL ? found->number : -1;
  }
  return ND4C_OK;
}

static nd4c_status read_strings(nd4c_pending *p, vectorizer *v) {
  size_t count = (size_t)p->inputs[1]->size + 1;
  pool_word *words = nd4c_work_take(&p->work, count, sizeof *words);
  return words != NULL ? number_words(p, v, words) : nd4c_fail_memory("the pool", count * sizeof *words);
}

static nd4c_status read_integers(nd4c_pending *p, vectorizer *v) {
  void *pool = NULL, *tokens = NULL;
  ND4C_TRY(nd4c_numbers_read(p, 1, &pool));
  ND4C_TRY(nd4c_numbers_read(p, 0, &tokens));
  for (int64_t i = 0; i < p->inputs[1]->size; i++) {
    v->pool[i] = ((const int64_t *)pool)[i];
  }
  for (int64_t i = 0; i < p->inputs[0]->size; i++) {
    v->tokens[i] = p->inputs[0]->dtype == ND4C_INT32 ? ((const int32_t *)tokens)[i] : ((const int64_t *)tokens)[i];
  }
  return ND4C_OK;
}

/* -- n-grams ------------------------------------------------------------------------------------------------------ */

static int compare_grams(const void *a, const void *b) {
  const gram *left = a, *right = b;
  for (int64_t i = 0; i < left->length; i++) {
    if (left->words[i] != right->words[i]) {
      return left->words[i] < right->words[i] ? -1 : 1;
    }
  }
  return 0;
}

/* Lists the n-grams of each length; first[n - 1] is where those of n words begin. */
static nd4c_status list_grams(nd4c_pending *p, vectorizer *v, int64_t *first) {
  const nd4c_attr_value *counts = &p->attrs[ND4C_ATTR_tfidf_vectorizer_ngram_counts];
  const int64_t *columns = p->attrs[ND4C_ATTR_tfidf_vectorizer_ngram_indexes].as.ints;
  int64_t number = 0;
  for (int64_t n = 1; n <= counts->count; n++) {
    int64_t begin = counts->as.ints[n - 1];
    int64_t end = n < counts->count ? counts->as.ints[n] : p->inputs[1]->size;
    first[n - 1] = number;
    for (int64_t at = begin; at < end; at += n, ++number) {
      v->grams[number] = (gram){v->pool + at, n, columns[number]};
    }
    ND4C_TRY(nd4c_text_sort(p, v->grams + first[n - 1], number - first[n - 1], sizeof *v->grams, compare_grams));
  }
  first[counts->count] = number;
  return ND4C_OK;
}

/* Counts the n-grams of n words that lie `step` apart in a row. */
static void count_grams(const vectorizer *v, const int64_t *row, int64_t length, int64_t n, int64_t step,
                        int64_t *window, float *y) {
  int64_t begin = v->first[n - 1], count = v->first[n] - begin;
  /* (n - 1) * step may overflow where nothing fits anyway. */
  if (count == 0 || (n > 1 && step > (length - 1) / (n - 1))) {
    return;
  }
  for (int64_t at = 0; at + (n - 1) * step < length; at++) {
    gram wanted = {window, n, 0};
    for (int64_t i = 0; i < n; i++) {
      window[i] = row[at + i * step];
    }
    const gram *found = bsearch(&wanted, v->grams + begin, (size_t)count, sizeof *v->grams, compare_grams);
    if (found != NULL) {
      y[found->column]++;
    }
  }
}

static void weigh(const nd4c_pending *p, int64_t columns, float *y) {
  int64_t mode = p->attrs[ND4C_ATTR_tfidf_vectorizer_mode].as.i;
  const nd4c_attr_value *weights = &p->attrs[ND4C_ATTR_tfidf_vectorizer_weights];
  for (int64_t c = 0; c < columns && mode != ND4C_TFIDF_MODE_TF; c++) {
    float weight = weights->count > 0 ? (float)weights->as.floats[c] : 1;
    float count = mode == ND4C_TFIDF_MODE_IDF && y[c] > 0 ? 1 : y[c];
    y[c] = count > 0 ? count * weight : 0;
  }
}

/* Steps beyond the row's length find nothing; single words are counted once. */
static void vectorize_row(const nd4c_pending *p, const vectorizer *v, const int64_t *row, int64_t length,
                          int64_t *window, float *y) {
  memset(y, 0, (size_t)v->columns * sizeof *y);
  for (int64_t step = 1; step <= v->skips + 1 && (step == 1 || step < length); step++) {
    for (int64_t n = v->least; n <= v->most; n++) {
      if (n > 1 || step == 1) {
        count_grams(v, row, length, n, step, window, y);
      }
    }
  }
  weigh(p, v->columns, y);
}

static nd4c_status vectorize(nd4c_pending *p, vectorizer *v, int64_t *first, int64_t *window) {
  const nd4c_array *x = p->inputs[0];
  void *data = NULL;
  ND4C_TRY(x->dtype == ND4C_UTF8 ? read_strings(p, v) : read_integers(p, v));
  ND4C_TRY(nd4c_numbers_make(p, 0, &data));
  ND4C_TRY(list_grams(p, v, first));
  int64_t length = x->rank > 0 ? x->shape[x->rank - 1] : 1, rows = x->rank == 2 ? x->shape[0] : 1;
  for (int64_t r = 0; r < rows; r++) {
    vectorize_row(p, v, v->tokens + r * length, length, window, (float *)data + r * v->columns);
  }
  return ND4C_OK;
}

nd4c_status nd4c_host_tfidf_vectorizer(nd4c_pending *p) {
  const nd4c_attr_value *attrs = p->attrs;
  size_t lengths = (size_t)attrs[ND4C_ATTR_tfidf_vectorizer_ngram_counts].count + 1;
  size_t grams = (size_t)attrs[ND4C_ATTR_tfidf_vectorizer_ngram_indexes].count + 1;
  nd4c_work *work = &p->work;
  int64_t *first = nd4c_work_take(work, lengths, sizeof *first),
          *window = nd4c_work_take(work, lengths, sizeof *window);
  vectorizer v = {.pool = nd4c_work_take(work, (size_t)p->inputs[1]->size + 1, sizeof *v.pool),
                  .tokens = nd4c_work_take(work, (size_t)p->inputs[0]->size + 1, sizeof *v.tokens),
                  .least = attrs[ND4C_ATTR_tfidf_vectorizer_min_gram_length].as.i,
                  .most = attrs[ND4C_ATTR_tfidf_vectorizer_max_gram_length].as.i,
                  .skips = attrs[ND4C_ATTR_tfidf_vectorizer_max_skip_count].as.i,
                  .grams = nd4c_work_take(work, grams, sizeof *v.grams),
                  .first = first,
                  .columns = p->inferred[0].shape[p->inferred[0].rank - 1]};
  if (v.pool == NULL || v.tokens == NULL || v.grams == NULL || first == NULL || window == NULL) {
    return nd4c_fail_memory("n-grams", grams * sizeof *v.grams);
  }
  return vectorize(p, &v, first, window);
}
