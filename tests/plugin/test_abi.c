/* Freezes the structs and numbers of the plug-in ABI. If a line here no longer compiles, plug-ins built earlier would
 * read the wrong memory: append fields instead, add lines for them, and raise ND4C_PLUGIN_ABI_MINOR. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "nd4c/plugin.h"

#define FIELD(type, field, offset) \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved: fields are only appended")
/* Structs of which arrays cross the ABI cannot grow; the others begin with struct_size and may. */
#define FIXED(type, size) \
  _Static_assert(sizeof(type) == (size), #type ": its size is frozen, since the other side has some of its own")
#define GROWS(type, size)                                                                  \
  _Static_assert(sizeof(type) >= (size), #type " lost a field: fields are only appended"); \
  _Static_assert(offsetof(type, struct_size) == 0, #type " begins with struct_size")

_Static_assert(ND4C_PLUGIN_ABI_MAJOR == 2, "a new major number means new lines here");

FIELD(nd4c_tensor, dtype, 0);
FIELD(nd4c_tensor, rank, 4);
FIELD(nd4c_tensor, flags, 8);
FIELD(nd4c_tensor, layout, 12);
FIELD(nd4c_tensor, shape, 16);
FIELD(nd4c_tensor, strides, 24);
FIELD(nd4c_tensor, size, 32);
FIELD(nd4c_tensor, data, 40);
FIELD(nd4c_tensor, buffer, 48);
FIELD(nd4c_tensor, offset, 56);
FIELD(nd4c_tensor, arrangement, 64);
FIXED(nd4c_tensor, 72);

FIELD(nd4c_layout, struct_size, 0);
FIELD(nd4c_layout, tag, 4);
FIELD(nd4c_layout, bytes, 8);
FIELD(nd4c_layout, dtype, 16);
FIELD(nd4c_layout, rank, 20);
FIELD(nd4c_layout, shape, 24);
FIELD(nd4c_layout, padded, 120);
FIELD(nd4c_layout, strides, 216);
FIELD(nd4c_layout, block_extents, 312);
FIELD(nd4c_layout, block_axes, 360);
FIELD(nd4c_layout, block_count, 384);
FIELD(nd4c_layout, axis, 388);
FIELD(nd4c_layout, block_elements, 392);
FIELD(nd4c_layout, block_bytes, 400);
FIELD(nd4c_layout, side_offset, 408);
FIELD(nd4c_layout, side_bytes, 416);
FIELD(nd4c_layout, format, 424);
FIELD(nd4c_layout, owner, 456);
FIELD(nd4c_layout, fingerprint, 488);
GROWS(nd4c_layout, 496);

FIELD(nd4c_call, struct_size, 0);
FIELD(nd4c_call, flags, 4);
FIELD(nd4c_call, op, 8);
FIELD(nd4c_call, input_count, 16);
FIELD(nd4c_call, output_count, 20);
FIELD(nd4c_call, inputs, 24);
FIELD(nd4c_call, outputs, 32);
FIELD(nd4c_call, attrs, 40);
FIELD(nd4c_call, data, 48);
FIELD(nd4c_call, state, 56);
FIELD(nd4c_call, scratch, 64);
FIELD(nd4c_call, stream, 72);
FIELD(nd4c_call, device, 80);
FIELD(nd4c_call, width, 88);
FIELD(nd4c_call, true_shapes, 96);
FIELD(nd4c_call, scratch_buffer, 104);
FIELD(nd4c_call, point, 112);
FIELD(nd4c_call, cancellation, 120);
FIELD(nd4c_call, scratch_buffer_bytes, 128);
GROWS(nd4c_call, 136);

FIELD(nd4c_scratch_range, least, 0);
FIELD(nd4c_scratch_range, best, 8);
_Static_assert(sizeof(nd4c_scratch_range) == 16, "nd4c_scratch_range is frozen");

FIELD(nd4c_failed_range, first, 0);
FIELD(nd4c_failed_range, last, 8);
_Static_assert(sizeof(nd4c_failed_range) == 16, "nd4c_failed_range is frozen");

FIELD(nd4c_kernel, struct_size, 0);
FIELD(nd4c_kernel, op_version, 4);
FIELD(nd4c_kernel, op, 8);
FIELD(nd4c_kernel, engine, 16);
FIELD(nd4c_kernel, name, 24);
FIELD(nd4c_kernel, priority, 32);
FIELD(nd4c_kernel, dtypes, 40);
FIELD(nd4c_kernel, data, 48);
FIELD(nd4c_kernel, usable, 56);
FIELD(nd4c_kernel, prepare, 64);
FIELD(nd4c_kernel, unprepare, 72);
FIELD(nd4c_kernel, scratch_bytes, 80);
FIELD(nd4c_kernel, run, 88);
FIELD(nd4c_kernel, preferred_order, 96);
FIELD(nd4c_kernel, device_scratch, 104);
FIELD(nd4c_kernel, flags, 112);
FIELD(nd4c_kernel, wants_layout, 120);
FIELD(nd4c_kernel, pack, 128);
FIELD(nd4c_kernel, shares_unpacked, 136);
GROWS(nd4c_kernel, 144);

FIELD(nd4c_segment, struct_size, 0);
FIELD(nd4c_segment, node_count, 4);
FIELD(nd4c_segment, nodes, 8);
FIELD(nd4c_segment, node_inputs, 16);
FIELD(nd4c_segment, node_outputs, 24);
FIELD(nd4c_segment, value_count, 32);
FIELD(nd4c_segment, input_count, 36);
FIELD(nd4c_segment, output_count, 40);
FIELD(nd4c_segment, outputs, 48);
FIELD(nd4c_segment, labels, 56);
GROWS(nd4c_segment, 64);

FIELD(nd4c_compile_options, struct_size, 0);
FIELD(nd4c_compile_options, deterministic, 4);
FIELD(nd4c_compile_options, math, 8);
FIELD(nd4c_compile_options, width, 12);
FIELD(nd4c_compile_options, memory_bytes, 16);
FIELD(nd4c_compile_options, option_count, 24);
FIELD(nd4c_compile_options, options, 32);
GROWS(nd4c_compile_options, 40);

FIELD(nd4c_partition, struct_size, 0);
FIELD(nd4c_partition, take, 8);
FIELD(nd4c_partition, decline, 16);
GROWS(nd4c_partition, 24);

FIELD(nd4c_executable_info, struct_size, 0);
FIELD(nd4c_executable_info, flags, 4);
FIELD(nd4c_executable_info, scratch_bytes, 8);
FIELD(nd4c_executable_info, device_scratch_bytes, 16);
FIELD(nd4c_executable_info, device_bytes, 24);
FIELD(nd4c_executable_info, device_scratch_best, 32);
GROWS(nd4c_executable_info, 40);

FIELD(nd4c_execution, struct_size, 0);
FIELD(nd4c_execution, flags, 4);
FIELD(nd4c_execution, device, 8);
FIELD(nd4c_execution, stream, 16);
FIELD(nd4c_execution, width, 24);
FIELD(nd4c_execution, input_count, 28);
FIELD(nd4c_execution, output_count, 32);
FIELD(nd4c_execution, inputs, 40);
FIELD(nd4c_execution, outputs, 48);
FIELD(nd4c_execution, scratch, 56);
FIELD(nd4c_execution, scratch_buffer, 64);
FIELD(nd4c_execution, cancellation, 72);
FIELD(nd4c_execution, point, 80);
FIELD(nd4c_execution, scratch_buffer_bytes, 88);
FIELD(nd4c_execution, returned, 96);
GROWS(nd4c_execution, 104);
_Static_assert(sizeof(nd4c_attr_value) == 16 && sizeof(nd4c_op_input) == 16 && sizeof(nd4c_op_attr) == 24 &&
                   sizeof(nd4c_compile_option) == 16,
               "arrays of these cross the ABI: their sizes are frozen");
_Static_assert(_Generic(((nd4c_segment *)0)->nodes, const nd4c_call *const *: 1, default: 0),
               "nodes are pointers: nd4c_call may grow");
_Static_assert(sizeof(nd4c_returned_buffer) == 16, "nd4c_returned_buffer is frozen");

FIELD(nd4c_compiler, struct_size, 0);
FIELD(nd4c_compiler, priority, 4);
FIELD(nd4c_compiler, engine, 8);
FIELD(nd4c_compiler, version, 16);
FIELD(nd4c_compiler, data, 24);
FIELD(nd4c_compiler, partition, 32);
FIELD(nd4c_compiler, compile, 40);
FIELD(nd4c_compiler, execute, 48);
FIELD(nd4c_compiler, release, 56);
FIELD(nd4c_compiler, describe, 64);
FIELD(nd4c_compiler, accepts, 72);
FIELD(nd4c_compiler, fingerprint, 80);
FIELD(nd4c_compiler, serialise, 88);
FIELD(nd4c_compiler, load, 96);
GROWS(nd4c_compiler, 104);

FIELD(nd4c_sink, struct_size, 0);
FIELD(nd4c_sink, write, 8);
GROWS(nd4c_sink, 16);

FIELD(nd4c_device_description, struct_size, 0);
FIELD(nd4c_device_description, description, 8);
FIELD(nd4c_device_description, type, 16);
FIELD(nd4c_device_description, addressable, 20);
FIELD(nd4c_device_description, host_readable, 21);
FIELD(nd4c_device_description, asynchronous, 22);
FIELD(nd4c_device_description, memory_bytes, 24);
FIELD(nd4c_device_description, width, 32);
FIELD(nd4c_device_description, alignment, 40);
FIELD(nd4c_device_description, vendor, 48);
FIELD(nd4c_device_description, driver, 56);
FIELD(nd4c_device_description, dtypes, 64);
FIELD(nd4c_device_description, host_processor, 72);
FIELD(nd4c_device_description, unified_memory, 73);
FIELD(nd4c_device_description, has_native, 74);
FIELD(nd4c_device_description, native, 80);
FIELD(nd4c_device_description, largest_bytes, 88);
FIELD(nd4c_device_description, has_uuid, 96);
FIELD(nd4c_device_description, uuid, 97);
FIELD(nd4c_device_description, memory_kinds, 116);
FIELD(nd4c_device_description, pci, 120);
FIELD(nd4c_device_description, capability, 128);
FIELD(nd4c_device_description, whole_buffers, 136);
FIELD(nd4c_device_description, tells_points, 137);
FIELD(nd4c_device_description, imports, 140);
FIELD(nd4c_device_description, exports, 144);
FIELD(nd4c_device_description, least_priority, 148);
FIELD(nd4c_device_description, greatest_priority, 152);
GROWS(nd4c_device_description, 160);

FIELD(nd4c_buffer_descriptor, struct_size, 0);
FIELD(nd4c_buffer_descriptor, kind, 4);
FIELD(nd4c_buffer_descriptor, usage, 8);
FIELD(nd4c_buffer_descriptor, dtype, 12);
FIELD(nd4c_buffer_descriptor, bytes, 16);
FIELD(nd4c_buffer_descriptor, alignment, 24);
FIELD(nd4c_buffer_descriptor, layout, 32);
FIELD(nd4c_buffer_descriptor, rank, 36);
FIELD(nd4c_buffer_descriptor, shape, 40);
FIELD(nd4c_buffer_descriptor, stream, 48);
GROWS(nd4c_buffer_descriptor, 56);

FIELD(nd4c_buffer_ops, struct_size, 0);
FIELD(nd4c_buffer_ops, allocate, 8);
FIELD(nd4c_buffer_ops, free, 16);
FIELD(nd4c_buffer_ops, address, 24);
FIELD(nd4c_buffer_ops, free_on, 32);
GROWS(nd4c_buffer_ops, 40);

FIELD(nd4c_device_ops, struct_size, 0);
FIELD(nd4c_device_ops, device_open, 8);
FIELD(nd4c_device_ops, device_close, 16);
FIELD(nd4c_device_ops, describe, 24);
FIELD(nd4c_device_ops, buffers, 32);
FIELD(nd4c_device_ops, copy_from_host, 40);
FIELD(nd4c_device_ops, copy_to_host, 48);
FIELD(nd4c_device_ops, copy_within, 56);
FIELD(nd4c_device_ops, stream_create, 64);
FIELD(nd4c_device_ops, stream_destroy, 72);
FIELD(nd4c_device_ops, stream_wait_fence, 80);
FIELD(nd4c_device_ops, fence_record, 88);
FIELD(nd4c_device_ops, fence_query, 96);
FIELD(nd4c_device_ops, fence_wait, 104);
FIELD(nd4c_device_ops, fence_destroy, 112);
FIELD(nd4c_device_ops, synchronize, 120);
FIELD(nd4c_device_ops, memory_available, 128);
FIELD(nd4c_device_ops, stream_native, 136);
FIELD(nd4c_device_ops, fill, 144);
FIELD(nd4c_device_ops, copy_between, 152);
FIELD(nd4c_device_ops, capture, 160);
FIELD(nd4c_device_ops, peer, 168);
FIELD(nd4c_device_ops, external, 176);
FIELD(nd4c_device_ops, stream_wait_other, 184);
FIELD(nd4c_device_ops, stream_create_with, 192);
FIELD(nd4c_device_ops, stream_wrap, 200);
FIELD(nd4c_device_ops, timing, 208);
FIELD(nd4c_device_ops, fence_failure, 216);
GROWS(nd4c_device_ops, 224);

FIELD(nd4c_timing_ops, struct_size, 0);
FIELD(nd4c_timing_ops, begin, 8);
FIELD(nd4c_timing_ops, end, 16);
FIELD(nd4c_timing_ops, read, 24);
FIELD(nd4c_timing_ops, destroy, 32);
GROWS(nd4c_timing_ops, 40);
FIELD(nd4c_timing_span, struct_size, 0);
FIELD(nd4c_timing_span, submitted, 8);
FIELD(nd4c_timing_span, begin, 16);
FIELD(nd4c_timing_span, end, 24);
FIELD(nd4c_timing_span, busy, 32);
GROWS(nd4c_timing_span, 40);

FIELD(nd4c_stream_options, struct_size, 0);
FIELD(nd4c_stream_options, priority, 4);
FIELD(nd4c_stream_options, timed, 8);
GROWS(nd4c_stream_options, 12);

FIELD(nd4c_peer_link, struct_size, 0);
FIELD(nd4c_peer_link, kind, 4);
FIELD(nd4c_peer_link, rank, 8);
GROWS(nd4c_peer_link, 12);
_Static_assert(ND4C_PEER_NONE == 0 && ND4C_PEER_COPY == 1 && ND4C_PEER_ACCESS == 2,
               "kinds of peers are numbered for good");

FIELD(nd4c_external, struct_size, 0);
FIELD(nd4c_external, kind, 4);
FIELD(nd4c_external, pointer, 8);
FIELD(nd4c_external, descriptor, 16);
FIELD(nd4c_external, read_only, 20);
FIELD(nd4c_external, offset, 24);
FIELD(nd4c_external, bytes, 32);
FIELD(nd4c_external, alignment, 40);
FIELD(nd4c_external, release, 48);
FIELD(nd4c_external, user, 56);
GROWS(nd4c_external, 64);

FIELD(nd4c_external_ops, struct_size, 0);
FIELD(nd4c_external_ops, import_memory, 8);
FIELD(nd4c_external_ops, export_memory, 16);
FIELD(nd4c_external_ops, host_register, 24);
FIELD(nd4c_external_ops, host_unregister, 32);
GROWS(nd4c_external_ops, 40);

FIELD(nd4c_collective_ops, struct_size, 0);
FIELD(nd4c_collective_ops, make_id, 8);
FIELD(nd4c_collective_ops, join, 16);
FIELD(nd4c_collective_ops, leave, 24);
FIELD(nd4c_collective_ops, abort, 32);
FIELD(nd4c_collective_ops, all_reduce, 40);
FIELD(nd4c_collective_ops, all_gather, 48);
FIELD(nd4c_collective_ops, reduce_scatter, 56);
FIELD(nd4c_collective_ops, broadcast, 64);
FIELD(nd4c_collective_ops, send, 72);
FIELD(nd4c_collective_ops, receive, 80);
GROWS(nd4c_collective_ops, 88);

FIELD(nd4c_capture_ops, struct_size, 0);
FIELD(nd4c_capture_ops, begin, 8);
FIELD(nd4c_capture_ops, end, 16);
FIELD(nd4c_capture_ops, abandon, 24);
FIELD(nd4c_capture_ops, instantiate, 32);
FIELD(nd4c_capture_ops, update, 40);
FIELD(nd4c_capture_ops, launch, 48);
FIELD(nd4c_capture_ops, recording_destroy, 56);
FIELD(nd4c_capture_ops, launchable_destroy, 64);
FIELD(nd4c_capture_ops, host_callback, 72);
GROWS(nd4c_capture_ops, 80);

FIELD(nd4c_backend, struct_size, 0);
FIELD(nd4c_backend, type, 4);
FIELD(nd4c_backend, priority, 8);
FIELD(nd4c_backend, device_count, 16);
FIELD(nd4c_backend, device, 24);
FIELD(nd4c_backend, by_request_only, 32);
FIELD(nd4c_backend, collective, 40);
FIELD(nd4c_backend, target_count, 48);
FIELD(nd4c_backend, target_open, 56);
GROWS(nd4c_backend, 64);

FIELD(nd4c_engine, struct_size, 0);
FIELD(nd4c_engine, name, 8);
FIELD(nd4c_engine, state, 16);
GROWS(nd4c_engine, 24);

FIELD(nd4c_contribution, struct_size, 0);
FIELD(nd4c_contribution, backend, 8);
FIELD(nd4c_contribution, priority, 16);
FIELD(nd4c_contribution, data, 24);
FIELD(nd4c_contribution, usable, 32);
FIELD(nd4c_contribution, engine_count, 40);
FIELD(nd4c_contribution, engines, 48);
FIELD(nd4c_contribution, family_count, 56);
FIELD(nd4c_contribution, families, 64);
FIELD(nd4c_contribution, compiler_count, 72);
FIELD(nd4c_contribution, compilers, 80);
GROWS(nd4c_contribution, 88);

FIELD(nd4c_provider, struct_size, 0);
FIELD(nd4c_provider, abi_major, 4);
FIELD(nd4c_provider, abi_minor, 6);
FIELD(nd4c_provider, name, 8);
FIELD(nd4c_provider, version, 16);
FIELD(nd4c_provider, probe, 24);
FIELD(nd4c_provider, open, 32);
FIELD(nd4c_provider, close, 40);
FIELD(nd4c_provider, backend, 48);
FIELD(nd4c_provider, contribution_count, 56);
FIELD(nd4c_provider, contributions, 64);
FIELD(nd4c_provider, op_count, 72);
FIELD(nd4c_provider, ops, 80);
FIELD(nd4c_provider, property_count, 88);
FIELD(nd4c_provider, properties, 96);
GROWS(nd4c_provider, 104);

FIELD(nd4c_plugin_property, struct_size, 0);
FIELD(nd4c_plugin_property, type, 4);
FIELD(nd4c_plugin_property, name, 8);
FIELD(nd4c_plugin_property, environment, 16);
FIELD(nd4c_plugin_property, default_value, 24);
FIELD(nd4c_plugin_property, words, 32);
FIELD(nd4c_plugin_property, meaning, 40);
GROWS(nd4c_plugin_property, 48);
_Static_assert(ND4C_PROPERTY_BOOL == 1 && ND4C_PROPERTY_INT == 2 && ND4C_PROPERTY_BYTES == 3 &&
                   ND4C_PROPERTY_FRACTION == 4 && ND4C_PROPERTY_STRING == 5 && ND4C_PROPERTY_LIST == 6 &&
                   ND4C_PROPERTY_DIRECTORY == 7 && ND4C_PROPERTY_DIRECTORIES == 8 && ND4C_PROPERTY_FILE == 9,
               "types of properties are numbered for good");

FIELD(nd4c_plugin_op, struct_size, 0);
FIELD(nd4c_plugin_op, version, 4);
FIELD(nd4c_plugin_op, name, 8);
FIELD(nd4c_plugin_op, category, 16);
FIELD(nd4c_plugin_op, flags, 20);
FIELD(nd4c_plugin_op, dtypes, 24);
FIELD(nd4c_plugin_op, input_count, 32);
FIELD(nd4c_plugin_op, attr_count, 36);
FIELD(nd4c_plugin_op, output_count, 40);
FIELD(nd4c_plugin_op, inputs, 48);
FIELD(nd4c_plugin_op, attrs, 56);
FIELD(nd4c_plugin_op, doc, 64);
FIELD(nd4c_plugin_op, data, 72);
FIELD(nd4c_plugin_op, infer, 80);
FIELD(nd4c_plugin_op, reference, 88);
FIELD(nd4c_plugin_op, gradient, 96);
GROWS(nd4c_plugin_op, 104);

FIELD(nd4c_inferred, dtype, 0);
FIELD(nd4c_inferred, rank, 4);
FIELD(nd4c_inferred, shape, 8);
FIELD(nd4c_inferred, shape_depends_on_data, 264);
FIXED(nd4c_inferred, 272);

FIELD(nd4c_inference, struct_size, 0);
FIELD(nd4c_inference, input_count, 4);
FIELD(nd4c_inference, op, 8);
FIELD(nd4c_inference, inputs, 16);
FIELD(nd4c_inference, attrs, 24);
FIELD(nd4c_inference, outputs, 32);
FIELD(nd4c_inference, data, 40);
FIELD(nd4c_inference, extents, 48);
GROWS(nd4c_inference, 56);

FIELD(nd4c_host, struct_size, 0);
FIELD(nd4c_host, abi_major, 4);
FIELD(nd4c_host, abi_minor, 6);
FIELD(nd4c_host, fail, 8);
FIELD(nd4c_host, error_message, 16);
FIELD(nd4c_host, log, 24);
FIELD(nd4c_host, config, 32);
FIELD(nd4c_host, config_number, 40);
FIELD(nd4c_host, allocate, 48);
FIELD(nd4c_host, free, 56);
FIELD(nd4c_host, parallel_for, 64);
FIELD(nd4c_host, cpu_level, 72);
FIELD(nd4c_host, allocate_pages, 80);
FIELD(nd4c_host, free_pages, 88);
FIELD(nd4c_host, library_open, 96);
FIELD(nd4c_host, library_find, 104);
FIELD(nd4c_host, library_symbol, 112);
FIELD(nd4c_host, cache_bytes, 120);
FIELD(nd4c_host, allocate_buffer, 128);
FIELD(nd4c_host, free_buffer, 136);
FIELD(nd4c_host, threads, 144);
FIELD(nd4c_host, files, 152);
FIELD(nd4c_host, check_cancelled, 160);
FIELD(nd4c_host, device_memory, 168);
FIELD(nd4c_host, cpu_features, 176);
FIELD(nd4c_host, allow_tiles, 184);
FIELD(nd4c_host, openmp_open, 192);
FIELD(nd4c_host, library_setenv, 200);
GROWS(nd4c_host, 208);

FIELD(nd4c_host_openmp, struct_size, 0);
FIELD(nd4c_host_openmp, on_pool, 4);
FIELD(nd4c_host_openmp, set_num_threads, 8);
FIELD(nd4c_host_openmp, get_max_threads, 16);
FIELD(nd4c_host_openmp, get_max_active_levels, 24);
FIELD(nd4c_host_openmp, text, 32);
FIELD(nd4c_host_openmp, was_loaded, 40);
GROWS(nd4c_host_openmp, 48);

FIELD(nd4c_host_threads, struct_size, 0);
FIELD(nd4c_host_threads, lock_acquire, 8);
FIELD(nd4c_host_threads, lock_release, 16);
FIELD(nd4c_host_threads, lock_destroy, 24);
FIELD(nd4c_host_threads, condition_wait, 32);
FIELD(nd4c_host_threads, condition_wait_until, 40);
FIELD(nd4c_host_threads, condition_signal, 48);
FIELD(nd4c_host_threads, condition_broadcast, 56);
FIELD(nd4c_host_threads, condition_destroy, 64);
FIELD(nd4c_host_threads, thread_start, 72);
FIELD(nd4c_host_threads, thread_join, 80);
FIELD(nd4c_host_threads, nanoseconds, 88);
FIELD(nd4c_host_threads, sleep, 96);
FIELD(nd4c_host_threads, yield, 104);
GROWS(nd4c_host_threads, 112);
FIXED(nd4c_host_lock, 64);
FIXED(nd4c_host_condition, 64);

FIELD(nd4c_device_memory_request, struct_size, 0);
FIELD(nd4c_device_memory_request, backend, 8);
FIELD(nd4c_device_memory_request, device, 16);
FIELD(nd4c_device_memory_request, bytes, 24);
FIELD(nd4c_device_memory_request, origin, 32);
FIELD(nd4c_device_memory_request, give_way, 40);
FIELD(nd4c_device_memory_request, owner, 48);
GROWS(nd4c_device_memory_request, 56);

FIELD(nd4c_host_device_memory, struct_size, 0);
FIELD(nd4c_host_device_memory, count, 8);
FIELD(nd4c_host_device_memory, allocate, 16);
FIELD(nd4c_host_device_memory, give, 24);
GROWS(nd4c_host_device_memory, 32);

FIELD(nd4c_host_files, struct_size, 0);
FIELD(nd4c_host_files, cache_directory, 8);
FIELD(nd4c_host_files, make_directory, 16);
FIELD(nd4c_host_files, read_own, 24);
FIELD(nd4c_host_files, write_own, 32);
FIELD(nd4c_host_files, list, 40);
FIELD(nd4c_host_files, map, 48);
FIELD(nd4c_host_files, unmap, 56);
FIELD(nd4c_host_files, duplicate, 64);
FIELD(nd4c_host_files, close, 72);
GROWS(nd4c_host_files, 80);

FIELD(nd4c_attr_value, kind, 0);
FIELD(nd4c_attr_value, count, 4);
FIELD(nd4c_attr_value, as, 8);
FIXED(nd4c_attr_value, 16);

FIELD(nd4c_op_info, struct_size, 0);
FIELD(nd4c_op_info, op, 4);
FIELD(nd4c_op_info, version, 8);
FIELD(nd4c_op_info, name, 16);
FIELD(nd4c_op_info, category_name, 24);
FIELD(nd4c_op_info, category, 32);
FIELD(nd4c_op_info, dtypes, 40);
FIELD(nd4c_op_info, input_count, 48);
FIELD(nd4c_op_info, attr_count, 52);
FIELD(nd4c_op_info, output_count, 56);
FIELD(nd4c_op_info, inputs, 64);
FIELD(nd4c_op_info, attrs, 72);
FIELD(nd4c_op_info, doc, 80);
FIELD(nd4c_op_info, names, 88);
FIELD(nd4c_op_info, provider, 96);
GROWS(nd4c_op_info, 104);

FIELD(nd4c_op_input, name, 0);
FIELD(nd4c_op_input, optional, 8);
FIELD(nd4c_op_input, variadic, 9);
FIXED(nd4c_op_input, 16);

FIELD(nd4c_op_attr, name, 0);
FIELD(nd4c_op_attr, preset, 8);
FIXED(nd4c_op_attr, 24);

/* ND4C_HAS_FIELD makes older plug-ins work: it must follow the struct_size that the other side has set. */
static void has_field_follows_struct_size(void **state) {
  (void)state;
  nd4c_kernel kernel = {.struct_size = (uint32_t)offsetof(nd4c_kernel, preferred_order)};
  assert_true(ND4C_HAS_FIELD(&kernel, run));
  assert_false(ND4C_HAS_FIELD(&kernel, preferred_order));
  kernel.struct_size++; /* half a pointer is not a pointer */
  assert_false(ND4C_HAS_FIELD(&kernel, preferred_order));
  kernel.struct_size = ND4C_SIZE_OF(nd4c_kernel);
  assert_true(ND4C_HAS_FIELD(&kernel, preferred_order));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(has_field_follows_struct_size)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
