/* nd4c_conformance: every op of the table against its record, on one backend. */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "symbolic.h"

static const char usage[] =
    "usage: nd4c_conformance [--backend NAME] [--plugin PATH] [--engine NAME] [--op NAME] [--dtype NAME]\n"
    "                        [--case N] [--layout NAME] [--mode NAME] [--seed N] [--full] [--quick] [--verbose]\n"
    "                        [--records DIR] [--coverage] [--ask] [--symbolic] [--without-libraries]\n"
    "Runs every op record on the backend (default cpu). A failure prints one line that repeats it.\n\n"
    "  --backend NAME  the backend to test: its first device\n"
    "  --plugin PATH   load this plug-in first, with its ops; a path with a '/'\n"
    "  --engine NAME   force one engine of the backend\n"
    "  --op NAME       only this op; --dtype NAME, --case N, --layout NAME, --mode NAME narrow further\n"
    "  --part K/N      the ops at positions K, K + N, ... of the table\n"
    "  --seed N        of the random operands, default 1\n"
    "  --full          every dtype, layout and mode with each of ten seeds\n"
    "  --quick         contiguous operands with fresh results, and mixed ones in one other mode by turns\n"
    "  --verbose       a line for each op\n"
    "  --coverage      how many pairs of op and dtype the backend computes itself, and which not; fails where\n"
    "                  a call copies between devices, or moves more between host and device than its op may\n"
    "  --ask           only asks, of contiguous operands, whether the backend computes the call, and computes nothing\n"
    "  --symbolic      infers with named dims in place of the operands' extents, and computes nothing\n"
    "  --without-libraries  skips calls that answer LIBRARY, because a library that the op loads is not here;\n"
    "                  without it they fail\n"
    "  --records DIR   recorded cases, made by tests/records/generate.py\n"
    "  --help          this text\n\n"
    "Exit code: 0 all passed, 1 something failed, 2 wrong use, 77 the backend or engine is not there.\n";

static bool take_option(cf_options *options, const char *name, const char *value) {
  const struct {
    const char *name;
    const char **value;
  } texts[] = {{"--backend", &options->backend}, {"--plugin", &options->plugin},  {"--engine", &options->engine},
               {"--op", &options->op},           {"--dtype", &options->dtype},    {"--layout", &options->layout},
               {"--mode", &options->mode},       {"--records", &options->records}};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (strcmp(name, texts[i].name) == 0) {
      *texts[i].value = value;
      return true;
    }
  }
  if (strcmp(name, "--case") == 0) {
    options->number = (int32_t)strtol(value, NULL, 10);
    return true;
  }
  if (strcmp(name, "--part") == 0) {
    return sscanf(value, "%d/%d", &options->part, &options->parts) == 2 && options->part >= 0 &&
           options->part < options->parts;
  }
  if (strcmp(name, "--seed") == 0) {
    options->seed = strtoull(value, NULL, 10);
    return true;
  }
  return false;
}

/* False: the program ends with *code. */
static bool parse(int argc, char **argv, cf_options *options, int *code) {
  *options = (cf_options){.backend = "cpu", .number = -1, .seed = 1};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
      (void)fputs(usage, stdout);
      *code = 0;
      return false;
    }
    if (strcmp(argv[i], "--coverage") == 0) {
      options->coverage = true;
    } else if (strcmp(argv[i], "--ask") == 0) {
      options->ask = true;
      options->layout = cf_layout_names[CF_LAYOUT_contiguous];
      options->mode = cf_mode_names[CF_MODE_fresh];
    } else if (strcmp(argv[i], "--symbolic") == 0) {
      options->symbolic = true;
    } else if (strcmp(argv[i], "--without-libraries") == 0) {
      options->without_libraries = true;
    } else if (strcmp(argv[i], "--full") == 0) {
      options->full = true;
    } else if (strcmp(argv[i], "--quick") == 0) {
      options->quick = true;
    } else if (strcmp(argv[i], "--verbose") == 0) {
      options->verbose = true;
    } else if (i + 1 < argc && take_option(options, argv[i], argv[i + 1])) {
      i++;
    } else {
      (void)fprintf(stderr, "nd4c_conformance: '%s' is not known or lacks its value\n%s", argv[i], usage);
      *code = 2;
      return false;
    }
  }
  return true;
}

