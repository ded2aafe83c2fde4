/** Wishes for a run that nobody executes, and the run that then goes on with them. */
import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import {
  agent,
  ensemble,
  modelCatalog,
  runAtRest,
  task,
  type Ensemble,
  type GateDecision,
  type RunStep,
  type TaskDefinition,
  type Wished,
} from '../src/index.ts'
import { endOf, joined, startKept, stateOf, type KeptRun } from './kept-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, expectWireEvents, nextTurn } from './watch-run.ts'

import type { RunEventOf } from '@tutti/protocol'

const yes = { action: 'CONTINUE' } as const

const models = modelCatalog({
  fast: scriptedModel(() => 'fast'),
  slow: scriptedModel(() => 'slow'),
})

const gate = { timeoutMs: 1_000, onTimeout: 'FAIL' } as const

const order = defineTool({
  name: 'order',
  description: 'Orders',
  input: Type.Object({ count: Type.Number() }),
  requireApproval: true,
  execute: ({ count }) => `ordered ${count}`,
})

const WORKS: Record<string, Partial<TaskDefinition>> = {
  BEFORE_EXECUTION: { beforeReview: gate },
  DURING_EXECUTION: { tools: [order] },
  AFTER_EXECUTION: { review: gate },
}

function teamOf(work: Partial<TaskDefinition>): Ensemble {
  const model = scriptedModel(({ messages, tools }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return last.content
    const told = /Hurry/.test(JSON.stringify(messages)) ? ' told' : ''
    return tools.length > 0
      ? { toolCalls: [{ name: 'order', arguments: { count: 1 } }] }
      : `did ${/(?<=## Task\n).*/.exec(messages[1]?.content ?? '')?.[0]}${told}`
  })
  const worker = agent({ role: 'Worker', goal: 'Work' })
  return ensemble({
    name: 'team',
    model,
    tasks: [
      // NOTE: only settings that need no type of an output.
      task({ ...(work as TaskDefinition), name: 'work', description: 'Do it', agent: worker }),
      task({ name: 'last', description: 'Do last', context: ['work'] }),
    ],
  })
}

/** A run that was let go at the gate of its first task. */
async function restAt(
  team: Ensemble,
): Promise<KeptRun & { request: RunEventOf<'review_requested'> }> {
  const run = startKept(team, { models })
  await nextTurn()
  run.letGo()
  const [request] = eventsOf(run.events, 'review_requested')
  if (request === undefined) throw new Error('No gate is open')
  return { ...joined(run), request }
}

function rest(team: Ensemble, steps: readonly RunStep[], clock: FakeClock = fakeClock()) {
  return runAtRest(team, { runId: 'run-1', steps, models, clock })
}

/** Goes on with what a run left, and a wish that was written to it. */
async function goOn(team: Ensemble, from: KeptRun, ...wishes: readonly Wished<unknown>[]) {
  const whole = { ...joined(from), steps: [...from.steps] }
  for (const { events, steps } of wishes) {
    whole.events.push(...events)
    whole.steps.push(...steps)
  }
  const run = startKept(team, { from: whole, models })
  const result = await endOf(run)
  const all = joined(whole, run)
  expectWireEvents(all.events)
  return { result, all, run }
}

const kinds = ({ events, steps }: Wished<unknown>): readonly string[] => [
  ...events.map(({ type }) => type),
  ...steps.map(({ kind }) => kind),
]

const withoutTimes = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, inner: unknown) => (/(Id|At|Ms)$/.test(key) ? 0 : inner)))

