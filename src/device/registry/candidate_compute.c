/* Merges contributions into the compute of a backend's devices (compute.h). candidate.c calls it when a backend opens,
 * registry.c when a plug-in is loaded later. Under the registry's lock. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/config/config.h"
#include "base/config/log.h"
#include "base/status.h"
#include "base/text.h"
#include "device/registry/candidate_list.h"

/* The state of gathering contributions. */
typedef struct gathering {
  const nd4c_candidate *target;
  nd4c_compute_source *sources;
  int32_t count, room;
  nd4c_text left_out;
} gathering;

static bool is_for(const nd4c_candidate *provider, const nd4c_contribution *contribution,
                   const nd4c_candidate *target) {
  return contribution->backend == NULL ? provider == target
                                       : nd4c_text_equals_any_case(contribution->backend, target->name);
}

static bool contributes(const nd4c_candidate *provider, const nd4c_candidate *target) {
  for (int32_t i = 0; i < provider->provider.contribution_count; i++) {
    if (is_for(provider, &provider->contributions[i], target)) {
      return true;
    }
  }
  return false;
}

/* The CPU's devices must compute every op. */
static bool brings_ops_for(const nd4c_candidate *provider, const nd4c_candidate *target) {
  return provider->references != NULL && nd4c_text_equals_any_case(provider->references->backend, target->name);
}

/* Opens a provider whose contributions are needed; after a failure it is absent, with the reason. A cheap probe that
 * found no file does not exclude it: the loader may search further places, and its kernels can decline. */
static bool start(nd4c_candidate *provider) {
  if (provider->started) {
    return true;
  }
  if (provider->tried || (nd4c_candidate_has_devices(provider) && !nd4c_candidate_is_possible(provider))) {
    return false;
  }
  if (nd4c_candidate_start(provider) != ND4C_OK) {
    nd4c_candidate_say(provider, nd4c_error_message());
    provider->verdict = ND4C_VERDICT_ABSENT;
    provider->retries = nd4c_error_code() == ND4C_MEMORY;
    provider->tried = !provider->retries;
    nd4c_log_write(ND4C_LOG_WARNING, "registry", "what %s contributes cannot be used: %s", provider->name,
                   provider->reason);
    return false;
  }
  return true;
}

/* From the highest priority down, stable. */
static void add_source(gathering *work, const nd4c_candidate *provider, const nd4c_contribution *contribution) {
  int32_t at = work->count++;
  for (; at > 0 && work->sources[at - 1].contribution->priority < contribution->priority; at--) {
    work->sources[at] = work->sources[at - 1];
  }
  work->sources[at] =
      (nd4c_compute_source){.provider = provider->name, .contribution = contribution, .own = provider == work->target};
}

static void add_sources(gathering *work, const nd4c_candidate *provider) {
  for (int32_t i = 0; i < provider->provider.contribution_count; i++) {
    const nd4c_contribution *contribution = &provider->contributions[i];
    char reason[ND4C_REASON_SIZE] = "";
    if (!is_for(provider, contribution, work->target)) {
      continue;
    }
    if (contribution->usable != NULL && !contribution->usable(contribution->data, reason, sizeof reason)) {
      reason[sizeof reason - 1] = '\0';
      nd4c_text_clean(reason, false);
      nd4c_text_print(&work->left_out, "%s: not used: %s\n", provider->name,
                      reason[0] != '\0' ? reason : "no reason given");
      continue;
    }
    add_source(work, provider, contribution);
  }
}

