/* Sections `fences`, `times` and `recordings`: checks what a device reports about the end of its work while that is in
 * flight. The section table of plugin_check.c lists these. */
#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "direct.h"

enum { ATTEMPTS = 3, SMALL = 4096 };
static const double hang_seconds = 120;

/* Enqueues a chain on a fresh stream. */
static bool begin(plugin_direct *d, nd4c_stream *stream, plugin_chain *chain) {
  return plugin_direct_stream(d, stream) && plugin_chain_enqueue(d, *stream, chain);
}

static bool record(plugin_direct *d, nd4c_stream stream, nd4c_fence *fence) {
  return plugin_direct_status(d, d->ops->fence_record(d->device, stream, fence), "fence_record") &&
         plugin_check_that(d->check, *fence != NULL, "%s: fence_record gave NULL", d->name);
}

static bool wait(plugin_direct *d, nd4c_fence fence) {
  nd4c_failed_range failed = {0, 0};
  const bool good = plugin_direct_status(d, d->ops->fence_wait(d->device, fence, &failed), "fence_wait");
  d->ops->fence_destroy(d->device, fence);
  return good;
}

/* -- fences -------------------------------------------------------------------------------------------------------- */

static bool check_query(plugin_direct *d) {
  nd4c_stream stream;
  plugin_chain chain;
  nd4c_fence fence = NULL;
  plugin_check_at("fence_query on %s", d->name);
  if (!begin(d, &stream, &chain) || !record(d, stream, &fence)) {
    return false;
  }
  const double begun = cli_seconds();
  while (!d->ops->fence_query(d->device, fence) && cli_seconds() - begun < hang_seconds) {
    (void)sched_yield();
  }
  const bool late = cli_seconds() - begun >= hang_seconds;
  bool right = plugin_check_that(d->check, late || plugin_chain_ended(&chain),
                                 "%s: fence_query says that the work has ended while it is under way", d->name);
  right = wait(d, fence) && right;
  right = plugin_check_that(d->check, !late, "%s: fence_query never says that the work has ended", d->name) && right;
  d->ops->stream_destroy(d->device, stream);
  return right;
}

static bool check_wait(plugin_direct *d) {
  nd4c_stream stream;
  plugin_chain chain;
  nd4c_fence fence = NULL;
  nd4c_failed_range failed = {0, 0};
  plugin_check_at("fence_wait on %s", d->name);
  if (!begin(d, &stream, &chain) || !record(d, stream, &fence)) {
    return false;
  }
  bool right = plugin_direct_status(d, d->ops->fence_wait(d->device, fence, &failed), "fence_wait");
  right = plugin_check_that(d->check, plugin_chain_ended(&chain), "%s: fence_wait returns before the work has ended",
                            d->name) &&
          right;
  right = plugin_check_that(d->check, d->ops->fence_query(d->device, fence),
                            "%s: fence_query says that a fence is not ready that was waited for", d->name) &&
          right;
  d->ops->fence_destroy(d->device, fence);
  d->ops->stream_destroy(d->device, stream);
  return right;
}

/* How a second stream is made to wait for the chain. */
typedef enum way { WAIT_FENCE, WAIT_OTHER, COPY_BETWEEN } way;
static const char *const way_names[] = {"stream_wait_fence", "stream_wait_other", "copy_between"};

static nd4c_status let_wait(plugin_direct *d, plugin_direct *other, way how, nd4c_stream stream, nd4c_fence fence,
                            const plugin_chain *chain, nd4c_buffer mine) {
  return how == WAIT_FENCE ? d->ops->stream_wait_fence(d->device, stream, fence)
         : how == WAIT_OTHER
             ? other->ops->stream_wait_other(other->device, stream, d->device, fence)
             : other->ops->copy_between(other->device, stream, mine, 0, d->device, chain->buffer, 0, SMALL, &fence, 1);
}

