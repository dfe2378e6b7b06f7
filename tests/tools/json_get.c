/* Reads JSON from stdin and prints the value at a path ("outputs.0.name"; none: nothing, only checks). Exits with 1 if
 * the text is no JSON, with 2 if there is nothing at the path. With --lines every line is a text of its own. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_at(const char *text, char *path) {
  cJSON *root = cJSON_Parse(text);
  if (root == NULL) {
    (void)fprintf(stderr, "not JSON: %.60s\n", text);
    return 1;
  }
  const cJSON *at = root;
  for (char *part = path != NULL ? strtok(path, ".") : NULL; part != NULL && at != NULL; part = strtok(NULL, ".")) {
    at = cJSON_IsArray(at) ? cJSON_GetArrayItem(at, atoi(part)) : cJSON_GetObjectItemCaseSensitive(at, part);
  }
  int result = at != NULL ? 0 : 2;
  if (cJSON_IsString(at) && path != NULL) {
    (void)puts(at->valuestring);
  } else if (at != NULL && path != NULL) {
    char *printed = cJSON_PrintUnformatted(at);
    (void)puts(printed != NULL ? printed : "");
    cJSON_free(printed);
  }
  cJSON_Delete(root);
  return result;
}

int main(int argc, char **argv) {
  static char text[1 << 22];
  const size_t size = fread(text, 1, sizeof text - 1, stdin);
  text[size] = '\0';
  if (argc < 2 || strcmp(argv[1], "--lines") != 0) {
    return print_at(text, argc > 1 ? argv[1] : NULL);
  }
  int result = size > 0 ? 0 : 1;
  for (char *line = text, *end = NULL; *line != '\0' && result == 0; line = end) {
    end = line + strcspn(line, "\n");
    if (*end == '\n') {
      *end++ = '\0';
    }
    result = print_at(line, NULL);
  }
  return result;
}
