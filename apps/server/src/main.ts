#!/usr/bin/env node
/** The `tutti` program. What it is made of is compiled once, and kept where Node keeps such things. */
import { enableCompileCache } from 'node:module'

enableCompileCache()
const { leave, processIo, runCommand } = await import('./cli/index.ts')
leave(await runCommand(process.argv.slice(2), processIo()))
