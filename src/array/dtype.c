/* Names, sizes and promotion of dtypes: implements nd4c/dtype.h. All layers ask for names and sizes; ops/infer promotes
 * dtypes. */
#include "nd4c/dtype.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"

#define AVAILABLE_LITE true
#if defined(ND4C_DTYPES_LITE)
#define AVAILABLE_FULL false
#else
#define AVAILABLE_FULL true
#endif

static const nd4c_dtype_info table[ND4C_DTYPE_END] = {
#define ROW(NAME, name, number, build, kind, bits, block_elements, block_bytes, alignment, numpy) \
  [number] = {#name, numpy, ND4C_KIND_##kind, bits, block_elements, block_bytes, alignment, AVAILABLE_##build},
    ND4C_DTYPE_TABLE(ROW)
#undef ROW
};

const nd4c_dtype_info *nd4c_dtype_get_info(nd4c_dtype dtype) {
  return dtype > ND4C_DTYPE_NONE && dtype < ND4C_DTYPE_END ? &table[dtype] : NULL;
}

const char *nd4c_dtype_name(nd4c_dtype dtype) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  return info != NULL ? info->name : "?";
}

int64_t nd4c_dtype_size(nd4c_dtype dtype) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  return info != NULL ? info->block_bytes / info->block_elements : 0;
}

int64_t nd4c_dtype_bytes(nd4c_dtype dtype, int64_t count) {
  const nd4c_dtype_info *info = nd4c_dtype_get_info(dtype);
  if (info == NULL || count <= 0) {
    return 0;
  }
  int64_t blocks = info->block_elements == 1 ? count : (count - 1) / info->block_elements + 1;
  return blocks * info->block_bytes;
}

/* -- names ---------------------------------------------------------------------------------------------------- */

static bool is_narrow(nd4c_dtype dtype) {
  return (ND4C_DTYPES_NARROW & ND4C_DTYPE_BIT(dtype)) != 0;
}

/* "f32", "i8", "bf16": the kind's letter and the bits. */
static void short_name(const nd4c_dtype_info *info, char *text, size_t size) {
  static const char *const letters[] = {
      [ND4C_KIND_NONE] = "",   [ND4C_KIND_BOOL] = "",     [ND4C_KIND_INT] = "i",  [ND4C_KIND_UINT] = "u",
      [ND4C_KIND_FLOAT] = "f", [ND4C_KIND_COMPLEX] = "c", [ND4C_KIND_STRING] = ""};
  const char *letter = strncmp(info->name, "bfloat", 6) == 0 ? "bf" : letters[info->kind];
  (void)snprintf(text, size, "%s%d", letter, (int)info->bits);
}

/* The rows with this name, NumPy type or short name. NumPy counts bytes, the short names bits, so "i8" names two rows.
 * Narrow rows are found by name only: they share NumPy types, and their bits would be read as NumPy's bytes. */
static nd4c_dtype_set rows_named(const char *name) {
  nd4c_dtype_set found = 0;
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    char bits[16];
    short_name(&table[dtype], bits, sizeof bits);
    bool other = strcmp(name, table[dtype].numpy_type) == 0 || strcmp(name, table[dtype].numpy_type + 1) == 0 ||
                 strcmp(name, bits) == 0;
    if (strcmp(name, table[dtype].name) == 0 || (other && !is_narrow(dtype))) {
      found |= ND4C_DTYPE_BIT(dtype);
    }
  }
  return found;
}

static void print_names(nd4c_text *text, nd4c_dtype_set set) {
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    if ((set & ND4C_DTYPE_BIT(dtype)) != 0 && table[dtype].available) {
      nd4c_text_print(text, "%s%s", text->length > 0 ? ", " : "", table[dtype].name);
    }
  }
}

static nd4c_status fail_names(const char *name, const char *what, nd4c_dtype_set set) {
  nd4c_text names = {0};
  print_names(&names, set);
  nd4c_status status =
      nd4c_fail(ND4C_NAME, "dtype \"%.100s\" %s %s", name, what, names.bytes != NULL ? names.bytes : "(no memory)");
  nd4c_text_free(&names);
  return status;
}

nd4c_status nd4c_dtype_find(const char *name, nd4c_dtype *dtype) {
  if (name == NULL || dtype == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "dtype_find: %s is NULL", name == NULL ? "name" : "dtype");
  }
  nd4c_dtype_set found = rows_named(name);
  if (found == 0) {
    return fail_names(name, "is not known; there are", ~UINT64_C(0));
  }
  if ((found & (found - 1)) != 0) {
    return fail_names(name, "may mean bits or NumPy's bytes; give one of", found);
  }
  nd4c_dtype result = 1;
  while (found != ND4C_DTYPE_BIT(result)) {
    result++;
  }
  if (!table[result].available) {
    return nd4c_fail(ND4C_DTYPE, "dtype %s is not in this build of nd4c (ND4C_DTYPES=lite)", table[result].name);
  }
  *dtype = result;
  return ND4C_OK;
}

/* -- promotion ------------------------------------------------------------------------------------------------ */

/* The narrowest available row of a kind with at least `bits` bits; NONE if there is none. bfloat16 is never the answer,
 * because it has less precision than its bits suggest. */
