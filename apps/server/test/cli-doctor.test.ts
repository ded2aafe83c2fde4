/** Tests `tutti doctor` on sound and on broken setups. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createServer as createHttpServer } from 'node:http'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { testDatabase, type TestDatabase } from '../../../tooling/postgres/test-database.ts'
import { project, tutti, type CommandOptions } from './cli-process.ts'
import { ServerProcess } from './server-process.ts'

import type { AddressInfo } from 'node:net'

const CONFIG = `
import { ensemble, task } from '@tutti/ensemble'
import { langchainModel } from '@tutti/langchain'
const model = langchainModel('openai:gpt-5-mini')
export default {
  ensembles: [ensemble({ name: 'brief', tasks: [task({ description: 'Sum up {topic} for {reader}' })], model })],
  models: { large: 'anthropic:claude-sonnet-4-5' },
}
`

/** Returns the findings as `level check: message`, and the exit code. */
async function doctor(options: CommandOptions, args: readonly string[] = []) {
  const { code, stdout, stderr } = await tutti(['doctor', '--json', ...args], options)
  expect(stderr).toBe('')
  const { ok, findings } = JSON.parse(stdout)
  expect(ok).toBe(code === 0)
  const lines: readonly string[] = findings.map(
    (finding: Record<string, string>) =>
      `${finding['level']} ${finding['check']}: ${finding['message']}`,
  )
  return { code, lines, text: stdout }
}

/** A directory that not even root can write to. */
const UNWRITABLE = process.platform === 'darwin' ? '/System' : '/proc'

const FREE = { PORT: '0' }

