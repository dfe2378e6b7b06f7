/* Section `kept`: later plans load the files that compilers wrote, with the same results, also where memory is refused
 * to the compilers. The section table of plugin_check.c lists it. */
#define _GNU_SOURCE 1 /* mkdtemp */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { SOME_CASES = 60, REFUSED_CASES = 6, PLACES = 200 };
static const char cache[] = "nd4c.compile.cache";

/* What the library's log says of the cache. */
typedef struct tally {
  int32_t loaded, refused, cases;
  char words[512]; /* of the latest refusal */
} tally;

static void read_log(void *user, nd4c_log_level level, const char *area, const char *message) {
  tally *t = user;
  if (strcmp(area, "compiler") == 0) {
    t->loaded += strstr(message, ": loaded ") != NULL;
    if (level <= ND4C_LOG_WARNING) {
      t->refused++;
      (void)snprintf(t->words, sizeof t->words, "%s", message);
    }
  }
}

static int32_t count_files(const char *folder, bool removes) {
  int32_t count = 0;
  DIR *list = opendir(folder);
  for (struct dirent *entry = list != NULL ? readdir(list) : NULL; entry != NULL; entry = readdir(list)) {
    char path[1024];
    if (entry->d_name[0] != '.') {
      (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
      count += removes ? remove(path) == 0 : 1;
    }
  }
  if (list != NULL) {
    (void)closedir(list);
  }
  return count;
}

static void plan_twice(plugin_round *round, const plugin_case *p) {
  plugin_plan_case(round, p, "in a plan whose executables are written");
  plugin_plan_case(round, p, "in a plan whose executables are loaded");
}

/* -- refused memory ------------------------------------------------------------------------------------------------ */

static const nd4c_host *real;
static int32_t countdown; /* sections compute on one thread until plans run */
static bool hit;

static bool refuses(void) {
  hit = hit || countdown == 1;
  countdown -= countdown > 0;
  return countdown == 0 && hit;
}
static void *refusing_allocate(size_t bytes) {
  const bool before = hit;
  return refuses() && !before ? NULL : real->allocate(bytes);
}

/* A plan, or an error, for each place where memory may be missing; then a plan that computes. */
static void load_refused(plugin_round *round, const plugin_case *p) {
  int32_t *total = round->user;
  for (int32_t place = 1; place <= PLACES; place++) {
    nd4c_plan *plan = NULL;
    countdown = place;
    hit = false;
    const nd4c_status status = plugin_plan_make(round, p, &plan);
    countdown = 0;
    nd4c_plan_destroy(plan);
    if (!hit) {
      break;
    }
    (*total)++;
    (void)plugin_check_that(round->check, status == ND4C_OK || nd4c_error_message()[0] != '\0',
                            "%s: a failure without a text with allocation %d refused", p->label, (int)place);
  }
  plugin_plan_case(round, p, "in a plan behind refused allocations");
}

static void check_refused(plugin_check *check) {
  int32_t total = 0;
  static nd4c_host table;
  real = nd4c_plugin_get_host();
  table = *real;
  table.allocate = refusing_allocate;
  if (plugin_check_status(check, nd4c_plugin_set_host(&table), "a host table that refuses memory")) {
    (void)plugin_cases_each(check, PLUGIN_PLANS, REFUSED_CASES, load_refused, &total);
    plugin_check_note("%d allocations were refused while executables were loaded", (int)total);
  }
}

/* -- all of it ---------------------------------------------------------------------------------------------------- */

static void check_files(plugin_check *check, const char *folder) {
  tally t = {.loaded = 0};
  nd4c_log_set(read_log, &t, ND4C_LOG_INFO);
  check_refused(check); /* first, since the table is for plug-ins that are loaded after it */
  t = (tally){.loaded = 0};
  (void)count_files(folder, true);
  const bool compiles = plugin_cases_each(check, PLUGIN_PLANS, SOME_CASES, plan_twice, &t);
  nd4c_log_set(NULL, NULL, ND4C_LOG_ERROR);
  const int32_t files = count_files(folder, true);
  plugin_check_note("%d executables were written, %d times one was loaded%s", (int)files, (int)t.loaded,
                    compiles ? "" : "; it brings no compilers");
  (void)plugin_check_that(check, t.refused == 0, "%d executables could not be kept, or not be loaded: %s",
                          (int)t.refused, t.words);
  (void)plugin_check_that(check, files == 0 || t.loaded > 0,
                          "what was written is never loaded: are its fingerprints equal?");
}

void plugin_section_kept(plugin_check *check) {
  char folder[] = "/tmp/nd4c-kept-XXXXXX";
  if (!plugin_check_that(check, mkdtemp(folder) != NULL, "no folder %s", folder)) {
    return;
  }
  if (plugin_check_status(check, nd4c_config_set(cache, folder), "%s=%s", cache, folder)) {
    check_files(check, folder);
  }
  (void)nd4c_config_set(cache, NULL);
  (void)rmdir(folder);
}