/* What a stream does behind a wait has ended: so has what it waited for. */
static bool check_stream(plugin_direct *d, plugin_direct *other, way how) {
  static unsigned char small[SMALL];
  plugin_direct *second = how == WAIT_FENCE ? d : other;
  nd4c_stream first_stream, stream;
  plugin_chain chain;
  nd4c_fence fence = NULL, behind = NULL;
  nd4c_buffer mine = NULL;
  plugin_check_at("%s on %s", way_names[how], d->name);
  if (!begin(d, &first_stream, &chain) || !record(d, first_stream, &fence) || !plugin_direct_stream(second, &stream) ||
      !plugin_direct_status(second, plugin_direct_buffer(second, SMALL, &mine), "allocate")) {
    return false;
  }
  const nd4c_status status = let_wait(d, other, how, stream, fence, &chain, mine);
  d->ops->fence_destroy(d->device, fence); /* which may be destroyed before it is ready */
  bool right = status == ND4C_UNSUPPORTED ? plugin_direct_may_fail(d, status, way_names[how])
                                          : plugin_direct_status(d, status, way_names[how]);
  if (right) {
    right = plugin_direct_status(second, second->ops->copy_to_host(second->device, stream, small, mine, 0, SMALL),
                                 "copy_to_host") &&
            record(second, stream, &behind) && wait(second, behind);
    right = plugin_check_that(d->check, plugin_chain_ended(&chain),
                              "%s: %s does not wait: what was enqueued behind it has ended before the fence is ready",
                              second->name, way_names[how]) &&
            right;
  }
  second->ops->stream_destroy(second->device, stream);
  d->ops->stream_destroy(d->device, first_stream);
  return right;
}

static bool check_destroy(plugin_direct *d) {
  nd4c_stream stream;
  plugin_chain chain;
  plugin_check_at("stream_destroy on %s", d->name);
  if (!begin(d, &stream, &chain)) {
    return false;
  }
  d->ops->stream_destroy(d->device, stream);
  return plugin_check_that(d->check, plugin_chain_ended(&chain),
                           "%s: stream_destroy returned, and work that was enqueued before has not been done", d->name);
}

static bool check_synchronize(plugin_direct *d) {
  nd4c_stream stream;
  plugin_chain chain;
  plugin_check_at("synchronize on %s", d->name);
  if (!begin(d, &stream, &chain)) {
    return false;
  }
  bool right = plugin_direct_status(d, d->ops->synchronize(d->device), "synchronize");
  right = plugin_check_that(d->check, plugin_chain_ended(&chain), "%s: synchronize returns before the work has ended",
                            d->name) &&
          right;
  d->ops->stream_destroy(d->device, stream);
  return right;
}

static bool reaches(plugin_direct *d, plugin_direct *other) {
  nd4c_peer_link link = {.struct_size = sizeof link};
  return !ND4C_HAS_FIELD(d->ops, peer) || d->ops->peer == NULL ||
         (d->ops->peer(other->device, d->device, &link) == ND4C_OK && link.kind != ND4C_PEER_NONE);
}

static void check_fences(plugin_direct *d, plugin_direct *other) {
  if (!d->about.asynchronous) {
    plugin_check_note("%s is synchronous", d->name);
    return;
  }
  const bool others = other != NULL && ND4C_HAS_FIELD(d->ops, stream_wait_other) && d->ops->stream_wait_other != NULL;
  const bool between = other != NULL && ND4C_HAS_FIELD(d->ops, copy_between) && d->ops->copy_between != NULL;
  const bool linked = between && reaches(d, other);
  const bool synchronizes = d->ops->synchronize != NULL;
  bool right = true;
  for (int32_t i = 0; i < ATTEMPTS && right; i++) { /* a false report shows only during long work */
    right = check_query(d) && check_wait(d) && check_stream(d, NULL, WAIT_FENCE) && check_destroy(d) &&
            (!synchronizes || check_synchronize(d));
  }
  for (int32_t i = 0; i < ATTEMPTS && right; i++) {
    right = (!others || check_stream(d, other, WAIT_OTHER)) && (!linked || check_stream(d, other, COPY_BETWEEN));
  }
}

void plugin_section_fences(plugin_check *check) {
  plugin_direct_each(check, check_fences);
}

/* -- times --------------------------------------------------------------------------------------------------------- */

/* Clocks of host and device may run apart by a part of this, and tick this coarsely. */
static const double clock_factor = 1.25, clock_slack = 0.02;

static void check_span(plugin_direct *d, const nd4c_timing_span *span, double host_seconds) {
  const double seconds = 1e-9 * (double)(span->end - span->begin);
  (void)plugin_check_that(d->check, span->begin != 0 || span->end != 0,
                          "%s: times of work that was enqueued say that nothing was", d->name);
  (void)plugin_check_that(d->check, span->begin <= span->end, "%s: times: work ended %" PRId64 " ns before it began",
                          d->name, span->begin - span->end);
  (void)plugin_check_that(
      d->check, span->busy >= 0 && (span->begin > span->end || span->busy <= span->end - span->begin),
      "%s: times: busy for %" PRId64 " ns within %" PRId64 " ns", d->name, span->busy, span->end - span->begin);
  (void)plugin_check_that(d->check, span->submitted == 0 || span->submitted <= span->begin || span->begin == 0,
                          "%s: times: work began %" PRId64 " ns before it was submitted", d->name,
                          span->submitted - span->begin);
  (void)plugin_check_that(d->check, seconds <= clock_factor * host_seconds + clock_slack,
                          "%s: times: work took %.6f s, while %.6f s passed on the host", d->name, seconds,
                          host_seconds);
}