/* The contents of plug-ins that were found but not loaded are unknown: opening one by name loads it. */
static nd4c_status gather(gathering *work, nd4c_compute **compute) {
  for (int32_t i = 0; i < nd4c_candidates_count(); i++) {
    work->room += nd4c_candidates_at(i)->provider.contribution_count + 1; /* its ops' reference kernels */
  }
  ND4C_TRY(nd4c_allocate_or_fail((size_t)work->room + 1, sizeof *work->sources, "the contributions to a backend",
                                 &work->sources));
  for (int32_t i = 0; i < nd4c_candidates_count(); i++) {
    nd4c_candidate *provider = nd4c_candidates_at(i);
    if (contributes(provider, work->target) && start(provider)) {
      nd4c_candidate_announce(provider, "usable");
      add_sources(work, provider);
    }
    if (brings_ops_for(provider, work->target)) {
      add_source(work, provider, provider->references);
    }
  }
  ND4C_TRY(nd4c_compute_make(work->sources, work->count, work->target->compute, &work->left_out, compute));
  return work->left_out.failed ? nd4c_fail_memory("a list of what was left out", work->left_out.capacity) : ND4C_OK;
}

nd4c_status nd4c_candidate_gather(nd4c_candidate *candidate) {
  gathering work = {.target = candidate};
  nd4c_compute *compute = NULL;
  nd4c_status status = gather(&work, &compute);
  nd4c_deallocate(work.sources);
  char *left_out = NULL;
  if (status == ND4C_OK && work.left_out.length > 0) {
    nd4c_log_write(ND4C_LOG_WARNING, "registry", "left out of %s: %s", candidate->name, work.left_out.bytes);
    left_out = nd4c_duplicate_text(work.left_out.bytes);
    status = left_out != NULL ? ND4C_OK : nd4c_fail_memory("a list of what was left out", work.left_out.length);
  }
  nd4c_text_free(&work.left_out);
  if (status != ND4C_OK) {
    nd4c_compute_free(compute);
    return status;
  }
  nd4c_deallocate(candidate->left_out);
  candidate->left_out = left_out;
  candidate->compute = compute; /* the previous one stays, because choices refer to it and threads may be reading it */
  for (int32_t i = 0; i < candidate->device_count; i++) {
    atomic_store_explicit(&candidate->devices[i].compute, compute, memory_order_release);
  }
  return ND4C_OK;
}

/* A contribution with the candidate that brings it. */
typedef struct sourced {
  const nd4c_contribution *contribution;
  const nd4c_candidate *provider;
} sourced;

const nd4c_engine *nd4c_candidate_engine(const nd4c_candidate *candidate, int32_t index,
                                         const nd4c_candidate **brought_by) {
  enum { LIMIT = 4 * ND4C_CANDIDATE_LIMIT };
  sourced all[LIMIT];
  int32_t count = 0;
  for (int32_t i = 0; i < nd4c_candidates_count(); i++) {
    const nd4c_candidate *provider = nd4c_candidates_at(i);
    const int32_t contributions = provider->disabled ? 0 : provider->provider.contribution_count;
    for (int32_t c = 0; c < contributions && count < LIMIT; c++) {
      const nd4c_contribution *contribution = &provider->contributions[c];
      if (is_for(provider, contribution, candidate)) {
        int32_t at = count++;
        for (; at > 0 && all[at - 1].contribution->priority < contribution->priority; at--) {
          all[at] = all[at - 1];
        }
        all[at] = (sourced){contribution, provider};
      }
    }
  }
  for (int32_t i = 0; i < count; index -= all[i++].contribution->engine_count) {
    if (index >= 0 && index < all[i].contribution->engine_count) {
      *brought_by = all[i].provider;
      return all[i].contribution->engines[index];
    }
  }
  return NULL;
}

nd4c_status nd4c_candidate_spread(const nd4c_candidate *provider) {
  bool reached = false;
  for (int32_t i = 0; i < nd4c_candidates_count(); i++) {
    nd4c_candidate *target = nd4c_candidates_at(i);
    /* Any contribution may have kernels for an op that is only now known. */
    if (target->opened && (contributes(provider, target) || provider->references != NULL)) {
      ND4C_TRY(nd4c_candidate_gather(target));
      reached = true;
    }
  }
  if (reached) {
    atomic_fetch_add(&nd4c_config_epoch, 1); /* invalidates cached calls, so that threads choose again */
  }
  return ND4C_OK;
}
