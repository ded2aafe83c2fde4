/** The measured servers: their start commands, their requests for the same run, and what they store. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { routePath, ROUTES } from '@tutti/protocol'

import { SERVER_PEERS, serverPeer } from './peers.ts'
import { ANSWER, INPUT, TOOL } from './story.ts'

import type { ServerCommand, ServerLocation } from './server-process.ts'

export interface AskedRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** Media type of the wanted response. */
  readonly accept?: string
}

/** A server that can be measured. */
export interface ServerProduct {
  readonly name: string
  /** Promise after a crash; only peers are compared with ours. */
  readonly kind: 'ours' | 'limit' | 'peer in memory' | 'durable peer'
  /** Data that it stores for a run, and where. */
  readonly storage: string
  readonly command: (location: ServerLocation) => ServerCommand
  /** A path that returns 200 when the server is ready. */
  readonly readyPath: string
  /** Starts a run. Its response is the stream of events, unless `stream` returns another request. */
  submit(): AskedRequest
  /** Returns the request for the events, from the response to `submit`. */
  readonly stream?: (accepted: string) => AskedRequest
  /** Texts in the stream from the first event of the run on, and once the result is available. */
  readonly first: string
  readonly result: string
  /** Texts that a complete stream must contain: the tool was called, the model answered. */
  readonly proof: readonly string[]
  /** Calls the tool directly; undefined when the server has no such address. */
  readonly tool?: AskedRequest
}

/** A response as a client got it. */
export interface RecordedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body: string
}

/** Turns off tracing, telemetry and update checks. */
const QUIET = {
  NO_COLOR: '1',
  DO_NOT_TRACK: '1',
  NODE_ENV: 'production',
  VOLTAGENT_TELEMETRY_DISABLED: '1',
  MASTRA_TELEMETRY_DISABLED: '1',
  LANGGRAPH_CLI_NO_ANALYTICS: '1',
  LANGSMITH_TRACING: 'false',
}

const PROGRAM = fileURLToPath(new URL('../../../apps/server/dist/tutti.js', import.meta.url))
const SKETCH = fileURLToPath(new URL('../fixtures/server-durable-sketch.ts', import.meta.url))
const CONFIG = fileURLToPath(new URL('../fixtures/server-order.config.mjs', import.meta.url))

/** Our built server: the response to the submit is the stream of the run. */
export const TUTTI: ServerProduct = {
  name: 'Tutti',
  kind: 'ours',
  storage: 'every event, in SQLite',
  command: tuttiCommand(CONFIG),
  readyPath: ROUTES.getReadiness.path,
  submit: () => ({ ...ROUTES.submitRun, body: {}, accept: 'text/event-stream' }),
  // The event that the run was queued comes before and does not count: the engine has begun.
  first: 'event: ensemble_started',
  result: 'event: run_result',
  proof: [`"output":"${ANSWER}"`, 'event: tool_called'],
  tool: { ...ROUTES.invokeTool, path: routePath('invokeTool', TOOL), body: { input: INPUT } },
}

/** The same, with a submit and a request for the stream. */
export const TUTTI_TWO_REQUESTS: ServerProduct = {
  ...TUTTI,
  name: 'Tutti, two requests',
  submit: () => ({ ...ROUTES.submitRun, body: {} }),
  stream: (accepted) => ({
    method: 'GET',
    path: routePath('streamRunEvents', { runId: JSON.parse(accepted).runId }),
  }),
}

/** The same, without waiting for the disk at each commit. */
export const TUTTI_NORMAL: ServerProduct = {
  ...TUTTI,
  name: 'Tutti, normal sync',
  storage: 'the same, on disk soon after',
  command: tuttiCommand(CONFIG, { TUTTI_SQLITE_SYNC: 'normal' }),
}

/** Returns the limit of a durable server: one that only stores and streams the events of a recorded run. */
export function durableSketch(response: RecordedResponse): ServerProduct {
  const { tool: _tool, ...requests } = TUTTI
  return {
    ...requests,
    name: 'the least of a durable server',
    kind: 'limit',
    storage: 'every event, in SQLite, without an engine',
    command: ({ port, dataDir }) => {
      const file = join(dataDir, 'response.json')
      writeFileSync(file, JSON.stringify(response))
      return { file: process.execPath, args: [SKETCH, String(port), dataDir, file], env: QUIET }
    },
    readyPath: '/',
  }
}

/** Returns the start command of our server with a config file. */
export function tuttiCommand(
  config: string,
  env: Readonly<Record<string, string>> = {},
): (location: ServerLocation) => ServerCommand {
  return ({ port, dataDir }) => ({
    file: process.execPath,
    args: [PROGRAM, 'start'],
    env: { ...QUIET, ...env, PORT: String(port), TUTTI_DATA_DIR: dataDir, TUTTI_CONFIG: config },
  })
}

/** A server of a peer, as in `products.js` of its folder. */
interface PeerServer extends Omit<ServerProduct, 'command'> {
  /** Returns the command line for Node. @default `server.js` */
  readonly program?: (port: number) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Returns the servers of the peers. */
export async function peerServers(): Promise<readonly ServerProduct[]> {
  const products = await Promise.all(SERVER_PEERS.map(serversOf))
  return products.flat()
}

/** Returns the servers of a peer as products. Those that store runs are started with `IS_DURABLE`. */
async function serversOf(name: (typeof SERVER_PEERS)[number]): Promise<readonly ServerProduct[]> {
  const { folder, products } = await serverPeer(name)
  // NOTE: `products.js` has this shape.
  return (products as readonly PeerServer[]).map(
    ({ program = () => ['server.js'], env = {}, ...product }) => ({
      ...product,
      command: ({ port, dataDir }) => ({
        file: process.execPath,
        args: program(port),
        cwd: folder,
        env: {
          ...QUIET,
          ...(product.kind === 'durable peer' ? { IS_DURABLE: '1' } : {}),
          ...env,
          PORT: String(port),
          DATA_DIR: dataDir,
        },
      }),
    }),
  )
}
