/* A graph as data: it grows op by op, each computed by an eager call at once, so that later ops get operands that make
 * sense. trial.c builds it as an nd4c_graph; shrink.c takes copies apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_graphs.h"

/* -- randomness, memory -------------------------------------------------------------------------------------------- */

uint64_t rg_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

int32_t rg_pick(rg_sketch *sketch, int32_t limit) {
  return (int32_t)(rg_random(&sketch->random) % (uint64_t)limit);
}

bool rg_chance(rg_sketch *sketch, int32_t one_in) {
  return rg_pick(sketch, one_in) == 0;
}

double rg_number(rg_sketch *sketch, double low, double high) {
  return low + (double)(rg_random(&sketch->random) >> 11) * 0x1p-53 * (high - low);
}

void *rg_need(size_t bytes) {
  void *memory = calloc(1, bytes + 1);
  if (memory == NULL) {
    (void)fprintf(stderr, "nd4c_random_graphs: no memory\n");
    exit(2);
  }
  return memory;
}

void rg_must(nd4c_status status, const char *what) {
  if (status != ND4C_OK) {
    (void)fprintf(stderr, "nd4c_random_graphs: %s: %s: %s\n", what, nd4c_status_name(status), nd4c_error_message());
    exit(2);
  }
}

/* -- life ---------------------------------------------------------------------------------------------------------- */

void rg_sketch_begin(rg_sketch *sketch, uint64_t seed) {
  *sketch = (rg_sketch){
      .seed = seed, .random = seed * UINT64_C(0xd1342543de82ef95) + 1, .variable = RG_NONE, .assigned = RG_NONE};
  rg_must(nd4c_graph_create(&sketch->tried), "graph");
}

void rg_sketch_clear(rg_sketch *sketch) {
  for (int32_t i = 0; i < sketch->value_count; i++) {
    nd4c_array_release(sketch->values[i].array);
  }
  for (int32_t i = 0; i < sketch->owned_count && !sketch->borrows; i++) {
    free(sketch->owned[i]);
  }
  nd4c_graph_destroy(sketch->tried);
  *sketch = (rg_sketch){0};
}

rg_sketch *rg_sketch_copy(const rg_sketch *sketch) {
  rg_sketch *copy = rg_need(sizeof *copy);
  *copy = *sketch;
  copy->tried = NULL;
  copy->borrows = true;
  for (int32_t i = 0; i < copy->value_count; i++) {
    (void)nd4c_array_retain(copy->values[i].array);
  }
  return copy;
}

void rg_sketch_free(rg_sketch *copy) {
  rg_sketch_clear(copy);
  free(copy);
}

static void *own(rg_sketch *sketch, const void *from, size_t bytes) {
  void *memory = rg_need(bytes);
  memcpy(memory, from, bytes);
  sketch->owned[sketch->owned_count++] = memory;
  return memory;
}

/* -- values -------------------------------------------------------------------------------------------------------- */

nd4c_dtype rg_dtype(const rg_sketch *sketch, int32_t value) {
  return nd4c_array_dtype(sketch->values[value].array);
}

int32_t rg_rank(const rg_sketch *sketch, int32_t value) {
  return nd4c_array_rank(sketch->values[value].array);
}

const int64_t *rg_shape(const rg_sketch *sketch, int32_t value) {
  return nd4c_array_shape(sketch->values[value].array);
}

int64_t rg_size(const rg_sketch *sketch, int32_t value) {
  return nd4c_array_size(sketch->values[value].array);
}

bool rg_is_float(nd4c_dtype dtype) {
  return dtype == ND4C_FLOAT16 || dtype == ND4C_BFLOAT16 || dtype == ND4C_FLOAT32 || dtype == ND4C_FLOAT64;
}

bool rg_same_shape(const rg_sketch *sketch, int32_t a, int32_t b) {
  const int32_t rank = rg_rank(sketch, a);
  return rank == rg_rank(sketch, b) &&
         memcmp(rg_shape(sketch, a), rg_shape(sketch, b), (size_t)rank * sizeof(int64_t)) == 0;
}

/* Takes over the array. */
static int32_t add_value(rg_sketch *sketch, nd4c_array *array, int32_t node, bool is_constant) {
  sketch->values[sketch->value_count] = (rg_value){.array = array, .node = node, .is_constant = is_constant};
  return sketch->value_count++;
}

