/* Functions that the sections of `nd4c plugin-check` share. Each section runs in a separate process, because a plug-in
 * may crash, hang, or keep state. The section writes lines to standard output, which the parent process
 * (plugin_check.c) reads:
 *
 *     check: fail TEXT       a statement that does not hold
 *     check: note TEXT       what a reader should know, and is no failure
 *     check: skip TEXT       the same, of something that the section was to look at and could not
 *     check: at TEXT         what is being done, for the report of a crash
 *     check: fact KEY TEXT   what the section `tables` read, for other sections
 *     check: end N           statements that hold; the last line
 *
 * Any other line is the plug-in's own. */
#ifndef ND4C_CLI_PLUGIN_CHECK_H
#define ND4C_CLI_PLUGIN_CHECK_H

#include <nd4c/plugin.h>

#include "cli.h"
#include "selftest.h"

/* One section at work, in its own process. */
typedef struct plugin_check {
  const char *path;    /* of the plug-in: absolute */
  const char *pattern; /* of ops; NULL: all */
  int32_t passed, failed;
} plugin_check;

typedef struct plugin_section {
  const char *name;
  const char *doc; /* one line for --help */
  void (*run)(plugin_check *check);
  bool hidden; /* serves other sections */
} plugin_section;

/* -- report.c ------------------------------------------------------------------------------------------------------ */

/* Counts a statement about the plug-in, and reports it if it does not hold. Returns `holds`. */
bool plugin_check_that(plugin_check *check, bool holds, const char *format, ...) ND4C_PRINTF(3, 4);
/* As above, for a call that should have succeeded: the library's text is appended. */
bool plugin_check_status(plugin_check *check, nd4c_status status, const char *format, ...) ND4C_PRINTF(3, 4);
void plugin_check_note(const char *format, ...) ND4C_PRINTF(1, 2);
/* As a note, for a part that the section could not check; the last line of the report names the section. */
void plugin_check_skip(const char *format, ...) ND4C_PRINTF(1, 2);
void plugin_check_fact(const char *format, ...) ND4C_PRINTF(1, 2);
/* Reports the next action, for the report of a crash. */
void plugin_check_at(const char *format, ...) ND4C_PRINTF(1, 2);
/* Writes the last line of a section. */
void plugin_check_end(const plugin_check *check);

/* -- child.c: processes -------------------------------------------------------------------------------------------- */

/* Runs this program with `arguments` (NULL-terminated; argument 0 is its name) and passes the lines of its standard
 * output to the caller. Ends it after `limit` seconds. True if it exited with code 0; else the reason. */
bool plugin_child_run(char *const *arguments, double limit, void (*line)(void *user, const char *line), void *user,
                      char *reason, size_t size);

/* -- load.c: the plug-in's tables, read directly ------------------------------------------------------------------- */

void plugin_section_entry(plugin_check *check);
void plugin_section_probe(plugin_check *check);
void plugin_section_tables(plugin_check *check);

/* The plug-in's provider, from its entry function; NULL after a failure, which is counted. */
const nd4c_provider *plugin_load_provider(plugin_check *check);

/* Checks each property of the table. properties.c */
void plugin_check_properties(plugin_check *check, const nd4c_provider *provider);
void plugin_section_properties(plugin_check *check);

/* -- targets.c: where the plug-in computes, by way of the library -------------------------------------------------- */

enum { PLUGIN_TARGETS = 16, PLUGIN_NAME = 64 };

/* A device, and the engine that is forced there: the plug-in's own device has engine "". */
typedef struct plugin_target {
  char device[PLUGIN_NAME], engine[PLUGIN_NAME];
} plugin_target;

typedef struct plugin_targets {
  plugin_target items[PLUGIN_TARGETS];
  int32_t count;
  char name[PLUGIN_NAME];    /* of the provider */
  char devices[PLUGIN_NAME]; /* name of the backend that the plug-in brings, "" if it brings none */
  bool compiles;             /* it brings compilers: any op may be computed in a plan */
  nd4c_dtype_set *offered;   /* by position of the op in the library's list: dtypes of the plug-in's kernels */
} plugin_targets;

/* Reads the plug-in's tables in another process, loads it into the library, and finds where it computes. False after a
 * failure, which is counted. Free with plugin_targets_free. */
bool plugin_targets_find(plugin_check *check, plugin_targets *targets);
void plugin_targets_free(plugin_targets *targets);
/* A context that computes only on the target: strict, with its engine forced from now on. The caller destroys it. */
nd4c_status plugin_target_enter(const plugin_target *target, nd4c_context **context);
/* Forces the target's engine from now on; without one, no engine is forced. */
nd4c_status plugin_target_force(const plugin_target *target);
/* "stub:0", or "cpu:0 (engine chains)". */
const char *plugin_target_text(const plugin_target *target, char *text, size_t size);

