/* Operands: makes them, counts who holds them, and frees them. emission.c and scope.c call it for each node, import.c
 * for the inputs and outputs of the model. */
#include "base/alloc.h"
#include "base/region.h"
#include "base/status.h"
#include "import/onnx/importer.h"

/* -- making --------------------------------------------------------------------------------------------------- */

/* Notes an operand for the sweep after the node. */
static nd4c_status note_created(nd4c_onnx_importer *importer, nd4c_onnx_operand operand) {
  ND4C_TRY(nd4c_grow(&importer->created, &importer->created_capacity, importer->created_count + 1,
                     sizeof *importer->created, "the values of a model"));
  importer->created[importer->created_count++] = operand;
  return ND4C_OK;
}

static nd4c_status add_slot(nd4c_onnx_importer *importer, nd4c_onnx_operand_slot slot, nd4c_onnx_operand *operand) {
  if (importer->free_slot == ND4C_ONNX_OPERAND_NONE && importer->slot_count == importer->slot_capacity) {
    ND4C_TRY(nd4c_grow(&importer->slots, &importer->slot_capacity, importer->slot_count + 1, sizeof *importer->slots,
                       "the values of a model"));
  }
  bool reused = importer->free_slot != ND4C_ONNX_OPERAND_NONE;
  nd4c_onnx_operand number = reused ? importer->free_slot : importer->slot_count;
  ND4C_TRY(note_created(importer, number));
  if (reused) {
    importer->free_slot = importer->slots[number].count;
  } else {
    importer->slot_count++;
  }
  importer->slots[number] = slot;
  *operand = number;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_add_array(nd4c_onnx_importer *importer, nd4c_array *array, nd4c_onnx_operand *operand) {
  nd4c_onnx_operand_slot slot = {.kind = ND4C_ONNX_KIND_ARRAY, .array = array, .value = ND4C_VALUE_NONE};
  nd4c_status status = add_slot(importer, slot, operand);
  if (status != ND4C_OK) {
    nd4c_array_release(array);
  }
  return status;
}

nd4c_status nd4c_onnx_add_extents(nd4c_onnx_importer *importer, nd4c_dtype dtype, int64_t parts, nd4c_array *extents,
                                  nd4c_onnx_operand *operand) {
  nd4c_onnx_operand_slot slot = {
      .kind = ND4C_ONNX_KIND_ARRAY, .extents = extents, .parts = parts, .value = ND4C_VALUE_NONE, .dtype = dtype};
  nd4c_status status = add_slot(importer, slot, operand);
  if (status != ND4C_OK) {
    nd4c_array_release(extents);
  }
  return status;
}

nd4c_status nd4c_onnx_add_value(nd4c_onnx_importer *importer, nd4c_value value, nd4c_onnx_operand *operand) {
  nd4c_onnx_operand_slot slot = {.kind = ND4C_ONNX_KIND_ARRAY, .value = value};
  return add_slot(importer, slot, operand);
}

nd4c_status nd4c_onnx_add_known(nd4c_onnx_importer *importer, const nd4c_onnx_known *known,
                                nd4c_onnx_operand *operand) {
  nd4c_onnx_operand_slot slot = {.kind = ND4C_ONNX_KIND_ARRAY, .known = known, .value = ND4C_VALUE_NONE};
  return add_slot(importer, slot, operand);
}

nd4c_status nd4c_onnx_add_list(nd4c_onnx_importer *importer, nd4c_onnx_kind kind, nd4c_dtype dtype,
                               const nd4c_onnx_operand *items, int32_t count, nd4c_onnx_operand *operand) {
  nd4c_onnx_operand_slot slot = {.kind = kind, .value = ND4C_VALUE_NONE, .dtype = dtype, .count = count};
  slot.items = nd4c_allocate((size_t)count * sizeof *items);
  if (slot.items == NULL) {
    return nd4c_fail_memory("a sequence", (size_t)count * sizeof *items);
  }
  if (count > 0) {
    memcpy(slot.items, items, (size_t)count * sizeof *items);
  }
  nd4c_onnx_operand *kept = slot.items;
  nd4c_status status = add_slot(importer, slot, operand);
  if (status != ND4C_OK) {
    nd4c_deallocate(kept);
    return status;
  }
  for (int32_t i = 0; i < count; i++) {
    nd4c_onnx_operand_hold(importer, kept[i]);
  }
  return ND4C_OK;
}

/* -- holding and freeing --------------------------------------------------------------------------------------- */

void nd4c_onnx_operand_hold(nd4c_onnx_importer *importer, nd4c_onnx_operand operand) {
  if (operand != ND4C_ONNX_OPERAND_NONE) {
    importer->slots[operand].references++;
  }
}

/* Frees an operand that is not held, and the items that it alone held. The recursion ends soon: sequences hold arrays,
 * and optionals hold sequences or arrays. */
static void free_slot(nd4c_onnx_importer *importer, nd4c_onnx_operand operand) {
  nd4c_onnx_operand_slot slot = importer->slots[operand];
  importer->slots[operand] = (nd4c_onnx_operand_slot){.count = importer->free_slot};
  importer->free_slot = operand;
  nd4c_array_release(slot.array);
  nd4c_array_release(slot.extents);
  if (slot.kind != ND4C_ONNX_KIND_ARRAY) {
    for (int32_t i = 0; i < slot.count; i++) {
      nd4c_onnx_operand_release(importer, slot.items[i]);
    }
    nd4c_deallocate(slot.items);
  }
}

void nd4c_onnx_operand_release(nd4c_onnx_importer *importer, nd4c_onnx_operand operand) {
  if (operand != ND4C_ONNX_OPERAND_NONE && --importer->slots[operand].references == 0) {
    free_slot(importer, operand);
  }
}

nd4c_status nd4c_onnx_operand_pass(nd4c_onnx_importer *importer, nd4c_onnx_operand operand) {
  if (operand == ND4C_ONNX_OPERAND_NONE) {
    return ND4C_OK;
  }
  importer->slots[operand].references--;
  return note_created(importer, operand);
}

void nd4c_onnx_operands_sweep(nd4c_onnx_importer *importer, int32_t mark) {
  while (importer->created_count > mark) {
    nd4c_onnx_operand operand = importer->created[--importer->created_count];
    const nd4c_onnx_operand_slot *slot = &importer->slots[operand];
    if (slot->kind != ND4C_ONNX_KIND_NONE && slot->references == 0) {
      free_slot(importer, operand);
    }
  }
}

void nd4c_onnx_operands_free(nd4c_onnx_importer *importer) {
  for (int32_t i = 0; i < importer->slot_count; i++) {
    nd4c_onnx_operand_slot *slot = &importer->slots[i];
    nd4c_array_release(slot->array);
    nd4c_array_release(slot->extents);
    if (slot->kind == ND4C_ONNX_KIND_SEQUENCE || slot->kind == ND4C_ONNX_KIND_OPTIONAL) {
      nd4c_deallocate(slot->items);
    }
  }
  nd4c_deallocate(importer->slots);
  nd4c_deallocate(importer->created);
}

/* -- other forms ----------------------------------------------------------------------------------------------- */

nd4c_status nd4c_onnx_value_of(nd4c_onnx_importer *importer, nd4c_onnx_operand operand, nd4c_value *value) {
  nd4c_onnx_operand_slot *slot = &importer->slots[operand];
  if (slot->kind != ND4C_ONNX_KIND_ARRAY) {
    return nd4c_fail(ND4C_FORMAT, "a sequence or optional where an array was expected");
  }
  if (slot->value == ND4C_VALUE_NONE && slot->extents != NULL) {
    ND4C_TRY(nd4c_onnx_record_extents(importer->graph, slot, &slot->value));
  } else if (slot->value == ND4C_VALUE_NONE && slot->known != NULL) {
    ND4C_TRY(importer->take_known(importer, slot->known, &slot->value));
  } else if (slot->value == ND4C_VALUE_NONE) {
    ND4C_TRY(nd4c_graph_constant(importer->graph, slot->array, &slot->value));
  }
  *value = slot->value;
  return ND4C_OK;
}

nd4c_status nd4c_onnx_operand_of_datum(nd4c_onnx_importer *importer, const nd4c_datum *datum,
                                       nd4c_onnx_operand *operand) {
  nd4c_datum_kind kind = nd4c_datum_get_kind(datum);
  if (kind == ND4C_DATUM_ARRAY) {
    return nd4c_onnx_add_array(importer, nd4c_array_retain(nd4c_datum_array(datum)), operand);
  }
  int32_t count = nd4c_datum_count(datum);
  nd4c_onnx_operand *items = nd4c_allocate((size_t)count * sizeof *items);
  if (items == NULL) {
    return nd4c_fail_memory("a sequence", (size_t)count * sizeof *items);
  }
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = nd4c_onnx_operand_of_datum(importer, nd4c_datum_item(datum, i), &items[i]);
  }
  if (status == ND4C_OK) {
    bool is_sequence = kind == ND4C_DATUM_SEQUENCE;
    status = nd4c_onnx_add_list(importer, is_sequence ? ND4C_ONNX_KIND_SEQUENCE : ND4C_ONNX_KIND_OPTIONAL,
                                nd4c_datum_dtype(datum), items, count, operand);
  }
  nd4c_deallocate(items);
  return status;
}

