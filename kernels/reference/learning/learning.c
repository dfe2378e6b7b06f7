/* Classical machine learning (learning.h). Engine reference calls these. */
#include "kernels/reference/learning/learning.h"

#include "kernels/reference/support/runs.h"

#include "kernels/reference/sorting/order.h"

/* -- label_index -------------------------------------------------------------------------------------------------- */

/* Any order will do in which equal values are neighbours: NaN after all numbers. */
static int compare_reals(double a, double b) {
  if (isnan(a) || isnan(b)) {
    return isnan(a) - isnan(b);
  }
  return (a > b) - (a < b);
}

static int compare_values(nd4c_dtype_kind kind, nd4c_value a, nd4c_value b) {
  switch (kind) {
    case ND4C_KIND_FLOAT:
      return compare_reals(a.f, b.f);
    case ND4C_KIND_COMPLEX: {
      int order = compare_reals(creal(a.c), creal(b.c));
      return order != 0 ? order : compare_reals(cimag(a.c), cimag(b.c));
    }
    case ND4C_KIND_INT:
      return (a.i > b.i) - (a.i < b.i);
    default:
      return (a.u > b.u) - (a.u < b.u);
  }
}

#define COMPARE_KEYS(name, KIND)                                                                         \
  static int name(const void *a, const void *b) {                                                        \
    const nd4c_ref_key *left = a, *right = b;                                                            \
    int order = compare_values(ND4C_KIND_##KIND, left->value, right->value);                             \
    return order != 0 ? order : (left->position > right->position) - (left->position < right->position); \
  }
COMPARE_KEYS(compare_float_keys, FLOAT)
COMPARE_KEYS(compare_complex_keys, COMPLEX)
COMPARE_KEYS(compare_int_keys, INT)
COMPARE_KEYS(compare_uint_keys, UINT)

void nd4c_ref_sort_keys(const nd4c_ref_tensor *keys, nd4c_ref_key *sorted) {
  nd4c_dtype_kind kind = nd4c_reference_kind(keys->dtype);
  for (int64_t i = 0; i < keys->shape[0]; i++) {
    sorted[i] = (nd4c_ref_key){nd4c_value_load(keys->dtype, keys->data, i * keys->strides[0]), i};
  }
  nd4c_ref_sort(sorted, keys->shape[0], sizeof *sorted,
                kind == ND4C_KIND_FLOAT     ? compare_float_keys
                : kind == ND4C_KIND_COMPLEX ? compare_complex_keys
                : kind == ND4C_KIND_INT     ? compare_int_keys
                                            : compare_uint_keys,
                sorted + keys->shape[0]);
}

void nd4c_ref_label_index(const nd4c_ref_label_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *index = &args->index;
  nd4c_dtype_kind kind = nd4c_reference_kind(x->dtype);
  for (int64_t number = begin; number < end; number++) {
    nd4c_value value = nd4c_value_load(x->dtype, x->data, nd4c_ref_offset(x, x->rank, x->shape, number));
    int64_t low = 0, high = args->count; /* the first key that is larger */
    while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (compare_values(kind, args->sorted[middle].value, value) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    bool found = low > 0 && compare_values(kind, args->sorted[low - 1].value, value) == 0;
    nd4c_value position = {.i = found ? args->sorted[low - 1].position : args->count};
    nd4c_value_store(ND4C_INT64, index->data, nd4c_ref_offset(index, index->rank, index->shape, number), position);
  }
}

/* -- tree_ensemble ------------------------------------------------------------------------------------------------ */

enum { LEQ, LT, GTE, GT, EQ, NEQ, MEMBER, AVERAGE = 0, SUM, MIN, MAX };
enum { UNSEEN, OPEN, DONE };

static int64_t integer_at(const nd4c_ref_tensor *list, int64_t i) {
  return nd4c_value_load(list->dtype, list->data, i * list->strides[0]).i;
}

static double real_at(const nd4c_ref_tensor *list, int64_t i) {
  return nd4c_ref_load(list, i * list->strides[0]);
}

static int64_t count_of(const nd4c_ref_tensor *list) {
  return list->data != NULL && list->rank == 1 ? list->shape[0] : 0;
}

static int64_t leaf_count(const nd4c_ref_trees *trees) {
  return trees->leaf_ends.rank == 1 ? trees->leaf_ends.shape[0] : trees->leaf_targets.shape[0];
}

static const char *check_members(nd4c_ref_trees *trees, int64_t *at) {
  int64_t nodes = trees->features.shape[0], next = 0, count = count_of(&trees->members);
  for (*at = 0; *at < nodes; ++*at) {
    uint64_t mode = nd4c_value_load(ND4C_UINT8, trees->modes.data, *at * trees->modes.strides[0]).u;
    if (mode > MEMBER) {
      return "a node has a mode that is none of 0 to 6";
    }
    trees->first_member[*at] = next;
    while (mode == MEMBER && next < count && !isnan(real_at(&trees->members, next))) {
      next++;
    }
    if (mode == MEMBER && next++ >= count) {
      return "a node asks for members, but there are fewer sets that NaN ends";
    }
  }
  return NULL;
}

static const char *check_leaves(const nd4c_ref_trees *trees, int64_t *at) {
  int64_t entries = trees->leaf_targets.shape[0], last = 0;
  for (*at = 0; *at < entries; ++*at) {
    int64_t target = integer_at(&trees->leaf_targets, *at);
    if (target < 0 || target >= trees->targets) {
      return "a leaf's target is out of range";
    }
  }
  for (*at = 0; trees->leaf_ends.rank == 1 && *at < trees->leaf_ends.shape[0]; ++*at) {
    int64_t end = integer_at(&trees->leaf_ends, *at);
    if (end < last || end > entries) {
      return "the end of a leaf is out of range";
    }
    last = end;
  }
  return NULL;
}

static const char *check_nodes(const nd4c_ref_trees *trees, int64_t features, int64_t *at) {
  int64_t nodes = trees->features.shape[0], leaves = leaf_count(trees);
  for (*at = 0; *at < nodes; ++*at) {
    int64_t feature = integer_at(&trees->features, *at);
    int64_t yes = integer_at(&trees->true_ids, *at), no = integer_at(&trees->false_ids, *at);
    if (feature < 0 || feature >= features) {
      return "a node asks for a feature that x does not have";
    }
    if (yes < 0 || yes >= (integer_at(&trees->true_leaves, *at) != 0 ? leaves : nodes) || no < 0 ||
        no >= (integer_at(&trees->false_leaves, *at) != 0 ? leaves : nodes)) {
      return "a node goes to a node or leaf that does not exist";
    }
  }
  return NULL;
}

/* The node below on one side, or -1 for a leaf. */
static int64_t child_of(const nd4c_ref_trees *trees, int64_t node, bool yes) {
  const nd4c_ref_tensor *leaves = yes ? &trees->true_leaves : &trees->false_leaves;
  return integer_at(leaves, node) != 0 ? -1 : integer_at(yes ? &trees->true_ids : &trees->false_ids, node);
}

/* Walks depth first; a way back to a node above is a cycle. A state counts the sides seen: OPEN + 0 .. 2. */
static const char *check_cycles(const nd4c_ref_trees *trees, int64_t root, uint8_t *state, int64_t *stack) {
  int64_t depth = 0;
  if (state[root] != UNSEEN) {
    return NULL;
  }
  state[root] = OPEN;
  stack[depth++] = root;
  while (depth > 0) {
    int64_t node = stack[depth - 1];
    int side = state[node] - OPEN;
    if (side == 2) {
      state[node] = UINT8_MAX;
      depth--;
      continue;
    }
    state[node]++;
    int64_t child = child_of(trees, node, side == 0);
    if (child >= 0 && state[child] != UNSEEN && state[child] != UINT8_MAX) {
      return "the nodes below a root go round in a circle";
    }
    if (child >= 0 && state[child] == UNSEEN) {
      state[child] = OPEN;
      stack[depth++] = child;
    }
  }
  return NULL;
}

const char *nd4c_ref_trees_check(nd4c_ref_trees *trees, int64_t features, uint8_t *state, int64_t *stack, int64_t *at) {
  const char *problem = check_members(trees, at);
  problem = problem != NULL ? problem : check_leaves(trees, at);
  problem = problem != NULL ? problem : check_nodes(trees, features, at);
  for (int64_t i = 0; problem == NULL && i < trees->roots.shape[0]; i++) {
    *at = i;
    int64_t root = integer_at(&trees->roots, i);
    problem =
        root < 0 || root >= trees->features.shape[0] ? "a root is no node" : check_cycles(trees, root, state, stack);
  }
  return problem;
}

static bool is_member(const nd4c_ref_trees *trees, int64_t node, double value) {
  int64_t count = count_of(&trees->members);
  for (int64_t i = trees->first_member[node]; i < count && !isnan(real_at(&trees->members, i)); i++) {
    if (compare_reals(real_at(&trees->members, i), value) == 0) {
      return true;
    }
  }
  return false;
}

static bool goes_true(const nd4c_ref_trees *trees, int64_t node, double value) {
  double split = real_at(&trees->splits, node);
  if (isnan(value) && trees->missing_true.data != NULL && integer_at(&trees->missing_true, node) != 0) {
    return true;
  }
  switch (nd4c_value_load(ND4C_UINT8, trees->modes.data, node * trees->modes.strides[0]).u) {
    case LEQ:
      return value <= split;
    case LT:
      return value < split;
    case GTE:
      return value >= split;
    case GT:
      return value > split;
    case EQ:
      return value >= split && value <= split;
    case NEQ:
      return !(value >= split && value <= split);
    default:
      return !isnan(value) && is_member(trees, node, value);
  }
}

static int64_t find_leaf(const nd4c_ref_trees *trees, const nd4c_ref_tensor *x, int64_t row, int64_t node) {
  for (;;) {
    int64_t feature = integer_at(&trees->features, node);
    bool yes = goes_true(trees, node, nd4c_ref_load(x, row * x->strides[0] + feature * x->strides[1]));
    int64_t child = child_of(trees, node, yes);
    if (child < 0) {
      return integer_at(yes ? &trees->true_ids : &trees->false_ids, node);
    }
    node = child;
  }
}

static void add_leaf(const nd4c_ref_trees *trees, int64_t leaf, double *sum) {
  bool listed = trees->leaf_ends.rank == 1;
  int64_t begin = !listed ? leaf : leaf > 0 ? integer_at(&trees->leaf_ends, leaf - 1) : 0;
  int64_t end = listed ? integer_at(&trees->leaf_ends, leaf) : leaf + 1;
  for (int64_t i = begin; i < end; i++) {
    double weight = real_at(&trees->leaf_weights, i), *target = &sum[integer_at(&trees->leaf_targets, i)];
    if (trees->aggregate == MIN) {
      *target = weight < *target ? weight : *target;
    } else if (trees->aggregate == MAX) {
      *target = weight > *target ? weight : *target;
    } else {
      *target += weight;
    }
  }
}

void nd4c_ref_trees_run(const nd4c_ref_trees *trees, int64_t begin, int64_t end, int32_t worker) {
  const nd4c_ref_tensor *x = &trees->x, *y = &trees->y;
  double *sum = trees->sums + worker * trees->targets;
  double limit = nd4c_reference_largest(y->dtype); /* what MIN begins with, and MAX with its negative */
  double start = trees->aggregate == MIN ? limit : trees->aggregate == MAX ? -limit : 0;
  int64_t count = trees->roots.shape[0];
  for (int64_t row = begin; row < end; row++) {
    for (int64_t t = 0; t < trees->targets; t++) {
      sum[t] = start;
    }
    for (int64_t i = 0; i < count; i++) {
      add_leaf(trees, find_leaf(trees, x, row, integer_at(&trees->roots, i)), sum);
    }
    for (int64_t t = 0; t < trees->targets; t++) {
      double value = trees->aggregate == AVERAGE && count > 0 ? sum[t] / (double)count : sum[t];
      nd4c_ref_store(y, row * y->strides[0] + t * y->strides[1], value);
    }
  }
}

/* -- scores ------------------------------------------------------------------------------------------------------- */

enum { NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO };

/* The inverse of the normal distribution: Acklam's rational approximation, then two steps of Halley's method. */
static double probit(double p) {
  static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                             1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                             6.680131188771972e+01, -1.328068155288572e+01};
  static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                             -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                             3.754408661907416e+00};
  if (!(p > 0 && p < 1)) {
    return p == 0 ? -(double)INFINITY : p == 1 ? (double)INFINITY : (double)NAN;
  }
  double tail = p < 0.5 ? p : 1 - p, x;
  if (tail < 0.02425) {
    double q = sqrt(-2 * log(tail));
    x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
        ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
  } else {
    double q = tail - 0.5, r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
  }
  for (int step = 0; step < 2; step++) {
    double error = 0.5 * erfc(-x / sqrt(2)) - tail;
    double u = error * sqrt(2 * acos(-1)) * exp(x * x / 2);
    x -= u / (1 + x * u / 2);
  }
  return p < 0.5 ? x : -x;
}

