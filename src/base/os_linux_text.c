/* Implements os.h for Linux: letters and numbers in text, independent of the program's locale. The ops on strings in
 * dispatch/text call it. */
#define _GNU_SOURCE
#include <locale.h>
#include <stdlib.h>
#include <wctype.h>

#include "base/os.h"
#include "base/os_lock.h"

static locale_t unicode, plain;

static void make_locales(void) {
  unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static void need_locales(void) {
  static nd4c_once once = ND4C_ONCE_INIT;
  nd4c_once_run(&once, make_locales);
}

uint32_t nd4c_os_change_case(uint32_t code, bool upper) {
  if (code < 0x80) {
    bool change = upper ? code >= 'a' && code <= 'z' : code >= 'A' && code <= 'Z';
    return change ? code ^ 0x20 : code;
  }
  need_locales();
  if (unicode == (locale_t)0) {
    return code;
  }
  return (uint32_t)(upper ? towupper_l((wint_t)code, unicode) : towlower_l((wint_t)code, unicode));
}

double nd4c_os_parse_number(const char *text, char **end) {
  need_locales();
  return plain == (locale_t)0 ? strtod(text, end) : strtod_l(text, end, plain);
}
