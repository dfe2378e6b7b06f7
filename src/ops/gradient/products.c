/* Rules for the gradients of sums of products: einsum, and ops that one could be, which are written as its equations
 * here. gradient.c looks rules up in this list. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "nd4c/extent.h"
#include "ops/gradient/gradient.h"

enum { OPERANDS = 16, LETTERS = 52 };

/* The letters of an array's axes; the text ends with 0. */
typedef struct term {
  char letters[ND4C_MAX_RANK + 1];
} term;

/* output = the sum of products of the operands over the letters that it lacks */
typedef struct sum {
  int32_t count;
  nd4c_emitted operands[OPERANDS];
  term terms[OPERANDS], output;
  int32_t used;    /* how many letters take_letter has passed */
  bool given[128]; /* letters that the op's equation has */
} sum;

/* A letter that no axis has yet; 0 if there is none. */
static char take_letter(sum *s) {
  while (s->used < LETTERS) {
    const char letter = (char)(s->used < LETTERS / 2 ? 'a' + s->used : 'A' + s->used - LETTERS / 2);
    s->used++;
    if (!s->given[(int32_t)letter]) {
      return letter;
    }
  }
  return 0;
}

static void append(term *t, char letter) {
  const size_t length = strlen(t->letters);
  if (length < ND4C_MAX_RANK) {
    t->letters[length] = letter;
  }
}

static nd4c_status too_many(void) {
  return nd4c_fail(ND4C_UNSUPPORTED, "its gradient has more than %d arrays or %d different axes", OPERANDS, LETTERS);
}

/* -- the gradient of an operand ------------------------------------------------------------------------------------ */

/* Ones where two axes of one length have the same index. */
static nd4c_status emit_identity(nd4c_emitter *e, nd4c_dtype dtype, int64_t length, nd4c_emitted *y) {
  ND4C_TRY(nd4c_emit_full(e, dtype, 1, 1, &length, y));
  return nd4c_emit_unary(e, ND4C_OP_diag_embed, *y, y);
}

/* Axes of x that share a letter took a diagonal: each but the first has a letter of its own now, and a matrix of ones
 * on its diagonal is a factor. */
static nd4c_status part_diagonals(nd4c_emitter *e, sum *s, const nd4c_emitted_info *x, term *wanted) {
  for (int32_t i = 0; i < x->rank; i++) {
    char *letter = &wanted->letters[i];
    const char *first = strchr(wanted->letters, *letter);
    if (first == letter) {
      continue;
    }
    term pair = {{*letter, take_letter(s)}};
    if (s->count == OPERANDS || pair.letters[1] == 0) {
      return too_many();
    }
    if (x->shape[i] != x->shape[first - wanted->letters] || nd4c_extent_is_symbolic(x->shape[i])) {
      return nd4c_fail(ND4C_UNSUPPORTED, "the gradient of a diagonal needs numbers along its axes, and equal ones");
    }
    *letter = pair.letters[1];
    s->terms[s->count] = pair;
    ND4C_TRY(emit_identity(e, x->dtype, x->shape[i], &s->operands[s->count++]));
  }
  return ND4C_OK;
}

static bool has_letter(const sum *s, char letter) {
  for (int32_t i = 0; i < s->count; i++) {
    if (strchr(s->terms[i].letters, letter) != NULL) {
      return true;
    }
  }
  return false;
}

/* The sum of the products as an op; `output` has the letters that stay. */
static nd4c_status emit_sum(nd4c_emitter *e, const sum *s, const term *output, nd4c_emitted *y) {
  char equation[(OPERANDS + 1) * (ND4C_MAX_RANK + 2)];
  size_t length = 0;
  for (int32_t i = 0; i <= s->count; i++) {
    const char *letters = i < s->count ? s->terms[i].letters : output->letters, *behind = i + 1 < s->count ? ","
                                                                                          : i < s->count   ? "->"
                                                                                                           : "";
    length += (size_t)snprintf(equation + length, sizeof equation - length, "%s%s", letters, behind);
  }
  const nd4c_attr attr = nd4c_attr_of_string("equation", equation);
  return nd4c_emit(e, ND4C_OP_einsum, s->operands, s->count, &attr, 1, y);
}

/* The product of g and the other operands, summed to the axes of x. An axis of one element was broadcast, so it is
 * summed; one that nothing else has was summed, so it is broadcast. */