/* Whether a score takes part in SOFTMAX_ZERO. */
static bool counts(int64_t transform, double x) {
  return transform == SOFTMAX || !(x <= 1e-7 && x >= -1e-7);
}

static void softmax_row(const nd4c_ref_tensor *x, const nd4c_ref_tensor *y, int64_t from, int64_t to,
                        int64_t transform) {
  int64_t count = x->shape[x->rank - 1], step = x->strides[x->rank - 1];
  double most = -(double)INFINITY, sum = 0;
  for (int64_t i = 0; i < count; i++) {
    double value = nd4c_ref_load(x, from + i * step);
    most = isnan(value) || value > most ? value : most;
  }
  for (int64_t i = 0; i < count; i++) {
    double value = nd4c_ref_load(x, from + i * step);
    sum += counts(transform, value) ? exp(value - most) : value * exp(-most);
  }
  for (int64_t i = 0; i < count; i++) {
    double value = nd4c_ref_load(x, from + i * step);
    double part = counts(transform, value) ? exp(value - most) : value * exp(-most);
    nd4c_ref_store(y, to + i * y->strides[y->rank - 1], sum == 0 ? 0.5 : part / sum);
  }
}

void nd4c_ref_score_transform(const nd4c_ref_score_args *args, int64_t begin, int64_t end) {
  const nd4c_ref_tensor *x = &args->x, *y = &args->y;
  int32_t last = x->rank - 1;
  nd4c_ref_axes rows = nd4c_ref_axes_without(x, y, last);
  for (int64_t row = begin; row < end; row++) {
    int64_t from, to;
    nd4c_ref_axes_at(&rows, row, &from, &to);
    if (args->transform == SOFTMAX || args->transform == SOFTMAX_ZERO) {
      softmax_row(x, y, from, to, args->transform);
      continue;
    }
    for (int64_t i = 0; i < x->shape[last]; i++) {
      double value = nd4c_ref_load(x, from + i * x->strides[last]);
      double result = args->transform == NONE       ? value
                      : args->transform == LOGISTIC ? 1 / (1 + exp(-value))
                                                    : probit(value);
      nd4c_ref_store(y, to + i * y->strides[last], result);
    }
  }
}

