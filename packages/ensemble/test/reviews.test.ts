/** Tests of decisions before, during and after a task, in each workflow. */
import { defineTextTool, Type, type AgentTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { agent, ensemble, task, type ReviewAnswer } from '../src/index.ts'
import { reviewedTeam, WORKFLOWS, type Work } from './reviewed-team.ts'
import { listClosings, readEnds, findOpenReview, listPrompts } from './read-run.ts'
import { scriptedModel, scriptedReviewer } from './testing.ts'
import { eventsOf, listFailures, nextTurn, watchRun, type WatchedRun } from './watch-run.ts'

import type { Workflow } from '@tutti/protocol/internal'

const isManaged = (workflow: Workflow): boolean => workflow === 'HIERARCHICAL'

/** Returns the ends of all tasks, given those of `work` and `last`. */
function expectedEnds(
  workflow: Workflow,
  work: string,
  last: string,
  manager = 'completed',
): object {
  return { first: 'completed', work, last, ...(isManaged(workflow) ? { Manager: manager } : {}) }
}

function readStatus(run: WatchedRun): string | undefined {
  return eventsOf(run.events, 'run_result')[0]?.status
}

async function review(workflow: Workflow, work: Work, decision: ReviewAnswer): Promise<WatchedRun> {
  const reviewer = scriptedReviewer([decision, 'CONTINUE'])
  const run = watchRun(reviewedTeam(workflow, work), { reviewer })
  await run.ended
  return run
}

describe.each(WORKFLOWS)('[ENS-G8] the review before a task, in %s', (workflow) => {
  const model = (): ReturnType<typeof scriptedModel> => scriptedModel(['work done'])

  it('The review before a task starts it with its description on CONTINUE', async () => {
    const asked = model()
    const run = await review(workflow, { beforeReview: true, model: asked }, { action: 'CONTINUE' })
    expect(readEnds(run)).toEqual(expectedEnds(workflow, 'completed', 'completed'))
    expect(listPrompts(asked)[0]).toContain('## Task\nDo work')
    expect(eventsOf(run.events, 'review_requested')).toMatchObject([
      { timing: 'BEFORE_EXECUTION', taskDescription: 'Do work', taskOutput: '', attempt: 1 },
    ])
    const types = run.events
      .filter((event) => 'taskName' in event && event.taskName === 'work')
      .map(({ type }) => type)
    expect(types.indexOf('review_requested')).toBeLessThan(types.indexOf('task_started'))
  })

  it('The review before a task starts it with another description on EDIT', async () => {
    const asked = model()
    const decision = { action: 'EDIT', text: 'Do {this} instead' } as const
    const run = await review(workflow, { beforeReview: true, model: asked }, decision)
    expect(readEnds(run)).toEqual(expectedEnds(workflow, 'completed', 'completed'))
    expect(listPrompts(asked)[0]).toContain('## Task\nDo {this} instead')
    expect(eventsOf(run.events, 'task_started').map((event) => event.taskDescription)).toContain(
      'Do {this} instead',
    )
  })

  it('The review before a task shows the new description as the goal on EDIT, unless the agent has its own', async () => {
    const decision = { action: 'EDIT', text: 'Do less' } as const
    const goals = [agent({ role: 'WORK', goal: 'Work' }), agent({ role: 'WORK' })].map(
      async (worker) => {
        const asked = { beforeReview: true, agent: worker, model: model() }
        const { events } = await review(workflow, asked, decision)
        return eventsOf(events, 'task_input').find(({ agentRole }) => agentRole === 'WORK')
          ?.agentGoal
      },
    )
    expect(await Promise.all(goals)).toEqual(['Work', 'Do less'])
  })

  it('The review before a task fails it before its agent runs on REJECT', async () => {
    const asked = model()
    const decision = { action: 'REJECT', feedback: 'Not today' } as const
    const run = await review(workflow, { beforeReview: true, model: asked, retries: 2 }, decision)
    expect(asked.requests).toEqual([])
    expect(listFailures(run.events)).toMatchObject([
      {
        taskName: 'work',
        code: 'REVIEW_REJECTED',
        reason: 'The reviewer rejected task "work": Not today',
        willRetry: false,
      },
    ])
    expect(readEnds(run)).toEqual(
      expectedEnds(workflow, 'REVIEW_REJECTED', isManaged(workflow) ? 'completed' : 'skipped'),
    )
    expect(readStatus(run)).toBe(isManaged(workflow) ? 'COMPLETED' : 'FAILED')
  })

  it('The review before a task ends the run without it on EXIT_EARLY', async () => {
    const asked = model()
    const run = await review(
      workflow,
      { beforeReview: true, model: asked },
      { action: 'EXIT_EARLY' },
    )
    expect(asked.requests).toEqual([])
    expect(readEnds(run)).toEqual(expectedEnds(workflow, 'skipped', 'skipped', 'EXIT_EARLY'))
    expect(await run.ended).toMatchObject({ status: 'COMPLETED', output: 'first done' })
    expect(eventsOf(run.events, 'ensemble_completed')[0]?.exitReason).toBe('USER_EXIT_EARLY')
  })
})

describe.each(WORKFLOWS)('the review of a tool call, in %s', (workflow) => {
  const paid: string[] = []
  const pay: AgentTool = defineTextTool({
    name: 'pay',
    description: 'Pays',
    requireApproval: true,
    execute(sum) {
      paid.push(sum)
      return `Paid ${sum}`
    },
  })
  const call = { toolCalls: [{ name: 'pay', arguments: { input: '5 EUR' } }] }
  const model = (): ReturnType<typeof scriptedModel> => scriptedModel([call, 'work done'])

  it.each([
    [{ action: 'CONTINUE' }, 'Paid 5 EUR'],
    [
      { action: 'EDIT', input: '1 EUR' },
      'A reviewer changed the input of this call to "1 EUR". The result is of the changed input.\n\nPaid 1 EUR',
    ],
    [
      { action: 'EDIT', input: { input: '2 EUR' } },
      'A reviewer changed the input of this call to "2 EUR". The result is of the changed input.\n\nPaid 2 EUR',
    ],
    [
      { action: 'REJECT', feedback: 'Too much' },
      'Error: The reviewer rejected the call of "pay": Too much',
    ],
  ] as const)(
    '[ENS-G4] [ENS-G14] The review of a tool call returns the outcome of %j to the model',
    async (decision, result) => {
      const asked = model()
      const run = await review(workflow, { tools: [pay], model: asked }, decision)
      expect(readEnds(run)).toEqual(expectedEnds(workflow, 'completed', 'completed'))
      expect(asked.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: result })
      expect(listClosings(run)).toMatchObject([
        { type: 'review_decided', decision: decision.action },
      ])
    },
  )

  it('[ENS-E14] The review of a tool call ends the run without calling the tool on EXIT_EARLY', async () => {
    paid.length = 0
    const run = await review(workflow, { tools: [pay], model: model() }, { action: 'EXIT_EARLY' })
    expect(paid).toEqual([])
    expect(readEnds(run)).toEqual(expectedEnds(workflow, 'EXIT_EARLY', 'skipped', 'EXIT_EARLY'))
    expect(await run.ended).toMatchObject({ status: 'COMPLETED', output: 'first done' })
  })
})

