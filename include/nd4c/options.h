/* Options structs. An op function with many parameters (nd4c/ops.h) takes one, with a field for each argument that a
 * caller may leave out.
 *
 *   nd4c_conv_options options = ND4C_CONV_DEFAULTS;
 *   options.groups = 4;
 *   nd4c_conv(x, w, &options, &y);
 *
 * NULL stands for the defaults. Later versions of nd4c append fields, and no field moves: struct_size says which fields
 * the caller's header has. The library takes the defaults for fields beyond struct_size. If a struct is longer than the
 * library's own, the bytes that the library does not know must be zero: otherwise the caller asks for something that
 * the library cannot do, and gets ND4C_ARGUMENT.
 *
 * A list is a pointer and a count; NULL and 0 stand for its default. ND4C_ARGUMENT for a pointer that is not NULL with
 * the count 0, except that nd4c_slice takes empty starts and stops: it then slices no axis. */
#ifndef ND4C_OPTIONS_H
#define ND4C_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

/* The struct_size of a type: its bytes up to the end of its last field. Padding after that field does not count, since
 * a later version may put a field there. */
#define ND4C_OPTIONS_SIZE(type, last) ((uint32_t)(offsetof(type, last) + sizeof(((type *)0)->last)))

#endif
