/* Properties of providers: built-in ones are declared before anything reads or sets a property, those of a plug-in when
 * it is accepted. Implements nd4c/config.h. */
#ifndef ND4C_DEVICE_PROPERTIES_H
#define ND4C_DEVICE_PROPERTIES_H

#include "base/config/config_rows.h"
#include "nd4c/plugin.h"

/* Declares the properties of built-in providers, once. An atomic load after that. MEMORY: the next call tries again.
 * Any thread; no lock of the registry is taken. */
nd4c_status nd4c_properties_use(void);

/* What may fail about declaring a provider's properties, whose tables are checked: NAME, ABI, MEMORY. Free *prepared
 * with nd4c_deallocate. Under the registry's lock. */
nd4c_status nd4c_properties_prepare(const char *from, const nd4c_provider *provider, nd4c_config_definition **prepared);
/* Declares what was prepared, under the same holding of the lock; false if all of it was declared before. */
bool nd4c_properties_declare(const nd4c_provider *provider, const nd4c_config_definition *prepared);

#endif
