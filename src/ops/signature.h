/* The three parts that rows of a signature of the op table belong to, for macros that need the rows of one part:
 * op.c, words.c and dispatch/typed*.c expand the table with them. */
#ifndef ND4C_OPS_SIGNATURE_H
#define ND4C_OPS_SIGNATURE_H

/* One of three names of macros, by the kind of a row. */
#define ND4C_PART_OF_IN(input, attr, output) input
#define ND4C_PART_OF_OPT(input, attr, output) input
#define ND4C_PART_OF_VAR(input, attr, output) input
#define ND4C_PART_OF_INT(input, attr, output) attr
#define ND4C_PART_OF_BOOL(input, attr, output) attr
#define ND4C_PART_OF_FLOAT(input, attr, output) attr
#define ND4C_PART_OF_INTS(input, attr, output) attr
#define ND4C_PART_OF_FLOATS(input, attr, output) attr
#define ND4C_PART_OF_DTYPE(input, attr, output) attr
#define ND4C_PART_OF_STRING(input, attr, output) attr
#define ND4C_PART_OF_WORD(input, attr, output) attr
#define ND4C_PART_OF_WORDS(input, attr, output) attr
#define ND4C_PART_OF_OUT(input, attr, output) output

/* The macro for rows of one part, ND4C_NO_ROW for those of the others. */
#define ND4C_NO_ROW(...)
#define ND4C_FOR_INPUT(kind, macro) ND4C_PART_OF_##kind(macro, ND4C_NO_ROW, ND4C_NO_ROW)
#define ND4C_FOR_ATTR(kind, macro) ND4C_PART_OF_##kind(ND4C_NO_ROW, macro, ND4C_NO_ROW)
#define ND4C_FOR_OUTPUT(kind, macro) ND4C_PART_OF_##kind(ND4C_NO_ROW, ND4C_NO_ROW, macro)

#endif
