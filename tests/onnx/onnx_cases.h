/* The program nd4c_onnx_cases: ONNX's backend cases, run through the C importer. */
#ifndef ND4C_TESTS_ONNX_CASES_H
#define ND4C_TESTS_ONNX_CASES_H

#include <stdbool.h>

#include "nd4c/nd4c.h"

enum { CASE_TEXT = 512, CASE_REASON = CASE_TEXT - 64 };

typedef enum case_result { CASE_PASSED = 0, CASE_FAILED, CASE_UNSUPPORTED, CASE_SKIPPED } case_result;

/* How the model of a case was imported at its last run. */
typedef enum case_import { CASE_DIMS = 0, CASE_INTERPRETED, CASE_REFUSED, CASE_ALONE, CASE_IMPORTS } case_import;

/* One line of cases.txt and its result. */
typedef struct onnx_case {
  char *name; /* kind/name */
  char *op;
  double rtol, atol;
  case_result result;
  char reason[CASE_TEXT]; /* of a failure; one line */
  case_import import;
  char alone[CASE_TEXT]; /* CASE_ALONE: why */
} onnx_case;

/* The library that a case needs and this machine lacks, NULL if it lacks none (case_needs.c); the index-th case that
 * needs one, NULL past the end. */
const char *case_lacks(const char *name);
const char *case_needs_at(int index);

/* Opens FOLDER/<name>/model.onnx, runs it on the case's inputs and compares the outputs, or judges them by the case's
 * law. */
void case_run(const char *folder, onnx_case *one);

/* Whether a value equals the expected one; if not, `reason` says what differs. Integers, booleans and texts are
 * compared exactly, floating numbers as by numpy.testing.assert_allclose. */
bool case_compare(const nd4c_datum *given, const nd4c_datum *expected, const onnx_case *one, char *reason);
/* Whether the dtypes and shapes are the same. */
bool case_same_type(const nd4c_array *given, const nd4c_array *expected, char *reason);

/* -- cases whose expected values are one draw of a random law (case_law.c) ---------------------------------------- */

typedef struct onnx_law onnx_law;
typedef struct onnx_draws onnx_draws;

/* The law of a case, NULL if its values are not random; the index-th law, NULL past the end. */
const onnx_law *case_law_find(const char *name);
const onnx_law *case_law_at(int index);
const char *case_law_name(const onnx_law *law);
const char *case_law_reason(const onnx_law *law);

/* Gathers draws (free ends them): each is a run of the model, opened anew. case_draws_add judges the values of one
 * draw, case_draws_judge how frequent they were; `reason` says what contradicts the law. */
onnx_draws *case_draws_new(const onnx_law *law);
bool case_draws_want_more(const onnx_draws *draws);
bool case_draws_add(onnx_draws *draws, const onnx_case *one, nd4c_datum *const *inputs, nd4c_datum *const *outputs,
                    int32_t output_count, char *reason);
bool case_draws_judge(const onnx_draws *draws, char *reason);

#endif
