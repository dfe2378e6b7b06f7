/* The targets of a candidate: devices that this machine lacks, for which registry.c finds a target when a program
 * compiles ahead of time. Each has a device record, whose handle compilers get. It has no memory and no streams, and is
 * in no list, because nothing runs there. */
#include <stdatomic.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/status.h"
#include "device/provider/provider_check.h"
#include "device/registry/candidate.h"

nd4c_status nd4c_candidate_fail_compile_only(const nd4c_candidate *candidate) {
  return nd4c_fail(ND4C_HARDWARE,
                   "backend %s can only compile ahead of time, by nd4c_plan_compile or nd4c compile --target %s:0, and "
                   "runs nothing here: %s",
                   candidate->name, candidate->name, candidate->reason);
}

static nd4c_status open_target(nd4c_candidate *candidate, int32_t index) {
  nd4c_device *target = &candidate->targets[index];
  target->backend = &candidate->backend;
  target->ops = &candidate->ops;
  target->index = index;
  (void)snprintf(target->name, sizeof target->name, "%.19s:%d", candidate->name, index);
  (void)snprintf(target->identity, sizeof target->identity, "%s", target->name);
  target->description.struct_size = ND4C_SIZE_OF(nd4c_device_description);
  nd4c_error_clear();
  nd4c_status status = candidate->backend.target_open(index, &target->description, &target->handle);
  if (status != ND4C_OK) {
    return nd4c_provider_failed(status, "target_open");
  }
  if (target->handle == NULL) {
    return nd4c_fail(ND4C_ABI, "target_open returned OK but no target");
  }
  ND4C_TRY(nd4c_provider_check_description(candidate, &target->description));
  nd4c_provider_clean_description(&target->description);
  return ND4C_OK;
}

static nd4c_status count_targets(const nd4c_candidate *candidate, int32_t *count) {
  const nd4c_backend *backend = &candidate->backend;
  if (backend->target_count == NULL || backend->target_open == NULL) {
    return nd4c_fail(ND4C_UNSUPPORTED, "backend %s names no targets to compile for", candidate->name);
  }
  *count = backend->target_count();
  return *count > 0 && *count <= ND4C_PLUGIN_DEVICE_LIMIT
             ? ND4C_OK
             : nd4c_fail(ND4C_ABI, "backend %s: target_count gave %d, expected 1 to %d", candidate->name, *count,
                         ND4C_PLUGIN_DEVICE_LIMIT);
}

/* All of them, or none. */
static nd4c_status open_targets(nd4c_candidate *candidate) {
  int32_t count = 0;
  ND4C_TRY(nd4c_candidate_start(candidate));
  ND4C_TRY(count_targets(candidate, &count));
  ND4C_TRY(nd4c_allocate_or_fail((size_t)count, sizeof *candidate->targets, "targets", &candidate->targets));
  nd4c_status status = ND4C_OK;
  for (int32_t i = 0; i < count && status == ND4C_OK; i++) {
    status = open_target(candidate, i);
  }
  status = status == ND4C_OK ? nd4c_candidate_gather(candidate) : status;
  if (status != ND4C_OK) {
    nd4c_deallocate(candidate->targets);
    candidate->targets = NULL;
    return nd4c_fail_prefix(status, "backend %s", candidate->name);
  }
  candidate->target_count = count;
  return ND4C_OK;
}

nd4c_status nd4c_candidate_find_target(nd4c_candidate *candidate, const char *name, int64_t index,
                                       nd4c_device **target) {
  const nd4c_status status = nd4c_candidate_open(candidate);
  if (candidate->verdict != ND4C_VERDICT_COMPILE_ONLY) {
    return status == ND4C_OK ? nd4c_candidate_find_device(candidate, name, index, target) : status;
  }
  if (candidate->target_count == 0) {
    ND4C_TRY(open_targets(candidate));
  }
  if (index >= candidate->target_count) {
    return nd4c_fail(ND4C_INDEX, "target '%s': backend %s has %d, the last one is %s", name, candidate->name,
                     candidate->target_count, candidate->targets[candidate->target_count - 1].name);
  }
  *target = &candidate->targets[index];
  atomic_store(&(*target)->compute, candidate->compute); /* plug-ins may have added kernels or compilers */
  return ND4C_OK;
}
