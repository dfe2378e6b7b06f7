/* Running the records: options, totals, one case in all its forms. */
#ifndef CONFORMANCE_RUN_H
#define CONFORMANCE_RUN_H

#include "conformance.h"

#define CF_MODES(X) X(fresh) X(given) X(strided) X(in_place) X(shifted) X(plan) X(refusals)
typedef enum cf_mode {
#define CF_MODE_ENUM(name) CF_MODE_##name,
  CF_MODES(CF_MODE_ENUM)
#undef CF_MODE_ENUM
      CF_MODE_COUNT
} cf_mode;
extern const char *const cf_mode_names[CF_MODE_COUNT];

/* NULL and -1: all. */
typedef struct cf_options {
  const char *backend, *engine, *op, *dtype, *layout, *mode, *plugin;
  int32_t number, part, parts; /* of the ops: those whose position is part modulo parts */
  const char *records;
  uint64_t seed;
  bool full, quick, verbose, coverage, ask, without_libraries;
  bool symbolic; /* only infers, with dims in place of extents (symbolic.c) */
} cf_options;

enum { CF_REASONS = 64 };
typedef struct cf_totals {
  int64_t passed, failed, skipped;
  int32_t reason_count;
  struct {
    char text[96];
    int64_t count;
  } reasons[CF_REASONS];
} cf_totals;

typedef struct cf_run {
  cf_options options;
  nd4c_device *device;
  nd4c_context *context;
  cf_totals totals;
  int64_t asked, served; /* contiguous calls with a forced engine, and those for which explain says that it computes */
  /* Contiguous cases of the current op and dtype: those computed, and those of them that used the host. */
  int64_t pair_computed, pair_declined, pair_copied;
} cf_run;

/* Runs a record for a dtype: all its cases, layouts and modes that the options allow. */
void cf_run_record(cf_run *run, const cf_record *record, nd4c_dtype dtype);
/* If the options ask for the table, starts to count the bytes between host and device. Call it before the device is
 * opened. */
void cf_coverage_prepare(const cf_options *options);
/* Whether the dtype is one of those whose pairs are counted. */
bool cf_is_covered(nd4c_dtype dtype);
/* Around one call on `bytes` of operands. end: NULL, or in `text` what was copied through the host: a copy between
 * devices that the library made, or more bytes than the op may read back or write (coverage.c has the list), whether
 * the library or the backend copied them. */
void cf_coverage_begin_call(void);
const char *cf_coverage_end_call(nd4c_op op, nd4c_status status, int64_t bytes, char *text, size_t size);
/* Enters the current pair into the table, and prints the table, if the options ask for it. */
void cf_coverage_note(cf_run *run, nd4c_op op, nd4c_dtype dtype);
void cf_coverage_print(const cf_run *run);

/* Distance that is allowed on the backend: the record's, or what the backend's specification grants if that is more. */
double cf_allowed_ulps(const cf_run *run, nd4c_op op, nd4c_dtype dtype, double ulps);

/* Runs the calls that the op must refuse. */
void cf_run_refusals(cf_run *run, const cf_record *record);

/* The same call recorded in a graph and run twice by a plan. Results are those of the second run. */
nd4c_status cf_plan_call(cf_run *run, const cf_case *c, const nd4c_array *const *inputs, nd4c_array **outputs,
                         int32_t output_count);

/* Dtypes and shapes of a call's results, as fresh tensors that the caller clears; false if a graph refuses the call. */
bool cf_plan_infer(const cf_case *c, cf_tensor *outputs, int32_t output_count);

/* NULL if the result agrees with the oracle, else a text of what differs. Waits for the result. */
const char *cf_check_result(const cf_record *record, const cf_expected *expected, const nd4c_array *result, char *text,
                            size_t size);

/* Where a failure or a skip happened. */
typedef struct cf_place_of_run {
  const char *op, *layout, *mode;
  nd4c_dtype dtype;
  int32_t number, part, parts; /* of the ops: those whose position is part modulo parts */
} cf_place_of_run;
/* One line that reproduces it. */
void cf_fail(cf_run *run, const cf_place_of_run *place, const char *text);
void cf_skip(cf_run *run, const char *reason);

#endif
