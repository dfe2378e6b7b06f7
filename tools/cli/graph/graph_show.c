/* Writes graphs as text and for Graphviz. graph.c calls it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* -- values, attributes, costs ------------------------------------------------------------------------------------- */

/* "batch" and "2*batch + 1" for extents that depend on dims; NULL for the others. Freed by free_symbols. */
static void find_symbols(const nd4c_graph *graph, int32_t rank, const int64_t *shape, char **symbols) {
  for (int32_t i = 0; i < rank; i++) {
    symbols[i] = NULL;
    if (nd4c_extent_is_symbolic(shape[i])) {
      (void)nd4c_graph_extent_text(graph, shape[i], &symbols[i]);
    }
  }
}

const char *graph_type_text(const nd4c_graph *graph, nd4c_value value, char *buffer, size_t size) {
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  int32_t rank = 0;
  const int64_t *shape = NULL;
  char text[512], *symbols[ND4C_MAX_RANK];
  (void)snprintf(buffer, size, "?");
  if (nd4c_graph_value_info(graph, value, &dtype, &rank, &shape) != ND4C_OK) {
    return buffer;
  }
  find_symbols(graph, rank, shape, symbols);
  (void)snprintf(buffer, size, "%s%s", nd4c_dtype_name(dtype),
                 cli_shape_text(rank, shape, (const char *const *)symbols, text, sizeof text));
  for (int32_t i = 0; i < rank; i++) {
    nd4c_free(symbols[i]);
  }
  return cli_clean_name(buffer);
}

const char *graph_short_name(const char *name, char *buffer, size_t size) {
  const size_t length = strlen(name), begin = size / 3;
  if (length < size) {
    (void)snprintf(buffer, size, "%s", name);
  } else { /* the end says most: "/encoder/layer..tention/self/MatMul" */
    (void)snprintf(buffer, size, "%.*s..%s", (int)begin, name, name + length - (size - begin - 3));
  }
  return buffer;
}

const char *graph_control_text(const nd4c_graph *graph, int32_t index, char *buffer, size_t size) {
  static const char *const names[] = {[ND4C_CONTROL_IF] = "if",
                                      [ND4C_CONTROL_LOOP] = "loop",
                                      [ND4C_CONTROL_SCAN] = "scan",
                                      [ND4C_CONTROL_CALL] = "call"};
  nd4c_control_info control = {.struct_size = sizeof control};
  char *rounds = NULL;
  buffer[0] = '\0';
  if (nd4c_graph_get_control(graph, index, &control) != ND4C_OK || control.kind == ND4C_CONTROL_NONE) {
    return buffer;
  }
  const bool looped = control.kind == ND4C_CONTROL_LOOP || control.kind == ND4C_CONTROL_SCAN;
  if (looped && nd4c_extent_is_symbolic(control.rounds)) {
    (void)nd4c_graph_extent_text(graph, control.rounds, &rounds);
  }
  if (control.function != NULL) {
    (void)snprintf(buffer, size, "call of %s", control.function);
  } else if (rounds != NULL) {
    (void)snprintf(buffer, size, "%s, %s rounds", names[control.kind], rounds);
  } else if (looped && control.rounds >= 0) {
    (void)snprintf(buffer, size, "%s, %" PRId64 " rounds", names[control.kind], control.rounds);
  } else {
    (void)snprintf(buffer, size, looped ? "%s, any number of rounds" : "%s", names[control.kind]);
  }
  nd4c_free(rounds);
  return cli_clean_name(buffer);
}

const char *graph_body_name(const nd4c_control_info *control, int32_t body) {
  return control->kind == ND4C_CONTROL_IF ? (body == 0 ? "then" : "else")
         : control->function != NULL      ? control->function
                                          : "body";
}

