/* Symbolic extents: canonical form, bounds, text, questions, guards, binding, failures of allocations, and random
 * expressions against arithmetic on numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/status.h"
#include "ops/extents/extents.h"

/* A table with the dims n (1 or more), m (0 or more), t (3 to 2048). */
typedef struct fixture {
  nd4c_extents *table;
  int64_t n, m, t;
} fixture;

static fixture open_fixture(void) {
  fixture f = {0};
  assert_int_equal(nd4c_extents_create(&f.table), ND4C_OK);
  assert_int_equal(nd4c_extents_dim(f.table, "n", 1, -1, &f.n), ND4C_OK);
  assert_int_equal(nd4c_extents_dim(f.table, "m", 0, -1, &f.m), ND4C_OK);
  assert_int_equal(nd4c_extents_dim(f.table, "t", 3, 2048, &f.t), ND4C_OK);
  return f;
}

typedef bool (*operation)(nd4c_extents *, int64_t, int64_t, int64_t *);

static int64_t computed(operation compute, nd4c_extents *table, int64_t a, int64_t b) {
  int64_t result = -1;
  assert_true(compute(table, a, b, &result));
  return result;
}

#define ADD(a, b) computed(nd4c_extents_add, f.table, a, b)
#define SUB(a, b) computed(nd4c_extents_subtract, f.table, a, b)
#define MUL(a, b) computed(nd4c_extents_multiply, f.table, a, b)
#define DIV(a, b) computed(nd4c_extents_divide, f.table, a, b)
#define MOD(a, b) computed(nd4c_extents_remainder, f.table, a, b)
#define MAX(a, b) computed(nd4c_extents_maximum, f.table, a, b)
#define MIN(a, b) computed(nd4c_extents_minimum, f.table, a, b)

static void assert_text(const fixture *f, int64_t extent, const char *expected) {
  char text[256];
  assert_string_equal(nd4c_extents_text(f->table, extent, text, sizeof text), expected);
}

static void equal_expressions_are_one(void **state) {
  (void)state;
  fixture f = open_fixture();
  assert_true(nd4c_extent_is_symbolic(f.n) && nd4c_extents_has(f.table, f.n));
  assert_int_equal(ADD(f.n, f.m), ADD(f.m, f.n));
  assert_int_equal(ADD(ADD(f.n, 1), ADD(f.n, 2)), ADD(MUL(2, f.n), 3));
  assert_int_equal(MUL(ADD(f.n, 1), ADD(f.n, 1)), ADD(ADD(MUL(f.n, f.n), MUL(f.n, 2)), 1));
  assert_int_equal(SUB(ADD(f.n, f.m), f.m), f.n);
  assert_int_equal(SUB(ADD(f.n, 7), f.n), 7);
  assert_int_equal(MUL(f.n, 0), 0);
  assert_int_equal(DIV(MUL(MUL(f.n, f.t), 768), MUL(f.n, f.t)), 768);
  assert_int_equal(DIV(MUL(ADD(f.n, 1), ADD(f.t, f.n)), ADD(f.n, 1)), ADD(f.t, f.n));
  assert_int_equal(DIV(ADD(MUL(f.n, 6), 4), 4), ADD(f.n, DIV(ADD(f.n, 2), 2)));
  /* Halving twice with a remainder kept is dividing by four. */
  assert_int_equal(DIV(ADD(DIV(ADD(f.t, 1), 2), 1), 2), DIV(ADD(f.t, 3), 4));
  assert_int_equal(DIV(DIV(DIV(f.t, 2), 3), 5), DIV(f.t, 30));
  assert_int_equal(MOD(MUL(f.n, 12), 4), 0);
  assert_int_equal(MOD(ADD(MUL(f.n, 12), 7), 4), 3);
  assert_int_equal(MAX(f.n, f.m), MAX(f.m, f.n));
  assert_int_equal(MAX(f.m, 7), MAX(7, f.m));
  assert_int_equal(MIN(f.m, 7), MIN(7, f.m));
  assert_int_equal(MAX(f.n, ADD(f.n, 3)), ADD(f.n, 3));
  assert_int_equal(MIN(f.t, 4096), f.t);
  nd4c_extents_destroy(f.table);
}

