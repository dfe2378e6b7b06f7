/* The parts of `nd4c run`: its options, its inputs and its outputs. run.c, run_inputs.c and run_outputs.c include this,
 * and compile.c and graph.c for shapes of inputs. */
#ifndef ND4C_CLI_RUN_H
#define ND4C_CLI_RUN_H

#include "cli.h"

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
  bool random, all_intermediates, report, json, plain;
  uint64_t seed;
  int64_t repeat;
  cli_compile compile;
  const char *compiled; /* of --compiled; NULL: none */
  int input_count, shape_count;
  run_named inputs[RUN_NAMED], shapes[RUN_NAMED];
} run_options;

/* Fills inputs[0 .. nd4c_model_input_count - 1], from files or at random; after a failure it has the inputs made so
 * far. Returns an exit code. */
int run_make_inputs(const run_options *options, const nd4c_model *model, nd4c_datum **inputs);

/* NAME=TEXT of `option` into the list. Returns an exit code. */
int run_add_named(const cli_command *command, run_named *list, int *count, const char *text, const char *option);
void run_free_options(run_options *options);
/* The shape of an input: from --shape, else the model's with 1 for free dimensions, which is printed. Returns an exit
 * code. */
int run_find_shape(const cli_command *command, const run_options *options, const nd4c_model_value *value,
                   int64_t *shape, int32_t *rank);

/* Shapes of all inputs of a model, in their order. */
typedef struct run_shapes {
  int32_t *ranks;
  int64_t *extents;       /* ND4C_MAX_RANK for each input */
  const int64_t **shapes; /* into extents */
} run_shapes;
/* As run_find_shape for each input; run_free_shapes must follow, also after a failure. Returns an exit code. */
int run_find_shapes(const cli_command *command, const run_options *options, const nd4c_model *model,
                    run_shapes *shapes);
void run_free_shapes(run_shapes *shapes);

/* Writes each output into its file; `files` (may be NULL) receives a JSON string for each. Returns an exit code. */
int run_write_outputs(const run_options *options, const nd4c_model *model, nd4c_datum *const *outputs, cJSON *list);

#endif
