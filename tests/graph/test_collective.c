/* Collectives on the stub: each operation in each dtype on groups of 1 to 4 ranks, a thread each; arguments, ranks that
 * disagree, ranks that do not come, calls that fail. */
#include <pthread.h>

#include "graph_check.h"
#include "stub_plugin.h"

enum { RANKS = 4, SIZE = 12 };

static int settle(void **state) {
  nd4c_device *second = NULL;
  CHECK_OK(nd4c_device_find("stub:1", &second));
  (void)nd4c_device_synchronize(second);
  (void)nd4c_memory_trim(second, 0);
  return stub_test_end(state);
}

/* -- ranks --------------------------------------------------------------------------------------------------------- */

typedef struct rank {
  nd4c_collective_id id;
  int32_t number, count;
  nd4c_dtype dtype;
  nd4c_context *context;
  nd4c_group *group;
  void (*body)(struct rank *rank);
} rank;

/* Ranks by turns on both devices, with a stream each. */
static void *run_rank(void *argument) {
  rank *r = argument;
  nd4c_context_options options = {.struct_size = sizeof options};
  CHECK_OK(nd4c_device_find(r->number % 2 == 0 ? "stub:0" : "stub:1", &options.device));
  CHECK_OK(nd4c_context_create(&options, &r->context));
  CHECK_OK(nd4c_group_create(r->context, &r->id, r->number, r->count, &r->group));
  assert_int_equal(nd4c_group_rank(r->group), r->number);
  assert_int_equal(nd4c_group_size(r->group), r->count);
  r->body(r);
  CHECK_OK(nd4c_group_destroy(r->group));
  (void)nd4c_context_destroy(r->context);
  return NULL;
}

static void run_ranks(int32_t count, nd4c_dtype dtype, void (*body)(rank *)) {
  rank ranks[RANKS];
  pthread_t threads[RANKS];
  nd4c_collective_id id;
  CHECK_OK(nd4c_collective_make_id(stub_device, &id));
  for (int32_t i = 0; i < count; i++) {
    ranks[i] = (rank){.id = id, .number = i, .count = count, .dtype = dtype, .body = body};
    assert_int_equal(pthread_create(&threads[i], NULL, run_rank, &ranks[i]), 0);
  }
  for (int32_t i = 0; i < count; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  }
}

/* Small integers, so that all dtypes hold all sums and products. */
static double value_of(int32_t number, int64_t element) {
  return (double)((number + 1 + element) % 3 + 1);
}

/* An array of rank r's values with these axes; on the host, or on the rank's device. */
static nd4c_array *make(const rank *r, int32_t axes, const int64_t *shape, bool there) {
  nd4c_array *plain = NULL, *result = NULL;
  int64_t size = 1;
  for (int32_t i = 0; i < axes; i++) {
    size *= shape[i];
  }
  double values[SIZE * RANKS];
  for (int64_t i = 0; i < size; i++) {
    values[i] = value_of(r->number, i);
  }
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, axes, shape, values, NULL, &plain));
  CHECK_OK(nd4c_cast(plain, r->dtype, &result));
  nd4c_array_release(plain);
  if (there) {
    nd4c_array *copy = NULL;
    CHECK_OK(nd4c_array_to_device(result, nd4c_context_device(r->context), &copy));
    nd4c_array_release(result);
    result = copy;
  }
  return result;
}

/* Element i is what `expected` says. */
static void check(const rank *r, const char *what, const nd4c_array *array, int64_t size,
                  double (*expected)(const rank *r, int64_t i)) {
  assert_int_equal(nd4c_array_size(array), size);
  assert_int_equal(nd4c_array_dtype(array), r->dtype);
  nd4c_array *wide = NULL;
  double values[SIZE * RANKS];
  nd4c_status status = nd4c_cast(array, ND4C_FLOAT64, &wide);
  if (status != ND4C_OK) {
    fail_msg("%s, rank %d of %d, %s: %s", what, r->number, r->count, nd4c_dtype_name(r->dtype), nd4c_error_message());
  }
  CHECK_OK(nd4c_array_read(wide, values, (size_t)size * sizeof *values));
  for (int64_t i = 0; i < size; i++) {
    if (values[i] != expected(r, i)) {
      fail_msg("%s, rank %d of %d, %s: element %d is %g, expected %g", what, r->number, r->count,
               nd4c_dtype_name(r->dtype), (int)i, values[i], expected(r, i));
    }
  }
  nd4c_array_release(wide);
}

