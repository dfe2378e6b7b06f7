/* Implements text.h for the other files of this folder. */
#include "dispatch/text/text.h"

#include <string.h>

#include "array/shape.h"
#include "base/alloc.h"
#include "base/os.h"
#include "base/recycle.h"
#include "base/status.h"
#include "device/access/write.h"
#include "device/device.h"
#include "device/provider/contents.h"

/* -- operands ---------------------------------------------------------------------------------------------------- */

nd4c_status nd4c_strings_read(nd4c_pending *p, int32_t index, nd4c_string **strings) {
  const nd4c_array *array = p->inputs[index];
  *strings = nd4c_work_take(&p->work, (size_t)array->size + 1, sizeof **strings);
  if (*strings == NULL) {
    return nd4c_fail_memory("a list of strings", (size_t)array->size * sizeof **strings);
  }
  for (int64_t i = 0; i < array->size; i++) {
    ND4C_TRY(nd4c_array_string(array, i, &(*strings)[i].bytes, &(*strings)[i].length));
  }
  return ND4C_OK;
}

nd4c_status nd4c_numbers_read(nd4c_pending *p, int32_t index, void **numbers) {
  const nd4c_array *array = p->inputs[index];
  size_t bytes = (size_t)(array->size * nd4c_dtype_size(array->dtype));
  *numbers = nd4c_work_take(&p->work, bytes + 1, 1);
  if (*numbers == NULL) {
    return nd4c_fail_memory("a list of numbers", bytes);
  }
  return array->size == 0 ? ND4C_OK : nd4c_contents_read(array, *numbers, bytes);
}

int nd4c_string_compare(nd4c_string a, nd4c_string b) {
  int64_t shorter = a.length < b.length ? a.length : b.length;
  int order = shorter > 0 ? memcmp(a.bytes, b.bytes, (size_t)shorter) : 0;
  return order != 0 ? order : (a.length > b.length) - (a.length < b.length);
}

/* room: for half of the items. */
static void sort_items(char *items, size_t count, size_t size, int (*compare)(const void *, const void *), char *room) {
  if (count < 2) {
    return;
  }
  size_t half = count / 2;
  sort_items(items, half, size, compare, room);
  sort_items(items + half * size, count - half, size, compare, room);
  memcpy(room, items, half * size);
  const char *left = room, *left_end = room + half * size, *right = items + half * size, *end = items + count * size;
  for (char *to = items; left < left_end; to += size) { /* `to` never passes `right` */
    const char **next = right < end && compare(right, left) < 0 ? &right : &left;
    memmove(to, *next, size);
    *next += size;
  }
}

nd4c_status nd4c_text_sort(nd4c_pending *p, void *items, int64_t count, size_t size,
                           int (*compare)(const void *, const void *)) {
  char *room = nd4c_work_take(&p->work, (size_t)count / 2 + 1, size);
  if (room == NULL) {
    return nd4c_fail_memory("sorting", (size_t)count / 2 * size);
  }
  sort_items(items, (size_t)count, size, compare, room);
  return ND4C_OK;
}

int64_t nd4c_broadcast_number(const nd4c_pending *p, int32_t index, int64_t number) {
  const nd4c_inferred *whole = &p->inferred[0];
  const nd4c_array *array = p->inputs[index];
  int64_t result = 0, step = 1;
  for (int32_t axis = whole->rank - 1; axis >= whole->rank - array->rank; axis--) {
    int64_t extent = array->shape[axis - (whole->rank - array->rank)];
    result += extent == 1 ? 0 : number % whole->shape[axis] * step;
    step *= extent;
    number /= whole->shape[axis];
  }
  return result;
}

/* -- results ------------------------------------------------------------------------------------------------------ */

nd4c_status nd4c_string_list_end(nd4c_string_list *list) {
  if (list->count == list->capacity) {
    int64_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
    int64_t *ends = nd4c_recycle_grow(list->ends, (size_t)list->count * sizeof *ends,
                                      (size_t)list->capacity * sizeof *ends, (size_t)capacity * sizeof *ends);
    if (ends == NULL) {
      return nd4c_fail_memory("a list of strings", (size_t)capacity * sizeof *ends);
    }
    list->ends = ends;
    list->capacity = capacity;
  }
  list->ends[list->count++] = (int64_t)list->bytes.length;
  return list->bytes.failed ? nd4c_fail_memory("strings", list->bytes.length) : ND4C_OK;
}

