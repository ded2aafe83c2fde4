/**
 * Compares one busy run with 1 000 WebSocket readers with a bare `ws` server that sends the same messages to
 * as many. The readers are a separate process that only counts bytes.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { ROUTES } from '@tutti/protocol'

import { median } from './measure.ts'
import { formatNumber, printTable } from './report.ts'
import { sized } from './form.ts'
import { tuttiCommand } from './server-products.ts'
import { startServerProcess, type ServerProcess } from './server-process.ts'

/** Input of the readers' process: one JSON argument. */
export interface ReadersInput {
  readonly port: number
  readonly path: string
  readonly readers: number
}

/** Its output, as lines of JSON: `ready` once all readers are greeted, then the bytes that they read. */
export type ReadersSaid = 'ready' | { readonly readMs: number; readonly bytes: number }

/** Result of one broadcast. */
interface Broadcast {
  readonly perSecond: number
  /** Processor time of the server for each message to each reader, in microseconds. */
  readonly cpuUs: number
  /** Messages to each reader. */
  readonly messages: readonly string[]
}

const READERS = sized(1_000, 20)
const ROUNDS = sized(3, 1)

const FIXTURES = new URL('../fixtures/', import.meta.url)

/** Prints messages per second and the processor time of each, for both, and their ratio. */
export async function measureFanOut(): Promise<void> {
  const ours: Broadcast[] = []
  const bare: Broadcast[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const own = await broadcastOfRun()
    ours.push(own)
    bare.push(await bareBroadcast(own.messages))
  }
  const [{ messages } = { messages: [] }] = ours
  const bytes = messages.reduce((total, text) => total + text.length, 0)
  const own = typical(ours)
  const other = typical(bare)
  printTable({
    title: `${formatNumber(READERS)} WebSocket readers of a run of ${formatNumber(messages.length)} events, ${formatNumber(bytes)} bytes each`,
    columns: ['server', 'messages/s', 'processor time of a message, µs'],
    rows: [
      ['Tutti', formatNumber(own.perSecond), formatNumber(own.cpuUs)],
      ['bare ws', formatNumber(other.perSecond), formatNumber(other.cpuUs)],
      [
        'Tutti to bare ws',
        formatNumber(own.perSecond / other.perSecond),
        formatNumber(own.cpuUs / other.cpuUs),
      ],
    ],
  })
}

function typical(rounds: readonly Broadcast[]): Pick<Broadcast, 'perSecond' | 'cpuUs'> {
  return {
    perSecond: median(rounds.map((it) => it.perSecond)),
    cpuUs: median(rounds.map((it) => it.cpuUs)),
  }
}

async function broadcastOfRun(): Promise<Broadcast> {
  const config = fileURLToPath(new URL('server-fan-out.config.mjs', FIXTURES))
  await using server = await startServerProcess(tuttiCommand(config), ROUTES.getReadiness.path)
  const messages = messagesOf(server)
  // The waiting caller gets the error; there is none if the readers failed before.
  messages.catch(() => undefined)
  return await broadcast(server, {
    path: ROUTES.openSocket.path,
    begin: async () => {
      const { method, path } = ROUTES.submitRun
      const headers = { 'content-type': 'application/json' }
      await fetch(`${server.url}${path}`, { method, headers, body: '{}' })
    },
    messages: () => messages,
  })
}

async function bareBroadcast(messages: readonly string[]): Promise<Broadcast> {
  const program = fileURLToPath(new URL('server-bare-ws.ts', FIXTURES))
  await using server = await startServerProcess(({ port, dataDir }) => {
    const file = join(dataDir, 'messages.json')
    writeFileSync(file, JSON.stringify(messages))
    return { file: process.execPath, args: [program, String(port), file], env: {} }
  }, '/')
  return await broadcast(server, {
    path: '/',
    begin: async () => {
      await fetch(`${server.url}/begin`)
    },
    messages: () => Promise.resolve(messages),
  })
}

interface BroadcastParts {
  readonly path: string
  readonly begin: () => Promise<void>
  /** Resolves with the sent messages. */
  readonly messages: () => Promise<readonly string[]>
}

async function broadcast(
  server: ServerProcess,
  { path, begin, messages }: BroadcastParts,
): Promise<Broadcast> {
  const input: ReadersInput = { port: Number(new URL(server.url).port), path, readers: READERS }
  const program = fileURLToPath(new URL('server-readers.ts', FIXTURES))
  const child = spawn(process.execPath, [program, JSON.stringify(input)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const said = async (): Promise<ReadersSaid> => {
    const line = await lines.next()
    if (line.done === true) throw new Error('The readers ended too early')
    // NOTE: the program prints only these lines.
    return JSON.parse(line.value) as ReadersSaid
  }
  try {
    await said()
    const cpuBefore = server.cpuMs()
    await begin()
    const read = await said()
    const cpuMs = server.cpuMs() - cpuBefore
    if (read === 'ready') throw new Error('The readers were greeted twice')
    const sent = await messages()
    const deliveries = sent.length * READERS
    const perSecond = deliveries / (read.readMs / 1_000)
    return { perSecond, cpuUs: (cpuMs * 1_000) / deliveries, messages: sent }
  } finally {
    child.kill()
    await exited
  }
}

/** Returns the messages to one more reader after its greeting, up to the result of the run. */
function messagesOf({ url }: ServerProcess): Promise<readonly string[]> {
  const messages: string[] = []
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}${ROUTES.openSocket.path}`)
    socket.addEventListener('error', () => {
      reject(new Error('The reader of the messages was cut off'))
    })
    socket.addEventListener('message', ({ data }) => {
      const text = String(data)
      if (!text.includes('"type":"hello"')) messages.push(text)
      if (!text.includes('"type":"run_result"')) return
      socket.close()
      resolve(messages)
    })
  })
}