describe.each(['BEFORE_EXECUTION', 'DURING_EXECUTION', 'AFTER_EXECUTION'] as const)(
  '[S4] a decision at rest of a gate %s',
  (timing) => {
    const team = teamOf(WORKS[timing] ?? {})
    const edit: GateDecision =
      timing === 'DURING_EXECUTION'
        ? { action: 'EDIT', input: { count: '7' } }
        : { action: 'EDIT', text: 'Edited' }

    it.each<GateDecision>([
      { ...yes, decidedBy: 'Grace', id: 'd1' },
      edit,
      { action: 'REJECT', feedback: 'No' },
      { action: 'EXIT_EARLY' },
    ])('is what a running engine writes, and comes to the same: %j', async (decision) => {
      const from = await restAt(team)
      const wished = await rest(team, from.steps).decide(from.request, decision)
      const atRest = await goOn(team, from, wished)
      const live = startKept(team, { from, models })
      await live.handle.decide(from.request.reviewId, decision)
      const result = await endOf(live)
      const told = eventsOf(live.events, 'review_decided').slice(0, 1)
      const kept = live.steps.filter(({ kind }) => kind === 'gate_closed').slice(0, 1)
      expect(withoutTimes(wished.events)).toEqual(withoutTimes(told))
      expect(withoutTimes(wished.steps)).toEqual(withoutTimes(kept))
      expect(atRest.result.status).toBe(result.status)
      expect(atRest.result.output).toBe(result.output)
      expect(atRest.result.error?.message).toBe(result.error?.message)
    })

    it('is refused when it does not fit, as in a run', async () => {
      const from = await restAt(team)
      const bad: GateDecision =
        timing === 'DURING_EXECUTION'
          ? { action: 'EDIT', input: { count: 'x' } }
          : { action: 'EDIT', input: 1 }
      const live = startKept(team, { from, models })
      const said = await live.handle
        .decide(from.request.reviewId, bad)
        .catch((error: unknown) => String(error))
      await expect(rest(team, from.steps).decide(from.request, bad)).rejects.toThrow(
        String(said).replace(/^\w+: /, ''),
      )
    })

    it('is refused when the gate is closed, or its time is over', async () => {
      const from = await restAt(team)
      const { steps, request } = from
      const wished = await rest(team, steps).decide(request, { ...yes, id: 'd1' })
      const later = rest(team, [...steps, ...wished.steps])
      await expect(later.decide(request, yes)).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
      expect(kinds(await later.decide(request, { ...yes, id: 'd1' }))).toEqual([])
      const overAt = Date.UTC(2026, 0, 1) + request.timeoutMs
      await rest(team, steps, fakeClock(overAt - 1)).decide(request, yes)
      await expect(rest(team, steps, fakeClock(overAt)).decide(request, yes)).rejects.toMatchObject(
        { code: 'REVIEW_RESOLVED' },
      )
      const endless = { ...request, timeoutMs: 0 }
      await rest(team, steps, fakeClock(overAt)).decide(endless, yes)
    })

    it.each(['abort', 'boundary'] as const)(
      'is refused when the run is cancelled in mode %s, and its gate closes so',
      async (mode) => {
        const from = await restAt(team)
        const cancel = rest(team, from.steps).cancel({ mode })
        expect(kinds(cancel)).toEqual(['run_cancelling', 'cancel_asked'])
        const deciding = rest(team, [...from.steps, ...cancel.steps]).decide(from.request, yes)
        if (mode === 'abort' || timing === 'BEFORE_EXECUTION') {
          await expect(deciding).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
          const { result, all } = await goOn(team, from, cancel)
          expect(result.status).toBe('CANCELLED')
          expect(eventsOf(all.events, 'review_withdrawn')).toHaveLength(1)
        } else {
          const { result } = await goOn(team, from, cancel, await deciding)
          expect(result.status).toBe('CANCELLED')
          expect(result.tasks).toHaveLength(1)
        }
      },
    )
  },
)

