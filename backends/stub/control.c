/* Options from the environment, failures on demand, counters, and the gate that pauses the queues. Every file of the
 * stub asks it; tests call stub_control and stub_counter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stub.h"

stub_options stub_settings;

typedef struct stub_rule {
  int64_t number, second; /* fails when the count of calls reaches one of them; 0: always; -1: no rule */
  nd4c_status status;
} stub_rule;

static const char *const call_names[STUB_CALL_COUNT] = {
#define CALL_NAME(name) #name,
    STUB_CALLS(CALL_NAME)
#undef CALL_NAME
};
static const char *const counter_names[STUB_COUNT_COUNT] = {
#define COUNTER_NAME(name) #name,
    STUB_COUNTERS(COUNTER_NAME)
#undef COUNTER_NAME
};

/* rules and calls are guarded by the lock. */
static nd4c_host_lock lock;
static stub_rule rules[STUB_CALL_COUNT];
static int64_t calls[STUB_CALL_COUNT];
static _Atomic int64_t counters[STUB_COUNT_COUNT];
static _Atomic int64_t delay_microseconds, linger_microseconds;
#define USUAL_MEMORY (INT64_C(1) << 30)
static _Atomic int64_t memory_bytes = USUAL_MEMORY;
static _Atomic int64_t scratch_least, scratch_best;
static _Atomic bool idle, endless;

static void clear_rules(void) {
  for (int i = 0; i < STUB_CALL_COUNT; i++) {
    rules[i] = (stub_rule){.number = -1, .second = -1, .status = ND4C_DEVICE};
  }
}

/* "CALL:N[+M][:STATUS]" up to a comma or the end. */
static bool add_rule(const char *text, size_t length) {
  for (int i = 0; i < STUB_CALL_COUNT; i++) {
    size_t name = strlen(call_names[i]);
    if (length > name + 1 && strncmp(text, call_names[i], name) == 0 && text[name] == ':') {
      char *end = NULL;
      long long number = strtoll(text + name + 1, &end, 10);
      long long more = *end == '+' ? strtoll(end + 1, &end, 10) : 0;
      long status = *end == ':' ? strtol(end + 1, &end, 10) : ND4C_DEVICE;
      if (number < 0 || more < 0 || end != text + length) {
        return false;
      }
      rules[i] = (stub_rule){.number = number == 0 ? 0 : calls[i] + number,
                             .second = more == 0 ? -1 : calls[i] + number + more,
                             .status = (nd4c_status)status};
      return true;
    }
  }
  return false;
}

static bool add_rules(const char *text) {
  bool good = true;
  while (*text != '\0') {
    size_t length = strcspn(text, ",");
    good = add_rule(text, length) && good;
    text += length + (text[length] == ',');
  }
  return good;
}

static void copy_text(char *to, size_t size, const char *variable, const char *preset) {
  const char *value = getenv(variable);
  (void)snprintf(to, size, "%s", value != NULL && value[0] != '\0' ? value : preset);
}

static int64_t number_of(const char *variable, int64_t preset) {
  const char *value = getenv(variable);
  return value != NULL && value[0] != '\0' ? strtoll(value, NULL, 10) : preset;
}

void stub_options_read(void) {
  char mode[16], points[16], pace[16];
  copy_text(stub_settings.name, sizeof stub_settings.name, "STUB_NAME", "stub");
  copy_text(stub_settings.type, sizeof stub_settings.type, "STUB_TYPE", "other");
  copy_text(stub_settings.lie, sizeof stub_settings.lie, "STUB_LIE", "");
  copy_text(stub_settings.memory, sizeof stub_settings.memory, "STUB_MEMORY", "opaque");
  copy_text(stub_settings.capture, sizeof stub_settings.capture, "STUB_CAPTURE", "none");
  copy_text(stub_settings.peers, sizeof stub_settings.peers, "STUB_PEERS", "copy");
  copy_text(stub_settings.verdict, sizeof stub_settings.verdict, "STUB_VERDICT", "found");
  copy_text(points, sizeof points, "STUB_POINTS", "all");
  copy_text(mode, sizeof mode, "STUB_MODE", "kernels");
  copy_text(pace, sizeof pace, "STUB_PACE", "free");
  stub_settings.priority = (int32_t)number_of("STUB_PRIORITY", -10);
  stub_settings.devices = (int32_t)number_of("STUB_DEVICES", 2);
  stub_settings.kernels = strcmp(mode, "compiler") != 0;
  stub_settings.generation = (int32_t)number_of("STUB_GENERATION", 1);
  stub_settings.returns = number_of("STUB_RETURN", 0) != 0;
  stub_settings.swift = strcmp(pace, "swift") == 0;
  stub_settings.slow = strcmp(pace, "slow") == 0;
  stub_settings.tells = strcmp(points, "none") != 0;
  stub_settings.whole = strcmp(stub_settings.memory, "whole") == 0;
  stub_settings.addresses = strcmp(stub_settings.memory, "address") == 0;
  stub_settings.compiler = strcmp(mode, "kernels") != 0;
  atomic_store(&delay_microseconds, number_of("STUB_DELAY_US", 0));
  const char *failures = getenv("STUB_FAIL");
  stub_lock(&lock);
  clear_rules();
  if (failures != NULL) {
    (void)add_rules(failures);
  }
  stub_unlock(&lock);
}

