import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { isRunning, untilGone } from '../test-kit/processes.ts'
import { testDatabase, testServer } from './test-database.ts'

const HERE = fileURLToPath(new URL('test-database.ts', import.meta.url))

/** Other tests do not start servers in the directory of this file. */
const { TMPDIR } = process.env
const OWN = ownTemporaryDirectory()

beforeAll(() => {
  process.env['TMPDIR'] = OWN
})

afterAll(async () => {
  if (TMPDIR === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = TMPDIR
  await removeWithKeepers(OWN)
})

describe('Postgres for tests', () => {
  it('The Postgres for tests creates databases with unique names on one server', async () => {
    await using a = await testDatabase()
    await using b = await testDatabase()
    expect(new URL(a.url).host).toBe(new URL(b.url).host)
    expect(a.url).not.toBe(b.url)
    expect(await answers(a.url)).toBe(true)
  })

  it('The Postgres for tests shares the server with other processes', async () => {
    await using a = await testDatabase()
    const [url] = await linesOf('const a = await testDatabase(); console.log(a.url)')
    expect(new URL(url ?? '').host).toBe(new URL(a.url).host)
  })

  it('The Postgres for tests stops, kills and restarts a separate server with the same data', async () => {
    const server = await testServer()
    for (const stop of [server.stop, server.kill]) {
      await stop()
      expect(await answers(server.url)).toBe(false)
      await server.start()
      expect(await answers(server.url)).toBe(true)
    }
    const before = privateDirectories()
    await server[Symbol.asyncDispose]()
    expect(await answers(server.url)).toBe(false)
    expect(privateDirectories().length).toBeLessThan(before.length)
  })

  it('[KEEPER-K2] The Postgres for tests removes a separate server when its process is killed', async () => {
    const [url, keeper] = await linesOf(
      `const s = await testServer(); console.log(s.url)
       console.log('killed'); process.kill(process.pid, 'SIGKILL')`,
    )
    expect(keeper).toBe('killed')
    await expect.poll(() => answers(url ?? '')).toBe(false)
  })

  it('[KEEPER-K3] The Postgres for tests stops a server when its keeper is killed', async () => {
    const before = new Set(privateDirectories())
    await using server = await testServer()
    const directory = privateDirectories().find((name) => !before.has(name)) ?? ''
    const [keeper = 0] = keepersOf(join(OWN, directory))
    process.kill(keeper, 'SIGKILL')
    await expect.poll(() => answers(server.url)).toBe(false)
    await expect.poll(() => existsSync(join(OWN, directory))).toBe(false)
  })

  it('[KEEPER-K4] The Postgres for tests starts another shared server when that of an earlier database was killed', async () => {
    await using first = await testDatabase()
    const [keeper = 0] = keepersOf(join(OWN, sharedDirectory()))
    process.kill(keeper, 'SIGKILL')
    await expect.poll(() => answers(first.url)).toBe(false)
    await using second = await testDatabase()
    expect(await answers(second.url)).toBe(true)
  })

  it('[KEEPER-K4] The Postgres for tests starts another shared server when the keeper ends during the connect', async () => {
    const directory = ownTemporaryDirectory()
    mkdirSync(join(directory, sharedDirectory()))
    const ending = createServer((socket) => {
      socket.destroy()
      ending.close()
    }).listen(join(directory, sharedDirectory(), 'keeper.sock'))
    await once(ending, 'listening')
    const [said = ''] = await linesOf(
      'await using a = await testDatabase(); console.log(a.url)\nprocess.exitCode = 0',
      { TMPDIR: directory },
    )
    expect(said).toMatch(/^postgres:/)
    await removeWithKeepers(directory)
  })

  it('The Postgres for tests reports the reason when Postgres cannot be started', async () => {
    const url = 'postgres://me:pw@127.0.0.1:1/x'
    const lines = await linesOf(
      'await testDatabase().catch((error) => console.log(error.message))',
      { TUTTI_TEST_DATABASE_URL: url },
    )
    expect(lines.join('\n')).toMatch(/Cannot create on the Postgres of the tests.*ECONNREFUSED/)
  })

  it('The Postgres for tests uses a given server and leaves no databases on it', async () => {
    await using own = await testServer()
    const [url] = await linesOf('const a = await testDatabase(); console.log(a.url)', {
      TUTTI_TEST_DATABASE_URL: own.url,
    })
    expect(new URL(url ?? '').host).toBe(new URL(own.url).host)
    expect(url).not.toBe(own.url)
  })
})

/** Returns the output of a separate process. */
async function linesOf(
  body: string,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const script = `import { testDatabase, testServer } from ${JSON.stringify(HERE)}\n${body}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (data: string) => {
    text += data
  })
  await new Promise((resolve) => child.on('close', resolve))
  return text.trim().split('\n')
}

function privateDirectories(): readonly string[] {
  return readdirSync(OWN).filter((name) => /^tutti-postgres-\w{6}$/.test(name))
}

/** Returns the directory name of the shared server, which is the same in each temporary directory. */
function sharedDirectory(): string {
  return readdirSync(OWN).find((name) => /^tutti-postgres-\d+-\w{8}$/.test(name)) ?? ''
}

/** Creates a temporary directory that the user of Postgres can traverse. */
function ownTemporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tutti-keepers-'))
  chmodSync(directory, 0o755)
  return directory
}

/** Stops the keepers below a temporary directory and removes it. */
async function removeWithKeepers(directory: string): Promise<void> {
  const keepers = readdirSync(directory).flatMap((name) => keepersOf(join(directory, name)))
  for (const pid of keepers) process.kill(pid, 'SIGTERM')
  for (const pid of keepers) await untilGone(pid)
  rmSync(directory, { recursive: true })
}

/** Returns the process ids of the running keepers of a directory, which the data directories are named after. */
function keepersOf(directory: string): readonly number[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .filter((name) => name.startsWith('data-'))
    .map((name) => Number(name.slice('data-'.length)))
    .filter(isRunning)
}

function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => {
      resolve(false)
    })
  })
}
