/* The backend ABI: what a provider (built in or a plug-in) gives to nd4c, and what it may call back.
 *
 * A plug-in is a shared object that exports one function, nd4c_plugin_entry. It includes this header and does not link
 * against libnd4c: everything it needs comes through the host table. The built-in backends are registered through the
 * same structs.
 *
 *     provider.h   what a plug-in brings: a backend with devices, contributions to devices, ops
 *     device.h     devices: copies, streams, fences
 *     buffer.h     their memory
 *     timing.h     when their work ran
 *     external.h   memory imported from other libraries, and exported to them
 *     capture.h    work that devices record and launch again
 *     collective.h operations of several devices together
 *     kernel.h     kernels: each computes one op in one way
 *     op.h         ops that a plug-in defines
 *     property.h   configuration properties that a plug-in declares
 *     compiler.h   compilers: each turns a run of nodes into one executable
 *     call.h       tensors and calls, which nd4c passes to kernels and compilers
 *     layout.h     how operands lie in memory where strides cannot express it
 *     blocks.h     formats of quantised blocks, one kind of layout
 *     host.h       the functions of nd4c that plug-ins call
 *     thread.h     the functions for locks, threads and time
 *     memory.h     device memory that backends hold
 *     file.h       the functions for files
 *     abi.h        versions, struct_size, handles
 *
 * Every struct begins with struct_size. The side that fills the struct sets struct_size to ND4C_SIZE_OF(the struct's
 * type), by the header that this side was compiled with. New fields are only appended. A reader treats fields past
 * struct_size as absent; a NULL function has the default that its comment states. Unless stated otherwise, functions
 * may be called from any thread at the same time. A function that fails calls host->fail with a text and returns the
 * code. */
#ifndef ND4C_PLUGIN_H
#define ND4C_PLUGIN_H

#include "nd4c/plugin/host.h"
#include "nd4c/plugin/provider.h"

ND4C_EXTERN_C_BEGIN

/* The function that a plug-in exports. `host` lives as long as the process. The function sets *provider to a provider
 * that stays valid until the process ends. nd4c calls the function once, from one thread. The function must not open a
 * library or a device. If it fails, nd4c refuses the plug-in with the function's text. */
typedef nd4c_status (*nd4c_plugin_entry_function)(const nd4c_host *host, const nd4c_provider **provider);
#define ND4C_PLUGIN_ENTRY "nd4c_plugin_entry"

/* Put this before the definition of that function, and of other functions that a plug-in exports: it gives them C
 * linkage in C++ and default visibility whatever -fvisibility says.
 *
 *     ND4C_PLUGIN_EXPORT nd4c_status nd4c_plugin_entry(const nd4c_host *host, const nd4c_provider **provider) { */
#ifdef __cplusplus
#define ND4C_PLUGIN_LINKAGE extern "C"
#else
#define ND4C_PLUGIN_LINKAGE
#endif
#ifdef _WIN32
#define ND4C_PLUGIN_EXPORT ND4C_PLUGIN_LINKAGE __declspec(dllexport)
#else
#define ND4C_PLUGIN_EXPORT ND4C_PLUGIN_LINKAGE __attribute__((visibility("default")))
#endif

/* -- for programs that test plug-ins, as `nd4c plugin-check` does; a plug-in calls neither ------------------------- */

/* The host table that nd4c passes to plug-ins. Static for the life of the process. Any thread. Never fails. */
ND4C_API const nd4c_host *nd4c_plugin_get_host(void);

/* Passes `host` to plug-ins that are loaded from now on, in place of nd4c's table, for example with functions that fail
 * or count. The caller copies nd4c_plugin_get_host(), replaces functions, and keeps the table for the life of the
 * process. NULL restores nd4c's table. Does not affect built-in providers. Any thread, but not while a plug-in is being
 * loaded. ARGUMENT: struct_size or the version differs from this library's table. */
ND4C_API nd4c_status nd4c_plugin_set_host(const nd4c_host *host);

ND4C_EXTERN_C_END
#endif
