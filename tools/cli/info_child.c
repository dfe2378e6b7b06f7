/* Implements info_child.h with fork and without exec: the parent has no threads and has not used the library, so that a
 * child is as good as a fresh process, and the parent needs no /proc to find its program. info.c calls it. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "info_child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CRASHES = 16, NAME_SIZE = 1024, HOW_SIZE = 256, TICK_MS = 100 };

/* What the child writes and the parent reads after the child's end. */
typedef struct shared_state {
  char name[NAME_SIZE]; /* the provider whose code runs; "": none, `what` says the rest */
  char what[HOW_SIZE];  /* of a provider: its function */
  bool done;            /* the report is complete */
} shared_state;

typedef struct crash {
  char name[NAME_SIZE], how[HOW_SIZE + 192];
} crash;

static shared_state *shared;
static crash crashes[CRASHES];
static int crash_count;

/* -- in the child -------------------------------------------------------------------------------------------------- */

/* The library logs "NAME: function" before it calls a provider's function. */
static void listen(void *user, nd4c_log_level level, const char *area, const char *message) {
  (void)user;
  const char *colon = strrchr(message, ':');
  if (level == ND4C_LOG_DEBUG && strcmp(area, "provider") == 0 && colon != NULL) {
    (void)snprintf(shared->name, sizeof shared->name, "%.*s", (int)(colon - message), message);
    (void)snprintf(shared->what, sizeof shared->what, "%s", colon + 2);
  }
}

void info_child_mark(const char *what) {
  if (shared != NULL) {
    shared->name[0] = '\0';
    (void)snprintf(shared->what, sizeof shared->what, "%s", what);
  }
}

/* Adds a name to nd4c.backend.disable. */
static nd4c_status disable(const char *name) {
  static const char property[] = "nd4c.backend.disable";
  const char *value = "";
  nd4c_status status = nd4c_config_get(property, &value);
  if (status != ND4C_OK) {
    return status;
  }
  const size_t size = strlen(value) + strlen(name) + 2;
  char *list = malloc(size);
  if (list == NULL) {
    return ND4C_MEMORY;
  }
  (void)snprintf(list, size, "%s%s%s", value, value[0] != '\0' ? "," : "", name);
  status = nd4c_config_set(property, list);
  free(list);
  return status;
}

nd4c_status info_child_begin(void) {
  nd4c_status status = ND4C_OK;
  if (shared != NULL) {
    nd4c_log_set(listen, NULL, ND4C_LOG_DEBUG);
  }
  for (int i = 0; status == ND4C_OK && i < crash_count; i++) {
    status = disable(crashes[i].name);
  }
  return status;
}

static _Noreturn void be_child(info_report report, const void *request, const int ends[2]) {
  (void)dup2(ends[1], STDOUT_FILENO);
  (void)close(ends[0]);
  (void)close(ends[1]);
  const int code = report(request);
  (void)fflush(stdout);
  info_child_mark("the end of the process");
  shared->done = true;
  exit(code);
}

const char *info_crash_of(const char *name) {
  for (int i = 0; i < crash_count; i++) {
    if (strcmp(crashes[i].name, name) == 0) {
      return crashes[i].how;
    }
  }
  return NULL;
}

const char *info_crash_at(int index) {
  static char text[2 * NAME_SIZE + sizeof crashes[0].how + 128];
  if (index >= crash_count) {
    return NULL;
  }
  const crash *c = &crashes[index];
  (void)snprintf(text, sizeof text, "%s %s; ND4C_BACKEND_DISABLE=%s (nd4c.backend.disable) keeps nd4c from calling it",
                 c->name, c->how, c->name);
  return text;
}

/* -- in the parent ------------------------------------------------------------------------------------------------- */

typedef struct output {
  char *bytes;
  size_t used, room;
  bool lost; /* memory for part of the output was missing */
} output;