int32_t rg_leaf(rg_sketch *sketch, nd4c_array *array, bool is_constant) {
  if (array == NULL || sketch->value_count >= RG_VALUES) {
    nd4c_array_release(array);
    return RG_NONE;
  }
  char name[16];
  (void)snprintf(name, sizeof name, "x%d", (int)sketch->value_count);
  nd4c_value *tried = &sketch->tried_values[sketch->value_count];
  rg_must(is_constant ? nd4c_graph_constant(sketch->tried, array, tried)
                      : nd4c_graph_input(sketch->tried, name, nd4c_array_dtype(array), nd4c_array_rank(array),
                                         nd4c_array_shape(array), tried),
          "leaf");
  return add_value(sketch, array, RG_NONE, is_constant);
}

/* -- ops ----------------------------------------------------------------------------------------------------------- */

void rg_node_attrs(const rg_node *node, bool wide, nd4c_attr_value *attrs) {
  memcpy(attrs, node->attrs, (size_t)node->op->attr_count * sizeof *attrs);
  for (int32_t i = 0; i < node->op->attr_count && wide; i++) {
    if (attrs[i].kind == ND4C_ATTR_DTYPE && rg_is_float((nd4c_dtype)attrs[i].as.i)) {
      attrs[i].as.i = ND4C_FLOAT64;
    }
  }
}

static void keep_attrs(rg_sketch *sketch, rg_node *node, const nd4c_attr_value *attrs) {
  for (int32_t i = 0; i < node->op->attr_count; i++) {
    nd4c_attr_value *kept = &node->attrs[i];
    *kept = attrs[i];
    if (kept->kind == ND4C_ATTR_INTS && kept->as.ints != NULL) {
      kept->as.ints = own(sketch, kept->as.ints, (size_t)kept->count * sizeof(int64_t));
    } else if (kept->kind == ND4C_ATTR_FLOATS && kept->as.floats != NULL) {
      kept->as.floats = own(sketch, kept->as.floats, (size_t)kept->count * sizeof(double));
    } else if (kept->kind == ND4C_ATTR_STRING && kept->as.string != NULL) {
      kept->as.string = own(sketch, kept->as.string, strlen(kept->as.string) + 1);
    }
  }
}

static nd4c_status call(const rg_sketch *sketch, const rg_node *node, nd4c_array **outputs) {
  const nd4c_array *inputs[RG_INPUTS];
  for (int32_t i = 0; i < node->input_count; i++) {
    inputs[i] = node->inputs[i] < 0 ? NULL : sketch->values[node->inputs[i]].array;
  }
  return nd4c_op_call_positional(NULL, node->op->op, inputs, node->input_count, node->attrs, outputs);
}

/* Whether the op infers results that are small and of dtypes that can be compared; `values` are those of the graph in
 * which ops are tried. */
static bool infers(rg_sketch *sketch, const rg_node *node, const nd4c_attr *attrs, nd4c_value *values) {
  nd4c_value inputs[RG_INPUTS];
  for (int32_t i = 0; i < node->input_count; i++) {
    inputs[i] = node->inputs[i] < 0 ? ND4C_VALUE_NONE : sketch->tried_values[node->inputs[i]];
  }
  if (nd4c_graph_op(sketch->tried, node->op->op, inputs, node->input_count, attrs, node->op->attr_count, NULL, values,
                    node->op->output_count) != ND4C_OK) {
    return false;
  }
  for (int32_t i = 0; i < node->op->output_count; i++) {
    const nd4c_graph_value *value = &sketch->tried->values[values[i]];
    if (value->size > RG_LIMIT_ELEMENTS || value->rank > 6 || nd4c_dtype_size(value->dtype) == 0 ||
        value->dtype == ND4C_UTF8) {
      return false;
    }
  }
  return true;
}

/* Most of what comes of a value full of NaN or of huge numbers would tell nothing. */
static bool is_dull(const nd4c_array *array) {
  const int64_t size = nd4c_array_size(array);
  if (!rg_is_float(nd4c_array_dtype(array)) || size == 0) {
    return false;
  }
  nd4c_array *wide = NULL;
  rg_must(nd4c_cast(array, ND4C_FLOAT64, &wide), "cast");
  double *numbers = rg_need((size_t)size * sizeof *numbers);
  rg_must(nd4c_array_read(wide, numbers, (size_t)size * sizeof *numbers), "read");
  int64_t dull = 0;
  for (int64_t i = 0; i < size; i++) {
    dull += !(fabs(numbers[i]) < 1e6);
  }
  free(numbers);
  nd4c_array_release(wide);
  return 2 * dull > size;
}