describe.each(WORKFLOWS)('[ENS-G9] the review after a task, in %s', (workflow) => {
  const model = (): ReturnType<typeof scriptedModel> => scriptedModel(['draft', 'better'])

  it('The review after a task accepts its output on CONTINUE', async () => {
    const run = await review(workflow, { review: true, model: model() }, { action: 'CONTINUE' })
    expect(readEnds(run)).toEqual(expectedEnds(workflow, 'completed', 'completed'))
    expect(eventsOf(run.events, 'review_requested')).toMatchObject([
      { timing: 'AFTER_EXECUTION', taskDescription: 'Do work', taskOutput: 'draft' },
    ])
    expect((await run.ended).tasks[1]).toMatchObject({ taskName: 'work', output: 'draft' })
  })

  it('The review after a task replaces its output on EDIT, also for later tasks', async () => {
    const decision = { action: 'EDIT', text: 'my own', decidedBy: 'ann' } as const
    const run = await review(workflow, { review: true, model: model() }, decision)
    expect(readEnds(run)).toEqual(expectedEnds(workflow, 'completed', 'completed'))
    expect((await run.ended).tasks[1]).toMatchObject({ taskName: 'work', output: 'my own' })
    expect(listClosings(run)).toMatchObject([
      { type: 'review_decided', decision: 'EDIT', decidedBy: 'ann', revisedOutput: 'my own' },
    ])
    const inputs = eventsOf(run.events, 'task_input').find(({ taskName }) => taskName === 'last')
    if (workflow !== 'SEQUENTIAL') expect(inputs?.assembledContext).toContain('my own')
  })

  it('The review after a task repeats the task with the feedback and its last answer on REJECT', async () => {
    const asked = model()
    const decision = { action: 'REJECT', feedback: 'Shorter, please' } as const
    const run = await review(workflow, { review: true, model: asked }, decision)
    expect(readEnds(run)).toEqual(expectedEnds(workflow, 'completed', 'completed'))
    expect((await run.ended).tasks[1]).toMatchObject({ output: 'better', attempt: 2 })
    expect(listPrompts(asked)[1]).toContain(
      '## Revision Instructions (Attempt 2)\nA reviewer sent your last answer back: Shorter, please\n\nYour last answer was:\ndraft',
    )
    expect(listFailures(run.events)).toMatchObject([
      { taskName: 'work', attempt: 1, code: 'REVIEW_REJECTED', willRetry: true },
    ])
    expect(eventsOf(run.events, 'review_requested').map(({ attempt }) => attempt)).toEqual([1, 2])
  })

  it('The review after a task ends the run with its output on EXIT_EARLY', async () => {
    const run = await review(workflow, { review: true, model: model() }, { action: 'EXIT_EARLY' })
    expect(readEnds(run)).toEqual(expectedEnds(workflow, 'completed', 'skipped', 'EXIT_EARLY'))
    expect(await run.ended).toMatchObject({ status: 'COMPLETED', output: 'draft' })
    expect(eventsOf(run.events, 'ensemble_completed')[0]?.exitReason).toBe('USER_EXIT_EARLY')
  })
})

