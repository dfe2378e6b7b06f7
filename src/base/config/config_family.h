/* Properties with one member for each device: nd4j.device.memory.cap.<TYPE>.<INDEX>. The configuration table has one
 * row for the family; members are numbered. config.c calls this. */
#ifndef ND4C_BASE_CONFIG_CONFIG_FAMILY_H
#define ND4C_BASE_CONFIG_CONFIG_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/device.h"

enum {
  ND4C_FAMILY_TYPES = 10,   /* upper bound of the types' numbers */
  ND4C_FAMILY_INDEXES = 32, /* devices of a type that can be named */
  ND4C_FAMILY_MEMBERS = ND4C_FAMILY_TYPES * ND4C_FAMILY_INDEXES,
  ND4C_FAMILY_NAME_SIZE = 64
};

static inline int nd4c_family_member(nd4c_device_type type, int32_t index) {
  return (int)type * ND4C_FAMILY_INDEXES + index;
}

/* True if the name, of a property or a variable, has the members' prefix. */
bool nd4c_family_claims(const char *name);
/* The member with that name; -1 if the rest after the prefix is not a device. */
int nd4c_family_find(const char *name);
/* Names of a member; false if no device type has its number. */
bool nd4c_family_names(int member, char property[ND4C_FAMILY_NAME_SIZE], char environment[ND4C_FAMILY_NAME_SIZE]);
/* True if an environment variable may name a member. */
bool nd4c_family_in_environment(void);
/* Finds a variable that has the members' prefix and a value but names no member; false if there is none. */
bool nd4c_family_stray(char *name, size_t size);

#endif
