/* nd4c bench: a few quick measurements, one JSON object a line: enough to see whether a machine does what it should.
 * The programs in bench/ measure thoroughly and against others. main.c calls cli_bench. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

enum { ROUNDS = 21 };

/* One measurement: an op on standard inputs. */
typedef struct subject {
  const char *name;
  nd4c_op op;
  nd4c_dtype dtype;
  int32_t inputs, rank;
  int64_t shape[4];
  double work;      /* of one call, in `unit` */
  const char *unit; /* a second */
} subject;

static const subject subjects[] = {
    {"dispatch: add of 8", ND4C_OP_add, ND4C_FLOAT32, 2, 1, {8}, 1, "calls"},
    {"add of 1e6", ND4C_OP_add, ND4C_FLOAT32, 2, 1, {1000000}, 12e6, "bytes"},
    {"add of 1e7", ND4C_OP_add, ND4C_FLOAT32, 2, 1, {10000000}, 120e6, "bytes"},
    {"exp of 1e6", ND4C_OP_exp, ND4C_FLOAT32, 1, 1, {1000000}, 1e6, "elements"},
    {"sum of 1e7", ND4C_OP_sum, ND4C_FLOAT32, 1, 1, {10000000}, 40e6, "bytes"},
    {"softmax of 128 x 1000", ND4C_OP_softmax, ND4C_FLOAT32, 1, 2, {128, 1000}, 128e3, "elements"},
    {"matmul of 512, f32", ND4C_OP_matmul, ND4C_FLOAT32, 2, 2, {512, 512}, 2 * 512e0 * 512 * 512, "flop"},
    {"matmul of 1024, f32", ND4C_OP_matmul, ND4C_FLOAT32, 2, 2, {1024, 1024}, 2 * 1024e0 * 1024 * 1024, "flop"},
    {"matmul of 512, f64", ND4C_OP_matmul, ND4C_FLOAT64, 2, 2, {512, 512}, 2 * 512e0 * 512 * 512, "flop"},
};

/* How many calls last about two milliseconds. */
static nd4c_status calls_a_round(const subject *s, const nd4c_array *const *inputs, nd4c_array **y, int64_t *calls) {
  for (*calls = 1; *calls < (INT64_C(1) << 40); *calls *= 2) {
    const double begin = cli_seconds();
    for (int64_t i = 0; i < *calls; i++) {
      const nd4c_status status = nd4c_op_call(NULL, s->op, inputs, s->inputs, NULL, 0, y, 1);
      if (status != ND4C_OK) {
        return status;
      }
    }
    const nd4c_status status = nd4c_array_wait(*y);
    if (status != ND4C_OK || cli_seconds() - begin > 2e-3) {
      return status;
    }
  }
  return ND4C_OK;
}

/* Seconds of a call by round, into the output made by the first call. */
static nd4c_status measure(const subject *s, const nd4c_array *const *inputs, double *times) {
  nd4c_array *y = NULL;
  int64_t calls = 0;
  nd4c_status status = calls_a_round(s, inputs, &y, &calls);
  for (int round = 0; status == ND4C_OK && round < ROUNDS; round++) {
    const double begin = cli_seconds();
    for (int64_t i = 0; status == ND4C_OK && i < calls; i++) {
      status = nd4c_op_call(NULL, s->op, inputs, s->inputs, NULL, 0, &y, 1);
    }
    if (status == ND4C_OK) {
      status = nd4c_array_wait(y);
    }
    times[round] = (cli_seconds() - begin) / (double)calls;
  }
  nd4c_array_release(y);
  return status;
}

static int tell(const subject *s, double *times) {
  cli_sort(times, ROUNDS);
  cJSON *line = cJSON_CreateObject();
  (void)cJSON_AddStringToObject(line, "name", s->name);
  (void)cJSON_AddStringToObject(line, "dtype", nd4c_dtype_name(s->dtype));
  cli_add_times(line, times, ROUNDS);
  (void)cJSON_AddNumberToObject(line, "per_second", s->work / cli_percentile(times, ROUNDS, 50));
  (void)cJSON_AddStringToObject(line, "unit", s->unit);
  (void)cJSON_AddNumberToObject(line, "rounds", ROUNDS);
  return cli_print_json(&cli_bench, line, true);
}

static int measure_and_tell(const subject *s) {
  nd4c_array *inputs[2] = {NULL, NULL};
  double times[ROUNDS];
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < s->inputs && status == ND4C_OK; i++) {
    status = nd4c_array_full(s->dtype, s->rank, s->shape, 0.5 + i, NULL, &inputs[i]);
  }
  if (status == ND4C_OK) {
    status = measure(s, (const nd4c_array *const *)inputs, times);
  }
  nd4c_array_release(inputs[0]);
  nd4c_array_release(inputs[1]);
  return status == ND4C_OK ? tell(s, times) : cli_fail_status(&cli_bench, status);
}

static int run(int argc, char **argv) {
  static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, "D:h", options, NULL)) != -1;) {
    switch (option) {
      case 'D':
        if (cli_set_property(&cli_bench, optarg) != CLI_OK) {
          return CLI_USAGE;
        }
        break;
      case 'h':
        return cli_help(&cli_bench);
      default:
        return cli_unknown_option(&cli_bench, argv[optind - 1]);
    }
  }
  if (argc - optind > 1) {
    return cli_usage(&cli_bench, "one pattern at most, '%s' is another", argv[optind + 1]);
  }
  int result = cli_check_properties(&cli_bench), shown = 0;
  if (result != CLI_OK) {
    return result;
  }
  for (size_t i = 0; i < sizeof subjects / sizeof subjects[0] && result == CLI_OK; i++) {
    if (optind == argc || strstr(subjects[i].name, argv[optind]) != NULL) {
      result = measure_and_tell(&subjects[i]);
      shown++;
    }
  }
  return shown > 0 ? result : cli_fail(&cli_bench, "no measurement's name contains '%s'", argv[optind]);
}

const cli_command cli_bench = {
    .name = "bench",
    .summary = "measure a few ops quickly; one JSON object a line",
    .help =
        "usage: nd4c bench [-D PROPERTY=VALUE]... [PART OF A NAME]\n\n"
        "  min_seconds, p50_seconds, p90_seconds, p99_seconds and max_seconds are of one call, over 21 rounds;\n"
        "  per_second counts unit at p50.\n"
        "  -D  set a property first\n\n"
        "examples:\n"
        "  nd4c bench\n"
        "  nd4c bench matmul -D SD_KERNEL_FORCE_ENGINE=openblas\n",
    .run = run,
};