/* -- cases.c: the cases of `nd4c selftest` on targets -------------------------------------------------------------- */

/* Memory layouts of a case's inputs. */
typedef enum plugin_layout {
  PLUGIN_CONTIGUOUS,
  PLUGIN_OFFSET,     /* behind other elements of a larger array */
  PLUGIN_TRANSPOSED, /* the first axis fastest */
  PLUGIN_REVERSED,   /* every stride negative */
  PLUGIN_SPREAD,     /* every second element */
  PLUGIN_LAYOUTS
} plugin_layout;
extern const char *const plugin_layout_names[PLUGIN_LAYOUTS];

/* A case of one dtype, with the reference's results. */
typedef struct plugin_case {
  const selftest_case *c;
  nd4c_dtype dtype;
  nd4c_array *wanted[SELFTEST_OUTPUTS]; /* on the host */
  char label[256];                      /* op, dtype, target */
} plugin_case;

/* A section calls ops eagerly, which asks kernels and the compilers of the plug-in's own devices, or in plans, which
 * ask all compilers. */
typedef enum plugin_scope { PLUGIN_EAGER, PLUGIN_PLANS } plugin_scope;

/* Where a section takes its cases from. */
typedef struct plugin_round {
  plugin_check *check;
  const plugin_target *target;
  nd4c_context *context; /* of the target, strict: what the plug-in does not compute is refused */
  nd4c_context *relaxed; /* of the target's device: others compute what the plug-in does not */
  nd4c_context *host;    /* for comparisons */
  plugin_scope scope;
  void *user;
} plugin_round;

typedef void (*plugin_case_function)(plugin_round *round, const plugin_case *p);
/* Dtypes whose elements `selftest` knows how to compare. */
enum { PLUGIN_DTYPES = 13 };
extern const nd4c_dtype plugin_dtypes[PLUGIN_DTYPES];
/* Whether a name is asked for: patterns are separated by commas, and no pattern stands for all names. */
bool plugin_is_asked(const plugin_check *check, const char *name);
/* What the reference on cpu:0 makes of the case, into p->wanted: released with plugin_arrays_release. The engine that
 * is forced from here on is the reference. */
nd4c_status plugin_case_wanted(plugin_case *p, nd4c_context *host);
/* Calls `function` for each case of an op that the plug-in offers, in each dtype that it offers, on each target; at
 * most `limit` cases for each target (0: no limit). Contexts are made new for each target. Returns whether it brings
 * compilers. */
bool plugin_cases_each(plugin_check *check, plugin_scope scope, int32_t limit, plugin_case_function function,
                       void *user);
/* The inputs of the case on the context's device, lying as `layout` says. *differs: whether any input lies otherwise
 * than contiguously. Release with plugin_arrays_release. */
nd4c_status plugin_case_inputs(const plugin_case *p, plugin_layout layout, nd4c_context *context, nd4c_array **inputs,
                               bool *differs);
/* Computes the case and waits for it. outputs: NULL for fresh ones. */
nd4c_status plugin_case_call(const plugin_case *p, nd4c_array *const *inputs, nd4c_context *context,
                             nd4c_array **outputs);
/* Whether a status says that the plug-in declines the call: a kernel may. */
bool plugin_declined(nd4c_status status);
/* Checks the outputs against the wanted ones. */
bool plugin_case_compare(plugin_check *check, const plugin_case *p, nd4c_context *host, nd4c_array *const *outputs,
                         const char *how);
void plugin_arrays_release(nd4c_array **arrays, int32_t count);

/* Two cases like another one, with different numbers, and larger where the op lets them be. pair.c */
typedef struct plugin_pair_case {
  selftest_case c;
  plugin_case p;
  bool owned[SELFTEST_INPUTS]; /* inputs whose numbers were allocated for this case */
} plugin_pair_case;
typedef struct plugin_pair {
  plugin_pair_case cases[2];
} plugin_pair;
/* Makes the pair with the reference's results; the reference is the forced engine from now on. False: the reference
 * does not compute such a call; then there is nothing to clear. The caller must not move the pair. */
bool plugin_pair_make(const plugin_case *p, nd4c_context *host, plugin_pair *pair);
void plugin_pair_clear(plugin_pair *pair);

/* The axis whose extent changes: of the inputs that have the first one's extent there, or of all. extents.c */
typedef enum plugin_axis { PLUGIN_AXIS_FIRST, PLUGIN_AXIS_LAST, PLUGIN_AXIS_ALIKE } plugin_axis;
/* A copy of the case with that extent, or, where `elements` is above 0, as many elements in each input that changes.
 * False where no input changes or there would be too many elements. Cleared with plugin_extents_clear in any case. */
