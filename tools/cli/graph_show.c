/* Writes graphs as text and for Graphviz. graph.c calls it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* -- values, attributes, costs ------------------------------------------------------------------------------------- */

static void print_type(FILE *file, const nd4c_graph *graph, nd4c_value value) {
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  int32_t rank = 0;
  const int64_t *shape = NULL;
  char text[256];
  if (nd4c_graph_value_info(graph, value, &dtype, &rank, &shape) == ND4C_OK) {
    (void)fprintf(file, "%s%s", nd4c_dtype_name(dtype), cli_shape_text(rank, shape, NULL, text, sizeof text));
  }
}

static const char *input_name(const nd4c_graph *graph, nd4c_value value) {
  for (int32_t i = 0; i < nd4c_graph_input_count(graph); i++) {
    if (nd4c_graph_input_value(graph, i) == value) {
      return nd4c_graph_input_name(graph, i);
    }
  }
  return NULL;
}

/* The name of an input, "%5" of another value, the type of a constant, "-" for one that is left out. */
static void print_value(FILE *file, const nd4c_graph *graph, nd4c_value value) {
  const char *name = input_name(graph, value);
  if (value < 0) {
    (void)fputs("-", file);
  } else if (nd4c_graph_value_constant(graph, value) != NULL) {
    (void)fputs("constant ", file);
    print_type(file, graph, value);
  } else if (name != NULL) {
    (void)fputs(name, file);
  } else {
    (void)fprintf(file, "%%%" PRId32, value);
  }
}

static const char *word_of(nd4c_op op, int32_t attr, int64_t number) {
  int32_t count = 0;
  const nd4c_attr_word *words = nd4c_op_attr_words(op, attr, &count);
  for (int32_t i = 0; words != NULL && i < count; i++) {
    if (words[i].value == number) {
      return words[i].word;
    }
  }
  return NULL;
}

/* False: the value is the default, or of a kind that has no text. */
static bool is_shown(const nd4c_attr_value *preset, const nd4c_attr_value *value) {
  switch (value->kind) {
    case ND4C_ATTR_INT:
    case ND4C_ATTR_BOOL:
    case ND4C_ATTR_DTYPE:
      return value->as.i != preset->as.i;
    case ND4C_ATTR_FLOAT:
      return value->as.f != preset->as.f;
    case ND4C_ATTR_INTS:
    case ND4C_ATTR_FLOATS:
      return value->count > 0;
    case ND4C_ATTR_STRING:
      return value->as.string != NULL;
    default:
      return false;
  }
}

static void print_number(FILE *file, nd4c_op op, int32_t attr, int64_t number) {
  const char *word = word_of(op, attr, number);
  if (word != NULL) {
    (void)fputs(word, file);
  } else {
    (void)fprintf(file, "%" PRId64, number);
  }
}

static void print_attr(FILE *file, nd4c_op op, int32_t attr, const nd4c_attr_value *value) {
  switch (value->kind) {
    case ND4C_ATTR_INT:
      print_number(file, op, attr, value->as.i);
      break;
    case ND4C_ATTR_BOOL:
      (void)fputs(value->as.i != 0 ? "true" : "false", file);
      break;
    case ND4C_ATTR_DTYPE:
      (void)fputs(nd4c_dtype_name((nd4c_dtype)value->as.i), file);
      break;
    case ND4C_ATTR_FLOAT:
      (void)fprintf(file, "%g", value->as.f);
      break;
    case ND4C_ATTR_STRING:
      (void)fputs(value->as.string, file);
      break;
    default: /* a list */
      for (int32_t i = 0; i < value->count; i++) {
        (void)fputs(i > 0 ? " " : "", file);
        if (value->kind == ND4C_ATTR_INTS) {
          print_number(file, op, attr, value->as.ints[i]);
        } else {
          (void)fprintf(file, "%g", value->as.floats[i]);
        }
      }
  }
}

static void print_attrs(FILE *file, const nd4c_node_info *node) {
  const char *before = " {";
  for (int32_t i = 0; i < node->op->attr_count && node->attrs != NULL; i++) {
    if (is_shown(&node->op->attrs[i].preset, &node->attrs[i])) {
      (void)fprintf(file, "%s%s ", before, node->op->attrs[i].name);
      print_attr(file, node->op->op, i, &node->attrs[i]);
      before = ", ";
    }
  }
  (void)fputs(before[0] == ',' ? "}" : "", file);
}

