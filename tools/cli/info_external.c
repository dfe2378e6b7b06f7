/* Implements info_external.h: the kinds of memory that a device imports and exports, and the arrays over imported
 * memory. info.c calls it for the text, info_json.c for the JSON. */
#include <inttypes.h>
#include <stdio.h>

#include "info_external.h"

static void print_kinds(const char *verb, uint32_t set) {
  const char *between = verb;
  for (nd4c_external_kind kind = ND4C_EXTERNAL_HOST_POINTER; kind <= ND4C_EXTERNAL_NATIVE; kind++) {
    if ((set & ND4C_EXTERNAL_BIT(kind)) != 0) {
      (void)printf("%s%s", between, nd4c_external_kind_name(kind));
      between = ", ";
    }
  }
}

void info_print_external(const nd4c_device_info *info, const nd4c_memory_info *memory) {
  if (info->imports != 0 || info->exports != 0 || info->registers_host) {
    print_kinds("    imports: ", info->imports);
    print_kinds(info->imports != 0 ? "; exports: " : "    exports: ", info->exports);
    (void)printf("%s\n", info->registers_host ? "; registers host memory" : "");
  }
  if (memory->imported_count > 0) {
    (void)printf("    %" PRId64 " arrays of %" PRId64 " bytes over memory of others\n", memory->imported_count,
                 memory->imported_bytes);
  }
}

static void add_kinds(cJSON *object, const char *name, uint32_t set) {
  cJSON *names = cJSON_AddArrayToObject(object, name);
  for (nd4c_external_kind kind = ND4C_EXTERNAL_HOST_POINTER; kind <= ND4C_EXTERNAL_NATIVE; kind++) {
    if ((set & ND4C_EXTERNAL_BIT(kind)) != 0) {
      (void)cJSON_AddItemToArray(names, cJSON_CreateString(nd4c_external_kind_name(kind)));
    }
  }
}

void info_add_external(cJSON *object, const nd4c_device_info *info, const nd4c_memory_info *memory) {
  add_kinds(object, "imports", info->imports);
  add_kinds(object, "exports", info->exports);
  (void)cJSON_AddBoolToObject(object, "registers_host", info->registers_host);
  (void)cJSON_AddNumberToObject(object, "imported_count", (double)memory->imported_count);
  (void)cJSON_AddNumberToObject(object, "imported_bytes", (double)memory->imported_bytes);
}
