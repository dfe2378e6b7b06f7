/* Implements compiled.h: the table of live executables, in which a new segment looks for one that serves it.
 * graph/plan/segment.c asks for the pieces of a plan, dispatch/choice.c for eager calls. */
#include "device/compiled.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/os_lock.h"
#include "base/status.h"
#include "device/compute.h"
#include "device/memory/scratch.h"
#include "device/stream/exit_and_fork.h"

/* Live executables that may serve other extents, by the hash of the pattern: a plan may have very many. The table holds
 * no references: the last release removes an executable under the same lock. */
enum { BUCKETS = 1024 };
static nd4c_lock table_lock = ND4C_LOCK_INIT;
static nd4c_compiled *table[BUCKETS];

static nd4c_compiled **bucket_of(uint64_t hash) {
  return &table[hash % BUCKETS];
}

static nd4c_status describe(const nd4c_compiler *compiler, nd4c_executable executable, nd4c_executable_info *info) {
  *info = (nd4c_executable_info){.struct_size = ND4C_SIZE_OF(nd4c_executable_info)};
  if (!ND4C_HAS_FIELD(compiler, describe) || compiler->describe == NULL) {
    return ND4C_OK;
  }
  nd4c_error_expect();
  return nd4c_driver_answer(compiler->describe(compiler->data, executable, info), "describe");
}

/* Refuses invalid sizes here, because every run would ask for them. */
static nd4c_status check_info(const nd4c_compiler *compiler, const nd4c_device *device,
                              const nd4c_executable_info *info) {
  if ((info->flags & ND4C_EXECUTABLE_RETURNS_OUTPUTS) != 0 &&
      !nd4c_compute_owns(atomic_load_explicit(&device->compute, memory_order_acquire), compiler)) {
    return nd4c_fail(ND4C_UNSUPPORTED,
                     "compiler %s: an executable returns outputs, which only compilers of the provider of %s may",
                     compiler->engine, device->name);
  }
  const int64_t most = ND4C_SCRATCH_MOST;
  bool sound = info->scratch_bytes >= 0 && info->scratch_bytes <= most && info->device_scratch_bytes >= 0 &&
               info->device_scratch_bytes <= most && info->device_scratch_best >= 0 &&
               info->device_scratch_best <= most;
  return sound ? ND4C_OK
               : nd4c_fail(
                     ND4C_UNSUPPORTED,
                     "compiler %s: an executable asks for %lld and %lld to %lld bytes of scratch, expected 0 to %lld",
                     compiler->engine, (long long)info->scratch_bytes, (long long)info->device_scratch_bytes,
                     (long long)info->device_scratch_best, (long long)most);
}

/* Takes over an executable; releases it after a failure. */
static nd4c_status adopt(const nd4c_compiler *compiler, nd4c_device *device, nd4c_executable executable,
                         nd4c_compiled **out) {
  nd4c_compiled *compiled = NULL;
  nd4c_executable_info info;
  nd4c_status status = executable == NULL ? nd4c_fail(ND4C_ABI, "compiler %s gave no executable", compiler->engine)
                                          : describe(compiler, executable, &info);
  if (status == ND4C_OK) {
    status = check_info(compiler, device, &info);
  }
  if (status == ND4C_OK) {
    compiled = nd4c_allocate_zeroed(1, sizeof *compiled);
    status = compiled != NULL ? ND4C_OK : nd4c_fail_memory("an executable", sizeof *compiled);
  }
  if (status != ND4C_OK) {
    if (executable != NULL) {
      compiler->release(compiler->data, executable);
    }
    return status;
  }
  compiled->references = 1;
  compiled->compiler = compiler;
  compiled->device = device;
  compiled->executable = executable;
  compiled->info = info;
  *out = compiled;
  return ND4C_OK;
}

/* -- sharing ------------------------------------------------------------------------------------------------------- */

/* The tensor of a value of the segment, from a node that reads or produces it. */
static void find_tensor(const nd4c_segment *segment, int32_t value, nd4c_tensor *tensor) {
  *tensor = (nd4c_tensor){.dtype = ND4C_DTYPE_NONE};
  for (int32_t i = 0; i < segment->node_count; i++) {
    const nd4c_call *node = segment->nodes[i];
    for (int32_t k = 0; k < node->input_count + node->output_count; k++) {
      bool input = k < node->input_count;
      int32_t at = input ? segment->node_inputs[i][k] : segment->node_outputs[i][k - node->input_count];
      if (at == value) {
        *tensor = input ? node->inputs[k] : node->outputs[k - node->input_count];
        tensor->data = NULL;
        tensor->buffer = NULL;
        return;
      }
    }
  }
}

bool nd4c_compiled_serves(const nd4c_compiled *compiled, const nd4c_tensor *inputs, int32_t input_count,
                          const nd4c_tensor *outputs, int32_t output_count, nd4c_executable_info *info) {
  const nd4c_compiler *compiler = compiled->compiler;
  *info = (nd4c_executable_info){.struct_size = ND4C_SIZE_OF(nd4c_executable_info)};
  return compiled->pattern != NULL &&
         compiler->accepts(compiler->data, compiled->executable, inputs, input_count, outputs, output_count, info) &&
         check_info(compiler, compiled->device, info) == ND4C_OK;
}

