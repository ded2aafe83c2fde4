/** Starts a server, and asks it from TypeScript and from Python. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { ask } from './ask.ts'
import { startServer } from './start-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'tutti-example-'))
const server = await startServer(folder)
try {
  console.log('# TypeScript')
  await ask(server.url)
  console.log('\n# Python')
  const program = join(import.meta.dirname, 'ask.py')
  process.stdout.write(execFileSync('python3', ['-B', program, server.url]))
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}
