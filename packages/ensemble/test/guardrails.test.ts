/** Tests of guardrails: checks by the author of the input and the output of a task. */
import { Type } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'

import { ensemble, task } from '../src/index.ts'
import { fakeClock, scriptedModel, scriptedReviewer, type FakeClock } from './testing.ts'
import { eventsOf, watchRun, type WatchOptions } from './watch-run.ts'

import type { TaskDefinition } from '../src/index.ts'
import type { GuardedInput, Guardrails } from '../src/internal.ts'

let clock: FakeClock

beforeEach(() => {
  clock = fakeClock()
})

/** Runs a task with guardrails, and a second task that has it as context. */
async function run(
  guardrails: Guardrails,
  { options = {}, ...settings }: Partial<TaskDefinition> & { options?: WatchOptions } = {},
) {
  const model = scriptedModel(['Jazz is old', 'Jazz is new', 'Third'])
  const first = task({ name: 'first', description: 'Write about {topic}', guardrails, ...settings })
  const second = task({ name: 'second', description: 'Shorten', context: [first] })
  const { events, ended } = watchRun(ensemble({ name: 'team', model, tasks: [first, second] }), {
    clock,
    inputs: { topic: 'jazz' },
    ...options,
  })
  await clock.advance(30_000)
  return { events, result: await ended, model }
}

describe('[ENS-T10] input guardrails', () => {
  it('Input guardrails receive the input of the agent with the outputs in its context, and can accept it', async () => {
    const seen: GuardedInput[] = []
    const model = scriptedModel(['Facts', 'A line'])
    const first = task({ name: 'first', description: 'Find facts' })
    const second = task({
      name: 'second',
      description: 'Write about {topic}',
      expectedOutput: 'One line on {topic}',
      context: [first],
      guardrails: {
        input: [
          (input) => {
            seen.push(input)
            return true
          },
        ],
      },
    })
    const { ended } = watchRun(ensemble({ name: 'team', model, tasks: [first, second] }), {
      clock,
      inputs: { topic: 'jazz' },
    })
    expect((await ended).output).toBe('A line')
    expect(seen).toEqual([
      {
        taskName: 'second',
        agentRole: second.agent.role,
        description: 'Write about jazz',
        expectedOutput: 'One line on jazz',
        context: { first: 'Facts' },
      },
    ])
  })

  it('Input guardrails fail the task before its model is called, and later guardrails are not called', async () => {
    const asked: string[] = []
    const { events, result, model } = await run({
      input: [
        function polite() {
          asked.push('polite')
          return Promise.resolve(true)
        },
        function legal() {
          asked.push('legal')
          return 'It names a brand'
        },
        () => {
          asked.push('third')
          return true
        },
      ],
    })
    const message = 'Guardrail "legal" rejected the input of task "first": It names a brand'
    expect(result).toMatchObject({
      status: 'FAILED',
      error: {
        code: 'GUARDRAIL_VIOLATION',
        message,
        details: { what: 'input', guardrail: 'legal', reason: 'It names a brand' },
      },
    })
    expect(asked).toEqual(['polite', 'legal'])
    expect(model.requests).toEqual([])
    expect(eventsOf(events, 'task_failed')).toMatchObject([
      { code: 'GUARDRAIL_VIOLATION', reason: message, willRetry: false },
    ])
  })
})

describe('[ENS-T10] output guardrails', () => {
  it('Output guardrails fail the task without a retry, and no other task receives the output', async () => {
    const { events, result, model } = await run({ output: [() => 'Too old'] }, { retries: 2 })
    expect(result.error?.message).toBe(
      'Guardrail number 1 rejected the output of task "first": Too old',
    )
    expect(model.requests).toHaveLength(1)
    expect(eventsOf(events, 'task_skipped')).toMatchObject([{ taskName: 'second' }])
    expect(eventsOf(events, 'task_failed')).toMatchObject([{ inputTokens: expect.any(Number) }])
    expect(result.metrics.totalTokens).toBeGreaterThan(0)
  })

  it('Output guardrails run before the review, so that a rejected output is not reviewed', async () => {
    const reviewer = scriptedReviewer(['CONTINUE'])
    await run({ output: [() => 'Too old'] }, { review: true, options: { reviewer } })
    expect(reviewer.reviews).toEqual([])
  })

  it('Output guardrails receive the structured output after parsing', async () => {
    const seen: unknown[] = []
    await run(
      {
        output: [
          (output) => {
            seen.push(output)
            return true
          },
        ],
      },
      {
        output: Type.Object({ count: Type.Integer({ default: 7 }) }),
        model: scriptedModel(['{}']),
      },
    )
    expect(seen).toMatchObject([{ output: '{"count":7}', structured: { count: 7 } }])
  })

  it('Output guardrails check the output of a handler', async () => {
    const { result } = await run({ output: [({ output }) => output] }, { handler: () => 'raw' })
    expect(result.error?.message).toMatch(/: raw$/)
    expect(result.error?.code).toBe('GUARDRAIL_VIOLATION')
  })

  it.each([
    ['throws', () => Promise.reject(new Error('No list of words')), 'No list of words'],
    ['returns nothing', () => undefined as never, 'expected true or a reason, got undefined'],
    ['returns false', () => false, 'no reason given'],
    ['returns a number', () => 1 as never, 'expected true or a reason, got 1'],
  ])('Output guardrails reject the output if one %s', async (_what, guardrail, reason) => {
    const { result } = await run({ output: [guardrail] })
    expect(result.error).toMatchObject({ code: 'GUARDRAIL_VIOLATION', details: { reason } })
  })
})

describe('[ENS-C6] an interrupted guardrail', () => {
  it('An interrupted guardrail fails its task with CANCELLED after a cancel, with any reason of the signal', async () => {
    const controller = new AbortController()
    clock.after(50, () => {
      controller.abort(new Error('The user left'))
    })
    const { events, result } = await run(
      {
        output: [
          async ({ output }, signal) => {
            await sleep(clock, 10_000, signal)
            return output === '' ? 'Nothing' : true
          },
        ],
      },
      { options: { signal: controller.signal } },
    )
    expect(result.status).toBe('CANCELLED')
    expect(eventsOf(events, 'task_failed')).toMatchObject([{ code: 'CANCELLED', durationMs: 50 }])
  })

  it('[ENS-T6] An interrupted guardrail fails its task with TASK_TIMEOUT at the time limit, and is abandoned if it ignores the signal', async () => {
    const { events } = await run(
      { input: [() => new Promise<true>(() => undefined)] },
      { timeoutMs: 1_000 },
    )
    expect(eventsOf(events, 'task_failed')).toMatchObject([
      {
        code: 'TASK_TIMEOUT',
        durationMs: 6_000,
        reason:
          'Task "first" took longer than 1000 ms; Guardrail was abandoned: it ignored its signal',
      },
    ])
  })
})