static const char *prefixed(double number, char *buffer, size_t size) {
  static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
  int prefix = 0;
  while (number >= 999.5 && prefix < 5) {
    number /= 1000;
    prefix++;
  }
  (void)snprintf(buffer, size, "%.3g %s", number, prefixes[prefix]);
  return buffer;
}

const char *graph_cost_text(double operations, double bytes, char *buffer, size_t size) {
  char left[32], right[32];
  (void)snprintf(buffer, size, "%soperations, %sB", prefixed(operations, left, sizeof left),
                 prefixed(bytes, right, sizeof right));
  return buffer;
}

void graph_print_node(FILE *file, const nd4c_graph *graph, int32_t index) {
  nd4c_node_info node = {.struct_size = sizeof node};
  char cost[96];
  if (nd4c_graph_get_node(graph, index, &node) != ND4C_OK) {
    return;
  }
  for (int32_t i = 0; i < node.output_count; i++) {
    (void)fprintf(file, "%s%%%" PRId32 " ", i > 0 ? ", " : "", node.outputs[i]);
    print_type(file, graph, node.outputs[i]);
  }
  (void)fprintf(file, node.label[0] != '\0' ? " = %s '%s' (" : " = %s (", node.op->name, node.label);
  for (int32_t i = 0; i < node.input_count; i++) {
    (void)fputs(i > 0 ? ", " : "", file);
    print_value(file, graph, node.inputs[i]);
  }
  (void)fputs(")", file);
  print_attrs(file, &node);
  if (node.fused != NULL) {
    (void)fprintf(file, " [%s]", node.fused);
  }
  if (node.operations > 0 || node.bytes > 0) {
    (void)fprintf(file, "  %s", graph_cost_text(node.operations, node.bytes, cost, sizeof cost));
  }
}

/* -- text ---------------------------------------------------------------------------------------------------------- */

void graph_write_text(FILE *file, const nd4c_graph *graph) {
  double operations = 0, bytes = 0;
  char cost[96];
  for (int32_t i = 0; i < nd4c_graph_input_count(graph); i++) {
    (void)fprintf(file, "input %s: ", nd4c_graph_input_name(graph, i));
    print_type(file, graph, nd4c_graph_input_value(graph, i));
    (void)fputc('\n', file);
  }
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    graph_print_node(file, graph, i);
    (void)fputc('\n', file);
    if (nd4c_graph_get_node(graph, i, &node) == ND4C_OK) {
      operations += node.operations;
      bytes += node.bytes;
    }
  }
  for (int32_t i = 0; i < nd4c_graph_output_count(graph); i++) {
    (void)fprintf(file, "output %s: ", nd4c_graph_output_name(graph, i));
    print_value(file, graph, nd4c_graph_output_value(graph, i));
    (void)fputc('\n', file);
  }
  (void)fprintf(file, "%" PRId32 " nodes, estimated: %s\n", nd4c_graph_node_count(graph),
                graph_cost_text(operations, bytes, cost, sizeof cost));
}

/* -- Graphviz ------------------------------------------------------------------------------------------------------ */

/* Inside a quoted string of the DOT language. */
static void print_quoted(FILE *file, const char *text) {
  for (const char *c = text; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\') {
      (void)fputc('\\', file);
    }
    (void)fputc(*c, file);
  }
}

void graph_write_dot(FILE *file, const graph_picture *picture) {
  static const char *const styles[] = {
      [GRAPH_INPUT] = "shape=ellipse", [GRAPH_NODE] = "shape=box", [GRAPH_OUTPUT] = "shape=ellipse, style=bold"};
  (void)fputs("digraph {\n  node [fontname=\"sans-serif\", fontsize=11];\n", file);
  for (int32_t i = 0; i < picture->box_count; i++) {
    (void)fprintf(file, "  b%" PRId32 " [%s%s, label=\"", i, styles[picture->boxes[i].kind],
                  picture->boxes[i].merged ? ", style=filled, fillcolor=\"#dff0d8\"" : "");
    print_quoted(file, picture->boxes[i].title);
    (void)fputs("\\n", file);
    print_quoted(file, picture->boxes[i].detail);
    (void)fputs("\"];\n", file);
  }
  for (int32_t i = 0; i < picture->arrow_count; i++) {
    (void)fprintf(file, "  b%" PRId32 " -> b%" PRId32 ";\n", picture->arrows[i].from, picture->arrows[i].to);
  }
  (void)fputs("}\n", file);
}
