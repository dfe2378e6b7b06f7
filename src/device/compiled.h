/* Executables: compiled once, shared by the plans and calls that run the same nodes, released with the last reference.
 * graph/plan/segment.c and dispatch/choice.c make them; submit and graph/modes run them. */
#ifndef ND4C_DEVICE_COMPILED_H
#define ND4C_DEVICE_COMPILED_H

#include <stdatomic.h>

#include "base/digest.h"
#include "device/driver.h"
#include "device/provider/compilers.h"
#include "device/provider/executables.h"
#include "nd4c/array.h"

typedef struct nd4c_compiled {
  _Atomic int32_t references;
  const nd4c_compiler *compiler;
  nd4c_device *device;
  nd4c_executable executable;
  nd4c_executable_info info; /* needs on the extents that it was compiled for */
  unsigned char *pattern;    /* the segment without extents, if the executable serves other extents; else NULL */
  size_t pattern_bytes;
  uint64_t pattern_hash;
  struct nd4c_compiled *next; /* of those with a pattern, in the same bucket */
} nd4c_compiled;

/* Further information about a segment, all of it borrowed. */
typedef struct nd4c_compile_source {
  const nd4c_array *const *constants; /* by input of the segment, NULL for one that is not a constant; NULL: unknown */
  const void *file;                   /* a checked file of executables that were compiled ahead of time; NULL: none */
  int64_t file_size;
  const char *file_name; /* for texts */
  bool missed;           /* result: the file has no executable for the segment */
  bool declined;         /* result: the compiler was asked to compile the segment and returned UNSUPPORTED */
} nd4c_compile_source;

/* An executable for the segment: a live one that accepts its extents, one from a file, or a newly compiled one.
 * `source` NULL: nothing further is known. `info`: what runs on these extents need. One reference. FORMAT: the file's
 * executable is for another compiler or device. */
nd4c_status nd4c_compiled_make(const nd4c_compiler *compiler, nd4c_device *device, const nd4c_segment *segment,
                               const nd4c_compile_options *options, nd4c_compile_source *source, nd4c_compiled **out,
                               nd4c_executable_info *info);
nd4c_compiled *nd4c_compiled_retain(nd4c_compiled *compiled);
/* Drops a reference. NULL is fine. All runs have ended, or another reference is held until they have. */
void nd4c_compiled_release(nd4c_compiled *compiled);

/* Whether the executable also serves operands of these extents and strides, which have no data. `info`: what runs on
 * them need. */
bool nd4c_compiled_serves(const nd4c_compiled *compiled, const nd4c_tensor *inputs, int32_t input_count,
                          const nd4c_tensor *outputs, int32_t output_count, nd4c_executable_info *info);

/* The device scratch that runs with this answer need. */
static inline nd4c_scratch_range nd4c_compiled_scratch(const nd4c_executable_info *info) {
  const int64_t least = info->device_scratch_bytes, best = info->device_scratch_best;
  return (nd4c_scratch_range){least, best > least ? best : least};
}

/* Runs it on the device that it was compiled for; sets struct_size and device of the execution. */
static inline nd4c_status nd4c_compiled_execute(const nd4c_compiled *compiled, nd4c_execution *execution) {
  execution->struct_size = ND4C_SIZE_OF(nd4c_execution);
  execution->device = compiled->device->handle;
  nd4c_error_expect();
  const uint64_t outer = nd4c_split_begin(compiled, execution->output_count > 0 ? execution->outputs->size : 0);
  const nd4c_status status = compiled->compiler->execute(compiled->compiler->data, compiled->executable, execution);
  nd4c_split_end(outer);
  return nd4c_driver_answer(status, "execute");
}

/* Whether it allocates the buffers of its outputs. */
static inline bool nd4c_compiled_returns(const nd4c_compiled *compiled) {
  return (compiled->info.flags & ND4C_EXECUTABLE_RETURNS_OUTPUTS) != 0;
}

/* -- segment_pattern.c -------------------------------------------------------------------------------------------- */

/* Serialises a segment and the options without extents and strides, so that equal bytes mean the same pattern. NULL if
 * the executable cannot be shared, because an attribute is an array, or because there are constants, which a compiler
 * that reads them may compile in. */
nd4c_status nd4c_segment_pattern(const nd4c_segment *segment, const nd4c_compile_options *options, bool reads_constants,
                                 unsigned char **pattern, size_t *bytes);

/* The identity of a segment, with extents, strides and contents of constants, but without options->width: equal in
 * every process. *known false: it cannot be compared, because an attribute is an array or a constant is unknown. */
nd4c_status nd4c_segment_identity(const nd4c_segment *segment, const nd4c_compile_options *options,
                                  const nd4c_array *const *constants, nd4c_digest *identity, bool *known);

/* -- kept.c ------------------------------------------------------------------------------------------------------- */

/* Gets a handle for the segment: from the source's file, from the cache, or by compiling. It is not in the table of
 * live executables. */
nd4c_status nd4c_executable_obtain(const nd4c_compiler *compiler, nd4c_device *device, const nd4c_segment *segment,
                                   const nd4c_compile_options *options, nd4c_compile_source *source,
                                   nd4c_executable *executable);
/* Compiles the segment for `handle`, a device's or a target's, and adds the serialised executable to a file.
 * UNSUPPORTED: the compiler cannot serialise, or the segment has no identity. */
nd4c_status nd4c_executable_write(const nd4c_compiler *compiler, void *handle, const nd4c_segment *segment,
                                  const nd4c_compile_options *options, const nd4c_array *const *constants,
                                  nd4c_executables_writer *writer);

#endif
