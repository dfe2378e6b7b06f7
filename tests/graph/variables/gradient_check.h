/* A gradient against differences of the loss, for the tests of nd4c_graph_gradient. */
#ifndef ND4C_TESTS_GRAPH_GRADIENT_CHECK_H
#define ND4C_TESTS_GRAPH_GRADIENT_CHECK_H

#include <math.h>

#include "variables_check.h"

/* A loss of x [2, 3] and w [3, 4], float64, by a number. */
typedef nd4c_value (*make_loss)(nd4c_graph *graph, nd4c_value x, nd4c_value w);

static const int64_t x_shape[] = {2, 3}, w_shape[] = {3, 4};
enum { X = 6, W = 12 };

static inline nd4c_value mean_of(nd4c_graph *graph, nd4c_value value) {
  return check_unary(graph, ND4C_OP_mean, value);
}

static inline nd4c_value ints_op(nd4c_graph *graph, nd4c_op op, nd4c_value x, const char *name, const int64_t *ints,
                                 int32_t count) {
  const nd4c_attr attr = check_ints(name, ints, count);
  return check_op(graph, op, &x, 1, &attr, 1);
}

static inline double loss_at(nd4c_plan *plan, const double *x, const double *w) {
  nd4c_array *arrays[2] = {NULL, NULL}, *outputs[3] = {NULL};
  double loss = 0;
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, 2, x_shape, x, NULL, &arrays[0]));
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, 2, w_shape, w, NULL, &arrays[1]));
  const nd4c_array *inputs[] = {arrays[0], arrays[1]};
  CHECK_OK(nd4c_plan_run(plan, inputs, 2, outputs, 3));
  CHECK_OK(nd4c_array_read(outputs[0], &loss, sizeof loss));
  check_release(arrays, 2);
  check_release(outputs, 3);
  return loss;
}

static inline void gradients_at(nd4c_plan *plan, const double *x, const double *w, double *dx, double *dw) {
  nd4c_array *arrays[2] = {NULL, NULL}, *outputs[3] = {NULL};
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, 2, x_shape, x, NULL, &arrays[0]));
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, 2, w_shape, w, NULL, &arrays[1]));
  const nd4c_array *inputs[] = {arrays[0], arrays[1]};
  CHECK_OK(nd4c_plan_run(plan, inputs, 2, outputs, 3));
  CHECK_OK(nd4c_array_read(outputs[1], dx, X * sizeof *dx));
  CHECK_OK(nd4c_array_read(outputs[2], dw, W * sizeof *dw));
  check_release(arrays, 2);
  check_release(outputs, 3);
}

static inline void compare(const char *what, nd4c_plan *plan, double *x, double *w, double *moved,
                           const double *gradient, int32_t count) {
  const double step = 1e-6;
  for (int32_t i = 0; i < count; i++) {
    const double at = moved[i];
    moved[i] = at + step;
    const double above = loss_at(plan, x, w);
    moved[i] = at - step;
    const double below = loss_at(plan, x, w);
    moved[i] = at;
    const double slope = (above - below) / (2 * step);
    if (!(fabs(slope - gradient[i]) <= 1e-7)) {
      fail_msg("%s: element %d: the gradient is %.10g, the slope %.10g", what, (int)i, gradient[i], slope);
    }
  }
}

static inline void check_rule(const char *what, make_loss make) {
  nd4c_graph *graph = NULL;
  nd4c_value values[2], gradients[2];
  double x[X], w[W], dx[X], dw[W];
  CHECK_OK(nd4c_graph_create(&graph));
  CHECK_OK(nd4c_graph_input(graph, "x", ND4C_FLOAT64, 2, x_shape, &values[0]));
  CHECK_OK(nd4c_graph_input(graph, "w", ND4C_FLOAT64, 2, w_shape, &values[1]));
  const nd4c_value loss = make(graph, values[0], values[1]);
  CHECK_OK(nd4c_graph_gradient(graph, loss, values, 2, gradients));
  CHECK_OK(nd4c_graph_output(graph, "loss", loss));
  CHECK_OK(nd4c_graph_output(graph, "dx", gradients[0]));
  CHECK_OK(nd4c_graph_output(graph, "dw", gradients[1]));
  nd4c_plan *plan = plan_of(graph, NULL, false);
  uint64_t state = 77;
  for (int32_t i = 0; i < X; i++) {
    x[i] = check_number(&state);
  }
  for (int32_t i = 0; i < W; i++) {
    w[i] = check_number(&state);
  }
  gradients_at(plan, x, w, dx, dw);
  compare(what, plan, x, w, x, dx, X);
  compare(what, plan, x, w, w, dw, W);
  nd4c_plan_destroy(plan);
  nd4c_graph_destroy(graph);
}

/* -- what losses are made of ------------------------------------------------------------------------------------------
 */

typedef nd4c_value value;
#define ATTR_BOOL(name, on) ((nd4c_attr){name, {.kind = ND4C_ATTR_BOOL, .as.i = (on)}})
#define ATTR_FLOAT(name, x) ((nd4c_attr){name, {.kind = ND4C_ATTR_FLOAT, .as.f = (x)}})
#define INTS(name, ...) check_ints(name, (int64_t[]){__VA_ARGS__}, (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / 8))
#define OP(op, inputs, ...)                                                                                       \
  check_op(graph, ND4C_OP_##op, inputs, (int32_t)(sizeof(inputs) / sizeof *(inputs)), (nd4c_attr[]){__VA_ARGS__}, \
           (int32_t)(sizeof((nd4c_attr[]){__VA_ARGS__}) / sizeof(nd4c_attr)))
#define UNARY(op, x) check_unary(graph, ND4C_OP_##op, x)
#define BINARY(op, a, b) check_binary(graph, ND4C_OP_##op, a, b)

static inline value reshaped(nd4c_graph *graph, value x, int32_t rank, const int64_t *extents) {
  return ints_op(graph, ND4C_OP_reshape, x, "shape", extents, rank);
}
#define SHAPED(x, ...) reshaped(graph, x, (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})

static inline value numbers(nd4c_graph *graph, int32_t count, const double *items) {
  const int64_t length = count;
  nd4c_array *array = NULL;
  value made = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_from_data(ND4C_FLOAT64, 1, &length, items, NULL, &array));
  CHECK_OK(nd4c_graph_constant(graph, array, &made));
  nd4c_array_release(array);
  return made;
}

static inline value whole(nd4c_graph *graph, int32_t rank, const int64_t *extents, const int64_t *items) {
  nd4c_array *array = NULL;
  value made = ND4C_VALUE_NONE;
  CHECK_OK(nd4c_array_from_data(ND4C_INT64, rank, extents, items, NULL, &array));
  CHECK_OK(nd4c_graph_constant(graph, array, &made));
  nd4c_array_release(array);
  return made;
}

/* A loss that weighs each element of y differently. */
static inline value weigh(nd4c_graph *graph, value y) {
  return mean_of(graph, BINARY(multiply, y, UNARY(sin, y)));
}

/* 24 different numbers that depend on x and w. */
static inline value many(nd4c_graph *graph, value x, value w) {
  const value columns = SHAPED(x, 6, 1), row = UNARY(mean, w);
  const value some = ints_op(graph, ND4C_OP_mean, w, "axes", (int64_t[]){0}, 1); /* [4] */
  return UNARY(tanh, BINARY(add, BINARY(multiply, columns, some), row));         /* [6, 4] */
}

#endif
