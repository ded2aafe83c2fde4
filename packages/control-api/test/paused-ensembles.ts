/** Ensembles for dashboards, which stop at each model and tool call until the test releases them. */
import { defineTool, Type } from '@tutti/core'
import { agent, ensemble, task, type TaskDefinition } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'
import { scriptedModel, type ScriptedReply } from '@tutti/testing'

import type { RunEvent } from '@tutti/protocol'
import type { TestServer } from './open-server.ts'

/** Stops work until the test has seen it. */
export class Stops {
  readonly #waiting: (() => void)[] = []
  #watcher: (() => void) | undefined
  #open = false

  /** Waits to be released; returns at once after `openAll`. */
  async stop(signal: AbortSignal): Promise<void> {
    if (this.#open) return
    const { promise, resolve } = Promise.withResolvers<void>()
    signal.addEventListener('abort', () => {
      resolve()
    })
    this.#waiting.push(resolve)
    this.#watcher?.()
    await promise
  }

  /** Resolves when a call waits. */
  async reached(): Promise<void> {
    while (this.#waiting.length === 0) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#watcher = resolve
      await promise
    }
  }

  /** Releases the call that has waited longest. */
  next(): void {
    this.#waiting.shift()?.()
  }

  /** Releases all calls, now and in future. */
  openAll(): void {
    this.#open = true
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}

type Script = (turn: number) => string | ScriptedReply | Error

/** Model that answers by the number of the turn in the conversation. */
export function turnModel(script: Script, stops?: Stops): ChatModel {
  const model = scriptedModel(({ messages }) =>
    script(messages.filter(({ role }) => role === 'assistant').length),
  )
  if (stops === undefined) return model
  return {
    provider: model.provider,
    name: model.name,
    async *stream(request, context) {
      await stops.stop(context.signal)
      yield* model.stream(request, context)
    },
  }
}

/** Returns a call of the tool `look` or `fall`. */
export function call(name: string, args: object = {}): ScriptedReply {
  return { text: `I ${name}`, toolCalls: [{ name, arguments: args }] }
}

/** A tool that works, and one that fails. */
export function tools(stops?: Stops) {
  const look = defineTool({
    name: 'look',
    description: 'Looks',
    input: Type.Object({ where: Type.Optional(Type.String()) }),
    output: Type.Object({ seen: Type.String() }),
    async execute({ where = 'around' }, { signal }) {
      await stops?.stop(signal)
      return { seen: where }
    },
  })
  const fall = defineTool({
    name: 'fall',
    description: 'Fails',
    input: Type.Object({}),
    execute: () => {
      throw new Error('The floor is wet')
    },
  })
  return [look, fall]
}

/** Two tasks in sequence; the first uses tools that work and fail. */
export function duo(stops?: Stops) {
  const scout = task({
    name: 'scout',
    description: 'Scout the {place}',
    expectedOutput: 'What there is',
    agent: agent({
      role: 'Scout',
      goal: 'See everything',
      background: 'Grew up outside',
      tools: tools(stops),
    }),
    model: turnModel(
      (turn) =>
        [call('look', { where: 'north' }), call('fall')][turn] ?? 'There is a river with trees',
      stops,
    ),
  })
  const report = task({
    name: 'report',
    description: 'Report on the {place}',
    agent: agent({ role: 'Reporter', goal: 'Say it' }),
    context: [scout],
    model: turnModel(() => 'A river runs through it', stops),
  })
  return ensemble({ name: 'duo', tasks: [scout, report], workflow: 'SEQUENTIAL' })
}

/** One task that answers at once, with the settings of the test. */
export function solo(name: string, definition: Partial<TaskDefinition> = {}) {
  return ensemble({
    name,
    model: turnModel(() => 'Done as asked'),
    tasks: [
      task({
        name: 'work',
        description: `Work on ${name}`,
        agent: agent({ role: 'Worker', goal: 'Work' }),
        ...definition,
      }),
    ],
  })
}

/** Submits a run and returns its id. */
export async function submit(api: TestServer, name: string): Promise<string> {
  const inputs = name === 'duo' ? { place: 'valley' } : {}
  const response = await api.post('/api/runs', { ensemble: name, inputs })
  // NOTE: a refused submission has no id, and the test that waits for it fails.
  const { runId } = (await response.json()) as { readonly runId: string }
  return runId
}

/** Resolves when the log of a run has a number of events of a type, because the engine runs ahead of its log. */
export async function waitForLog(
  api: TestServer,
  runId: string,
  { type, count = 1 }: { readonly type: RunEvent['type']; readonly count?: number },
): Promise<void> {
  let seen = 0
  for await (const events of api.runs.follow({ runId, from: 0 })) {
    seen += events.filter((event) => event.type === type).length
    if (seen >= count) return
  }
  throw new Error(`Run ${runId} ended with ${seen} of ${count} events ${type}`)
}
