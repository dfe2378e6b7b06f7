/* Drives a plug-in's devices directly by their tables, because the library would hide faults: it waits more than
 * necessary, supplies missing texts, and caches buffers. The library does not load the plug-in in such a process. The
 * sections on buffers, order, kernels and files of executables include this. */
#ifndef ND4C_CLI_PLUGIN_DIRECT_H
#define ND4C_CLI_PLUGIN_DIRECT_H

#include "check.h"

typedef struct plugin_direct {
  plugin_check *check;
  const nd4c_device_ops *ops; /* copy of `table`: fields that the plug-in's header lacks are NULL */
  nd4c_device_ops table;
  nd4c_buffer_ops buffers;
  void *device;
  nd4c_device_description about;
  char name[PLUGIN_NAME + 16];
} plugin_direct;

/* Refuses allocation number `place` of the plug-in's next calls; 0: none. */
void plugin_direct_refuse(int32_t place);
/* Whether an allocation was refused since then. No further one is refused. */
bool plugin_direct_refused(void);
/* Live blocks that the plug-in allocated by the host table. */
int64_t plugin_direct_live(void);

/* Opens the plug-in and calls `function` for each of its devices, two at most; `other` is the other one, or NULL. */
void plugin_direct_each(plugin_check *check, void (*function)(plugin_direct *d, plugin_direct *other));

/* Checks that a call succeeded. A failure must have a text from the plug-in: the caller clears the error before the
 * call (nd4c_error_clear), and this clears it again. Returns whether it succeeded. */
bool plugin_direct_status(plugin_direct *d, nd4c_status status, const char *what);
/* The same for a call that may fail. */
bool plugin_direct_may_fail(plugin_direct *d, nd4c_status status, const char *what);

/* Memory that the plug-in holds beside buffers, held.c: the functions that it is given, the devices that they know, and
 * the statement that pieces are given back when they are asked for while nothing is computed. */
const nd4c_host_device_memory *plugin_direct_memory(void);
void plugin_direct_held_for(plugin_direct *d);
void plugin_direct_ask(plugin_direct *d);

/* The plug-in's provider, after plugin_direct_each has loaded it. */
const nd4c_provider *plugin_direct_provider(void);

/* A buffer of the device's own memory. */
nd4c_status plugin_direct_buffer(plugin_direct *d, int64_t bytes, nd4c_buffer *buffer);
/* A stream; NULL on a synchronous device. False after a failure, which is counted. */
bool plugin_direct_stream(plugin_direct *d, nd4c_stream *stream);
/* Waits, by a fence, for everything enqueued on the stream. */
bool plugin_direct_wait(plugin_direct *d, nd4c_stream stream, const char *what);

/* Whether memory of the kinds that the device offers is what they say. kinds.c */
void plugin_direct_kinds(plugin_direct *d, nd4c_stream stream);

/* Work that takes some time: copies to a buffer, whose last bytes are copied back. Its memory is never freed, because a
 * device that signals too early may use it later. */
typedef struct plugin_chain {
  nd4c_buffer buffer;
  unsigned char *got, *sent[2];
} plugin_chain;
bool plugin_chain_enqueue(plugin_direct *d, nd4c_stream stream, plugin_chain *chain);
/* Whether the last byte came back. */
bool plugin_chain_ended(const plugin_chain *chain);

/* -- job.c: one call of a case, put as a table's function takes it, with what it points to ------------------------- */

typedef struct plugin_job {
  plugin_direct *d;
  const nd4c_kernel *kernel; /* NULL: none */
  const plugin_case *p;
  nd4c_context *host;
  nd4c_stream stream;
  nd4c_call call;
  nd4c_tensor operands[SELFTEST_INPUTS + SELFTEST_OUTPUTS]; /* inputs, then outputs */
  int64_t strides[SELFTEST_INPUTS + SELFTEST_OUTPUTS][SELFTEST_RANK];
  nd4c_array *inputs[SELFTEST_INPUTS];
  nd4c_attr_value attrs[SELFTEST_ATTRS];
  unsigned char *scratch; /* of the host's, with guards on both sides */
  int64_t scratch_bytes;
} plugin_job;

/* Fills the call from the case and what the reference made of it; operands have no memory yet. False: it cannot be put
 * so. */
bool plugin_job_make(plugin_job *j);
/* Gives operands memory of the device's, filled with the inputs; false after what failed was counted. */
bool plugin_job_place(plugin_job *j);
/* Reads what the device made; false after what failed was counted. *differs: NULL, or in `text` how it is not what the
 * reference made. */
bool plugin_job_read(plugin_job *j, char *text, size_t size, const char **differs);
/* Frees the operands; the record is the caller's. */
void plugin_job_free(plugin_job *j);
/* Whether an op's result has a shape that does not depend on data. */
bool plugin_case_is_fixed(const plugin_case *p);

#endif
