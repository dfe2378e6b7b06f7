/* Implements manual.h. Turns the texts of --help into roff; their form is: "usage: " and the synopsis, a blank line,
 * paragraphs that begin in the first column, items (" --json one object", " entry: the file") with deeper lines that go
 * on, headings of one word ("examples:") in the first column. Items without a heading are OPTIONS, paragraphs behind
 * items NOTES. main.c calls it. */
#include "manual.h"

#include <stdio.h>
#include <string.h>

/* A part of a text. */
typedef struct piece {
  const char *begin;
  size_t length;
} piece;

/* Takes the next line; false at the end. */
static bool next_line(const char **text, piece *line) {
  if (**text == '\0') {
    return false;
  }
  *line = (piece){*text, strcspn(*text, "\n")};
  *text += line->length + ((*text)[line->length] == '\n');
  return true;
}

static piece skip(piece text, size_t count) {
  count = count < text.length ? count : text.length;
  return (piece){text.begin + count, text.length - count};
}

static size_t indent_of(piece line) {
  size_t spaces = 0;
  while (spaces < line.length && line.begin[spaces] == ' ') {
    spaces++;
  }
  return spaces;
}

/* Prints a text so that roff shows each character as it is. */
static void print_plain(piece text) {
  static const char *const escapes[] = {
      ['\\'] = "\\e", ['-'] = "\\-", ['\''] = "\\(aq", ['`'] = "\\(ga", ['^'] = "\\(ha", ['~'] = "\\(ti"};
  if (text.length > 0 && text.begin[0] == '.') {
    (void)fputs("\\&", stdout);
  }
  for (size_t i = 0; i < text.length; i++) {
    const unsigned char c = (unsigned char)text.begin[i];
    if (c < sizeof escapes / sizeof *escapes && escapes[c] != NULL) {
      (void)fputs(escapes[c], stdout);
    } else {
      (void)fputc(c, stdout);
    }
  }
}

static void print_text(const char *before, const char *text, const char *after) {
  (void)fputs(before, stdout);
  print_plain((piece){text, strlen(text)});
  (void)fputs(after, stdout);
}

static void print_piece(const char *before, piece text, const char *after) {
  (void)fputs(before, stdout);
  print_plain(text);
  (void)fputs(after, stdout);
}

/* True if a line with two spaces in front is an item: then its term and its first words. */
static bool split_item(piece line, piece *term, piece *words) {
  const piece text = skip(line, 2);
  for (size_t i = 0; i + 1 < text.length; i++) {
    const bool gap = text.begin[i] == ' ' && text.begin[i + 1] == ' ';
    const bool colon = text.begin[i] == ':' && text.begin[i + 1] == ' ' && memchr(text.begin, ' ', i) == NULL;
    if (gap || colon) {
      const piece rest = skip(text, i + 1);
      *term = (piece){text.begin, i};
      *words = skip(rest, indent_of(rest));
      return true;
    }
  }
  *term = text;
  *words = (piece){text.begin, 0};
  return text.length > 0 && text.begin[0] == '-';
}

/* What was printed last. */
typedef enum place { IN_PARAGRAPH, IN_ITEM, IN_EXAMPLE } place;

typedef struct page {
  place place;
  bool has_heading, has_items;
} page;

/* Pages and sections have titles in capitals. */
static void print_title(piece text) {
  for (size_t i = 0; i < text.length; i++) {
    const char c = text.begin[i];
    (void)fputc(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c, stdout);
  }
}

/* One word and a colon. */
static bool is_heading(piece line) {
  return line.begin[line.length - 1] == ':' && memchr(line.begin, ' ', line.length) == NULL;
}

static void print_heading(page *p, piece line) {
  (void)fputs(p->place == IN_EXAMPLE ? ".fi\n.SH " : ".SH ", stdout);
  print_title((piece){line.begin, line.length - 1}); /* without the colon */
  (void)fputc('\n', stdout);
  const bool examples = line.length == 9 && memcmp(line.begin, "examples:", 9) == 0;
  (void)fputs(examples ? ".nf\n" : "", stdout);
  p->place = examples ? IN_EXAMPLE : IN_PARAGRAPH;
  p->has_heading = true;
}

