#!/usr/bin/env node
/**
 * The `create-tutti` program. It checks the version of Node before it loads the rest, which an old version cannot even
 * parse.
 */
import { findNodeProblem } from './node-version.ts'

const problem = findNodeProblem(process.versions.node)
if (problem === undefined) {
  const [{ processIo }, { runCreate }] = await Promise.all([
    import('./create-io.ts'),
    import('./run-create.ts'),
  ])
  process.exitCode = await runCreate(process.argv.slice(2), processIo())
} else {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}
