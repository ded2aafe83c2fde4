/** Tests of commands for an unowned run, which then continues with them. */
import { defineTool, Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import {
  agent,
  ensemble,
  modelCatalog,
  task,
  type Ensemble,
  type ReviewAnswer,
  type TaskDefinition,
} from '../src/index.ts'
import { applyToUnowned, type AppliedCommand, type RunStep } from '../src/internal.ts'
import {
  runToEnd,
  joinRuns,
  startRecorded,
  rebuildState,
  type RecordedRun,
} from './recorded-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, expectWireEvents, nextTurn } from './watch-run.ts'

import type { RunEventOf } from '@tutti/protocol'
import type {
  DirectiveInput,
  ReviewVerdict,
  RunCommandKind,
  RunCommandOf,
} from '@tutti/protocol/internal'

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

function createTeam(work: Partial<TaskDefinition>): Ensemble {
  const model = scriptedModel(({ messages, tools }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return last.content
    const suffix = /Hurry/.test(JSON.stringify(messages)) ? ' fast' : ''
    return tools.length > 0
      ? { toolCalls: [{ name: 'order', arguments: { count: 1 } }] }
      : `did ${/(?<=## Task\n).*/.exec(messages[1]?.content ?? '')?.[0]}${suffix}`
  })
  const worker = agent({ role: 'Worker', goal: 'Work' })
  return ensemble({
    name: 'team',
    model,
    tasks: [
      // NOTE: only settings that do not depend on the type of the output.
      task({ ...(work as TaskDefinition), name: 'work', description: 'Do it', agent: worker }),
      task({ name: 'last', description: 'Do last', context: ['work'] }),
    ],
  })
}

/** Returns a run that was released at the review of its first task. */
async function releaseAtReview(
  team: Ensemble,
): Promise<RecordedRun & { request: RunEventOf<'review_requested'> }> {
  const run = startRecorded(team, { models })
  await nextTurn()
  run.release()
  const [request] = eventsOf(run.events, 'review_requested')
  if (request === undefined) throw new Error('No review is open')
  return { ...joinRuns(run), request }
}

/** Returns functions that apply commands to a run with these steps. */
function commandsFor(team: Ensemble, steps: readonly RunStep[], clock: FakeClock = fakeClock()) {
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

/** Resumes a run with the commands that were applied to it. */
async function resumeWith(
  team: Ensemble,
  from: RecordedRun,
  ...commands: readonly AppliedCommand[]
) {
  const whole = { ...joinRuns(from), steps: [...from.steps] }
  for (const { events, steps } of commands) {
    whole.events.push(...events)
    whole.steps.push(...steps)
  }
  const run = startRecorded(team, { from: whole, models })
  const result = await runToEnd(run)
  const all = joinRuns(whole, run)
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
  '[ENS-S4] a decision for an unowned run with a review %s',
  (timing) => {
    const team = createTeam(WORKS[timing] ?? {})
    const edit: ReviewAnswer =
      timing === 'DURING_EXECUTION'
        ? { action: 'EDIT', input: { count: '7' } }
        : { action: 'EDIT', text: 'Edited' }

    it.each<ReviewAnswer>([
      { ...yes, decidedBy: 'Grace', id: 'd1' },
      edit,
      { action: 'REJECT', feedback: 'No' },
      { action: 'EXIT_EARLY' },
    ])(
      'A decision for an unowned run has the same record as a running engine and the same outcome: %j',
      async (decision) => {
        const from = await releaseAtReview(team)
        const applied = await commandsFor(team, from.steps).decide(from.request, decision)
        const unowned = await resumeWith(team, from, applied)
        const live = startRecorded(team, { from, models })
        await live.handle.decide(from.request.reviewId, decision)
        const result = await runToEnd(live)
        const decided = eventsOf(live.events, 'review_decided').slice(0, 1)
        const closed = live.steps.filter(({ kind }) => kind === 'gate_closed').slice(0, 1)
        expect(withoutTimes(applied.events)).toEqual(withoutTimes(decided))
        expect(withoutTimes(applied.steps)).toEqual(withoutTimes(closed))
        expect(unowned.result.status).toBe(result.status)
        expect(unowned.result.output).toBe(result.output)
        expect(unowned.result.error?.message).toBe(result.error?.message)
      },
    )

    it('A decision for an unowned run with a review is rejected in the same way as in a run if it is invalid', async () => {
      const from = await releaseAtReview(team)
      const bad: ReviewAnswer =
        timing === 'DURING_EXECUTION'
          ? { action: 'EDIT', input: { count: 'x' } }
          : { action: 'EDIT', input: 1 }
      const live = startRecorded(team, { from, models })
      const rejection = await live.handle
        .decide(from.request.reviewId, bad)
        .catch((error: unknown) => String(error))
      await expect(commandsFor(team, from.steps).decide(from.request, bad)).rejects.toThrow(
        String(rejection).replace(/^\w+: /, ''),
      )
    })

    it('A decision for an unowned run with a review is rejected if the review is closed or has timed out', async () => {
      const from = await releaseAtReview(team)
      const { steps, request } = from
      const applied = await commandsFor(team, steps).decide(request, { ...yes, id: 'd1' })
      const later = commandsFor(team, [...steps, ...applied.steps])
      await expect(later.decide(request, yes)).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
      expect(kinds(await later.decide(request, { ...yes, id: 'd1' }))).toEqual([])
      const overAt = Date.UTC(2026, 0, 1) + request.timeoutMs
      await commandsFor(team, steps, fakeClock(overAt - 1)).decide(request, yes)
      await expect(
        commandsFor(team, steps, fakeClock(overAt)).decide(request, yes),
      ).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
      const endless = { ...request, timeoutMs: 0 }
      await commandsFor(team, steps, fakeClock(overAt)).decide(endless, yes)
    })

    it.each(['abort', 'boundary'] as const)(
      'A decision for an unowned run with a review is rejected if the run is cancelled in mode %s and closes the review',
      async (mode) => {
        const from = await releaseAtReview(team)
        const cancel = await commandsFor(team, from.steps).cancel({ mode })
        expect(kinds(cancel)).toEqual(['run_cancelling', 'cancel_asked'])
        const deciding = commandsFor(team, [...from.steps, ...cancel.steps]).decide(
          from.request,
          yes,
        )
        if (mode === 'abort' || timing === 'BEFORE_EXECUTION') {
          await expect(deciding).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
          const { result, all } = await resumeWith(team, from, cancel)
          expect(result.status).toBe('CANCELLED')
          expect(eventsOf(all.events, 'review_withdrawn')).toHaveLength(1)
        } else {
          const { result } = await resumeWith(team, from, cancel, await deciding)
          expect(result.status).toBe('CANCELLED')
          expect(result.tasks).toHaveLength(1)
        }
      },
    )
  },
)

describe('[ENS-S4] a decision for an unowned run', () => {
  const team = createTeam({ output: Type.Object({ n: Type.Number() }), review: review })

  it('A decision for an unowned run is parsed by the schema of the output', async () => {
    const model = scriptedModel(() => '{"n": 1}')
    const typed = ensemble({ ...team, model })
    const from = await releaseAtReview(typed)
    const { request } = from
    const unowned = commandsFor(typed, from.steps)
    await expect(unowned.decide(request, { action: 'EDIT', text: 'none' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    const applied = await unowned.decide(request, { action: 'EDIT', text: '{"n": 2}' })
    const { result } = await resumeWith(typed, from, applied)
    expect(result.tasks[0]).toMatchObject({ structured: { n: 2 } })
  })

  it('A decision for an unowned run is rejected for an unknown review, with the open ones', async () => {
    const from = await releaseAtReview(createTeam({ review: review }))
    const request = { ...from.request, reviewId: 'review-x' }
    await expect(commandsFor(team, from.steps).decide(request, yes)).rejects.toMatchObject({
      code: 'REVIEW_NOT_FOUND',
      message: `No review has the id "review-x". Open: [${from.request.reviewId}]`,
    })
  })

  it('A decision that ends an unowned run closes all other reviews', async () => {
    const model = scriptedModel(() => 'done')
    const two = ensemble({
      name: 'two',
      workflow: 'PARALLEL',
      tasks: ['a', 'b'].map((name) => task({ name, description: name, model, review: review })),
    })
    const from = await releaseAtReview(two)
    const [, other] = eventsOf(from.events, 'review_requested')
    const applied = await commandsFor(two, from.steps).decide(from.request, {
      action: 'EXIT_EARLY',
    })
    if (other === undefined) throw new Error('No second review')
    await expect(
      commandsFor(two, [...from.steps, ...applied.steps]).decide(other, yes),
    ).rejects.toMatchObject({ code: 'REVIEW_RESOLVED' })
    const { result, all } = await resumeWith(two, from, applied)
    expect(result.status).toBe('COMPLETED')
    expect(eventsOf(all.events, 'review_withdrawn')).toMatchObject([{ reviewId: other.reviewId }])
    expect(rebuildState(all).reviews.filter(({ status }) => status === 'OPEN')).toEqual([])
  })

  it.each(['HIERARCHICAL', 'PARALLEL'] as const)(
    'A decision about a delegated task is checked by the tools of its worker (%s)',
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
      const from = await releaseAtReview(of)
      const second = eventsOf(from.events, 'review_requested')[1]
      expect(second?.taskName).toMatch(/#2$/)
      if (second === undefined) throw new Error('No second review')
      const unowned = commandsFor(of, from.steps)
      await expect(
        unowned.decide(second, { action: 'EDIT', input: { count: 'x' } }),
      ).rejects.toMatchObject({ code: 'BAD_REQUEST' })
      const decision = { action: 'EDIT', input: { count: 9 } } as const
      expect(kinds(await unowned.decide(second, decision))).toEqual([
        'review_decided',
        'gate_closed',
      ])
      await expect(
        unowned.decide({ ...second, toolName: 'other' }, decision),
      ).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    },
  )
})

describe('[ENS-S4] other commands for an unowned run', () => {
  const team = createTeam({ review: review })

  it('Other commands for an unowned run include a switch, which applies from the next call on and returns the previous model', async () => {
    const from = await releaseAtReview(team)
    const first = await commandsFor(team, from.steps).switchModel('slow')
    expect(first.reply).toEqual({ model: 'slow', previousModel: 'scripted:model' })
    expect(kinds(first)).toEqual(['model_switched', 'model_switched'])
    const second = await commandsFor(team, [...from.steps, ...first.steps]).switchModel('fast', {
      taskName: 'last',
    })
    expect(second.reply).toEqual({ model: 'fast', previousModel: 'slow' })
    const decided = await commandsFor(team, from.steps).decide(from.request, yes)
    const { result } = await resumeWith(team, from, first, second, decided)
    expect(result.output).toBe('fast')
  })

  it('Other commands for an unowned run include a switch from a model that is no longer in the catalog', async () => {
    const gone: RunStep = { kind: 'model_switched', model: 'gone', runMs: 5 }
    const { reply, steps } = await commandsFor(team, [gone]).switchModel('fast')
    expect(reply).toEqual({ model: 'fast', previousModel: 'gone' })
    expect(steps).toEqual([{ kind: 'model_switched', model: 'fast', runMs: 5 }])
  })

  it('Other commands for an unowned run include a directive, which the next call delivers', async () => {
    const from = await releaseAtReview(team)
    const applied = await commandsFor(team, from.steps).inject({ content: 'Hurry', id: 'd1' })
    expect(kinds(applied)).toEqual(['directive_active', 'directive_taken'])
    expect(applied.reply).toEqual({ id: 'd1' })
    expect(applied.events).toMatchObject([{ directiveId: 'd1' }])
    const decided = await commandsFor(team, from.steps).decide(from.request, yes)
    const { result } = await resumeWith(team, from, applied, decided)
    expect(result.output).toBe('did Do last fast')
    await expect(
      commandsFor(team, [...from.steps, ...applied.steps]).inject({ content: 'Hurry', id: 'd1' }),
    ).rejects.toThrow('the id "d1" is already used')
  })

  it.each([
    ['INVALID_MODEL', () => commandsFor(team, []).switchModel('none')],
    ['BAD_REQUEST', () => commandsFor(team, []).switchModel('fast', { taskName: 'nobody' })],
    ['BAD_REQUEST', () => commandsFor(team, []).inject({ content: ' ' })],
    ['BAD_REQUEST', () => commandsFor(team, []).inject({ content: 'x', to: 'nobody' })],
  ] as const)(
    'Other commands for an unowned run are rejected with %s if they are invalid',
    async (code, send) => {
      await expect(send()).rejects.toMatchObject({ code })
    },
  )

  it('Other commands for an unowned run include a cancel, which is recorded once and can only escalate', async () => {
    const boundary = await commandsFor(team, []).cancel({ mode: 'boundary' })
    expect(kinds(await commandsFor(team, boundary.steps).cancel({ mode: 'boundary' }))).toEqual([])
    const abort = await commandsFor(team, boundary.steps).cancel()
    expect(abort.steps).toEqual([
      { kind: 'cancel_asked', mode: 'abort', cause: 'SERVER', runMs: 0 },
    ])
    expect(kinds(await commandsFor(team, abort.steps).cancel({ mode: 'boundary' }))).toEqual([])
  })

  it('Other commands for an unowned run do not advance the working time of the run', async () => {
    const clock = fakeClock()
    const unowned = commandsFor(
      team,
      [{ kind: 'run_begun', startedAt: 0, runMs: 70, tasks: [] }],
      clock,
    )
    void clock.advance(1_000)
    const { steps } = await unowned.cancel()
    expect(steps).toMatchObject([{ runMs: 70 }])
  })
})

describe('[ENS-S4] [ENS-E11] a run that has not begun', () => {
  const team = createTeam({})
  const nothing: RecordedRun = { events: [], steps: [] }

  it('A run that has not begun starts with the commands that it received before', async () => {
    const injected = await commandsFor(team, []).inject({ content: 'Hurry' })
    const { result, run } = await resumeWith(
      team,
      nothing,
      injected,
      await commandsFor(team, injected.steps).switchModel('fast', { taskName: 'last' }),
    )
    expect(run.events[0]?.type).toBe('ensemble_started')
    expect(run.events.map(({ type }) => type)).not.toContain('run_resumed')
    expect(result.tasks.map(({ output }) => output)).toEqual(['did Do it fast', 'fast'])
    expect(run.steps[0]?.kind).toBe('run_begun')
  })

  it.each(['abort', 'boundary'] as const)(
    'A run that has not begun is cancelled from the start (%s)',
    async (mode) => {
      const { result, run } = await resumeWith(
        team,
        nothing,
        await commandsFor(team, []).cancel({ mode }),
      )
      expect(result).toMatchObject({ status: 'CANCELLED', tasks: [] })
      expect(run.events.map(({ type }) => type)).toEqual([
        'ensemble_started',
        'task_skipped',
        'task_skipped',
        'ensemble_completed',
        'run_result',
      ])
    },
  )
})

describe('a decision for a task that another task added', () => {
  const Line = Type.Object({ line: Type.String() })
  const reviewed = { description: 'Write {item}', output: Line, review: true } as const
  const line = scriptedModel(() => '{"line":"x"}')
  const edit = (text: string) => ({ action: 'EDIT', text }) as const

  it('[ENS-P8] A task of an item that waits for a review is decided without an owner, and its parent continues', async () => {
    const write = task({ ...reviewed, name: 'write', forEach: { over: 'items' } })
    const last = task({
      name: 'last',
      description: 'End',
      context: [write],
      handler: ({ context }) => context[0]?.output ?? '',
    })
    const team = ensemble({ name: 'team', model: line, tasks: [write, last] })
    const inputs = { items: '["a"]' }
    const first = startRecorded(team, { inputs })
    await nextTurn()
    await nextTurn()
    expect(first.waits.count).toBe(1)
    first.release()
    const [request] = eventsOf(first.events, 'review_requested')
    if (request === undefined) throw new Error('No review is open')
    expect(request.taskName).toBe('write/0')
    const { decide, switchModel } = commandsFor(team, first.steps)
    await expect(decide(request, edit('no JSON'))).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    expect((await switchModel('slow', { taskName: 'write/0' })).events).toHaveLength(1)
    const { events, steps } = await decide(request, edit('{"line":"y"}'))
    const from = { events: [], steps: [...first.steps, ...steps] }
    const count = line.requests.length
    const second = startRecorded(team, { inputs, from })
    expect(await second.handle.result).toMatchObject({ output: '[{"line":"y"}]' })
    expect(line.requests).toHaveLength(count)
    expectWireEvents([...first.events, ...events, ...second.events])
  })

  it('An edit of the output of a task that reduces outputs is checked without an owner, with its own schema', async () => {
    const join = task({ ...reviewed, name: 'join', description: 'Join {items}' })
    const write = task({
      name: 'write',
      description: 'Write {item}',
      handler: () => 'x',
      forEach: { over: 'items', collect: { reduce: join, maxTokens: 10 } },
    })
    const team = ensemble({ name: 'team', model: line, tasks: [write] })
    const inputs = { items: '["a"]' }
    const first = startRecorded(team, { inputs })
    await nextTurn()
    await nextTurn()
    await nextTurn()
    first.release()
    const [request] = eventsOf(first.events, 'review_requested')
    if (request === undefined) throw new Error('No review is open')
    expect(request.taskName).toBe('write/reduce-join-1-0')
    const { decide } = commandsFor(team, first.steps)
    await expect(decide(request, edit('no JSON'))).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const { steps } = await decide(request, edit('{"line":"y"}'))
    const from = { events: [], steps: [...first.steps, ...steps] }
    const second = startRecorded(team, { inputs, from })
    expect(await second.handle.result).toMatchObject({ output: '{"line":"y"}' })
  })

  it('[ENS-P18] Edits of the outputs of a round and of its judge are checked without an owner, each with its own schema', async () => {
    const judge = task({
      name: 'judge',
      description: 'Judge {output}',
      output: Type.Boolean(),
      handler: () => false,
      review: true,
    })
    const write = task({
      ...reviewed,
      description: 'Write {round}',
      name: 'write',
      loop: { max: 2, until: { judge } },
    })
    const team = ensemble({ name: 'team', model: line, tasks: [write] })
    const steps: RunStep[] = []
    for (const [taskName, text, wrong] of [
      ['write/1', '{"line":"y"}', 'true'],
      ['write/judge-1', 'true', '{"line":"y"}'],
    ] as const) {
      const from = { events: [], steps: [...steps] }
      const held = startRecorded(team, steps.length === 0 ? {} : { from })
      await nextTurn()
      await nextTurn()
      await nextTurn()
      held.release()
      const [request] = eventsOf(held.events, 'review_requested')
      if (request === undefined) throw new Error('No review is open')
      expect(request.taskName).toBe(taskName)
      steps.push(...held.steps)
      const { decide } = commandsFor(team, steps)
      await expect(decide(request, edit(wrong))).rejects.toMatchObject({ code: 'BAD_REQUEST' })
      const decided = await decide(request, edit(text))
      steps.push(...decided.steps)
    }
    const last = startRecorded(team, { from: { events: [], steps } })
    expect(await last.handle.result).toMatchObject({ output: '{"line":"y"}' })
  })

  it('An edit of the output of a task that code added is refused without an owner, because its schema is not known', async () => {
    const grow = task({
      name: 'grow',
      description: 'Grow',
      handler: ({ map }) => map(['a'], task({ ...reviewed, name: 'write' })),
    })
    const team = ensemble({ name: 'team', model: line, tasks: [grow] })
    const first = startRecorded(team)
    await nextTurn()
    await nextTurn()
    first.release()
    const [request] = eventsOf(first.events, 'review_requested')
    if (request === undefined) throw new Error('No review is open')
    const { decide } = commandsFor(team, first.steps)
    await expect(decide(request, edit('{"line":"y"}'))).rejects.toThrow(
      'cannot be checked while the run is unowned: its task is added by a handler',
    )
    expect(kinds(await decide(request, yes))).toEqual(['review_decided', 'gate_closed'])
  })
})