describe('[S4] a decision at rest', () => {
  const team = teamOf({ output: Type.Object({ n: Type.Number() }), review: gate })

  it('of an output with a schema is read by it', async () => {
    const model = scriptedModel(() => '{"n": 1}')
    const typed = ensemble({ ...team, model })
    const from = await restAt(typed)
    const { request } = from
    const atRest = rest(typed, from.steps)
    await expect(atRest.decide(request, { action: 'EDIT', text: 'none' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    const wished = await atRest.decide(request, { action: 'EDIT', text: '{"n": 2}' })
    const { result } = await goOn(typed, from, wished)
    expect(result.tasks[0]).toMatchObject({ structured: { n: 2 } })
  })

  it('is not found when the steps do not know it; those that are open are named', async () => {
    const from = await restAt(teamOf({ review: gate }))
    const request = { ...from.request, reviewId: 'review-x' }
    await expect(rest(team, from.steps).decide(request, yes)).rejects.toMatchObject({
      code: 'REVIEW_NOT_FOUND',
      message: `No review has the id "review-x". Open: [${from.request.reviewId}]`,
    })
  })

  it('that ends the run closes all other gates', async () => {
    const model = scriptedModel(() => 'done')
    const two = ensemble({
      name: 'two',
      workflow: 'PARALLEL',
      tasks: ['a', 'b'].map((name) => task({ name, description: name, model, review: gate })),
    })
    const from = await restAt(two)
    const [, other] = eventsOf(from.events, 'review_requested')
    const wished = await rest(two, from.steps).decide(from.request, { action: 'EXIT_EARLY' })
    if (other === undefined) throw new Error('No second gate')
    await expect(
      rest(two, [...from.steps, ...wished.steps]).decide(other, yes),
    ).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
    const { result, all } = await goOn(two, from, wished)
    expect(result.status).toBe('COMPLETED')
    expect(eventsOf(all.events, 'review_withdrawn')).toMatchObject([{ reviewId: other.reviewId }])
    expect(stateOf(all).gates.filter(({ status }) => status === 'OPEN')).toEqual([])
  })

  it.each(['HIERARCHICAL', 'PARALLEL'] as const)(
    'of a delegated task is read by the tools of its worker (%s)',
    async (workflow) => {
      const worker = agent({ role: 'W', goal: 'Work', tools: [order] })
      const delegate = (count: number) => ({
        toolCalls: Array.from({ length: count }, (_, index) => ({
          name: 'delegate_task',
          arguments: { agentRole: 'W', taskDescription: `Do ${index}` },
        })),
      })
      const boss = scriptedModel(({ messages }) =>
        messages.some(({ role }) => role === 'tool') ? 'managed' : delegate(2),
      )
      const model = scriptedModel(({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? (messages.at(-1)?.content ?? '')
          : { toolCalls: [{ name: 'order', arguments: { count: 1 } }] },
      )
      const leads = agent({ role: 'B', goal: 'Lead', allowDelegation: true })
      const of = ensemble({
        name: 'managed',
        workflow,
        ...(workflow === 'HIERARCHICAL' ? { managerModel: boss } : {}),
        tasks: [
          ...(workflow === 'HIERARCHICAL'
            ? []
            : [task({ name: 'lead', description: 'Lead', agent: leads, model: boss })]),
          task({
            name: 'w',
            description: 'Do',
            agent: worker,
            model,
            context: workflow === 'HIERARCHICAL' ? [] : ['lead'],
          }),
        ],
      })
      const from = await restAt(of)
      const second = eventsOf(from.events, 'review_requested')[1]
      expect(second?.taskName).toMatch(/#2$/)
      if (second === undefined) throw new Error('No second gate')
      const atRest = rest(of, from.steps)
      await expect(
        atRest.decide(second, { action: 'EDIT', input: { count: 'x' } }),
      ).rejects.toMatchObject({ code: 'BAD_REQUEST' })
      const decision = { action: 'EDIT', input: { count: 9 } } as const
      expect(kinds(await atRest.decide(second, decision))).toEqual([
        'review_decided',
        'gate_closed',
      ])
      await expect(atRest.decide({ ...second, toolName: 'other' }, decision)).rejects.toMatchObject(
        { code: 'BAD_REQUEST' },
      )
    },
  )
})

describe('[S4] other wishes at rest', () => {
  const team = teamOf({ review: gate })

  it('a switch counts from the next call on, and knows the one before it', async () => {
    const from = await restAt(team)
    const first = rest(team, from.steps).switchModel('slow')
    expect(first.value).toEqual({ model: 'slow', previousModel: 'scripted:model' })
    expect(kinds(first)).toEqual(['model_switched', 'model_switched'])
    const second = rest(team, [...from.steps, ...first.steps]).switchModel('fast', { task: 'last' })
    expect(second.value).toEqual({ model: 'fast', previousModel: 'slow' })
    const decided = await rest(team, from.steps).decide(from.request, yes)
    const { result } = await goOn(team, from, first, second, decided)
    expect(result.output).toBe('fast')
  })

  it('a switch away from a model that the catalog does not have any more is none', () => {
    const gone: RunStep = { kind: 'model_switched', model: 'gone', runMs: 5 }
    const { value, steps } = rest(team, [gone]).switchModel('fast')
    expect(value).toEqual({ model: 'fast', previousModel: 'gone' })
    expect(steps).toEqual([{ kind: 'model_switched', model: 'fast', runMs: 5 }])
  })

  it('a directive is told with the next call', async () => {
    const from = await restAt(team)
    const wished = rest(team, from.steps).inject({ content: 'Hurry', id: 'd1' })
    expect(kinds(wished)).toEqual(['directive_active', 'directive_taken'])
    const activeAt = new Date(wished.value.createdAt).toISOString()
    expect(wished.events).toMatchObject([{ directiveId: 'd1', activeAt }])
    const decided = await rest(team, from.steps).decide(from.request, yes)
    const { result } = await goOn(team, from, wished, decided)
    expect(result.output).toBe('did Do last told')
    expect(() =>
      rest(team, [...from.steps, ...wished.steps]).inject({ content: 'Hurry', id: 'd1' }),
    ).toThrow('the id "d1" is taken')
  })

  it.each([
    ['INVALID_MODEL', () => rest(team, []).switchModel('none')],
    ['INVALID_MODEL', () => runAtRest(team, { runId: 'r', steps: [] }).switchModel('fast')],
    ['BAD_REQUEST', () => rest(team, []).switchModel('fast', { task: 'nobody' })],
    ['BAD_REQUEST', () => rest(team, []).inject(' ')],
    ['BAD_REQUEST', () => rest(team, []).inject({ content: 'x', to: 'nobody' })],
  ] as const)('one that does not fit is refused with %s', (code, wish) => {
    expect(wish).toThrow(expect.objectContaining({ code }))
  })

  it('a cancel is asked once; it can only become harder', () => {
    const boundary = rest(team, []).cancel({ mode: 'boundary' })
    expect(kinds(rest(team, boundary.steps).cancel({ mode: 'boundary' }))).toEqual([])
    const abort = rest(team, boundary.steps).cancel()
    expect(abort.steps).toEqual([{ kind: 'cancel_asked', mode: 'abort', runMs: 0 }])
    expect(kinds(rest(team, abort.steps).cancel({ mode: 'boundary' }))).toEqual([])
  })

  it('the working time of the run stands still', () => {
    const clock = fakeClock()
    const atRest = rest(team, [{ kind: 'run_begun', startedAt: 0, runMs: 70 }], clock)
    void clock.advance(1_000)
    expect(atRest.cancel().steps).toMatchObject([{ runMs: 70 }])
  })
})

describe('[S4] [E11] a run that has not begun', () => {
  const team = teamOf({})
  const nothing: KeptRun = { events: [], steps: [] }

  it('begins with the wishes that it was given before', async () => {
    const told = rest(team, []).inject('Hurry')
    const { result, run } = await goOn(
      team,
      nothing,
      told,
      rest(team, told.steps).switchModel('fast', { task: 'last' }),
    )
    expect(run.events[0]?.type).toBe('ensemble_started')
    expect(run.events.map(({ type }) => type)).not.toContain('run_resumed')
    expect(result.tasks.map(({ output }) => output)).toEqual(['did Do it told', 'fast'])
    expect(run.steps[0]?.kind).toBe('run_begun')
  })

  it.each(['abort', 'boundary'] as const)('is cancelled from the start (%s)', async (mode) => {
    const { result, run } = await goOn(team, nothing, rest(team, []).cancel({ mode }))
    expect(result).toMatchObject({ status: 'CANCELLED', tasks: [] })
    expect(run.events.map(({ type }) => type)).toEqual([
      'ensemble_started',
      'task_skipped',
      'task_skipped',
      'ensemble_completed',
      'run_result',
    ])
  })
})