void nd4c_ref_svm_kernel(const nd4c_ref_svm_args *args, int64_t begin, int64_t end) {
  enum { LINEAR, POLY, RBF };
  const nd4c_ref_tensor *x = &args->x, *v = &args->vectors, *y = &args->y;
  for (int64_t number = begin; number < end; number++) {
    int64_t i = number / y->shape[1], j = number % y->shape[1];
    double sum = 0;
    for (int64_t k = 0; k < x->shape[1]; k++) {
      double a = nd4c_ref_load(x, i * x->strides[0] + k * x->strides[1]);
      double b = nd4c_ref_load(v, j * v->strides[0] + k * v->strides[1]);
      sum += args->kernel == RBF ? (a - b) * (a - b) : a * b;
    }
    double scaled = args->gamma * sum + args->coef0;
    double result = args->kernel == LINEAR ? sum
                    : args->kernel == POLY ? pow(scaled, args->degree)
                    : args->kernel == RBF  ? exp(-args->gamma * sum)
                                           : tanh(scaled);
    nd4c_ref_store(y, i * y->strides[0] + j * y->strides[1], result);
  }
}

/* -- svm_probabilities -------------------------------------------------------------------------------------------- */

/* 1 / (1 + e^x), kept from 0 and 1. */
static double pair_probability(double x) {
  double p = x >= 0 ? exp(-x) / (1 + exp(-x)) : 1 / (1 + exp(x));
  return p < 1e-7 ? 1e-7 : p > 1 - 1e-7 ? 1 - 1e-7 : p;
}

