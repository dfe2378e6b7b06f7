/* Implements selftest_totals.h. selftest.c adds each op's results to the totals and prints them after each device. */
#include "selftest_totals.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

selftest_tally *selftest_totals_find(selftest_totals *totals, const char *category) {
  for (int32_t i = 0; i < totals->count; i++) {
    if (strcmp(totals->tallies[i].category, category) == 0) {
      return &totals->tallies[i];
    }
  }
  if (totals->count == SELFTEST_FAMILIES) {
    return &totals->tallies[SELFTEST_FAMILIES - 1];
  }
  totals->tallies[totals->count] = (selftest_tally){.category = category};
  return &totals->tallies[totals->count++];
}

/* Whether the device has something of the family. */
static bool has_some(const selftest_tally *sums) {
  return sums->computed + sums->wrong > 0;
}

static void print_tally(const selftest_tally *sums) {
  const int32_t pairs = sums->computed + sums->declined + sums->wrong;
  if (pairs > 0) {
    (void)printf("  %-13s %5" PRId32 " of %5" PRId32 " (%5.1f %%)", sums->category, sums->computed, pairs,
                 100.0 * sums->computed / pairs);
    (void)printf(sums->wrong > 0 ? ", %" PRId32 " WRONG\n" : "\n", sums->wrong);
  }
}

/* The families of which the device has nothing. */
static void print_others(const selftest_totals *totals) {
  int32_t families = 0, pairs = 0;
  for (int32_t i = 0; i < totals->count; i++) {
    const bool other = !has_some(&totals->tallies[i]) && totals->tallies[i].declined > 0;
    families += other;
    pairs += other ? totals->tallies[i].declined : 0;
  }
  if (families > 0) {
    (void)printf("  nothing of %" PRId32 " other famil%s: %" PRId32 " pair%s, all declined\n", families,
                 families == 1 ? "y" : "ies", pairs, pairs == 1 ? "" : "s");
  }
}

selftest_tally selftest_totals_print(const selftest_totals *totals) {
  selftest_tally all = {.category = "all"};
  for (int32_t i = 0; i < totals->count; i++) {
    const selftest_tally *sums = &totals->tallies[i];
    if (has_some(sums)) {
      print_tally(sums);
    }
    all.computed += sums->computed;
    all.declined += sums->declined;
    all.wrong += sums->wrong;
  }
  print_others(totals);
  print_tally(&all);
  return all;
}