/* Refuses unknown names as wrong use, because they would match no case without a message. Names with several spellings
 * become the table's. */
static bool find_names(cf_options *o) {
  const nd4c_op_info *op = NULL;
  nd4c_dtype dtype = ND4C_DTYPE_NONE;
  nd4c_status status = o->op != NULL ? nd4c_op_find(o->op, &op) : ND4C_OK;
  if (status == ND4C_OK && o->dtype != NULL) {
    status = nd4c_dtype_find(o->dtype, &dtype);
  }
  if (status != ND4C_OK) {
    (void)fprintf(stderr, "nd4c_conformance: %s: %s\n", op == NULL && o->op != NULL ? "--op" : "--dtype",
                  nd4c_error_message());
    return false;
  }
  o->op = op != NULL ? op->name : NULL;
  o->dtype = o->dtype != NULL ? nd4c_dtype_name(dtype) : NULL;
  return true;
}

/* 77 if the machine lacks the backend or engine. */
static int set_up(cf_run *run) {
  const cf_options *o = &run->options;
  cf_coverage_prepare(o);
  if (nd4c_device_find(o->backend, &run->device) != ND4C_OK) {
    (void)fprintf(stderr, "nd4c_conformance: %s\n", nd4c_error_message());
    return 77;
  }
  if (o->engine != NULL && nd4c_config_set("SD_KERNEL_FORCE_ENGINE", o->engine) != ND4C_OK) {
    (void)fprintf(stderr, "nd4c_conformance: %s\n", nd4c_error_message());
    return 2;
  }
  nd4c_context_options options = {.struct_size = sizeof options, .device = run->device};
  if (nd4c_context_create(&options, &run->context) != ND4C_OK) {
    (void)fprintf(stderr, "nd4c_conformance: %s\n", nd4c_error_message());
    return 1;
  }
  return 0;
}

/* An engine that is built in but cannot run here computes no call, which does not count as a pass. */
static bool engine_is_there(const cf_options *o) {
  for (int32_t i = 0; o->engine != NULL; i++) {
    const char *name = nd4c_backend_engine(o->backend, i);
    if (name == NULL) {
      (void)printf("%s has no engine %s\n", o->backend, o->engine);
      return false;
    }
    if (strcmp(name, o->engine) == 0) {
      (void)printf("engine %s: %s\n", name, nd4c_backend_engine_state(o->backend, i, true));
      return true;
    }
  }
  return true;
}

/* Whether the options select the op, by its part and its name. */
static bool is_asked_for(const cf_options *o, int32_t position, const nd4c_op_info *info) {
  return (o->parts <= 0 || position % o->parts == o->part) && (o->op == NULL || strcmp(o->op, info->name) == 0);
}

static bool wants(const void *options, nd4c_op op) {
  for (int32_t position = 0; position < nd4c_op_count(); position++) {
    if (nd4c_op_at(position)->op == op) {
      return is_asked_for(options, position, nd4c_op_at(position));
    }
  }
  return false;
}