static void texts_read_like_arithmetic(void **state) {
  (void)state;
  fixture f = open_fixture();
  assert_text(&f, 12, "12");
  assert_text(&f, f.n, "n");
  assert_text(&f, ADD(MUL(f.n, 2), 1), "2*n + 1");
  assert_text(&f, SUB(f.t, 3), "t - 3");
  assert_text(&f, SUB(9, MIN(f.n, 4)), "9 - min(n, 4)");
  assert_text(&f, ADD(MUL(f.n, f.t), MUL(f.n, f.n)), "n*n + n*t");
  assert_text(&f, DIV(f.n, 2), "n / 2");
  assert_text(&f, ADD(DIV(SUB(f.t, 3), 2), 1), "(t + 1) / 2 - 1");
  assert_text(&f, MUL(DIV(f.n, 2), 3), "3*(n / 2)");
  assert_text(&f, DIV(f.n, ADD(f.m, 1)), "n / (m + 1)");
  assert_text(&f, MAX(f.n, ADD(f.m, 2)), "max(n, m + 2)");
  char small[6], text[128];
  assert_string_equal(nd4c_extents_text(f.table, ADD(f.n, 1000), small, sizeof small), "n + 1");
  char message[128];
  (void)snprintf(message, sizeof message, "shape (%lld, -1, -7) has %lld", (long long)ADD(f.n, 1), (long long)f.t);
  nd4c_extents_translate(f.table, message, text, sizeof text);
  assert_string_equal(text, "shape (n + 1, -1, -7) has t");
  nd4c_extents_destroy(f.table);
}

static void assert_bounds(const fixture *f, int64_t extent, int64_t low, int64_t high) {
  int64_t found_low, found_high;
  nd4c_extents_bounds(f->table, extent, &found_low, &found_high);
  assert_int_equal(found_low, low);
  assert_int_equal(found_high, high);
}

static void bounds_follow_the_dims(void **state) {
  (void)state;
  fixture f = open_fixture();
  assert_bounds(&f, 5, 5, 5);
  assert_bounds(&f, f.t, 3, 2048);
  assert_bounds(&f, ADD(MUL(f.t, 2), 1), 7, 4097);
  assert_bounds(&f, SUB(f.t, 3), 0, 2045);
  assert_bounds(&f, DIV(f.t, 4), 0, 512);
  assert_bounds(&f, MUL(f.t, f.n), 3, INT64_MAX);
  assert_bounds(&f, MUL(f.t, INT64_MAX / 1000), 3 * (INT64_MAX / 1000), INT64_MAX);
  assert_bounds(&f, MAX(f.t, f.n), 3, INT64_MAX);
  assert_bounds(&f, MIN(f.t, f.n), 1, 2048);
  assert_bounds(&f, SUB(4000, f.t), 1952, 3997);
  nd4c_extents_destroy(f.table);
}

static void what_is_surely_no_extent_is_refused(void **state) {
  (void)state;
  fixture f = open_fixture();
  int64_t result;
  assert_false(nd4c_extents_subtract(f.table, 2, f.t, &result));
  assert_false(nd4c_extents_subtract(f.table, f.n, ADD(f.n, 1), &result));
  assert_false(nd4c_extents_multiply(f.table, ADD(f.t, 1), INT64_MAX / 3, &result));
  assert_false(nd4c_extents_multiply(f.table, MUL(f.t, INT64_MAX / 4), 2, &result));
  assert_false(nd4c_extents_add(f.table, ADD(f.n, INT64_MAX - 2), 3, &result));
  assert_false(nd4c_extents_divide(f.table, f.n, 0, &result));
  assert_int_equal(nd4c_extents_failure(f.table), ND4C_OK);
  assert_int_equal(nd4c_extents_guard_count(f.table), 0);
  nd4c_extents_destroy(f.table);
}

