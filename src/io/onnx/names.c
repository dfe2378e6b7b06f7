#include "base/status.h"
#include "io/onnx/model.h"

enum { FIRST_CAPACITY = 64, CAPACITY_LIMIT = 1 << 28 };

/* FNV-1a, started with the table's address so that a file cannot be made to collide. */
static uint32_t hash_name(const nd4c_onnx_model *model, nd4c_span name) {
  uint64_t hash = UINT64_C(14695981039346656037) ^ (uint64_t)(uintptr_t)model;
  for (size_t i = 0; i < name.size; i++) {
    hash = (hash ^ name.bytes[i]) * UINT64_C(1099511628211);
  }
  return (uint32_t)(hash ^ hash >> 32);
}

/* The slot that holds the name, or the empty one where it belongs. There always is an empty one. */
static uint32_t find_slot(const nd4c_onnx_model *model, nd4c_span name) {
  uint32_t mask = model->names.capacity - 1;
  uint32_t slot = hash_name(model, name) & mask;
  while (model->names.slots[slot] != 0 &&
         !nd4c_span_equal(nd4c_onnx_model_value(model, model->names.slots[slot] - 1)->name, name)) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

static nd4c_status grow(nd4c_onnx_model *model) {
  uint32_t capacity = model->names.capacity == 0 ? FIRST_CAPACITY : 2 * model->names.capacity;
  if (capacity > CAPACITY_LIMIT) {
    return nd4c_fail(ND4C_FORMAT, "more than %d named values", (int)CAPACITY_LIMIT / 2);
  }
  int32_t *slots = NULL;
  ND4C_TRY(nd4c_arena_take(&model->arena, capacity, sizeof *slots, "the table of values", &slots));
  model->names = (nd4c_onnx_names){slots, capacity};
  for (int32_t i = 0; i < model->values.count; i++) {
    slots[find_slot(model, nd4c_onnx_model_value(model, i)->name)] = i + 1;
  }
  return ND4C_OK;
}

nd4c_status nd4c_onnx_names_intern(nd4c_onnx_model *model, nd4c_span name, int32_t *number) {
  if (2 * (uint32_t)(model->values.count + 1) > model->names.capacity) {
    ND4C_TRY(grow(model));
  }
  uint32_t slot = find_slot(model, name);
  if (model->names.slots[slot] == 0) {
    nd4c_onnx_value *value = NULL;
    ND4C_TRY(nd4c_arena_append(&model->arena, &model->values, sizeof *value, "values", &value));
    value->name = name;
    model->names.slots[slot] = model->values.count;
  }
  *number = model->names.slots[slot] - 1;
  return ND4C_OK;
}

int32_t nd4c_onnx_names_find(const nd4c_onnx_model *model, nd4c_span name) {
  return model->names.capacity == 0 ? ND4C_ONNX_NONE : model->names.slots[find_slot(model, name)] - 1;
}
