/* Models whose nodes are not in the order in which they can run: they are sorted, in the model's graph, in graphs
 * inside nodes and in functions, and only cycles are refused. A model in any order gives what the one in order gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "model_build.h"
#include "nd4c/nd4c.h"

enum { FLOAT = 1, BOOL = 9 };

static nd4c_model *open_bytes(const char *what, const void *bytes, size_t size) {
  nd4c_model *model = NULL;
  if (nd4c_model_open_memory(bytes, size, NULL, NULL, NULL, &model) != ND4C_OK) {
    fail_msg("%s: %s", what, nd4c_error_message());
  }
  return model;
}

/* The model's y for x = 3 and, if the model takes it, c = true. */
static float run(const char *what, nd4c_model *model) {
  static const char *const names[] = {"x", "c"};
  float result = 0;
  nd4c_array *x = NULL, *c = NULL, *y = NULL;
  assert_int_equal(nd4c_array_scalar(ND4C_FLOAT32, 3, NULL, &x), ND4C_OK);
  assert_int_equal(nd4c_array_scalar(ND4C_BOOL, 1, NULL, &c), ND4C_OK);
  const nd4c_array *const given[] = {x, c};
  if (nd4c_model_run(model, NULL, names, given, nd4c_model_input_count(model), &y, 1) != ND4C_OK) {
    fail_msg("%s: %s", what, nd4c_error_message());
  }
  assert_int_equal(nd4c_array_read(y, &result, sizeof result), ND4C_OK);
  nd4c_array_release(x);
  nd4c_array_release(c);
  nd4c_array_release(y);
  return result;
}

static void expect(const char *what, const wire_bytes *bytes, float wanted) {
  nd4c_model *model = open_bytes(what, bytes->bytes, bytes->size);
  const float given = run(what, model);
  nd4c_model_close(model);
  if (given != wanted) {
    fail_msg("%s: %g, expected %g", what, (double)given, (double)wanted);
  }
}

static void expect_refusal(const char *what, const wire_bytes *bytes, const char *words) {
  nd4c_model *model = NULL;
  const nd4c_status status = nd4c_model_open_memory(bytes->bytes, bytes->size, NULL, NULL, NULL, &model);
  if (status != ND4C_FORMAT || strstr(nd4c_error_message(), words) == NULL) {
    fail_msg("%s: %s \"%s\"; expected \"%s\"", what, nd4c_status_name(status), nd4c_error_message(), words);
  }
}

/* -- the model's graph ------------------------------------------------------------------------------------------- */

static void build_plain(wire_bytes *bytes, const char *nodes) {
  static wire_bytes graph;
  *bytes = graph = (wire_bytes){0};
  build_nodes(&graph, nodes);
  build_value(&graph, 11, "x", FLOAT, 0, NULL);
  build_value(&graph, 12, "y", FLOAT, 0, NULL);
  build_model(bytes, &graph, 16);
}

static void sorts_the_graph(void **state) {
  (void)state;
  static wire_bytes bytes;
  static const struct {
    const char *nodes;
    float y;
  } cases[] = {
      {"Neg a > y; Add x x > a", -6},
      {"Sub b a > y; Mul a x > b; Add x x > a", 12},
      {"Identity x > y; Neg b > unread; Add x x > b", 3},
      {"Sub b a > y; Neg x > a; Abs a > b", 6}, /* only the first is out of place */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    build_plain(&bytes, cases[i].nodes);
    expect(cases[i].nodes, &bytes, cases[i].y);
  }
}

