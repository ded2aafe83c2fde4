import { TuttiError, Type, type AnswerOptions, type TSchema } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { CallerReviewer } from './reviews-above.ts'

import type { Gate } from '../ports/run-reviewer.ts'

const gate: Gate = {
  reviewId: 'r',
  runId: 'run',
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

function gatesThat(answer: () => unknown): { gates: CallerReviewer; asked: Asked[] } {
  const asked: Asked[] = []
  const requestAnswer = async (
    question: string,
    options?: AnswerOptions<TSchema>,
  ): Promise<never> => {
    asked.push({ question, options })
    // NOTE: these answers are what a reviewer above gives.
    return answer() as never
  }
  return { gates: new CallerReviewer('inner', { requestAnswer }), asked }
}

function fail(error: Error): never {
  throw error
}

const { signal } = new AbortController()

describe('[N3] a gate whose question goes up', () => {
  it.each([
    ['BEFORE_EXECUTION', 'May task "write" of "inner" begin? Write it'],
    ['DURING_EXECUTION', 'In task "write" of "inner": Write it'],
    ['AFTER_EXECUTION', 'Is this output of task "write" of "inner" right?\nWritten'],
  ] as const)(
    'says what it is about %s, within its time, and can be taken back',
    async (timing, words) => {
      const { gates, asked } = gatesThat(() => ({ answered: false, timedOut: false }))
      expect(await gates.decide({ ...gate, timing, prompt: 'Look' }, signal)).toEqual({
        action: 'CONTINUE',
      })
      expect(asked).toMatchObject([
        { question: `Look\n${words}`, options: { timeoutMs: 50, signal } },
      ])
    },
  )

  it('takes what was answered as the text, or as the input of a tool', async () => {
    const { gates, asked } = gatesThat(() => ({ answered: true, value: 7 }))
    expect(await gates.decide(gate, signal)).toEqual({ action: 'EDIT', text: '7' })
    const during = { ...gate, timing: 'DURING_EXECUTION' } as const
    expect(await gates.decide(during, signal)).toEqual({ action: 'EDIT', input: 7 })
    expect(asked[0]?.options?.schema).toEqual(Type.String())
  })

  it('decides nothing when the time is over, and ends with the gate', async () => {
    const controller = new AbortController()
    const { gates } = gatesThat(() => ({ answered: false, timedOut: true }))
    const deciding = gates.decide(gate, controller.signal)
    controller.abort()
    await expect(deciding).rejects.toThrow('The gate is closed')
    await expect(gates.decide(gate, controller.signal)).rejects.toThrow('The gate is closed')
  })

  it('is refused, or ends the run, as the reviewer above says', async () => {
    const details = { feedback: 'Shorter' }
    const refused = gatesThat(() => fail(new TuttiError('TOOL_REJECTED', 'x', { details })))
    expect(await refused.gates.decide(gate, signal)).toEqual({
      action: 'REJECT',
      feedback: 'Shorter',
    })
    const silent = gatesThat(() => fail(new TuttiError('TOOL_REJECTED', 'x')))
    expect(await silent.gates.decide(gate, signal)).toEqual({ action: 'REJECT' })
    expect(silent.gates.exit).toBeUndefined()
    const exit = new TuttiError('EXIT_EARLY', 'x')
    const ended = gatesThat(() => fail(exit))
    expect(await ended.gates.decide(gate, signal)).toEqual({ action: 'EXIT_EARLY' })
    expect(ended.gates.exit).toBe(exit)
  })

  it.each([new TuttiError('TOOL_FAILED', 'Odd'), new Error('Odd')])(
    'fails with what else goes wrong',
    async (error) => {
      await expect(gatesThat(() => fail(error)).gates.decide(gate, signal)).rejects.toBe(error)
    },
  )
})