static void check_times(plugin_direct *d, plugin_direct *other) {
  const nd4c_stream_options options = {.struct_size = sizeof options, .timed = true};
  nd4c_timing_span span = {.struct_size = sizeof span};
  nd4c_stream stream = NULL;
  nd4c_timing timing = NULL;
  plugin_chain chain;
  bool ready = false;
  (void)other;
  const nd4c_timing_ops *ops = ND4C_HAS_FIELD(d->ops, timing) && d->about.asynchronous ? d->ops->timing : NULL;
  if (ops == NULL) {
    plugin_check_skip("%s tells no times", d->name);
    return;
  }
  plugin_check_at("times on %s", d->name);
  const bool with = d->ops->stream_create_with != NULL;
  const bool made =
      with ? plugin_direct_status(d, d->ops->stream_create_with(d->device, &options, &stream), "stream_create_with")
           : plugin_direct_stream(d, &stream);
  const double begun = cli_seconds();
  if (!made || !plugin_direct_status(d, ops->begin(d->device, stream), "timing begin") ||
      !plugin_chain_enqueue(d, stream, &chain) ||
      !plugin_direct_status(d, ops->end(d->device, stream, &timing), "timing end")) {
    return;
  }
  if (plugin_direct_status(d, ops->read(d->device, timing, true, &ready, &span), "timing read")) {
    (void)plugin_check_that(d->check, ready, "%s: times that were waited for are not ready", d->name);
    (void)plugin_check_that(d->check, plugin_chain_ended(&chain), "%s: times are told before the work has ended",
                            d->name);
    check_span(d, &span, cli_seconds() - begun);
  }
  ops->destroy(d->device, timing);
  d->ops->stream_destroy(d->device, stream);
}

void plugin_section_times(plugin_check *check) {
  plugin_direct_each(check, check_times);
}

/* -- recordings ---------------------------------------------------------------------------------------------------- */

/* A part is copied, with an offset on both sides; the source holds something else around it. */
enum { RECORDED = 77, BEFORE = 11, AROUND = 123, TO = 129, FROM = 65, PART = SMALL - 259 };

/* What the buffer holds in that part and around it, read on the stream itself. */
static void check_bytes(plugin_direct *d, nd4c_stream stream, nd4c_buffer buffer, unsigned char wanted,
                        const char *what) {
  static unsigned char got[SMALL]; /* as long as the process: a device may write there late */
  memset(got, 0, sizeof got);
  const nd4c_status status = d->ops->copy_to_host(d->device, stream, got, buffer, 0, SMALL);
  if (plugin_direct_status(d, status, what) && plugin_direct_wait(d, stream, what)) {
    int32_t at = 0;
    while (at < SMALL && got[at] == (at >= TO && at < TO + PART ? wanted : BEFORE)) {
      at++;
    }
    (void)plugin_check_that(d->check, at == SMALL, "%s: %s: byte %d is %d, expected %d", d->name, what, (int)at,
                            at < SMALL ? got[at] : 0, at >= TO && at < TO + PART ? wanted : BEFORE);
  }
}

static bool enqueue_copy(plugin_direct *d, nd4c_stream stream, nd4c_buffer to, nd4c_buffer from) {
  return plugin_direct_status(d, d->ops->copy_within(d->device, stream, to, TO, from, FROM, PART), "copy_within");
}

static void check_launch(plugin_direct *d, nd4c_stream stream, nd4c_buffer to, nd4c_buffer from) {
  const nd4c_capture_ops *ops = d->ops->capture;
  nd4c_recording recording = NULL;
  nd4c_launchable launchable = NULL;
  if (plugin_direct_status(d, ops->begin(d->device, stream), "capture begin") && enqueue_copy(d, stream, to, from) &&
      plugin_direct_status(d, ops->end(d->device, stream, &recording), "capture end")) {
    check_bytes(d, stream, to, BEFORE, "after a recording that was not launched");
    if (plugin_direct_status(d, ops->instantiate(d->device, recording, &launchable), "instantiate") &&
        plugin_direct_status(d, ops->launch(d->device, launchable, stream, 0), "launch")) {
      check_bytes(d, stream, to, RECORDED, "after a launch");
      ops->launchable_destroy(d->device, launchable);
    }
    ops->recording_destroy(d->device, recording);
  }
}

