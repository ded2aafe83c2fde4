/** What a reviewer's decision comes to: before, during and after a task, in each workflow. */
import { defineTextTool, Type, type AgentTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { agent, ensemble, task, type ReviewAnswer } from '../src/index.ts'
import { reviewedTeam, WORKFLOWS, type Work } from './reviewed-team.ts'
import { closingsOf, endsOf, gateOf, promptsOf } from './read-run.ts'
import { scriptedModel, scriptedReviewer } from './testing.ts'
import { eventsOf, failuresOf, nextTurn, watchRun, type WatchedRun } from './watch-run.ts'

import type { Workflow } from '@tutti/protocol'

const isManaged = (workflow: Workflow): boolean => workflow === 'HIERARCHICAL'

/** Ends of all tasks, given those of `work` and `last`. */
function ends(workflow: Workflow, work: string, last: string, manager = 'completed'): object {
  return { first: 'completed', work, last, ...(isManaged(workflow) ? { Manager: manager } : {}) }
}

function statusOf(run: WatchedRun): string | undefined {
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

  it('CONTINUE lets it begin, with the words that it has', async () => {
    const asked = model()
    const run = await review(workflow, { beforeReview: true, model: asked }, { action: 'CONTINUE' })
    expect(endsOf(run)).toEqual(ends(workflow, 'completed', 'completed'))
    expect(promptsOf(asked)[0]).toContain('## Task\nDo work')
    expect(eventsOf(run.events, 'review_requested')).toMatchObject([
      { timing: 'BEFORE_EXECUTION', taskDescription: 'Do work', taskOutput: '', attempt: 1 },
    ])
    const types = run.events
      .filter((event) => 'taskName' in event && event.taskName === 'work')
      .map(({ type }) => type)
    expect(types.indexOf('review_requested')).toBeLessThan(types.indexOf('task_started'))
  })

  it('EDIT lets it begin with another description', async () => {
    const asked = model()
    const decision = { action: 'EDIT', text: 'Do {this} instead' } as const
    const run = await review(workflow, { beforeReview: true, model: asked }, decision)
    expect(endsOf(run)).toEqual(ends(workflow, 'completed', 'completed'))
    expect(promptsOf(asked)[0]).toContain('## Task\nDo {this} instead')
    expect(eventsOf(run.events, 'task_started').map((event) => event.taskDescription)).toContain(
      'Do {this} instead',
    )
  })

  it('EDIT gives the other description as the goal too, unless the agent has one', async () => {
    const [own, none] = [model(), model()]
    const asked = { beforeReview: true, agent: agent({ role: 'WORK', goal: 'Work' }) }
    const bare = { ...asked, agent: agent({ role: 'WORK', goal: 'Do work' }) }
    const decision = { action: 'EDIT', text: 'Do less' } as const
    await review(workflow, { ...asked, model: own }, decision)
    const run = await review(workflow, { ...bare, model: none }, decision)
    const goals = [own, none].map((one) => /goal is: (.*)/.exec(promptsOf(one)[0] ?? ''))
    expect(goals.map((goal) => goal?.[1])).toEqual(['Work', 'Do less'])
    const given = eventsOf(run.events, 'task_input').find(({ agentRole }) => agentRole === 'WORK')
    expect(given).toMatchObject({ agentGoal: 'Do less' })
  })

  it('REJECT fails it before its agent is asked', async () => {
    const asked = model()
    const decision = { action: 'REJECT', feedback: 'Not today' } as const
    const run = await review(workflow, { beforeReview: true, model: asked, retries: 2 }, decision)
    expect(asked.requests).toEqual([])
    expect(failuresOf(run.events)).toMatchObject([
      {
        taskName: 'work',
        code: 'REVIEW_REJECTED',
        reason: 'The reviewer rejected task "work": Not today',
        willRetry: false,
      },
    ])
    expect(endsOf(run)).toEqual(
      ends(workflow, 'REVIEW_REJECTED', isManaged(workflow) ? 'completed' : 'skipped'),
    )
    expect(statusOf(run)).toBe(isManaged(workflow) ? 'COMPLETED' : 'FAILED')
  })

  it('EXIT_EARLY ends the run without it', async () => {
    const asked = model()
    const run = await review(
      workflow,
      { beforeReview: true, model: asked },
      { action: 'EXIT_EARLY' },
    )
    expect(asked.requests).toEqual([])
    expect(endsOf(run)).toEqual(ends(workflow, 'skipped', 'skipped', 'EXIT_EARLY'))
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
    [{ action: 'EDIT', input: '1 EUR' }, 'Paid 1 EUR'],
    [{ action: 'EDIT', input: { input: '2 EUR' } }, 'Paid 2 EUR'],
    [
      { action: 'REJECT', feedback: 'Too much' },
      'Error: The reviewer rejected the call of "pay": Too much',
    ],
  ] as const)('[ENS-G4] %j: the model is told what came of it', async (decision, told) => {
    const asked = model()
    const run = await review(workflow, { tools: [pay], model: asked }, decision)
    expect(endsOf(run)).toEqual(ends(workflow, 'completed', 'completed'))
    expect(asked.requests[1]?.messages.at(-1)).toMatchObject({ role: 'tool', content: told })
    expect(closingsOf(run)).toMatchObject([{ type: 'review_decided', decision: decision.action }])
  })

  it('[ENS-E14] EXIT_EARLY ends the run; the tool is never called', async () => {
    paid.length = 0
    const run = await review(workflow, { tools: [pay], model: model() }, { action: 'EXIT_EARLY' })
    expect(paid).toEqual([])
    expect(endsOf(run)).toEqual(ends(workflow, 'EXIT_EARLY', 'skipped', 'EXIT_EARLY'))
    expect(await run.ended).toMatchObject({ status: 'COMPLETED', output: 'first done' })
  })
})