/* False at the end of the output, or without memory for it. */
static bool take(output *o, int from) {
  if (o->room - o->used < 4096) {
    char *more = realloc(o->bytes, o->room + 65536);
    if (more == NULL) {
      o->lost = true;
      return false;
    }
    o->bytes = more;
    o->room += 65536;
  }
  const ssize_t got = read(from, o->bytes + o->used, o->room - o->used);
  o->used += got > 0 ? (size_t)got : 0;
  return got > 0 || (got < 0 && errno == EINTR);
}

/* Reads until the child has ended and its output is read; a process that the child started may keep the pipe open. */
static int wait_for(pid_t child, int from, output *o) {
  int state = 0;
  for (bool alive = true, open = true; alive || open;) {
    struct pollfd waited = {.fd = from, .events = POLLIN};
    const int ready = poll(&waited, open ? 1 : 0, TICK_MS);
    if (ready > 0) {
      open = take(o, from);
    } else if (!alive) {
      break;
    }
    alive = alive && waitpid(child, &state, open ? WNOHANG : 0) != child;
  }
  return state;
}

static int fail(const char *what) {
  return cli_fail(&cli_info, "%s: %s", what, strerror(errno));
}

/* Runs one child. Returns false, with a text on stderr, if it could not be started. */
static bool run_child(info_report report, const void *request, output *o, int *state) {
  int ends[2];
  if (pipe(ends) != 0) {
    (void)fail("no pipe to a child process");
    return false;
  }
  const pid_t child = fork();
  if (child == 0) {
    be_child(report, request, ends);
  }
  (void)close(ends[1]);
  if (child > 0) {
    *state = wait_for(child, ends[0], o);
  } else {
    (void)fail("no child process");
  }
  (void)close(ends[0]);
  return child > 0;
}

static const char *end_text(int state, char *text, size_t size) {
  if (WIFSIGNALED(state)) {
    (void)snprintf(text, size, "signal %d (%s)", WTERMSIG(state), strsignal(WTERMSIG(state)));
  } else {
    (void)snprintf(text, size, "exit code %d", WEXITSTATUS(state));
  }
  return text;
}

/* Keeps which provider ended the child. False: it was none, or one that is disabled already. */
static bool keep_crash(int state) {
  char end[128];
  if (shared->name[0] == '\0' || crash_count == CRASHES || info_crash_of(shared->name) != NULL) {
    return false;
  }
  crash *c = &crashes[crash_count++];
  (void)snprintf(c->name, sizeof c->name, "%s", shared->name);
  (void)snprintf(c->how, sizeof c->how, "ends the process in its %s: %s", shared->what,
                 end_text(state, end, sizeof end));
  return true;
}

/* Prints the report of a child that wrote all of it. */
static int print(const output *o, int state) {
  char end[128];
  if (o->lost) {
    return cli_fail(&cli_info, "no memory for the report");
  }
  (void)fwrite(o->bytes, 1, o->used, stdout);
  const int code = cli_finish(&cli_info);
  if (WIFSIGNALED(state)) { /* a destructor of a driver's library, for example */
    return cli_fail(&cli_info, "the process that probes wrote its report and was then ended by %s",
                    end_text(state, end, sizeof end));
  }
  return code != CLI_OK ? code : WEXITSTATUS(state);
}

int info_run_in_child(info_report report, const void *request) {
  char end[128];
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    shared = NULL;
    return fail("no memory to share with a child process");
  }
  (void)signal(SIGCHLD, SIG_DFL); /* a caller that ignores it has the system forget how a child ended */
  for (;;) {
    output o = {0};
    int state = 0;
    *shared = (shared_state){.what = "the start"};
    if (!run_child(report, request, &o, &state)) {
      return CLI_FAILURE;
    }
    const bool again = !shared->done && keep_crash(state);
    const int code = shared->done ? print(&o, state) : CLI_FAILURE;
    free(o.bytes);
    if (!shared->done && !again) {
      return cli_fail(&cli_info, "the process that probes was ended by %s; it was at %s%s%s",
                      end_text(state, end, sizeof end), shared->name, shared->name[0] != '\0' ? ": " : "",
                      shared->what);
    }
    if (!again) {
      return code;
    }
  }
}
