/* Cases of `nd4c selftest`, from selftest.txt (tests/tools/make_selftest.py), and the comparison of results. selftest.c
 * and plugin_check/ use both. */
#ifndef ND4C_CLI_SELFTEST_H
#define ND4C_CLI_SELFTEST_H

#include <nd4c/nd4c.h>
#include <stdbool.h>
#include <stddef.h>

enum { SELFTEST_INPUTS = 24, SELFTEST_ATTRS = 24, SELFTEST_RANK = 8, SELFTEST_OUTPUTS = 8 };

/* One input of a case. */
typedef struct selftest_input {
  nd4c_dtype dtype; /* NONE: left out */
  bool varies;      /* takes the dtype under test */
  int32_t rank;
  int64_t shape[SELFTEST_RANK];
  int64_t count;
  double *reals;     /* the elements as numbers */
  int64_t *integers; /* the same, where every one is an integer; else NULL */
} selftest_input;

/* One case: an op with attributes and inputs. Freed by selftest_case_clear. */
typedef struct selftest_case {
  const nd4c_op_info *op;
  bool sample; /* for floor.c, which computes nothing: inputs may lack elements */
  int32_t input_count, attr_count;
  selftest_input inputs[SELFTEST_INPUTS];
  nd4c_attr attrs[SELFTEST_ATTRS];
  char *text; /* behind names and strings of attributes */
  void *lists[SELFTEST_ATTRS];
} selftest_case;

/* Reads the case that begins at *position and moves on; false at the end. *status: FORMAT if the text is damaged,
 * MEMORY. Skips an op that this build lacks. */
bool selftest_case_next(const char **position, selftest_case *c, nd4c_status *status);
/* The same with the samples, which selftest_case_next leaves out. */
bool selftest_sample_next(const char **position, selftest_case *c, nd4c_status *status);
void selftest_case_clear(selftest_case *c);

/* The embedded text with all cases. */
extern const char selftest_cases[];

/* Makes the input as a fresh array of the dtype (its own dtype, if it does not vary) on the device. */
nd4c_status selftest_array(const selftest_input *input, nd4c_dtype dtype, nd4c_device *device, nd4c_array **array);

/* NULL if `got` is what `wanted` says: the same dtype, shape and elements, real ones within some units in the last
 * place (of the element, or of a part of the largest if that is more); else what differs, written into `text`.
 * Both are read on the host, in the given context of it. */
const char *selftest_difference(nd4c_context *host, const nd4c_array *wanted, const nd4c_array *got, char *text,
                                size_t size);

#endif
