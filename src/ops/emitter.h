/* Emitters: where a chain of ops goes. Composites (src/ops/compose) and gradients (src/ops/gradient) are written once,
 * against this interface, and serve every part that makes ops:
 *
 *   eager      src/dispatch/eager_emitter.h      computes each op at once
 *   graph      src/graph/ir/graph_emitter.h      records each op as a node of a graph that is being built
 *   rewrite    src/graph/ir/rewrite.h            lets a pass add nodes anywhere in a plan's graph
 *   importer   src/import/onnx/emission          computes what depends on constants alone, records the rest
 *
 * An emitter is a struct whose first member is nd4c_emitter. Its values are numbers that mean something to it alone.
 * Values live as long as their emitter says; a composite neither retains nor releases them. Errors carry the op's name
 * from nd4c_op_infer, and the emitter adds where the op stands. */
#ifndef ND4C_OPS_EMITTER_H
#define ND4C_OPS_EMITTER_H

#include "nd4c/array.h"
#include "ops/op.h"

typedef int32_t nd4c_emitted;
#define ND4C_EMITTED_NONE (-1) /* an optional input that is left out */

/* Dtype and shape of a value. */
typedef struct nd4c_emitted_info {
  nd4c_dtype dtype;
  int32_t rank;
  int64_t shape[ND4C_MAX_RANK];
} nd4c_emitted_info;

typedef struct nd4c_emitter nd4c_emitter;
struct nd4c_emitter {
  /* Makes an op; fills as many outputs as the op has. `attrs` are read before the function returns. */
  nd4c_status (*emit)(nd4c_emitter *emitter, const nd4c_op_def *def, const nd4c_emitted *inputs, int32_t input_count,
                      const nd4c_attr *attrs, int32_t attr_count, nd4c_emitted *outputs);
  /* Takes over the reference, also when it fails. */
  nd4c_status (*constant)(nd4c_emitter *emitter, nd4c_array *array, nd4c_emitted *output);
  nd4c_emitted_info (*describe)(const nd4c_emitter *emitter, nd4c_emitted value);
};

/* -- ops -- */

/* An op of one output. */
nd4c_status nd4c_emit(nd4c_emitter *emitter, nd4c_op op, const nd4c_emitted *inputs, int32_t input_count,
                      const nd4c_attr *attrs, int32_t attr_count, nd4c_emitted *output);
/* An op of several outputs: output_count of them, all that the op has. */
nd4c_status nd4c_emit_outputs(nd4c_emitter *emitter, nd4c_op op, const nd4c_emitted *inputs, int32_t input_count,
                              const nd4c_attr *attrs, int32_t attr_count, nd4c_emitted *outputs, int32_t output_count);
/* One and two inputs without attributes. */
nd4c_status nd4c_emit_unary(nd4c_emitter *emitter, nd4c_op op, nd4c_emitted x, nd4c_emitted *y);
nd4c_status nd4c_emit_binary(nd4c_emitter *emitter, nd4c_op op, nd4c_emitted a, nd4c_emitted b, nd4c_emitted *y);
/* x op value, the value in x's dtype. */
nd4c_status nd4c_emit_with_scalar(nd4c_emitter *emitter, nd4c_op op, nd4c_emitted x, double value, nd4c_emitted *y);
/* a where the condition holds, else b. */
nd4c_status nd4c_emit_where(nd4c_emitter *emitter, nd4c_emitted condition, nd4c_emitted a, nd4c_emitted b,
                            nd4c_emitted *y);
/* Gives x itself if it has the dtype already. */
nd4c_status nd4c_emit_cast(nd4c_emitter *emitter, nd4c_emitted x, nd4c_dtype dtype, nd4c_emitted *y);

/* -- shapes -- */

nd4c_status nd4c_emit_reshape(nd4c_emitter *emitter, nd4c_emitted x, int32_t rank, const int64_t *shape,
                              nd4c_emitted *y);
