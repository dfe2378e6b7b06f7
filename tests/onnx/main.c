/* nd4c_onnx_cases FOLDER [--filter TEXT] [--only-failed] [--summary] [--dims COUNT] [--known FILE [--update]]
 *
 * The test onnx.cases runs this program on a FOLDER that materialise.py made. One line a case: "pass", "fail" with the
 * reason, "unsupported" with the reason, or "skip" with the library that the machine lacks; then a table by op and the
 * totals. --known: a case that fails and is not listed, or is listed and passes, is an error; --update writes the list
 * anew: existing reasons stay, a new failure gets the library's text. --dims: every extent of a model's inputs is a dim
 * of its graph (nd4c.model.dims); the totals then say how many cases ran on such a graph, and, by reason, how many on
 * one for their shapes alone. Fewer than COUNT on such a graph are an error. Cases whose expected values are random are
 * judged by their law (case_law.c). */
#define _DEFAULT_SOURCE /* strdup */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnx_cases.h"

enum { MOST_CASES = 4096, LINE = 2048 };

typedef struct options {
  const char *folder, *filter, *known;
  bool only_failed, summary, update, dims;
  int least_dims;
} options;

typedef struct case_list {
  onnx_case *cases;
  int count;
} case_list;

static void stop(const char *what, const char *text) {
  (void)fprintf(stderr, "nd4c_onnx_cases: %s%s\n", what, text);
  exit(2);
}

static char *copy_text(const char *text) {
  char *copy = strdup(text);
  if (copy == NULL) {
    stop("out of memory", "");
  }
  return copy;
}

static case_list read_list(const options *chosen) {
  char path[LINE], line[LINE];
  case_list list = {calloc(MOST_CASES, sizeof(onnx_case)), 0};
  (void)snprintf(path, sizeof path, "%s/cases.txt", chosen->folder);
  FILE *file = fopen(path, "r");
  if (file == NULL || list.cases == NULL) {
    stop("cannot read (run tests/onnx/materialise.py first): ", path);
  }
  while (fgets(line, sizeof line, file) != NULL && list.count < MOST_CASES) {
    char kind[64], name[512], op[256], full[640];
    onnx_case *one = &list.cases[list.count];
    if (line[0] == '#' || sscanf(line, "%63s %511s %lf %lf %255s", kind, name, &one->rtol, &one->atol, op) != 5) {
      continue;
    }
    (void)snprintf(full, sizeof full, "%s/%s", kind, name);
    if (chosen->filter != NULL && strstr(full, chosen->filter) == NULL && strcmp(op, chosen->filter) != 0) {
      continue;
    }
    one->name = copy_text(full);
    one->op = copy_text(op);
    list.count++;
  }
  (void)fclose(file);
  return list;
}

/* -- table ----------------------------------------------------------------------------------------------------- */

static int by_op(const void *a, const void *b) {
  const onnx_case *x = *(const onnx_case *const *)a, *y = *(const onnx_case *const *)b;
  const int order = strcmp(x->op, y->op);
  return order != 0 ? order : strcmp(x->name, y->name);
}

/* One line an op that has failures: how many of its cases pass, and why the first one does not. */
static void print_table(const case_list *list) {
  const onnx_case **sorted = calloc((size_t)list->count + 1, sizeof *sorted);
  if (sorted == NULL) {
    stop("out of memory", "");
  }
  for (int i = 0; i < list->count; i++) {
    sorted[i] = &list->cases[i];
  }
  qsort((void *)sorted, (size_t)list->count, sizeof *sorted, by_op);
  (void)printf("\nops with failures: passed of all, first reason\n");
  for (int i = 0, next = 0; i < list->count; i = next) {
    const onnx_case *failed = NULL;
    int passed = 0;
    for (next = i; next < list->count && strcmp(sorted[next]->op, sorted[i]->op) == 0; next++) {
      passed += sorted[next]->result == CASE_PASSED;
      const bool is_failure = sorted[next]->result == CASE_FAILED || sorted[next]->result == CASE_UNSUPPORTED;
      failed = failed == NULL && is_failure ? sorted[next] : failed;
    }
    if (failed != NULL) {
      (void)printf("%-32s %4d of %4d  %.160s\n", sorted[i]->op, passed, next - i, failed->reason);
    }
  }
  free((void *)sorted);
}

