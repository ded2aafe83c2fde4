/**
 * Tests a server with 384 MiB of heap under a fixed set of hostile requests and readers. It must survive, return small
 * errors, and keep serving. `npm run hostile` measures how fast it serves others meanwhile.
 */
import { fileURLToPath } from 'node:url'

import { expect, it } from 'vitest'

import { HostileLoad } from './hostile-load.ts'
import { ServerProcess, temporaryDirectory } from './server-process.ts'

const CONFIG = fileURLToPath(new URL('./fixtures/loud.config.ts', import.meta.url))

/** Maximum size of the body of an error, in bytes. */
const MAX_ERROR_BYTES = 16_384

const LARGE_RUNS = 10
const ROUNDS = 3

const many = (count: number, item: (index: number) => unknown): unknown[] =>
  Array.from({ length: count }, (_, index) => item(index))

/** Invalid bodies of up to a megabyte, and bodies that would expand. */
const BOMBS: readonly (readonly [path: string, body: string])[] = [
  [
    '/api/runs',
    JSON.stringify({ inputs: { topic: 'x'.repeat(50_000) }, tasks: many(900, () => 1) }),
  ],
  ['/api/runs', JSON.stringify({ tasks: many(50_000, () => ({ description: 'a' })) })],
  ['/api/runs', JSON.stringify({ tasks: many(20_000, () => ({ tols: 1, name: 2 })) })],
  ['/api/runs', JSON.stringify({ ['\u0001'.repeat(150_000)]: 1 })],
  ['/api/runs', JSON.stringify(Object.fromEntries(many(40_000, (n) => [`f${n}`, n]) as []))],
  [
    '/api/runs',
    JSON.stringify({
      inputs: { a: 'x'.repeat(50_000) },
      tasks: [{ description: '{a}'.repeat(18_000) }],
    }),
  ],
  [
    '/api/runs',
    JSON.stringify({
      tasks: many(900, (n) => ({
        name: `${'n'.repeat(40)}${n}`,
        description: 'A',
        context: many(15, (at) => `$${'n'.repeat(38)}${at}`),
      })),
    }),
  ],
  [
    '/api/runs',
    JSON.stringify({ tasks: [{ description: many(50_000, (n) => `{v${n}}`).join('') }] }),
  ],
  ['/api/runs', `${'['.repeat(400_000)}${']'.repeat(400_000)}`],
  ['/api/runs', `{"inputs":${'{"a":'.repeat(120)}1${'}'.repeat(120)}}`],
  [
    '/a2a',
    JSON.stringify({
      jsonrpc: '2.0',
      id: 'i'.repeat(300_000),
      method: 'SendMessage',
      params: { message: { parts: many(20_000, () => ({ odd: 1 })) } },
    }),
  ],
  ['/tasks/send', JSON.stringify({ params: { message: { parts: many(20_000, () => ({})) } } })],
  ['/mcp', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 1 } })],
]

async function attack(load: HostileLoad, runIds: readonly string[]): Promise<number> {
  for (const runId of runIds) {
    load.stalled(`/api/runs/${runId}/events`)
    load.stalled(`/api/runs/${runId}`)
    load.stalled(`/api/runs/${runId}/trace`)
    load.stalled(`/a2a/v1/tasks/${runId}`)
  }
  for (let count = 0; count < 5; count += 1) {
    load.stalled('/api/runs?limit=1000')
    load.stalled('/a2a/v1/tasks?pageSize=100&includeArtifacts=true')
  }
  await Promise.all(many(10, () => load.stalledSocket()))
  const pings = many(2_000, (n) => JSON.stringify({ type: 'ping', [`x${n}`]: n })).map(String)
  await load.flood(pings)
  let largest = 0
  for (const [path, body] of BOMBS) largest = Math.max(largest, await load.post(path, body))
  return largest
}

it(
  'A process with 384 MiB of heap survives hostile requests and readers, with small errors, and keeps serving',
  { timeout: 300_000 },
  async () => {
    using files = temporaryDirectory()
    await using server = await ServerProcess.start({
      TUTTI_CONFIG: CONFIG,
      TUTTI_DATA_DIR: files.path,
      NODE_OPTIONS: '--max-old-space-size=384',
    })
    // A list can wait until the server has closed the connections that do not read, which takes 30 s.
    const client = server.client({ timeoutMs: 120_000 })
    const runIds: string[] = []
    for (let count = 0; count < LARGE_RUNS; count += 1) {
      const { runId } = await client.runs.submit({ inputs: { topic: 't'.repeat(200_000) } })
      await client.runs.result(runId)
      runIds.push(runId)
    }
    using load = new HostileLoad(server.url)
    let largest = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      largest = Math.max(largest, await attack(load, runIds))
      expect((await fetch(`${server.url}/api/health/live`)).status).toBe(200)
    }
    expect(largest).toBeGreaterThan(0)
    expect(largest).toBeLessThanOrEqual(MAX_ERROR_BYTES)
    expect(server.hasExited).toBe(false)
    const { runs } = await client.runs.list()
    expect(runs.length).toBeGreaterThanOrEqual(LARGE_RUNS)
  },
)
