/* The op table at run time: schemas and definitions, all derived from ND4C_OP_TABLE. Dispatch, graphs and the importer
 * look ops up by number, programs and plug-ins' models by name. */
#include "ops/op.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "device/plugin_ops.h"
#include "ops/infer/rules.h"
#include "ops/signature.h"

/* -- dtype sets: by kind, of the rows that this build has, narrow ones apart ------------------------------------ */

#ifdef ND4C_DTYPES_LITE
#define BUILD_FULL 0
#else
#define BUILD_FULL 1
#endif
#define BUILD_LITE 1

#define KIND_BIT(NAME, name, number, build, kind, bits, wanted)                                        \
  | (ND4C_KIND_##kind == (wanted) && BUILD_##build && (bits) >= ((wanted) == ND4C_KIND_FLOAT ? 16 : 8) \
         ? ND4C_DTYPE_BIT(number)                                                                      \
         : 0)
#define FLOAT8_BIT(NAME, name, number, build, kind, bits, ...) \
  | (ND4C_KIND_##kind == ND4C_KIND_FLOAT && (bits) == 8 && BUILD_##build ? ND4C_DTYPE_BIT(number) : 0)
#define PACKED_BIT(NAME, name, number, build, kind, bits, ...) \
  | ((bits) < 8 && BUILD_##build ? ND4C_DTYPE_BIT(number) : 0)
#define BOOL_BIT(NAME, name, number, build, kind, bits, ...) \
  KIND_BIT(NAME, name, number, build, kind, bits, ND4C_KIND_BOOL)
#define INT_BIT(NAME, name, number, build, kind, bits, ...) \
  KIND_BIT(NAME, name, number, build, kind, bits, ND4C_KIND_INT)
#define UINT_BIT(NAME, name, number, build, kind, bits, ...) \
  KIND_BIT(NAME, name, number, build, kind, bits, ND4C_KIND_UINT)
#define FLOAT_BIT(NAME, name, number, build, kind, bits, ...) \
  KIND_BIT(NAME, name, number, build, kind, bits, ND4C_KIND_FLOAT)
#define COMPLEX_BIT(NAME, name, number, build, kind, bits, ...) \
  KIND_BIT(NAME, name, number, build, kind, bits, ND4C_KIND_COMPLEX)
#define STRING_BIT(NAME, name, number, build, kind, bits, ...) \
  KIND_BIT(NAME, name, number, build, kind, bits, ND4C_KIND_STRING)

#define DTYPES_BOOLEAN (0 ND4C_DTYPE_TABLE(BOOL_BIT))
#define DTYPES_REAL_FLOATING (0 ND4C_DTYPE_TABLE(FLOAT_BIT))
#define DTYPES_FLOATING (DTYPES_REAL_FLOATING ND4C_DTYPE_TABLE(COMPLEX_BIT))
#define DTYPES_REAL (DTYPES_REAL_FLOATING ND4C_DTYPE_TABLE(INT_BIT) ND4C_DTYPE_TABLE(UINT_BIT))
#define DTYPES_INTEGER (0 ND4C_DTYPE_TABLE(INT_BIT) ND4C_DTYPE_TABLE(UINT_BIT))
#define DTYPES_INTEGER_OR_BOOL (DTYPES_INTEGER | DTYPES_BOOLEAN)
#define DTYPES_RANDOM_STATE (ND4C_DTYPE_BIT(ND4C_INT64) | (BUILD_FULL ? ND4C_DTYPE_BIT(ND4C_UINT64) : 0))
#define DTYPES_NUMERIC (DTYPES_REAL ND4C_DTYPE_TABLE(COMPLEX_BIT))
#define DTYPES_NUMBER_OR_BOOL (DTYPES_NUMERIC ND4C_DTYPE_TABLE(BOOL_BIT))
#define DTYPES_BYTE ND4C_DTYPE_BIT(ND4C_UINT8)
#define DTYPES_TEXT (0 ND4C_DTYPE_TABLE(STRING_BIT))
#define DTYPES_TOKEN (DTYPES_TEXT | ND4C_DTYPE_BIT(ND4C_INT32) | ND4C_DTYPE_BIT(ND4C_INT64))
#define DTYPES_REAL_OR_TEXT (DTYPES_REAL ND4C_DTYPE_TABLE(STRING_BIT))
#define DTYPES_ANY (DTYPES_NUMBER_OR_BOOL ND4C_DTYPE_TABLE(STRING_BIT))
/* CASTABLE: for cast. MOVABLE: for ops that move elements and need a byte for each. STORED: for ops that move elements
 * and keep C order, so that elements may be packed. */
#define DTYPES_STORED_NUMBER (DTYPES_NUMBER_OR_BOOL ND4C_DTYPE_TABLE(FLOAT8_BIT) ND4C_DTYPE_TABLE(PACKED_BIT))
#define DTYPES_CASTABLE (DTYPES_STORED_NUMBER ND4C_DTYPE_TABLE(STRING_BIT))
#define DTYPES_MOVABLE (DTYPES_ANY ND4C_DTYPE_TABLE(FLOAT8_BIT))
#define DTYPES_STORED (DTYPES_MOVABLE ND4C_DTYPE_TABLE(PACKED_BIT))
/* QUANTIZABLE: inputs of quantisation. QUANTIZED: its outputs, and int32. INT8S: factors of products of bytes. */
#define DTYPES_FLOAT32 ND4C_DTYPE_BIT(ND4C_FLOAT32)
#define DTYPES_QUANTIZABLE (DTYPES_REAL_FLOATING | ND4C_DTYPE_BIT(ND4C_INT32))
#define DTYPES_INT8S (ND4C_DTYPE_BIT(ND4C_INT8) | ND4C_DTYPE_BIT(ND4C_UINT8))
#define DTYPES_INT16S (BUILD_FULL ? ND4C_DTYPE_BIT(ND4C_INT16) | ND4C_DTYPE_BIT(ND4C_UINT16) : 0)
#define DTYPES_QUANTIZED                                       \
  (DTYPES_INT8S | DTYPES_INT16S | ND4C_DTYPE_BIT(ND4C_INT32) | \
   ((0 ND4C_DTYPE_TABLE(FLOAT8_BIT)) & ~ND4C_DTYPE_BIT(ND4C_FLOAT8_E8M0FNU)) ND4C_DTYPE_TABLE(PACKED_BIT))

#define DTYPES_INDEX (ND4C_DTYPE_BIT(ND4C_INT32) | ND4C_DTYPE_BIT(ND4C_INT64))

/* -- schemas --------------------------------------------------------------------------------------------------- */

#define INPUT_IN(name) {#name, false, false},
#define INPUT_OPT(name) {#name, true, false},
#define INPUT_VAR(name) {#name, false, true},
#define INPUT_ROW(op, kind, name, ...) ND4C_FOR_INPUT(kind, INPUT_##kind)(name)

#define ATTR_INT(name, preset) {#name, {ND4C_ATTR_INT, 0, {.i = (preset)}}},
#define ATTR_BOOL(name, preset) {#name, {ND4C_ATTR_BOOL, 0, {.i = (preset)}}},
#define ATTR_FLOAT(name, preset) {#name, {ND4C_ATTR_FLOAT, 0, {.f = (preset)}}},
#define ATTR_INTS(name, preset) {#name, {ND4C_ATTR_INTS, 0, {.ints = NULL}}},
#define ATTR_FLOATS(name, preset) {#name, {ND4C_ATTR_FLOATS, 0, {.floats = NULL}}},
#define ATTR_DTYPE(name, preset) {#name, {ND4C_ATTR_DTYPE, 0, {.i = (preset)}}},
#define ATTR_STRING(name, preset) {#name, {ND4C_ATTR_STRING, 0, {.string = (preset)}}},
#define ATTR_WORD(name, type, preset) {#name, {ND4C_ATTR_INT, 0, {.i = (preset)}}},
#define ATTR_WORDS(name, type, preset) {#name, {ND4C_ATTR_INTS, 0, {.ints = NULL}}},
#define ATTR_ROW(op, kind, name, ...) ND4C_FOR_ATTR(kind, ATTR_##kind)(name, __VA_ARGS__)

#define OUTPUT_NAME(name) #name,
#define OUTPUT_ROW(op, kind, name, ...) ND4C_FOR_OUTPUT(kind, OUTPUT_NAME)(name)

/* A list of attributes may be empty, which C17 has no initialiser for: each ends in a row that is not counted. */
#define SCHEMA(number, version, name, category, SIGNATURE, ...)                                  \
  static const nd4c_op_input inputs_##name[] = {SIGNATURE(INPUT_ROW, name){NULL, false, false}}; \
  static const nd4c_op_attr attrs_##name[] = {SIGNATURE(ATTR_ROW, name){NULL, {0}}};             \
  static const char *const outputs_##name[] = {SIGNATURE(OUTPUT_ROW, name)};
ND4C_OP_TABLE(SCHEMA)
#undef SCHEMA

/* -- definitions ----------------------------------------------------------------------------------------------- */

/* Whether results may be views: the family SHAPE, but for what always copies. */
#define VIEW_OF_SHAPE(rule) , nd4c_view_##rule
#define VIEW(category, rule) VIEW_GIVEN(VIEW_OF_##category(rule), NULL, )
#define VIEW_GIVEN(...) VIEW_SECOND(__VA_ARGS__)
#define VIEW_SECOND(first, second, ...) second
#define nd4c_view_concat NULL
#define nd4c_view_gather NULL

#define IS_ELEMENTWISE(category)                                                                          \
  (ND4C_CATEGORY_##category == ND4C_CATEGORY_UNARY || ND4C_CATEGORY_##category == ND4C_CATEGORY_BINARY || \
   ND4C_CATEGORY_##category == ND4C_CATEGORY_TERNARY)

/* A row's names and its trait: what stands after the doc line. */
#define NAMES(names, ...) names
#define TRAIT(...) TRAIT_OF(__VA_ARGS__, NONE, )
#define TRAIT_OF(names, trait, ...) TRAIT_NUMBER(trait)
#define TRAIT_NUMBER(trait) TRAIT_##trait
enum { TRAIT_NONE, TRAIT_C_ORDER, TRAIT_INPUT_ORDER, TRAIT_FIRST_ORDER, TRAIT_REPLACES, TRAIT_REFUSES_LATE };

#define ORDER(category, trait)                                                \
  ((trait) == TRAIT_FIRST_ORDER                           ? ND4C_ORDER_FIRST  \
   : (trait) == TRAIT_INPUT_ORDER                         ? ND4C_ORDER_INPUTS \
   : IS_ELEMENTWISE(category) && (trait) != TRAIT_C_ORDER ? ND4C_ORDER_INPUTS \
                                                          : ND4C_ORDER_C)
#define ALIAS(category, trait) \
  (IS_ELEMENTWISE(category) ? ND4C_ALIAS_SAME : (trait) == TRAIT_REPLACES ? ND4C_ALIAS_FIRST : ND4C_ALIAS_NONE)

#define DEFINITION(number_, version_, name_, category_, SIGNATURE, rule, DTYPES, doc_, ...) \
  {                                                                                         \
      .info = {.struct_size = sizeof(nd4c_op_info),                                         \
               .op = (number_),                                                             \
               .version = (version_),                                                       \
               .name = #name_,                                                              \
               .category_name = #category_,                                                 \
               .category = ND4C_CATEGORY_##category_,                                       \
               .dtypes = DTYPES_##DTYPES,                                                   \
               .input_count = ND4C_IN_##name_##_count,                                      \
               .attr_count = ND4C_ATTR_##name_##_count,                                     \
               .output_count = (int32_t)(sizeof outputs_##name_ / sizeof *outputs_##name_), \
               .inputs = inputs_##name_,                                                    \
               .attrs = attrs_##name_,                                                      \
               .doc = doc_,                                                                 \
               .names = NAMES(__VA_ARGS__, ),                                               \
               .provider = ""},                                                             \
      .output_names = outputs_##name_,                                                      \
      .infer = nd4c_infer_##rule,                                                           \
      .view = VIEW(category_, rule),                                                        \
      .order = ORDER(category_, TRAIT(__VA_ARGS__)),                                        \
      .alias = ALIAS(category_, TRAIT(__VA_ARGS__)),                                        \
      .refuses_late = TRAIT(__VA_ARGS__) == TRAIT_REFUSES_LATE,                             \
  },

static const nd4c_op_def definitions[] = {ND4C_OP_TABLE(DEFINITION)};

enum {
#define POSITION(number, version, name, ...) POSITION_##name,
  ND4C_OP_TABLE(POSITION)
#undef POSITION
      OP_COUNT
};

/* Position in `definitions` by number, counted from 1; 0 where a number is not in use. */
static const uint16_t positions[] = {
#define POSITION_ENTRY(number, version, name, ...) [number] = POSITION_##name + 1,
    ND4C_OP_TABLE(POSITION_ENTRY)
#undef POSITION_ENTRY
};

const nd4c_op_def *nd4c_op_get_def(nd4c_op op) {
  if (op >= sizeof positions / sizeof *positions || positions[op] == 0) {
    return op >= ND4C_OP_PLUGIN ? nd4c_plugin_ops_at(op - ND4C_OP_PLUGIN) : NULL;
  }
  return &definitions[positions[op] - 1];
}

int32_t nd4c_op_count(void) {
  return OP_COUNT + nd4c_plugin_ops_count();
}

const nd4c_op_info *nd4c_op_at(int32_t position) {
  if (position < 0) {
    return NULL;
  }
  if (position < OP_COUNT) {
    return &definitions[position].info;
  }
  const nd4c_op_def *def = nd4c_plugin_ops_at((uint32_t)(position - OP_COUNT));
  return def == NULL ? NULL : &def->info;
}

const nd4c_op_info *nd4c_op_get(nd4c_op op) {
  const nd4c_op_def *def = nd4c_op_get_def(op);
  return def == NULL ? NULL : &def->info;
}

/* -- by name --------------------------------------------------------------------------------------------------- */

enum { LONGEST_NAME = 63 };

/* The op whose name differs least, plug-ins' ops included; of a name with a dot, among the ops of that namespace. */
static const char *nearest_name(const char *name, size_t length) {
  const char *dot = memchr(name, '.', length), *nearest = NULL;
  const size_t prefix = dot != NULL ? (size_t)(dot - name) + 1 : 0;
  size_t best = 0;
  for (int32_t i = 0; i < nd4c_op_count() && length <= LONGEST_NAME; i++) {
    const char *candidate = nd4c_op_at(i)->name;
    if (strlen(candidate) > LONGEST_NAME || strncmp(candidate, name, prefix) != 0) {
      continue;
    }
    const size_t distance = nd4c_text_edits(name, length, candidate);
    if (nearest == NULL || distance < best) {
      nearest = candidate;
      best = distance;
    }
  }
  return nearest;
}

/* The highest version, up to `most`, of the op of that name without its version, among the built-in ones and those of
 * plug-ins that were loaded. */
static const nd4c_op_info *find_known(const char *name, size_t length, uint32_t most) {
  for (int32_t i = 0; i < OP_COUNT; i++) {
    const nd4c_op_info *candidate = &definitions[i].info;
    if (strlen(candidate->name) == length && memcmp(candidate->name, name, length) == 0) {
      return candidate->version <= most ? candidate : NULL;
    }
  }
  const nd4c_op_def *def = nd4c_plugin_ops_find(name, length, most);
  return def != NULL ? &def->info : NULL;
}

static bool is_version(const nd4c_op_info *info, const char *version) {
  char expected[16];
  (void)snprintf(expected, sizeof expected, "%u", (unsigned)info->version);
  return strcmp(version, expected) == 0;
}

/* *info, the highest version of an op, or the version that the text behind the name's '@' asks for. */
static nd4c_status take_version(const char *name, size_t length, const nd4c_op_info **info) {
  char known[2 * LONGEST_NAME];
  int used = 0;
  for (const nd4c_op_info *at = *info; at != NULL; at = find_known(name, length, at->version - 1)) {
    if (is_version(at, name + length + 1)) {
      *info = at;
      return ND4C_OK;
    }
    if (used >= 0 && (size_t)used < sizeof known) {
      used += snprintf(known + used, sizeof known - (size_t)used, "%s%s@%u", used > 0 ? ", " : "",
                       used > 0 ? "" : at->name, (unsigned)at->version);
    }
  }
  return nd4c_fail(ND4C_NAME, "op '%.64s' is not known: this build has %s", name, known);
}

/* Built-in ops have no namespace, so a name with one is a plug-in's op. The plug-in may not be loaded yet. */
static nd4c_status fail_foreign(const char *name) {
  return nd4c_fail(ND4C_NAME,
                   "op '%.64s' is not known: no plug-in that is loaded brings it. What to do: name the plug-in in "
                   "nd4c.backend.plugins (ND4C_BACKEND_PLUGINS), or load it with nd4c_backend_load",
                   name);
}

const nd4c_op_info *nd4c_op_find_until(const char *name, int64_t most) {
  return most < 1 ? NULL : find_known(name, strlen(name), most < UINT32_MAX ? (uint32_t)most : UINT32_MAX);
}

nd4c_status nd4c_op_find(const char *name, const nd4c_op_info **info) {
  if (name == NULL || info == NULL) {
    return nd4c_fail(ND4C_NULL_ARGUMENT, "nd4c_op_find: %s is NULL", name == NULL ? "name" : "info");
  }
  const size_t length = strcspn(name, "@");
  const bool foreign = memchr(name, '.', length) != NULL;
  const nd4c_op_info *found = find_known(name, length, UINT32_MAX);
  if (found == NULL && foreign) {
    ND4C_TRY(nd4c_backend_probe(false));
    found = find_known(name, length, UINT32_MAX);
  }
  if (found != NULL) {
    if (name[length] == '@') {
      ND4C_TRY(take_version(name, length, &found));
    }
    *info = found;
    return ND4C_OK;
  }
  const char *nearest = nearest_name(name, length);
  if (nearest == NULL && foreign) {
    return fail_foreign(name);
  }
  if (nearest == NULL) {
    return nd4c_fail(ND4C_NAME, "op '%.64s' is not known: no op's name has more than %d letters", name, LONGEST_NAME);
  }
  return nd4c_fail(ND4C_NAME, "op '%.64s' is not known: the nearest is '%s'", name, nearest);
}
