/* The list of candidates: built-in providers, backends with a known name that are searched as plug-ins, and plug-ins
 * that were configured or loaded. registry.c and candidate_compute.c call these functions under the registry's lock.
 * Candidates are never removed, so pointers to them are valid for the life of the process. */
#ifndef ND4C_DEVICE_REGISTRY_CANDIDATE_LIST_H
#define ND4C_DEVICE_REGISTRY_CANDIDATE_LIST_H

#include "device/registry/candidate.h"

enum { ND4C_CANDIDATE_LIMIT = 64 };

/* Fills the list and probes cheaply, once. If memory is exhausted, the next call continues. */
nd4c_status nd4c_candidates_probe(void);
int32_t nd4c_candidates_count(void);
nd4c_candidate *nd4c_candidates_at(int32_t index);
/* A candidate by name, without regard to case, because enums have names in capitals; NULL if there is none. */
nd4c_candidate *nd4c_candidates_find(const char *name);
/* Loads a plug-in. `requested`: the configuration names it, so it stays in the list even if it is refused, with the
 * reason. A plug-in with the name of an absent backend replaces it. *out is NULL if the file was loaded before:
 * nothing changed. */
nd4c_status nd4c_candidates_load(const char *path, bool requested, nd4c_candidate **out);

#endif
