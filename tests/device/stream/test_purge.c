/* Which failures a timeline drops: those that no entry that is left can have. Entry by entry, without a device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "device/stream/timeline_body.h"

enum { MOST = 4, END = 7 };

typedef struct purge_case {
  const char *name;
  int64_t oldest; /* position of the oldest entry; 0: there is none */
  int64_t open;   /* calls that have numbers and are not submitted yet */
  /* The failures, each after position 2. `until` 0: no further one. `point` 0: its call is not known. */
  struct {
    int64_t until, point;
    bool kept;
  } failures[MOST];
  int64_t spare_until;
  bool spare_kept;
} purge_case;

static const purge_case cases[] = {
    {"until before the oldest", 5, 0, {{4, 0, false}}, 4, false},
    {"until the oldest", 5, 0, {{5, 0, true}}, 5, true},
    {"until behind the oldest", 5, 0, {{6, 0, true}}, 6, true},
    {"of a known call", 5, 0, {{4, 9, true}, {5, 9, true}}, 4, false},
    {"several, the first and the last go", 5, 0, {{4, 0, false}, {5, 0, true}, {4, 9, true}, {3, 0, false}}, 7, true},
    {"several, one in between goes", 5, 0, {{6, 0, true}, {4, 0, false}, {7, 0, true}}, 3, false},
    {"no entry, a call to come", 0, 1, {{END, 0, false}, {END, 9, true}, {4, 9, true}}, END, false},
    {"no entry, no call", 0, 0, {{END, 0, false}, {END, 9, false}, {4, 0, false}}, END, false},
    {"an entry, a call to come", END, 1, {{END, 0, true}, {END - 1, 0, false}}, END - 1, false},
};

static void add_failure(nd4c_timeline *timeline, int64_t until, int64_t point, int64_t number) {
  nd4c_timeline_failure *made = nd4c_allocate_zeroed(1, sizeof *made);
  assert_non_null(made);
  *made = (nd4c_timeline_failure){
      .next = timeline->failures, .points = {point, point}, .after = number, .until = until, .status = ND4C_DEVICE};
  timeline->failures = made;
}

static void check_case(const purge_case *c) {
  nd4c_timeline_entry oldest = {.position = c->oldest};
  nd4c_timeline timeline = {.end = END,
                            .open = c->open,
                            .oldest = c->oldest > 0 ? &oldest : NULL,
                            .spare = {.after = 2, .until = c->spare_until, .status = ND4C_MEMORY}};
  bool left[MOST] = {false};
  for (int i = MOST - 1; i >= 0; i--) { /* so that the list has their order */
    if (c->failures[i].until > 0) {
      add_failure(&timeline, c->failures[i].until, c->failures[i].point, i);
    }
  }
  nd4c_timeline_purge(&timeline);
  int64_t before = -1;
  for (const nd4c_timeline_failure *at = timeline.failures; at != NULL; at = at->next) {
    assert_true(at->after > before); /* their numbers, in order */
    left[before = at->after] = true;
  }
  nd4c_timeline_free_failures(timeline.failures);
  for (int i = 0; i < MOST; i++) {
    if (left[i] != c->failures[i].kept) {
      fail_msg("%s: failure %d is %s", c->name, i, left[i] ? "kept" : "dropped");
    }
  }
  if ((timeline.spare.status != ND4C_OK) != c->spare_kept) {
    fail_msg("%s: the spare failure is %s", c->name, c->spare_kept ? "dropped" : "kept");
  }
}

static void failures_are_kept_for_entries_that_can_have_them(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_case(&cases[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(failures_are_kept_for_entries_that_can_have_them)};
  return cmocka_run_group_tests_name("purge", tests, NULL, NULL);
}
