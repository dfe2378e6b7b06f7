/* Ops that compare and join strings, and ops that change each string by itself. dispatch/host_ops.c lists them. */
#include "base/status.h"
#include "dispatch/text/text.h"

/* -- two operands ------------------------------------------------------------------------------------------------- */

typedef struct string_pair {
  nd4c_string *a, *b;
} string_pair;

static nd4c_status read_pair(nd4c_pending *p, string_pair *pair) {
  ND4C_TRY(nd4c_strings_read(p, 0, &pair->a));
  return nd4c_strings_read(p, 1, &pair->b);
}

static bool holds(nd4c_op op, int order) {
  switch (op) {
    case ND4C_OP_equal:
      return order == 0;
    case ND4C_OP_not_equal:
      return order != 0;
    case ND4C_OP_less:
      return order < 0;
    case ND4C_OP_less_equal:
      return order <= 0;
    case ND4C_OP_greater:
      return order > 0;
    default:
      return order >= 0;
  }
}

nd4c_status nd4c_host_compare(nd4c_pending *p) {
  string_pair pair;
  void *data = NULL;
  ND4C_TRY(read_pair(p, &pair));
  ND4C_TRY(nd4c_numbers_make(p, 0, &data));
  for (int64_t i = 0; i < p->targets[0]->size; i++) {
    int order = nd4c_string_compare(pair.a[nd4c_broadcast_number(p, 0, i)], pair.b[nd4c_broadcast_number(p, 1, i)]);
    ((uint8_t *)data)[i] = holds(p->def->info.op, order);
  }
  return ND4C_OK;
}

/* Elements of output 0 as inferred. */
static int64_t output_size(const nd4c_pending *p) {
  int64_t size = 1;
  for (int32_t axis = 0; axis < p->inferred[0].rank; axis++) {
    size *= p->inferred[0].shape[axis];
  }
  return size;
}

nd4c_status nd4c_host_string_concat(nd4c_pending *p) {
  string_pair pair;
  nd4c_string_list list = {.count = 0};
  int64_t size = output_size(p);
  nd4c_status status = read_pair(p, &pair);
  for (int64_t i = 0; status == ND4C_OK && i < size; i++) {
    nd4c_string a = pair.a[nd4c_broadcast_number(p, 0, i)];
    nd4c_text_append(&list.bytes, a.bytes, (size_t)a.length);
    status = nd4c_string_list_add(&list, pair.b[nd4c_broadcast_number(p, 1, i)]);
  }
  return nd4c_string_list_finish(&list, p, status);
}

/* -- one operand -------------------------------------------------------------------------------------------------- */

static nd4c_status change_case(nd4c_string_list *list, nd4c_string string, nd4c_op op) {
  nd4c_string_put_case(&list->bytes, string, op == ND4C_OP_string_upper);
  return nd4c_string_list_end(list);
}

nd4c_status nd4c_host_string_case(nd4c_pending *p) {
  return nd4c_strings_change(p, change_case);
}

static nd4c_status strip(nd4c_string_list *list, nd4c_string string, nd4c_op op) {
  int64_t begin = 0, end = 0;
  bool leading = true;
  (void)op;
  for (int64_t at = 0; at < string.length;) {
    if (!nd4c_code_is_space(nd4c_string_next(string, &at))) {
      end = at;
      leading = false;
    } else if (leading) {
      begin = end = at;
    }
  }
  return nd4c_string_list_add(list, (nd4c_string){string.bytes + begin, end - begin});
}

nd4c_status nd4c_host_string_strip(nd4c_pending *p) {
  return nd4c_strings_change(p, strip);
}

nd4c_status nd4c_host_string_length(nd4c_pending *p) {
  nd4c_string *strings = NULL;
  void *data = NULL;
  ND4C_TRY(nd4c_strings_read(p, 0, &strings));
  ND4C_TRY(nd4c_numbers_make(p, 0, &data));
  for (int64_t i = 0; i < p->inputs[0]->size; i++) {
    int64_t count = 0;
    for (int64_t at = 0; at < strings[i].length; at++) {
      count += ((unsigned char)strings[i].bytes[at] & 0xC0) != 0x80;
    }
    ((int64_t *)data)[i] = count;
  }
  return ND4C_OK;
}
