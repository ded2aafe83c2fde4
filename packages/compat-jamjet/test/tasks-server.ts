/** A control API with agents for the `/tasks` wire: short, long, failing, careful. */
import { ensemble, priceList, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'

import { createWaitingTool } from '../../control-api/test/a2a-agent.ts'
import { reviewedTask, approvedTool } from '../../control-api/test/reviewed-ensembles.ts'
import {
  openServer,
  type TestServer,
  type TestServerOptions,
} from '../../control-api/test/open-server.ts'

/** Cost of each model call in US dollars. */
export const CALL_USD = 0.25

/** A server and the actions of tests. */
export interface TasksServer extends TestServer {
  /** Returns the address of one agent. */
  agent(name: string): string
  /** Sends a text unchanged, or a value as JSON. */
  send(method: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  /** Returns the newest run. */
  newest(): Promise<string>
}

/** Starts a server. `play` releases the long agent. */
export async function openTasksServer(options: TestServerOptions = {}): Promise<TasksServer> {
  const { tool: wait, release } = createWaitingTool()
  // The price is 1 dollar per million input tokens.
  const usage = { inputTokens: CALL_USD * 1_000_000, outputTokens: 0 }
  const priced = { provider: 'scripted', name: 'priced' }
  const echo = scriptedModel(({ messages }) => {
    const asked = messages.find(({ role }) => role === 'user')?.content ?? ''
    return { text: `Heard ${/<<(.*)>>/s.exec(asked)?.[1]}`, usage }
  }, priced)
  const long = scriptedModel(
    ({ messages, tools }) =>
      tools.length === 0 || messages.at(-1)?.role === 'tool'
        ? { text: 'Played to the end', usage }
        : { text: 'One moment', toolCalls: [{ name: 'wait', arguments: {} }], usage },
    priced,
  )
  const ensembles = [
    ensemble({
      name: 'echo',
      model: echo,
      tasks: [task({ name: 'listen', description: 'Say <<{text}>>' })],
    }),
    ensemble({
      name: 'long',
      model: long,
      tasks: [
        task({ name: 'tune', description: 'Tune' }),
        task({ name: 'play', description: 'Play', tools: [wait] }),
      ],
    }),
    ensemble({
      name: 'flop',
      model: scriptedModel(() => new Error('The string broke')),
      tasks: [task({ name: 'try', description: 'Try' })],
    }),
    reviewedTask(),
    approvedTool(),
  ]
  const prices = priceList({ 'scripted:priced': { inputPerMillion: 1, outputPerMillion: 0 } })
  const api = await openServer({ ensembles, ...options, limits: { prices, ...options.limits } })
  return {
    ...api,
    play: release,
    agent: (name) => `${api.url}/agents/${name}`,
    send: (method, body, headers = {}) =>
      fetch(`${api.url}${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async newest() {
      const { runs } = await api.runs.list({ limit: 1, offset: 0 })
      return runs[0]?.runId ?? ''
    },
    async [Symbol.asyncDispose]() {
      release()
      await api[Symbol.asyncDispose]()
    },
  }
}

/** Returns a send body with a text and further fields. */
export function sendBody(text: string, params: object = {}, envelope: object = {}) {
  return { ...envelope, params: { message: { parts: [{ text }] }, ...params } }
}

/** Returns the lines of a stream. */
export async function linesOf(response: Response): Promise<readonly Record<string, unknown>[]> {
  const text = await response.text()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Record<string, unknown> => JSON.parse(line))
}
