import { runTool, toolContext, type ToolCallOutcome } from '@tutti/core'
import { toOutcomeText, type ApprovalAnswer } from '@tutti/core/internal'
import { fakeClock, scriptedReviewer } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { humanInput, type HumanInputOptions } from './human-input.ts'

const QUESTION = 'Which of the two shall I buy?'

const call = (input: string): Parameters<typeof runTool>[1] => ({
  id: 'call-1',
  name: 'human_input',
  arguments: JSON.stringify({ input }),
})

/** Returns the outcome of a call whose question gets this answer. */
function answered(answer: ApprovalAnswer): Promise<ToolCallOutcome> {
  return runTool(humanInput(), call(QUESTION), { reviewer: scriptedReviewer([answer]) })
}

/** Returns the outcome of a call without an answer within `waitMs`. */
async function unanswered(options: HumanInputOptions, waitMs: number): Promise<ToolCallOutcome> {
  const clock = fakeClock()
  const reviewer = scriptedReviewer(['never'])
  const running = runTool(humanInput(options), call(QUESTION), { clock, reviewer })
  await clock.advance(waitMs)
  expect(clock.pending).toBe(0)
  return running
}

describe('the answer of a person', () => {
  it('The answer of a person is the result, without a note that the input of the call was changed', async () => {
    const outcome = await answered({ action: 'EDIT', input: 'The red one' })
    expect(outcome).toMatchObject({
      end: 'finished',
      result: { success: true, output: 'The red one' },
    })
    expect(outcome).not.toHaveProperty('edits')
    expect(toOutcomeText(outcome)).toBe('The red one')
  })

  it('The answer of a person keeps its spaces and line breaks', async () => {
    const { result } = await answered({ action: 'EDIT', input: ' one\n two\n' })
    expect(result.output).toBe(' one\n two\n')
  })

  it.each<[string, ApprovalAnswer]>([
    ['agreement', { action: 'CONTINUE' }],
    ['a blank text', { action: 'EDIT', input: ' \n' }],
  ])(
    'The answer of a person is reported as an approval without text: %s',
    async (_title, answer) => {
      const { result } = await answered(answer)
      expect(result).toMatchObject({
        success: true,
        output:
          'The person has read the question and lets you continue, without a written answer. Decide for yourself.',
      })
    },
  )

  it('The answer of a person is a failure with the comment of the person when it is a rejection', async () => {
    const { result, end } = await answered({ action: 'REJECT', feedback: 'Ask me tomorrow' })
    expect(end).toBe('finished')
    expect(result.success).toBe(false)
    expect(result.errorMessage).toContain('Ask me tomorrow')
  })

  it('The answer of a person ends the run when it is an early exit', async () => {
    expect(await answered({ action: 'EXIT_EARLY' })).toMatchObject({
      end: 'exit_early',
      error: { code: 'EXIT_EARLY', details: { timedOut: false } },
    })
  })

  it('The answer of a person is ignored when it has an invalid shape', async () => {
    const { result } = await answered({ action: 'EDIT', input: { text: 'The red one' } })
    expect(result).toMatchObject({ success: false })
  })
})

describe('the question of human_input', () => {
  it('The question of human_input is shown to the reviewer', async () => {
    const reviewer = scriptedReviewer(['CONTINUE'])
    await runTool(humanInput(), call(QUESTION), { reviewer, agentRole: 'Buyer' })
    expect(reviewer.requests).toMatchObject([
      {
        description: QUESTION,
        toolName: 'human_input',
        agentRole: 'Buyer',
        asksForAnswer: true,
        input: null,
        inputSchema: { type: 'string' },
        timeoutMs: 300_000,
        onTimeout: 'CONTINUE',
      },
    ])
  })

  it('The question of human_input must not be blank', async () => {
    const reviewer = scriptedReviewer(['CONTINUE'])
    const { result } = await runTool(humanInput(), call(' '), { reviewer })
    expect(result.errorMessage).toBe('Question must not be blank')
    expect(reviewer.requests).toEqual([])
  })

  it('The question of human_input fails without a reviewer: an answer is never invented', async () => {
    const { result, end } = await runTool(humanInput(), call(QUESTION))
    expect(end).toBe('finished')
    expect(result).toMatchObject({
      success: false,
      errorMessage:
        'This run has no reviewer to ask. Continue with what you have, and state your assumptions',
    })
    expect(await humanInput().execute(QUESTION, toolContext())).toMatchObject({ success: false })
  })
})

describe('a missing answer', () => {
  it('A missing answer is reported after five minutes', async () => {
    expect(await unanswered({}, 300_000)).toMatchObject({
      end: 'finished',
      result: {
        success: true,
        output:
          'The person did not answer in time. Decide for yourself, and state your assumptions.',
      },
    })
  })

  it('A missing answer can end the run or fail the call', async () => {
    expect(
      await unanswered({ onTimeout: 'EXIT_EARLY', answerTimeoutMs: 1_000 }, 1_000),
    ).toMatchObject({ end: 'exit_early', error: { details: { timedOut: true } } })
    expect(await unanswered({ onTimeout: 'FAIL', answerTimeoutMs: 1_500 }, 1_500)).toMatchObject({
      end: 'finished',
      result: {
        success: false,
        errorMessage: 'The question of tool "human_input" was not answered within 1500 ms',
      },
    })
  })

  it('A missing answer does not count for the time limit of the tool', async () => {
    const { end } = await unanswered({ timeoutMs: 10, answerTimeoutMs: 60_000 }, 60_000)
    expect(end).toBe('finished')
  })

  it('A missing answer ends with the run', async () => {
    const controller = new AbortController()
    const running = runTool(humanInput(), call(QUESTION), {
      reviewer: scriptedReviewer(['never']),
      signal: controller.signal,
    })
    controller.abort()
    expect((await running).end).toBe('cancelled')
  })
})

describe('humanInput', () => {
  it('humanInput has default settings', () => {
    expect(humanInput()).toMatchObject({
      name: 'human_input',
      kind: 'text',
      requireApproval: false,
    })
    expect(humanInput({ name: 'ask' })).toMatchObject({ name: 'ask' })
  })

  it('humanInput rejects an invalid time limit at creation', () => {
    for (const answerTimeoutMs of [0, -1, Number.NaN]) {
      expect(() => humanInput({ answerTimeoutMs })).toThrow(
        new RangeError(
          `Cannot define tool "human_input": answerTimeoutMs must be > 0, got ${answerTimeoutMs}`,
        ),
      )
    }
  })
})