static nd4c_status differentiate(nd4c_emitter *e, sum *s, nd4c_emitted given, int32_t index, nd4c_emitted *gradient) {
  const nd4c_emitted_info x = nd4c_emitted_get(e, s->operands[index]);
  const nd4c_dtype dtype = nd4c_emitted_get(e, given).dtype;
  term wanted = s->terms[index], kept = {{0}};
  int64_t shape[ND4C_MAX_RANK];
  s->operands[index] = given;
  s->terms[index] = s->output;
  ND4C_TRY(part_diagonals(e, s, &x, &wanted));
  for (int32_t i = 0; i < x.rank; i++) {
    if (x.shape[i] != 1 && has_letter(s, wanted.letters[i])) {
      append(&kept, wanted.letters[i]);
    }
  }
  for (int32_t i = 0; i < s->count; i++) {
    ND4C_TRY(nd4c_emit_cast(e, s->operands[i], dtype, &s->operands[i]));
  }
  ND4C_TRY(emit_sum(e, s, &kept, gradient));
  const nd4c_emitted_info made = nd4c_emitted_get(e, *gradient);
  for (int32_t i = 0; i < x.rank; i++) {
    const char *place = strchr(kept.letters, wanted.letters[i]);
    shape[i] = place == NULL ? 1 : made.shape[place - kept.letters];
  }
  ND4C_TRY(nd4c_emit_reshape(e, *gradient, x.rank, shape, gradient));
  return nd4c_emit_broadcast(e, *gradient, x.rank, x.shape, gradient);
}

/* -- equations ----------------------------------------------------------------------------------------------------- */

static nd4c_status begin(const nd4c_gradient_step *step, sum *s) {
  *s = (sum){.count = step->input_count};
  if (step->input_count > OPERANDS) {
    return too_many();
  }
  memcpy(s->operands, step->inputs, (size_t)step->input_count * sizeof *s->operands);
  return ND4C_OK;
}

