/* Which pairs of op and dtype a backend computes itself, by category. */
#include <stdio.h>
#include <string.h>

#include "run.h"

/* The dtypes that are counted. */
#define CF_COVERED(X) X(FLOAT32) X(FLOAT64) X(INT32) X(INT64) X(UINT8) X(BOOL)

typedef struct cf_category_count {
  int32_t whole, partly, declined;
} cf_category_count;

static const struct {
  nd4c_category category;
  const char *name;
} categories[] = {
#define CATEGORY_ROW(NAME, number) {ND4C_CATEGORY_##NAME, #NAME},
    ND4C_CATEGORY_TABLE(CATEGORY_ROW)
#undef CATEGORY_ROW
};
enum { CATEGORIES = sizeof categories / sizeof categories[0] };

static cf_category_count counts[CATEGORIES];

bool cf_is_covered(nd4c_dtype dtype) {
#define IS_COVERED(NAME)      \
  if (dtype == ND4C_##NAME) { \
    return true;              \
  }
  CF_COVERED(IS_COVERED)
#undef IS_COVERED
  return false;
}

static cf_category_count *find_count(const nd4c_op_info *info) {
  for (int i = 0; i < CATEGORIES; i++) {
    if (categories[i].category == info->category) {
      return &counts[i];
    }
  }
  return NULL;
}

void cf_coverage_note(cf_run *run, nd4c_op op, nd4c_dtype dtype) {
  const nd4c_op_info *info = nd4c_op_get(op);
  cf_category_count *count = find_count(info);
  int64_t computed = run->pair_computed, declined = run->pair_declined;
  run->pair_computed = run->pair_declined = 0;
  if (!run->options.coverage || !cf_is_covered(dtype) || count == NULL || computed + declined == 0) {
    return;
  }
  count->whole += declined == 0;
  count->partly += declined > 0 && computed > 0;
  count->declined += computed == 0;
  if (declined > 0) {
    (void)printf("%s %s %s: %lld of %lld cases\n", computed == 0 ? "declined" : "partly", info->name,
                 nd4c_dtype_name(dtype), (long long)computed, (long long)(computed + declined));
  }
}

void cf_coverage_print(const cf_run *run) {
  cf_category_count all = {0};
  if (!run->options.coverage) {
    return;
  }
  (void)printf("pairs of op and dtype (of");
#define PRINT_COVERED(NAME) (void)printf(" %s", nd4c_dtype_name(ND4C_##NAME));
  CF_COVERED(PRINT_COVERED)
#undef PRINT_COVERED
  (void)printf(") that %s computes in every case, in some, in none:\n", run->options.backend);
  for (int i = 0; i <= CATEGORIES; i++) {
    cf_category_count c = i < CATEGORIES ? counts[i] : all;
    int32_t pairs = c.whole + c.partly + c.declined;
    if (pairs > 0) {
      (void)printf("  %-13s %5d of %5d (%5.1f %%), %d, %d\n", i < CATEGORIES ? categories[i].name : "all", c.whole,
                   pairs, 100.0 * c.whole / pairs, c.partly, c.declined);
    }
    all.whole += c.whole;
    all.partly += c.partly;
    all.declined += c.declined;
  }
}