/* Each text names two nodes of the cycle, by their places in the file, and a value between them. */
static void refuses_cycles(void **state) {
  (void)state;
  static wire_bytes bytes;
  static const struct {
    const char *nodes, *words;
  } cases[] = {
      {"Add x b > a; Relu a > b; Neg b > y",
       "node 1 (Relu) at byte 24 reads 'a', which node 0 (Add) makes from results of the former: the graph has a "
       "cycle"},
      {"Neg c > y; Relu b > c; Add x y > b",
       "node 2 (Add) at byte 35 reads 'y', which node 0 (Neg) makes from results of the former: the graph has a cycle"},
      {"Add x y > y", "node 0 (Add) at byte 8 reads 'y', which it makes itself: the graph has a cycle"},
      /* nodes that only read results of a cycle are not named */
      {"Neg b > y; Abs b > q; Mul x a > b; Exp b > a",
       "node 3 (Exp) at byte 50 reads 'b', which node 2 (Mul) makes from results of the former"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    build_plain(&bytes, cases[i].nodes);
    expect_refusal(cases[i].nodes, &bytes, cases[i].words);
  }
}

/* A node that cannot be imported has the number that it has in the file. */
static void names_nodes_by_their_places_in_the_file(void **state) {
  (void)state;
  static wire_bytes bytes;
  build_plain(&bytes, "Neg a > y; Relu x x > a");
  expect_refusal("two inputs", &bytes, "node 1 (Relu) at byte 21 has 2 inputs; expected at most 1");
}

/* -- graphs inside nodes ----------------------------------------------------------------------------------------- */

/* y = if c: `then`, else: neg(x), between the nodes `before` and `after`. */
static void build_if(wire_bytes *bytes, const char *before, const char *then, const char *after) {
  static wire_bytes graph, first, second;
  *bytes = graph = first = second = (wire_bytes){0};
  build_nodes(&first, then);
  build_name(&first, 12, "t");
  build_nodes(&second, "Neg x > e");
  build_name(&second, 12, "e");
  build_nodes(&graph, before);
  build_holder(&graph, "If c > r", "then_branch", &first, "else_branch", &second);
  build_nodes(&graph, after);
  build_value(&graph, 11, "x", FLOAT, 0, NULL);
  build_value(&graph, 11, "c", BOOL, 0, NULL);
  build_value(&graph, 12, "y", FLOAT, 0, NULL);
  build_model(bytes, &graph, 16);
}

static void sorts_bodies_and_what_they_read(void **state) {
  (void)state;
  static wire_bytes bytes;
  build_if(&bytes, "Identity r > y", "Add u x > t; Mul x x > u", "Abs x > unread"); /* the branch itself */
  expect("in the branch", &bytes, 12);
  build_if(&bytes, "Identity r > y", "Add late x > t", "Mul x x > late"); /* a value made after the If */
  expect("after the If", &bytes, 12);
  build_if(&bytes, "Identity r > y", "Identity late > t", "Neg later > late; Exp x > q; Mul x x > later");
  expect("two after the If", &bytes, -9);
  build_if(&bytes, "Identity r > y", "", "Exp x > q; Mul x x > t"); /* the branch's output is a value around it */
  expect("an outer output", &bytes, 9);
  build_if(&bytes, "Identity r > y", "Neg x > r; Abs r > t", "Exp x > unread"); /* the branch has an r of its own */
  expect("a name of both", &bytes, 3);
}

static void refuses_cycles_through_bodies(void **state) {
  (void)state;
  static wire_bytes bytes;
  build_if(&bytes, "Abs x > p", "Add r x > t", "Identity r > y");
  expect_refusal("its own result", &bytes, "node 1 (If) at byte 22 reads 'r', which it makes itself");
  build_if(&bytes, "Abs x > p", "Add y x > t", "Identity r > y");
  expect_refusal("a later result", &bytes, "reads 'r', which node 1 (If) makes from results of the former");
  build_if(&bytes, "Identity r > y", "Add v x > t; Neg u > v; Neg v > u", "Abs x > p");
  expect_refusal("in a branch", &bytes, "node 1 (If), attribute 'then_branch': node 2 (Neg) at byte ");
}

/* If in If in If: the innermost graph reads values of all that surround it, each made late. */
static void sorts_at_every_depth(void **state) {
  (void)state;
  static wire_bytes bytes, graph, middle, inner, other;
  bytes = graph = middle = inner = other = (wire_bytes){0};
  build_nodes(&other, "Neg x > e");
  build_name(&other, 12, "e");
  build_nodes(&inner, "Sum h f g > t; Identity x > h");
  build_name(&inner, 12, "t");
  build_nodes(&middle, "Neg s > n");
  build_holder(&middle, "If c > s", "then_branch", &inner, "else_branch", &other);
  build_nodes(&middle, "Mul f f > g");
  build_name(&middle, 12, "n");
  build_holder(&graph, "If c > y", "then_branch", &middle, "else_branch", &other);
  build_nodes(&graph, "Add x x > f");
  build_value(&graph, 11, "x", FLOAT, 0, NULL);
  build_value(&graph, 11, "c", BOOL, 0, NULL);
  build_value(&graph, 12, "y", FLOAT, 0, NULL);
  build_model(&bytes, &graph, 16);
  expect("three graphs", &bytes, -(3 + 6 + 36));
}

/* -- functions --------------------------------------------------------------------------------------------------- */

static void build_function(wire_bytes *bytes, const char *nodes) {
  static wire_bytes function;
  function = (wire_bytes){0};
  build_plain(bytes, "Mine x > y");
  wire_text(&function, 1, "Mine");
  wire_text(&function, 4, "p");
  wire_text(&function, 5, "q");
  static wire_bytes body;
  body = (wire_bytes){0};
  build_nodes(&body, nodes);
  for (size_t at = 0; at < body.size; at += 2U + body.bytes[at + 1]) { /* field 1 of a graph is field 7 here */
    wire_block(&function, 7, body.bytes + at + 2, body.bytes[at + 1]);
  }
  wire_message(bytes, 25, &function);
}

static void sorts_functions(void **state) {
  (void)state;
  static wire_bytes bytes;
  build_function(&bytes, "Sub b a > q; Mul a p > b; Add p p > a");
  expect("a function", &bytes, 12);
  build_function(&bytes, "Sub p a > q; Add q p > a");
  expect_refusal("a function", &bytes, "function 'Mine': node 1 (Add) at byte ");
}

/* -- size -------------------------------------------------------------------------------------------------------- */

typedef struct long_bytes {
  unsigned char *bytes;
  size_t size;
} long_bytes;

/* A node of one input, "Neg from > to". */
static void add_node(long_bytes *to, const char *from, const char *name) {
  const size_t a = strlen(from), b = strlen(name);
  const unsigned char head[] = {0x0a, (unsigned char)(a + b + 9), 0x0a, (unsigned char)a};
  const unsigned char next[] = {0x12, (unsigned char)b};
  memcpy(to->bytes + to->size, head, sizeof head);
  memcpy(to->bytes + to->size + 4, from, a);
  memcpy(to->bytes + to->size + 4 + a, next, sizeof next);
  memcpy(to->bytes + to->size + 6 + a, name, b);
  memcpy(to->bytes + to->size + 6 + a + b, "\x22\x03Neg", 5);
  to->size += a + b + 11;
}

/* 100 000 nodes, the last one first: seconds, where a search for each node's maker would take minutes. */
static void sorts_many_nodes_in_linear_time(void **state) {
  (void)state;
  enum { NODES = 100000, ROOM = 64 };
  static wire_bytes ports, head;
  long_bytes graph = {malloc((size_t)NODES * ROOM), 0};
  long_bytes model = {malloc((size_t)NODES * ROOM), 0};
  assert_non_null(graph.bytes);
  assert_non_null(model.bytes);
  add_node(&graph, "v1", "y");
  for (int i = 1; i < NODES; i++) {
    char from[16], to[16];
    (void)snprintf(from, sizeof from, i + 1 < NODES ? "v%d" : "x", i + 1);
    (void)snprintf(to, sizeof to, "v%d", i);
    add_node(&graph, from, to);
  }
  ports = head = (wire_bytes){0};
  build_value(&ports, 11, "x", FLOAT, 0, NULL);
  build_value(&ports, 12, "y", FLOAT, 0, NULL);
  wire_number(&head, 1, 8);
  build_opset(&head, 16);
  wire_tag(&head, 7, 2);
  wire_varint(&head, graph.size + ports.size);
  memcpy(model.bytes, head.bytes, head.size);
  memcpy(model.bytes + head.size, graph.bytes, graph.size);
  memcpy(model.bytes + head.size + graph.size, ports.bytes, ports.size);
  model.size = head.size + graph.size + ports.size;
  const clock_t begin = clock();
  nd4c_model *opened = open_bytes("many nodes", model.bytes, model.size);
  assert_true((double)(clock() - begin) / CLOCKS_PER_SEC < 10);
  assert_true(run("many nodes", opened) == 3); /* an even number of signs */
  nd4c_model_close(opened);
  free(graph.bytes);
  free(model.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sorts_the_graph),
      cmocka_unit_test(refuses_cycles),
      cmocka_unit_test(names_nodes_by_their_places_in_the_file),
      cmocka_unit_test(sorts_bodies_and_what_they_read),
      cmocka_unit_test(refuses_cycles_through_bodies),
      cmocka_unit_test(sorts_at_every_depth),
      cmocka_unit_test(sorts_functions),
      cmocka_unit_test(sorts_many_nodes_in_linear_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
