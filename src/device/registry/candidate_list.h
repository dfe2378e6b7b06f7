/* The list of candidates: built-in providers, backends that nd4c has a name for and looks for as plug-ins, and plug-ins
 * that were named or loaded. Everything here is called under the registry's lock. Candidates are never removed, so that
 * pointers to them stay good for the life of the process. */
#ifndef ND4C_DEVICE_CANDIDATES_H
#define ND4C_DEVICE_CANDIDATES_H

#include "device/registry/candidate.h"

enum { ND4C_CANDIDATE_LIMIT = 64 };

/* Fills the list and probes cheaply, unless that has happened. Without memory the next call goes on from there. */
nd4c_status nd4c_candidates_probe(void);
int32_t nd4c_candidates_count(void);
nd4c_candidate *nd4c_candidates_at(int32_t index);
/* By name, in either case, as enums write their names in capitals; NULL if there is none. */
nd4c_candidate *nd4c_candidates_find(const char *name);
/* Loads a plug-in. `requested`: configuration names it, so that it stays in the list when it is refused, with the
 * reason. A plug-in that bears the name of a backend which is absent takes its place. *candidate NULL: the file was
 * loaded before, and nothing changed. */
nd4c_status nd4c_candidates_load(const char *path, bool requested, nd4c_candidate **candidate);

#endif
