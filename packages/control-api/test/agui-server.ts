/** Serves the ensembles of the AG-UI tests, and reads runs with the client of AG-UI, which verifies every event. */
import { HttpAgent, type BaseEvent, type RunAgentParameters } from '@ag-ui/client'
import { defineTool, Type } from '@tutti/core'
import { ensemble, task, type EnsembleDefinition } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { scriptedModel } from '@tutti/testing'

import { createWaitingTool, singer, type Untyped } from './a2a-agent.ts'
import { THOUGHT } from './chat-ensembles.ts'
import { openServer, type TestServer, type TestServerOptions } from './open-server.ts'
import { approvedTool, reviewedTask } from './reviewed-ensembles.ts'

/** A server, and the tool of its ensemble `waiter`. */
export interface AguiServer extends TestServer {
  /** Resolves when the tool of `waiter` has been called. */
  readonly hasCalled: Promise<void>
  /** Ends the calls of that tool. */
  release(): void
  /** Returns a client of an agent. */
  agent(name: string, options?: AguiAgentOptions): RecordingAgent
}

export interface AguiAgentOptions {
  readonly query?: string
  readonly headers?: Record<string, string>
}

/** Client that records the events of its runs, after their verification. */
export class RecordingAgent extends HttpAgent {
  events: Untyped[] = []

  /** Sends a message of the user, and reads the run to its end. Returns its events. */
  async say(text: string, parameters: RunAgentParameters = {}): Promise<Untyped[]> {
    this.addMessage({ id: crypto.randomUUID(), role: 'user', content: text })
    return this.read(parameters)
  }

  /** Reads a run to its end. Returns its events. */
  async read(parameters: RunAgentParameters = {}): Promise<Untyped[]> {
    this.events = []
    await this.runAgent(parameters, {
      onEvent: ({ event }: { event: BaseEvent }) => {
        this.events.push(event)
      },
    })
    return this.events
  }

  /** Adds the result of a tool that the client executes. */
  addResult(toolCallId: string, result: { readonly content: string; readonly error?: string }) {
    this.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId, ...result })
  }

  /** Texts of the assistant in the conversation. */
  get texts(): readonly string[] {
    return this.messages.flatMap(({ role, content }) =>
      role === 'assistant' && typeof content === 'string' ? [content] : [],
    )
  }
}

/** Starts the server. */
export async function aguiServer(options: TestServerOptions = {}): Promise<AguiServer> {
  const waiting = createWaitingTool()
  const server = await openServer({
    ensembles: [singer(), reviewedTask(), approvedTool(), team(), ...soloists(waiting.tool)],
    ...options,
  })
  return {
    ...server,
    hasCalled: waiting.begun,
    release: waiting.release,
    agent: (name, { query = '', headers = {} } = {}) =>
      new RecordingAgent({ url: `${server.url}/agui/${name}${query}`, headers }),
    async [Symbol.asyncDispose]() {
      waiting.release()
      // Runs that wait for a person would be handed over, which is slow.
      const open = await server.runs.reviews.open()
      const runIds = [...new Set(open.map(({ runId }) => runId))]
      await Promise.allSettled(runIds.map((runId) => server.runs.send(runId, { kind: 'cancel' })))
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Model that answers with the messages that it got. */
function echoModel() {
  return scriptedModel(({ messages }) =>
    messages.map(({ role, content }) => `${role}: ${content ?? ''}`).join('\n'),
  )
}

/** Ensembles of one task, by the way in which they end. */
function soloists(wait: ReturnType<typeof createWaitingTool>['tool']) {
  const one = (name: string, more: Pick<EnsembleDefinition, 'model' | 'budget' | 'onUnfinished'>) =>
    ensemble({ name, tasks: [task({ name: 'work', description: 'Do {what}' })], ...more })
  const refusal = { text: '', finishReason: 'refusal', refusal: 'I will not' } as const
  const cut = { text: 'Half of', finishReason: 'length' } as const
  const usage = { inputTokens: 90, outputTokens: 90 }
  return [
    ensemble({
      name: 'echo',
      tasks: [task({ name: 'repeat', description: 'Repeat' })],
      model: echoModel(),
    }),
    ensemble({
      name: 'waiter',
      tasks: [task({ name: 'wait', description: 'Wait for {what}', tools: [wait] })],
      model: scriptedModel(callOnce('wait', 'It came')),
    }),
    one('guide', { model: scriptedModel(callEveryTool) }),
    one('thinker', { model: scriptedModel(() => THOUGHT) }),
    one('refuser', { model: scriptedModel(() => refusal) }),
    one('stumbler', { model: scriptedModel(() => new Error('The model fell over')) }),
    one('cut', { model: scriptedModel(() => cut), onUnfinished: { length: 'accept' } }),
    one('rambler', { model: scriptedModel([cut, ' the truth']) }),
    one('spender', {
      model: scriptedModel(() => ({ toolCalls: [{ name: 'none', arguments: {} }], usage })),
      budget: { maxTokens: 10 },
    }),
  ]
}

/** Calls all tools at once, then repeats their results. */
function callEveryTool({ messages, tools }: ModelRequest) {
  const results = messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
  if (results.length > 0) return results.join(' and ')
  return { toolCalls: tools.map(({ name }) => ({ name, arguments: { of: name } })) }
}

/** Ensemble of two tasks; the second calls a tool. */
function team() {
  const tune = defineTool({
    name: 'tune',
    description: 'Tunes to a frequency',
    input: Type.Object({ hertz: Type.Number() }),
    execute: ({ hertz }) => `Tuned to ${hertz}`,
  })
  const prepare = task({ name: 'prepare', description: 'Prepare {song}' })
  const play = task({
    name: 'play',
    description: 'Play {song}',
    context: [prepare],
    tools: [tune],
  })
  const model = scriptedModel((request: ModelRequest) =>
    request.tools.length === 0 ? 'Prepared' : callOnce('tune', 'It was played')(request),
  )
  return ensemble({ name: 'team', tasks: [prepare, play], model })
}

function callOnce(name: string, text: string) {
  return ({ messages }: Pick<ModelRequest, 'messages'>) => {
    if (messages.at(-1)?.role === 'tool') return text
    return { text: 'One moment', toolCalls: [{ name, arguments: { hertz: 440 } }] }
  }
}
