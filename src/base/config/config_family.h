/* Properties that there is one of for each device: nd4j.device.memory.cap.<TYPE>.<INDEX>. The table has one row for
 * all; a member is known by its number. */
#ifndef ND4C_BASE_CONFIG_FAMILY_H
#define ND4C_BASE_CONFIG_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nd4c/device.h"

enum {
  ND4C_FAMILY_TYPES = 10,   /* types' numbers are below */
  ND4C_FAMILY_INDEXES = 32, /* devices of a type that can be named */
  ND4C_FAMILY_MEMBERS = ND4C_FAMILY_TYPES * ND4C_FAMILY_INDEXES,
  ND4C_FAMILY_NAME_SIZE = 64
};

static inline int nd4c_family_member(nd4c_device_type type, int32_t index) {
  return (int)type * ND4C_FAMILY_INDEXES + index;
}

/* True if the name, of a property or a variable, begins as the members' do. */
bool nd4c_family_claims(const char *name);
/* The member of that name; -1 if what follows the prefix is no device. */
int nd4c_family_find(const char *name);
/* Names of a member; false if its number stands for no device type. */
bool nd4c_family_names(int member, char property[ND4C_FAMILY_NAME_SIZE], char environment[ND4C_FAMILY_NAME_SIZE]);
/* True if a variable of the environment may be a member's. */
bool nd4c_family_in_environment(void);
/* The name of a variable that begins as the members' do, has a value and is no member's; false if there is none. */
bool nd4c_family_stray(char *name, size_t size);

#endif
