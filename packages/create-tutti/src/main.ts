#!/usr/bin/env node
/** The `create-tutti` program. */
process.exitCode = 1
