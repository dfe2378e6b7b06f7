/* nd4c plugin-check: checks whether a plug-in keeps the rules of the plug-in ABI and computes what the reference does.
 * main.c calls cli_plugin_check; it runs each section of plugin_check/ in a child process. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin_check/check.h"

enum { TEXT = 2304, ARGUMENTS = 12, HANGS = 3 };

/* After a section that did not end, the plug-in is likely to hang in others: they have this part of the time, in
 * seconds at least the second number, so that a report takes minutes and not hours. */
static const double hung_part = 0.05, hung_least = 2;

/* X(NAME, what it looks at, function); in the order in which they run. */
#define SECTION_TABLE(X)                                                                                      \
  X(entry, "the file, its entry function, and every table behind it", plugin_section_entry)                   \
  X(probe, "what its probe answers, and writes", plugin_section_probe)                                        \
  X(properties, "configuration properties that it declares", plugin_section_properties)                       \
  X(open, "the library loads it, and opens its devices", plugin_section_open)                                 \
  X(buffers, "buffers of its devices, asked for directly", plugin_section_buffers)                            \
  X(copies, "parts of buffers, copied and filled at offsets", plugin_section_copies)                          \
  X(refused, "its devices where memory is refused to them", plugin_section_refused)                           \
  X(fences, "whether work has ended where its tables say so", plugin_section_fences)                          \
  X(times, "what its devices tell of the times of work", plugin_section_times)                                \
  X(recordings, "work that is recorded, thrown away, launched", plugin_section_recordings)                    \
  X(kernels, "its kernels in scratch of their own, and memory that they hold", plugin_section_kernels)        \
  X(loads, "executables whose bytes are cut, longer, changed", plugin_section_loads)                          \
  X(memory, "bytes to its devices and back, of many sizes", plugin_section_memory)                            \
  X(external, "memory of others in arrays, and registered host memory", plugin_section_external)              \
  X(streams, "order between streams, and work in flight", plugin_section_streams)                             \
  X(peers, "copies between its devices, and what it tells of them", plugin_section_peers)                     \
  X(own, "ops of its own: inference, references, refusals", plugin_section_own)                               \
  X(ops, "every op that it offers, against the reference", plugin_section_ops)                                \
  X(layouts, "operands behind offsets, transposed, reversed, spread", plugin_section_layouts)                 \
  X(values, "infinities, NaN, large operands, and none at all", plugin_section_values)                        \
  X(outputs, "outputs that the caller gives, in place too", plugin_section_outputs)                           \
  X(refusals, "a kernel that declines says why", plugin_section_refusals)                                     \
  X(plans, "ops in plans, alone and before others", plugin_section_plans)                                     \
  X(segments, "compiled segments with operands behind offsets, many elements, none", plugin_section_segments) \
  X(kept, "executables that its compilers write, and load again", plugin_section_kept)                        \
  X(capture, "a plan run again and again, recorded where a device can", plugin_section_capture)               \
  X(threads, "the same call from several threads at once", plugin_section_threads)                            \
  X(faults, "memory that nd4c refuses to the plug-in, at every place", plugin_section_faults)                 \
  X(leaks, "memory that it takes from nd4c does not grow with each call", plugin_section_leaks)               \
  X(exit, "the process ends while work is in flight", plugin_section_exit)

static const plugin_section sections[] = {
#define SECTION_ROW(NAME, doc, function) {#NAME, doc, function, false},
    SECTION_TABLE(SECTION_ROW)
#undef SECTION_ROW
        {"tables", "what other sections know of its tables", plugin_section_tables, true},
};
enum { SECTIONS = sizeof sections / sizeof sections[0] };

/* What the command was asked for. */
typedef struct request {
  const char *section, *pattern;
  char *path;
  double seconds;
  bool child, verbose;
} request;

/* What a section said. */
typedef struct outcome {
  const plugin_section *section;
  bool verbose, ended;
  bool refused; /* nd4c refuses the plug-in, or one of its devices */
  bool hung;    /* it did not end in time */
  bool skipped; /* there was nothing of what it looks at, or of part of it */
  int passed, failed;
  char at[TEXT]; /* what it was about to do */
} outcome;

enum { SHOWN = 20 }; /* failures of one section, unless all are asked for */