static void print_totals(const case_list *list) {
  int passed = 0, failed = 0, unsupported = 0, skipped = 0, by_law = 0;
  for (int i = 0; i < list->count; i++) {
    by_law += list->cases[i].result == CASE_PASSED && case_law_find(list->cases[i].name) != NULL;
    passed += list->cases[i].result == CASE_PASSED;
    failed += list->cases[i].result == CASE_FAILED;
    unsupported += list->cases[i].result == CASE_UNSUPPORTED;
    skipped += list->cases[i].result == CASE_SKIPPED;
  }
  (void)printf("\n%d cases: %d passed (%d by the law of random values), %d failed, %d unsupported, %d skipped\n",
               list->count, passed, by_law, failed, unsupported, skipped);
}

/* -- dims -------------------------------------------------------------------------------------------------------- */

static int by_alone(const void *a, const void *b) {
  const onnx_case *x = *(const onnx_case *const *)a, *y = *(const onnx_case *const *)b;
  const int order = strcmp(x->alone, y->alone);
  return order != 0 ? order : strcmp(x->name, y->name);
}

/* Prints and gives how many cases ran on a graph with dims; of the others, how many for each reason, with an example.
 */
static int print_dims(const case_list *list) {
  static const char *const words[] = {"on a graph with dims", "interpreted", "refused"};
  const onnx_case **sorted = calloc((size_t)list->count + 1, sizeof *sorted);
  int counts[CASE_IMPORTS] = {0};
  int alone = 0;
  if (sorted == NULL) {
    stop("out of memory", "");
  }
  for (int i = 0; i < list->count; i++) {
    counts[list->cases[i].import]++;
    if (list->cases[i].import == CASE_ALONE) {
      sorted[alone++] = &list->cases[i];
    }
  }
  qsort((void *)sorted, (size_t)alone, sizeof *sorted, by_alone);
  for (int i = 0; i < CASE_ALONE; i++) {
    (void)printf("%5d cases %s\n", counts[i], words[i]);
  }
  (void)printf("%5d cases for their shapes alone:\n", alone);
  for (int i = 0, next = 0; i < alone; i = next) {
    while (next < alone && strcmp(sorted[next]->alone, sorted[i]->alone) == 0) {
      next++;
    }
    (void)printf("%5d  %s (%s)\n", next - i, sorted[i]->alone, sorted[i]->name);
  }
  free((void *)sorted);
  return counts[CASE_DIMS];
}

/* -- known failures -------------------------------------------------------------------------------------------- */

/* Lines "kind/name reason"; '#' begins a comment. Keeps the reasons with the cases. Returns the number of wrong
 * lines. */
static int read_known(const case_list *list, const options *chosen, char **reasons) {
  char line[LINE];
  int wrong = 0;
  FILE *file = fopen(chosen->known, "r");
  if (file == NULL) {
    stop("cannot read ", chosen->known);
  }
  while (fgets(line, sizeof line, file) != NULL) {
    char name[640];
    int reason = 0, found = -1;
    line[strcspn(line, "\n")] = '\0';
    if (line[0] == '#' || sscanf(line, "%639s %n", name, &reason) != 1) {
      continue;
    }
    for (int i = 0; i < list->count && found < 0; i++) {
      found = strcmp(list->cases[i].name, name) == 0 ? i : -1;
    }
    if (line[reason] == '\0' || (found < 0 && chosen->filter == NULL)) {
      (void)printf("known: %s %s\n", name, line[reason] == '\0' ? "has no reason" : "is no case");
      wrong++;
    } else if (found >= 0) {
      free(reasons[found]);
      reasons[found] = copy_text(line + reason);
    }
  }
  (void)fclose(file);
  return wrong;
}

static int compare_known(const case_list *list, char *const *reasons) {
  int wrong = 0;
  for (int i = 0; i < list->count; i++) {
    const bool passed = list->cases[i].result == CASE_PASSED;
    if (list->cases[i].result != CASE_SKIPPED && passed == (reasons[i] != NULL)) {
      (void)printf("known: %s %s\n", list->cases[i].name,
                   passed ? "is listed, but passes: remove it" : "fails and is not listed");
      wrong++;
    }
  }
  return wrong;
}

static void write_known(const case_list *list, const options *chosen, char *const *reasons) {
  FILE *file = fopen(chosen->known, "w");
  if (file == NULL) {
    stop("cannot write ", chosen->known);
  }
  (void)fprintf(
      file,
      "# Cases that fail, each with the reason; nd4c_onnx_cases --known checks the list, --update renews it. One that "
      "passes\n# is an error, too.\n");
  for (int i = 0; i < list->count; i++) {
    const onnx_case *one = &list->cases[i];
    if (one->result == CASE_SKIPPED ? reasons[i] != NULL : one->result != CASE_PASSED) {
      (void)fprintf(file, "%s %s\n", one->name, reasons[i] != NULL ? reasons[i] : one->reason);
    }
  }
  (void)fclose(file);
}