/* As many letters as an array has axes, of those that `all` ends with. */
static void append_last(term *t, const char *all, int32_t count) {
  const int32_t length = (int32_t)strlen(all);
  for (int32_t i = length - count; i < length; i++) {
    append(t, all[i]);
  }
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Copies the term at *at without blanks, with the letters `hidden` in the place of "...", and moves *at behind it. */
static void read_term(const char **at, const char *hidden, int32_t hidden_count, term *t) {
  for (; **at != '\0' && **at != ',' && **at != '-'; ++*at) {
    if (**at == '.') {
      append_last(t, hidden, hidden_count);
      *at += 2;
    } else if (is_letter(**at)) {
      append(t, **at);
    }
  }
  *at += **at == ',' ? 1 : 0;
}

/* How many axes "..." stands for in each operand: those that have no letter. Gives the most. */
static int32_t count_hidden(nd4c_emitter *e, const sum *s, const char *equation, int32_t *hidden) {
  int32_t most = 0;
  for (int32_t i = 0; i < s->count; i++) {
    term named = {{0}};
    read_term(&equation, "", 0, &named);
    hidden[i] = nd4c_emitted_get(e, s->operands[i]).rank - (int32_t)strlen(named.letters);
    most = hidden[i] > most ? hidden[i] : most;
  }
  return most;
}

/* Without an arrow: the axes of "...", then the letters that stand once, capitals first. */
static void imply_output(sum *s, const char *hidden) {
  append_last(&s->output, hidden, (int32_t)strlen(hidden));
  for (int32_t letter = 'A'; letter <= 'z'; letter++) {
    int32_t met = 0;
    for (int32_t i = 0; i < s->count; i++) {
      for (const char *at = s->terms[i].letters; *at != '\0'; at++) {
        met += *at == letter ? 1 : 0;
      }
    }
    if (met == 1 && strchr(hidden, letter) == NULL) {
      append(&s->output, (char)letter);
    }
  }
}

/* The equation was checked when the op was recorded. */
ND4C_GRADIENT(einsum) {
  const char *equation = step->attrs[ND4C_ATTR_einsum_equation].as.string, *at = equation;
  int32_t hidden[OPERANDS];
  term of_hidden = {{0}};
  sum s;
  ND4C_TRY(begin(step, &s));
  for (const char *c = equation; *c != '\0'; c++) {
    s.given[(int32_t)*c & 127] = true;
  }
  const int32_t most = count_hidden(e, &s, equation, hidden);
  for (int32_t i = 0; i < most; i++) {
    const char letter = take_letter(&s);
    if (letter == 0) {
      return too_many();
    }
    append(&of_hidden, letter);
  }
  for (int32_t i = 0; i < s.count; i++) {
    read_term(&at, of_hidden.letters, hidden[i], &s.terms[i]);
  }
  if (*at == '-') {
    at += 2;
    read_term(&at, of_hidden.letters, most, &s.output);
  } else {
    imply_output(&s, of_hidden.letters);
  }
  return differentiate(e, &s, step->given, index, gradient);
}

/* The ops below have two operands and at most 52 different axes between them, or are refused. */
static nd4c_status name_axes(sum *s, int32_t count, char *letters) {
  for (int32_t i = 0; i < count; i++) {
    letters[i] = take_letter(s);
    if (letters[i] == 0) {
      return too_many();
    }
  }
  letters[count] = '\0';
  return ND4C_OK;
}

static int32_t rank_of(const nd4c_emitter *e, nd4c_emitted x) {
  return nd4c_emitted_get(e, x).rank;
}

/* Of tensordot: axes_a[i] of a and axes_b[i] of b have one letter. */
ND4C_GRADIENT(tensordot) {
  const nd4c_attr_value *of_a = &step->attrs[ND4C_ATTR_tensordot_axes_a],
                        *of_b = &step->attrs[ND4C_ATTR_tensordot_axes_b];
  const int32_t a_rank = rank_of(e, step->inputs[0]), b_rank = rank_of(e, step->inputs[1]);
  bool summed[2][ND4C_MAX_RANK] = {{false}};
  sum s;
  ND4C_TRY(begin(step, &s));
  ND4C_TRY(name_axes(&s, a_rank, s.terms[0].letters));
  for (int32_t i = 0; i < of_a->count; i++) {
    const int64_t p = of_a->as.ints[i], q = of_b->as.ints[i], left = p < 0 ? p + a_rank : p,
                  right = q < 0 ? q + b_rank : q;
    summed[0][left] = summed[1][right] = true;
    s.terms[1].letters[right] = s.terms[0].letters[left];
  }
  for (int32_t i = 0; i < b_rank; i++) {
    if (!summed[1][i]) {
      s.terms[1].letters[i] = take_letter(&s);
      if (s.terms[1].letters[i] == 0) {
        return too_many();
      }
    }
  }
  for (int32_t k = 0; k < 2; k++) {
    for (int32_t i = 0; i < (k == 0 ? a_rank : b_rank); i++) {
      if (!summed[k][i]) {
        append(&s.output, s.terms[k].letters[i]);
      }
    }
  }
  return differentiate(e, &s, step->given, index, gradient);
}

/* Sums over the last axes of both, of which a number has none. */
ND4C_GRADIENT(inner) {
  const int32_t a_rank = rank_of(e, step->inputs[0]), b_rank = rank_of(e, step->inputs[1]);
  const bool sums = a_rank > 0 && b_rank > 0;
  sum s;
  ND4C_TRY(begin(step, &s));
  ND4C_TRY(name_axes(&s, a_rank, s.terms[0].letters));
  ND4C_TRY(name_axes(&s, b_rank, s.terms[1].letters));
  for (int32_t k = 0; k < 2; k++) {
    const int32_t rank = k == 0 ? a_rank : b_rank;
    for (int32_t i = 0; i < rank - (sums ? 1 : 0); i++) {
      append(&s.output, s.terms[k].letters[i]);
    }
  }
  if (sums) {
    s.terms[1].letters[b_rank - 1] = s.terms[0].letters[a_rank - 1];
  }
  return differentiate(e, &s, step->given, index, gradient);
}

ND4C_GRADIENT(outer) {
  sum s;
  ND4C_TRY(begin(step, &s));
  s.terms[0] = (term){"a"};
  s.terms[1] = (term){"b"};
  s.output = (term){"ab"};
  return differentiate(e, &s, step->given, index, gradient);
}

/* The axes are broadcast, and one of those of the result of that is summed. */
ND4C_GRADIENT(vecdot) {
  const int32_t ranks[] = {rank_of(e, step->inputs[0]), rank_of(e, step->inputs[1])},
                rank = ranks[0] > ranks[1] ? ranks[0] : ranks[1];
  const int64_t named = step->attrs[ND4C_ATTR_vecdot_axis].as.i, axis = named < 0 ? named + rank : named;
  term all = {{0}};
  sum s;
  ND4C_TRY(begin(step, &s));
  ND4C_TRY(name_axes(&s, rank, all.letters));
  for (int32_t k = 0; k < 2; k++) {
    append_last(&s.terms[k], all.letters, ranks[k]);
  }
  for (int32_t i = 0; i < rank; i++) {
    if (i != axis) {
      append(&s.output, all.letters[i]);
    }
  }
  return differentiate(e, &s, step->given, index, gradient);
}

/* Matrices and vectors in batches: `matrix` tells which input has matrices; of these `summed` is the axis that the
 * vectors have, 0 or 1. */
static nd4c_status by_vectors(nd4c_emitter *e, const nd4c_gradient_step *step, int32_t matrix, int32_t summed,
                              int32_t index, nd4c_emitted *gradient) {
  const int32_t of_matrix = rank_of(e, step->inputs[matrix]) - 2, of_vector = rank_of(e, step->inputs[1 - matrix]) - 1,
                most = of_matrix > of_vector ? of_matrix : of_vector;
  term batches = {{0}};
  char pair[3];
  sum s;
  ND4C_TRY(begin(step, &s));
  ND4C_TRY(name_axes(&s, most, batches.letters));
  ND4C_TRY(name_axes(&s, 2, pair));
  append_last(&s.terms[matrix], batches.letters, of_matrix);
  append_last(&s.terms[matrix], pair, 2);
  append_last(&s.terms[1 - matrix], batches.letters, of_vector);
  append(&s.terms[1 - matrix], pair[summed]);
  append_last(&s.output, batches.letters, most);
  append(&s.output, pair[1 - summed]);
  return differentiate(e, &s, step->given, index, gradient);
}

ND4C_GRADIENT(matvec) {
  return by_vectors(e, step, 0, 1, index, gradient);
}

ND4C_GRADIENT(vecmat) {
  return by_vectors(e, step, 1, 0, index, gradient);
}

/* Each axis of y is an axis of a and one of b: g gets both. */
ND4C_GRADIENT(kron) {
  const nd4c_emitted_info a = nd4c_emitted_get(e, step->inputs[0]), b = nd4c_emitted_get(e, step->inputs[1]);
  const int32_t rank = a.rank > b.rank ? a.rank : b.rank;
  int64_t shape[2 * ND4C_MAX_RANK];
  nd4c_emitted given = ND4C_EMITTED_NONE;
  int32_t count = 0;
  sum s;
  ND4C_TRY(begin(step, &s));
  if (a.rank + b.rank > ND4C_MAX_RANK) {
    return too_many();
  }
  ND4C_TRY(name_axes(&s, a.rank, s.terms[0].letters));
  ND4C_TRY(name_axes(&s, b.rank, s.terms[1].letters));
  for (int32_t i = 0; i < rank; i++) {
    const int32_t of_a = i - (rank - a.rank), of_b = i - (rank - b.rank);
    if (of_a >= 0) {
      append(&s.output, s.terms[0].letters[of_a]);
      shape[count++] = a.shape[of_a];
    }
    if (of_b >= 0) {
      append(&s.output, s.terms[1].letters[of_b]);
      shape[count++] = b.shape[of_b];
    }
  }
  ND4C_TRY(nd4c_emit_reshape(e, step->given, count, shape, &given));
  return differentiate(e, &s, given, index, gradient);
}

/* A chain of matrices; a vector in front is a row, one at the end a column. */
ND4C_GRADIENT(chain) {
  char letters[OPERANDS + 2];
  sum s;
  ND4C_TRY(begin(step, &s));
  ND4C_TRY(name_axes(&s, s.count + 1, letters));
  for (int32_t i = 0; i < s.count; i++) {
    const bool vector = rank_of(e, s.operands[i]) == 1, row = vector && i == 0, column = vector && i > 0;
    if (!row) {
      append(&s.terms[i], letters[i]);
    }
    if (!column) {
      append(&s.terms[i], letters[i + 1]);
    }
    if (i == 0 && !row) {
      append(&s.output, letters[0]);
    }
    if (i == s.count - 1 && !column) {
      append(&s.output, letters[s.count]);
    }
  }
  return differentiate(e, &s, step->given, index, gradient);
}

/* b x g and g x a */
ND4C_GRADIENT(cross) {
  const nd4c_emitted inputs[] = {index == 0 ? step->inputs[1] : step->given,
                                 index == 0 ? step->given : step->inputs[0]};
  const int64_t named = step->attrs[ND4C_ATTR_cross_axis].as.i, rank = rank_of(e, step->given);
  const nd4c_attr axis = nd4c_attr_of_int("axis", named < 0 ? named : named - rank);
  return nd4c_emit(e, ND4C_OP_cross, inputs, 2, &axis, 1, gradient);
}

const nd4c_gradient_row nd4c_gradient_products[] = {ND4C_GRADIENT_PRODUCTS(ROW){ND4C_OP_NONE, NULL}};