static _Atomic int32_t callbacks; /* as long as the process */

static void call_back(void *argument) {
  atomic_fetch_add((_Atomic int32_t *)argument, 1);
}

static void expect_callbacks(plugin_direct *d, nd4c_stream stream, int32_t wanted, const char *what) {
  if (plugin_direct_wait(d, stream, what)) {
    const int32_t seen = atomic_load(&callbacks);
    (void)plugin_check_that(d->check, seen == wanted, "%s: %s: host_callback's function ran %d times, expected %d",
                            d->name, what, (int)seen, (int)wanted);
  }
}

/* A callback runs once when it is enqueued, not while it is recorded, and once with each launch. */
static void check_callbacks(plugin_direct *d, nd4c_stream stream) {
  const nd4c_capture_ops *ops = d->ops->capture;
  nd4c_recording recording = NULL;
  nd4c_launchable launchable = NULL;
  if (!ND4C_HAS_FIELD(ops, host_callback) || ops->host_callback == NULL) {
    return;
  }
  plugin_check_at("host_callback on %s", d->name);
  atomic_store(&callbacks, 0);
  if (!plugin_direct_status(d, ops->host_callback(d->device, stream, call_back, &callbacks), "host_callback")) {
    return;
  }
  expect_callbacks(d, stream, 1, "enqueued once");
  if (!plugin_direct_status(d, ops->begin(d->device, stream), "capture begin") ||
      !plugin_direct_status(d, ops->host_callback(d->device, stream, call_back, &callbacks), "host_callback") ||
      !plugin_direct_status(d, ops->end(d->device, stream, &recording), "capture end")) {
    return;
  }
  expect_callbacks(d, stream, 1, "recorded, and not launched");
  if (plugin_direct_status(d, ops->instantiate(d->device, recording, &launchable), "instantiate")) {
    if (plugin_direct_status(d, ops->launch(d->device, launchable, stream, 0), "launch") &&
        plugin_direct_status(d, ops->launch(d->device, launchable, stream, 0), "launch")) {
      expect_callbacks(d, stream, 3, "launched twice");
    }
    ops->launchable_destroy(d->device, launchable);
  }
  ops->recording_destroy(d->device, recording);
}

static void check_recordings(plugin_direct *d, plugin_direct *other) {
  static unsigned char bytes[2][SMALL];
  nd4c_stream stream = NULL;
  nd4c_buffer from = NULL, to = NULL;
  (void)other;
  const nd4c_capture_ops *ops = d->about.asynchronous ? d->ops->capture : NULL;
  if (ops == NULL || d->ops->copy_within == NULL) {
    plugin_check_skip("%s %s", d->name, ops == NULL ? "does not record work" : "has no copies that could be recorded");
    return;
  }
  memset(bytes[0], AROUND, SMALL);
  memset(bytes[0] + FROM, RECORDED, PART);
  memset(bytes[1], BEFORE, SMALL);
  plugin_check_at("recordings on %s", d->name);
  if (!plugin_direct_stream(d, &stream) ||
      !plugin_direct_status(d, plugin_direct_buffer(d, SMALL, &from), "allocate") ||
      !plugin_direct_status(d, plugin_direct_buffer(d, SMALL, &to), "allocate") ||
      !plugin_direct_status(d, d->ops->copy_from_host(d->device, stream, from, 0, bytes[0], SMALL), "copy_from_host") ||
      !plugin_direct_status(d, d->ops->copy_from_host(d->device, stream, to, 0, bytes[1], SMALL), "copy_from_host") ||
      !plugin_direct_wait(d, stream, "fence_wait") ||
      !plugin_direct_status(d, ops->begin(d->device, stream), "capture begin") || !enqueue_copy(d, stream, to, from)) {
    return;
  }
  ops->abandon(d->device, stream);
  check_bytes(d, stream, to, BEFORE, "after abandon, which ends a recording and throws it away");
  check_launch(d, stream, to, from);
  check_callbacks(d, stream);
}

void plugin_section_recordings(plugin_check *check) {
  plugin_direct_each(check, check_recordings);
}