nd4c_status nd4c_string_list_add(nd4c_string_list *list, nd4c_string string) {
  nd4c_text_append(&list->bytes, string.bytes, (size_t)string.length);
  return nd4c_string_list_end(list);
}

nd4c_status nd4c_string_list_take(const nd4c_string_list *list, nd4c_pending *p, int32_t output) {
  const nd4c_inferred *inferred = &p->inferred[output];
  size_t count = (size_t)list->count + 1;
  const char **texts = nd4c_work_take(&p->work, count, sizeof *texts);
  int64_t *lengths = nd4c_work_take(&p->work, count, sizeof *lengths), begin = 0;
  if (texts == NULL || lengths == NULL) {
    return nd4c_fail_memory("a list of strings", count * sizeof *texts);
  }
  for (int64_t i = 0; i < list->count; i++) {
    texts[i] = list->bytes.bytes != NULL ? list->bytes.bytes + begin : "";
    lengths[i] = list->ends[i] - begin;
    begin = list->ends[i];
  }
  return nd4c_array_from_strings(inferred->rank, inferred->shape, texts, lengths, &p->targets[output]);
}

void nd4c_string_list_free(nd4c_string_list *list) {
  nd4c_text_free(&list->bytes);
  nd4c_recycle_give(list->ends, (size_t)list->capacity * sizeof *list->ends);
}

nd4c_status nd4c_string_list_finish(nd4c_string_list *list, nd4c_pending *p, nd4c_status status) {
  status = status == ND4C_OK ? nd4c_string_list_take(list, p, 0) : status;
  nd4c_string_list_free(list);
  return status;
}

nd4c_status nd4c_strings_change(nd4c_pending *p, nd4c_string_change change) {
  nd4c_string *strings = NULL;
  nd4c_string_list list = {.count = 0};
  nd4c_status status = nd4c_strings_read(p, 0, &strings);
  for (int64_t i = 0; status == ND4C_OK && i < p->inputs[0]->size; i++) {
    status = change(&list, strings[i], p->def->info.op);
  }
  return nd4c_string_list_finish(&list, p, status);
}

nd4c_status nd4c_numbers_make(nd4c_pending *p, int32_t output, void **data) {
  const nd4c_inferred *inferred = &p->inferred[output];
  nd4c_device *host = NULL;
  ND4C_TRY(nd4c_device_host(&host));
  ND4C_TRY(nd4c_array_empty(inferred->dtype, inferred->rank, inferred->shape, host, &p->targets[output]));
  return nd4c_array_host_address(p->targets[output], true, data);
}

/* -- code points --------------------------------------------------------------------------------------------------- */

uint32_t nd4c_string_next(nd4c_string string, int64_t *at) {
  const unsigned char *bytes = (const unsigned char *)string.bytes + *at;
  int more = bytes[0] < 0x80 ? 0 : bytes[0] < 0xE0 ? 1 : bytes[0] < 0xF0 ? 2 : 3;
  uint32_t code = more == 0 ? bytes[0] : bytes[0] & (0x3FU >> more);
  for (int i = 1; i <= more; i++) {
    code = code << 6 | (bytes[i] & 0x3FU);
  }
  *at += more + 1;
  return code;
}

void nd4c_string_put(nd4c_text *text, uint32_t code) {
  char bytes[4];
  int count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (int i = count - 1; i > 0; i--) {
    bytes[i] = (char)(0x80 | (code & 0x3F));
    code >>= 6;
  }
  bytes[0] = (char)(count == 1 ? code : (0xF00U >> count & 0xFF) | code);
  nd4c_text_append(text, bytes, (size_t)count);
}

bool nd4c_code_is_space(uint32_t code) {
  return (code >= 0x09 && code <= 0x0D) || (code >= 0x1C && code <= 0x20) || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 || code == 0x202F ||
         code == 0x205F || code == 0x3000;
}

void nd4c_string_put_case(nd4c_text *text, nd4c_string string, bool upper) {
  for (int64_t at = 0; at < string.length;) {
    nd4c_string_put(text, nd4c_os_change_case(nd4c_string_next(string, &at), upper));
  }
}