static void assert_ask(fixture *f, nd4c_relation relation, int64_t a, int64_t b, nd4c_certainty expected) {
  assert_int_equal(nd4c_extents_ask(f->table, relation, a, b), expected);
}

static void questions_have_three_answers(void **state) {
  (void)state;
  fixture f = open_fixture();
  const nd4c_certainty no = ND4C_CERTAINLY_NOT, yes = ND4C_CERTAINLY, unknown = ND4C_UNCERTAIN;
  assert_ask(&f, ND4C_RELATION_EQUAL, 2, 3, no);
  assert_ask(&f, ND4C_RELATION_EQUAL, f.n, f.n, yes);
  assert_ask(&f, ND4C_RELATION_EQUAL, f.n, f.m, unknown);
  assert_ask(&f, ND4C_RELATION_EQUAL, f.n, 0, no);
  assert_ask(&f, ND4C_RELATION_EQUAL, f.t, 4096, no);
  assert_ask(&f, ND4C_RELATION_EQUAL, MUL(f.n, 2), 7, no); /* an even number */
  assert_ask(&f, ND4C_RELATION_EQUAL, ADD(f.n, 1), f.n, no);
  assert_ask(&f, ND4C_RELATION_DIFFERENT, f.n, 0, yes);
  assert_ask(&f, ND4C_RELATION_DIFFERENT, f.m, 0, unknown);
  assert_ask(&f, ND4C_RELATION_AT_LEAST, f.t, 3, yes);
  assert_ask(&f, ND4C_RELATION_AT_LEAST, f.t, 2049, no);
  assert_ask(&f, ND4C_RELATION_AT_LEAST, ADD(f.n, f.m), f.m, yes);
  assert_ask(&f, ND4C_RELATION_AT_LEAST, f.n, f.m, unknown);
  /* The k-fold of a quotient by k lies in a - k + 1 .. a. */
  assert_ask(&f, ND4C_RELATION_AT_LEAST, f.m, DIV(f.m, 2), yes);
  assert_ask(&f, ND4C_RELATION_AT_LEAST, f.m, MUL(DIV(f.m, 2), 2), yes);
  assert_ask(&f, ND4C_RELATION_AT_LEAST, f.m, MUL(DIV(f.m, 2), 3), unknown);
  assert_ask(&f, ND4C_RELATION_AT_LEAST, ADD(MUL(DIV(f.m, 3), 3), 2), f.m, yes);
  assert_ask(&f, ND4C_RELATION_AT_LEAST, ADD(MUL(DIV(f.m, 3), 3), 1), f.m, unknown);
  assert_ask(&f, ND4C_RELATION_AT_LEAST, DIV(f.m, 2), ADD(f.m, 1), no);
  assert_ask(&f, ND4C_RELATION_MULTIPLE, MUL(f.n, 8), 4, yes);
  assert_ask(&f, ND4C_RELATION_MULTIPLE, ADD(MUL(f.n, 8), 1), 4, no);
  assert_ask(&f, ND4C_RELATION_MULTIPLE, MUL(f.n, f.t), f.t, yes);
  assert_ask(&f, ND4C_RELATION_MULTIPLE, f.n, 4, unknown);
  assert_ask(&f, ND4C_RELATION_BROADCASTS, f.t, 5, unknown);
  assert_ask(&f, ND4C_RELATION_BROADCASTS, f.t, 1, no);
  assert_ask(&f, ND4C_RELATION_BROADCASTS, f.n, f.n, yes);
  nd4c_extents_destroy(f.table);
}

static void assert_guard(const fixture *f, int32_t guard, const char *expected) {
  char text[256];
  assert_true(guard < nd4c_extents_guard_count(f->table));
  assert_string_equal(nd4c_extents_guard_text(f->table, guard, text, sizeof text), expected);
}

