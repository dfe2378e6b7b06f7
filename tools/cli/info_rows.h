/* Functions that the text and the JSON of `nd4c info` share: info.c implements them, info_json.c calls them. */
#ifndef ND4C_CLI_INFO_ROWS_H
#define ND4C_CLI_INFO_ROWS_H

#include "cli.h"

enum { INFO_WARNINGS = 16, INFO_WARNING_SIZE = 512, INFO_STATE_SIZE = 512 };

/* Warnings about settings that cost speed. */
typedef struct info_warnings {
  int count;
  char text[INFO_WARNINGS][INFO_WARNING_SIZE];
} info_warnings;

/* An engine puts a warning after this mark at the end of its state. */
extern const char info_mark[];

/* False past the last backend. */
bool info_backend_at(int32_t index, nd4c_backend_status *status);
/* The same of the plug-ins that contribute and bring no devices. */
bool info_contributor_at(int32_t index, nd4c_backend_status *status);
const char *info_verdict_text(nd4c_verdict verdict);
/* An engine's state without its warning, which is listed with the others, in `text` of INFO_STATE_SIZE bytes. */
const char *info_engine_state(const char *backend, int32_t index, bool probe, char *text);
/* A property's value, or `instead` if it is empty. */
const char *info_property_or(const char *property, const char *instead);

/* info_json.c: one object on stdout; returns the exit code. `picked`: how choosing `device` ended. */
int info_print_json(const nd4c_machine_info *machine, const info_warnings *found, bool probe, nd4c_status picked,
                    nd4c_device *device);

#endif
