/* Random small graphs: plans with and without passes agree with eager calls, whatever the layout of the inputs. */
#include "graph_check.h"

enum { MOST_VALUES = 64, NODES = 14 };

typedef struct maker {
  nd4c_graph *graph;
  uint64_t random;
  nd4c_value values[MOST_VALUES];
  int32_t count;
} maker;

static int32_t pick(maker *work, int32_t limit) {
  return (int32_t)(check_random(&work->random) % (uint64_t)limit);
}

static nd4c_value any_value(maker *work) {
  return work->values[pick(work, work->count)];
}

/* A value of the rank, NONE if the first few looked at have another. */
static nd4c_value value_of_rank(maker *work, int32_t rank) {
  for (int32_t i = 0; i < 8; i++) {
    nd4c_value value = any_value(work);
    if (work->graph->values[value].rank == rank) {
      return value;
    }
  }
  return ND4C_VALUE_NONE;
}

static nd4c_value add_unary(maker *work) {
  static const nd4c_op ops[] = {ND4C_OP_relu, ND4C_OP_sigmoid, ND4C_OP_tanh, ND4C_OP_negative,
                                ND4C_OP_abs,  ND4C_OP_gelu,    ND4C_OP_copy};
  return check_unary(work->graph, ops[pick(work, sizeof ops / sizeof ops[0])], any_value(work));
}

static nd4c_value add_binary(maker *work) {
  static const nd4c_op ops[] = {ND4C_OP_add, ND4C_OP_subtract, ND4C_OP_multiply, ND4C_OP_maximum};
  nd4c_op op = ops[pick(work, sizeof ops / sizeof ops[0])];
  nd4c_value a = any_value(work);
  const nd4c_graph_value *info = &work->graph->values[a];
  if (pick(work, 2) == 0) {
    for (int32_t i = 0; i < work->count; i++) {
      const nd4c_graph_value *other = &work->graph->values[work->values[i]];
      if (work->values[i] != a && other->rank == info->rank &&
          memcmp(other->shape, info->shape, (size_t)info->rank * sizeof *info->shape) == 0) {
        return check_binary(work->graph, op, a, work->values[i]);
      }
    }
    return check_binary(work->graph, op, a, a);
  }
  if (info->rank != 4 || pick(work, 3) == 0) {
    return check_binary(work->graph, op, a, check_scalar(work->graph, check_number(&work->random)));
  }
  int64_t shape[] = {info->shape[1], 1, 1};
  return check_binary(work->graph, op, a, check_constant(work->graph, 3, shape, check_random(&work->random), -1, 1));
}

static nd4c_value add_conv(maker *work) {
  nd4c_value x = value_of_rank(work, 4);
  if (x < 0 || work->graph->values[x].shape[2] < 3 || work->graph->values[x].shape[3] < 3) {
    return ND4C_VALUE_NONE;
  }
  int64_t channels = work->graph->values[x].shape[1], made = pick(work, 2) == 0 ? channels : 1 + pick(work, 5);
  int64_t pads[] = {1, 1, 1, 1};
  nd4c_attr attr = check_ints("pads", pads, 4);
  nd4c_value inputs[] = {
      x, check_constant(work->graph, 4, (int64_t[]){made, channels, 3, 3}, check_random(&work->random), -0.5, 0.5)};
  return check_op(work->graph, ND4C_OP_conv, inputs, 2, &attr, pick(work, 3) > 0);
}

static nd4c_value add_norm(maker *work) {
  nd4c_value x = value_of_rank(work, 4);
  if (x < 0) {
    return ND4C_VALUE_NONE;
  }
  int64_t channels = work->graph->values[x].shape[1];
  nd4c_value inputs[5] = {x};
  for (int32_t i = 1; i < 5; i++) {
    inputs[i] = check_constant(work->graph, 1, &channels, check_random(&work->random), i == 4 ? 0.5 : -1, 1);
  }
  return check_op(work->graph, ND4C_OP_batch_norm, inputs, 5, NULL, 0);
}

