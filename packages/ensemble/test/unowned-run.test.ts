/** Commands for an unowned run, and the run that then continues with them. */
import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import {
  agent,
  applyToUnowned,
  ensemble,
  modelCatalog,
  task,
  type AppliedCommand,
  type Ensemble,
  type ReviewAnswer,
  type RunStep,
  type TaskDefinition,
} from '../src/index.ts'
import { endOf, joined, startKept, stateOf, type KeptRun } from './kept-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, expectWireEvents, nextTurn } from './watch-run.ts'

import type {
  DirectiveInput,
  ReviewVerdict,
  RunCommandKind,
  RunCommandOf,
  RunEventOf,
} from '@tutti/protocol'

const yes = { action: 'CONTINUE' } as const

const models = modelCatalog({
  fast: scriptedModel(() => 'fast'),
  slow: scriptedModel(() => 'slow'),
})

const review = { timeoutMs: 1_000, onTimeout: 'FAIL' } as const

const order = defineTool({
  name: 'order',
  description: 'Orders',
  input: Type.Object({ count: Type.Number() }),
  requireApproval: true,
  execute: ({ count }) => `ordered ${count}`,
})

const WORKS: Record<string, Partial<TaskDefinition>> = {
  BEFORE_EXECUTION: { beforeReview: review },
  DURING_EXECUTION: { tools: [order] },
  AFTER_EXECUTION: { review: review },
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

/** A run that was let go at the review of its first task. */
async function restAt(
  team: Ensemble,
): Promise<KeptRun & { request: RunEventOf<'review_requested'> }> {
  const run = startKept(team, { models })
  await nextTurn()
  run.letGo()
  const [request] = eventsOf(run.events, 'review_requested')
  if (request === undefined) throw new Error('No review is open')
  return { ...joined(run), request }
}

/** Applies commands to a run that has these steps. */
function rest(team: Ensemble, steps: readonly RunStep[], clock: FakeClock = fakeClock()) {
  const send = <K extends RunCommandKind>(
    command: RunCommandOf<K>,
    request?: RunEventOf<'review_requested'>,
  ) => {
    const findRequest = () => Promise.resolve(request)
    return applyToUnowned(team, { runId: 'run-1', steps, models, clock, findRequest }, command)
  }
  return {
    cancel: (how: Partial<RunCommandOf<'cancel'>> = {}) => send({ kind: 'cancel', ...how }),
    switchModel: (model: string, how: { readonly taskName?: string } = {}) =>
      send({ kind: 'switch_model', model, ...how }),
    inject: (directive: DirectiveInput) => send({ kind: 'inject', directive }),
    decide: (request: RunEventOf<'review_requested'>, decision: ReviewVerdict) =>
      send({ kind: 'decide', reviewId: request.reviewId, decision }, request),
  }
}

/** Goes on with what a run left, and the commands that were applied to it. */
async function goOn(team: Ensemble, from: KeptRun, ...commands: readonly AppliedCommand[]) {
  const whole = { ...joined(from), steps: [...from.steps] }
  for (const { events, steps } of commands) {
    whole.events.push(...events)
    whole.steps.push(...steps)
  }
  const run = startKept(team, { from: whole, models })
  const result = await endOf(run)
  const all = joined(whole, run)
  expectWireEvents(all.events)
  return { result, all, run }
}

const kinds = ({ events, steps }: AppliedCommand): readonly string[] => [
  ...events.map(({ type }) => type),
  ...steps.map(({ kind }) => kind),
]

const withoutTimes = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, inner: unknown) => (/(Id|At|Ms)$/.test(key) ? 0 : inner)))