bool plugin_extents_change(const selftest_case *from, plugin_axis which, int64_t extent, int64_t elements,
                           selftest_case *to);
/* A copy whose first input has NaN, zeros of both signs and, if `infinite`, infinities, which break formulas of some
 * functions of one element. False where the input does not vary. Cleared in the same way. */
bool plugin_extents_special(const selftest_case *from, bool infinite, selftest_case *to);
void plugin_extents_clear(const selftest_case *from, selftest_case *changed);

/* The place of an output in a larger array. outputs.c */
typedef enum plugin_place { PLUGIN_BEGIN, PLUGIN_PART, PLUGIN_EVERY_SECOND } plugin_place;
/* An output like `wanted` inside a larger array: `large` holds bytes `filler` around it and in it. */
nd4c_status plugin_output_make(const nd4c_array *wanted, nd4c_device *device, unsigned char filler, plugin_place place,
                               nd4c_array **large, nd4c_array **view);
/* How many elements of the array do not hold the filler; INT64_MAX where it cannot be read. */
int64_t plugin_output_changed(const nd4c_array *array, unsigned char filler);
/* How many elements of the larger array beside the view do not hold the filler. */
int64_t plugin_output_beside(const nd4c_array *large, const nd4c_array *view, unsigned char filler);
/* Calls `function` for candidates of an op's calls, made from its schema alone, of which inference may refuse most. The
 * function says whether it was a call. Returns how many were. samples.c */
int32_t plugin_samples_each(const nd4c_op_info *op, bool (*function)(void *user, const selftest_case *c), void *user);

/* -- sections that compute ----------------------------------------------------------------------------------------- */

/* Calls `function` for each of the plug-in's own devices. device.c */
void plugin_devices_each(plugin_check *check,
                         void (*function)(plugin_check *check, nd4c_device *device, const char *name));
void plugin_section_open(plugin_check *check); /* device.c */
void plugin_section_memory(plugin_check *check);
void plugin_section_streams(plugin_check *check);
void plugin_section_external(plugin_check *check); /* external.c */
void plugin_section_peers(plugin_check *check);    /* peers.c */
void plugin_section_buffers(plugin_check *check);  /* buffers.c */
void plugin_section_copies(plugin_check *check);   /* copies.c */
void plugin_section_refused(plugin_check *check);
void plugin_section_fences(plugin_check *check); /* order.c */
void plugin_section_times(plugin_check *check);
void plugin_section_recordings(plugin_check *check);
void plugin_section_kernels(plugin_check *check); /* kernels.c */
void plugin_section_loads(plugin_check *check);   /* reload.c */
void plugin_section_own(plugin_check *check);     /* own.c */
void plugin_section_ops(plugin_check *check);     /* compute.c */
void plugin_section_layouts(plugin_check *check);
void plugin_section_values(plugin_check *check);  /* values.c */
void plugin_section_outputs(plugin_check *check); /* outputs.c */
void plugin_section_refusals(plugin_check *check);
void plugin_section_plans(plugin_check *check); /* plans.c */
/* Records the case, followed by other ops, plans it on the target, and runs the plan; what failed is counted. */
void plugin_plan_case(plugin_round *round, const plugin_case *p, const char *how);
/* As above, but returns the plan and does not run it; *plan is NULL if the case cannot be recorded. */
nd4c_status plugin_plan_make(plugin_round *round, const plugin_case *p, nd4c_plan **plan);
/* A plan of several nodes with the case among them, the case's op twice if `again`, in which compilers of the plug-in
 * take part; *own: the case with the reference's results of those nodes, whose `wanted` the caller releases. *plan is
 * NULL if the case cannot be recorded, another backend would compute a node, or no compiler takes part. */
void plugin_plan_compiled(plugin_round *round, const plugin_case *p, bool again, plugin_case *own, nd4c_plan **plan);
/* Runs that plan. outputs: NULL entries receive fresh arrays. */
nd4c_status plugin_plan_run(nd4c_plan *plan, const plugin_case *p, nd4c_array *const *inputs, nd4c_array **outputs);
void plugin_section_segments(plugin_check *check); /* segments.c */
void plugin_section_kept(plugin_check *check);     /* kept.c */
void plugin_section_capture(plugin_check *check);  /* capture.c */
void plugin_section_threads(plugin_check *check);  /* stress.c */
void plugin_section_faults(plugin_check *check);
void plugin_section_exit(plugin_check *check);
void plugin_section_leaks(plugin_check *check); /* leaks.c */

#endif
