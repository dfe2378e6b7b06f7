/* Implements layout.h. device/storage/blocks.c and dispatch/constants.c check a layout here; device/storage/forms.c
 * hashes it to find forms. */
#include "array/layout.h"

#include <stdio.h>

#include "base/checked.h"
#include "base/status.h"

static const int64_t most_bytes = INT64_C(1) << 56; /* of any block of memory */

/* -- bytes --------------------------------------------------------------------------------------------------------- */

/* Product of the blocks along an axis, or along all (axis -1). */
static bool block_product(const nd4c_layout *layout, int32_t axis, int64_t *product) {
  *product = 1;
  for (int32_t k = 0; k < layout->block_count; k++) {
    const bool counts = axis < 0 || layout->block_axes[k] == axis;
    if (counts && !nd4c_checked_multiply(*product, layout->block_extents[k], product)) {
      return false;
    }
  }
  return true;
}

static bool count_elements(const nd4c_layout *layout, int64_t *count) {
  *count = 1;
  for (int32_t i = 0; i < layout->rank; i++) {
    if (!nd4c_checked_multiply(*count, layout->shape[i], count)) {
      return false;
    }
  }
  return true;
}

/* Up to the end of the block that lies last. */
static bool blocked_needs(const nd4c_layout *layout, int64_t *bytes) {
  int64_t end = 0;
  bool fits = block_product(layout, -1, &end);
  for (int32_t i = 0; i < layout->rank && fits; i++) {
    int64_t within = 1, reach = 0;
    fits = block_product(layout, i, &within) &&
           nd4c_checked_multiply(layout->padded[i] / within - 1, layout->strides[i], &reach) &&
           nd4c_checked_add(end, reach, &end);
  }
  const int64_t element = nd4c_dtype_size(layout->dtype);
  return fits && nd4c_checked_multiply(end, element, bytes);
}

static bool quantised_needs(const nd4c_layout *layout, int64_t *bytes) {
  int64_t elements = 0, blocks = 0;
  bool fits = count_elements(layout, &elements) &&
              nd4c_checked_multiply(elements / layout->block_elements, layout->block_bytes, &blocks);
  if (fits && layout->side_bytes > 0) {
    fits = layout->side_offset >= blocks && nd4c_checked_add(layout->side_offset, layout->side_bytes, &blocks);
  }
  *bytes = blocks;
  return fits;
}

bool nd4c_layout_needs(const nd4c_layout *layout, int64_t *bytes) {
  *bytes = layout->bytes;
  const bool known = layout->tag == ND4C_LAYOUT_BLOCKED     ? blocked_needs(layout, bytes)
                     : layout->tag == ND4C_LAYOUT_QUANTISED ? quantised_needs(layout, bytes)
                                                            : true;
  return known && *bytes <= most_bytes;
}

/* -- checks -------------------------------------------------------------------------------------------------------- */

static bool is_name(const char *name) {
  return name[0] != '\0' && memchr(name, '\0', ND4C_LAYOUT_NAME_SIZE) != NULL;
}

static const char *refuse_blocked(const nd4c_layout *layout) {
  if (nd4c_dtype_size(layout->dtype) == 0) {
    return "blocks have a dtype whose elements have bytes of their own";
  }
  if (layout->block_count < 0 || layout->block_count > ND4C_LAYOUT_BLOCKS) {
    return "block_count is 0 to 6";
  }
  for (int32_t k = 0; k < layout->block_count; k++) {
    if (layout->block_axes[k] < 0 || layout->block_axes[k] >= layout->rank || layout->block_extents[k] < 1) {
      return "a block lies along one of the axes, and its extent is 1 or more";
    }
  }
  for (int32_t i = 0; i < layout->rank; i++) {
    int64_t within = 0;
    if (!block_product(layout, i, &within) || layout->padded[i] < layout->shape[i] || layout->padded[i] % within != 0) {
      return "a padded extent holds the extent, and whole blocks";
    }
    if (layout->strides[i] < 1) {
      return "strides are 1 or more";
    }
  }
  return NULL;
}

static const char *refuse_quantised(const nd4c_layout *layout) {
  if (!is_name(layout->format)) {
    return "a format has a name of 1 to 31 letters";
  }
  if (layout->axis != layout->rank - 1) {
    return "quantised blocks lie along the last axis";
  }
  if (layout->block_elements < 1 || layout->block_bytes < 1 ||
      layout->shape[layout->axis] % layout->block_elements != 0) {
    return "an axis holds whole quantised blocks";
  }
  if (nd4c_dtype_size(layout->dtype) == 0) {
    return "quantised blocks decode to a dtype whose elements have bytes of their own";
  }
  return layout->side_bytes < 0 ? "side_bytes is 0 or more" : NULL;
}