static double sum_at(const rank *r, int64_t i) {
  double sum = 0;
  for (int32_t k = 0; k < r->count; k++) {
    sum += value_of(k, i);
  }
  return sum;
}

static double product_at(const rank *r, int64_t i) {
  double product = 1;
  for (int32_t k = 0; k < r->count; k++) {
    product *= value_of(k, i);
  }
  return product;
}

static double least_at(const rank *r, int64_t i) {
  double least = 9;
  for (int32_t k = 0; k < r->count; k++) {
    least = fmin(least, value_of(k, i));
  }
  return least;
}

static double most_at(const rank *r, int64_t i) {
  double most = 0;
  for (int32_t k = 0; k < r->count; k++) {
    most = fmax(most, value_of(k, i));
  }
  return most;
}

static double gathered_at(const rank *r, int64_t i) {
  (void)r;
  return value_of((int32_t)(i / SIZE), i % SIZE);
}

static double scattered_at(const rank *r, int64_t i) {
  return sum_at(r, r->number * SIZE + i);
}

static double root_at(const rank *r, int64_t i) {
  return value_of(r->count - 1, i);
}

static double neighbour_at(const rank *r, int64_t i) {
  return value_of((r->number + r->count - 1) % r->count, i);
}

/* -- operations ---------------------------------------------------------------------------------------------------- */

static void reduce_all(rank *r) {
  static const struct {
    nd4c_collective_reduction reduction;
    double (*expected)(const rank *r, int64_t i);
  } ways[] = {{ND4C_COLLECTIVE_SUM, sum_at},
              {ND4C_COLLECTIVE_PRODUCT, product_at},
              {ND4C_COLLECTIVE_MIN, least_at},
              {ND4C_COLLECTIVE_MAX, most_at}};
  const int64_t shape[] = {3, 4};
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    nd4c_array *x = make(r, 2, shape, i % 2 == 0), *fresh = NULL;
    CHECK_OK(nd4c_group_all_reduce(r->group, ways[i].reduction, x, &fresh));
    check(r, "all_reduce", fresh, SIZE, ways[i].expected);
    CHECK_OK(nd4c_group_all_reduce(r->group, ways[i].reduction, x, &x)); /* in place */
    check(r, "all_reduce in place", x, SIZE, ways[i].expected);
    nd4c_array_release(x);
    nd4c_array_release(fresh);
  }
}

static void gather_and_scatter(rank *r) {
  const int64_t shape[] = {3, 4}, all[] = {r->count, 3, 4};
  nd4c_array *x = make(r, 2, shape, true), *view = NULL, *gathered = NULL, *parts = make(r, 3, all, false),
             *part = NULL;
  CHECK_OK(nd4c_group_all_gather(r->group, x, &gathered));
  assert_int_equal(nd4c_array_rank(gathered), 3);
  check(r, "all_gather", gathered, SIZE * r->count, gathered_at);
  CHECK_OK(nd4c_group_reduce_scatter(r->group, ND4C_COLLECTIVE_SUM, parts, &part));
  assert_int_equal(nd4c_array_rank(part), 2);
  check(r, "reduce_scatter", part, SIZE, scattered_at);
  /* An input that is a view: the first elements of `parts`. */
  CHECK_OK(nd4c_array_as_strided(parts, 2, shape, (int64_t[]){4, 1}, 0, &view));
  CHECK_OK(nd4c_group_all_gather(r->group, view, &gathered));
  check(r, "all_gather of a view", gathered, SIZE * r->count, gathered_at);
  nd4c_array_release(view);
  nd4c_array_release(x);
  nd4c_array_release(gathered);
  nd4c_array_release(parts);
  nd4c_array_release(part);
}

