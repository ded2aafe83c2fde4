/** Tests of event sizes in a run with long texts. */
import { defineTextTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { LABEL_LENGTH } from '../src/scope/task-scope.ts'
import { ensemble, task } from '../src/index.ts'
import { scriptedModel } from './testing.ts'

import type { RunEvent } from '@tutti/protocol'

const TURNS = 15

const TOPIC = 'long '.repeat(140_000)

/** Runs a task with a long description, a long tool result and many turns and tokens. */
async function eventsOfLongRun(): Promise<readonly RunEvent[]> {
  const result = 'r'.repeat(100_000)
  const read = defineTextTool({ name: 'read', description: 'Reads', execute: async () => result })
  const model = scriptedModel(({ messages }) => {
    const turns = messages.filter(({ role }) => role === 'assistant').length
    const text = 'word '.repeat(100)
    return turns < TURNS
      ? { text, toolCalls: [{ name: 'read', arguments: { input: 'all' } }] }
      : text
  })
  const story = task({ name: 'story', description: 'Write about {topic}', tools: [read] })
  const events: RunEvent[] = []
  await ensemble({ name: 'team', tasks: [story], model }).run(
    { topic: TOPIC },
    { onEvent: (event) => events.push(event) },
  )
  return events
}

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

describe('the events of a run with long texts', () => {
  it('[ENS-E23] The events of a run with long texts contain a long text once per task, and not once per token or turn', async () => {
    const events = await eventsOfLongRun()
    const tokens = events.filter(({ type }) => type === 'token')
    expect(tokens.length).toBeGreaterThan(100)
    expect(Math.max(...tokens.map(bytes))).toBeLessThan(LABEL_LENGTH + 1_000)
    // The description is in the start of the run and of the task, in its input and its end, and twice in its
    // prompt.
    // A result is in the event of its call and in the following turn.
    const results = 4 * TURNS * 100_000
    const small = events.length * (LABEL_LENGTH + 1_000)
    expect(events.map(bytes).reduce((a, b) => a + b)).toBeLessThan(
      8 * TOPIC.length + results + small,
    )
  })

  it('[ENS-E23] The events of a run with long texts show each message in full in the first turn that has it, and cut in later ones', async () => {
    const started = (await eventsOfLongRun()).filter(({ type }) => type === 'llm_iteration_started')
    const [first, second, third] = started
    if (first?.type !== 'llm_iteration_started') throw new Error('No turn began')
    if (second?.type !== 'llm_iteration_started') throw new Error('No second turn began')
    if (third?.type !== 'llm_iteration_started') throw new Error('No third turn began')
    expect(first.taskDescription).toBe(second.taskDescription)
    expect(first.messages[1]?.content).toContain(TOPIC)
    expect(second.messages[1]?.content?.length).toBeLessThan(LABEL_LENGTH + 100)
    expect(second.messages[1]?.content).toMatch(/\[truncated: \d+ characters in full\]$/)
    expect(second.messages[3]?.content).toHaveLength(100_000)
    expect(third.messages[3]?.content?.length).toBeLessThan(LABEL_LENGTH + 100)
    expect(third.messages[5]?.content).toHaveLength(100_000)
  })
})

describe('[ENS-L7] tool outputs of any size', () => {
  const MAX_EVENT_BYTES = 16_000_000

  async function runWith(
    output: string,
    { calls = 1, ...settings }: { calls?: number; maxToolOutputLength?: number } = {},
  ): Promise<{ events: readonly RunEvent[]; received: readonly number[] }> {
    const read = defineTextTool({ name: 'read', description: 'Reads', execute: () => output })
    const toolCalls = Array.from({ length: calls }, () => ({
      name: 'read',
      arguments: { input: 'all' },
    }))
    const model = scriptedModel([{ toolCalls }, 'done'])
    const tasks = [task({ description: 'Read', tools: [read] })]
    const events: RunEvent[] = []
    const result = await ensemble({ name: 'team', tasks, model, ...settings }).run(
      {},
      { onEvent: (event) => events.push(event) },
    )
    expect(result.status).toBe('COMPLETED')
    const received = model.requests[1]?.messages.filter(({ role }) => role === 'tool') ?? []
    return { events, received: received.map(({ content }) => content.length) }
  }

  it('Tool outputs of any size never end a run: the model continues with 100,000 characters of 30 MB', async () => {
    const { events, received } = await runWith('x'.repeat(30_000_000))
    expect(received).toEqual([100_000 + '\n[truncated: 30000000 characters in full]'.length])
    expect(Math.max(...events.map(bytes))).toBeLessThan(MAX_EVENT_BYTES)
  })

  it('Tool outputs of any size keep within the limit of events without a limit for the model', async () => {
    const { events, received } = await runWith('x'.repeat(30_000_000), { maxToolOutputLength: -1 })
    expect(received).toEqual([30_000_000])
    expect(Math.max(...events.map(bytes))).toBeLessThan(1_000_000)
  })

  it('Tool outputs of any size keep within the limit of events with many calls and characters of six bytes', async () => {
    const { events } = await runWith('\u0000'.repeat(300_000), {
      calls: 19,
      maxToolOutputLength: -1,
    })
    expect(Math.max(...events.map(bytes))).toBeLessThan(MAX_EVENT_BYTES)
  })
})
