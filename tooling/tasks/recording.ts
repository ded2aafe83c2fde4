/**
 * Records `docs/images/recording.svg`: commands of the built program against the built server with its sample
 * ensembles. Needs `script` of util-linux, which gives the program a terminal, so that it writes colors.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { freePort } from '../postgres/free-port.ts'
import { renderTerminal, type RecordedLine } from './terminal-svg.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PROGRAM = join(ROOT, 'apps/server/dist/tutti.js')
const IMAGE = join(ROOT, 'docs/images/recording.svg')
const TITLE =
  'Recording of the command line: a run is steered and continues after its server was killed, ' +
  'a person rejects and approves its draft, and the run is replayed without a call'

const SIZE = { columns: 110, rows: 26 }

/** Longest wait between two lines that is shown, in milliseconds; commands of people and models take longer. */
const MAX_WAIT_MS = 700

/** Wait before a command, in milliseconds, so that people can read. */
const READING_MS = 2_000

/** Longest duration of the recording, in milliseconds. */
const MAX_DURATION_MS = 56_000

const PORT = `${await freePort()}`
const folder = mkdtempSync(join(tmpdir(), 'tutti-recording-'))
const url = `http://127.0.0.1:${PORT}`
const env = {
  PATH: process.env['PATH'],
  TERM: 'xterm-256color',
  PORT,
  TUTTI_URL: url,
  TUTTI_DATA_DIR: join(folder, 'data'),
  LOG_LEVEL: 'error',
}

const lines: RecordedLine[] = []
/** Time of the recording, which is shorter than the real one. */
let nowMs = 0
let server: ChildProcess | undefined

try {
  await record()
} finally {
  server?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
if (nowMs > MAX_DURATION_MS)
  throw new Error(`The recording takes ${nowMs} ms, at most ${MAX_DURATION_MS}`)
const svg = renderTerminal(TITLE, lines, SIZE)
writeFileSync(IMAGE, svg)
console.log(`${IMAGE}: ${lines.length} lines, ${nowMs} ms, ${svg.length} bytes`)

async function record(): Promise<void> {
  comment('Start a run of three agents, and steer it while it works')
  await startServer()
  await tutti('run reviewed-briefing topic="AI safety" --run-id brief --detach')
  await tutti('inject brief "Two sentences for each point" --to editor')

  comment('The server is killed. The next one continues the run, and repeats no completed call')
  await untilCalled()
  prompt('kill -9 %1')
  server?.kill('SIGKILL')
  await startServer()
  await tutti('watch brief --no-review --plain')

  comment('A person sends the draft back, and approves the next one')
  await tutti(`review ${await openReview()} --reject "Name one risk"`)
  await tutti('watch brief --no-review --quiet')
  await tutti(`review ${await openReview()} --approve`)

  comment('Replay it exactly: models, tools and people answer from the record')
  await tutti('replay brief')
  comment('See what a fork with other guidance would reuse and execute')
  await tutti('fork brief --at editor --directive "Write for children" --preview')
}

/** Waits until both researchers have called a tool. */
async function untilCalled(): Promise<void> {
  for (;;) {
    const run = await (await fetch(`${url}/api/runs/brief`)).json()
    const tasks: readonly { toolCallCount?: number }[] = run.tasks
    if (tasks.filter(({ toolCallCount = 0 }) => toolCallCount > 0).length === 2) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Starts the server in the background and shows its first line. */
async function startServer(): Promise<void> {
  prompt('tutti start &')
  const child = spawn(process.execPath, [PROGRAM, 'start'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  server = child
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (data: Buffer) => {
      if (data.toString().includes('Tutti ready')) resolve()
    })
  })
  await Promise.race([ready, once(child, 'exit').then(() => Promise.reject(new Error('No start')))])
  show(`Tutti ready on ${url}`)
}

/** Runs a command in a terminal and shows what it prints. */
async function tutti(command: string): Promise<void> {
  prompt(`tutti ${command}`)
  const words = `stty cols ${SIZE.columns} && exec '${process.execPath}' '${PROGRAM}' ${command}`
  const child = spawn('script', ['-qec', words, '/dev/null'], { cwd: folder, env })
  let rest = ''
  let lastMs = Date.now()
  child.stdout.on('data', (data: Buffer) => {
    nowMs += Math.min(Date.now() - lastMs, MAX_WAIT_MS)
    lastMs = Date.now()
    const parts = (rest + data.toString()).split('\r\n')
    rest = parts.pop() ?? ''
    for (const line of parts) show(line)
  })
  await once(child, 'close')
  if (rest !== '') show(rest)
}

function comment(text: string): void {
  if (lines.length > 0) nowMs += READING_MS
  if (lines.length > 0) show('')
  show(`\u001B[2m# ${text}\u001B[0m`)
}

function prompt(command: string): void {
  nowMs += READING_MS
  show(`\u001B[36m$\u001B[0m \u001B[1m${command}\u001B[0m`)
  nowMs += 500
}

/** Shows a line, with the port of the documentation. */
function show(text: string): void {
  lines.push({ atMs: Math.round(nowMs), text: text.replaceAll(PORT, '7329').trimEnd() })
}

/** Waits for the open review and returns its id. */
async function openReview(): Promise<string> {
  for (;;) {
    const { reviews } = await (await fetch(`${url}/api/reviews`)).json()
    if (reviews.length > 0) return reviews[0].reviewId
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