describe('tutti doctor', () => {
  it('`tutti doctor` reports a sound setup and the inputs of each ensemble, and changes no file', async () => {
    using home = project({
      'tutti.config.ts': CONFIG,
      '.env': 'OPENAI_API_KEY=sk-secret-of-openai\n',
    })
    const { code, lines, text } = await doctor({ cwd: home.path, env: FREE })
    expect(code).toBe(0)
    expect(lines).toEqual([
      `ok node: Node ${process.versions.node}`,
      'ok .env: Sets OPENAI_API_KEY; read by "tutti dev" and "tutti doctor", not by "tutti start"',
      'ok environment: All variables are valid',
      `ok config: ${home.path}/tutti.config.ts`,
      'ok ensemble: "brief", 1 task: tutti run topic=… reader=…',
      'ok models: openai: gpt-5-mini; OPENAI_API_KEY is set',
      'warning models: anthropic: claude-sonnet-4-5; ANTHROPIC_API_KEY is not set',
      'ok data: Ended runs are deleted beyond the newest 1000000',
      'ok start: The server starts with this config',
      'ok access: 127.0.0.1 is reachable from this machine only, and needs no key',
      `ok data: ${home.path}/.tutti can be created`,
      expect.stringMatching(/^ok disk: [\d,]+ MiB free at /),
      'ok port: The server will select a free port',
    ])
    expect(text).not.toContain('sk-secret')
    expect(readdirSync(home.path).toSorted()).toEqual(['.env', 'node_modules', 'tutti.config.ts'])
  })

  it('`tutti doctor` reports every problem of environment and config, without secrets', async () => {
    using home = project({
      'tutti.config.ts': `
        export default { ensembles: [], limits: { maxRuns: 1 }, auth: { keys: [{ name: 'a', key: 'secret' }] } }`,
    })
    const env = { PORT: 'high', TUTTI_ROLE: 'api', DATABASE_URL: 'mysql://u:pass-word-1@h/d' }
    const { code, lines, text } = await doctor({ cwd: home.path, env })
    expect(code).toBe(1)
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^problem environment: PORT must be .*"high"$/),
      expect.stringMatching(/^problem environment: DATABASE_URL must be a URL/),
      expect.stringMatching(
        /^problem config: "maxRuns" is not a known limit|^problem config: "ensembles"/,
      ),
      expect.stringMatching(/^problem config: /),
      expect.stringMatching(/^problem config: key of "auth\.keys\[0\]" must have/),
    ])
    expect(text).not.toMatch(/pass-word-1|"secret"/)
    const short = { ...FREE, TUTTI_TICKET_SECRET: 'too-short' }
    expect((await doctor({ cwd: home.path, env: short })).lines).toContainEqual(
      expect.stringMatching(/^problem environment: TUTTI_TICKET_SECRET must have at least 32 /),
    )
    home.write('tutti.config.ts', 'throw new Error(`Cannot sign with ${process.env.HOOK_SECRET}`)')
    const [signing, both] = await Promise.all([
      doctor({ cwd: home.path, env: { ...FREE, HOOK_SECRET: 'hush-hush-hush' } }),
      doctor({ cwd: home.path, env: { PORT: 'high', HOOK_SECRET: 'hush-hush-hush' } }),
    ])
    for (const found of [signing, both]) {
      expect(found.lines).toContainEqual(
        expect.stringMatching(
          /^problem config: Cannot sign with \S+ \(\S+tutti\.config\.ts:1:7\)$/,
        ),
      )
      expect(found.text).not.toContain('hush-hush-hush')
    }
  })

  it('`tutti doctor` reports problems that only a start reveals, an address without keys, and expired keys', async () => {
    using home = project({
      'tutti.config.ts': CONFIG.replace('models: {', `shared: { tools: ['none'] }, models: {`),
    })
    const open = doctor({ cwd: home.path, env: FREE }, ['--host', '0.0.0.0'])
    using keyed = project({
      'tutti.config.ts': CONFIG.replace(
        'models: {',
        `auth: { keys: [{ name: 'old', key: 'a-key-that-was-long', expiresAt: 1 }] }, models: {`,
      ),
    })
    const [shared, expired, broken] = await Promise.all([
      open,
      doctor({ cwd: keyed.path, env: { ...FREE, HOST: '0.0.0.0' } }),
      doctor({ cwd: keyed.path, env: FREE }, ['--config', 'none.config.ts']),
    ])
    expect([shared.code, shared.lines]).toEqual([
      1,
      expect.arrayContaining([
        'problem start: Unknown tool \'none\' in "shared". Available: []',
        'problem access: The server does not listen on 0.0.0.0 without keys: anyone who can reach it could start runs',
      ]),
    ])
    expect([expired.code, expired.lines]).toEqual([
      1,
      expect.arrayContaining([
        'warning access: Key "old" has expired',
        'problem access: Every key has expired: all requests are rejected',
      ]),
    ])
    expect([broken.code, broken.lines]).toEqual([
      1,
      expect.arrayContaining(['problem config: no such file']),
    ])
  })

  it('`tutti doctor` recognizes a running server by its port and its store', async () => {
    using home = project({ 'tutti.config.ts': CONFIG })
    const key = 'a-key-that-is-long-enough'
    await using server = await ServerProcess.start({ TUTTI_API_KEYS: key }, home.path)
    const { port } = new URL(server.url)
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const [running, elsewhere, other, asked, both] = await Promise.all([
      doctor({ cwd: home.path, env: { PORT: port, TUTTI_API_KEYS: key } }),
      doctor({ cwd: home.path, env: FREE }),
      doctor({ cwd: home.path, env: { PORT: String((taken.address() as AddressInfo).port) } }),
      doctor({ cwd: home.path, env: FREE }, ['--url', server.url]),
      doctor({ cwd: home.path, env: { PORT: port, TUTTI_API_KEYS: key } }, ['--url', server.url]),
    ])
    taken.close()
    expect([running.code, running.lines]).toEqual([
      0,
      expect.arrayContaining([
        `ok server: The Tutti server at ${server.url} accepts runs`,
        'ok data: The store is in use by the running server',
        'ok access: Requests to 127.0.0.1 need one of these keys: key-1',
      ]),
    ])
    expect(elsewhere.lines).toContain('warning data: The store is in use by another process')
    expect([other.code, other.lines]).toEqual([
      1,
      expect.arrayContaining([
        expect.stringMatching(
          /^problem port: Port \d+ of 127\.0\.0\.1 is in use by another program/,
        ),
      ]),
    ])
    expect(asked.lines.slice(-2)).toEqual([
      `ok server: The Tutti server at ${server.url} accepts runs`,
      'warning server: The server rejects this key: UNAUTHORIZED',
    ])
    const accepts = `ok server: The Tutti server at ${server.url} accepts runs`
    expect(both.lines.filter((line) => line === accepts)).toHaveLength(1)
    expect(running.text).not.toContain(key)
  })

  it('`tutti doctor` checks the clock, the API version and the readiness of a server', async () => {
    using home = project({ 'tutti.config.ts': CONFIG })
    const later = () => new Date(Date.now() + 60_000).toUTCString()
    const strange = createHttpServer((request, response) => {
      const { url = '' } = request
      const answers: Readonly<Record<string, readonly [number, object]>> = {
        '/api/health/live': [200, { status: 'UP' }],
        '/api/health/ready': [503, { status: 'NOT_READY', lifecycleState: 'DRAINING' }],
        '/openapi.json': [200, { info: { version: '9.9.9' } }],
      }
      const [status, body] = answers[url] ?? [404, {}]
      response.writeHead(status, { 'content-type': 'application/json', date: later() })
      response.end(JSON.stringify(body))
    })
    await new Promise<void>((resolve) => strange.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(strange.address() as AddressInfo).port}`
    const [found, missing] = await Promise.all([
      doctor({ cwd: home.path, env: { ...FREE, TUTTI_URL: url } }),
      doctor({ cwd: home.path, env: FREE }, ['--url', 'http://127.0.0.1:1']),
    ])
    strange.close()
    expect([found.code, found.lines.slice(-3)]).toEqual([
      1,
      [
        `problem server: The server at ${url} does not accept runs: it is draining`,
        'warning server: The server has API version 9.9.9, this program has 1.0.0',
        expect.stringMatching(
          /^warning server: The clock of the server is (?:5\d|60) s ahead of the local clock$/,
        ),
      ],
    ])
    expect(missing.lines.at(-1)).toMatch(/^problem server: Cannot reach http:\/\/127\.0\.0\.1:1: /)
  })

  it('`tutti doctor` reports a data directory that is a file, holds another file type or a newer schema, or is read-only', async () => {
    using home = project({
      'tutti.config.ts': CONFIG,
      file: '',
      'bad/runs.sqlite': 'x'.repeat(200),
    })
    await using server = await ServerProcess.start({ TUTTI_DATA_DIR: 'newer' }, home.path)
    await server.end('SIGTERM')
    const path = join(home.path, 'newer', 'runs.sqlite')
    const bytes = readFileSync(path)
    const old = bytes.readUInt32BE(60)
    bytes.writeUInt32BE(99, 60)
    writeFileSync(path, bytes)
    const at = (TUTTI_DATA_DIR: string) =>
      doctor({ cwd: home.path, env: { ...FREE, TUTTI_DATA_DIR } })
    const [file, bad, newer, inside] = await Promise.all([
      at('file'),
      at('bad'),
      at('newer'),
      at(`${UNWRITABLE}/x`),
    ])
    expect([file.code, file.lines]).toEqual([
      1,
      expect.arrayContaining([`problem data: "${home.path}/file" is not a directory`]),
    ])
    expect(bad.lines).toContain(
      `problem data: "${home.path}/bad/runs.sqlite" is not a SQLite database`,
    )
    expect(newer.lines).toContain(
      `problem data: The store has schema version 99, this program supports versions up to ${old}`,
    )
    expect([inside.code, inside.lines]).toEqual([
      1,
      expect.arrayContaining([
        expect.stringContaining(`problem data: Cannot write to "${UNWRITABLE}": `),
      ]),
    ])
  })
})

describe('tutti doctor with a database', () => {
  let database: TestDatabase
  let other: TestDatabase

  beforeAll(async () => {
    database = await testDatabase()
    other = await testDatabase()
  })

  afterAll(async () => {
    await database[Symbol.asyncDispose]()
    await other[Symbol.asyncDispose]()
  })

  it('`tutti doctor` checks that a database is reachable and delivers notifications', async () => {
    using home = project({ 'tutti.config.ts': CONFIG })
    const at = (env: Record<string, string>) => doctor({ cwd: home.path, env: { ...FREE, ...env } })
    const wrong = new URL(database.url)
    wrong.username = 'unknown'
    wrong.password = 'pass-word-2'
    wrong.pathname = '/none'
    const [fine, silent, gone] = await Promise.all([
      at({ DATABASE_URL: database.url }),
      at({ DATABASE_URL: database.url, DATABASE_LISTEN_URL: other.url }),
      at({ DATABASE_URL: wrong.href }),
    ])
    expect([fine.code, fine.lines]).toEqual([
      0,
      expect.arrayContaining([
        expect.stringMatching(/^ok database: Postgres \d+\S* .*at /),
        expect.stringMatching(/^ok database: Notifications arrive/),
      ]),
    ])
    expect([silent.code, silent.lines]).toEqual([
      1,
      expect.arrayContaining([
        expect.stringMatching(/^problem database: Notifications do not arrive/),
      ]),
    ])
    expect([gone.code, gone.lines]).toEqual([
      1,
      expect.arrayContaining([
        expect.stringMatching(/^problem database: Cannot reach \S+none of DATABASE_URL: /),
      ]),
    ])
    expect(gone.text).not.toContain('pass-word-2')
  })
})
