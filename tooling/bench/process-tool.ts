/**
 * Measures the overhead of a process tool over its child process. Each command is started with
 * `child_process.spawn` and through the tool, in turns; then a child process in worker mode does the same
 * work. Medians of one run, in milliseconds. Commands that are not installed are skipped.
 */
import { spawn, spawnSync } from 'node:child_process'

import { builtPackage } from './lib/built.ts'
import { sized } from './lib/form.ts'

const WORKER_CALLS = sized(2_000, 10)
const WARM_UP_CALLS = sized(50, 1)
const WARM_UP_STARTS = sized(5, 0)

const { runTool } = await builtPackage<typeof import('../../packages/core/src/index.ts')>('core')
const { processTool } =
  await builtPackage<typeof import('../../packages/remote-tools/src/index.ts')>('remote-tools')

interface Program {
  readonly name: string
  readonly command: string
  readonly once: readonly string[]
  readonly worker?: readonly string[]
  readonly calls: number
}

const PYTHON_ONCE = `
import json, sys
call = json.loads(sys.stdin.read())
print(json.dumps({"output": call["input"].upper()}))`

const PYTHON_WORKER = `
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    print(json.dumps({"id": call["id"], "output": call["input"].upper()}), flush=True)`

const NODE_ONCE = `
let text = ''
for await (const chunk of process.stdin) text += chunk
console.log(JSON.stringify({ output: JSON.parse(text).input.toUpperCase() }))`

const NODE_WORKER = `
import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id, input } = JSON.parse(line)
  console.log(JSON.stringify({ id, output: input.toUpperCase() }))
}`

const MODULE = '--input-type=module'
const python = spawnSync('python3', ['-c', 'import sys; print(sys.executable)'], {
  encoding: 'utf8',
})

const PROGRAMS: readonly Program[] = [
  { name: 'sh', command: 'sh', once: ['-c', 'cat >/dev/null; echo HELLO'], calls: sized(300, 2) },
  ...(python.status === 0
    ? [
        {
          name: 'python3',
          command: python.stdout.trim(),
          once: ['-c', PYTHON_ONCE],
          worker: ['-c', PYTHON_WORKER],
          calls: sized(100, 2),
        },
      ]
    : []),
  {
    name: 'node',
    command: process.execPath,
    once: [MODULE, '-e', NODE_ONCE],
    worker: [MODULE, '-e', NODE_WORKER],
    calls: sized(60, 2),
  },
]

for (const program of PROGRAMS) {
  const { bareMs, toolMs } = await compareStarts(program)
  console.log(
    `${program.name}: bare spawn ${bareMs.toFixed(2)} ms, process tool ${toolMs.toFixed(2)} ms, ${ratio(toolMs, bareMs)} times`,
  )
  if (program.worker === undefined) continue
  const workerMs = await workerCallMs({ ...program, worker: program.worker })
  console.log(
    `${program.name}: worker mode ${workerMs.toFixed(3)} ms a call, ${ratio(bareMs, workerMs)} times faster than a bare spawn`,
  )
}

async function compareStarts({ command, once, calls }: Program) {
  const tool = processTool({ name: 'work', description: 'Works', command, args: once })
  const bare: number[] = []
  const through: number[] = []
  for (let index = -WARM_UP_STARTS; index < calls; index += 1) {
    const bareMs = await timeOf(() => bareCall(command, once))
    const toolMs = await timeOf(() => toolCall(tool))
    if (index < 0) continue
    bare.push(bareMs)
    through.push(toolMs)
  }
  return { bareMs: median(bare), toolMs: median(through) }
}

async function workerCallMs({ command, worker }: Program & { readonly worker: readonly string[] }) {
  const name = 'work'
  await using tool = processTool({
    name,
    description: 'Works',
    command,
    args: worker,
    mode: 'worker',
  })
  for (let index = 0; index < WARM_UP_CALLS; index += 1) await toolCall(tool)
  const times: number[] = []
  for (let index = 0; index < WORKER_CALLS; index += 1) {
    times.push(await timeOf(() => toolCall(tool)))
  }
  return median(times)
}

async function toolCall(tool: Parameters<typeof runTool>[0]): Promise<void> {
  const call = { id: 'call', name: tool.name, arguments: '{"input":"hello"}' }
  const { result } = await runTool(tool, call)
  assertHello(result.success ? result.output : `${result.errorMessage}`)
}

function bareCall(command: string, words: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words)
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    child.on('close', () => {
      try {
        assertHello(output)
        resolve()
      } catch (error) {
        reject(error instanceof Error ? error : new Error('The program failed'))
      }
    })
    child.stdin.end('{"input":"hello"}')
  })
}

function assertHello(output: string): void {
  if (!output.includes('HELLO')) throw new Error(`The program answered ${JSON.stringify(output)}`)
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

function ratio(ms: number, toMs: number): string {
  return (ms / toMs).toFixed(2)
}
