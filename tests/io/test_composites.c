/* Every ONNX operator that the import knows is listed in ops.md once: among the names of an op, or as a composite. And
 * the import knows every operator that ops.md names. */
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

/* ONNX's names of an op: the third of its four lists, up to a bar. NULL: it has no lists. */
static const char *onnx_names(const nd4c_op_info *info) {
  const char *list = info->names;
  for (int32_t bars = 0; bars < 2 && list != NULL; bars++) {
    list = strchr(list, '|');
    list = list != NULL ? list + 1 : NULL;
  }
  return list;
}

/* Names of other domains than ONNX's own two are written there with their domain. */
static bool op_is_named(const char *domain, const char *name) {
  char full[128];
  const bool plain = domain[0] == '\0' || strcmp(domain, "ai.onnx.ml") == 0;
  (void)snprintf(full, sizeof full, "%s.%s", domain, name);
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const char *list = onnx_names(nd4c_op_at(i));
    if (list != NULL && list_holds(list, plain ? name : full)) {
      return true;
    }
  }
  return false;
}

/* Whether the import has a row for a name as it stands in such a list. */
static bool has_row(const char *name, size_t size) {
  const char *domain = NULL;
  const nd4c_onnx_mapping *row = NULL;
  for (int32_t i = 0; (row = nd4c_onnx_mapping_at(i, &domain)) != NULL; i++) {
    char full[128];
    (void)snprintf(full, sizeof full, "%s.%s", domain, row->name);
    if ((strlen(row->name) == size && strncmp(row->name, name, size) == 0) ||
        (strlen(full) == size && strncmp(full, name, size) == 0)) {
      return true;
    }
  }
  return false;
}

static void test_every_name_is_imported(void **state) {
  (void)state;
  for (int32_t i = 0; i < nd4c_op_count(); i++) {
    const char *at = onnx_names(nd4c_op_at(i));
    while (at != NULL && *at != '\0' && *at != '|') {
      const size_t size = strcspn(at, ",|");
      if (!has_row(at, size)) {
        fail_msg("%s: ops.md names the ONNX operator %.*s, which the import lacks", nd4c_op_at(i)->name, (int)size, at);
      }
      at += size;
      at += strspn(at, ", ");
    }
  }
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
      cmocka_unit_test(test_every_name_is_imported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