describe.each(WORKFLOWS)('[ENS-G9] the review after a task, in %s', (workflow) => {
  const model = (): ReturnType<typeof scriptedModel> => scriptedModel(['draft', 'better'])

  it('CONTINUE accepts its output', async () => {
    const run = await review(workflow, { review: true, model: model() }, { action: 'CONTINUE' })
    expect(endsOf(run)).toEqual(ends(workflow, 'completed', 'completed'))
    expect(eventsOf(run.events, 'review_requested')).toMatchObject([
      { timing: 'AFTER_EXECUTION', taskDescription: 'Do work', taskOutput: 'draft' },
    ])
    expect((await run.ended).tasks[1]).toMatchObject({ taskName: 'work', output: 'draft' })
  })

  it('EDIT replaces it, for later tasks too', async () => {
    const decision = { action: 'EDIT', text: 'my own', decidedBy: 'ann' } as const
    const run = await review(workflow, { review: true, model: model() }, decision)
    expect(endsOf(run)).toEqual(ends(workflow, 'completed', 'completed'))
    expect((await run.ended).tasks[1]).toMatchObject({ taskName: 'work', output: 'my own' })
    expect(closingsOf(run)).toMatchObject([
      { type: 'review_decided', decision: 'EDIT', decidedBy: 'ann', revisedOutput: 'my own' },
    ])
    const inputs = eventsOf(run.events, 'task_input').find(({ taskName }) => taskName === 'last')
    if (workflow !== 'SEQUENTIAL') expect(inputs?.assembledContext).toContain('my own')
  })

  it("REJECT makes it run again, with the reviewer's words and its last answer", async () => {
    const asked = model()
    const decision = { action: 'REJECT', feedback: 'Shorter, please' } as const
    const run = await review(workflow, { review: true, model: asked }, decision)
    expect(endsOf(run)).toEqual(ends(workflow, 'completed', 'completed'))
    expect((await run.ended).tasks[1]).toMatchObject({ output: 'better', attempt: 2 })
    expect(promptsOf(asked)[1]).toContain(
      '## Revision Instructions (Attempt 2)\nA reviewer sent your last answer back: Shorter, please\n\nYour last answer was:\ndraft',
    )
    expect(failuresOf(run.events)).toMatchObject([
      { taskName: 'work', attempt: 1, code: 'REVIEW_REJECTED', willRetry: true },
    ])
    expect(eventsOf(run.events, 'review_requested').map(({ attempt }) => attempt)).toEqual([1, 2])
  })

  it('EXIT_EARLY ends the run with it', async () => {
    const run = await review(workflow, { review: true, model: model() }, { action: 'EXIT_EARLY' })
    expect(endsOf(run)).toEqual(ends(workflow, 'completed', 'skipped', 'EXIT_EARLY'))
    expect(await run.ended).toMatchObject({ status: 'COMPLETED', output: 'draft' })
    expect(eventsOf(run.events, 'ensemble_completed')[0]?.exitReason).toBe('USER_EXIT_EARLY')
  })
})

