import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { testDatabase, testServer } from './test-database.ts'

const HERE = fileURLToPath(new URL('test-database.ts', import.meta.url))

describe('Postgres for tests', () => {
  it('creates databases with unique names on one server', async () => {
    await using a = await testDatabase()
    await using b = await testDatabase()
    expect(new URL(a.url).host).toBe(new URL(b.url).host)
    expect(a.url).not.toBe(b.url)
    expect(await answers(a.url)).toBe(true)
  })

  it('shares the server with other processes', async () => {
    await using a = await testDatabase()
    const [url] = await linesOf('const a = await testDatabase(); console.log(a.url)')
    expect(new URL(url ?? '').host).toBe(new URL(a.url).host)
  })

  it('stops, kills and restarts a separate server with the same data', async () => {
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

  it('[KEEPER-K2] removes a separate server when its process is killed', async () => {
    const [url, keeper] = await linesOf(
      `const s = await testServer(); console.log(s.url)
       console.log('killed'); process.kill(process.pid, 'SIGKILL')`,
    )
    expect(keeper).toBe('killed')
    await expect.poll(() => answers(url ?? ''), { timeout: 10_000 }).toBe(false)
  })

  it('[KEEPER-K3] stops a server when its keeper is killed', async () => {
    const before = new Set(privateDirectories())
    await using server = await testServer()
    const directory = privateDirectories().find((name) => !before.has(name)) ?? ''
    const data = readdirSync(`${tmpdir()}/${directory}`).find((name) => name.startsWith('data-'))
    process.kill(Number(data?.slice('data-'.length)), 'SIGKILL')
    await expect.poll(() => answers(server.url), { timeout: 10_000 }).toBe(false)
    await expect.poll(() => existsSync(`${tmpdir()}/${directory}`), { timeout: 10_000 }).toBe(false)
  })

  it('reports the reason when Postgres cannot be started', async () => {
    const url = 'postgres://me:pw@127.0.0.1:1/x'
    const lines = await linesOf(
      'await testDatabase().catch((error) => console.log(error.message))',
      { TUTTI_TEST_DATABASE_URL: url },
    )
    expect(lines.join('\n')).toMatch(/Cannot create on the Postgres of the tests.*ECONNREFUSED/)
  })

  it('uses a given server and leaves no databases on it', async () => {
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
  return readdirSync(tmpdir()).filter((name) => /^tutti-postgres-\w{6}$/.test(name))
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