static const char *refuse(const nd4c_layout *layout) {
  if (!ND4C_HAS_FIELD(layout, fingerprint)) {
    return "struct_size is that of nd4c_layout";
  }
  if (layout->rank < 1 || layout->rank > ND4C_LAYOUT_AXES) {
    return "rank is 1 to 12";
  }
  for (int32_t i = 0; i < layout->rank; i++) {
    if (layout->shape[i] < 1) {
      return "extents are 1 or more";
    }
  }
  switch (layout->tag) {
    case ND4C_LAYOUT_BLOCKED:
      return refuse_blocked(layout);
    case ND4C_LAYOUT_QUANTISED:
      return refuse_quantised(layout);
    case ND4C_LAYOUT_OPAQUE:
      return is_name(layout->owner) ? NULL : "an owner has a name of 1 to 31 letters";
    default:
      return "the tag is BLOCKED, QUANTISED or OPAQUE";
  }
}

nd4c_status nd4c_layout_check(const nd4c_layout *layout, const char *what) {
  const char *why = refuse(layout);
  int64_t needed = 0;
  if (why != NULL) {
    return nd4c_fail(ND4C_ABI, "%s: no layout: expected that %s", what, why);
  }
  if (!nd4c_layout_needs(layout, &needed) || layout->bytes < needed || layout->bytes < 1 ||
      layout->bytes > most_bytes) {
    return nd4c_fail(ND4C_ABI, "%s: no layout: bytes is %lld, the elements need %lld", what, (long long)layout->bytes,
                     (long long)needed);
  }
  return ND4C_OK;
}

bool nd4c_layout_shares(const char *engine, const nd4c_layout *layout, const char *other_engine,
                        const nd4c_layout *other) {
  const bool agreed = layout->tag == ND4C_LAYOUT_BLOCKED && layout->owner[0] != '\0' &&
                      strncmp(layout->owner, other->owner, sizeof layout->owner) == 0;
  return (agreed || strcmp(engine, other_engine) == 0) && nd4c_layout_equal(layout, other);
}

/* -- hash and text ------------------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

static uint64_t mix_name(uint64_t hash, const char *name) {
  for (int i = 0; i < ND4C_LAYOUT_NAME_SIZE && name[i] != '\0'; i++) {
    hash = mix(hash, (uint64_t)(unsigned char)name[i]);
  }
  return hash;
}

uint64_t nd4c_layout_hash(const nd4c_layout *layout) {
  if (layout == NULL) {
    return 0;
  }
  uint64_t hash =
      mix((uint64_t)layout->tag << 32 | (uint64_t)layout->dtype << 8 | (uint64_t)layout->rank, (uint64_t)layout->bytes);
  const bool blocked = layout->tag == ND4C_LAYOUT_BLOCKED;
  for (int32_t i = 0; i < layout->rank; i++) {
    hash = mix(hash, (uint64_t)layout->shape[i]);
    hash = blocked ? mix(mix(hash, (uint64_t)layout->padded[i]), (uint64_t)layout->strides[i]) : hash;
  }
  for (int32_t k = 0; blocked && k < layout->block_count; k++) {
    hash = mix(mix(hash, (uint64_t)layout->block_axes[k]), (uint64_t)layout->block_extents[k]);
  }
  if (layout->tag == ND4C_LAYOUT_QUANTISED) {
    hash = mix(mix(mix_name(hash, layout->format), (uint64_t)layout->block_elements), (uint64_t)layout->side_offset);
  } else if (!blocked) {
    hash = mix(mix_name(hash, layout->owner), layout->fingerprint);
  }
  return hash;
}

const char *nd4c_layout_text(const nd4c_layout *layout, char *buffer, size_t size) {
  if (layout == NULL) {
    return "strided";
  }
  if (layout->tag == ND4C_LAYOUT_BLOCKED) {
    return "blocked";
  }
  const bool quantised = layout->tag == ND4C_LAYOUT_QUANTISED;
  (void)snprintf(buffer, size, quantised ? "quantised (%.*s)" : "opaque (%.*s's)", ND4C_LAYOUT_NAME_SIZE - 1,
                 quantised ? layout->format : layout->owner);
  return buffer;
}