describe.each(['BEFORE_EXECUTION', 'DURING_EXECUTION', 'AFTER_EXECUTION'] as const)(
  '[ENS-S4] a decision of an unowned run, of a review %s',
  (timing) => {
    const team = teamOf(WORKS[timing] ?? {})
    const edit: ReviewAnswer =
      timing === 'DURING_EXECUTION'
        ? { action: 'EDIT', input: { count: '7' } }
        : { action: 'EDIT', text: 'Edited' }

    it.each<ReviewAnswer>([
      { ...yes, decidedBy: 'Grace', id: 'd1' },
      edit,
      { action: 'REJECT', feedback: 'No' },
      { action: 'EXIT_EARLY' },
    ])('is what a running engine writes, and comes to the same: %j', async (decision) => {
      const from = await restAt(team)
      const applied = await rest(team, from.steps).decide(from.request, decision)
      const atRest = await goOn(team, from, applied)
      const live = startKept(team, { from, models })
      await live.handle.decide(from.request.reviewId, decision)
      const result = await endOf(live)
      const told = eventsOf(live.events, 'review_decided').slice(0, 1)
      const kept = live.steps.filter(({ kind }) => kind === 'gate_closed').slice(0, 1)
      expect(withoutTimes(applied.events)).toEqual(withoutTimes(told))
      expect(withoutTimes(applied.steps)).toEqual(withoutTimes(kept))
      expect(atRest.result.status).toBe(result.status)
      expect(atRest.result.output).toBe(result.output)
      expect(atRest.result.error?.message).toBe(result.error?.message)
    })

    it('is refused when it does not fit, as in a run', async () => {
      const from = await restAt(team)
      const bad: ReviewAnswer =
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

    it('is refused when the review is closed, or its time is over', async () => {
      const from = await restAt(team)
      const { steps, request } = from
      const applied = await rest(team, steps).decide(request, { ...yes, id: 'd1' })
      const later = rest(team, [...steps, ...applied.steps])
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
      'is refused when the run is cancelled in mode %s, and its review closes so',
      async (mode) => {
        const from = await restAt(team)
        const cancel = await rest(team, from.steps).cancel({ mode })
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

describe('[ENS-S4] a decision of an unowned run', () => {
  const team = teamOf({ output: Type.Object({ n: Type.Number() }), review: review })

  it('of an output with a schema is read by it', async () => {
    const model = scriptedModel(() => '{"n": 1}')
    const typed = ensemble({ ...team, model })
    const from = await restAt(typed)
    const { request } = from
    const atRest = rest(typed, from.steps)
    await expect(atRest.decide(request, { action: 'EDIT', text: 'none' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    const applied = await atRest.decide(request, { action: 'EDIT', text: '{"n": 2}' })
    const { result } = await goOn(typed, from, applied)
    expect(result.tasks[0]).toMatchObject({ structured: { n: 2 } })
  })

  it('is not found when the steps do not know it; those that are open are named', async () => {
    const from = await restAt(teamOf({ review: review }))
    const request = { ...from.request, reviewId: 'review-x' }
    await expect(rest(team, from.steps).decide(request, yes)).rejects.toMatchObject({
      code: 'REVIEW_NOT_FOUND',
      message: `No review has the id "review-x". Open: [${from.request.reviewId}]`,
    })
  })

  it('that ends the run closes all other reviews', async () => {
    const model = scriptedModel(() => 'done')
    const two = ensemble({
      name: 'two',
      workflow: 'PARALLEL',
      tasks: ['a', 'b'].map((name) => task({ name, description: name, model, review: review })),
    })
    const from = await restAt(two)
    const [, other] = eventsOf(from.events, 'review_requested')
    const applied = await rest(two, from.steps).decide(from.request, { action: 'EXIT_EARLY' })
    if (other === undefined) throw new Error('No second review')
    await expect(
      rest(two, [...from.steps, ...applied.steps]).decide(other, yes),
    ).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
    const { result, all } = await goOn(two, from, applied)
    expect(result.status).toBe('COMPLETED')
    expect(eventsOf(all.events, 'review_withdrawn')).toMatchObject([{ reviewId: other.reviewId }])
    expect(stateOf(all).reviews.filter(({ status }) => status === 'OPEN')).toEqual([])
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
      if (second === undefined) throw new Error('No second review')
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

describe('[ENS-S4] other commands for an unowned run', () => {
  const team = teamOf({ review: review })

  it('a switch counts from the next call on, and knows the one before it', async () => {
    const from = await restAt(team)
    const first = await rest(team, from.steps).switchModel('slow')
    expect(first.reply).toEqual({ model: 'slow', previousModel: 'scripted:model' })
    expect(kinds(first)).toEqual(['model_switched', 'model_switched'])
    const second = await rest(team, [...from.steps, ...first.steps]).switchModel('fast', {
      taskName: 'last',
    })
    expect(second.reply).toEqual({ model: 'fast', previousModel: 'slow' })
    const decided = await rest(team, from.steps).decide(from.request, yes)
    const { result } = await goOn(team, from, first, second, decided)
    expect(result.output).toBe('fast')
  })

  it('a switch away from a model that the catalog does not have any more is none', async () => {
    const gone: RunStep = { kind: 'model_switched', model: 'gone', runMs: 5 }
    const { reply, steps } = await rest(team, [gone]).switchModel('fast')
    expect(reply).toEqual({ model: 'fast', previousModel: 'gone' })
    expect(steps).toEqual([{ kind: 'model_switched', model: 'fast', runMs: 5 }])
  })

  it('a directive is told with the next call', async () => {
    const from = await restAt(team)
    const applied = await rest(team, from.steps).inject({ content: 'Hurry', id: 'd1' })
    expect(kinds(applied)).toEqual(['directive_active', 'directive_taken'])
    expect(applied.reply).toEqual({ id: 'd1' })
    expect(applied.events).toMatchObject([{ directiveId: 'd1' }])
    const decided = await rest(team, from.steps).decide(from.request, yes)
    const { result } = await goOn(team, from, applied, decided)
    expect(result.output).toBe('did Do last told')
    await expect(
      rest(team, [...from.steps, ...applied.steps]).inject({ content: 'Hurry', id: 'd1' }),
    ).rejects.toThrow('the id "d1" is already used')
  })

  it.each([
    ['INVALID_MODEL', () => rest(team, []).switchModel('none')],
    ['BAD_REQUEST', () => rest(team, []).switchModel('fast', { taskName: 'nobody' })],
    ['BAD_REQUEST', () => rest(team, []).inject({ content: ' ' })],
    ['BAD_REQUEST', () => rest(team, []).inject({ content: 'x', to: 'nobody' })],
  ] as const)('one that does not fit is refused with %s', async (code, send) => {
    await expect(send()).rejects.toMatchObject({ code })
  })

  it('a cancel is asked once; it can only become harder', async () => {
    const boundary = await rest(team, []).cancel({ mode: 'boundary' })
    expect(kinds(await rest(team, boundary.steps).cancel({ mode: 'boundary' }))).toEqual([])
    const abort = await rest(team, boundary.steps).cancel()
    expect(abort.steps).toEqual([{ kind: 'cancel_asked', mode: 'abort', runMs: 0 }])
    expect(kinds(await rest(team, abort.steps).cancel({ mode: 'boundary' }))).toEqual([])
  })

  it('the working time of the run does not pass', async () => {
    const clock = fakeClock()
    const atRest = rest(team, [{ kind: 'run_begun', startedAt: 0, runMs: 70 }], clock)
    void clock.advance(1_000)
    const { steps } = await atRest.cancel()
    expect(steps).toMatchObject([{ runMs: 70 }])
  })
})

describe('[ENS-S4] [ENS-E11] a run that has not begun', () => {
  const team = teamOf({})
  const nothing: KeptRun = { events: [], steps: [] }

  it('begins with the commands that it was given before', async () => {
    const told = await rest(team, []).inject({ content: 'Hurry' })
    const { result, run } = await goOn(
      team,
      nothing,
      told,
      await rest(team, told.steps).switchModel('fast', { taskName: 'last' }),
    )
    expect(run.events[0]?.type).toBe('ensemble_started')
    expect(run.events.map(({ type }) => type)).not.toContain('run_resumed')
    expect(result.tasks.map(({ output }) => output)).toEqual(['did Do it told', 'fast'])
    expect(run.steps[0]?.kind).toBe('run_begun')
  })

  it.each(['abort', 'boundary'] as const)('is cancelled from the start (%s)', async (mode) => {
    const { result, run } = await goOn(team, nothing, await rest(team, []).cancel({ mode }))
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
