/** Tests a server that npm starts, as in a created project: it must not outlive npm. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it, onTestFinished, vi } from 'vitest'

import { POLL_OPTIONS, PROGRAM } from './cli-process.ts'
import { ServerProcess, temporaryDirectory } from './server-process.ts'

const LIMIT_MS = 120_000

interface NpmServer {
  readonly npm: ChildProcess
  readonly url: string
  readonly dataDir: string
  output(): string
}

/** Runs a script of a project with npm, and waits until its server is ready. */
async function npmRun(script: string, cwd: string): Promise<NpmServer> {
  const start = `${JSON.stringify(process.execPath)} ${JSON.stringify(PROGRAM)}`
  const scripts = { start: `${start} start`, dev: `${start} dev`, exec: `exec ${start} start` }
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'desk', scripts }))
  const dataDir = join(cwd, 'data')
  const npm = spawn('npm', ['run', script], {
    cwd,
    env: { ...process.env, PORT: '0', TUTTI_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => {
    npm.kill('SIGKILL')
  })
  let output = ''
  npm.stdout.on('data', (data: Buffer) => (output += data.toString()))
  npm.stderr.on('data', (data: Buffer) => (output += data.toString()))
  await vi.waitUntil(() => /Tutti ready on \S+\n/.test(output), POLL_OPTIONS)
  const [, url = ''] = /Tutti ready on (\S+)\n/.exec(output) ?? []
  return { npm, url, dataDir, output: () => output }
}

async function isListening(url: string): Promise<boolean> {
  return fetch(url).then(
    () => true,
    () => false,
  )
}

it.each([
  ['start', 'SIGTERM'],
  ['start', 'SIGHUP'],
  ['start', 'SIGKILL'],
  ['exec', 'SIGHUP'],
  ['dev', 'SIGTERM'],
  ['dev', 'SIGHUP'],
] as const)(
  'A server of "npm run %s" releases its port and its store when npm gets %s',
  { timeout: LIMIT_MS },
  async (script, signal) => {
    using directory = temporaryDirectory()
    const { npm, url, dataDir } = await npmRun(script, directory.path)
    expect(await isListening(url)).toBe(true)
    npm.kill(signal)
    await vi.waitUntil(async () => !(await isListening(url)), POLL_OPTIONS)
    await vi.waitUntil(() => !existsSync(join(dataDir, 'runs.pid')), POLL_OPTIONS)
    await using next = await ServerProcess.start({ TUTTI_DATA_DIR: dataDir })
    expect(await isListening(next.url)).toBe(true)
  },
)

it(
  'A server that npm starts logs the start and the end of its drain',
  { timeout: LIMIT_MS },
  async () => {
    using directory = temporaryDirectory()
    await using server = await ServerProcess.start({ TUTTI_DATA_DIR: directory.path })
    await server.end('SIGHUP')
    expect(server.errors).toMatch(
      /"message":"Draining","runs":0,"drainTimeoutMs":10000\}\n.*"message":"Stopped"/s,
    )
  },
)

it('A server reports the process that uses its store', { timeout: LIMIT_MS }, async () => {
  using directory = temporaryDirectory()
  await using server = await ServerProcess.start({ TUTTI_DATA_DIR: directory.path })
  const { errors } = await ServerProcess.refused({ TUTTI_DATA_DIR: directory.path })
  expect(errors).toContain(`process ${server.pid} is using it`)
})

it('A server rejects a data directory that cannot be created', { timeout: LIMIT_MS }, async () => {
  const { code, errors } = await ServerProcess.refused({ TUTTI_DATA_DIR: '/proc/x' })
  expect(code).toBe(1)
  expect(errors).toMatch(/Cannot open the run store in "\/proc\/x": ENOENT/)
})