static void print_type(FILE *file, const nd4c_graph *graph, nd4c_value value) {
  char text[640];
  (void)fputs(graph_type_text(graph, value, text, sizeof text), file);
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
    cli_print_name(file, name);
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

/* A number, the word of an enum for it, or the expression of an extent. */
static void print_number(FILE *file, const nd4c_graph *graph, nd4c_op op, int32_t attr, int64_t number) {
  const char *word = word_of(op, attr, number);
  char *extent = NULL;
  if (word != NULL) {
    (void)fputs(word, file);
  } else if (nd4c_extent_is_symbolic(number) && nd4c_graph_extent_text(graph, number, &extent) == ND4C_OK) {
    cli_print_name(file, extent);
    nd4c_free(extent);
  } else {
    (void)fprintf(file, "%" PRId64, number);
  }
}

static void print_attr(FILE *file, const nd4c_graph *graph, nd4c_op op, int32_t attr, const nd4c_attr_value *value) {
  switch (value->kind) {
    case ND4C_ATTR_INT:
      print_number(file, graph, op, attr, value->as.i);
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
      cli_print_name(file, value->as.string);
      break;
    default: /* a list */
      for (int32_t i = 0; i < value->count; i++) {
        (void)fputs(i > 0 ? " " : "", file);
        if (value->kind == ND4C_ATTR_INTS) {
          print_number(file, graph, op, attr, value->as.ints[i]);
        } else {
          (void)fprintf(file, "%g", value->as.floats[i]);
        }
      }
  }
}

static void print_attrs(FILE *file, const nd4c_graph *graph, const nd4c_node_info *node) {
  const char *before = " {";
  for (int32_t i = 0; i < node->op->attr_count && node->attrs != NULL; i++) {
    if (is_shown(&node->op->attrs[i].preset, &node->attrs[i])) {
      (void)fprintf(file, "%s%s ", before, node->op->attrs[i].name);
      print_attr(file, graph, node->op->op, i, &node->attrs[i]);
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
  (void)fprintf(file, " = %s ", node.op->name);
  if (cli_node_name(&node)[0] != '\0') {
    (void)fputc('\'', file);
    cli_print_name(file, cli_node_name(&node));
    (void)fputs("' ", file);
  }
  (void)fputc('(', file);
  for (int32_t i = 0; i < node.input_count; i++) {
    (void)fputs(i > 0 ? ", " : "", file);
    print_value(file, graph, node.inputs[i]);
  }
  (void)fputs(")", file);
  print_attrs(file, graph, &node);
  if (node.fused != NULL) {
    (void)fprintf(file, " [%s]", node.fused);
  }
  char control[96];
  if (graph_control_text(graph, index, control, sizeof control)[0] != '\0') {
    (void)fprintf(file, " {%s}", control);
  }
  if (node.operations > 0 || node.bytes > 0) {
    (void)fprintf(file, "  %s", graph_cost_text(node.operations, node.bytes, cost, sizeof cost));
  }
}

/* -- text ---------------------------------------------------------------------------------------------------------- */

/* A text of the file on one line: it may hold anything. */
static void print_line(FILE *file, const char *text) {
  enum { MOST = 200 };
  size_t length = 0;
  for (size_t bytes; text[length] != '\0' && length < MOST; length += bytes > 0 ? bytes : 1) {
    bytes = cli_character(text + length);
    (void)fwrite(bytes > 0 ? text + length : " ", 1, bytes > 0 ? bytes : 1, file);
  }
  (void)fputs(text[length] != '\0' ? "...\n" : "\n", file);
}

static void print_metadata(FILE *file, const nd4c_graph *graph) {
  for (int32_t i = 0; i < nd4c_graph_metadata_count(graph, ND4C_GRAPH_ITSELF); i++) {
    const char *key = NULL, *value = NULL;
    if (nd4c_graph_metadata_at(graph, ND4C_GRAPH_ITSELF, i, &key, &value) == ND4C_OK) {
      (void)fputs("metadata ", file);
      cli_print_name(file, key);
      (void)fputs(": ", file);
      print_line(file, value);
    }
  }
}

/* Inputs, nodes and outputs, and the nodes' bodies below them, further to the right. */
static void write_nodes(FILE *file, const nd4c_graph *graph, const bool *shown, int indent);

static void write_bodies(FILE *file, const nd4c_graph *graph, int32_t index, int indent) {
  nd4c_control_info control = {.struct_size = sizeof control};
  if (nd4c_graph_get_control(graph, index, &control) != ND4C_OK) {
    return;
  }
  for (int32_t i = 0; i < control.body_count; i++) {
    (void)fprintf(file, "%*s", indent + 2, "");
    cli_print_name(file, graph_body_name(&control, i));
    (void)fputs(":\n", file);
    write_nodes(file, nd4c_graph_body(graph, index, i), NULL, indent + 4);
  }
}

static void write_nodes(FILE *file, const nd4c_graph *graph, const bool *shown, int indent) {
  for (int32_t i = 0; i < nd4c_graph_input_count(graph); i++) {
    (void)fprintf(file, "%*sinput ", indent, "");
    cli_print_name(file, nd4c_graph_input_name(graph, i));
    (void)fputs(": ", file);
    print_type(file, graph, nd4c_graph_input_value(graph, i));
    (void)fputc('\n', file);
  }
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    if (shown == NULL || shown[i]) {
      (void)fprintf(file, "%*s", indent, "");
      graph_print_node(file, graph, i);
      (void)fputc('\n', file);
      write_bodies(file, graph, i, indent);
    }
  }
  for (int32_t i = 0; i < nd4c_graph_output_count(graph); i++) {
    (void)fprintf(file, "%*soutput ", indent, "");
    cli_print_name(file, nd4c_graph_output_name(graph, i));
    (void)fputs(": ", file);
    print_value(file, graph, nd4c_graph_output_value(graph, i));
    (void)fputc('\n', file);
  }
}

void graph_sum_costs(const nd4c_graph *graph, double *operations, double *bytes) {
  *operations = *bytes = 0;
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    nd4c_node_info node = {.struct_size = sizeof node};
    if (nd4c_graph_get_node(graph, i, &node) == ND4C_OK) {
      *operations += node.operations;
      *bytes += node.bytes;
    }
  }
}

void graph_write_text(FILE *file, const nd4c_graph *graph, const bool *shown) {
  double operations = 0, bytes = 0;
  int32_t left_out = 0;
  char cost[96];
  print_metadata(file, graph);
  write_nodes(file, graph, shown, 0);
  for (int32_t i = 0; i < nd4c_graph_node_count(graph); i++) {
    left_out += shown != NULL && !shown[i];
  }
  graph_sum_costs(graph, &operations, &bytes);
  (void)fprintf(file, "%" PRId32 " nodes", nd4c_graph_node_count(graph));
  if (left_out > 0) {
    (void)fprintf(file, " (%" PRId32 " of them not shown)", left_out);
  }
  (void)fprintf(file, ", estimated%s: %s\n",
                nd4c_graph_dim_count(graph) > 0 ? " with each dim as 64, or its bound nearest to 64" : "",
                graph_cost_text(operations, bytes, cost, sizeof cost));
}

/* -- Graphviz ------------------------------------------------------------------------------------------------------ */

/* Inside a quoted string of the DOT language. */
static void print_quoted(FILE *file, const char *text) {
  for (size_t bytes; *text != '\0'; text += bytes > 0 ? bytes : 1) {
    bytes = cli_character(text);
    (void)fputs(*text == '"' || *text == '\\' ? "\\" : "", file);
    (void)fwrite(bytes > 0 ? text : "?", 1, bytes > 0 ? bytes : 1, file);
  }
}

/* Boxes of one graph; `name` begins the names of its boxes, which no other graph of the file has. A node with bodies is
 * a cluster that holds its own box and a cluster for each body. */
static void write_boxes(FILE *file, const graph_picture *picture, const char *name) {
  static const char *const styles[] = {
      [GRAPH_INPUT] = "shape=ellipse", [GRAPH_NODE] = "shape=box", [GRAPH_OUTPUT] = "shape=ellipse, style=bold"};
  for (int32_t i = 0; i < picture->box_count; i++) {
    const graph_box *box = &picture->boxes[i];
    if (box->body_count > 0) {
      (void)fprintf(file, "  subgraph cluster_%s%" PRId32 " {\n  style=filled; fillcolor=\"#f4f4f4\";\n", name, i);
    }
    (void)fprintf(file, "  %s%" PRId32 " [%s%s, label=\"", name, i, styles[box->kind],
                  box->merged ? ", style=filled, fillcolor=\"#dff0d8\"" : "");
    print_quoted(file, box->title);
    (void)fputs("\\n", file);
    print_quoted(file, box->detail);
    (void)fputs("\"];\n", file);
    for (int32_t k = 0; k < box->body_count; k++) {
      char inner[512];
      const int used = snprintf(inner, sizeof inner, "%s%" PRId32 "_%" PRId32 "_", name, i, k);
      if (used > 0 && (size_t)used < sizeof inner) {
        (void)fprintf(file, "  subgraph cluster_%sbody {\n  fillcolor=\"white\"; label=\"", inner);
        print_quoted(file, box->body_names[k]);
        (void)fputs("\";\n", file);
        write_boxes(file, box->bodies[k], inner);
        (void)fputs("  }\n", file);
      }
    }
    (void)fputs(box->body_count > 0 ? "  }\n" : "", file);
  }
  for (int32_t i = 0; i < picture->arrow_count; i++) {
    (void)fprintf(file, "  %s%" PRId32 " -> %s%" PRId32 ";\n", name, picture->arrows[i].from, name,
                  picture->arrows[i].to);
  }
}

void graph_write_dot(FILE *file, const graph_picture *picture) {
  (void)fputs("digraph {\n  node [fontname=\"sans-serif\", fontsize=11];\n", file);
  write_boxes(file, picture, "b");
  (void)fputs("}\n", file);
}
