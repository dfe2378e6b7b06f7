"""The groups of rows that bench/compare measures: groups/<name>.py has one as GROUP."""
