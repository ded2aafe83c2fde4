import Type from 'typebox'
import { describe, expect, it } from 'vitest'

import { TuttiError } from '@tutti/core'
import { nextTurn, type Next } from './next-turn.ts'

import type { AgentAnswer } from './agent-connector.ts'
import type { AgentToolContext, ResolvedAgentSettings } from './agent-tool-settings.ts'

interface Given {
  readonly answer: Partial<AgentAnswer>
  readonly settings?: Partial<ResolvedAgentSettings>
  readonly ask?: (question: string, options?: object) => unknown
}

function next({ answer, settings, ask }: Given): Promise<Next> {
  // NOTE: no other fields are read to choose the next message.
  const known = { mode: 'sync', maxTurns: 5, ...settings } as ResolvedAgentSettings
  const context = {
    hasReviewer: ask !== undefined,
    requestAnswer: async (question: string, options?: object) => ask?.(question, options),
  } as unknown as AgentToolContext
  const whole: AgentAnswer = { kind: 'end', state: 'input_required', output: 'Well?', ...answer }
  return nextTurn(known, { index: 0, input: 'x', answer: whole }, context)
}

describe('[CALL-Y4] the next message', () => {
  it('The next message is the answer of the reviewer in the form that the agent requires; an empty answer is rejected', async () => {
    const asked: unknown[] = []
    const questionSchema = Type.Number()
    const said = await next({
      answer: { question: 'How many?', questionSchema },
      ask: (...given) => {
        asked.push(given)
        return { answered: true, value: 3 }
      },
    })
    expect(said).toEqual({ kind: 'say', input: 3 })
    expect(asked).toMatchObject([
      ['How many?', { onTimeout: 'CONTINUE', schema: { '~standard': { vendor: 'tutti' } } }],
    ])
    const silent = next({ answer: {}, ask: () => ({ answered: false, timedOut: true }) })
    await expect(silent).rejects.toMatchObject({
      failureType: 'input_required',
      message: 'The agent asked a question that the reviewer did not answer: Well?',
    })
  })

  it.each([
    [{ output: null }, null],
    [{ other: 1 }, { other: 1 }],
    ['text', 'text'],
  ])('The next message in a conversation is the output of %j', async (output, input) => {
    const settings = { mode: 'conversational' } as const
    const said = await next({ answer: { state: 'open', output }, settings })
    expect(said).toEqual({ kind: 'say', input })
  })

  it('The next message is not requested for a decision of a person, which is returned unchanged', async () => {
    const exit = new TuttiError('EXIT_EARLY', 'x')
    const reply = (): never => {
      throw exit
    }
    await expect(next({ answer: {}, settings: { reply } })).rejects.toBe(exit)
  })
})