static void assumptions_become_guards_once(void **state) {
  (void)state;
  fixture f = open_fixture();
  assert_true(nd4c_extents_assume(f.table, ND4C_RELATION_EQUAL, f.n, f.m));
  assert_true(nd4c_extents_assume(f.table, ND4C_RELATION_EQUAL, MUL(f.m, 4), MUL(f.n, 4)));
  assert_true(nd4c_extents_assume(f.table, ND4C_RELATION_EQUAL, ADD(f.n, 1), ADD(f.m, 1)));
  assert_int_equal(nd4c_extents_guard_count(f.table), 1);
  assert_guard(&f, 0, "n == m");
  assert_true(nd4c_extents_assume(f.table, ND4C_RELATION_EQUAL, 4, f.t));
  assert_guard(&f, 1, "t == 4");
  assert_false(nd4c_extents_assume(f.table, ND4C_RELATION_EQUAL, f.t, 5));
  assert_false(nd4c_extents_assume(f.table, ND4C_RELATION_AT_LEAST, f.t, 5));
  assert_true(nd4c_extents_assume(f.table, ND4C_RELATION_MULTIPLE, f.n, 4));
  assert_guard(&f, 2, "n is a multiple of 4");
  assert_true(nd4c_extents_assume(f.table, ND4C_RELATION_BROADCASTS, f.m, 9));
  assert_guard(&f, 3, "m is 1 or 9");
  (void)SUB(f.n, 5);
  assert_guard(&f, 4, "n >= 5");
  (void)DIV(f.t, f.m);
  assert_guard(&f, 5, "m >= 1");
  assert_int_equal(nd4c_extents_guard_count(f.table), 6);
  nd4c_extents_forget(f.table, 1);
  assert_int_equal(nd4c_extents_guard_count(f.table), 1);
  (void)SUB(f.n, 5); /* the expression is known, but its assumption was forgotten */
  assert_guard(&f, 1, "n >= 5");
  nd4c_extents_destroy(f.table);
}

static void dims_are_checked(void **state) {
  (void)state;
  fixture f = open_fixture();
  int64_t extent;
  assert_int_equal(nd4c_extents_dim(f.table, "n", 0, -1, &extent), ND4C_NAME);
  assert_int_equal(nd4c_extents_dim(f.table, "", 0, -1, &extent), ND4C_NAME);
  assert_int_equal(nd4c_extents_dim(f.table, "x", -1, 4, &extent), ND4C_SHAPE);
  assert_int_equal(nd4c_extents_dim(f.table, "x", 5, 4, &extent), ND4C_SHAPE);
  assert_int_equal(nd4c_extents_dim_count(f.table), 3);
  nd4c_extents_destroy(f.table);
}

static void bindings_check_bounds_and_guards(void **state) {
  (void)state;
  fixture f = open_fixture();
  nd4c_binding binding;
  nd4c_extents_set_asker(f.table, "add");
  int64_t half = DIV(ADD(f.t, 1), 2), value;
  assert_true(nd4c_extents_assume(f.table, ND4C_RELATION_EQUAL, f.n, f.m));
  assert_int_equal(nd4c_binding_make(f.table, (int64_t[]){2, 2, 7}, NULL, &binding), ND4C_OK);
  assert_int_equal(nd4c_binding_get(&binding, half, &value), ND4C_OK);
  assert_int_equal(value, 4);
  assert_int_equal(nd4c_binding_get(&binding, 31, &value), ND4C_OK);
  assert_int_equal(value, 31);
  nd4c_binding_free(&binding);
  assert_int_equal(nd4c_binding_make(f.table, (int64_t[]){2, 3, 7}, NULL, &binding), ND4C_SHAPE);
  assert_string_equal(nd4c_error_message(), "the graph was built on add: n == m; here the two are 2 and 3");
  assert_int_equal(nd4c_binding_make(f.table, (int64_t[]){2, 2, 2}, NULL, &binding), ND4C_SHAPE);
  assert_string_equal(nd4c_error_message(), "dim 't' is 2, expected 3 to 2048");
  assert_int_equal(nd4c_binding_make(f.table, (int64_t[]){0, 0, 7}, NULL, &binding), ND4C_SHAPE);
  assert_string_equal(nd4c_error_message(), "dim 'n' is 0, expected 1 or more");
  /* Dims may become expressions of another table. */
  fixture g = open_fixture();
  assert_int_equal(nd4c_binding_make(f.table, (int64_t[]){g.n, g.n, g.t}, g.table, &binding), ND4C_OK);
  assert_int_equal(nd4c_binding_get(&binding, half, &value), ND4C_OK);
  assert_text(&g, value, "(t + 1) / 2");
  nd4c_binding_free(&binding);
  nd4c_extents_destroy(g.table);
  nd4c_extents_destroy(f.table);
}

