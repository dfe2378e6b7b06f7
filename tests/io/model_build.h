/* Small ONNX models from a line of text, well-formed or not. */
#ifndef ND4C_TESTS_MODEL_BUILD_H
#define ND4C_TESTS_MODEL_BUILD_H

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire_build.h"

/* A ValueInfoProto: "x", float32, with extents; "n" before a number -1 is not needed: -1 gives a symbol "n". */
static inline void build_value(wire_bytes *graph, uint32_t field, const char *name, int type, int rank,
                               const int64_t *shape) {
  wire_bytes info = {0}, proto = {0}, tensor = {0}, extents = {0};
  for (int i = 0; i < rank; i++) {
    wire_bytes extent = {0};
    if (shape[i] < 0) {
      wire_text(&extent, 2, "n");
    } else {
      wire_number(&extent, 1, (uint64_t)shape[i]);
    }
    wire_message(&extents, 1, &extent);
  }
  wire_number(&tensor, 1, (uint64_t)type);
  wire_message(&tensor, 2, &extents);
  wire_message(&proto, 1, &tensor);
  wire_text(&info, 1, name);
  wire_message(&info, 2, &proto);
  wire_message(graph, field, &info);
}

/* "axis=-1" or "mode=linear" as an AttributeProto. */
static inline void build_attribute(wire_bytes *node, const char *text) {
  enum { INT = 2, STRING = 3 };
  char name[64];
  wire_bytes attribute = {0};
  const char *equals = strchr(text, '=');
  (void)snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
  const bool is_word = isalpha((unsigned char)equals[1]) != 0;
  wire_text(&attribute, 1, name);
  if (is_word) {
    wire_text(&attribute, 4, equals + 1);
  } else {
    wire_number(&attribute, 3, (uint64_t)strtoll(equals + 1, NULL, 10));
  }
  wire_number(&attribute, 20, is_word ? STRING : INT);
  wire_message(node, 5, &attribute);
}

/* "Add" or "ai.onnx.ml::Scaler" as the type of a node. */
static inline void build_op(wire_bytes *node, char *word) {
  char *colons = strstr(word, "::");
  if (colons != NULL) {
    *colons = '\0';
    wire_text(node, 7, word);
    word = colons + 2;
  }
  wire_text(node, 4, word);
}

/* "Add x y > z; Softmax z axis=1 > w" as NodeProtos. A name of "-" is left out (empty). */
static inline void build_nodes(wire_bytes *graph, const char *text) {
  char copy[1024];
  char *rest = copy;
  assert_true(strlen(text) < sizeof copy);
  memcpy(copy, text, strlen(text) + 1);
  for (char *line = copy; line != NULL && *line != '\0'; line = rest) {
    wire_bytes node = {0};
    uint32_t field = 4; /* the op's type, then inputs, then outputs */
    rest = strchr(line, ';');
    if (rest != NULL) {
      *rest++ = '\0';
    }
    for (char *word = strtok(line, " "); word != NULL; word = strtok(NULL, " ")) {
      if (strcmp(word, ">") == 0) {
        field = 2;
        continue;
      }
      if (strchr(word, '=') != NULL) {
        build_attribute(&node, word);
        continue;
      }
      if (field == 4) {
        build_op(&node, word);
        field = 1;
        continue;
      }
      wire_text(&node, field, strcmp(word, "-") == 0 ? "" : word);
    }
    wire_message(graph, 1, &node);
  }
}

static inline void build_opset(wire_bytes *model, int64_t opset) {
  wire_bytes import = {0};
  wire_number(&import, 2, (uint64_t)opset);
  wire_message(model, 8, &import);
}

/* The opset of another domain than ONNX's own. */
static inline void build_domain(wire_bytes *model, const char *domain, int64_t opset) {
  wire_bytes import = {0};
  wire_text(&import, 1, domain);
  wire_number(&import, 2, (uint64_t)opset);
  wire_message(model, 8, &import);
}

/* Version, opset and the graph. */
static inline void build_model(wire_bytes *model, const wire_bytes *graph, int64_t opset) {
  wire_number(model, 1, 8);
  build_opset(model, opset);
  wire_message(model, 7, graph);
}

/* An initializer of raw data. */
static inline void build_initializer(wire_bytes *graph, const char *name, int type, int rank, const int64_t *shape,
                                     const void *data, size_t bytes) {
  wire_bytes tensor = {0};
  for (int i = 0; i < rank; i++) {
    wire_number(&tensor, 1, (uint64_t)shape[i]);
  }
  wire_number(&tensor, 2, (uint64_t)type);
  wire_text(&tensor, 8, name);
  wire_block(&tensor, 9, data, bytes);
  wire_message(graph, 5, &tensor);
}

/* Adds a node, "If c > y", with a graph as attribute `name`, and another one if `second` is given. */
static inline void build_holder(wire_bytes *graph, const char *text, const char *name, const wire_bytes *first,
                                const char *second_name, const wire_bytes *second) {
  wire_bytes node = {0};
  char copy[256];
  uint32_t field = 4;
  (void)snprintf(copy, sizeof copy, "%s", text);
  for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
    if (strcmp(word, ">") == 0) {
      field = 2;
    } else if (strchr(word, '=') != NULL) {
      build_attribute(&node, word);
    } else {
      wire_text(&node, field, strcmp(word, "-") == 0 ? "" : word);
      field = field == 4 ? 1 : field;
    }
  }
  for (int i = 0; i < (second != NULL ? 2 : 1); i++) {
    wire_bytes attribute = {0};
    wire_text(&attribute, 1, i == 0 ? name : second_name);
    wire_message(&attribute, 6, i == 0 ? first : second);
    wire_number(&attribute, 20, 5);
    wire_message(&node, 5, &attribute);
  }
  wire_message(graph, 1, &node);
}

/* The nodes of a graph of nothing but nodes as those of a FunctionProto: field 1 of a graph, field 7 of a function. */
static inline void build_function_nodes(wire_bytes *function, const wire_bytes *nodes, const char *domain_of_nodes) {
  for (size_t at = 0; at < nodes->size;) {
    size_t size = 0;
    int shift = 0;
    for (at++;; shift += 7) {
      size |= (size_t)(nodes->bytes[at] & 0x7f) << shift;
      if ((nodes->bytes[at++] & 0x80) == 0) {
        break;
      }
    }
    wire_bytes node = {0};
    wire_raw(&node, nodes->bytes + at, size);
    if (domain_of_nodes != NULL) {
      wire_text(&node, 7, domain_of_nodes);
    }
    wire_message(function, 7, &node);
    at += size;
  }
}

/* A progress function of a model, for the tests that import it once: counts its imports in *user, an int. */
static inline void count_imports(void *user, const char *what, int64_t done, int64_t total) {
  (void)total;
  *(int *)user += strcmp(what, "importing") == 0 && done == 0;
}

/* A named value without a type, as graphs inside nodes may have. */
static inline void build_name(wire_bytes *graph, uint32_t field, const char *name) {
  wire_bytes info = {0};
  wire_text(&info, 1, name);
  wire_message(graph, field, &info);
}

/* Several of them, with a space between each two. */
static inline void build_names(wire_bytes *graph, uint32_t field, const char *names) {
  char name[64];
  int length = 0;
  for (; sscanf(names, "%63s%n", name, &length) == 1; names += length) {
    build_name(graph, field, name);
  }
}

/* What the body of a loop that carries v takes, and "on" and the others that it gives. */
static inline void build_loop_names(wire_bytes *body, const char *given) {
  build_names(body, 11, "i go v");
  build_name(body, 12, "on");
  build_names(body, 12, given);
}

#endif