/* The last rank is the root. Then each rank sends to its right and receives from its left, three times. */
static void spread_and_send(rank *r) {
  const int64_t shape[] = {3, 4};
  nd4c_array *x = make(r, 2, shape, r->number % 2 == 1), *y = make(r, 2, shape, true), *z = make(r, 2, shape, true);
  CHECK_OK(nd4c_group_broadcast(r->group, r->count - 1, x));
  check(r, "broadcast", x, SIZE, root_at);
  for (int32_t i = 0; i < 3 && r->count > 1; i++) {
    const int32_t right = (r->number + 1) % r->count, left = (r->number + r->count - 1) % r->count;
    if (r->number % 2 == 0) { /* a stream works in order: not all may send first */
      CHECK_OK(nd4c_group_send(r->group, right, y));
      CHECK_OK(nd4c_group_receive(r->group, left, z));
    } else {
      CHECK_OK(nd4c_group_receive(r->group, left, z));
      CHECK_OK(nd4c_group_send(r->group, right, y));
    }
    check(r, "receive", z, SIZE, neighbour_at);
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
  nd4c_array_release(z);
}

static void each_operation_in_each_dtype(void **state) {
  (void)state;
  static const nd4c_dtype dtypes[] = {ND4C_FLOAT32, ND4C_FLOAT64, ND4C_FLOAT16, ND4C_BFLOAT16,
                                      ND4C_INT8,    ND4C_INT16,   ND4C_INT32,   ND4C_INT64,
                                      ND4C_UINT8,   ND4C_UINT16,  ND4C_UINT32,  ND4C_UINT64};
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
    if (!nd4c_dtype_get_info(dtypes[i])->available) {
      continue;
    }
    for (int32_t count = 1; count <= RANKS; count++) {
      run_ranks(count, dtypes[i], reduce_all);
      run_ranks(count, dtypes[i], gather_and_scatter);
      if (count % 2 == 0 || count == 1) {
        run_ranks(count, dtypes[i], spread_and_send);
      }
    }
  }
}

static double mean_at(const rank *r, int64_t i) {
  return sum_at(r, i) / r->count;
}

static void take_mean(rank *r) {
  const int64_t shape[] = {SIZE};
  nd4c_array *x = make(r, 1, shape, true), *mean = NULL, *whole = NULL;
  CHECK_OK(nd4c_group_all_reduce(r->group, ND4C_COLLECTIVE_MEAN, x, &mean));
  check(r, "mean", mean, SIZE, mean_at);
  nd4c_array_release(mean);
  mean = NULL;
  CHECK_OK(nd4c_cast(x, ND4C_INT32, &whole));
  assert_int_equal(nd4c_group_all_reduce(r->group, ND4C_COLLECTIVE_MEAN, whole, &mean), ND4C_UNSUPPORTED);
  assert_null(mean);
  nd4c_array_release(whole);
  nd4c_array_release(x);
}

static void means_are_of_floats(void **state) {
  (void)state;
  run_ranks(4, ND4C_FLOAT64, take_mean);
}

/* Many operations in flight, after kernels and before them. */
static void chain(rank *r) {
  const int64_t shape[] = {SIZE};
  nd4c_array *x = make(r, 1, shape, true);
  for (int32_t i = 0; i < 20; i++) {
    nd4c_array *mean = NULL, *next = NULL;
    CHECK_OK(nd4c_group_all_reduce(r->group, ND4C_COLLECTIVE_MAX, x, &mean));
    CHECK_OK(nd4c_negative_on(r->context, mean, &next));
    nd4c_array_release(x);
    x = NULL;
    CHECK_OK(nd4c_negative_on(r->context, next, &x));
    nd4c_array_release(mean);
    nd4c_array_release(next);
  }
  check(r, "a chain", x, SIZE, most_at);
  nd4c_array_release(x);
}

static void operations_follow_the_stream(void **state) {
  (void)state;
  (void)stub_control("delay 100");
  run_ranks(4, ND4C_FLOAT32, chain);
}

