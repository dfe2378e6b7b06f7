/* Checks of a provider's tables, for device/registry. Plug-ins are untrusted: every count, name and pointer is checked
 * before it is used, and a refusal says what was found and what was expected. */
#ifndef ND4C_DEVICE_PROVIDER_PROVIDER_CHECK_H
#define ND4C_DEVICE_PROVIDER_PROVIDER_CHECK_H

#include "base/config/config_rows.h"
#include "device/registry/candidate.h"

/* ABI, with `from` (the plug-in's path or name) in front. Reads nothing after a refused size or version. */
/* ABI: a struct of the plug-in `from` ends before a field that is required. */
nd4c_status nd4c_provider_fail_short(const char *from, const char *what, uint32_t struct_size, const char *type);
nd4c_status nd4c_provider_check(const char *from, const nd4c_provider *provider);
/* As nd4c_provider_check, for the provider's ops: each by itself, and no two with the same name and version. */
nd4c_status nd4c_provider_check_ops(const char *from, const nd4c_plugin_op *const *ops, int32_t count);
/* As nd4c_provider_check, for the properties of the provider with that name. */
nd4c_status nd4c_provider_check_properties(const char *from, const char *provider,
                                           const nd4c_plugin_property *const *properties, int32_t count);
/* Rows for the properties of a checked provider. MEMORY. Free with nd4c_deallocate. */
nd4c_status nd4c_provider_define_properties(const nd4c_provider *provider, nd4c_config_definition **definitions);
/* Whether ops of plug-ins may have operands of the dtype: not strings and packed dtypes. */
bool nd4c_provider_op_takes(nd4c_dtype dtype);
/* ABI: the backend's description of a device is invalid, or functions that it requires are missing. */
nd4c_status nd4c_provider_check_description(const nd4c_candidate *candidate,
                                            const nd4c_device_description *description);

/* Makes the description's texts printable. */
void nd4c_provider_clean_description(nd4c_device_description *description);

/* Copies a struct that the provider filled to one of this library's size: fields that it lacks become zero, fields that
 * this library does not know are dropped. */
void nd4c_provider_copy(void *to, size_t to_size, const void *from, uint32_t from_size);

/* A printable copy of a provider's text: one line of valid UTF-8, with '?' for each invalid byte. NULL stays NULL.
 * Lives as long as the process; also NULL if memory is exhausted. */
const char *nd4c_provider_words(const char *words);
/* Whether the text is its own printable copy, and not longer. Allocates nothing. */
bool nd4c_provider_is_line(const char *text);

/* After a function of a provider has failed: returns `status`, or INTERNAL if it is not one of nd4c's, and sets a text
 * if the function has set none. `what`: "device_open". */
nd4c_status nd4c_provider_failed(nd4c_status status, const char *what);

#endif
