/* Inference rule of einsum, called by nd4c_op_infer (infer.c). The notation is NumPy's: letters name the axes; the axes
 * of "..." are aligned at the last one and broadcast. Spaces have no meaning. */
#include <string.h>

#include "array/shape.h"
#include "base/status.h"
#include "ops/infer/rules.h"

enum { LETTERS = 128, LONGEST = 4096, MOST_OPERANDS = 64, NOT_MET = -1 /* no extent of the graph's dims */ };

typedef struct notation {
  const nd4c_inference *inference;
  const char *text;
  int64_t extents[LETTERS]; /* of letters, or NOT_MET */
  int32_t met[LETTERS];     /* how often in inputs */
  int32_t hidden;           /* axes of the longest "..." */
  int64_t hidden_extents[ND4C_MAX_RANK];
} notation;

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static nd4c_status malformed(const notation *n, const char *what) {
  return nd4c_fail(ND4C_ARGUMENT, "%s: equation '%.200s' %s", n->inference->op->name, n->text, what);
}

/* Reads one list of letters up to a comma, an arrow or the end. */
typedef struct term {
  int32_t count;  /* letters */
  int32_t before; /* letters before "..."; -1 without */
  char letters[ND4C_MAX_RANK];
} term;

static nd4c_status read_term(const notation *n, const char **at, term *t) {
  *t = (term){.before = -1};
  for (; **at != '\0' && **at != ',' && !(**at == '-' && (*at)[1] == '>'); ++*at) {
    if (**at == ' ') {
      continue;
    }
    if (strncmp(*at, "...", 3) == 0) {
      if (t->before >= 0) {
        return malformed(n, "has '...' twice in one operand");
      }
      t->before = t->count;
      *at += 2;
    } else if (!is_letter(**at)) {
      return malformed(n, "has a character that is no letter, comma, '...' or '->'");
    } else if (t->count == ND4C_MAX_RANK) {
      return malformed(n, "has an operand of more than 32 letters");
    } else {
      t->letters[t->count++] = **at;
    }
  }
  return ND4C_OK;
}

static nd4c_status meet(notation *n, int32_t input, int32_t axis, int64_t *extent) {
  int64_t given = n->inference->inputs[input].shape[axis];
  if (*extent == NOT_MET) {
    *extent = given;
  } else if (!nd4c_rule_broadcast_axis(n->inference, *extent, given, extent)) {
    return nd4c_rule_refuse(n->inference, input, ND4C_SHAPE,
                            "axis %d: expected the extent %lld (or 1) that the same letter has before", (int)axis,
                            (long long)*extent);
  }
  return ND4C_OK;
}

static nd4c_status take_input(notation *n, int32_t input, const term *t) {
  const nd4c_tensor *x = &n->inference->inputs[input];
  int32_t hidden = x->rank - t->count;
  if (hidden < 0 || (hidden > 0 && t->before < 0)) {
    return nd4c_rule_refuse(n->inference, input, ND4C_SHAPE, "expected %d axes%s, a letter each", (int)t->count,
                            t->before < 0 ? "" : " or more");
  }
  for (int32_t i = 0; i < t->count; i++) {
    int32_t letter = t->letters[i], axis = t->before >= 0 && i >= t->before ? i + hidden : i;
    for (int32_t k = 0; k < i; k++) {
      int32_t other = t->before >= 0 && k >= t->before ? k + hidden : k;
      if (t->letters[k] == letter && !nd4c_rule_is_equal(n->inference, x->shape[other], x->shape[axis])) {
        return nd4c_rule_refuse(n->inference, input, ND4C_SHAPE, "axes %d and %d have one letter, expected one extent",
                                (int)other, (int)axis);
      }
    }
    ND4C_TRY(meet(n, input, axis, &n->extents[letter]));
    n->met[letter]++;
  }
  for (int32_t i = 0; i < hidden; i++) { /* aligned at the last */
    ND4C_TRY(meet(n, input, t->before + hidden - 1 - i, &n->hidden_extents[ND4C_MAX_RANK - 1 - i]));
  }
  n->hidden = hidden > n->hidden ? hidden : n->hidden;
  return ND4C_OK;
}