static nd4c_status datum_of_list(nd4c_onnx_importer *importer, const nd4c_onnx_operand_slot *slot, nd4c_datum **datum) {
  nd4c_datum **items = NULL;
  ND4C_TRY(nd4c_allocate_or_fail((size_t)slot->count + 1, sizeof *items, "a sequence", &items));
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < slot->count && status == ND4C_OK; i++) {
    status = nd4c_onnx_datum_of_operand(importer, slot->items[i], &items[i]);
  }
  if (status == ND4C_OK) {
    status = slot->kind == ND4C_ONNX_KIND_SEQUENCE ? nd4c_datum_of_sequence(slot->dtype, items, slot->count, datum)
                                                   : nd4c_datum_of_optional(items[0], datum);
  }
  for (int32_t i = 0; i < slot->count; i++) {
    nd4c_datum_release(items[i]);
  }
  nd4c_deallocate((void *)items);
  return status;
}

nd4c_status nd4c_onnx_datum_of_operand(nd4c_onnx_importer *importer, nd4c_onnx_operand operand, nd4c_datum **datum) {
  const nd4c_onnx_operand_slot *slot = &importer->slots[operand];
  return slot->kind == ND4C_ONNX_KIND_ARRAY ? nd4c_datum_of_array(slot->array, datum)
                                            : datum_of_list(importer, slot, datum);
}
