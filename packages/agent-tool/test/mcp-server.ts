/** An MCP server for tests, of both protocol eras, with tools that answer, ask, fail or hang. */
import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import process from 'node:process'

import { inputRequired, Server } from '@modelcontextprotocol/server'

import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  Tool,
} from '@modelcontextprotocol/server'

type Input = Readonly<Record<string, unknown>>
type Answer = CallToolResult | InputRequiredResult
type Body = (input: Input, context: ServerContext) => Answer | Promise<Answer>

/** State of the server that tests read and control. */
export interface McpServerState {
  /** Number of calls by tool name. */
  readonly calls: Map<string, number>
  /** Inputs of the cancelled calls, as JSON. */
  readonly stopped: string[]
  /** Tests emit `go` to start the next step of `steps`; the server emits `stopped` when a call is cancelled. */
  readonly events: EventEmitter
}

/** Creates the state that all instances of one server share. */
export function createMcpServerState(): McpServerState {
  return { calls: new Map(), stopped: [], events: new EventEmitter() }
}

type Form = Parameters<typeof inputRequired.elicit>[0]

const BODIES: Readonly<Record<string, (state: McpServerState) => Body>> = {
  echo: () => (input) => text(JSON.stringify(input)),
  sum:
    () =>
    ({ a, b }) =>
      text(String(Number(a) + Number(b))),
  structured: () => () => ({ content: [], structuredContent: { n: 1 } }),
  media: () => () => ({
    content: [
      { type: 'text', text: 'look' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ],
  }),
  fail: () => () => ({ ...text('no such file'), isError: true }),
  throw: () => () => {
    throw new Error('the tool broke')
  },
  meta:
    () =>
    (_, { mcpReq }) =>
      text(JSON.stringify(mcpReq._meta)),
  usage: () => async (_, context) => {
    await progress(context, {
      progress: 1,
      _meta: { 'https://tutti.dev/a2a/usage/v1': { cost_usd: 0.25, total_tokens: 10 } },
    })
    return { ...text('done'), _meta: { cost_usd: 0.5 } }
  },
  pid: () => () => text(String(process.pid)),
  spawn: () => () => text(String(spawn('sleep', ['1000'], { stdio: 'ignore' }).pid)),
  environment: () => () => text(Object.keys(process.env).toSorted().join(' ')),
  noise: () => () => {
    process.stdout.write('a log line on stdout\n')
    return text('after the noise')
  },
  crash: () => () => {
    process.stderr.write('out of luck\n', () => process.exit(3))
    return new Promise(() => undefined)
  },
  long:
    () =>
    ({ bytes }) =>
      text('x'.repeat(Number(bytes))),
  burst: () => async (_, context) => {
    for (const step of [1, 2, 3]) await progress(context, { progress: step, total: 3 })
    return text('done')
  },
  steps: (state) => async (_, context) => {
    for (const step of [1, 2, 3]) {
      await once(state.events, 'go')
      await progress(context, { progress: step, total: 3, message: `step ${step}` })
    }
    await once(state.events, 'go')
    return text('done')
  },
  wait: (state) => async (input, context) => {
    const { signal } = context.mcpReq
    const isStopped = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        state.stopped.push(JSON.stringify(input))
        state.events.emit('stopped')
        resolve()
      })
    })
    await progress(context, { progress: 0, message: 'waiting' })
    await isStopped
    return text('stopped')
  },
  stopped: (state) => () => text(state.stopped.join(' ')),
  ask:
    () =>
    (_, { mcpReq }) =>
      askOrReturnAnswer(mcpReq.inputResponses, {
        message: 'What is your name?',
        requestedSchema: {
          type: 'object',
          properties: { name: { type: 'string' } },
          required: ['name'],
        },
      }),
  // The handler of `tools/call` answers this tool, because it needs the server.
  'ask-aside': () => () => text(''),
  agree:
    () =>
    (_, { mcpReq }) =>
      askOrReturnAnswer(mcpReq.inputResponses, {
        message: 'Continue?',
        requestedSchema: { type: 'object', properties: {} },
      }),
  form:
    () =>
    (_, { mcpReq }) =>
      askOrReturnAnswer(mcpReq.inputResponses, {
        message: 'Who are you?',
        requestedSchema: {
          type: 'object',
          properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
          required: ['name', 'age'],
        },
      }),
  'ask-url': () => () =>
    inputRequired({
      inputRequests: {
        page: inputRequired.elicitUrl({ message: 'Log in', url: 'https://login.test/' }),
      },
    }),
  'ask-model': () => () =>
    inputRequired({
      inputRequests: {
        said: inputRequired.createMessage({
          messages: [{ role: 'user', content: { type: 'text', text: 'hi' } }],
          maxTokens: 5,
        }),
      },
    }),
  later:
    (state) =>
    (_, { mcpReq }) =>
      mcpReq.requestState() === 'again' || state.calls.get('later') === 3
        ? text(`after ${state.calls.get('later')} calls`)
        : inputRequired({ requestState: 'once' }),
}

const SCHEMAS: Readonly<Record<string, Partial<Tool>>> = {
  sum: {
    inputSchema: {
      type: 'object',
      properties: { a: { type: 'number' }, b: { type: 'number' } },
      required: ['a', 'b'],
    },
  },
  echo: {
    inputSchema: {
      type: 'object',
      properties: { message: { type: 'string' }, times: { type: 'integer' } },
      required: ['message'],
    },
  },
  structured: {
    outputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  },
}

/** Creates an instance of the server with all tools or the named ones. */
export function createMcpServer(
  state: McpServerState,
  names: readonly string[] = Object.keys(BODIES),
): Server {
  const server = new Server({ name: 'test', version: '1.0.0' }, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({
    tools: names.map((name) => ({ name, inputSchema: { type: 'object' }, ...SCHEMAS[name] })),
  }))
  server.setRequestHandler('tools/call', ({ params: { name, arguments: input = {} } }, context) => {
    const body = BODIES[name]
    if (body === undefined || !names.includes(name)) throw new Error(`no tool ${name}`)
    state.calls.set(name, (state.calls.get(name) ?? 0) + 1)
    return name === 'ask-aside' ? askAside(server) : body(state)(input, context)
  })
  return server
}

function text(content: string): CallToolResult {
  return { content: [{ type: 'text', text: content }] }
}

/** Asks a question that is not linked to a request, as legacy servers do. */
async function askAside(server: Server): Promise<CallToolResult> {
  const answer = await server.elicitInput({
    message: 'And you?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
  })
  return text(JSON.stringify(answer))
}

/** Asks a question, or returns its answer as text when there is one. */
function askOrReturnAnswer(
  responses: ServerContext['mcpReq']['inputResponses'],
  form: Form,
): Answer {
  const answer = responses?.['answer']
  if (answer !== undefined) return text(JSON.stringify(answer))
  return inputRequired({ inputRequests: { answer: inputRequired.elicit(form) } })
}

async function progress(
  { mcpReq: { _meta: meta, notify } }: ServerContext,
  params: { readonly progress: number; readonly [name: string]: unknown },
): Promise<void> {
  const progressToken = meta?.progressToken
  if (progressToken === undefined) return
  await notify({ method: 'notifications/progress', params: { ...params, progressToken } })
}
