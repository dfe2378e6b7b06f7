/* Executables: compiled once, shared by those that run the same nodes, released with the last of them. */
#ifndef ND4C_DEVICE_COMPILED_H
#define ND4C_DEVICE_COMPILED_H

#include <stdatomic.h>

#include "base/digest.h"
#include "device/provider/compilers.h"
#include "device/driver.h"
#include "device/provider/executables.h"
#include "nd4c/array.h"

typedef struct nd4c_compiled {
  _Atomic int32_t references;
  const nd4c_compiler *compiler;
  nd4c_device *device;
  nd4c_executable executable;
  nd4c_executable_info info;    /* for the extents that it was compiled for */
  unsigned char *pattern;       /* everything of the segment but extents, if the executable serves others; else NULL */
  size_t pattern_bytes;
  struct nd4c_compiled *next;   /* of those with a pattern */
} nd4c_compiled;

/* What is known of a segment beside itself, all of it borrowed. */
typedef struct nd4c_compile_source {
  const nd4c_array *const *constants; /* by input of the segment, NULL for one that is no constant; NULL: not known */
  const void *file;                   /* of executables that were compiled ahead of time, checked; NULL: none */
  int64_t file_size;
  const char *file_name; /* for texts */
  bool missed;           /* written: the file has no executable for the segment */
  bool declined;         /* written: the compiler was asked to compile the segment, and its answer is UNSUPPORTED */
} nd4c_compile_source;

/* An executable for the segment: one that is alive and accepts its extents, one from a file, or a fresh one. `source`:
 * NULL: nothing is known. `info`: what runs on these extents need. One reference. FORMAT: the file's executable is for
 * another compiler or device. */
nd4c_status nd4c_compiled_make(const nd4c_compiler *compiler, nd4c_device *device, const nd4c_segment *segment,
                               const nd4c_compile_options *options, nd4c_compile_source *source,
                               nd4c_compiled **compiled, nd4c_executable_info *info);
nd4c_compiled *nd4c_compiled_retain(nd4c_compiled *compiled);
/* NULL is fine. The work of all runs has ended, or something else holds a reference until it has. */
void nd4c_compiled_release(nd4c_compiled *compiled);

/* What runs with this answer work in of the device's memory. */
static inline nd4c_scratch_range nd4c_compiled_scratch(const nd4c_executable_info *info) {
  const int64_t least = info->device_scratch_bytes, best = info->device_scratch_best;
  return (nd4c_scratch_range){least, best > least ? best : least};
}

/* Runs it on the device that it was made for; struct_size and device of the execution are set here. */
static inline nd4c_status nd4c_compiled_execute(const nd4c_compiled *compiled, nd4c_execution *execution) {
  execution->struct_size = ND4C_SIZE_OF(nd4c_execution);
  execution->device = compiled->device->handle;
  nd4c_error_expect();
  return nd4c_driver_answer(
      compiled->compiler->execute(compiled->compiler->data, compiled->executable, execution), "execute");
}

/* Whether it makes the buffers of its outputs. */
static inline bool nd4c_compiled_returns(const nd4c_compiled *compiled) {
  return (compiled->info.flags & ND4C_EXECUTABLE_RETURNS_OUTPUTS) != 0;
}

/* -- segment_pattern.c -------------------------------------------------------------------------------------------- */

/* What of a segment and the options stays when extents and strides change, as bytes that are equal if it is the same;
 * NULL with *bytes 0 if it cannot be shared: constants may have been compiled in, or an attribute is an array. */
nd4c_status nd4c_segment_pattern(const nd4c_segment *segment, const nd4c_compile_options *options,
                                 unsigned char **pattern, size_t *bytes);

/* What the segment is, with extents, strides and contents of constants, but not options->width: equal in every process.
 * *known false: something of it cannot be compared (an attribute that is an array, a constant that is not known). */
nd4c_status nd4c_segment_identity(const nd4c_segment *segment, const nd4c_compile_options *options,
                                  const nd4c_array *const *constants, nd4c_digest *identity, bool *known);

/* -- kept.c ------------------------------------------------------------------------------------------------------- */

/* A handle for the segment: from the source's file, from the cache, or compiled. Not alive in any list. */
nd4c_status nd4c_executable_obtain(const nd4c_compiler *compiler, nd4c_device *device, const nd4c_segment *segment,
                                   const nd4c_compile_options *options, nd4c_compile_source *source,
                                   nd4c_executable *executable);
/* Compiles the segment for `handle`, a device's or a target's, and adds what the compiler writes to a file.
 * UNSUPPORTED: the compiler keeps nothing, or the segment has no identity. */
nd4c_status nd4c_executable_write(const nd4c_compiler *compiler, void *handle, const nd4c_segment *segment,
                                  const nd4c_compile_options *options, const nd4c_array *const *constants,
                                  nd4c_executables_writer *writer);

#endif
