/* The program nd4c_onnx_cases: ONNX's backend cases, run through the C importer. */
#ifndef ND4C_TESTS_ONNX_CASES_H
#define ND4C_TESTS_ONNX_CASES_H

#include <stdbool.h>

#include "nd4c/nd4c.h"

enum { CASE_TEXT = 512, CASE_REASON = CASE_TEXT - 64 };

typedef enum case_result { CASE_PASSED = 0, CASE_FAILED, CASE_UNSUPPORTED } case_result;

/* One line of cases.txt and what came of it. */
typedef struct onnx_case {
  char *name; /* kind/name */
  char *op;
  double rtol, atol;
  case_result result;
  char reason[CASE_TEXT]; /* of a failure; one line */
} onnx_case;

/* Opens FOLDER/<name>/model.onnx, runs it on the case's inputs and compares the outputs. */
void case_run(const char *folder, onnx_case *one);

/* Whether a value is what was expected; if not, `reason` says what differs. Integers, booleans and texts exactly,
 * floating numbers as numpy.testing.assert_allclose. */
bool case_compare(const nd4c_datum *given, const nd4c_datum *expected, const onnx_case *one, char *reason);

#endif
