/* Limits of control groups, read below a folder that stands for the root: nd4c_os_group_processors of src/base/os.h. */
#define _GNU_SOURCE /* mkdtemp, nftw */

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os.h"

enum { FILES = 4, PATH_SIZE = 512 };

static char root[64];

/* Writes a file below the root, with the folders that lead to it. */
static void write_file(const char *path, const char *text) {
  char full[PATH_SIZE];
  assert_in_range(snprintf(full, sizeof full, "%s/%s", root, path), 1, sizeof full - 1);
  for (char *slash = strchr(full + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(full, 0700); /* it may exist */
    *slash = '/';
  }
  FILE *file = fopen(full, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place) {
  (void)status;
  (void)kind;
  (void)place;
  return remove(path);
}

typedef struct row {
  const char *what;
  int32_t expected;
  const char *files[FILES][2]; /* path, text */
} row;

#define V2 "sys/fs/cgroup/"
#define V1 "sys/fs/cgroup/cpu/"
#define GROUP "proc/self/cgroup"

static const row rows[] = {
    {"no file", INT32_MAX, {{0}}},
    {"no limit", INT32_MAX, {{GROUP, "0::/a\n"}, {V2 "a/cpu.max", "max 100000\n"}}},
    {"two processors", 2, {{GROUP, "0::/a\n"}, {V2 "a/cpu.max", "200000 100000\n"}}},
    {"two and a bit: three", 3, {{GROUP, "0::/a\n"}, {V2 "a/cpu.max", "200001 100000\n"}}},
    {"half a processor: one", 1, {{GROUP, "0::/a\n"}, {V2 "a/cpu.max", "50000 100000\n"}}},
    {"another period", 4, {{GROUP, "0::/a\n"}, {V2 "a/cpu.max", "200000 50000\n"}}},
    {"the parent's is lower",
     2,
     {{GROUP, "0::/a/b/c\n"}, {V2 "a/b/c/cpu.max", "400000 100000\n"}, {V2 "a/cpu.max", "200000 100000\n"}}},
    {"the child's is lower",
     1,
     {{GROUP, "0::/a/b/c\n"}, {V2 "a/b/c/cpu.max", "100000 100000\n"}, {V2 "a/cpu.max", "200000 100000\n"}}},
    {"in a container the root has the limit", 3, {{GROUP, "0::/\n"}, {V2 "cpu.max", "300000 100000\n"}}},
    {"the group lies outside the mount", 3, {{GROUP, "0::/x/y\n"}, {V2 "cpu.max", "300000 100000\n"}}},
    {"a group beside the own", INT32_MAX, {{GROUP, "0::/a\n"}, {V2 "b/cpu.max", "100000 100000\n"}}},
    {"no period", INT32_MAX, {{GROUP, "0::/a\n"}, {V2 "a/cpu.max", "100000\n"}}},
    {"a quota of zero", INT32_MAX, {{GROUP, "0::/a\n"}, {V2 "a/cpu.max", "0 100000\n"}}},
    {"an endless quota", INT32_MAX, {{GROUP, "0::/a\n"}, {V2 "a/cpu.max", "9223372036854775807 1\n"}}},
    {"no numbers", INT32_MAX, {{GROUP, "0::/a\n"}, {V2 "a/cpu.max", "two processors\n"}}},
    {"lines without a path", INT32_MAX, {{GROUP, "0\n0:\n\n"}, {V2 "cpu.max", "max\n"}}},
    {"version 1",
     2,
     {{GROUP, "5:cpuset:/z\n3:cpuacct,cpu:/a\n"},
      {V1 "a/cpu.cfs_quota_us", "150000\n"},
      {V1 "a/cpu.cfs_period_us", "100000\n"}}},
    {"version 1 without a limit",
     INT32_MAX,
     {{GROUP, "3:cpu:/a\n"}, {V1 "a/cpu.cfs_quota_us", "-1\n"}, {V1 "a/cpu.cfs_period_us", "100000\n"}}},
    {"version 1 without a period", INT32_MAX, {{GROUP, "3:cpu:/a\n"}, {V1 "a/cpu.cfs_quota_us", "100000\n"}}},
    {"another controller of version 1",
     INT32_MAX,
     {{GROUP, "3:cpuset,cpuacct:/a\n"}, {V1 "a/cpu.cfs_quota_us", "100000\n"}, {V1 "a/cpu.cfs_period_us", "100000\n"}}},
    {"both versions: the lower one",
     2,
     {{GROUP, "3:cpu:/a\n0::/b\n"},
      {V1 "a/cpu.cfs_quota_us", "400000\n"},
      {V1 "a/cpu.cfs_period_us", "100000\n"},
      {V2 "b/cpu.max", "200000 100000\n"}}},
};

static void test_limits(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    (void)snprintf(root, sizeof root, "/tmp/nd4c_groups_XXXXXX");
    assert_non_null(mkdtemp(root));
    for (int k = 0; k < FILES && rows[i].files[k][0] != NULL; k++) {
      write_file(rows[i].files[k][0], rows[i].files[k][1]);
    }
    const int32_t found = nd4c_os_group_processors(root);
    assert_int_equal(nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
    if (found != rows[i].expected) {
      fail_msg("%s: %d processors, expected %d", rows[i].what, (int)found, (int)rows[i].expected);
    }
  }
}

/* The process's own number follows the system's groups. */
static void test_system(void **state) {
  (void)state;
  assert_true(nd4c_os_group_processors("") >= 1);
  assert_true(nd4c_os_processors() <= nd4c_os_group_processors(""));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits), cmocka_unit_test(test_system)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
