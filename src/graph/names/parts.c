/* Implements parts.h. */
#include "graph/names/parts.h"

#include "base/alloc.h"
#include "base/status.h"
#include "base/text.h"

enum { SHOWN = 8 }; /* labels in the text */

static bool is_shown(int32_t index, int32_t count) {
  return count <= SHOWN || index < SHOWN - 1 || index == count - 1;
}

static nd4c_status write_text(nd4c_region *region, nd4c_parts *parts) {
  nd4c_text text = {0};
  for (int32_t i = 0; i < parts->count; i++) {
    if (is_shown(i, parts->count)) {
      const bool gap = i > 0 && !is_shown(i - 1, parts->count);
      nd4c_text_print(&text, "%s%s", i == 0 ? "" : gap ? " + ... + " : " + ", parts->labels[i]);
    }
  }
  const nd4c_status status = text.failed ? nd4c_fail_memory("labels of a node", text.capacity) : ND4C_OK;
  parts->text = status == ND4C_OK ? nd4c_region_text(region, text.bytes) : NULL;
  nd4c_text_free(&text);
  return parts->text != NULL ? ND4C_OK : nd4c_error_code();
}

nd4c_status nd4c_parts_make(nd4c_region *region, const char *const *labels, int32_t count, nd4c_parts *parts) {
  *parts = (nd4c_parts){.count = count};
  if (count < 2) {
    parts->count = 0;
    return ND4C_OK;
  }
  parts->labels = nd4c_region_copy(region, labels, count, sizeof *labels);
  return parts->labels != NULL ? write_text(region, parts) : nd4c_error_code();
}

nd4c_status nd4c_parts_copy(const nd4c_parts *from, nd4c_region *region, nd4c_parts *to) {
  const char *labels[ND4C_PARTS_MOST];
  for (int32_t i = 0; i < from->count; i++) {
    labels[i] = nd4c_region_text(region, from->labels[i]);
    ND4C_TRY(labels[i] != NULL ? ND4C_OK : nd4c_error_code());
  }
  return nd4c_parts_make(region, labels, from->count, to);
}
