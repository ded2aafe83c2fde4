#!/usr/bin/env node
/** The `tutti` program. */
import { processIo } from './cli/command-io.ts'
import { leave, runCommand } from './cli/run-command.ts'

leave(await runCommand(process.argv.slice(2), processIo()))