static void drop(nd4c_array **arrays, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    nd4c_array_release(arrays[i]);
  }
}

int32_t rg_op_positional(rg_sketch *sketch, const nd4c_op_info *op, const int32_t *inputs, int32_t input_count,
                         const nd4c_attr_value *attrs) {
  if (op->output_count > RG_OUTPUTS || op->attr_count > RG_ATTRS || input_count > RG_INPUTS ||
      sketch->node_count >= RG_NODES || sketch->value_count + op->output_count > RG_VALUES ||
      sketch->owned_count + op->attr_count > RG_OWNED) {
    return RG_NONE;
  }
  rg_node *node = &sketch->nodes[sketch->node_count];
  *node = (rg_node){.op = op, .input_count = input_count};
  nd4c_attr named[RG_ATTRS];
  for (int32_t i = 0; i < op->attr_count; i++) {
    named[i] = (nd4c_attr){.name = op->attrs[i].name, .value = attrs[i]};
  }
  for (int32_t i = 0; i < input_count; i++) {
    if (inputs[i] == RG_NONE) {
      return RG_NONE;
    }
    node->inputs[i] = inputs[i];
  }
  memcpy(node->attrs, attrs, (size_t)op->attr_count * sizeof *attrs);
  nd4c_value values[RG_OUTPUTS];
  nd4c_array *outputs[RG_OUTPUTS] = {NULL};
  if (!infers(sketch, node, named, values) || call(sketch, node, outputs) != ND4C_OK) {
    return RG_NONE;
  }
  if (is_dull(outputs[0]) && !rg_chance(sketch, 8)) {
    drop(outputs, op->output_count);
    return RG_NONE;
  }
  keep_attrs(sketch, node, attrs);
  for (int32_t i = 0; i < op->output_count; i++) {
    sketch->tried_values[sketch->value_count] = values[i];
    node->outputs[i] = add_value(sketch, outputs[i], sketch->node_count, false);
  }
  sketch->node_count++;
  return node->outputs[0];
}

int32_t rg_op(rg_sketch *sketch, nd4c_op op, const int32_t *inputs, int32_t input_count, const nd4c_attr *attrs,
              int32_t attr_count) {
  const nd4c_op_info *info = nd4c_op_get(op);
  nd4c_attr_value values[RG_ATTRS];
  if (info == NULL || info->attr_count > RG_ATTRS ||
      nd4c_op_resolve_attrs(info, attrs, attr_count, values) != ND4C_OK) {
    return RG_NONE;
  }
  return rg_op_positional(sketch, info, inputs, input_count, values);
}

int32_t rg_unary(rg_sketch *sketch, nd4c_op op, int32_t x) {
  return rg_op(sketch, op, &x, 1, NULL, 0);
}

int32_t rg_binary(rg_sketch *sketch, nd4c_op op, int32_t a, int32_t b) {
  return rg_op(sketch, op, (int32_t[]){a, b}, 2, NULL, 0);
}

nd4c_attr rg_attr_int(const char *name, int64_t number) {
  return (nd4c_attr){.name = name, .value = {.kind = ND4C_ATTR_INT, .as.i = number}};
}

nd4c_attr rg_attr_ints(const char *name, const int64_t *numbers, int32_t count) {
  return (nd4c_attr){.name = name, .value = {.kind = ND4C_ATTR_INTS, .count = count, .as.ints = numbers}};
}

int32_t rg_op_int(rg_sketch *sketch, nd4c_op op, int32_t x, const char *name, int64_t number) {
  nd4c_attr attr = rg_attr_int(name, number);
  if (op == ND4C_OP_cast) {
    attr.value.kind = ND4C_ATTR_DTYPE;
  }
  return rg_op(sketch, op, &x, 1, &attr, 1);
}

int32_t rg_op_ints(rg_sketch *sketch, nd4c_op op, int32_t x, const char *name, const int64_t *numbers, int32_t count) {
  const nd4c_attr attr = rg_attr_ints(name, numbers, count);
  return rg_op(sketch, op, &x, 1, &attr, 1);
}

/* -- outputs ------------------------------------------------------------------------------------------------------- */

void rg_prune(rg_sketch *sketch) {
  bool needed[RG_VALUES] = {false};
  for (int32_t i = 0; i < sketch->output_count; i++) {
    needed[sketch->outputs[i]] = true;
  }
  for (int32_t i = sketch->node_count - 1; i >= 0; i--) {
    rg_node *node = &sketch->nodes[i];
    bool read = false;
    for (int32_t k = 0; k < node->op->output_count && !node->removed; k++) {
      read = read || needed[node->outputs[k]];
    }
    node->removed = !read;
    for (int32_t k = 0; k < node->input_count && read; k++) {
      if (node->inputs[k] >= 0) {
        needed[node->inputs[k]] = true;
      }
    }
  }
}