static void take_line(void *user, const char *line) {
  outcome *o = user;
  if (strncmp(line, "check: fail ", 12) == 0) {
    o->failed++;
    if (o->verbose || o->failed <= SHOWN) {
      (void)printf("  FAILED: %s\n", line + 12);
    } else if (o->failed == SHOWN + 1) {
      (void)printf("  FAILED: more; --verbose shows all\n");
    }
  } else if (strncmp(line, "check: note ", 12) == 0) {
    (void)printf("  %s\n", line + 12);
  } else if (strncmp(line, "check: skip ", 12) == 0) {
    o->skipped = true;
    (void)printf("  not checked: %s\n", line + 12);
  } else if (strncmp(line, "check: at ", 10) == 0) {
    (void)snprintf(o->at, sizeof o->at, "%s", line + 10);
  } else if (sscanf(line, "check: end %d", &o->passed) == 1) {
    o->ended = true;
  } else if (strcmp(line, "check: fact refused") == 0) {
    o->refused = true;
  } else if (strncmp(line, "check: fact ", 12) != 0) {
    (void)printf("  > %s\n", line);
  }
}

/* Runs a section in a process of its own, for at most `limit` seconds. */
static outcome run_section(const plugin_section *section, const request *r, double limit) {
  static char program[] = "nd4c", command[] = "plugin-check", child[] = "--child";
  char name[64], pattern[256], reason[256] = "", *arguments[ARGUMENTS] = {program, command, child, name};
  int used = 4;
  outcome o = {.section = section, .verbose = r->verbose};
  (void)snprintf(name, sizeof name, "--section=%s", section->name);
  if (r->pattern != NULL) {
    (void)snprintf(pattern, sizeof pattern, "--ops=%s", r->pattern);
    arguments[used++] = pattern;
  }
  arguments[used] = r->path;
  (void)printf("%s: %s\n", section->name, section->doc);
  (void)fflush(stdout);
  const double begun = cli_seconds();
  const bool sound = plugin_child_run(arguments, limit, take_line, &o, reason, sizeof reason);
  o.hung = !sound && cli_seconds() - begun >= limit;
  if (!sound || !o.ended) {
    o.failed++;
    (void)printf("  FAILED: the process %s%s%s\n", sound ? "ended early" : reason,
                 o.at[0] != '\0' ? ", while at: " : "", o.at);
  }
  (void)printf("  %d statements hold, %d do not (%.1f s)\n", o.passed, o.failed, cli_seconds() - begun);
  (void)fflush(stdout);
  return o;
}

static const plugin_section *find_section(const char *name) {
  for (int i = 0; i < SECTIONS; i++) {
    if (strcmp(sections[i].name, name) == 0) {
      return &sections[i];
    }
  }
  return NULL;
}

/* Why the sections after a failed one are not run; NULL if they are run. */
static const char *reason_to_stop(const outcome *o, int hangs) {
  if (o->section->run == plugin_section_entry) { /* wrong tables have nothing that could be checked further */
    return "the other sections need a sound entry and were not run";
  }
  if (o->section->run == plugin_section_open && (o->refused || !o->ended)) {
    return "the other sections need a plug-in that nd4c opens with all its devices, and were not run";
  }
  return hangs >= HANGS ? "the other sections were not run: three did not end" : NULL;
}

/* Runs all sections that are asked for. Returns how many failed. skipped: of those that found nothing, the names. */
static int run_sections(const request *r, char *skipped, size_t size) {
  const char *reason = NULL;
  double limit = r->seconds;
  int bad = 0, hangs = 0;
  for (int i = 0; i < SECTIONS && reason == NULL; i++) {
    const bool asked = r->section != NULL ? strcmp(r->section, sections[i].name) == 0 : !sections[i].hidden;
    const outcome o = asked ? run_section(&sections[i], r, limit) : (outcome){.section = &sections[i]};
    if (o.skipped) {
      const size_t used = strlen(skipped);
      (void)snprintf(skipped + used, size - used, "%s%s", used > 0 ? ", " : "", sections[i].name);
    }
    if (o.failed > 0) {
      bad++;
      hangs += o.hung;
      reason = r->section == NULL ? reason_to_stop(&o, hangs) : NULL;
    }
    if (o.hung && hangs == 1 && reason == NULL && r->section == NULL) {
      const double shorter = limit * hung_part > hung_least ? limit * hung_part : hung_least;
      limit = shorter < limit ? shorter : limit;
      (void)printf("since this section did not end, each other one has %.3g s\n", limit);
    }
  }
  if (reason != NULL) {
    (void)printf("%s\n", reason);
  }
  return bad;
}

