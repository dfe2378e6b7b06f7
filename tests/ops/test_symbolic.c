/* Inference with symbolic extents: the records of test_infer.c with dims in place of extents (symbolic_check.h), and
 * what single rules say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record.h"
#include "symbolic_check.h"

/* -- records ----------------------------------------------------------------------------------------------------- */

static void check_records(const char *name, sc_report *report) {
  char path[1024], line[2048];
  (void)snprintf(path, sizeof path, "%s/tests/data/ops/%s", ND4C_TEST_SOURCE_DIR, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  for (int number = 1; fgets(line, sizeof line, file) != NULL; number++) {
    record self;
    char *arrow = strstr(line, " -> ");
    if (line[0] == '#' || arrow == NULL) {
      continue;
    }
    *arrow = '\0';
    if (!record_parse(&self, line) ||
        nd4c_op_resolve_attrs(&self.def->info, self.named, self.attr_count, self.attrs) != ND4C_OK) {
      continue;
    }
    sc_check(report, self.def, self.input_count, self.inputs, self.attrs);
    if (report->text[0] != '\0') {
      print_error("%s:%d: %s\n", name, number, report->text);
      report->text[0] = '\0';
    }
  }
  assert_int_equal(fclose(file), 0);
}

static void records_hold_for_dims(void **state) {
  (void)state;
  sc_report report = {0};
  check_records("numpy.txt", &report);
  check_records("rules.txt", &report);
  print_message("%ld calls: %ld answered, %ld bindings, %ld of them changed; %ld refused, %ld unsupported\n",
                report.calls, report.answered, report.bound, report.changed, report.refused, report.unsupported);
  assert_int_equal(report.wrong, 0);
  assert_true(report.calls > 1000 && report.answered > 4000 && report.changed > 8000);
  assert_true(report.unsupported < report.answered / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(records_hold_for_dims),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
