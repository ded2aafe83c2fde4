/** The measured servers: their start commands, their requests for the same run, and what they store. */
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { routePath, ROUTES } from '@tutti/protocol'

import { ANSWER, INPUT, PROMPT, TOOL } from '../peers/servers/story.js'
import { installServerPeer } from './server-peers.ts'

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
  readonly kind: 'ours' | 'bare' | 'peer in memory' | 'durable peer'
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

/** Limit of active runs in every server that has such a limit. */
const MAX_RUNS = 50

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
const BARE = fileURLToPath(new URL('../fixtures/server-bare-http.ts', import.meta.url))
const CONFIG = fileURLToPath(new URL('../fixtures/server-order.config.mjs', import.meta.url))

/** Part of every frame of an event stream. */
const ANY_EVENT = 'data:'

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

/** Returns a server that only repeats the recorded responses of another one, to the same requests. */
export function bareServer(
  product: ServerProduct,
  responses: readonly RecordedResponse[],
): ServerProduct {
  const { tool: _tool, ...requests } = product
  return {
    ...requests,
    name: product.name.replace('Tutti', 'bare node:http'),
    kind: 'bare',
    storage: 'nothing: the limit of the machine',
    command: ({ port, dataDir }) => {
      const file = join(dataDir, 'responses.json')
      writeFileSync(file, JSON.stringify(responses))
      return { file: process.execPath, args: [BARE, String(port), file], env: QUIET }
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

/** Returns the installed peers; prints which are missing and why. */
export function peerServers(): readonly ServerProduct[] {
  return Object.entries(PEERS).flatMap(([name, productsIn]) => {
    const installed = installServerPeer(name)
    if ('folder' in installed) return productsIn(installed.folder)
    console.log(`Left out: ${name} could not be installed: ${installed.reason}`)
    return []
  })
}

/** Folder in `peers/servers` → its products, by the install folder. */
const PEERS: Readonly<Record<string, (folder: string) => readonly ServerProduct[]>> = {
  langgraph: langgraphServers,
  mastra: mastraServers,
  voltagent: voltagentServers,
}

/** Returns the start command of `server.js` of a peer. */
function peerCommand(cwd: string, kind: ServerProduct['kind']): ServerProduct['command'] {
  const durable = kind === 'durable peer' ? { IS_DURABLE: '1' } : {}
  return ({ port, dataDir }) => ({
    file: process.execPath,
    args: ['server.js'],
    cwd,
    env: { ...QUIET, ...durable, PORT: String(port), DATA_DIR: dataDir },
  })
}

function langgraphServers(cwd: string): readonly ServerProduct[] {
  const program = 'node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs'
  const options = ['--no-browser', '--no-reload', '--host', '127.0.0.1']
  // The update with the whole answer is the last of the run; the stream of the development server ends half a second
  // later.
  const stream = {
    first: ANY_EVENT,
    result: `"content":"${ANSWER}"`,
    proof: ['event: updates', '"content":"2 tea"'],
  }
  const library = {
    ...stream,
    readyPath: '/',
    submit: () => ({ method: 'POST', path: '/', body: { input: PROMPT } }),
  }
  return [
    {
      ...stream,
      name: 'LangGraph dev',
      kind: 'peer in memory',
      storage: 'in memory, to a file now and then',
      command: ({ port }) => ({
        file: process.execPath,
        args: [program, 'dev', ...options, '--port', `${port}`, '-n', `${MAX_RUNS}`],
        cwd,
        // This is its development server; its production server is a different program.
        env: { ...QUIET, NODE_ENV: 'development' },
      }),
      readyPath: '/ok',
      submit: () => ({
        method: 'POST',
        path: '/runs/stream',
        body: {
          assistant_id: 'buyer',
          input: { messages: [{ role: 'user', content: PROMPT }] },
          stream_mode: ['updates', 'messages-tuple'],
        },
      }),
    },
    {
      ...library,
      name: 'LangGraph on node:http',
      kind: 'peer in memory',
      storage: 'nothing',
      command: peerCommand(cwd, 'peer in memory'),
    },
    {
      ...library,
      name: 'LangGraph on node:http, durable',
      kind: 'durable peer',
      storage: 'checkpoints, in SQLite',
      command: peerCommand(cwd, 'durable peer'),
    },
  ]
}

function mastraServers(cwd: string): readonly ServerProduct[] {
  return [
    {
      name: 'Mastra',
      kind: 'peer in memory',
      storage: 'in memory',
      command: peerCommand(cwd, 'peer in memory'),
      readyPath: '/api/agents',
      submit: () => ({
        method: 'POST',
        path: '/api/agents/buyer/stream',
        body: { messages: PROMPT },
      }),
      first: ANY_EVENT,
      result: '"type":"finish",',
      proof: ['"result":"2 tea"', '" tea"'],
      tool: {
        method: 'POST',
        path: `/api/agents/buyer/tools/${TOOL.name}/execute`,
        body: { data: INPUT },
      },
    },
    {
      name: 'Mastra workflow, durable',
      kind: 'durable peer',
      storage: 'workflow snapshots, in libSQL',
      command: peerCommand(cwd, 'durable peer'),
      readyPath: '/api/agents',
      submit: () => ({
        method: 'POST',
        path: `/api/workflows/buy/stream?runId=${randomUUID()}`,
        body: { inputData: { prompt: PROMPT } },
      }),
      first: ANY_EVENT,
      result: '"type":"workflow-finish",',
      proof: ['"result":"2 tea"', ANSWER],
    },
  ]
}

function voltagentServers(cwd: string): readonly ServerProduct[] {
  const path = '/agents/buyer/stream'
  const stream = {
    readyPath: '/agents',
    first: ANY_EVENT,
    result: '"type":"finish",',
    proof: ['"output":"2 tea"', '" tea"'],
    tool: { method: 'POST', path: `/tools/${TOOL.name}/execute`, body: { input: INPUT } },
  }
  return [
    {
      ...stream,
      name: 'VoltAgent',
      kind: 'peer in memory',
      storage: 'in memory',
      command: peerCommand(cwd, 'peer in memory'),
      submit: () => ({ method: 'POST', path, body: { input: PROMPT } }),
    },
    {
      ...stream,
      name: 'VoltAgent, durable',
      kind: 'durable peer',
      storage: 'conversations, in libSQL',
      command: peerCommand(cwd, 'durable peer'),
      submit: () => {
        const memory = { userId: 'buyer', conversationId: randomUUID() }
        return { method: 'POST', path, body: { input: PROMPT, options: { memory } } }
      },
    },
  ]
}
