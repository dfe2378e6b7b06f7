/* Lists the ONNX operators that no single nd4c op can do, from the rows made with CHAIN. `nd4c ops` prints them for
 * docs/reference/ops.md. */
#include <stdlib.h>
#include <string.h>

#include "base/os_lock.h"
#include "import/onnx/ops/mapping.h"
#include "nd4c/model.h"

enum { COMPOSITES_MOST = 256 };

static nd4c_onnx_composite composites[COMPOSITES_MOST];
static int32_t composite_count;

static int compare(const void *a, const void *b) {
  const nd4c_onnx_composite *left = a, *right = b;
  int by_domain = strcmp(left->domain, right->domain);
  return by_domain != 0 ? by_domain : strcmp(left->name, right->name);
}

static void collect(void) {
  const nd4c_onnx_mapping *row = NULL;
  const char *domain = NULL;
  for (int32_t i = 0; (row = nd4c_onnx_mapping_at(i, &domain)) != NULL && composite_count < COMPOSITES_MOST; i++) {
    if (row->composed_of != NULL) {
      composites[composite_count++] = (nd4c_onnx_composite){domain, row->name, row->composed_of};
    }
  }
  qsort(composites, (size_t)composite_count, sizeof *composites, compare);
}

int32_t nd4c_onnx_composite_count(void) {
  static nd4c_once once = ND4C_ONCE_INIT;
  nd4c_once_run(&once, collect);
  return composite_count;
}

const nd4c_onnx_composite *nd4c_onnx_composite_at(int32_t index) {
  return index >= 0 && index < nd4c_onnx_composite_count() ? &composites[index] : NULL;
}
