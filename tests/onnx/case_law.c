/* Cases whose expected values are one draw of a random law. nd4c draws different numbers, which are equally right, so
 * these cases are judged by the law: dtype and shape as expected, only values that the law can give, and over many
 * draws the frequencies of the law for every element. Only this file lists such cases. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_cases.h"

/* How far a sum of draws may be from its mean, in standard deviations. A seeded model always gives the same numbers, so
 * its verdict never changes; of the others, a run judges 50 sums: one in ten million runs fails by chance. */
#define SEEDED_BOUND 4.0
#define DRAWN_BOUND 6.0

enum { LAW_DRAWS = 256, LAW_MOST = 1024, MASK_OUTPUT = 1 };

typedef enum law_kind { LAW_BERNOULLI, LAW_COMPLEMENT, LAW_DROPOUT } law_kind;

struct onnx_law {
  const char *name;
  law_kind kind;
  bool seeded;
  const char *reason;
};

#define DRAW_OF_NUMPY "expected is one draw of NumPy's generator; nd4c draws from Philox4x32-10"

/* Bernoulli's body in ONNX is Greater(uniform, p), which holds with probability 1 - p; the node itself gives 1 with
 * probability p. */
#define DRAW_OF_BODY "expected is a draw of NumPy's for the node; the model is the body, 1 with probability 1 - p"

static const onnx_law laws[] = {
    {"node/test_bernoulli", LAW_BERNOULLI, false, DRAW_OF_NUMPY},
    {"expanded/test_bernoulli_expanded", LAW_COMPLEMENT, false, DRAW_OF_BODY},
    {"node/test_bernoulli_double", LAW_BERNOULLI, false, DRAW_OF_NUMPY},
    {"expanded/test_bernoulli_double_expanded", LAW_COMPLEMENT, false, DRAW_OF_BODY},
    {"node/test_bernoulli_seed", LAW_BERNOULLI, true, DRAW_OF_NUMPY},
    {"expanded/test_bernoulli_seed_expanded", LAW_COMPLEMENT, true, DRAW_OF_BODY},
    {"node/test_training_dropout_default", LAW_DROPOUT, true, DRAW_OF_NUMPY},
    {"node/test_training_dropout_default_mask", LAW_DROPOUT, true, DRAW_OF_NUMPY},
    {"node/test_training_dropout", LAW_DROPOUT, true, DRAW_OF_NUMPY},
    {"node/test_training_dropout_mask", LAW_DROPOUT, true, DRAW_OF_NUMPY},
};

enum { LAW_COUNT = sizeof laws / sizeof laws[0] };

const onnx_law *case_law_find(const char *name) {
  for (size_t i = 0; i < LAW_COUNT; i++) {
    if (strcmp(laws[i].name, name) == 0) {
      return &laws[i];
    }
  }
  return NULL;
}

const onnx_law *case_law_at(int index) {
  return index < LAW_COUNT ? &laws[index] : NULL;
}

const char *case_law_name(const onnx_law *law) {
  return law->name;
}

const char *case_law_reason(const onnx_law *law) {
  return law->reason;
}

struct onnx_draws {
  const onnx_law *law;
  int64_t size;
  int count;
  bool differ;             /* whether two draws differed */
  double chance[LAW_MOST]; /* of each element to be kept, or to be 1 */
  int32_t hits[LAW_MOST];  /* in how many draws it was */
  bool first[LAW_MOST];    /* the first draw */
  double x[LAW_MOST], y[LAW_MOST], mask[LAW_MOST];
};

onnx_draws *case_draws_new(const onnx_law *law) {
  onnx_draws *draws = calloc(1, sizeof *draws);
  if (draws != NULL) {
    draws->law = law;
  }
  return draws;
}

bool case_draws_want_more(const onnx_draws *draws) {
  return draws->count < LAW_DRAWS;
}

static bool read_numbers(const nd4c_datum *datum, int64_t size, double *values, char *reason) {
  nd4c_array *array = nd4c_datum_array(datum), *wide = NULL;
  nd4c_status status = nd4c_cast(array, ND4C_FLOAT64, &wide);
  if (status == ND4C_OK) {
    status = nd4c_array_read(wide, values, (size_t)size * sizeof *values);
  }
  nd4c_array_release(wide);
  if (status != ND4C_OK) {
    (void)snprintf(reason, CASE_REASON, "cannot be judged: %s", nd4c_error_message());
  }
  return status == ND4C_OK;
}

