/** Runs in every state that the dashboard shows: ended, failed, in review, running, asleep. */
import { defineTool, Type } from '@tutti/core'
import { agent, ensemble, task } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { scriptedModel } from '@tutti/testing'

import type { DashboardOptions } from './open-dashboard.ts'
import type { TuttiClient } from '@tutti/client'

/** The served runs. */
export interface SampleRuns {
  readonly options: DashboardOptions
  /** Starts a run in each state and waits until all have reached it. */
  begin(
    client: TuttiClient,
  ): Promise<Readonly<Record<'ended' | 'failed' | 'held' | 'live' | 'asleep', string>>>
}

const ANSWER = [
  '# A brief',
  '',
  '- **First**, the notes say what they say.',
  '- Second, `code` is quoted, and [links](https://example.com/) lead away.',
  '',
  '> Nothing was added.',
].join('\n')

/** Creates the runs. */
export function sampleRuns(): SampleRuns {
  const measure = defineTool({
    name: 'measure',
    description: 'Counts the words of a text',
    input: Type.Object({
      text: Type.String({ description: 'The text' }),
      unit: Type.Optional(Type.Enum(['words', 'lines'])),
    }),
    execute: ({ text }) => ({ words: text.split(/\s+/).length, text }),
    output: Type.Object({ words: Type.Integer(), text: Type.String() }),
  })
  const rest = defineTool({
    name: 'rest',
    description: 'Takes as long as the run lets it',
    input: Type.Object({}),
    timeoutMs: 600_000,
    execute: (_, { signal }) =>
      new Promise<string>((resolve) => {
        signal.addEventListener('abort', () => resolve('stopped'))
      }),
  })
  const model = scriptedModel(({ messages, tools }: ModelRequest) => {
    const [tool] = tools
    if (tool === undefined || messages.at(-1)?.role === 'tool') return ANSWER
    const input = tool.name === 'measure' ? { text: 'one two three' } : {}
    return { text: 'One moment.', toolCalls: [{ name: tool.name, arguments: input }] }
  })
  const broken = scriptedModel(() => {
    throw new Error('The model fell over')
  })
  const finder = agent({ role: 'Finder', goal: 'Find', tools: [measure] })
  const left = task({ name: 'left', description: 'Look left for {topic}', agent: finder })
  const right = task({ name: 'right', description: 'Look right for {topic}', agent: finder })
  const write = task({
    name: 'write',
    description: 'Write on {topic}',
    context: [left, right],
    review: { prompt: 'Publish it?', timeoutMs: 3_600_000 },
  })
  const ended = task({ name: 'sum', description: 'Sum up {topic}', context: [left, right] })
  const wait = task({ name: 'wait', description: 'Wait for {topic}', tools: [rest] })
  const nap = task({
    name: 'nap',
    description: 'Sleep',
    handler: ({ sleep }) => sleep(86_400_000).then(() => 'Awake'),
  })
  return {
    options: {
      tools: [measure, rest],
      models: { small: model, large: model },
      ensembles: [
        ensemble({ name: 'summary', tasks: [left, right, ended], model }),
        ensemble({ name: 'reviewed', tasks: [left, right, write], model }),
        ensemble({ name: 'waiting', tasks: [wait], model }),
        ensemble({ name: 'broken', tasks: [left], model: broken }),
        ensemble({ name: 'nap', tasks: [nap] }),
      ],
    },
    async begin(client) {
      const start = async (name: string): Promise<string> => {
        const body = { ensemble: name, inputs: { topic: 'music' }, tags: { team: 'strings' } }
        return (await client.runs.submit(body)).runId
      }
      const [ended, failed, held, live, asleep] = await Promise.all(
        ['summary', 'broken', 'reviewed', 'waiting', 'nap'].map(start),
      )
      if (ended === undefined || failed === undefined) throw new Error('Nothing began')
      if (held === undefined || live === undefined || asleep === undefined) {
        throw new Error('Not everything began')
      }
      await Promise.all([
        client.runs.result(ended),
        client.runs.result(failed),
        until(client, held, 'review_requested'),
        until(client, asleep, 'review_requested'),
        until(client, live, 'llm_iteration_completed'),
      ])
      return { ended, failed, held, live, asleep }
    },
  }
}

async function until(
  client: TuttiClient,
  runId: string,
  type: 'review_requested' | 'llm_iteration_completed',
): Promise<void> {
  for await (const event of client.runs.events(runId, { events: [type] })) {
    if (event.type === type) return
  }
  throw new Error(`Run "${runId}" ended without ${type}`)
}