nd4c_status nd4c_emit_broadcast(nd4c_emitter *emitter, nd4c_emitted x, int32_t rank, const int64_t *shape,
                                nd4c_emitted *y);
/* An op whose one attribute is `axes`, such as squeeze and transpose. */
nd4c_status nd4c_emit_axes(nd4c_emitter *emitter, nd4c_op op, nd4c_emitted x, int32_t count, const int64_t *axes,
                           nd4c_emitted *y);
/* An op whose one attribute is `axis`, such as concat and softmax. */
nd4c_status nd4c_emit_along(nd4c_emitter *emitter, nd4c_op op, const nd4c_emitted *inputs, int32_t input_count,
                            int64_t axis, nd4c_emitted *y);
/* The transposed matrix. */
nd4c_status nd4c_emit_transposed(nd4c_emitter *emitter, nd4c_emitted x, nd4c_emitted *y);
/* A reduction over axes (count 0: all). */
nd4c_status nd4c_emit_reduce(nd4c_emitter *emitter, nd4c_op op, nd4c_emitted x, int32_t count, const int64_t *axes,
                             bool keepdims, nd4c_emitted *y);
/* x[start:stop:step] on one axis. */
nd4c_status nd4c_emit_slice(nd4c_emitter *emitter, nd4c_emitted x, int64_t axis, int64_t start, int64_t stop,
                            int64_t step, nd4c_emitted *y);

/* -- constants -- */

/* Takes over the reference, also when it fails. */
nd4c_status nd4c_emit_constant(nd4c_emitter *emitter, nd4c_array *array, nd4c_emitted *y);
nd4c_status nd4c_emit_scalar(nd4c_emitter *emitter, nd4c_dtype dtype, double value, nd4c_emitted *y);
/* A scalar of the dtype of `like`. */
nd4c_status nd4c_emit_scalar_like(nd4c_emitter *emitter, nd4c_emitted like, double value, nd4c_emitted *y);
/* A value everywhere in a shape; one element of memory. */
nd4c_status nd4c_emit_full(nd4c_emitter *emitter, nd4c_dtype dtype, double value, int32_t rank, const int64_t *shape,
                           nd4c_emitted *y);

/* -- looking -- */

nd4c_emitted_info nd4c_emitted_get(const nd4c_emitter *emitter, nd4c_emitted value);

/* -- attributes -- */

static inline nd4c_attr nd4c_attr_of_int(const char *name, int64_t value) {
  return (nd4c_attr){name, {.kind = ND4C_ATTR_INT, .as.i = value}};
}
static inline nd4c_attr nd4c_attr_of_bool(const char *name, bool value) {
  return (nd4c_attr){name, {.kind = ND4C_ATTR_BOOL, .as.i = value}};
}
static inline nd4c_attr nd4c_attr_of_float(const char *name, double value) {
  return (nd4c_attr){name, {.kind = ND4C_ATTR_FLOAT, .as.f = value}};
}
static inline nd4c_attr nd4c_attr_of_ints(const char *name, const int64_t *values, int32_t count) {
  return (nd4c_attr){name, {.kind = ND4C_ATTR_INTS, .count = count, .as.ints = values}};
}
static inline nd4c_attr nd4c_attr_of_floats(const char *name, const double *values, int32_t count) {
  return (nd4c_attr){name, {.kind = ND4C_ATTR_FLOATS, .count = count, .as.floats = values}};
}
/* text: NUL-terminated. */
static inline nd4c_attr nd4c_attr_of_string(const char *name, const char *text) {
  return (nd4c_attr){name, {.kind = ND4C_ATTR_STRING, .as.string = text}};
}
static inline nd4c_attr nd4c_attr_of_dtype(const char *name, nd4c_dtype dtype) {
  return (nd4c_attr){name, {.kind = ND4C_ATTR_DTYPE, .as.i = dtype}};
}

#endif