it('[ENS-T5] a reviewer can send a task back as often as its review allows, whatever its retries', async () => {
  const model = scriptedModel(() => 'draft')
  const review = { maxRevisions: 2 }
  const run = watchRun(reviewedTeam('SEQUENTIAL', { review, retries: 0, model }), {
    reviewer: scriptedReviewer([{ action: 'REJECT', feedback: 'No' }]),
  })
  expect(await run.ended).toMatchObject({ status: 'FAILED', error: { code: 'REVIEW_REJECTED' } })
  expect(failuresOf(run.events).map(({ willRetry }) => willRetry)).toEqual([true, true, false])
})

describe('[ENS-G4] a decision that does not fit', () => {
  const output = Type.Object({ price: Type.Number() })
  const quote = task({
    name: 'quote',
    description: 'Quote',
    review: true,
    output,
    model: scriptedModel(() => '{"price": 5}'),
  })

  it('is refused, names why, and leaves the review open; the one that fits counts', async () => {
    const run = watchRun(ensemble({ name: 'team', tasks: [quote] }), { decidable: true })
    await nextTurn()
    const { reviewId } = gateOf(run)
    const decide = (decision: unknown): Promise<void> =>
      // NOTE: what a JavaScript caller may hand in.
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
    expect(gateOf(run).reviewId).toBe(reviewId)
    await decide({ action: 'EDIT', text: '{"price": 7}' })
    expect((await run.ended).tasks).toMatchObject([
      { output: '{"price":7}', structured: { price: 7 } },
    ])
  })

  it('of a tool call: an input that its schema refuses', async () => {
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
    const { reviewId } = gateOf(run)
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
  it('counts once: the second is refused, also one that comes at the same time', async () => {
    const run = watchRun(reviewedTeam('SEQUENTIAL', { review: true }), { decidable: true })
    await nextTurn()
    const { reviewId } = gateOf(run)
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

  it('[ENS-S3] on an unknown review is refused, and names those that are open', async () => {
    const run = watchRun(reviewedTeam('SEQUENTIAL', { review: true }), { decidable: true })
    await nextTurn()
    const { reviewId } = gateOf(run)
    await expect(run.handle.decide('review-0', { action: 'CONTINUE' })).rejects.toMatchObject({
      code: 'REVIEW_NOT_FOUND',
      message: `No review has the id "review-0". Open: [${reviewId}]`,
    })
    await run.handle.decide(reviewId, { action: 'CONTINUE' })
    await run.ended
  })

  it('is durable before the task goes on, and before it is answered', async () => {
    const kept: string[] = []
    let write = (): void => undefined
    const journal = {
      emit: (event: { type: string }) => void kept.push(event.type),
      async commit(step: { kind: string }, event?: { type: string }) {
        if (step.kind === 'gate_closed') {
          await new Promise<void>((resolve) => {
            write = resolve
          })
        }
        kept.push(event?.type ?? step.kind)
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
    expect([kept.at(-1), isAnswered]).toEqual(['review_requested', false])
    write()
    await decided
    expect((await handle.result).status).toBe('COMPLETED')
    expect(kept.filter((type) => type === 'review_decided')).toHaveLength(1)
  })
})

describe('who is asked', () => {
  it('[ENS-G10] a run that has nobody to ask is refused at the start, with every task that needs it', async () => {
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
    '[ENS-G11] with %s, and %s for one task, these tasks: %j',
    async (policy, own, asked) => {
      const reviewer = scriptedReviewer(['CONTINUE'])
      const work = own === undefined ? {} : { review: own }
      const team = ensemble({ ...reviewedTeam('SEQUENTIAL', work), reviewPolicy: policy })
      await watchRun(team, { reviewer }).ended
      expect(reviewer.reviews.map(({ taskName }) => taskName)).toEqual(asked)
    },
  )
})
