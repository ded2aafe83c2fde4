import { TuttiError, Type, type TSchema } from '@tutti/core'
import type { AnswerOptions } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import { CallerReviewer } from './caller-reviewer.ts'

import type { OpenReview } from '../ports/run-reviewer.ts'

const review: OpenReview = {
  reviewId: 'r',
  runId: 'run',
  kind: 'TASK_OUTPUT',
  timing: 'AFTER_EXECUTION',
  taskName: 'write',
  taskIndex: 0,
  attempt: 0,
  agentRole: 'Writer',
  taskDescription: 'Write it',
  taskOutput: 'Written',
  timeoutMs: 50,
  onTimeout: 'CONTINUE',
  openedAt: 0,
}

interface Asked {
  readonly question: string
  readonly options: AnswerOptions<TSchema> | undefined
}

function createReviewer(answer: () => unknown): { reviewer: CallerReviewer; asked: Asked[] } {
  const asked: Asked[] = []
  const requestAnswer = async (
    question: string,
    options?: AnswerOptions<TSchema>,
  ): Promise<never> => {
    asked.push({ question, options })
    // NOTE: the casts stand for answers of the caller's reviewer.
    return answer() as never
  }
  return { reviewer: new CallerReviewer('inner', { requestAnswer }), asked }
}

function fail(error: Error): never {
  throw error
}

const { signal } = new AbortController()

describe('[ENS-N3] CallerReviewer', () => {
  it.each([
    ['BEFORE_EXECUTION', 'May task "write" of "inner" begin? Write it'],
    ['DURING_EXECUTION', 'In task "write" of "inner": Write it'],
    ['AFTER_EXECUTION', 'Is this output of task "write" of "inner" right?\nWritten'],
  ] as const)(
    'CallerReviewer asks about the task %s, with the time limit and the signal of the review',
    async (timing, text) => {
      const { reviewer, asked } = createReviewer(() => ({ answered: false, timedOut: false }))
      expect(await reviewer.decide({ ...review, timing, prompt: 'Look' }, signal)).toEqual({
        action: 'CONTINUE',
      })
      expect(asked).toMatchObject([
        { question: `Look\n${text}`, options: { timeoutMs: 50, signal } },
      ])
    },
  )

  it('CallerReviewer uses the answer as the new text, or as the input of a tool', async () => {
    const { reviewer, asked } = createReviewer(() => ({ answered: true, value: 7 }))
    expect(await reviewer.decide(review, signal)).toEqual({ action: 'EDIT', text: '7' })
    const during = { ...review, kind: 'TOOL_CALL', timing: 'DURING_EXECUTION' } as const
    expect(await reviewer.decide(during, signal)).toEqual({ action: 'EDIT', input: 7 })
    expect(asked[0]?.options?.schema).toEqual(Type.String())
  })

  it('CallerReviewer does not decide when the question times out, and rejects when the review closes', async () => {
    const controller = new AbortController()
    const { reviewer } = createReviewer(() => ({ answered: false, timedOut: true }))
    const deciding = reviewer.decide(review, controller.signal)
    controller.abort()
    await expect(deciding).rejects.toThrow('The review is closed')
    await expect(reviewer.decide(review, controller.signal)).rejects.toThrow('The review is closed')
  })

  it("CallerReviewer rejects the work or ends the run as the caller's reviewer decides", async () => {
    const details = { feedback: 'Shorter' }
    const refused = createReviewer(() => fail(new TuttiError('TOOL_REJECTED', 'x', { details })))
    expect(await refused.reviewer.decide(review, signal)).toEqual({
      action: 'REJECT',
      feedback: 'Shorter',
    })
    const silent = createReviewer(() => fail(new TuttiError('TOOL_REJECTED', 'x')))
    expect(await silent.reviewer.decide(review, signal)).toEqual({ action: 'REJECT' })
    expect(silent.reviewer.exit).toBeUndefined()
    const exit = new TuttiError('EXIT_EARLY', 'x')
    const ended = createReviewer(() => fail(exit))
    expect(await ended.reviewer.decide(review, signal)).toEqual({ action: 'EXIT_EARLY' })
    expect(ended.reviewer.exit).toBe(exit)
  })

  it.each([new TuttiError('TOOL_FAILED', 'Odd'), new Error('Odd')])(
    'CallerReviewer rejects with any other error',
    async (error) => {
      await expect(createReviewer(() => fail(error)).reviewer.decide(review, signal)).rejects.toBe(
        error,
      )
    },
  )
})