static void print_item(page *p, piece term, piece words) {
  if (!p->has_items && !p->has_heading) {
    (void)fputs(".SH OPTIONS\n", stdout);
  }
  print_piece(".TP\n\\fB", term, "\\fR\n");
  if (words.length > 0) {
    print_piece("", words, "\n");
  }
  p->has_items = true;
  p->place = IN_ITEM;
}

static void print_line(page *p, piece line) {
  const size_t indent = indent_of(line);
  piece term, words;
  if (line.length == 0) {
    (void)fputs(p->place == IN_PARAGRAPH ? ".PP\n" : "", stdout);
  } else if (p->place == IN_EXAMPLE) {
    print_piece("", skip(line, indent), "\n");
  } else if (is_heading(line)) {
    print_heading(p, line);
  } else if (indent == 2 && split_item(line, &term, &words)) {
    print_item(p, term, words);
  } else {
    if (indent == 0 && p->place == IN_ITEM) {
      (void)fputs(".SH NOTES\n", stdout);
    }
    p->place = indent > 2 ? p->place : IN_PARAGRAPH;
    print_piece("", skip(line, indent), "\n");
  }
}

/* "usage: nd4c info [--probe]" to the blank line behind it. */
static void print_synopsis(const char **text) {
  piece line;
  (void)fputs(".SH SYNOPSIS\n.nf\n", stdout);
  while (next_line(text, &line) && line.length > 0) {
    const bool first = strncmp(line.begin, "usage: ", 7) == 0;
    print_piece("", skip(line, first ? 7 : indent_of(line)), "\n");
  }
  (void)fputs(".fi\n", stdout);
}

int manual_print_command(const cli_command *command) {
  const char *text = command->help;
  (void)fputs(".TH ND4C-", stdout);
  print_title((piece){command->name, strlen(command->name)});
  (void)printf(" 1 \"\" \"nd4c %s\" \"User Commands\"\n", nd4c_version());
  print_text(".SH NAME\nnd4c\\-", command->name, " \\- ");
  print_text("", command->summary, "\n");
  print_synopsis(&text);
  print_text(".SH DESCRIPTION\n.PP\n", command->summary, "\n.PP\n");
  page p = {.place = IN_PARAGRAPH};
  for (piece line; next_line(&text, &line);) {
    print_line(&p, line);
  }
  (void)fputs(p.place == IN_EXAMPLE ? ".fi\n" : "", stdout);
  (void)fputs(".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 3 not supported\n.SH SEE ALSO\n.BR nd4c (1)\n",
              stdout);
  return cli_finish(command);
}

int manual_print_overview(const cli_command *const *commands, int count) {
  (void)printf(
      ".TH ND4C 1 \"\" \"nd4c %s\" \"User Commands\"\n.SH NAME\nnd4c \\- arrays, ops and models on the backends of "
      "this "
      "machine\n.SH SYNOPSIS\n\\fBnd4c\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
      ".SH DESCRIPTION\nThe program of the numerical library nd4c: shows what the library finds on this machine, runs "
      "models, and tests backends.\n.SH COMMANDS\n",
      nd4c_version());
  for (int i = 0; i < count; i++) {
    print_text(".TP\n\\fBnd4c ", commands[i]->name, "\\fR\n");
    print_text("", commands[i]->summary, "\n");
  }
  (void)fputs(
      ".SH OPTIONS\n.TP\n\\fB\\-\\-help\\fR\nThe commands; \\fBnd4c\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR the options "
      "of one.\n.TP\n\\fB\\-\\-version\\fR\nThe version, and how the library was built.\n"
      ".TP\n\\fB\\-\\-manual\\fR [\\fICOMMAND\\fR]\nThis page, or that of a command, as roff.\n"
      ".SH EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 3 not supported\n"
      ".SH ENVIRONMENT\nEach property of the library has an environment variable; \\fBnd4c config\\fR lists them with "
      "their values.\n.SH SEE ALSO\n",
      stdout);
  for (int i = 0; i < count; i++) {
    print_text(".BR nd4c\\-", commands[i]->name, i + 1 < count ? " (1),\n" : " (1)\n");
  }
  return fflush(stdout) != 0 || ferror(stdout) ? CLI_FAILURE : CLI_OK;
}
