/* Deferred weights (device/storage/deferred.h) as constants of plans: those of one size are packed through one room,
 * those at any address are copied without another one, and large contents are told apart by every byte. */
#include "base/threads/parallel.h"
#include "device/storage/deferred.h"
#include "device/storage/packed.h"
#include "graph_check.h"

enum { ROWS = 8, WIDTH = 640, LAYERS = 4, BYTES = WIDTH * WIDTH * 4 };

/* Where the weights of a product were written. */
typedef struct source {
  int number, fills;
  const void *at;
} source;

static float element(int number, int64_t i) {
  return (float)((i * 7 + number * 3) % 11 - 5) / 64;
}

static nd4c_status fill(void *user, void *to) {
  source *s = user;
  float *numbers = to;
  s->fills++;
  s->at = to;
  for (int64_t i = 0; i < (int64_t)WIDTH * WIDTH; i++) {
    numbers[i] = element(s->number, i);
  }
  return ND4C_OK;
}

static nd4c_array *make_weights(const nd4c_deferral *deferral) {
  const int64_t shape[] = {WIDTH, WIDTH};
  nd4c_array *weights = NULL;
  CHECK_OK(nd4c_deferred_array(ND4C_FLOAT32, 2, shape, deferral, &weights));
  return weights;
}

/* y = x w0 w1 ..., of weights that nothing else reads. */
static nd4c_plan *make_chain(nd4c_array *const *weights, int32_t count) {
  const int64_t shape[] = {ROWS, WIDTH};
  nd4c_graph *graph = NULL;
  nd4c_plan *plan = NULL;
  CHECK_OK(nd4c_graph_create(&graph));
  nd4c_value y = check_input(graph, "x", 2, shape);
  for (int32_t i = 0; i < count; i++) {
    nd4c_value w = ND4C_VALUE_NONE;
    CHECK_OK(nd4c_graph_constant(graph, weights[i], &w));
    y = check_binary(graph, ND4C_OP_matmul, y, w);
  }
  CHECK_OK(nd4c_graph_output(graph, "y", y));
  CHECK_OK(nd4c_plan_create(graph, NULL, NULL, &plan));
  nd4c_graph_destroy(graph);
  return plan;
}

/* The weights as arrays that are not deferred, one after the other. */
static void check_chain(nd4c_plan *plan, int32_t count) {
  const int64_t shape[] = {ROWS, WIDTH}, square[] = {WIDTH, WIDTH};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 5, -1, 1), *y = NULL, *expected = nd4c_array_retain(x);
  for (int32_t i = 0; i < count; i++) {
    nd4c_array *w = NULL, *next = NULL;
    void *data = NULL;
    source s = {.number = i};
    CHECK_OK(nd4c_array_empty(ND4C_FLOAT32, 2, square, NULL, &w));
    CHECK_OK(nd4c_array_data_mutable(w, &data));
    CHECK_OK(fill(&s, data));
    CHECK_OK(nd4c_matmul(expected, w, &next));
    check_release((nd4c_array *[]){expected, w}, 2);
    expected = next;
  }
  const nd4c_array *given[] = {x};
  CHECK_OK(nd4c_plan_run(plan, given, 1, &y, 1));
  assert_true(check_difference(expected, y) <= 1e-4);
  check_release((nd4c_array *[]){x, y, expected}, 3);
}

/* A kernel that packs nothing reads a copy that stays. */
static bool is_packed(const nd4c_array *weights) {
  return nd4c_deferred_is_pending(weights->storage);
}

static void weights_of_a_size_are_packed_in_one_room(void **state) {
  (void)state;
  source sources[LAYERS];
  nd4c_array *weights[LAYERS];
  for (int i = 0; i < LAYERS; i++) {
    sources[i] = (source){.number = i};
    weights[i] = make_weights(&(nd4c_deferral){.fill = fill, .user = &sources[i]});
  }
  nd4c_plan *plan = make_chain(weights, LAYERS);
  if (is_packed(weights[0])) {
    for (int i = 0; i < LAYERS; i++) {
      assert_int_equal(sources[i].fills, 1);
      assert_ptr_equal(sources[i].at, sources[0].at);
    }
  }
  check_chain(plan, LAYERS);
  nd4c_plan_destroy(plan);
  check_release(weights, LAYERS);
}