it('[ENS-T5] A reviewer can reject a task as often as its review allows, regardless of its retries', async () => {
  const model = scriptedModel(() => 'draft')
  const review = { maxRevisions: 2 }
  const run = watchRun(reviewedTeam('SEQUENTIAL', { review, retries: 0, model }), {
    reviewer: scriptedReviewer([{ action: 'REJECT', feedback: 'No' }]),
  })
  expect(await run.ended).toMatchObject({ status: 'FAILED', error: { code: 'REVIEW_REJECTED' } })
  expect(listFailures(run.events).map(({ willRetry }) => willRetry)).toEqual([true, true, false])
})

describe('[ENS-G4] an invalid decision', () => {
  const output = Type.Object({ price: Type.Number() })
  const quote = task({
    name: 'quote',
    description: 'Quote',
    review: true,
    output,
    model: scriptedModel(() => '{"price": 5}'),
  })

  it('An invalid decision is rejected with the reason and leaves the review open for a valid one', async () => {
    const run = watchRun(ensemble({ name: 'team', tasks: [quote] }), { decidable: true })
    await nextTurn()
    const { reviewId } = findOpenReview(run)
    const decide = (decision: unknown): Promise<void> =>
      // NOTE: a JavaScript caller can pass this.
      run.handle.decide(reviewId, decision as ReviewAnswer)
    const refused = (message: string): object => ({ code: 'BAD_REQUEST', message })
    const start = `Cannot decide review "${reviewId}": `
    await expect(decide({ action: 'EDIT', text: 'cheap' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining(start),
    })
    await expect(decide({ action: 'EDIT', text: '{"price":"much"}' })).rejects.toThrow('price')
    await expect(decide({ action: 'EDIT', input: 5 })).rejects.toMatchObject(
      refused(`${start}an EDIT of a task needs the field "text"`),
    )
    await expect(decide({ action: 'MAYBE' })).rejects.toMatchObject(
      refused(`${start}action must be one of CONTINUE, EDIT, REJECT, EXIT_EARLY, got "MAYBE"`),
    )
    await expect(decide(undefined)).rejects.toMatchObject(
      refused(`${start}action must be one of CONTINUE, EDIT, REJECT, EXIT_EARLY, got nothing`),
    )
    expect(findOpenReview(run).reviewId).toBe(reviewId)
    await decide({ action: 'EDIT', text: '{"price": 7}' })
    expect((await run.ended).tasks).toMatchObject([
      { output: '{"price":7}', structured: { price: 7 } },
    ])
  })

  it('An invalid decision of a tool call is one with an input that does not match its schema', async () => {
    const pay = defineTextTool({
      name: 'pay',
      description: 'Pays',
      requireApproval: true,
      execute: (sum) => sum,
    })
    const call = { toolCalls: [{ name: 'pay', arguments: { input: '5' } }] }
    const work = { tools: [pay], model: scriptedModel([call, 'done']) }
    const run = watchRun(reviewedTeam('SEQUENTIAL', work), { decidable: true })
    await nextTurn()
    const { reviewId } = findOpenReview(run)
    const decide = (decision: ReviewAnswer): Promise<void> => run.handle.decide(reviewId, decision)
    await expect(decide({ action: 'EDIT', input: { sum: 5 } })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('input/input: is required'),
    })
    await expect(decide({ action: 'EDIT', text: 'x' })).rejects.toThrow(
      'an EDIT of a tool call needs the field "input"',
    )
    await decide({ action: 'CONTINUE' })
    expect((await run.ended).status).toBe('COMPLETED')
  })
})