/* Under the lock. */
static nd4c_compiled *find_shared(const nd4c_compiler *compiler, const nd4c_device *device, const nd4c_segment *segment,
                                  const nd4c_tensor *tensors, const unsigned char *pattern, size_t bytes,
                                  nd4c_executable_info *info) {
  const uint64_t hash = nd4c_hash_bytes(0, pattern, bytes);
  for (nd4c_compiled *at = *bucket_of(hash); at != NULL; at = at->next) {
    if (at->pattern_hash == hash && at->compiler == compiler && at->device == device && at->pattern_bytes == bytes &&
        memcmp(at->pattern, pattern, bytes) == 0 &&
        nd4c_compiled_serves(at, tensors, segment->input_count, tensors + segment->input_count, segment->output_count,
                             info)) {
      return nd4c_compiled_retain(at);
    }
  }
  return NULL;
}

/* A live executable for the segment, or NULL. */
static nd4c_status look_for_shared(const nd4c_compiler *compiler, const nd4c_device *device,
                                   const nd4c_segment *segment, const unsigned char *pattern, size_t bytes,
                                   nd4c_compiled **compiled, nd4c_executable_info *info) {
  int32_t count = segment->input_count + segment->output_count;
  nd4c_tensor *tensors = nd4c_allocate((size_t)(count + 1) * sizeof *tensors);
  if (tensors == NULL) {
    return nd4c_fail_memory("a segment's tensors", (size_t)count * sizeof *tensors);
  }
  for (int32_t i = 0; i < count; i++) {
    find_tensor(segment, i < segment->input_count ? i : segment->outputs[i - segment->input_count], &tensors[i]);
  }
  nd4c_lock_acquire(&table_lock);
  *compiled = find_shared(compiler, device, segment, tensors, pattern, bytes, info);
  nd4c_lock_release(&table_lock);
  nd4c_deallocate(tensors);
  return ND4C_OK;
}

static void share(nd4c_compiled *compiled, unsigned char *pattern, size_t bytes) {
  compiled->pattern = pattern;
  compiled->pattern_bytes = bytes;
  compiled->pattern_hash = nd4c_hash_bytes(0, pattern, bytes);
  nd4c_lock_acquire(&table_lock);
  nd4c_compiled **bucket = bucket_of(compiled->pattern_hash);
  compiled->next = *bucket;
  *bucket = compiled;
  nd4c_lock_release(&table_lock);
}

static nd4c_status compile(const nd4c_compiler *compiler, nd4c_device *device, const nd4c_segment *segment,
                           const nd4c_compile_options *options, nd4c_compile_source *source, nd4c_compiled **compiled) {
  nd4c_executable executable = NULL;
  ND4C_TRY(nd4c_executable_obtain(compiler, device, segment, options, source, &executable));
  return adopt(compiler, device, executable, compiled);
}

nd4c_status nd4c_compiled_make(const nd4c_compiler *compiler, nd4c_device *device, const nd4c_segment *segment,
                               const nd4c_compile_options *options, nd4c_compile_source *source, nd4c_compiled **out,
                               nd4c_executable_info *info) {
  unsigned char *pattern = NULL;
  size_t bytes = 0;
  nd4c_compiled *compiled = NULL;
  bool may_share = ND4C_HAS_FIELD(compiler, accepts) && compiler->accepts != NULL;
  nd4c_status status =
      may_share ? nd4c_segment_pattern(segment, options, nd4c_compiler_reads_constants(compiler), &pattern, &bytes)
                : ND4C_OK;
  if (status == ND4C_OK && pattern != NULL) {
    status = look_for_shared(compiler, device, segment, pattern, bytes, &compiled, info);
  }
  if (status == ND4C_OK && compiled == NULL) {
    status = compile(compiler, device, segment, options, source, &compiled);
    if (status == ND4C_OK) {
      *info = compiled->info;
      if (pattern != NULL && (info->flags & ND4C_EXECUTABLE_DYNAMIC) != 0) {
        share(compiled, pattern, bytes);
        pattern = NULL;
      }
    }
  }
  nd4c_deallocate(pattern);
  *out = compiled;
  return status;
}

nd4c_compiled *nd4c_compiled_retain(nd4c_compiled *compiled) {
  atomic_fetch_add_explicit(&compiled->references, 1, memory_order_relaxed);
  return compiled;
}

/* Drops a reference; true if it was the last one of a shared executable, which is then off the table. Lookups
 * take references under the same lock. */
static bool drop_shared(nd4c_compiled *compiled) {
  nd4c_lock_acquire(&table_lock);
  bool last = atomic_fetch_sub(&compiled->references, 1) == 1;
  for (nd4c_compiled **link = bucket_of(compiled->pattern_hash); last && *link != NULL; link = &(*link)->next) {
    if (*link == compiled) {
      *link = compiled->next;
      break;
    }
  }
  nd4c_lock_release(&table_lock);
  return last;
}

void nd4c_compiled_release(nd4c_compiled *compiled) {
  if (compiled == NULL) {
    return;
  }
  bool last = compiled->pattern != NULL ? drop_shared(compiled) : atomic_fetch_sub(&compiled->references, 1) == 1;
  if (last) {
    if (!nd4c_device_is_forked(compiled->device)) { /* else the parent's driver keeps it */
      compiled->compiler->release(compiled->compiler->data, compiled->executable);
    }
    nd4c_deallocate(compiled->pattern);
    nd4c_deallocate(compiled);
  }
}