static nd4c_value add_pool(maker *work) {
  nd4c_value x = value_of_rank(work, 4);
  if (x < 0 || work->graph->values[x].shape[2] < 2 || work->graph->values[x].shape[3] < 2) {
    return ND4C_VALUE_NONE;
  }
  int64_t kernel[] = {2, 2};
  nd4c_attr attr = check_ints("kernel", kernel, 2);
  return check_op(work->graph, pick(work, 2) == 0 ? ND4C_OP_max_pool : ND4C_OP_average_pool, &x, 1, &attr, 1);
}

static nd4c_value add_concat(maker *work) {
  nd4c_value x = value_of_rank(work, 4);
  if (x < 0) {
    return ND4C_VALUE_NONE;
  }
  nd4c_attr attr = check_int("axis", 1);
  nd4c_value y = check_unary(work->graph, ND4C_OP_abs, x);
  nd4c_value inputs[] = {x, y, pick(work, 2) == 0 ? x : y};
  return check_op(work->graph, ND4C_OP_concat, inputs, 3, &attr, 1);
}

static nd4c_value add_shape(maker *work) {
  nd4c_value x = any_value(work);
  const nd4c_graph_value *info = &work->graph->values[x];
  if (pick(work, 2) == 0) {
    return check_op(work->graph, ND4C_OP_transpose, &x, 1, NULL, 0);
  }
  int64_t shape[] = {info->rank > 0 ? info->shape[0] : 1, -1};
  nd4c_attr attr = check_ints("shape", shape, 2);
  return info->size == 0 ? ND4C_VALUE_NONE : check_op(work->graph, ND4C_OP_reshape, &x, 1, &attr, 1);
}

static nd4c_value add_matmul(maker *work) {
  nd4c_value x = value_of_rank(work, 2);
  if (x < 0 || work->graph->values[x].shape[1] > 200) {
    return ND4C_VALUE_NONE;
  }
  int64_t shape[] = {work->graph->values[x].shape[1], 1 + pick(work, 6)};
  nd4c_value w = check_constant(work->graph, 2, shape, check_random(&work->random), -0.5, 0.5);
  nd4c_value y = check_binary(work->graph, ND4C_OP_matmul, x, w);
  nd4c_value bias = check_constant(work->graph, 1, &shape[1], check_random(&work->random), -1, 1);
  return pick(work, 2) == 0 ? y : check_binary(work->graph, ND4C_OP_add, y, bias);
}

static void make_graph(maker *work) {
  nd4c_value (*const adders[])(maker *) = {add_unary, add_unary,  add_binary, add_binary, add_conv,  add_conv,
                                           add_norm,  add_concat, add_pool,   add_shape,  add_matmul};
  work->values[0] = check_input(work->graph, "image", 4, (int64_t[]){1 + pick(work, 2), 1 + pick(work, 4), 6, 5});
  work->values[1] = check_input(work->graph, "matrix", 2, (int64_t[]){3, 4});
  work->count = 2;
  int32_t nodes = 4 + pick(work, NODES);
  for (int32_t i = 0; i < nodes; i++) {
    nd4c_value value = adders[pick(work, sizeof adders / sizeof adders[0])](work);
    if (value >= 0 && work->graph->values[value].size < 20000) {
      work->values[work->count] = value;
      work->count++;
    }
  }
  int32_t outputs = 1 + pick(work, 3);
  for (int32_t i = 0; i < outputs; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "y%d", i);
    nd4c_value value = i == 0 ? work->values[work->count - 1] : any_value(work);
    CHECK_OK(nd4c_graph_output(work->graph, name, value));
  }
}

static void plans_agree_with_eager_calls(void **state) {
  (void)state;
  const char *only = getenv("ND4C_TEST_SEED");
  for (uint64_t seed = 1; seed <= 250; seed++) {
    if (only != NULL && strtoull(only, NULL, 10) != seed) {
      continue;
    }
    check_seed = seed;
    maker work = {.random = seed * 1000003};
    CHECK_OK(nd4c_graph_create(&work.graph));
    make_graph(&work);
    nd4c_plan_destroy(check_graph(work.graph, seed, 1e-4));
    nd4c_graph_destroy(work.graph);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(plans_agree_with_eager_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