bool stub_lies(const char *about) {
  return strcmp(stub_settings.lie, about) == 0;
}

nd4c_device_type stub_settings_type(void) {
#define TYPE_CASE(NAME, number, text, priority) \
  if (strcmp(stub_settings.type, text) == 0) {  \
    return ND4C_DEVICE_##NAME;                  \
  }
  ND4C_DEVICE_TYPE_TABLE(TYPE_CASE)
#undef TYPE_CASE
  return ND4C_DEVICE_OTHER;
}

static bool take_rule(stub_call call, nd4c_status *status) {
  stub_lock(&lock);
  int64_t number = ++calls[call];
  bool fails = rules[call].number == 0 || rules[call].number == number || rules[call].second == number;
  *status = rules[call].status;
  stub_unlock(&lock);
  return fails;
}

bool stub_fails(stub_call call) {
  nd4c_status status = ND4C_OK;
  return take_rule(call, &status);
}

nd4c_status stub_attempt(stub_call call) {
  nd4c_status status = ND4C_OK;
  return take_rule(call, &status) ? stub_host->fail(status, "stub: %s was told to fail", call_names[call]) : ND4C_OK;
}

void stub_count_add(stub_count counter, int64_t amount) {
  atomic_fetch_add(&counters[counter], amount);
}

void stub_count_set(stub_count counter, int64_t value) {
  atomic_store(&counters[counter], value);
}

nd4c_status stub_violation(const char *what) {
  stub_count_add(STUB_COUNT_violations, 1);
  return stub_host->fail(ND4C_INTERNAL, "stub: violation: %s", what);
}

int64_t stub_delay(void) {
  return atomic_load(&delay_microseconds);
}

void stub_delay_set(int64_t microseconds) {
  atomic_store(&delay_microseconds, microseconds);
}

void stub_linger(void) {
  stub_host->threads->sleep(1000 * atomic_load_explicit(&linger_microseconds, memory_order_relaxed));
}

int64_t stub_memory(void) {
  return atomic_load(&memory_bytes);
}

nd4c_scratch_range stub_scratch_asked(void) {
  return (nd4c_scratch_range){atomic_load(&scratch_least), atomic_load(&scratch_best)};
}

bool stub_idle(void) {
  return atomic_load_explicit(&idle, memory_order_relaxed);
}

bool stub_endless(void) {
  return atomic_load_explicit(&endless, memory_order_relaxed);
}

/* -- the gate ---------------------------------------------------------------------------------------------------- */

/* Each "pause" has the next number, and a submission that of the pause under which it is made. */
static struct {
  nd4c_host_lock lock; /* guards all below */
  nd4c_host_condition changed;
  int64_t latest, ended; /* pauses so far, and how many of them, from the first on, are over */
  int64_t holding;       /* the pause that holds what is submitted now; 0: none does */
  bool until_wait;       /* a wait of the host's ends them all */
} gate;

int64_t stub_gate_number(void) {
  stub_lock(&gate.lock);
  const int64_t number = gate.holding;
  stub_unlock(&gate.lock);
  return number;
}

void stub_gate_pass(int64_t number) {
  stub_lock(&gate.lock);
  while (number > gate.ended) {
    stub_host->threads->condition_wait(&gate.changed, &gate.lock);
  }
  stub_unlock(&gate.lock);
}