void rg_choose_outputs(rg_sketch *sketch) {
  bool read[RG_VALUES] = {false};
  for (int32_t i = 0; i < sketch->node_count; i++) {
    for (int32_t k = 0; k < sketch->nodes[i].input_count; k++) {
      if (sketch->nodes[i].inputs[k] >= 0) {
        read[sketch->nodes[i].inputs[k]] = true;
      }
    }
  }
  sketch->output_count = 0;
  for (int32_t i = sketch->value_count - 1; i >= 0 && sketch->output_count < RG_PORTS - 2; i--) {
    const bool last = !read[i] && !rg_chance(sketch, 8);
    if (sketch->values[i].node >= 0 && (last || rg_chance(sketch, 24))) {
      sketch->outputs[sketch->output_count++] = i;
    }
  }
  if (sketch->output_count == 0 || rg_chance(sketch, 32)) { /* rarely a leaf or the same value twice */
    sketch->outputs[sketch->output_count++] = rg_pick(sketch, sketch->value_count);
  }
}

int32_t rg_count_nodes(const rg_sketch *sketch) {
  int32_t count = 0;
  for (int32_t i = 0; i < sketch->node_count; i++) {
    count += !sketch->nodes[i].removed;
  }
  return count;
}

nd4c_status rg_recompute(rg_sketch *sketch) {
  for (int32_t i = 0; i < sketch->node_count; i++) {
    const rg_node *node = &sketch->nodes[i];
    nd4c_array *outputs[RG_OUTPUTS] = {NULL};
    if (node->removed) {
      continue;
    }
    const nd4c_status status = call(sketch, node, outputs);
    if (status != ND4C_OK) {
      return status;
    }
    for (int32_t k = 0; k < node->op->output_count; k++) {
      nd4c_array_release(sketch->values[node->outputs[k]].array);
      sketch->values[node->outputs[k]].array = outputs[k];
    }
  }
  return ND4C_OK;
}

/* -- what is read ---------------------------------------------------------------------------------------------------
 */

void rg_find_read(const rg_sketch *sketch, bool *read) {
  for (int32_t i = 0; i < sketch->node_count; i++) {
    const rg_node *node = &sketch->nodes[i];
    for (int32_t k = 0; k < node->input_count && !node->removed; k++) {
      if (node->inputs[k] >= 0) {
        read[node->inputs[k]] = true;
      }
    }
  }
  for (int32_t i = 0; i < sketch->output_count; i++) {
    read[sketch->outputs[i]] = true;
  }
}

int32_t rg_graph_inputs(const rg_sketch *sketch, int32_t *values) {
  bool read[RG_VALUES] = {false};
  rg_find_read(sketch, read);
  int32_t count = 0;
  for (int32_t i = 0; i < sketch->value_count; i++) {
    if (sketch->values[i].node < 0 && !sketch->values[i].is_constant && read[i] && i != sketch->variable) {
      values[count++] = i;
    }
  }
  return count;
}

/* -- variables ----------------------------------------------------------------------------------------------------- */

void rg_variable_choose(rg_sketch *sketch) {
  int32_t inputs[RG_VALUES];
  const int32_t count = rg_graph_inputs(sketch, inputs), first = count > 0 ? rg_pick(sketch, count) : 0;
  for (int32_t i = 0; i < count && sketch->variable < 0; i++) {
    const int32_t input = inputs[(first + i) % count];
    for (int32_t k = 0; k < sketch->output_count && sketch->variable < 0; k++) {
      const int32_t output = sketch->outputs[k];
      if (output != input && rg_dtype(sketch, output) == rg_dtype(sketch, input) &&
          rg_same_shape(sketch, output, input)) {
        sketch->variable = input;
        sketch->assigned = output;
      }
    }
  }
  if (sketch->variable < 0 && count > 0 && rg_chance(sketch, 4)) { /* one that is only read */
    sketch->variable = inputs[first];
  }
}

int32_t rg_assigned_output(const rg_sketch *sketch) {
  for (int32_t i = 0; i < sketch->output_count && sketch->variable >= 0; i++) {
    if (sketch->outputs[i] == sketch->assigned) {
      return i;
    }
  }
  return -1;
}
