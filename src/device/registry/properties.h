/* Properties of providers. Those of built-in providers are declared before any property is read or set, those of a
 * plug-in when candidate.c accepts it. properties.c also implements nd4c/config.h. */
#ifndef ND4C_DEVICE_REGISTRY_PROPERTIES_H
#define ND4C_DEVICE_REGISTRY_PROPERTIES_H

#include "base/config/config_rows.h"
#include "nd4c/plugin.h"

/* Declares the properties of built-in providers, once. An atomic load after that. MEMORY: the next call tries again.
 * Any thread; no lock of the registry is taken. */
nd4c_status nd4c_properties_use(void);

/* The part of declaring a provider's properties that may fail: NAME, ABI, MEMORY. Its tables were checked. Free
 * *prepared with nd4c_deallocate. Under the registry's lock. */
nd4c_status nd4c_properties_prepare(const char *from, const nd4c_provider *provider, nd4c_config_definition **prepared);
/* Declares the prepared properties, without releasing the lock in between; false if all were declared before. */
bool nd4c_properties_declare(const nd4c_provider *provider, const nd4c_config_definition *prepared);

#endif
