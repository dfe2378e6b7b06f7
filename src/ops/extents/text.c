/* Expressions as text, "2*batch + (time + 1) / 2", and error texts in which numbers of expressions become expressions
 * (extents.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "ops/extents/table.h"

/* A text that grows until its buffer is full. */
typedef struct writer {
  char *buffer;
  size_t size, length;
} writer;

static void put(writer *out, const char *text) {
  for (; *text != '\0' && out->length + 1 < out->size; text++) {
    out->buffer[out->length++] = *text;
  }
  out->buffer[out->length] = '\0';
}

static void put_number(writer *out, int64_t number) {
  char text[24];
  (void)snprintf(text, sizeof text, "%lld", (long long)number);
  put(out, text);
}

static void put_extent(writer *out, const nd4c_extents *extents, int64_t extent);

/* A part of a quotient: in parentheses unless it is one number or name. */
static void put_operand(writer *out, const nd4c_extents *extents, int64_t extent, bool divisor) {
  bool alone = !nd4c_extents_has(extents, extent);
  if (!alone) {
    const nd4c_expression *expression = &extents->expressions[nd4c_expression_of(extent)];
    const nd4c_extent_term *term = &extents->terms[expression->first];
    const nd4c_monomial *product = &extents->monomials[term->monomial];
    alone = expression->count == 1 && product->degree == 1 && term->coefficient == 1 &&
            (!divisor || extents->atoms[extents->factors[product->first]].kind != ND4C_ATOM_QUOTIENT);
  }
  put(out, alone ? "" : "(");
  put_extent(out, extents, extent);
  put(out, alone ? "" : ")");
}

static void put_atom(writer *out, const nd4c_extents *extents, int32_t number, bool alone) {
  const nd4c_extent_atom *atom = &extents->atoms[number];
  bool quotient = atom->kind == ND4C_ATOM_QUOTIENT;
  if (atom->kind == ND4C_ATOM_DIM) {
    put(out, atom->name);
    return;
  }
  if (quotient) {
    put(out, alone ? "" : "(");
    put_operand(out, extents, atom->a, false);
    put(out, " / ");
    put_operand(out, extents, atom->b, true);
    put(out, alone ? "" : ")");
    return;
  }
  put(out, atom->kind == ND4C_ATOM_MAXIMUM ? "max(" : "min(");
  put_extent(out, extents, atom->a);
  put(out, ", ");
  put_extent(out, extents, atom->b);
  put(out, ")");
}

static void put_term(writer *out, const nd4c_extents *extents, const nd4c_extent_term *term) {
  const nd4c_monomial *product = &extents->monomials[term->monomial];
  int64_t magnitude = term->coefficient < 0 ? -term->coefficient : term->coefficient;
  bool counted = magnitude != 1 || product->degree == 0;
  if (counted) {
    put_number(out, magnitude);
  }
  for (int32_t i = 0; i < product->degree; i++) {
    put(out, counted || i > 0 ? "*" : "");
    put_atom(out, extents, extents->factors[product->first + i], !counted && product->degree == 1);
  }
}

/* Terms with a plus first, so that no text begins with a minus. */
static void put_extent(writer *out, const nd4c_extents *extents, int64_t extent) {
  if (!nd4c_extents_has(extents, extent)) {
    put_number(out, extent);
    return;
  }
  const nd4c_expression *expression = &extents->expressions[nd4c_expression_of(extent)];
  int32_t written = 0;
  for (int32_t sign = 1; sign >= -1; sign -= 2) {
    for (int32_t i = 0; i < expression->count; i++) {
      const nd4c_extent_term *term = &extents->terms[expression->first + i];
      if ((term->coefficient < 0) == (sign < 0)) {
        put(out, sign < 0 ? (written > 0 ? " - " : "-") : written > 0 ? " + " : "");
        put_term(out, extents, term);
        written++;
      }
    }
  }
}

const char *nd4c_extents_text(const nd4c_extents *extents, int64_t extent, char *buffer, size_t size) {
  writer out = {.buffer = buffer, .size = size};
  if (size > 0) {
    buffer[0] = '\0';
    put_extent(&out, extents, extent);
  }
  return buffer;
}

void nd4c_extents_translate(const nd4c_extents *extents, const char *text, char *buffer, size_t size) {
  writer out = {.buffer = buffer, .size = size};
  put(&out, "");
  while (*text != '\0') {
    char *end = NULL;
    int64_t number = text[0] == '-' ? strtoll(text, &end, 10) : 0;
    if (nd4c_extents_has(extents, number)) {
      put_extent(&out, extents, number);
      text = end;
    } else {
      put(&out, (const char[]){*text, '\0'});
      text++;
    }
  }
}

nd4c_status nd4c_extents_translate_error(const nd4c_extents *extents, nd4c_status status) {
  enum { TEXT_SIZE = 4096 };
  char given[TEXT_SIZE], text[TEXT_SIZE];
  (void)snprintf(given, sizeof given, "%s", nd4c_error_message());
  nd4c_extents_translate(extents, given, text, sizeof text);
  return nd4c_fail(status, "%s", text);
}