/* Ends the pauses up to that number. The gate's lock is held. */
static void end_pauses(int64_t number) {
  gate.ended = number;
  if (gate.holding <= number) {
    gate.holding = 0;
  }
  if (gate.ended == gate.latest) {
    gate.until_wait = false;
  }
  stub_host->threads->condition_broadcast(&gate.changed);
}

bool stub_gate_is_open(void) {
  stub_lock(&gate.lock);
  const bool open = gate.ended == gate.latest;
  stub_unlock(&gate.lock);
  return open;
}

void stub_gate_host_waits(void) {
  stub_lock(&gate.lock);
  if (gate.until_wait) {
    end_pauses(gate.latest);
  }
  stub_unlock(&gate.lock);
}

/* False: it is no command of the gate's. */
static bool control_gate(const char *command) {
  bool good = true;
  stub_lock(&gate.lock);
  if (strcmp(command, "pause") == 0 || strcmp(command, "pause until_wait") == 0) {
    gate.holding = ++gate.latest;
    gate.until_wait = command[5] != '\0';
  } else if (strcmp(command, "pass") == 0) {
    gate.holding = 0;
  } else if (strcmp(command, "resume") == 0) {
    end_pauses(gate.latest);
  } else if (strcmp(command, "resume first") == 0 && gate.ended < gate.latest) {
    end_pauses(gate.ended + 1);
  } else {
    good = false;
  }
  stub_unlock(&gate.lock);
  return good;
}

/* -- commands ------------------------------------------------------------------------------------------------------ */

int32_t stub_control(const char *command) {
  if (control_gate(command)) {
    return ND4C_OK;
  }
  if (strncmp(command, "delay ", 6) == 0) {
    atomic_store(&delay_microseconds, strtoll(command + 6, NULL, 10));
    return ND4C_OK;
  }
  if (strncmp(command, "linger ", 7) == 0) {
    atomic_store(&linger_microseconds, strtoll(command + 7, NULL, 10));
    return ND4C_OK;
  }
  if (strncmp(command, "memory ", 7) == 0) {
    atomic_store(&memory_bytes, strtoll(command + 7, NULL, 10));
    return ND4C_OK;
  }
  if (strncmp(command, "scratch ", 8) == 0) {
    char *end = NULL;
    const int64_t least = strtoll(command + 8, &end, 10);
    atomic_store(&scratch_least, least);
    atomic_store(&scratch_best, *end == ' ' ? strtoll(end, NULL, 10) : least);
    return ND4C_OK;
  }
  if (strncmp(command, "hold", 4) == 0 || strcmp(command, "unhold") == 0 || strncmp(command, "give_way ", 9) == 0) {
    return stub_held_control(command);
  }
  if (strcmp(command, "idle 1") == 0) {
    atomic_store(&idle, true);
    return ND4C_OK;
  }
  if (strcmp(command, "endless 1") == 0) {
    atomic_store(&endless, true);
    return ND4C_OK;
  }
  stub_lock(&lock);
  bool good = true;
  if (strncmp(command, "fail ", 5) == 0) {
    good = add_rules(command + 5);
  } else if (strcmp(command, "reset") == 0) {
    clear_rules();
    (void)control_gate("resume");
    atomic_store(&delay_microseconds, 0);
    atomic_store(&linger_microseconds, 0);
    atomic_store(&memory_bytes, USUAL_MEMORY);
    atomic_store(&scratch_least, 0);
    atomic_store(&scratch_best, 0);
    atomic_store(&idle, false);
    atomic_store(&endless, false);
  } else {
    good = false;
  }
  stub_unlock(&lock);
  return good ? ND4C_OK : ND4C_ARGUMENT;
}

int64_t stub_counter(const char *name) {
  for (int i = 0; i < STUB_COUNT_COUNT; i++) {
    if (strcmp(name, counter_names[i]) == 0) {
      return atomic_load(&counters[i]);
    }
  }
  int64_t value = -1;
  stub_lock(&lock);
  for (int i = 0; i < STUB_CALL_COUNT; i++) {
    if (strcmp(name, call_names[i]) == 0) {
      value = calls[i];
    }
  }
  stub_unlock(&lock);
  return value;
}
