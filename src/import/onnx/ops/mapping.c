/* Implements mapping.h: finds rows in the tables of all families. check_ops.c looks up the row of each node;
 * composites.c goes through all rows. */
#include "import/onnx/ops/mapping.h"

#include "onnx_families.h" /* ND4C_ONNX_FAMILIES(X): made by the build from the files of this folder */

#define DECLARE(name) extern const nd4c_onnx_family nd4c_onnx_family_##name;
ND4C_ONNX_FAMILIES(DECLARE)
#define ADDRESS(name) &nd4c_onnx_family_##name,
static const nd4c_onnx_family *const families[] = {ND4C_ONNX_FAMILIES(ADDRESS)};

enum { FAMILY_COUNT = sizeof families / sizeof families[0] };

const nd4c_onnx_mapping *nd4c_onnx_mapping_find(nd4c_span domain, nd4c_span name, int64_t opset) {
  domain = nd4c_onnx_domain(domain);
  for (size_t i = 0; i < FAMILY_COUNT; i++) {
    const nd4c_onnx_family *family = families[i];
    for (int32_t j = 0; j < family->count && nd4c_span_is(domain, family->domain); j++) {
      const nd4c_onnx_mapping *row = &family->rows[j];
      if (opset >= row->since && opset <= row->until && nd4c_span_is(name, row->name)) {
        return row;
      }
    }
  }
  return NULL;
}

const nd4c_onnx_mapping *nd4c_onnx_mapping_at(int32_t index, const char **domain) {
  for (size_t i = 0; i < FAMILY_COUNT && index >= 0; i++) {
    if (index < families[i]->count) {
      *domain = families[i]->domain;
      return &families[i]->rows[index];
    }
    index -= families[i]->count;
  }
  return NULL;
}

/* `open`: ONNX Runtime's, of which nd4c has a part, and plug-ins may have more. */
static const struct {
  const char *domain;
  int64_t newest;
  bool open;
} domains[] = {{"", ND4C_ONNX_OPSET_LAST, false}, {"ai.onnx.ml", 5, false},
               {"com.microsoft", 1, true},        {"ai.onnx.training", 1, false},
               {"ai.onnx.preview", 1, false},     {"ai.onnx.preview.training", 1, false}};

/* Its place among them; -1: it is not there. */
static int32_t find_domain(nd4c_span domain) {
  domain = nd4c_onnx_domain(domain);
  for (size_t i = 0; i < sizeof domains / sizeof domains[0]; i++) {
    if (nd4c_span_is(domain, domains[i].domain)) {
      return (int32_t)i;
    }
  }
  return -1;
}

int64_t nd4c_onnx_mapping_newest(nd4c_span domain) {
  const int32_t place = find_domain(domain);
  return place >= 0 ? domains[place].newest : 0;
}

bool nd4c_onnx_mapping_is_open(nd4c_span domain) {
  const int32_t place = find_domain(domain);
  return place < 0 || domains[place].open;
}
