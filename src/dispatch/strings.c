/* Implements strings.h for call.c. Ops that only move elements do not read them. Such an op is run on the numbers of
 * the strings, and its result says where each string goes. Numbers count from 1; zeros that an op adds (pad) become
 * empty strings. */
#include "dispatch/strings.h"

#include "base/alloc.h"
#include "base/status.h"
#include "device/access/write.h"
#include "device/device.h"
#include "dispatch/routed.h"

typedef struct string_move {
  nd4c_pending *p;
  nd4c_device *host;
  const nd4c_array **inputs;                /* numbers in place of strings; the other inputs unchanged */
  nd4c_array *picked[ND4C_PENDING_OUTPUTS]; /* numbers of strings, counted through all inputs; other results */
} string_move;

static bool is_strings(const nd4c_array *array) {
  return array != NULL && array->dtype == ND4C_UTF8;
}

/* Numbers from `first` on, in the shape of the strings. */
static nd4c_status make_stand_in(const string_move *m, const nd4c_array *strings, int64_t first, nd4c_array **out) {
  nd4c_array *numbers = NULL;
  void *data = NULL;
  ND4C_TRY(nd4c_array_empty(ND4C_INT64, strings->rank, strings->shape, m->host, &numbers));
  nd4c_status status = nd4c_array_host_address(numbers, true, &data);
  for (int64_t i = 0; status == ND4C_OK && i < strings->size; i++) {
    ((int64_t *)data)[i] = first + i;
  }
  if (status != ND4C_OK) {
    nd4c_array_release(numbers);
    return status;
  }
  *out = numbers;
  return ND4C_OK;
}

static nd4c_status pick(string_move *m) {
  const nd4c_pending *p = m->p;
  nd4c_context *context = p->context;
  if (context->device != m->host) {
    ND4C_TRY(nd4c_routing_context(p->context, m->host, &context));
  }
  int64_t first = 1;
  for (int32_t i = 0; i < p->input_count; i++) {
    if (is_strings(p->inputs[i])) {
      nd4c_array *stand_in = NULL;
      ND4C_TRY(make_stand_in(m, p->inputs[i], first, &stand_in));
      m->inputs[i] = stand_in;
      first += p->inputs[i]->size;
    } else {
      m->inputs[i] = p->inputs[i];
    }
  }
  const nd4c_eager_call call = {
      p->def->info.op, p->def->info.attr_count, p->input_count, m->inputs, p->attrs, m->picked, 0};
  return nd4c_call_on(context, &call);
}

static nd4c_status find_text(const string_move *m, int64_t number, const char **text, int64_t *length) {
  const nd4c_pending *p = m->p;
  if (number == 0) {
    *text = "";
    *length = 0;
    return ND4C_OK;
  }
  number--;
  for (int32_t i = 0; i < p->input_count; i++) {
    int64_t size = is_strings(p->inputs[i]) ? p->inputs[i]->size : 0;
    if (number < size) {
      return nd4c_array_string(p->inputs[i], number, text, length);
    }
    number -= size;
  }
  return nd4c_fail(ND4C_INTERNAL, "%s: a string that no input has", p->def->info.name);
}

/* Strings in place of the numbers of one result. */
static nd4c_status collect_result(string_move *m, int32_t at) {
  nd4c_array *picked = m->picked[at];
  size_t count = (size_t)picked->size;
  int64_t *numbers = nd4c_work_take(&m->p->work, count, sizeof *numbers),
          *lengths = nd4c_work_take(&m->p->work, count, sizeof *lengths);
  const char **texts = nd4c_work_take(&m->p->work, count, sizeof *texts);
  if (numbers == NULL || lengths == NULL || texts == NULL) {
    return nd4c_fail_memory("a list of strings", count * sizeof *texts);
  }
  ND4C_TRY(nd4c_array_read(picked, numbers, count * sizeof *numbers));
  for (size_t i = 0; i < count; i++) {
    ND4C_TRY(find_text(m, numbers[i], &texts[i], &lengths[i]));
  }
  nd4c_array *strings = NULL;
  ND4C_TRY(nd4c_array_from_strings(picked->rank, picked->shape, texts, lengths, &strings));
  nd4c_array_release(picked);
  m->picked[at] = strings;
  return ND4C_OK;
}

/* Results are given to the caller when all of them exist. */
static nd4c_status collect(string_move *m) {
  int32_t count = m->p->def->info.output_count;
  for (int32_t i = 0; i < count; i++) {
    if (m->p->inferred[i].dtype == ND4C_UTF8) {
      ND4C_TRY(collect_result(m, i));
    }
  }
  for (int32_t i = 0; i < count; i++) {
    m->p->outputs[i] = m->picked[i];
    m->picked[i] = NULL;
  }
  return ND4C_OK;
}

static void clear(string_move *m) {
  for (int32_t i = 0; m->inputs != NULL && i < m->p->input_count; i++) {
    if (is_strings(m->p->inputs[i]) && m->inputs[i] != NULL) {
      union {
        const nd4c_array *borrowed;
        nd4c_array *owned;
      } stand_in = {.borrowed = m->inputs[i]};
      nd4c_array_release(stand_in.owned);
    }
  }
  for (int32_t i = 0; i < m->p->def->info.output_count; i++) {
    nd4c_array_release(m->picked[i]);
  }
}

nd4c_status nd4c_strings_compute(nd4c_pending *p) {
  for (int32_t i = 0; i < p->def->info.output_count; i++) {
    if (p->outputs[i] != NULL) {
      return nd4c_fail(ND4C_UNSUPPORTED, "%s: strings cannot be written into an array that is given: expected NULL",
                       p->def->info.name);
    }
  }
  string_move m = {.p = p};
  ND4C_TRY(nd4c_device_host(&m.host));
  m.inputs = nd4c_work_take(&p->work, (size_t)p->input_count, sizeof *m.inputs);
  nd4c_status status =
      m.inputs != NULL ? pick(&m) : nd4c_fail_memory("inputs", (size_t)p->input_count * sizeof *m.inputs);
  if (status == ND4C_OK) {
    status = collect(&m);
  }
  clear(&m);
  return status;
}