static void run_ops(cf_run *run) {
  const cf_options *o = &run->options;
  for (int32_t position = 0; position < nd4c_op_count(); position++) {
    const nd4c_op_info *info = nd4c_op_at(position);
    const cf_record *record = cf_record_find(info->op);
    if (!is_asked_for(o, position, info)) {
      continue;
    }
    if (record == NULL && o->records == NULL) {
      cf_skip(run, "recorded cases were not given (--records)");
      continue;
    }
    if (record == NULL) {
      (void)printf("op %s has no record in tests/conformance/records.c or tests/records\n", info->name);
      run->totals.failed++;
      continue;
    }
    cf_totals before = run->totals;
    for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
      bool declared = (info->dtypes & ND4C_DTYPE_BIT(dtype)) != 0 && cf_has_dtype(dtype);
      if (declared && (o->dtype == NULL || strcmp(o->dtype, nd4c_dtype_name(dtype)) == 0)) {
        cf_run_record(run, record, dtype);
      }
    }
    if (o->dtype == NULL && o->number < 0 && o->layout == NULL) {
      cf_run_refusals(run, record);
    }
    if (o->verbose) {
      (void)printf("%-16s %lld passed, %lld failed, %lld skipped\n", info->name,
                   (long long)(run->totals.passed - before.passed), (long long)(run->totals.failed - before.failed),
                   (long long)(run->totals.skipped - before.skipped));
    }
  }
}

/* A stub counts violations of the ABI's rules, which a correct caller never commits. */
static void check_plugin(cf_run *run) {
  void *library = run->options.plugin != NULL ? dlopen(run->options.plugin, RTLD_NOW | RTLD_NOLOAD) : NULL;
  void *symbol = library != NULL ? dlsym(library, "stub_counter") : NULL;
  if (symbol == NULL) {
    return;
  }
  int64_t (*counter)(const char *) = NULL;
  memcpy(&counter, &symbol, sizeof symbol);
  int64_t violations = counter("violations");
  if (violations != 0) {
    (void)printf("the plug-in counted %lld violations of the ABI's rules\n", (long long)violations);
    run->totals.failed++;
  }
}

static void report(const cf_run *run) {
  if (run->options.engine != NULL) {
    (void)printf("engine %s computes %lld of %lld contiguous calls\n", run->options.engine, (long long)run->served,
                 (long long)run->asked);
  }
  char *applied = NULL;
  if (nd4c_report_applied(&applied) == ND4C_OK && applied[0] != '\0') {
    (void)printf("requested and not applied:\n%s%s", applied, applied[strlen(applied) - 1] == '\n' ? "" : "\n");
  }
  nd4c_free(applied);
  for (int32_t i = 0; i < run->totals.reason_count; i++) {
    (void)printf("skipped %lld: %s\n", (long long)run->totals.reasons[i].count, run->totals.reasons[i].text);
  }
  (void)printf("%lld passed, %lld failed, %lld skipped\n", (long long)run->totals.passed, (long long)run->totals.failed,
               (long long)run->totals.skipped);
}

int main(int argc, char **argv) {
  static cf_run run;
  int code = 0;
  if (!parse(argc, argv, &run.options, &code)) {
    return code;
  }
  /* first, because it may bring the op that the options name */
  if (run.options.plugin != NULL && nd4c_backend_load(run.options.plugin) != ND4C_OK) {
    (void)fprintf(stderr, "nd4c_conformance: %s\n", nd4c_error_message());
    return 1;
  }
  if (!find_names(&run.options)) {
    return 2;
  }
  if (run.options.records != NULL && !cf_golden_load(run.options.records, wants, &run.options)) {
    return 2;
  }
  if (run.options.symbolic) {
    return cf_run_symbolic(&run, wants);
  }
  code = set_up(&run);
  if (code != 0) {
    return code;
  }
  if (!engine_is_there(&run.options)) {
    return 77;
  }
  uint64_t first = run.options.seed, seeds = run.options.full ? 10 : 1;
  for (uint64_t i = 0; i < seeds; i++) {
    run.options.seed = first + i;
    run_ops(&run);
  }
  check_plugin(&run);
  cf_coverage_print(&run);
  report(&run);
  (void)nd4c_context_destroy(run.context);
  if (run.totals.failed == 0 && run.options.engine != NULL && run.options.op == NULL && run.served == 0) {
    return 77; /* the machine lacks the backend or engine to test */
  }
  return run.totals.failed == 0 && run.totals.passed > 0 ? 0 : 1;
}