static void values_beyond_64_bits_are_refused(void **state) {
  (void)state;
  fixture f = open_fixture();
  nd4c_binding binding;
  int64_t square = MUL(f.n, f.n), value;
  assert_int_equal(nd4c_binding_make(f.table, (int64_t[]){INT64_C(1) << 40, 1, 3}, NULL, &binding), ND4C_OK);
  assert_int_equal(nd4c_binding_get(&binding, square, &value), ND4C_OVERFLOW);
  assert_string_equal(nd4c_error_message(), "the extent n*n has no value of at least 0 that 64 bits hold");
  nd4c_binding_free(&binding);
  nd4c_extents_destroy(f.table);
}

static void large_expressions_are_refused(void **state) {
  (void)state;
  fixture f = open_fixture();
  int64_t sum = f.n, dim;
  bool fits = true;
  for (int i = 0; fits && i < 80; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "d%d", i);
    assert_int_equal(nd4c_extents_dim(f.table, name, 0, -1, &dim), ND4C_OK);
    fits = nd4c_extents_add(f.table, sum, dim, &sum);
  }
  assert_false(fits);
  assert_int_equal(nd4c_extents_failure(f.table), ND4C_UNSUPPORTED);
  assert_int_equal(nd4c_extents_failure(f.table), ND4C_OK);
  nd4c_extents_destroy(f.table);
}

/* -- random expressions ------------------------------------------------------------------------------------------ */

enum { POOL = 40, BINDINGS = 12 };

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

/* The operation on numbers; false if it has no value. */
static bool on_numbers(int kind, int64_t a, int64_t b, int64_t *result) {
  *result = kind == 0   ? a + b
            : kind == 1 ? a - b
            : kind == 2 ? a * b
            : kind == 3 ? (b > 0 ? a / b : -1)
            : kind == 4 ? (b > 0 ? a % b : -1)
            : kind == 5 ? (a > b ? a : b)
                        : (a < b ? a : b);
  return *result >= 0;
}