static void released(void *user) {
  ++*(int *)user;
}

static void contents_at_odd_addresses_are_read_there(void **state) {
  (void)state;
  char *bytes = malloc(BYTES + 1);
  int gone = 0;
  source s = {.number = 0};
  float *numbers = malloc(BYTES);
  assert_true(bytes != NULL && numbers != NULL);
  CHECK_OK(fill(&s, numbers));
  memcpy(bytes + 1, numbers, BYTES);
  nd4c_array *weights = make_weights(&(nd4c_deferral){.release = released, .user = &gone, .bytes = bytes + 1});
  const void *read = NULL;
  void *made = NULL;
  CHECK_OK(nd4c_deferred_read_bytes(weights->storage, &read, &made));
  assert_ptr_equal(read, bytes + 1);
  assert_null(made);
  CHECK_OK(nd4c_deferred_read(weights->storage, &read, &made));
  assert_int_equal((uintptr_t)read % sizeof(float), 0);
  assert_memory_equal(read, numbers, BYTES);
  nd4c_deallocate(made);
  nd4c_plan *plan = make_chain(&weights, 1);
  check_chain(plan, 1);
  nd4c_plan_destroy(plan);
  CHECK_OK(nd4c_array_data(weights, &read));
  assert_memory_equal(read, numbers, BYTES);
  assert_int_equal(gone, 0);
  nd4c_array_release(weights);
  assert_int_equal(gone, 1);
  free(bytes);
  free(numbers);
}

static void copies_are_whole(void **state) {
  (void)state;
  const int64_t sizes[] = {0, 1, 4097, (1 << 18) - 1, (1 << 20) + 3};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    unsigned char *from = malloc((size_t)sizes[i] + 2), *to = calloc(1, (size_t)sizes[i] + 2);
    assert_true(from != NULL && to != NULL);
    for (int64_t k = 0; k < sizes[i] + 2; k++) {
      from[k] = (unsigned char)(k % 251 + 1);
    }
    nd4c_parallel_copy(to, from + 1, sizes[i]);
    assert_memory_equal(to, from + 1, (size_t)sizes[i]);
    assert_int_equal(to[sizes[i]], 0);
    free(from);
    free(to);
  }
}

/* One byte of each part of large contents; equal bytes have equal prints, wherever they lie. */
static void prints_tell_every_byte(void **state) {
  (void)state;
  enum { LARGE = (3 << 20) + 5, STEPS = 97 };
  unsigned char *bytes = calloc(1, LARGE), *other = calloc(1, LARGE + 1);
  uint64_t first[2], now[2];
  assert_true(bytes != NULL && other != NULL);
  nd4c_fingerprint_take(bytes, LARGE, first);
  nd4c_fingerprint_take(other + 1, LARGE, now);
  assert_memory_equal(first, now, sizeof first);
  for (int64_t i = 0; i <= STEPS; i++) {
    unsigned char *at = bytes + (LARGE - 1) * i / STEPS;
    *at = 1;
    nd4c_fingerprint_take(bytes, LARGE, now);
    assert_memory_not_equal(first, now, sizeof first);
    *at = 0;
  }
  nd4c_fingerprint_take(bytes, LARGE - 1, now);
  assert_memory_not_equal(first, now, sizeof first);
  free(bytes);
  free(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_of_a_size_are_packed_in_one_room),
      cmocka_unit_test(contents_at_odd_addresses_are_read_there),
      cmocka_unit_test(copies_are_whole),
      cmocka_unit_test(prints_tell_every_byte),
  };
  return cmocka_run_group_tests_name("deferred", tests, NULL, NULL);
}
