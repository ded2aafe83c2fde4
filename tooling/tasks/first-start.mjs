/**
 * Starts the main job as a newcomer does, with `npm start`, and stops it. In a clone without a build this shows that the
 * start builds all that it needs; after a build, a missing package would not be noticed.
 *
 * Plain JavaScript without dependencies, since it runs before anything is installed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LIMIT_MS = 5 * 60_000

const dataDir = mkdtempSync(join(tmpdir(), 'tutti-first-start-'))
const job = spawn('npm', ['start'], {
  env: { ...process.env, PORT: '0', TUTTI_DATA_DIR: dataDir },
  stdio: ['ignore', 'pipe', 'inherit'],
  detached: true,
})
// The whole group: npm has no time to end its children.
const timer = setTimeout(() => process.kill(-job.pid, 'SIGKILL'), LIMIT_MS)
const ended = once(job, 'exit')
let output = ''
let isReady = false
job.stdout.setEncoding('utf8').on('data', (text) => {
  process.stdout.write(text)
  output += text
  if (isReady || !output.includes('Tutti ready on http')) return
  isReady = true
  job.kill('SIGTERM')
})
const [code] = await ended
clearTimeout(timer)
rmSync(dataDir, { recursive: true, force: true })
if (!isReady || code !== 0) {
  console.error(
    `"npm start" ${isReady ? 'became' : 'did not become'} ready and ended with ${code}, expected 0`,
  )
  process.exitCode = 1
}
