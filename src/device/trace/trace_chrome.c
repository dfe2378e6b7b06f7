/* Writes events as the JSON that chrome://tracing and Perfetto load: one process, numbered by the rank, with one row
 * for each thread. tracer.c calls it when a recording that has a file ends. */
#include "base/alloc.h"
#include "base/config/config.h"
#include "base/status.h"
#include "device/trace/trace_text.h"

typedef struct chrome {
  nd4c_text *text;
  int64_t origin;
  bool any;
} chrome;

/* A JSON string: names come from backends, which are untrusted. */
static void print_string(nd4c_text *text, const char *string) {
  nd4c_text_append(text, "\"", 1);
  for (const char *c = string; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\' || (unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f) {
      nd4c_text_print(text, "\\u%04x", (unsigned)(unsigned char)*c);
    } else {
      nd4c_text_append(text, c, 1);
    }
  }
  nd4c_text_append(text, "\"", 1);
}

static void print_field(nd4c_text *text, const char *name, const char *value) {
  nd4c_text_print(text, ",\"%s\":", name);
  print_string(text, value);
}

/* Microseconds with three decimals; always with a point, independent of the locale. */
static void print_time(nd4c_text *text, const char *name, int64_t nanoseconds) {
  int64_t size = nanoseconds < 0 ? -nanoseconds : nanoseconds;
  nd4c_text_print(text, ",\"%s\":%s%lld.%03d", name, nanoseconds < 0 ? "-" : "", (long long)(size / 1000),
                  (int)(size % 1000));
}

static void open_event(chrome *out, int32_t thread, const nd4c_trace_event *event, const char *phase,
                       const char *category, const char *name) {
  const int process = 1 + (int)nd4c_config_int(ND4C_CONFIG_PROCESS_RANK);
  nd4c_text_print(out->text, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", out->any ? "," : "", phase, process,
                  (int)thread);
  print_time(out->text, "ts", event->begin - out->origin);
  if (phase[0] == 'X') {
    print_time(out->text, "dur", event->nanoseconds);
  }
  print_field(out->text, "cat", category);
  print_field(out->text, "name", name);
  nd4c_text_print(out->text, ",\"args\":{\"bytes\":%lld", (long long)event->bytes);
  print_field(out->text, "device", event->to->name);
  out->any = true;
}

/* The device's time, on a separate row after those of threads. */
static void print_device_time(chrome *out, const nd4c_trace_event *event) {
  enum { DEVICE_ROWS = 1000000 };
  nd4c_trace_event work = *event;
  work.begin = event->device_begin;
  work.nanoseconds = event->device_span;
  open_event(out, DEVICE_ROWS + event->to->number, &work, "X", "device", event->op);
  print_field(out->text, "kernel", event->kernel != NULL ? event->kernel : "");
  print_field(out->text, "time", "device");
  nd4c_text_print(out->text, ",\"busy_ns\":%lld}}", (long long)event->device_nanoseconds);
}

static void print_event(void *user, int32_t thread, const nd4c_trace_event *event) {
  chrome *out = user;
  nd4c_text *text = out->text;
  switch (event->kind) {
    case ND4C_TRACE_EXECUTE:
      open_event(out, thread, event, "X", "op", event->op);
      print_field(text, "kernel", event->kernel != NULL ? event->kernel : "");
      if (event->node != NULL) {
        print_field(text, "node", event->node);
      }
      print_field(text, "time", event->time == ND4C_TRACE_WHOLE_TIME ? "whole" : "submission");
      break;
    case ND4C_TRACE_TRANSITION:
      open_event(out, thread, event, "i", "transition", "device transition");
      print_field(text, "from", event->from->name);
      break;
    case ND4C_TRACE_COPY:
      open_event(out, thread, event, "X", "copy", "copy");
      print_field(text, "from", event->from->name);
      print_field(text, "op", event->op != NULL ? event->op : "");
      break;
    case ND4C_TRACE_ALLOCATE:
    case ND4C_TRACE_FREE:
      open_event(out, thread, event, "i", "memory", event->kind == ND4C_TRACE_FREE ? "free" : "allocate");
      print_field(text, "op", event->op != NULL ? event->op : "");
      break;
    case ND4C_TRACE_WRITE:
      return; /* only for round trips */
  }
  nd4c_text_print(text, "}%s}",
                  event->kind == ND4C_TRACE_EXECUTE || event->kind == ND4C_TRACE_COPY ? "" : ",\"s\":\"t\"");
  if (event->kind == ND4C_TRACE_EXECUTE && event->time == ND4C_TRACE_DEVICE_TIME) {
    print_device_time(out, event);
  }
}

nd4c_status nd4c_trace_chrome(nd4c_trace_recording recording, nd4c_text *text) {
  chrome out = {.text = text, .origin = nd4c_tracer_origin(recording)};
  nd4c_text_print(text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  int64_t dropped = nd4c_tracer_visit(recording, 0, print_event, &out);
  nd4c_text_print(text, "\n],\"otherData\":{\"library\":\"nd4c\",\"dropped\":%lld}}\n", (long long)dropped);
  return text->failed ? nd4c_fail_memory("a Chrome trace", text->length) : ND4C_OK;
}
