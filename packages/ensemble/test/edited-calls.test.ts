/** Tests of what a model learns after a reviewer has changed the input of its tool call. */
import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, task, type Ensemble } from '../src/index.ts'
import { startRecorded, type RecordedRun } from './recorded-run.ts'
import { scriptedModel, scriptedReviewer } from './testing.ts'
import { eventsOf, nextTurn, watchRun } from './watch-run.ts'

const NOTE =
  'A reviewer changed the input of this call to {"to":"A","amount":100}. The result is of the changed input.'

/** Returns a team whose agent pays 1 to A, and then answers with its last message. */
function paying(execute: () => string | Promise<string> = () => 'ok'): Ensemble {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays',
    input: Type.Object({ to: Type.String(), amount: Type.Number() }),
    requireApproval: true,
    idempotent: false,
    execute,
  })
  const model = scriptedModel(({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return last.content
    return { toolCalls: [{ name: 'pay', arguments: { to: 'A', amount: 1 } }] }
  })
  return ensemble({
    name: 'pay',
    model,
    tasks: [task({ name: 'only', description: 'Pay', tools: [pay] })],
  })
}

const EDIT = { action: 'EDIT', input: { to: 'A', amount: 100 } } as const

/** Returns the recorded run up to and including the step of this kind. */
function cutAfter({ events, steps }: RecordedRun, kind: string): RecordedRun {
  const at = steps.findIndex((step) => step.kind === kind)
  expect(at).toBeGreaterThan(0)
  return { events, steps: steps.slice(0, at + 1) }
}

describe('[ENS-G14] after an EDIT of a tool call', () => {
  it('The model, the event of the call and the conversation have the new input after an EDIT', async () => {
    const run = watchRun(paying(), { reviewer: scriptedReviewer([EDIT]) })
    expect(await run.ended).toMatchObject({ output: `${NOTE}\n\nok` })
    expect(eventsOf(run.events, 'tool_called')).toMatchObject([
      { toolArguments: '{"to":"A","amount":1}', toolResult: `${NOTE}\n\nok` },
    ])
    const [, second] = eventsOf(run.events, 'llm_iteration_started')
    expect(second?.messages.at(-1)).toMatchObject({ role: 'tool', content: `${NOTE}\n\nok` })
  })

  it('The model gets the new input of an EDIT also if the tool fails', async () => {
    const failing = paying(() => {
      throw new Error('No money')
    })
    const run = watchRun(failing, { reviewer: scriptedReviewer([EDIT]) })
    expect(await run.ended).toMatchObject({ output: `${NOTE}\n\nError: No money` })
  })

  it.each(['gate_closed', 'tool_ended', 'model_turn'])(
    'A run that is resumed after %s gives the model the same text for an edited call',
    async (kind) => {
      const first = startRecorded(paying(), { reviewer: scriptedReviewer([EDIT]) })
      await first.handle.result
      const reviewer = scriptedReviewer([kind === 'model_turn' ? EDIT : { action: 'REJECT' }])
      const second = startRecorded(paying(), { from: cutAfter(first, kind), reviewer })
      expect(await second.handle.result).toMatchObject({ output: `${NOTE}\n\nok` })
    },
  )

  it('The model gets the new input of an edited call whose outcome is unknown', async () => {
    const first = startRecorded(paying(), { reviewer: scriptedReviewer([EDIT]) })
    await first.handle.result
    const from = cutAfter(first, 'tool_begun')
    const second = startRecorded(paying(), {
      from,
      reviewer: scriptedReviewer([{ action: 'REJECT' }]),
    })
    const { output } = await second.handle.result
    expect(output).toContain(NOTE)
    expect(output).toContain('its outcome is unknown')
  })

  it('The model gets no note after CONTINUE, or about the result of a client tool', async () => {
    const continued = watchRun(paying(), { reviewer: scriptedReviewer([{ action: 'CONTINUE' }]) })
    expect(await continued.ended).toMatchObject({ output: 'ok' })
    const team = ensemble({
      name: 'client',
      model: scriptedModel(({ messages }) => {
        const last = messages.at(-1)
        return last?.role === 'tool'
          ? last.content
          : { toolCalls: [{ name: 'look', arguments: {} }] }
      }),
      tasks: [task({ description: 'Look' })],
    })
    const run = watchRun(team, {
      decidable: true,
      clientTools: [{ name: 'look', inputSchema: Type.Object({}) }],
    })
    await nextTurn()
    const [review] = run.handle.snapshot().reviews
    await run.handle.decide(review?.reviewId ?? '', { action: 'EDIT', input: 'rain' })
    expect(await run.ended).toMatchObject({ output: 'rain' })
  })
})
