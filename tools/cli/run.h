/* The parts of `nd4c run`: its options, its inputs and its outputs. run.c, run_inputs.c and run_outputs.c include this,
 * and compile.c and graph.c for shapes of inputs. */
#ifndef ND4C_CLI_RUN_H
#define ND4C_CLI_RUN_H

#include "cli.h"
#include "limits.h"
#include "run_bodies.h"

enum { RUN_NAMED = 256, RUN_DEVICES = 8 };

/* One NAME=TEXT of the command line; `name` is allocated, `text` points into argv. */
typedef struct run_named {
  char *name;
  const char *text;
} run_named;

typedef struct run_options {
  const char *model;
  const char *output;
  char *devices;     /* of --devices, in argv */
  const char *trace; /* file for the Chrome trace; "-": the table alone; NULL: nothing is recorded */
  bool tensors;      /* --format pb */
  bool random, all_intermediates, report, json, plain, profile;
  uint64_t seed;
  int64_t repeat; /* 0: not given */
  cli_compile compile;
  const char *compiled;    /* of --compiled; NULL: none */
  nd4c_dtype precision;    /* of --precision; ND4C_DTYPE_NONE: the model's */
  const char *calibration; /* of --calibration; NULL: none */
  int input_count, shape_count, dim_count;
  run_named inputs[RUN_NAMED], shapes[RUN_NAMED], dims[RUN_NAMED];
} run_options;

/* Fills inputs[0 .. nd4c_model_input_count - 1], from files or at random; after a failure it has the inputs made so
 * far. Returns an exit code. */
int run_make_inputs(const run_options *options, const nd4c_model *model, nd4c_datum **inputs);

/* How long each step of the model's plan takes. */
typedef struct run_profile {
  int32_t step_count, runs;
  struct run_profiled_step *steps; /* the slowest first */
  double seconds;                  /* p50 of all steps together */
  double *without, *with; /* times of the runs without and with a profile, sorted by run_profile_add or _print */
  cli_limits limits;
  run_bodies bodies;
} run_profile;

enum { RUN_PROFILES = 1000 }; /* most runs of a profile */

/* Profiles `runs` runs by `once`, in turns with as many runs without a profile, and measures the machine's limits. The
 * model has run before. run_profile_free must follow, also after a failure. Returns an exit code. */
int run_profile_measure(nd4c_model *model, nd4c_status (*once)(void *user), void *user, int32_t runs,
                        run_profile *profile);
void run_profile_free(run_profile *profile);
/* Both return false if memory is exhausted; `model` has the nodes' names. */
bool run_profile_add(const nd4c_model *model, const run_profile *profile, cJSON *root);
bool run_profile_print(const nd4c_model *model, const run_profile *profile);

/* NAME=TEXT of `option` into the list. Returns an exit code. */
int run_add_named(const cli_command *command, run_named *list, int *count, const char *text, const char *option);
void run_free_options(run_options *options);
/* Checks that each --dim names an extent that an input leaves free, and has a number. Returns an exit code. */
int run_check_dims(const cli_command *command, const run_options *options, const nd4c_model *model);
/* The shape of an input: from --shape, else the model's with the numbers of --dim for free dimensions, and 1 for the
 * others, which is printed. run_check_dims has passed. Returns an exit code. */
int run_find_shape(const cli_command *command, const run_options *options, const nd4c_model_value *value,
                   int64_t *shape, int32_t *rank);

/* Shapes of all inputs of a model, in their order. */
typedef struct run_shapes {
  int32_t *ranks;
  int64_t *extents;       /* ND4C_MAX_RANK for each input */
  const int64_t **shapes; /* into extents */
} run_shapes;
/* As run_find_shape for each input, once each --shape and --dim is known to name something; run_free_shapes must
 * follow, also after a failure. Returns an exit code. */
int run_find_shapes(const cli_command *command, const run_options *options, const nd4c_model *model,
                    run_shapes *shapes);
void run_free_shapes(run_shapes *shapes);

/* Writes each output into its file; `files` (may be NULL) receives a JSON string for each. Returns an exit code. */
int run_write_outputs(const run_options *options, const nd4c_model *model, nd4c_datum *const *outputs, cJSON *list);

#endif