describe('[ENS-G3] a decision', () => {
  it('A decision counts once, and a second one is rejected, also a concurrent one', async () => {
    const run = watchRun(reviewedTeam('SEQUENTIAL', { review: true }), { decidable: true })
    await nextTurn()
    const { reviewId } = findOpenReview(run)
    const both = await Promise.allSettled([
      run.handle.decide(reviewId, { action: 'EDIT', text: 'mine' }),
      run.handle.decide(reviewId, { action: 'EDIT', text: 'yours' }),
    ])
    expect(both).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 'REVIEW_RESOLVED' } },
    ])
    expect((await run.ended).tasks[1]?.output).toBe('mine')
    await expect(run.handle.decide(reviewId, { action: 'CONTINUE' })).rejects.toMatchObject({
      code: 'REVIEW_RESOLVED',
      message: `Review "${reviewId}" is closed`,
    })
  })

  it('[ENS-S3] A decision on an unknown review is rejected with the open ones', async () => {
    const run = watchRun(reviewedTeam('SEQUENTIAL', { review: true }), { decidable: true })
    await nextTurn()
    const { reviewId } = findOpenReview(run)
    await expect(run.handle.decide('review-0', { action: 'CONTINUE' })).rejects.toMatchObject({
      code: 'REVIEW_NOT_FOUND',
      message: `No review has the id "review-0". Open: [${reviewId}]`,
    })
    await run.handle.decide(reviewId, { action: 'CONTINUE' })
    await run.ended
  })

  it('A decision is durable before it is confirmed and before the task continues', async () => {
    const written: string[] = []
    let write = (): void => undefined
    const journal = {
      emit: (event: { type: string }) => void written.push(event.type),
      async commit(step: { kind: string }, event?: { type: string }) {
        if (step.kind === 'gate_closed') {
          await new Promise<void>((resolve) => {
            write = resolve
          })
        }
        written.push(event?.type ?? step.kind)
      },
    }
    const team = reviewedTeam('SEQUENTIAL', { review: true })
    const handle = team.start({}, { journal })
    await nextTurn()
    const reviewId = handle.snapshot().reviews[0]?.reviewId ?? ''
    let isAnswered = false
    const decided = handle.decide(reviewId, { action: 'CONTINUE' }).then(() => {
      isAnswered = true
    })
    await nextTurn()
    expect([written.at(-1), isAnswered]).toEqual(['review_requested', false])
    write()
    await decided
    expect((await handle.result).status).toBe('COMPLETED')
    expect(written.filter((type) => type === 'review_decided')).toHaveLength(1)
  })
})

it('[ENS-G8] A cancel at a boundary applies to a task whose review is being recorded', async () => {
  let write = (): void => undefined
  const journal = {
    emit: () => undefined,
    async commit(step: { kind: string }) {
      if (step.kind !== 'gate_closed') return
      await new Promise<void>((resolve) => {
        write = resolve
      })
    },
  }
  const model = scriptedModel(['work done'])
  const team = reviewedTeam('SEQUENTIAL', { beforeReview: true, model })
  const handle = team.start({}, { journal })
  await nextTurn()
  const reviewId = handle.snapshot().reviews[0]?.reviewId ?? ''
  const decided = handle.decide(reviewId, { action: 'CONTINUE' })
  await nextTurn()
  handle.cancel({ mode: 'boundary' })
  await nextTurn()
  write()
  await decided
  expect((await handle.result).status).toBe('CANCELLED')
  expect(model.requests).toEqual([])
})

describe('the tasks with reviews', () => {
  it('[ENS-G10] The tasks with reviews are named when a run without a reviewer is rejected at the start', async () => {
    const tasks = [
      task({ name: 'a', description: 'A', beforeReview: true, model: scriptedModel([]) }),
      task({ name: 'b', description: 'B', model: scriptedModel([]) }),
      task({ name: 'c', description: 'C', review: true, model: scriptedModel([]) }),
    ]
    const team = ensemble({ name: 'team', tasks })
    const needs = (name: string): string =>
      `task "${name}" needs a review, but the run has no reviewer: set the option reviewer`
    await expect(team.run()).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `Cannot run "team": ${needs('a')}; ${needs('c')}`,
    })
    expect(() => team.start({}, { decidable: false })).toThrow(needs('a'))
  })

  it.each([
    ['NEVER', undefined, []],
    ['AFTER_EVERY_TASK', undefined, ['first', 'work', 'last']],
    ['AFTER_LAST_TASK', undefined, ['last']],
    ['AFTER_EVERY_TASK', false, ['first', 'last']],
    ['NEVER', true, ['work']],
  ] as const)(
    '[ENS-G11] The tasks with reviews with the policy %s and %s for one task are %j',
    async (policy, own, asked) => {
      const reviewer = scriptedReviewer(['CONTINUE'])
      const work = own === undefined ? {} : { review: own }
      const team = ensemble({ ...reviewedTeam('SEQUENTIAL', work), reviewPolicy: policy })
      await watchRun(team, { reviewer }).ended
      expect(reviewer.reviews.map(({ taskName }) => taskName)).toEqual(asked)
    },
  )
})