/* -- failures ------------------------------------------------------------------------------------------------------ */

static void disagree(rank *r) {
  const int64_t shape[] = {r->number == 0 ? 3 : 4};
  nd4c_array *x = make(r, 1, shape, true), *y = NULL;
  CHECK_OK(nd4c_group_all_reduce(r->group, ND4C_COLLECTIVE_SUM, x, &y));
  assert_int_equal(nd4c_array_wait(y), ND4C_DEVICE);
  assert_non_null(strstr(nd4c_error_message(), "all_reduce"));
  assert_non_null(strstr(nd4c_error_message(), "do not call the same operation"));
  nd4c_array_release(y);
  y = NULL;
  CHECK_OK(r->number == 0 ? nd4c_group_broadcast(r->group, 0, x) : nd4c_group_all_gather(r->group, x, &y));
  assert_int_equal(nd4c_array_wait(r->number == 0 ? x : y), r->number == 0 ? ND4C_OK : ND4C_DEVICE);
  nd4c_array_release(x);
  nd4c_array_release(y);
}

static void ranks_that_disagree_are_told(void **state) {
  (void)state;
  run_ranks(3, ND4C_FLOAT32, disagree);
}

/* The last rank never comes: the first one aborts. */
static void leave_alone(rank *r) {
  const int64_t shape[] = {SIZE};
  nd4c_array *x = make(r, 1, shape, true), *y = NULL;
  if (r->number + 1 < r->count) {
    CHECK_OK(nd4c_group_all_reduce(r->group, ND4C_COLLECTIVE_SUM, x, &y));
    if (r->number == 0) {
      CHECK_OK(nd4c_group_abort(r->group));
    }
    assert_int_equal(nd4c_array_wait(y), ND4C_DEVICE);
    assert_non_null(strstr(nd4c_error_message(), "the group was aborted"));
  }
  nd4c_array_release(x);
  nd4c_array_release(y);
}

static void a_rank_that_does_not_come_can_be_given_up(void **state) {
  (void)state;
  run_ranks(3, ND4C_FLOAT32, leave_alone);
}

static void arguments_are_checked(void **state) {
  (void)state;
  nd4c_collective_id id;
  nd4c_group *group = NULL;
  nd4c_device *cpu = NULL;
  const int64_t shape[] = {2, 2};
  nd4c_array *x = check_array(ND4C_FLOAT32, 2, shape, 1, -1, 1), *y = NULL, *view = NULL;
  CHECK_OK(nd4c_device_find("cpu:0", &cpu));
  CHECK_OK(nd4c_collective_make_id(stub_device, &id));
  assert_int_equal(nd4c_collective_make_id(cpu, &id), ND4C_UNSUPPORTED);
  assert_non_null(strstr(nd4c_error_message(), "the backend of cpu:0 has no collectives"));
  assert_int_equal(nd4c_collective_make_id(stub_device, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_group_create(stub_context, &id, 2, 2, &group), ND4C_ARGUMENT);
  assert_int_equal(nd4c_group_create(stub_context, &id, -1, 2, &group), ND4C_ARGUMENT);
  assert_int_equal(nd4c_group_create(stub_context, &id, 0, 0, &group), ND4C_ARGUMENT);
  assert_int_equal(nd4c_group_create(stub_context, NULL, 0, 1, &group), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_group_all_reduce(NULL, ND4C_COLLECTIVE_SUM, x, &y), ND4C_NULL_ARGUMENT);
  CHECK_OK(nd4c_group_create(stub_context, &id, 0, 2, &group));
  nd4c_group *third = NULL;
  assert_int_equal(nd4c_group_create(stub_context, &id, 0, 3, &third), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "another rank said 2"));
  assert_int_equal(nd4c_group_all_reduce(group, (nd4c_collective_reduction)9, x, &y), ND4C_ARGUMENT);
  assert_int_equal(nd4c_group_all_reduce(group, ND4C_COLLECTIVE_SUM, x, NULL), ND4C_NULL_ARGUMENT);
  assert_int_equal(nd4c_group_send(group, 0, x), ND4C_ARGUMENT);
  assert_non_null(strstr(nd4c_error_message(), "rank 0 is the calling one"));
  assert_int_equal(nd4c_group_receive(group, 2, x), ND4C_ARGUMENT);
  assert_int_equal(nd4c_group_broadcast(group, -1, x), ND4C_ARGUMENT);
  nd4c_array *narrow = check_array(ND4C_FLOAT32, 2, (int64_t[]){1, 2}, 1, -1, 1);
  nd4c_array *other = check_array(ND4C_INT64, 2, shape, 1, -1, 1);
  assert_int_equal(nd4c_group_reduce_scatter(group, ND4C_COLLECTIVE_SUM, narrow, &y), ND4C_SHAPE);
  assert_int_equal(nd4c_group_all_reduce(group, ND4C_COLLECTIVE_SUM, x, &narrow), ND4C_SHAPE);
  assert_int_equal(nd4c_group_all_reduce(group, ND4C_COLLECTIVE_SUM, x, &other), ND4C_DTYPE);
  CHECK_OK(nd4c_array_as_strided(x, 2, shape, (int64_t[]){1, 2}, 0, &view));
  assert_int_equal(nd4c_group_receive(group, 1, view), ND4C_ARGUMENT);
  assert_int_equal(nd4c_group_rank(NULL), -1);
  CHECK_OK(nd4c_group_destroy(NULL));
  CHECK_OK(nd4c_group_destroy(group));
  nd4c_array_release(narrow);
  nd4c_array_release(other);
  nd4c_array_release(view);
  nd4c_array_release(x);
}