static int check_known(const case_list *list, const options *chosen) {
  char **reasons = calloc((size_t)list->count + 1, sizeof *reasons);
  if (reasons == NULL) {
    stop("out of memory", "");
  }
  int wrong = read_known(list, chosen, reasons);
  if (chosen->update && chosen->filter == NULL) {
    write_known(list, chosen, reasons);
    wrong = 0;
  } else {
    wrong += compare_known(list, reasons);
  }
  for (int i = 0; i < list->count; i++) {
    free(reasons[i]);
  }
  free(reasons);
  return wrong;
}

/* 1 with a message if no case has that name. */
static int check_name(const case_list *list, const char *what, const char *name) {
  for (int i = 0; i < list->count; i++) {
    if (strcmp(list->cases[i].name, name) == 0) {
      return 0;
    }
  }
  (void)printf("%s: %s is no case\n", what, name);
  return 1;
}

/* A law without a case is a mistake in case_law.c, a need in case_needs.c. Returns the number of such mistakes. */
static int check_names(const case_list *list) {
  int wrong = 0;
  for (int i = 0; case_law_at(i) != NULL; i++) {
    wrong += check_name(list, "law", case_law_name(case_law_at(i)));
  }
  for (int i = 0; case_needs_at(i) != NULL; i++) {
    wrong += check_name(list, "need", case_needs_at(i));
  }
  return wrong;
}

/* -- program --------------------------------------------------------------------------------------------------- */

static options parse(int argc, char **argv) {
  options chosen = {0};
  for (int i = 1; i < argc; i++) {
    const bool has_value = i + 1 < argc;
    if (strcmp(argv[i], "--only-failed") == 0) {
      chosen.only_failed = true;
    } else if (strcmp(argv[i], "--summary") == 0) {
      chosen.summary = true;
    } else if (strcmp(argv[i], "--dims") == 0 && has_value) {
      chosen.dims = true;
      chosen.least_dims = (int)strtol(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--update") == 0) {
      chosen.update = true;
    } else if (strcmp(argv[i], "--filter") == 0 && has_value) {
      chosen.filter = argv[++i];
    } else if (strcmp(argv[i], "--known") == 0 && has_value) {
      chosen.known = argv[++i];
    } else if (argv[i][0] != '-' && chosen.folder == NULL) {
      chosen.folder = argv[i];
    } else {
      stop("FOLDER [--filter TEXT] [--only-failed] [--summary] [--dims COUNT] [--known FILE [--update]] expected, not ",
           argv[i]);
    }
  }
  if (chosen.folder == NULL) {
    stop("FOLDER is missing", "");
  }
  return chosen;
}

int main(int argc, char **argv) {
  static const char *const words[] = {"pass", "fail", "unsupported", "skip"};
  const options chosen = parse(argc, argv);
  case_list list = read_list(&chosen);
  int failures = 0;
  if (chosen.dims && nd4c_config_set("nd4c.model.dims", "all") != ND4C_OK) {
    stop("nd4c.model.dims: ", nd4c_error_message());
  }
  for (int i = 0; i < list.count; i++) {
    onnx_case *one = &list.cases[i];
    case_run(chosen.folder, one);
    failures += one->result == CASE_FAILED || one->result == CASE_UNSUPPORTED;
    if (!chosen.summary && (one->result != CASE_PASSED || !chosen.only_failed)) {
      (void)printf("%s %s%s%s\n", words[one->result], one->name, one->reason[0] != '\0' ? ": " : "", one->reason);
      (void)fflush(stdout); /* a crash leaves the name of the case before it */
    }
  }
  print_table(&list);
  print_totals(&list);
  const bool few = chosen.dims && print_dims(&list) < chosen.least_dims;
  if (chosen.known != NULL) {
    failures = check_known(&list, &chosen) + (chosen.filter == NULL ? check_names(&list) : 0);
  }
  for (int i = 0; i < list.count; i++) {
    free(list.cases[i].name);
    free(list.cases[i].op);
  }
  free(list.cases);
  if (few) {
    (void)printf("fewer than %d cases on a graph with dims\n", chosen.least_dims);
  }
  return failures > 0 || few || list.count == 0;
}
