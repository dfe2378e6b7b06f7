/* Built against an installed nd4c by check_install.sh: links, and the headers and the library agree on the version. */
#include <nd4c/nd4c.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  char headers[32];
  (void)snprintf(headers, sizeof headers, "%d.%d.%d", ND4C_VERSION_MAJOR, ND4C_VERSION_MINOR, ND4C_VERSION_PATCH);
  if (strcmp(headers, nd4c_version()) != 0) {
    printf("headers are of %s, the library is %s\n", headers, nd4c_version());
    return 1;
  }
  nd4c_array *a = NULL;
  nd4c_array *b = NULL;
  double value = 0;
  if (nd4c_array_scalar(ND4C_FLOAT32, 20, NULL, &a) != ND4C_OK || nd4c_add(a, a, &b) != ND4C_OK ||
      nd4c_array_item(b, NULL, &value) != ND4C_OK) {
    printf("%s\n", nd4c_error_message());
    return 1;
  }
  nd4c_array_release(a);
  nd4c_array_release(b);
  printf("20 + 20 = %g with nd4c %s\n", value, nd4c_version());
  return value == 40 ? 0 : 1;
}