/* Failing calls of the plug-in, in a group of one. */
static void calls_that_fail_are_told(void **state) {
  (void)state;
  nd4c_collective_id id;
  nd4c_group *group = NULL;
  nd4c_array *x = NULL, *y = NULL;
  const int64_t shape[] = {2};
  (void)stub_control("fail collective_id:1");
  assert_int_equal(nd4c_collective_make_id(stub_device, &id), ND4C_DEVICE);
  CHECK_OK(nd4c_collective_make_id(stub_device, &id));
  (void)stub_control("fail collective_join:1:500");
  assert_int_equal(nd4c_group_create(stub_context, &id, 0, 1, &group), ND4C_MEMORY);
  CHECK_OK(nd4c_group_create(stub_context, &id, 0, 1, &group));
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT32, 1, shape, (float[]){1, 2}, stub_device, &x));
  static const char *const commands[] = {"fail collective:1", "fail fence_record:1", "fail in_flight:1"};
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    float values[2] = {0};
    CHECK_OK(nd4c_device_synchronize(stub_device));
    (void)stub_control(commands[i]);
    nd4c_status status = nd4c_group_all_reduce(group, ND4C_COLLECTIVE_SUM, x, &y);
    status = status == ND4C_OK ? nd4c_array_wait(y) : status;
    assert_int_equal(status, ND4C_DEVICE);
    assert_non_null(strstr(nd4c_error_message(), "told to fail"));
    nd4c_array_release(y);
    y = NULL;
    (void)stub_control("reset");
    CHECK_OK(nd4c_array_read(x, values, sizeof values)); /* inputs are whole */
    assert_true(values[0] == 1 && values[1] == 2);
  }
  CHECK_OK(nd4c_group_destroy(group));
  nd4c_array_release(x);
}

int main(void) {
  if (stub_start() != ND4C_OK) {
    return 1;
  }
#define TEST(function) cmocka_unit_test_setup_teardown(function, stub_test_begin, settle)
  const struct CMUnitTest tests[] = {
      TEST(each_operation_in_each_dtype),
      TEST(means_are_of_floats),
      TEST(operations_follow_the_stream),
      TEST(ranks_that_disagree_are_told),
      TEST(a_rank_that_does_not_come_can_be_given_up),
      TEST(arguments_are_checked),
      TEST(calls_that_fail_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL) + stub_stop();
}
