#!/usr/bin/env node
/**
 * The `create-tutti` program. It looks at the version of Node before it loads the rest, which an old one cannot even
 * parse.
 */
import { nodeProblem } from './node-version.ts'

const problem = nodeProblem(process.versions.node)
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
