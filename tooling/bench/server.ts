/**
 * The built server from outside: how long until it is ready, to the first event and to the result of a
 * run, and runs per second. One agent, one typed tool call, a scripted model without delay. Loopback only,
 * bounded in count; medians.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PROGRAM = fileURLToPath(new URL('../../apps/server/dist/tutti.js', import.meta.url))
const CONFIG = fileURLToPath(new URL('./fixtures/one-tool.config.mjs', import.meta.url))
const STARTS = 9
const SINGLE_RUNS = 200
const RUNS_PER_WIDTH = 400
const WIDTHS = [1, 20, 50]

const startMs: number[] = []
for (let index = 0; index < STARTS; index += 1) {
  const server = await start()
  startMs.push(server.readyMs)
  await server.stop()
}
console.log(`start to ready: ${median(startMs)} ms`)

const server = await start()
try {
  await latencies(server.url)
  for (const width of WIDTHS)
    console.log(`${width} at once: ${await runsPerSecond(server.url, width)} runs/s`)
  console.log(`memory of the process: ${residentMiB(server.child)} MiB`)
} finally {
  await server.stop()
}

async function start() {
  const data = mkdtempSync(join(tmpdir(), 'tutti-bench-'))
  const startedAt = performance.now()
  const child = spawn(process.execPath, [PROGRAM], {
    env: { ...process.env, PORT: '0', TUTTI_DATA_DIR: data, TUTTI_CONFIG: CONFIG },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      const [, found] = /Tutti ready on (\S+)/.exec(output) ?? []
      if (found !== undefined) resolve(found)
    })
    child.on('exit', () => reject(new Error(`The server ended: ${output}`)))
  })
  const readyMs = performance.now() - startedAt
  const stop = async (): Promise<void> => {
    const exited = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await exited
    rmSync(data, { recursive: true })
  }
  return { child, url, readyMs, stop }
}

async function latencies(url: string): Promise<void> {
  const first: number[] = []
  const result: number[] = []
  for (let index = 0; index < SINGLE_RUNS; index += 1) {
    const startedAt = performance.now()
    const events = await follow(url, await submit(url))
    let text = ''
    for await (const chunk of events) {
      text += new TextDecoder().decode(chunk)
      if (first.length === index && text.includes('ensemble_started')) {
        first.push(performance.now() - startedAt)
      }
    }
    result.push(performance.now() - startedAt)
  }
  console.log(`submit to first event of the engine: ${median(first)} ms`)
  console.log(`submit to result: ${median(result)} ms`)
}

async function runsPerSecond(url: string, width: number): Promise<string> {
  const startedAt = performance.now()
  let left = RUNS_PER_WIDTH
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1
      for await (const _chunk of await follow(url, await submit(url))) continue
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
  return (RUNS_PER_WIDTH / ((performance.now() - startedAt) / 1000)).toFixed(0)
}

async function submit(url: string): Promise<string> {
  const response = await fetch(`${url}/api/runs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"inputs":{"piece":"a fugue"}}',
  })
  const { runId } = await response.json()
  return runId
}

async function follow(url: string, runId: string): Promise<AsyncIterable<Uint8Array>> {
  const { body } = await fetch(`${url}/api/runs/${runId}/events`)
  if (body === null) throw new Error(`The events of ${runId} have no body`)
  return body
}

function residentMiB({ pid }: ChildProcess): string {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kib) / 1024).toFixed(0)
}

function median(values: readonly number[]): string {
  return (values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN).toFixed(1)
}