/* The matrix of the quadratic form whose least value on the simplex the probabilities are. r: of i against j. */
static void fill_form(int64_t k, const double *r, double *q) {
  for (int64_t t = 0; t < k; t++) {
    q[t * k + t] = 0;
    for (int64_t j = 0; j < k; j++) {
      if (j != t) {
        q[t * k + t] += r[j * k + t] * r[j * k + t];
        q[t * k + j] = -r[j * k + t] * r[t * k + j];
      }
    }
  }
}

/* Steps from equal probabilities, one class after the other, until none is off by more than 0.005 / k. */
static void couple(int64_t k, const double *q, double *p, double *qp) {
  int64_t rounds = k > 100 ? k : 100;
  for (int64_t round = 0; round < rounds; round++) {
    double all = 0, worst = 0;
    for (int64_t t = 0; t < k; t++) {
      qp[t] = 0;
      for (int64_t j = 0; j < k; j++) {
        qp[t] += q[t * k + j] * p[j];
      }
      all += p[t] * qp[t];
    }
    for (int64_t t = 0; t < k; t++) {
      worst = fabs(qp[t] - all) > worst ? fabs(qp[t] - all) : worst;
    }
    if (worst < 0.005 / (double)k) {
      return;
    }
    for (int64_t t = 0; t < k; t++) {
      double step = (all - qp[t]) / q[t * k + t], whole = 1 + step;
      p[t] += step;
      all = (all + step * (step * q[t * k + t] + 2 * qp[t])) / whole / whole;
      for (int64_t j = 0; j < k; j++) {
        qp[j] = (qp[j] + step * q[t * k + j]) / whole;
        p[j] /= whole;
      }
    }
  }
}

void nd4c_ref_svm_probabilities(const nd4c_ref_probability_args *args, int64_t begin, int64_t end, int32_t worker) {
  const nd4c_ref_tensor *x = &args->scores, *y = &args->y;
  int64_t k = y->shape[1];
  double *r = args->work + worker * ND4C_REF_PROBABILITY_WORK(k), *q = r + k * k, *p = q + k * k, *qp = p + k;
  for (int64_t row = begin; row < end; row++) {
    int64_t pair = 0;
    for (int64_t i = 0; i < k; i++) {
      p[i] = 1 / (double)k;
      for (int64_t j = i + 1; j < k; j++, pair++) {
        double score = nd4c_ref_load(x, row * x->strides[0] + pair * x->strides[1]);
        r[i * k + j] = pair_probability(score * args->a[pair] + args->b[pair]);
        r[j * k + i] = 1 - r[i * k + j];
      }
    }
    fill_form(k, r, q);
    couple(k, q, p, qp);
    for (int64_t i = 0; i < k; i++) {
      nd4c_ref_store(y, row * y->strides[0] + i * y->strides[1], p[i]);
    }
  }
}
