/* Every ONNX operator that the import knows is listed in ops.md once: among the names of an op, or as a composite. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "import/onnx/ops/mapping.h"
#include "nd4c/nd4c.h"

/* Whether a list "A, B" (up to a bar) holds a name. */
static bool list_holds(const char *list, const char *name) {
  const size_t size = strlen(name);
  for (const char *at = list; *at != '\0' && *at != '|'; at++) {
    const bool begins = at == list || at[-1] == ' ' || at[-1] == ',';
    if (begins && strncmp(at, name, size) == 0 && (at[size] == '\0' || at[size] == '|' || at[size] == ',')) {
      return true;
    }
  }
  return false;
}

/* ONNX is the third of an op's four lists; names of the previews are written there with their domain. */
static bool op_is_named(const char *domain, const char *name) {
  char full[128];
  (void)snprintf(full, sizeof full, "%s.%s", domain, name);
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const char *list = nd4c_op_at(i)->names;
    for (int32_t bars = 0; bars < 2 && list != NULL; bars++) {
      list = strchr(list, '|');
      list = list != NULL ? list + 1 : NULL;
    }
    if (list != NULL && (list_holds(list, name) || list_holds(list, full))) {
      return true;
    }
  }
  return false;
}

static bool is_composite(const char *domain, const char *name) {
  for (int32_t i = 0; i < nd4c_onnx_composite_count(); i++) {
    const nd4c_onnx_composite *row = nd4c_onnx_composite_at(i);
    if (strcmp(row->domain, domain) == 0 && strcmp(row->name, name) == 0) {
      return true;
    }
  }
  return false;
}

static void test_every_operator_is_told(void **state) {
  (void)state;
  const char *domain = NULL;
  const nd4c_onnx_mapping *row = NULL;
  for (int32_t i = 0; (row = nd4c_onnx_mapping_at(i, &domain)) != NULL; i++) {
    if (op_is_named(domain, row->name) == is_composite(domain, row->name)) {
      fail_msg("%s %s: expected among the names of an op or in composites.c, and not in both", domain, row->name);
    }
  }
}

static void test_every_composite_is_imported(void **state) {
  (void)state;
  for (int32_t i = 0; i < nd4c_onnx_composite_count(); i++) {
    const nd4c_onnx_composite *composite = nd4c_onnx_composite_at(i);
    const char *domain = NULL;
    const nd4c_onnx_mapping *row = NULL;
    bool found = false;
    for (int32_t j = 0; !found && (row = nd4c_onnx_mapping_at(j, &domain)) != NULL; j++) {
      found = strcmp(row->name, composite->name) == 0 && strcmp(domain, composite->domain) == 0;
    }
    if (!found) {
      fail_msg("%s: the import has no row for this operator", composite->name);
    }
  }
  assert_null(nd4c_onnx_composite_at(-1));
  assert_null(nd4c_onnx_composite_at(nd4c_onnx_composite_count()));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_operator_is_told),
      cmocka_unit_test(test_every_composite_is_imported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
