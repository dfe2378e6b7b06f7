/* The steps of bodies in a profile: what run_bodies.c gives run_profile.c. */
#ifndef ND4C_CLI_RUN_BODIES_H
#define ND4C_CLI_RUN_BODIES_H

#include "cli.h"
#include "limits.h"

enum { RUN_BODIES = 2 /* of a step: then and else */ };

typedef struct run_body_step {
  int32_t step;  /* of the model's plan */
  char path[64]; /* "3.0": body 0 of step 3; "3.0/2.1": body 1 of step 2 in it */
  char node[64], label[128];
  nd4c_step_info info; /* operations and bytes: of one round; after run_bodies_evaluate of all rounds */
  double *times;       /* by run: all rounds together */
  double rounds;       /* of the latest run */
  double seconds;      /* p50 */
  double limit;        /* share of the machine's limit that it reached; 0: unknown */
} run_body_step;

typedef struct run_bodies {
  run_body_step *rows; /* after run_bodies_evaluate the slowest first */
  double *times;
  int32_t count, runs;
  bool lost; /* memory was exhausted */
} run_bodies;

/* Makes room for the steps of all bodies of the plan that the model ran last. run_bodies_free must follow. */
nd4c_status run_bodies_begin(const nd4c_model *model, int32_t runs, run_bodies *bodies);
/* Notes the times of a run for which a profile was begun. */
nd4c_status run_bodies_note(const nd4c_model *model, run_bodies *bodies, int32_t run);
void run_bodies_evaluate(run_bodies *bodies, const cli_limits *limits);
void run_bodies_free(run_bodies *bodies);
/* whole: seconds of all steps of the model. */
/* " 'Relu_3'"; nothing for a node without a name. */
void run_print_label(const char *label);
void run_bodies_print(const run_bodies *bodies, double whole);
void run_bodies_add(const run_bodies *bodies, double whole, cJSON *object);

#endif
