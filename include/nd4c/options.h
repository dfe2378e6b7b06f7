/* The convention of options structs: what op functions with many parameters (nd4c/ops.h) take for everything that a
 * caller may leave out.
 *
 *   nd4c_conv_options options = ND4C_CONV_DEFAULTS;
 *   options.groups = 4;
 *   nd4c_conv(x, w, &options, &y);
 *
 * NULL stands for the defaults. Later versions of nd4c append fields, and no field moves: struct_size says which fields
 * the caller's header has. The library takes the default for a field beyond it. A struct that is longer than the
 * library's own is accepted if the bytes beyond are zero, and refused with ND4C_ARGUMENT if they are not, since the
 * library would ignore what they say. */
#ifndef ND4C_OPTIONS_H
#define ND4C_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* The struct_size of a type: its bytes up to the end of its last field. Padding behind that field does not count, since
 * a later field may be put there. */
#define ND4C_OPTIONS_SIZE(type, last) ((uint32_t)(offsetof(type, last) + sizeof(((type *)0)->last)))

#endif
