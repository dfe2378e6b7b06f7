/* Prints a graph as text, one line for each leaf, node and output. main.c prints the smallest graph that fails. */
#include <stdio.h>
#include <string.h>

#include "random_graphs.h"

enum { SHOWN = 12 };

static void print_type(const nd4c_array *array) {
  (void)printf("%s[", nd4c_dtype_name(nd4c_array_dtype(array)));
  for (int32_t i = 0; i < nd4c_array_rank(array); i++) {
    (void)printf("%s%lld", i > 0 ? "," : "", (long long)nd4c_array_shape(array)[i]);
  }
  (void)printf("]");
}

/* The first elements, in C order. */
static void print_elements(const nd4c_array *array) {
  const int64_t size = nd4c_array_size(array);
  nd4c_array *wide = NULL;
  double numbers[RG_LIMIT_CONSTANT];
  if (size > RG_LIMIT_CONSTANT || nd4c_cast(array, ND4C_FLOAT64, &wide) != ND4C_OK) {
    return;
  }
  rg_must(nd4c_array_read(wide, numbers, (size_t)size * sizeof *numbers), "read");
  nd4c_array_release(wide);
  for (int64_t i = 0; i < size && i < SHOWN; i++) {
    (void)printf(" %.9g", numbers[i]);
  }
  (void)printf(size > SHOWN ? " ..." : "");
}

static void print_leaf(const rg_sketch *sketch, int32_t index) {
  const rg_value *value = &sketch->values[index];
  (void)printf("  v%d = %s ", (int)index,
               value->is_constant ? "constant" : (index == sketch->variable ? "variable" : "input"));
  print_type(value->array);
  print_elements(value->array);
  (void)printf("\n");
}

static void print_attr(const nd4c_op_attr *attr, const nd4c_attr_value *value) {
  const nd4c_attr_value *preset = &attr->preset;
  if (value->kind == ND4C_ATTR_INTS && value->as.ints != NULL) {
    (void)printf(" %s=[", attr->name);
    for (int32_t i = 0; i < value->count; i++) {
      (void)printf("%s%lld", i > 0 ? "," : "", (long long)value->as.ints[i]);
    }
    (void)printf("]");
  } else if (value->kind == ND4C_ATTR_FLOATS && value->as.floats != NULL) {
    (void)printf(" %s=[%d numbers]", attr->name, (int)value->count);
  } else if (value->kind == ND4C_ATTR_STRING && value->as.string != NULL) {
    (void)printf(" %s=%s", attr->name, value->as.string);
  } else if (value->kind == ND4C_ATTR_FLOAT && value->as.f != preset->as.f) {
    (void)printf(" %s=%.9g", attr->name, value->as.f);
  } else if (value->kind == ND4C_ATTR_DTYPE && value->as.i != preset->as.i) {
    (void)printf(" %s=%s", attr->name, nd4c_dtype_name((nd4c_dtype)value->as.i));
  } else if ((value->kind == ND4C_ATTR_INT || value->kind == ND4C_ATTR_BOOL) && value->as.i != preset->as.i) {
    (void)printf(" %s=%lld", attr->name, (long long)value->as.i);
  }
}

static void print_node(const rg_sketch *sketch, const rg_node *node) {
  (void)printf(" ");
  for (int32_t i = 0; i < node->op->output_count; i++) {
    (void)printf("%s v%d", i > 0 ? "," : "", (int)node->outputs[i]);
  }
  (void)printf(" = %s(", node->op->name);
  for (int32_t i = 0; i < node->input_count; i++) {
    (void)printf(i > 0 ? ", " : "");
    if (node->inputs[i] < 0) {
      (void)printf("-");
    } else {
      (void)printf("v%d", (int)node->inputs[i]);
    }
  }
  (void)printf(")");
  for (int32_t i = 0; i < node->op->attr_count; i++) {
    print_attr(&node->op->attrs[i], &node->attrs[i]);
  }
  (void)printf(" : ");
  print_type(sketch->values[node->outputs[0]].array);
  (void)printf("\n");
}

static void print_dims(const rg_dims *dims) {
  for (int32_t i = 0; i < dims->count; i++) {
    int64_t low, high;
    rg_dims_bounds(dims, i, &low, &high);
    (void)printf("  dim %s (%lld to %lld) in place of %lld%s%s, and then %lld\n", rg_dims_name(i), (long long)low,
                 (long long)high, (long long)dims->numbers[i], dims->leading ? " as the first extent" : "",
                 dims->attrs ? "" : ", not in attributes", (long long)dims->others[i]);
  }
}

static void print_bodies(const rg_sketch *sketch) {
  static const char *const names[] = {"call", "if", "known if", "loop", "scan"};
  for (int32_t i = 0; i < sketch->body_count; i++) {
    const rg_body *body = &sketch->bodies[i];
    (void)printf("  body of a %s (%lld rounds):", names[body->kind], (long long)body->rounds);
    for (int32_t k = body->first; k < body->last; k++) {
      if (!sketch->nodes[k].removed) {
        (void)printf(" v%d", (int)sketch->nodes[k].outputs[0]);
      }
    }
    (void)printf("\n");
  }
}

void rg_print(const rg_sketch *sketch) {
  print_dims(&sketch->dims);
  print_bodies(sketch);
  bool read[RG_VALUES] = {false};
  rg_find_read(sketch, read);
  for (int32_t i = 0; i < sketch->value_count; i++) {
    if (sketch->values[i].node < 0 && read[i]) {
      print_leaf(sketch, i);
    }
  }
  for (int32_t i = 0; i < sketch->node_count; i++) {
    if (!sketch->nodes[i].removed) {
      print_node(sketch, &sketch->nodes[i]);
    }
  }
  if (rg_assigned_output(sketch) >= 0) {
    (void)printf("  v%d becomes v%d\n", (int)sketch->variable, (int)sketch->assigned);
  }
  (void)printf("  outputs");
  for (int32_t i = 0; i < sketch->output_count; i++) {
    (void)printf(" v%d", (int)sketch->outputs[i]);
  }
  (void)printf("\n");
}
