/* A case prepared for calls, which run.c and refusals.c share. */
#ifndef CONFORMANCE_PREPARED_H
#define CONFORMANCE_PREPARED_H

#include "run.h"

enum { CF_TEXT = 900 };

/* A case with its arrays on the device. */
typedef struct cf_prepared {
  cf_case c;
  cf_array arrays[CF_INPUTS];
  const nd4c_array *inputs[CF_INPUTS];
  int32_t output_count;
  cf_expected expected[CF_OUTPUTS];
  cf_record record; /* with the tolerances of this case */
  cf_place_of_run place;
} cf_prepared;

/* Fills the case of that number; false if there are no more. */
bool cf_sample_case(const cf_run *run, const cf_record *record, nd4c_dtype dtype, int32_t number, cf_case *c);
/* Puts the inputs of p->c where the layout wants them and asks the oracle. False if the layout applies to no input, or
 * changes recorded inputs: then there is nothing to test. */
bool cf_prepare(cf_run *run, const cf_record *record, cf_layout layout, cf_prepared *p, nd4c_status *status);
void cf_unprepare(cf_prepared *p);
nd4c_status cf_call(cf_run *run, const cf_prepared *p, nd4c_array **outputs);
void cf_release_all(nd4c_array **outputs);
/* True, and counted as a skip, if --without-libraries is given and the call lacked a library that its op loads. */
bool cf_lacks_library(cf_run *run, const cf_place_of_run *place, nd4c_status status);
/* True, and counted as a skip, if the status only means that the backend or engine lacks the op. */
bool cf_skipped_status(cf_run *run, const cf_prepared *p, nd4c_status status);
/* Whether a filter of the options lets a name through. */
bool cf_wanted(const char *filter, const char *name);

#endif
