/* SHA-256 against the vectors of FIPS 180-4, in one piece and in pieces of every size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/digest.h"

static void check(const char *text, size_t size, size_t piece, const char *expected) {
  nd4c_hasher hasher;
  char found[ND4C_DIGEST_TEXT];
  nd4c_hasher_begin(&hasher);
  for (size_t at = 0; at < size; at += piece) {
    nd4c_hasher_add(&hasher, text + at, size - at < piece ? size - at : piece);
  }
  const nd4c_digest digest = nd4c_hasher_end(&hasher);
  nd4c_digest_print(&digest, found);
  assert_string_equal(found, expected);
}

static void known_texts(void **state) {
  (void)state;
  static const char long_text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
  check("", 0, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  check("abc", 3, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  check(long_text, 56, 56, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void pieces_do_not_matter(void **state) {
  (void)state;
  static char text[1000];
  memset(text, 'a', sizeof text);
  for (size_t piece = 1; piece <= sizeof text; piece++) {
    check(text, sizeof text, piece, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(known_texts), cmocka_unit_test(pieces_do_not_matter)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