/* Returns how many values it compared. */
static int check_random(uint64_t seed) {
  static const operation operations[] = {nd4c_extents_add,    nd4c_extents_subtract,  nd4c_extents_multiply,
                                         nd4c_extents_divide, nd4c_extents_remainder, nd4c_extents_maximum,
                                         nd4c_extents_minimum};
  fixture f = open_fixture();
  int64_t dims[BINDINGS][3], pool[POOL] = {f.n, f.m, f.t, 1, 2, 3, 7}, values[BINDINGS][POOL];
  bool alive[BINDINGS];
  int32_t count = 7, tries = 0;
  int compared = 0;
  for (int i = 0; i < BINDINGS; i++) {
    alive[i] = true;
    dims[i][0] = 1 + (int64_t)(next_random(&seed) % 12);
    dims[i][1] = (int64_t)(next_random(&seed) % 12);
    dims[i][2] = 3 + (int64_t)(next_random(&seed) % 40);
    memcpy(values[i], (int64_t[]){dims[i][0], dims[i][1], dims[i][2], 1, 2, 3, 7}, 7 * sizeof(int64_t));
  }
  while (count < POOL && tries++ < 8 * POOL) {
    int kind = (int)(next_random(&seed) % 7), a = (int)(next_random(&seed) % (uint64_t)count),
        b = (int)(next_random(&seed) % (uint64_t)count);
    int64_t low, high, number;
    if (pool[a] >= 0 && pool[b] >= 0 && !on_numbers(kind, pool[a], pool[b], &number)) {
      continue; /* of numbers alone the table gives what C gives */
    }
    bool made = operations[kind](f.table, pool[a], pool[b], &pool[count]);
    if (nd4c_extents_failure(f.table) != ND4C_OK) {
      continue; /* too many terms */
    }
    for (int i = 0; i < BINDINGS; i++) {
      bool defined = alive[i] && on_numbers(kind, values[i][a], values[i][b], &values[i][count]);
      assert_true(made || !defined); /* what has a value under some binding is never refused */
      alive[i] = made ? alive[i] && defined : alive[i];
    }
    if (!made) {
      continue;
    }
    nd4c_extents_bounds(f.table, pool[count], &low, &high);
    for (int i = 0; i < BINDINGS; i++) {
      assert_true(!alive[i] || (values[i][count] >= low && values[i][count] <= high));
      alive[i] = alive[i] && values[i][count] < 100000; /* small enough for the products to come */
    }
    count++;
  }
  for (int i = 0; i < BINDINGS; i++) {
    nd4c_binding binding;
    if (nd4c_binding_make(f.table, dims[i], NULL, &binding) != ND4C_OK) {
      assert_false(alive[i]);
      continue;
    }
    for (int32_t j = 0; alive[i] && j < count; j++) {
      int64_t value;
      nd4c_status status = nd4c_binding_get(&binding, pool[j], &value);
      if (status != ND4C_OK || value != values[i][j]) {
        char text[512];
        fail_msg("%s is %lld, not %lld (status %d), for n %d, m %d, t %d",
                 nd4c_extents_text(f.table, pool[j], text, sizeof text), (long long)values[i][j], (long long)value,
                 (int)status, (int)dims[i][0], (int)dims[i][1], (int)dims[i][2]);
      }
      compared++;
    }
    nd4c_binding_free(&binding);
  }
  nd4c_extents_destroy(f.table);
  return compared;
}

static void random_expressions_compute_like_numbers(void **state) {
  (void)state;
  int compared = 0;
  for (uint64_t seed = 1; seed <= 12000; seed++) {
    compared += check_random(seed);
  }
  print_message("%d values compared\n", compared);
  assert_true(compared > 100000);
}

/* -- copies ------------------------------------------------------------------------------------------------------ */

/* An extent means the same in both tables, each of which grows by itself. */
static void copies_are_tables_of_their_own(void **state) {
  (void)state;
  fixture f = open_fixture(), copy = f;
  nd4c_extents *nothing = f.table;
  const int64_t half = DIV(ADD(f.n, MUL(f.t, 3)), 2);
  int64_t own = 0, others = 0;
  assert_true(nd4c_extents_assume(f.table, ND4C_RELATION_EQUAL, f.n, f.m));
  assert_int_equal(nd4c_extents_clone(f.table, &copy.table), ND4C_OK);
  assert_int_equal(nd4c_extents_guard_count(copy.table), 1);
  assert_text(&copy, half, "t + (n + t) / 2");
  assert_true(nd4c_extents_add(f.table, half, 7, &own));
  assert_false(nd4c_extents_has(copy.table, own));
  assert_true(nd4c_extents_assume(copy.table, ND4C_RELATION_DIFFERENT, f.m, 5));
  assert_int_equal(nd4c_extents_guard_count(f.table), 1);
  nd4c_extents_destroy(f.table);
  assert_string_equal(nd4c_extents_dim_name(copy.table, 2), "t");
  assert_true(nd4c_extents_add(copy.table, half, half, &others));
  assert_int_equal(others, computed(nd4c_extents_multiply, copy.table, half, 2));
  nd4c_extents_destroy(copy.table);
  assert_int_equal(nd4c_extents_clone(NULL, &nothing), ND4C_OK);
  assert_null(nothing);
}