/* Chances of the elements, from the inputs. `scale`: what a kept element is multiplied by. */
static bool read_law(onnx_draws *draws, nd4c_datum *const *inputs, double *scale, char *reason) {
  double ratio = 0;
  *scale = 1;
  if (!read_numbers(inputs[0], draws->size, draws->x, reason)) {
    return false;
  }
  if (draws->law->kind == LAW_DROPOUT) {
    if (!read_numbers(inputs[1], 1, &ratio, reason)) {
      return false;
    }
    *scale = 1 / (1 - ratio);
  }
  for (int64_t i = 0; i < draws->size; i++) {
    draws->chance[i] = draws->law->kind == LAW_DROPOUT      ? 1 - ratio
                       : draws->law->kind == LAW_COMPLEMENT ? 1 - draws->x[i]
                                                            : draws->x[i];
  }
  return true;
}

/* Whether element i has a value that the law can give; *hit: which of the two. */
static bool judge_value(const onnx_draws *draws, int64_t i, double scale, double rtol, bool *hit) {
  const double y = draws->y[i], kept = draws->law->kind == LAW_DROPOUT ? draws->x[i] * scale : 1;
  *hit = y != 0;
  return y == 0 || fabs(y - kept) <= rtol * fabs(kept);
}

bool case_draws_add(onnx_draws *draws, const onnx_case *one, nd4c_datum *const *inputs, nd4c_datum *const *outputs,
                    int32_t output_count, char *reason) {
  double scale = 1;
  draws->size = nd4c_array_size(nd4c_datum_array(outputs[0]));
  if (draws->size > LAW_MOST) {
    (void)snprintf(reason, CASE_REASON, "more than %d elements to be judged", (int)LAW_MOST);
    return false;
  }
  if (!read_law(draws, inputs, &scale, reason) || !read_numbers(outputs[0], draws->size, draws->y, reason) ||
      (output_count > MASK_OUTPUT && !read_numbers(outputs[MASK_OUTPUT], draws->size, draws->mask, reason))) {
    return false;
  }
  for (int64_t i = 0; i < draws->size; i++) {
    bool hit = false;
    if (!judge_value(draws, i, scale, one->rtol, &hit)) {
      (void)snprintf(reason, CASE_REASON, "element %" PRId64 " is %.9g, which the law cannot give", i, draws->y[i]);
      return false;
    }
    if (output_count > MASK_OUTPUT && draws->mask[i] != (hit ? 1 : 0)) {
      (void)snprintf(reason, CASE_REASON, "element %" PRId64 " is %.9g, but its mask says %g", i, draws->y[i],
                     draws->mask[i]);
      return false;
    }
    draws->hits[i] += hit;
    draws->first[i] = draws->count == 0 ? hit : draws->first[i];
    draws->differ = draws->differ || draws->first[i] != hit;
  }
  draws->count++;
  return true;
}

/* hits of a sum with that mean and variance. */
static bool judge_sum(double hits, double mean, double variance, double bound, const char *what, char *reason) {
  const double deviation = sqrt(variance);
  if (fabs(hits - mean) > bound * deviation) {
    (void)snprintf(reason, CASE_REASON, "%s: %g hits, expected %.4g within %g standard deviations of %.3g", what, hits,
                   mean, bound, deviation);
    return false;
  }
  return true;
}

bool case_draws_judge(const onnx_draws *draws, char *reason) {
  /* All draws of a seeded model are equal. */
  const double rounds = draws->law->seeded ? 1 : draws->count;
  double hits = 0, mean = 0, variance = 0;
  if (draws->differ == draws->law->seeded) {
    (void)snprintf(reason, CASE_REASON, "%d draws are %s, the model is %s", draws->count,
                   draws->differ ? "not the same" : "all the same", draws->law->seeded ? "seeded" : "not seeded");
    return false;
  }
  for (int64_t i = 0; i < draws->size; i++) {
    const double p = draws->chance[i], own = draws->hits[i] * rounds / draws->count;
    char what[64];
    (void)snprintf(what, sizeof what, "element %" PRId64 " in %d draws", i, draws->count);
    hits += own;
    mean += rounds * p;
    variance += rounds * p * (1 - p);
    if (!draws->law->seeded && !judge_sum(own, rounds * p, rounds * p * (1 - p), DRAWN_BOUND, what, reason)) {
      return false;
    }
  }
  return judge_sum(hits, mean, variance, draws->law->seeded ? SEEDED_BOUND : DRAWN_BOUND, "all elements", reason);
}