static nd4c_dtype narrowest(nd4c_dtype_kind kind, int32_t bits) {
  nd4c_dtype best = ND4C_DTYPE_NONE;
  for (nd4c_dtype dtype = 1; dtype < ND4C_DTYPE_END; dtype++) {
    const nd4c_dtype_info *info = &table[dtype];
    if (info->kind == kind && info->available && dtype != ND4C_BFLOAT16 && !is_narrow(dtype) && info->bits >= bits &&
        (best == ND4C_DTYPE_NONE || info->bits < table[best].bits)) {
      best = dtype;
    }
  }
  return best;
}

static bool is_integer(nd4c_dtype_kind kind) {
  return kind == ND4C_KIND_INT || kind == ND4C_KIND_UINT;
}

static nd4c_dtype promote_integers(const nd4c_dtype_info *a, const nd4c_dtype_info *b) {
  if (a->kind == b->kind) {
    return narrowest(a->kind, a->bits > b->bits ? a->bits : b->bits);
  }
  const nd4c_dtype_info *is_signed = a->kind == ND4C_KIND_INT ? a : b;
  const nd4c_dtype_info *is_unsigned = a->kind == ND4C_KIND_INT ? b : a;
  int32_t needed = 2 * is_unsigned->bits > is_signed->bits && is_unsigned->bits >= is_signed->bits
                       ? 2 * is_unsigned->bits
                       : is_signed->bits;
  nd4c_dtype result = narrowest(ND4C_KIND_INT, needed);
  return result != ND4C_DTYPE_NONE ? result : ND4C_FLOAT64;
}

/* Bits of the float to which NumPy promotes an integer of `bits`. */
static int32_t float_bits_for(int32_t bits) {
  return bits <= 8 ? 16 : bits <= 16 ? 32 : 64;
}

static nd4c_dtype promote_float(nd4c_dtype a, nd4c_dtype b) {
  const nd4c_dtype_info *f = &table[a], *other = &table[b];
  int32_t bits = is_integer(other->kind) ? float_bits_for(other->bits) : other->bits;
  if (bits <= 16 && (is_integer(other->kind) || a == b)) {
    return a;
  }
  if (a != b && f->bits == 16 && bits == 16) {
    return ND4C_FLOAT32; /* float16 has more digits, bfloat16 the larger range */
  }
  return narrowest(ND4C_KIND_FLOAT, f->bits > bits ? f->bits : bits);
}

static nd4c_dtype promote_complex(const nd4c_dtype_info *c, const nd4c_dtype_info *other) {
  int32_t part = other->kind == ND4C_KIND_COMPLEX ? other->bits / 2
                 : is_integer(other->kind)        ? float_bits_for(other->bits)
                                                  : other->bits;
  return narrowest(ND4C_KIND_COMPLEX, 2 * part > c->bits ? 2 * part : c->bits);
}

static nd4c_dtype promoted(nd4c_dtype a, nd4c_dtype b) {
  nd4c_dtype_kind a_kind = table[a].kind, b_kind = table[b].kind;
  if (a == b) {
    return a;
  }
  if (a_kind == ND4C_KIND_STRING || b_kind == ND4C_KIND_STRING || is_narrow(a) || is_narrow(b)) {
    return ND4C_DTYPE_NONE;
  }
  if (a_kind == ND4C_KIND_BOOL || b_kind == ND4C_KIND_BOOL) {
    return a_kind == ND4C_KIND_BOOL ? b : a;
  }
  if (a_kind == ND4C_KIND_COMPLEX || b_kind == ND4C_KIND_COMPLEX) {
    return a_kind == ND4C_KIND_COMPLEX ? promote_complex(&table[a], &table[b]) : promote_complex(&table[b], &table[a]);
  }
  if (a_kind == ND4C_KIND_FLOAT || b_kind == ND4C_KIND_FLOAT) {
    return a_kind == ND4C_KIND_FLOAT ? promote_float(a, b) : promote_float(b, a);
  }
  return promote_integers(&table[a], &table[b]);
}

nd4c_status nd4c_dtype_promote(nd4c_dtype a, nd4c_dtype b, nd4c_dtype *result) {
  if (result == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "dtype_promote: result is NULL");
  }
  nd4c_dtype given[] = {a, b};
  for (int i = 0; i < 2; i++) {
    const nd4c_dtype_info *info = nd4c_dtype_get_info(given[i]);
    if (info == NULL || !info->available) {
      return nd4c_fail(ND4C_DTYPE, "dtype_promote: %s (%d) is not a dtype of this build", nd4c_dtype_name(given[i]),
                       (int)given[i]);
    }
  }
  nd4c_dtype dtype = promoted(a, b);
  if (dtype == ND4C_DTYPE_NONE) {
    return nd4c_fail(ND4C_DTYPE, "dtypes %s and %s do not mix%s", table[a].name, table[b].name,
                     is_narrow(a) || is_narrow(b) ? ": cast one of them first" : "");
  }
  *result = dtype;
  return ND4C_OK;
}

bool nd4c_dtype_can_cast(nd4c_dtype from, nd4c_dtype to) {
  const nd4c_dtype_info *a = nd4c_dtype_get_info(from), *b = nd4c_dtype_get_info(to);
  return a != NULL && b != NULL && a->available && b->available && promoted(from, to) == to;
}
