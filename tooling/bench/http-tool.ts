/**
 * Measures the overhead of an HTTP tool over its request: the same small POST to the same server with undici's
 * `request` and through the tool, in turns. Medians of one run.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'

import { builtPackage } from './lib/built.ts'
import { compare } from './lib/measure.ts'
import { formatNumber, printTable } from './lib/report.ts'

const SERVER = `
import { createServer } from 'node:http'
const server = createServer((request, response) => {
  let size = 0
  request.on('data', (chunk) => { size += chunk.length })
  request.on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ category: 'tech', size }))
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
process.stdin.on('end', () => process.exit()).resume()`

/** Used parts of undici; its types are not installed with the benchmarks. */
interface Undici {
  readonly Agent: new () => { close(): Promise<void> }
  request(url: string, options: object): Promise<{ readonly body: { text(): Promise<string> } }>
}

const INPUT = JSON.stringify({ name: 'Ada', type: 'person' })
const EXPECTED = JSON.stringify({ category: 'tech', size: INPUT.length })

const { runTool } = await builtPackage<typeof import('../../packages/core/src/index.ts')>('core')
const { httpTool } =
  await builtPackage<typeof import('../../packages/remote-tools/src/index.ts')>('remote-tools')
// NOTE: undici exports these.
const { Agent, request } = createRequire(import.meta.url)('undici') as Undici

const server = spawn(process.execPath, ['--input-type=module', '-e', SERVER], {
  stdio: ['pipe', 'pipe', 'inherit'],
})
const [port] = await once(server.stdout, 'data')
const url = `http://127.0.0.1:${String(port).trim()}/classify`

const dispatcher = new Agent()
const tool = httpTool({ name: 'classify', description: 'Sorts a text', url })
const call = { id: 'call', name: 'classify', arguments: JSON.stringify({ input: INPUT }) }

const results = await compare(
  [
    {
      name: 'undici request',
      async run(count) {
        for (let index = 0; index < count; index += 1) {
          const headers = { 'content-type': 'application/json' }
          const { body } = await request(url, { method: 'POST', headers, body: INPUT, dispatcher })
          assertAnswer(await body.text())
        }
      },
    },
    {
      name: 'HTTP tool',
      async run(count) {
        for (let index = 0; index < count; index += 1) {
          const { result } = await runTool(tool, call)
          assertAnswer(result.output)
        }
      },
    },
  ],
  { calls: 50, rounds: 121 },
)
printTable({
  title: 'One call of an HTTP tool',
  columns: ['', 'µs a call', 'times'],
  rows: results.map(({ name, us }) => [
    name,
    formatNumber(us),
    formatNumber(us / (results[0]?.us ?? Number.NaN)),
  ]),
})
await tool.close()
await dispatcher.close()
server.stdin.end()

function assertAnswer(text: string): void {
  if (text !== EXPECTED) throw new Error(`The server answered ${JSON.stringify(text)}`)
}