static int run_all(const request *r) {
  char skipped[512] = "";
  const int bad = run_sections(r, skipped, sizeof skipped);
  (void)printf("%s: %s\n", r->path, bad == 0 ? "every statement holds" : "FAILED");
  if (skipped[0] != '\0') {
    (void)printf("not checked, or in part: %s; each section says why\n", skipped);
  }
  const int code = cli_finish(&cli_plugin_check);
  return bad > 0 ? CLI_FAILURE : code;
}

/* Reads the options; false with *code. */
static bool read_request(int argc, char **argv, request *r, int *code) {
  static const struct option options[] = {{"section", required_argument, NULL, 's'},
                                          {"ops", required_argument, NULL, 'o'},
                                          {"seconds", required_argument, NULL, 't'},
                                          {"verbose", no_argument, NULL, 'v'},
                                          {"child", no_argument, NULL, 'c'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
  opterr = 0;
  *r = (request){.seconds = 600};
  for (int option; (option = getopt_long(argc, argv, "hv", options, NULL)) != -1;) {
    switch (option) {
      case 's':
        r->section = optarg;
        break;
      case 'o':
        r->pattern = optarg;
        break;
      case 'v':
        r->verbose = true;
        break;
      case 'c':
        r->child = true;
        break;
      case 't':
        if (!cli_read_number(optarg, 1e6, &r->seconds)) {
          *code = cli_usage(&cli_plugin_check, "--seconds: expected a number above 0, got '%s'", optarg);
          return false;
        }
        break;
      case 'h':
        *code = cli_help(&cli_plugin_check);
        return false;
      default:
        *code = cli_unknown_option(&cli_plugin_check, argv[optind - 1]);
        return false;
    }
  }
  if (r->section != NULL && find_section(r->section) == NULL) {
    *code = cli_usage(&cli_plugin_check, "there is no section '%s'", r->section);
    return false;
  }
  if (argc - optind != 1) {
    *code = cli_usage(&cli_plugin_check, "expected one FILE.so, got %d arguments", argc - optind);
    return false;
  }
  return true;
}

static int run(int argc, char **argv) {
  request r;
  int code = CLI_OK;
  if (!read_request(argc, argv, &r, &code)) {
    return code;
  }
  r.path = realpath(argv[optind], NULL);
  if (r.path == NULL) {
    return cli_fail(&cli_plugin_check, "there is no file '%s'", argv[optind]);
  }
  if (r.child && r.section != NULL) {
    plugin_check check = {.path = r.path, .pattern = r.pattern};
    find_section(r.section)->run(&check);
    plugin_check_end(&check);
  } else {
    code = run_all(&r);
  }
  free(r.path);
  return code;
}

#define SECTION_HELP(NAME, doc, function) "  " #NAME ": " doc "\n"

const cli_command cli_plugin_check = {
    .name = "plugin-check",
    .summary = "whether a plug-in keeps the rules of the ABI and computes what the reference does",
    .help =
        "usage: nd4c plugin-check [OPTIONS] FILE.so\n\n"
        "  --section NAME  this section alone\n"
        "  --ops PATTERNS  ops whose name matches one of them: 'add,conv*'; without any case a section fails\n"
        "  --seconds N     that one section may take, default 600; after one that did not end, N/20\n"
        "  --verbose       every failure, not the first 20 of a section\n"
        "  --help          this text\n\n"
        "sections:\n" SECTION_TABLE(SECTION_HELP) "\n"
        "Each section runs in a process of its own, so that a crash or a hang is a failure of that section. The cases\n"
        "are those of nd4c selftest; the reference of cpu:0 says what is right. writing-a-backend.md (installed in\n"
        "share/doc/nd4c/how-to) is the way to a plug-in that passes. Exit code 1 if one fails.\n\n"
        "examples:\n"
        "  nd4c plugin-check ./libacme.so\n"
        "  nd4c plugin-check --section ops --ops 'add' ./libacme.so\n",
    .run = run,
};
