/** Tests of directives: their targets, timing, order and expiry. */
import { defineTextTool, TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import { MAX_DURATION_MS } from '@tutti/protocol/internal'

import { agent, ensemble, task, type Ensemble } from '../src/index.ts'
import { findOpenReview, listPrompts } from './read-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, nextTurn, watchRun, type WatchedRun } from './watch-run.ts'

type Scripted = ReturnType<typeof scriptedModel>

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

const slow = defineTextTool({
  name: 'slow',
  description: 'Takes 1 s',
  async execute() {
    await sleep(clock, 1_000)
    return 'slept'
  },
})

const CALL = { toolCalls: [{ name: 'slow', arguments: { input: '' } }] }

/** Returns a model that calls the slow tool `calls` times and then answers. */
function working(calls: number, answer = 'done'): Scripted {
  return scriptedModel([...Array.from({ length: calls }, () => CALL), answer])
}

function team(models: Readonly<Record<string, Scripted>>, rest: object = {}): Ensemble {
  const tasks = Object.entries(models).map(([name, model]) =>
    task({
      name,
      description: `Do ${name}`,
      agent: agent({ role: name === 'check' ? 'Critic' : 'Writer', goal: 'Work' }),
      tools: [slow],
      model,
    }),
  )
  return ensemble({ name: 'team', workflow: 'SEQUENTIAL', tasks, ...rest })
}

function start(made: Ensemble): WatchedRun {
  return watchRun(made, { clock, decidable: true })
}

/** Returns the delivered directives with their task, attempt and turn. */
function listDelivered({ events }: WatchedRun): readonly string[] {
  return eventsOf(events, 'directive_delivered').map(
    ({ directiveId, taskName, attempt, iterationIndex }) =>
      `${directiveId} ${taskName} ${attempt}.${iterationIndex}`,
  )
}

/** Returns the texts of the directives that each request of a model adds. */
function listDirectives(model: Scripted): readonly (readonly string[])[] {
  const all = listPrompts(model).map((prompt) =>
    [...prompt.matchAll(/^\[\S+ \| \S+\] (.+)$/gm)].map(([, text = '']) => text),
  )
  return all.map((texts, index) => texts.slice(all[index - 1]?.length ?? 0))
}

describe('[ENS-D1] a directive', () => {
  it('A directive reaches a running task once, at its next model call, after the messages so far', async () => {
    const model = working(3)
    const run = start(team({ write: model }))
    await clock.advance(1_500)
    const { id } = run.handle.inject({ content: 'Be brief', from: 'ann' })
    await clock.advance(10_000)
    await run.ended
    expect(listDirectives(model)).toEqual([[], [], ['Be brief'], []])
    expect(model.requests[2]?.messages.at(-1)).toEqual({
      role: 'user',
      content: '## Active Directives\n[ann | 2026-01-01T00:00:01.500Z] Be brief',
    })
    expect(listDelivered(run)).toEqual([`${id} write 1.2`])
    expect(eventsOf(run.events, 'directive_active')).toEqual([
      {
        type: 'directive_active',
        directiveId: id,
        content: 'Be brief',
        from: 'ann',
        priority: 'NORMAL',
        activeAt: '2026-01-01T00:00:01.500Z',
      },
    ])
  })

  it('A directive reaches a later task in its first prompt, before the task itself', async () => {
    const [write, check] = [working(1), working(0)]
    const run = start(team({ write, check }))
    await clock.advance(500)
    run.handle.inject({ content: 'Mind the law', to: 'check', id: 'd1' })
    await clock.advance(10_000)
    await run.ended
    expect(listDirectives(write)).toEqual([[], []])
    expect(listPrompts(check)[0]).toMatch(
      /## Active Directives\n\[control \| [^\]]+\] Mind the law\n\n## Task\nDo check/,
    )
    expect(listDelivered(run)).toEqual(['d1 check 1.0'])
  })

  it('A directive reaches all tasks of a role, or every task, once each', async () => {
    const models = { write: working(1), check: working(1), rewrite: working(1) }
    const run = start(team(models))
    run.handle.inject({ content: 'To writers', to: 'Writer', id: 'w' })
    await clock.advance(500)
    run.handle.inject({ content: 'To all', id: 'all' })
    await clock.advance(10_000)
    await run.ended
    expect(listDirectives(models.write)).toEqual([['To writers'], ['To all']])
    expect(listDirectives(models.check)).toEqual([['To all'], []])
    expect(listDirectives(models.rewrite)).toEqual([['To writers', 'To all'], []])
    expect(listDelivered(run)).toEqual([
      'w write 1.0',
      'all write 1.1',
      'all check 1.0',
      'w rewrite 1.0',
      'all rewrite 1.0',
    ])
  })

  it('A directive reaches the retry of a call if it arrives during the wait', async () => {
    const model = scriptedModel([
      new TuttiError('MODEL_FAILED', 'Overloaded', { retryable: true }),
      'done',
    ])
    const run = start(team({ write: model }))
    await clock.advance(10)
    expect(model.requests).toHaveLength(1)
    run.handle.inject({ content: 'Be brief', id: 'd' })
    await clock.advance(120_000)
    await run.ended
    expect(listDirectives(model)).toEqual([[], ['Be brief']])
    expect(listDelivered(run)).toEqual(['d write 1.0'])
  })

  it('A directive can be a plain text, which is for every task', async () => {
    const model = working(1)
    const run = start(team({ write: model }))
    await nextTurn()
    expect(run.handle.inject('Be kind')).toMatchObject({ content: 'Be kind', priority: 'NORMAL' })
    await clock.advance(10_000)
    await run.ended
    expect(listDirectives(model)).toEqual([[], ['Be kind']])
  })

  it('A directive reaches the workers of a manager by the names of their tasks, also when repeated', async () => {
    const delegate = {
      toolCalls: [
        { name: 'delegate_task', arguments: { agentRole: 'Writer', taskDescription: 'Write' } },
      ],
    }
    const write = scriptedModel(() => 'written')
    const managerModel = scriptedModel([delegate, delegate, 'managed'])
    const run = start(team({ write }, { workflow: 'HIERARCHICAL', managerModel }))
    run.handle.inject({ content: 'Be brief', to: 'write', id: 'd' })
    await clock.advance(1_000)
    await run.ended
    expect(listDelivered(run)).toEqual(['d write 1.0', 'd write#2 1.0'])
    expect(listPrompts(managerModel).join('')).not.toContain('Be brief')
  })
})

it('[ENS-D1] An expired directive reaches no further task', async () => {
  const models = { write: working(2), check: working(0) }
  const run = start(team(models))
  await clock.advance(100)
  const { expiresAt } = run.handle.inject({ content: 'Short', ttlMs: 900, id: 's' })
  run.handle.inject({ content: 'Long', ttlMs: 901, id: 'l' })
  run.handle.inject({ content: 'Without end', ttlMs: MAX_DURATION_MS, id: 'e' })
  expect(expiresAt).toBe(clock.now() + 900)
  await clock.advance(10_000)
  await run.ended
  expect(listDirectives(models.write)).toEqual([[], ['Long', 'Without end'], []])
  expect(listDirectives(models.check)).toEqual([['Without end']])
  expect(eventsOf(run.events, 'directive_active').map((event) => event.expiresAt)).toEqual([
    '2026-01-01T00:00:01.000Z',
    '2026-01-01T00:00:01.001Z',
    '2125-12-08T00:00:00.100Z',
  ])
})

it('[ENS-D2] The directives of one call are ordered by priority, then by arrival', async () => {
  const model = working(1)
  const run = start(team({ write: model }))
  await clock.advance(500)
  for (const priority of ['LOW', 'NORMAL', 'CRITICAL', 'HIGH'] as const) {
    for (const number of [1, 2]) {
      run.handle.inject({ content: `${priority} ${number}`, priority, id: `${priority}${number}` })
    }
  }
  await clock.advance(10_000)
  await run.ended
  const order = ['CRITICAL', 'HIGH', 'NORMAL', 'LOW']
  expect(listDirectives(model)[1]).toEqual(order.flatMap((name) => [`${name} 1`, `${name} 2`]))
  expect(listDelivered(run)).toEqual(
    order.flatMap((name) => [`${name}1 write 1.1`, `${name}2 write 1.1`]),
  )
})

describe('[ENS-D3] a directive that reached an attempt', () => {
  it('A directive that reached an attempt also reaches the first prompt of the next one after it expired, unlike an undelivered one', async () => {
    const model = scriptedModel([CALL, 'draft', CALL, 'better'])
    const made = team({ write: model })
    const tasks = made.tasks.map((one) =>
      task({ ...one, review: { timeoutMs: Infinity } } as never),
    )
    const run = start(ensemble({ name: 'team', tasks }))
    await clock.advance(500)
    run.handle.inject({ content: 'Be brief', ttlMs: 1_000, id: 'a' })
    await clock.advance(1_000)
    run.handle.inject({ content: 'Unheard', ttlMs: 1_000, id: 'b' })
    await clock.advance(60_000)
    await run.handle.decide(findOpenReview(run).reviewId, { action: 'REJECT', feedback: 'No' })
    await clock.advance(5_000)
    await run.handle.decide(findOpenReview(run).reviewId, { action: 'CONTINUE' })
    await run.ended
    expect(listDelivered(run)).toEqual(['a write 1.1', 'a write 2.0'])
    expect(listPrompts(model)[2]).toContain('Be brief')
    expect(listPrompts(model)[3]?.match(/Be brief/g)).toHaveLength(1)
    expect(listPrompts(model).join('')).not.toContain('Unheard')
  })
})

describe('[ENS-S3] an invalid directive is rejected and reaches no task', () => {
  it('An invalid directive is rejected with every problem and the available targets, and reaches no task', async () => {
    const model = working(1)
    const run = start(team({ write: model, check: working(0) }))
    const bad = { content: ' ', to: 'Nobody', ttlMs: 0, priority: 'URGENT' }
    // NOTE: a JavaScript caller can pass this.
    expect(() => run.handle.inject(bad as never)).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        message:
          'Invalid directive: content must be text that is not blank, got " "; ' +
          'ttlMs must be > 0, got 0; ' +
          'priority must be one of CRITICAL, HIGH, NORMAL, LOW, got "URGENT"; ' +
          'no task or agent is named "Nobody". Available: [write, check, Writer, Critic]',
      }),
    )
    await clock.advance(10_000)
    await run.ended
    expect(listDirectives(model)).toEqual([[], []])
    expect(eventsOf(run.events, 'directive_active')).toEqual([])
    expect(() => run.handle.inject('Too late')).toThrow(
      expect.objectContaining({ code: 'RUN_COMPLETED' }),
    )
  })

  it('A directive is rejected if its id is already used, and reaches no task', async () => {
    const model = working(1)
    const run = start(team({ write: model }))
    run.handle.inject({ content: 'First', id: 'd' })
    expect(() => run.handle.inject({ content: 'Second', id: 'd' })).toThrow(
      'Invalid directive: the id "d" is already used',
    )
    await clock.advance(10_000)
    await run.ended
    expect(listDirectives(model).flat()).toEqual(['First'])
  })
})