/* -- failures ---------------------------------------------------------------------------------------------------- */

static nd4c_status build_and_bind(void) {
  nd4c_extents *table = NULL;
  nd4c_binding binding;
  int64_t n, m, sum, half;
  ND4C_TRY(nd4c_extents_create(&table));
  nd4c_status status = nd4c_extents_dim(table, "n", 1, -1, &n);
  status = status == ND4C_OK ? nd4c_extents_dim(table, "m", 0, 64, &m) : status;
  if (status == ND4C_OK) {
    bool made = nd4c_extents_add(table, n, m, &sum) && nd4c_extents_multiply(table, sum, sum, &sum) &&
                nd4c_extents_divide(table, sum, 3, &half) && nd4c_extents_subtract(table, half, m, &sum);
    status = nd4c_extents_failure(table);
    assert_true(made == (status == ND4C_OK));
  }
  if (status == ND4C_OK) {
    status = nd4c_binding_make(table, (int64_t[]){5, 4}, NULL, &binding);
  }
  if (status == ND4C_OK) {
    nd4c_binding_free(&binding);
    nd4c_extents *copy = NULL;
    status = nd4c_extents_clone(table, &copy);
    nd4c_extents_destroy(copy);
  }
  nd4c_extents_destroy(table);
  return status;
}

static void lack_of_memory_is_reported(void **state) {
  (void)state;
  int failed = 0;
  for (int64_t i = 0;; i++) {
    nd4c_allocation_fail_at(i);
    nd4c_status status = build_and_bind();
    nd4c_allocation_fail_at(-1);
    if (status == ND4C_OK) {
      break;
    }
    assert_int_equal(status, ND4C_MEMORY);
    failed++;
  }
  assert_true(failed >= 8);
}

/* What a guard says reaches quotients of maxima of quotients, however deep, and a guard that is dropped again changes
 * nothing. */
static void usual_numbers_follow_guards(void **state) {
  (void)state;
  enum { DEPTH = 9, NUMBER = 100000 };
  fixture f = open_fixture();
  int64_t quotients[DEPTH];
  for (int i = 0; i < DEPTH; i++) {
    quotients[i] = DIV(MUL(MAX(i == 0 ? f.n : quotients[i - 1], f.t), 2), 3);
  }
  assert_true(nd4c_extents_usual(f.table, quotients[0]) == 64 * 2 / 3);
  assert_true(nd4c_extents_assume(f.table, ND4C_RELATION_EQUAL, f.n, NUMBER));
  const int32_t guards = nd4c_extents_guard_count(f.table);
  for (int dropped = 0; dropped < 2; dropped++) {
    int64_t number = NUMBER;
    for (int i = 0; i < DEPTH; i++) {
      number = number * 2 / 3; /* above 64, which t usually is */
      assert_true(nd4c_extents_usual(f.table, quotients[i]) == (double)number);
    }
    assert_true(nd4c_extents_assume(f.table, ND4C_RELATION_EQUAL, f.m, 5));
    nd4c_extents_forget(f.table, guards);
  }
  nd4c_extents_destroy(f.table);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_expressions_are_one),
      cmocka_unit_test(texts_read_like_arithmetic),
      cmocka_unit_test(bounds_follow_the_dims),
      cmocka_unit_test(what_is_surely_no_extent_is_refused),
      cmocka_unit_test(questions_have_three_answers),
      cmocka_unit_test(assumptions_become_guards_once),
      cmocka_unit_test(dims_are_checked),
      cmocka_unit_test(bindings_check_bounds_and_guards),
      cmocka_unit_test(values_beyond_64_bits_are_refused),
      cmocka_unit_test(large_expressions_are_refused),
      cmocka_unit_test(random_expressions_compute_like_numbers),
      cmocka_unit_test(copies_are_tables_of_their_own),
      cmocka_unit_test(usual_numbers_follow_guards),
      cmocka_unit_test(lack_of_memory_is_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