static nd4c_status append(notation *n, int64_t extent) {
  nd4c_inferred *output = &n->inference->outputs[0];
  if (output->rank == ND4C_MAX_RANK) {
    return malformed(n, "has a result of more than 32 axes");
  }
  output->shape[output->rank++] = extent;
  return ND4C_OK;
}

static nd4c_status append_hidden(notation *n) {
  for (int32_t i = ND4C_MAX_RANK - n->hidden; i < ND4C_MAX_RANK; i++) {
    ND4C_TRY(append(n, n->hidden_extents[i]));
  }
  return ND4C_OK;
}

/* Without an arrow: "..." and the letters that stand once, in the alphabet's order (capitals first). */
static nd4c_status implicit_output(notation *n) {
  ND4C_TRY(append_hidden(n));
  for (int32_t letter = 0; letter < LETTERS; letter++) {
    if (n->met[letter] == 1) {
      ND4C_TRY(append(n, n->extents[letter]));
    }
  }
  return ND4C_OK;
}

static nd4c_status explicit_output(notation *n, const term *t) {
  if (t->before < 0 && n->hidden > 0) {
    return malformed(n, "leaves out of the result the axes that '...' stands for; expected '...' there");
  }
  for (int32_t i = 0; i <= t->count; i++) {
    if (i == t->before) {
      ND4C_TRY(append_hidden(n));
    }
    if (i == t->count) {
      break;
    }
    if (n->met[(int32_t)t->letters[i]] == 0 || memchr(t->letters, t->letters[i], (size_t)i) != NULL) {
      return malformed(n, "has a letter in the result that no operand has, or that stands there twice");
    }
    ND4C_TRY(append(n, n->extents[(int32_t)t->letters[i]]));
  }
  return ND4C_OK;
}

static nd4c_status einsum_dtype(const nd4c_inference *inference, nd4c_dtype *dtype) {
  *dtype = inference->inputs[0].dtype;
  for (int32_t i = 1; i < inference->input_count; i++) {
    ND4C_TRY(nd4c_rule_accepted_dtype(inference, i));
    ND4C_TRY(nd4c_rule_mix(inference, i, dtype));
  }
  return ND4C_OK;
}

/* Gives: an axis for each letter of the result, in the dtype that the inputs promote to. Without an arrow the result
 * has the letters that occur once, in alphabetical order, behind the axes of an ellipsis. */
nd4c_status nd4c_infer_einsum(nd4c_inference *inference) {
  notation n = {.inference = inference, .text = inference->attrs[ND4C_ATTR_einsum_equation].as.string};
  if (n.text == NULL || strlen(n.text) > LONGEST) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: equation is missing or longer than %d, expected one like 'ij,jk->ik'",
                     inference->op->name, LONGEST);
  }
  if (inference->input_count > MOST_OPERANDS) {
    return nd4c_fail(ND4C_ARGUMENT, "%s: %d arrays given, expected at most %d", inference->op->name,
                     (int)inference->input_count, MOST_OPERANDS);
  }
  memset(n.extents, -1, sizeof n.extents);
  memset(n.hidden_extents, -1, sizeof n.hidden_extents);
  ND4C_TRY(einsum_dtype(inference, &inference->outputs[0].dtype));
  const char *at = n.text;
  term t;
  for (int32_t input = 0; input < inference->input_count; input++) {
    if (input > 0 && *at++ != ',') {
      return malformed(&n, "has fewer operands than arrays were given");
    }
    ND4C_TRY(read_term(&n, &at, &t));
    ND4C_TRY(take_input(&n, input, &t));
  }
  inference->outputs[0].rank = 0;
  if (*at == ',') {
    return malformed(&n, "has more operands than arrays were given");
  }
  if (*at == '\0') {
    return implicit_output(&n);
  }
  at += 2;
  ND4C_TRY(read_term(&n, &at, &t));
  if (*at != '\0') {
    return malformed(&n, "goes on after the result");
  }
  return explicit_output(&n, &t);
}
