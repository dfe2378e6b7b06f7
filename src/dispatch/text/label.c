/* The op label_index on strings. dispatch/host_ops.c lists it. */
#include "base/alloc.h"
#include "base/status.h"
#include "dispatch/text/text.h"

typedef struct label_key {
  nd4c_string text;
  int64_t position;
} label_key;

static int compare_keys(const void *a, const void *b) {
  const label_key *left = a, *right = b;
  int order = nd4c_string_compare(left->text, right->text);
  return order != 0 ? order : (left->position > right->position) - (left->position < right->position);
}

/* The position of the last key of a text, or the count. */
static int64_t find(const label_key *keys, int64_t count, nd4c_string text) {
  int64_t low = 0, high = count; /* the first key that is larger */
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (nd4c_string_compare(keys[middle].text, text) <= 0) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 && nd4c_string_compare(keys[low - 1].text, text) == 0 ? keys[low - 1].position : count;
}

static nd4c_status find_all(nd4c_pending *p, const nd4c_string *strings, const nd4c_string *texts, label_key *keys) {
  int64_t count = p->inputs[1]->size;
  void *data = NULL;
  for (int64_t i = 0; i < count; i++) {
    keys[i] = (label_key){texts[i], i};
  }
  ND4C_TRY(nd4c_text_sort(p, keys, count, sizeof *keys, compare_keys));
  ND4C_TRY(nd4c_numbers_make(p, 0, &data));
  for (int64_t i = 0; i < p->inputs[0]->size; i++) {
    ((int64_t *)data)[i] = find(keys, count, strings[i]);
  }
  return ND4C_OK;
}

nd4c_status nd4c_host_label_index(nd4c_pending *p) {
  nd4c_string *strings = NULL, *texts = NULL;
  size_t room = (size_t)p->inputs[1]->size + 1;
  label_key *keys = nd4c_work_take(&p->work, room, sizeof *keys);
  if (keys == NULL) {
    return nd4c_fail_memory("keys", room * sizeof *keys);
  }
  ND4C_TRY(nd4c_strings_read(p, 0, &strings));
  ND4C_TRY(nd4c_strings_read(p, 1, &texts));
  return find_all(p, strings, texts, keys);
}
