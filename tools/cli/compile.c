/* nd4c compile: compiles a model ahead of time, also for a device that the machine lacks, to a file for nd4c run
 * --compiled. main.c calls cli_compile_command. */
#include <getopt.h>
#include <stdio.h>

#include "run.h"

typedef struct compile_options {
  run_options run; /* model, output, shapes, compile, plain */
  const char *target;
} compile_options;

static int compile_model(const compile_options *o, nd4c_model *model) {
  run_shapes shapes;
  char *report = NULL;
  int result = run_find_shapes(&cli_compile_command, &o->run, model, &shapes);
  if (result == CLI_OK) {
    const nd4c_status status =
        nd4c_model_compile(model, o->target, shapes.ranks, shapes.shapes, o->run.output, &report);
    result = status == ND4C_OK ? CLI_OK : cli_fail_status(&cli_compile_command, status);
  }
  if (result == CLI_OK) {
    cli_print_text(stdout, report);
    result = cli_finish(&cli_compile_command);
  }
  nd4c_free(report);
  run_free_shapes(&shapes);
  return result;
}

static int compile(compile_options *o) {
  const nd4c_model_options options = {
      .struct_size = sizeof options, .no_optimization = o->run.plain, .compile = cli_compile_request(&o->run.compile)};
  nd4c_model *model = NULL;
  const nd4c_status status = nd4c_model_open(o->run.model, &options, &model);
  if (status != ND4C_OK) {
    return cli_fail_status(&cli_compile_command, status);
  }
  const int result = compile_model(o, model);
  nd4c_model_close(model);
  return result;
}

/* -- command line ------------------------------------------------------------------------------------------------- */

enum { OPT_TARGET = 256, OPT_SHAPE, OPT_DIM, OPT_MATH, OPT_COMPILE, OPT_PLAIN };

static int apply_option(compile_options *o, int option, char *argument) {
  switch (option) {
    case OPT_TARGET:
      o->target = argument;
      return CLI_OK;
    case 'o':
      o->run.output = argument;
      return CLI_OK;
    case OPT_SHAPE:
      return run_add_named(&cli_compile_command, o->run.shapes, &o->run.shape_count, argument, "--shape");
    case OPT_DIM:
      return run_add_named(&cli_compile_command, o->run.dims, &o->run.dim_count, argument, "--dim");
    case OPT_MATH:
      return cli_compile_math(&cli_compile_command, &o->run.compile, argument);
    case OPT_COMPILE:
      return cli_compile_option(&cli_compile_command, &o->run.compile, argument);
    case OPT_PLAIN:
      o->run.plain = true;
      return CLI_OK;
    case 'D':
      return cli_set_property(&cli_compile_command, argument);
    default:
      return CLI_USAGE;
  }
}

static int parse(int argc, char **argv, compile_options *o, bool *help) {
  static const struct option options[] = {{"target", required_argument, NULL, OPT_TARGET},
                                          {"output", required_argument, NULL, 'o'},
                                          {"shape", required_argument, NULL, OPT_SHAPE},
                                          {"dim", required_argument, NULL, OPT_DIM},
                                          {"math", required_argument, NULL, OPT_MATH},
                                          {"compile-option", required_argument, NULL, OPT_COMPILE},
                                          {"no-optimization", no_argument, NULL, OPT_PLAIN},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "o:D:h", options, NULL)) != -1;) {
    *help = option == 'h';
    if (option == '?') {
      return cli_unknown_option(&cli_compile_command, argv[optind - 1]);
    }
    const int result = *help ? CLI_OK : apply_option(o, option, optarg);
    if (*help || result != CLI_OK) {
      return result;
    }
  }
  if (optind + 1 != argc || o->target == NULL || o->run.output == NULL) {
    return optind + 1 != argc
               ? cli_usage(&cli_compile_command, "one model was expected")
               : cli_usage(&cli_compile_command, "%s was expected", o->target == NULL ? "--target" : "--output");
  }
  o->run.model = argv[optind];
  return CLI_OK;
}

static int run(int argc, char **argv) {
  compile_options options = {.target = NULL};
  bool help = false;
  int result = parse(argc, argv, &options, &help);
  result = result == CLI_OK && !help ? cli_check_properties(&cli_compile_command) : result;
  if (result == CLI_OK) {
    result = help ? cli_help(&cli_compile_command) : compile(&options);
  }
  run_free_options(&options.run);
  return result;
}

const cli_command cli_compile_command = {
    .name = "compile",
    .summary = "compile a model ahead of time, for a device that need not be here",
    .help =
        "usage: nd4c compile MODEL --target DEVICE --output FILE [OPTIONS]\n\n"
        "Writes what compilers of the device make of the model's pieces; nd4c run MODEL --compiled FILE loads it "
        "where\n"
        "the device is. nd4c info --probe shows which backends can compile alone (compile-only).\n\n"
        "  --target DEVICE        tpu:0; of a backend that is compile-only, or of one that can run\n"
        "  -o, --output FILE      where the executables go\n"
        "  --shape NAME=2,3       shape of an input; without it what the model leaves free is 1\n"
        "  --dim NAME=N           a number for a dim that inputs leave free, as for nd4c run\n"
        "  --math LEVEL           as for nd4c run, which has to ask for the same\n"
        "  --compile-option KEY=VALUE\n"
        "                         the same\n"
        "  --no-optimization      the same\n"
        "  -D PROPERTY=VALUE      set a property first (nd4c config lists them)\n\n"
        "examples:\n"
        "  nd4c compile model.onnx --target tpu:0 -o model.nd4cexe\n"
        "  nd4c run model.onnx --compiled model.nd4cexe --random-inputs -D BACKEND_TYPE=tpu\n",
    .run = run,
};
