/* Implements config_family.h: the names of the family's members, and the search for them in the environment. config.c
 * calls it; device/memory/memory_cap.c asks for a member's names. */
#include "base/config/config_family.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"
#include "base/text.h"

static const char property_prefix[] = "nd4j.device.memory.cap.";
static const char variable_prefix[] = "ND4J_DEVICE_MEMORY_CAP_";

#define TYPE_NAME(NAME, number, name, priority) [number] = #NAME,
static const char *const type_names[ND4C_FAMILY_TYPES] = {ND4C_DEVICE_TYPE_TABLE(TYPE_NAME)};
#undef TYPE_NAME

static bool begins_with(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool nd4c_family_claims(const char *name) {
  return begins_with(name, property_prefix) || begins_with(name, variable_prefix);
}

/* A number of at most two digits below the limit; -1 otherwise. */
static int parse_index(const char *text) {
  int index = isdigit((unsigned char)text[0]) ? text[0] - '0' : -1;
  if (index >= 0 && text[1] != '\0') {
    index = index > 0 && isdigit((unsigned char)text[1]) && text[2] == '\0' ? 10 * index + (text[1] - '0') : -1;
  }
  return index < ND4C_FAMILY_INDEXES ? index : -1;
}

int nd4c_family_find(const char *name) {
  bool property = begins_with(name, property_prefix);
  const char *device = name + (property ? sizeof property_prefix : sizeof variable_prefix) - 1;
  for (int type = 0; type < ND4C_FAMILY_TYPES; type++) {
    size_t length = type_names[type] != NULL ? strlen(type_names[type]) : 0;
    if (length > 0 && nd4c_text_begins_any_case(device, type_names[type], length) &&
        device[length] == (property ? '.' : '_')) {
      int index = parse_index(device + length + 1);
      return index < 0 ? -1 : nd4c_family_member((nd4c_device_type)type, index);
    }
  }
  return -1;
}

bool nd4c_family_names(int member, char property[ND4C_FAMILY_NAME_SIZE], char environment[ND4C_FAMILY_NAME_SIZE]) {
  const char *type = type_names[member / ND4C_FAMILY_INDEXES];
  if (type == NULL) {
    return false;
  }
  int index = member % ND4C_FAMILY_INDEXES;
  (void)snprintf(property, ND4C_FAMILY_NAME_SIZE, "%s%s.%d", property_prefix, type, index);
  (void)snprintf(environment, ND4C_FAMILY_NAME_SIZE, "%s%s_%d", variable_prefix, type, index);
  return true;
}

bool nd4c_family_in_environment(void) {
  return nd4c_os_environment_at(variable_prefix, 0) != NULL;
}

/* Variables are read by their exact names: one in another case names no property. */
static bool is_member(const char *variable) {
  char property[ND4C_FAMILY_NAME_SIZE], environment[ND4C_FAMILY_NAME_SIZE];
  int member = nd4c_family_find(variable);
  return member >= 0 && nd4c_family_names(member, property, environment) && strcmp(variable, environment) == 0;
}

bool nd4c_family_stray(char *name, size_t size) {
  const char *variable = NULL;
  for (int32_t i = 0; (variable = nd4c_os_environment_at(variable_prefix, i)) != NULL; i++) {
    const char *equals = strchr(variable, '=');
    if (equals == NULL || equals[1] == '\0') {
      continue;
    }
    (void)snprintf(name, size, "%.*s", (int)(equals - variable), variable);
    if (!is_member(name)) {
      return true;
    }
  }
  return false;
}
