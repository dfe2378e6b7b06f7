/* Rules that make attributes of an nd4c op from those of an ONNX node. family.h includes it for the rows and emit
 * functions of import/onnx/ops. */
#ifndef ND4C_IMPORT_ONNX_EMISSION_ATTRIBUTES_H
#define ND4C_IMPORT_ONNX_EMISSION_ATTRIBUTES_H

#include "import/onnx/emission/emission.h"

typedef enum nd4c_onnx_rule_kind {
  /* Numbers: a node that lacks the attribute gets the preset. */
  ND4C_ONNX_RULE_INT,
  ND4C_ONNX_RULE_BOOL, /* an integer in ONNX */
  ND4C_ONNX_RULE_FLOAT,
  ND4C_ONNX_RULE_WHOLE, /* an integer in ONNX, a float in nd4c */
  ND4C_ONNX_RULE_WORD,  /* a word in ONNX, its position among `words` in nd4c */
  /* Others. */
  ND4C_ONNX_RULE_INTS,   /* left out if the node has none */
  ND4C_ONNX_RULE_FLOATS, /* likewise */
  ND4C_ONNX_RULE_ONE,    /* an integer in ONNX, a list of one in nd4c; left out if the node has none */
  ND4C_ONNX_RULE_DTYPE,  /* left out if the node has none, or 0 */
  ND4C_ONNX_RULE_TEXT,   /* "" if the node has none */
  ND4C_ONNX_RULE_IGNORED /* does not change what is computed */
} nd4c_onnx_rule_kind;

typedef struct nd4c_onnx_rule {
  const char *onnx, *name; /* what ONNX and nd4c call the attribute; `onnx` NULL ends a list of rules */
  nd4c_onnx_rule_kind kind;
  double preset;            /* if the node lacks the attribute; NAN: refused with FORMAT. For a word: its position */
  const char *const *words; /* ends with NULL */
} nd4c_onnx_rule;

enum { ND4C_ONNX_ATTRS = 32 };

/* Attributes for an op. What they point to lasts as long as the emission. */
typedef struct nd4c_onnx_attrs {
  nd4c_attr list[ND4C_ONNX_ATTRS];
  int32_t count;
} nd4c_onnx_attrs;

/* Begins `attrs` with what the rules of the node's row make. */
nd4c_status nd4c_onnx_read_attrs(nd4c_onnx_emission *emission, nd4c_onnx_attrs *attrs);
/* Adds what one rule makes. */
nd4c_status nd4c_onnx_attrs_read(nd4c_onnx_emission *emission, const nd4c_onnx_rule *rule, nd4c_onnx_attrs *attrs);
/* Adds an attribute. */
void nd4c_onnx_attrs_add(nd4c_onnx_attrs *attrs, nd4c_attr attr);
/* Emits an op with the attributes; its outputs are the node's. */
nd4c_status nd4c_onnx_emit_attrs(nd4c_onnx_emission *emission, nd4c_op op, const nd4c_onnx_operand *inputs,
                                 int32_t input_count, const nd4c_onnx_attrs *attrs);

/* A row of the tables of modes in op_table.h as its name, for lists of words. */
#define ND4C_ONNX_WORD(NAME, number, name) name,

/* The number of an attribute's word in a list that ends with NULL. */
nd4c_status nd4c_onnx_get_word(nd4c_onnx_emission *emission, const char *attribute, const char *preset,
                               const char *const *words, int64_t *number);
/* The dtype that an integer attribute names, or the preset. */
nd4c_status nd4c_onnx_get_dtype(nd4c_onnx_emission *emission, const char *name, nd4c_dtype preset, nd4c_dtype *dtype);

#endif
