import { defineTool, Type, type TSchema } from '@tutti/core'
import { foreignSchema, schemaReader } from '@tutti/core/internal'
import { describe, expect, it } from 'vitest'

import { readDecision, type DecidableReview } from './read-decision.ts'

import type { ReviewVerdict } from '@tutti/protocol/internal'

const checkEdit = async () => []

const REVIEWS: Readonly<Record<string, DecidableReview>> = {
  'before a task': { reviewId: 'r1', kind: 'TASK_INPUT', timing: 'BEFORE_EXECUTION' },
  'after a task': { reviewId: 'r1', kind: 'TASK_OUTPUT', timing: 'AFTER_EXECUTION' },
  'of a tool call': {
    reviewId: 'r1',
    kind: 'TOOL_CALL',
    timing: 'DURING_EXECUTION',
    approval: { checkEdit, inputSchema: {} },
  },
  'of a client tool': {
    reviewId: 'r1',
    kind: 'CLIENT_TOOL',
    timing: 'DURING_EXECUTION',
    approval: { checkEdit, inputSchema: {} },
  },
}

const decide = (review: DecidableReview, verdict: object): Promise<unknown> =>
  // NOTE: reviewers are third-party code and can return anything.
  readDecision(review, verdict as ReviewVerdict, async () => undefined)

describe.each(Object.entries(REVIEWS))('[ENS-G13] a decision of a review %s', (_, review) => {
  const edited = review.timing === 'DURING_EXECUTION' ? { input: 1 } : { text: '1' }
  const [own = ''] = Object.keys(edited)

  it.each([
    ['CONTINUE', { input: 1 }, 'input'],
    ['CONTINUE', { text: '' }, 'text'],
    ['CONTINUE', { feedback: 'why' }, 'feedback'],
    ['EDIT', { ...edited, feedback: 'why' }, 'feedback'],
    ['EDIT', { input: 1, text: '1' }, own === 'input' ? 'text' : 'input'],
    ['EDIT', { revisedOutput: '1', feedback: 'why' }, 'feedback'],
    ['EDIT', { ...edited, note: 1 }, 'note'],
    ['REJECT', { input: 1 }, 'input'],
    ['REJECT', { feedback: 'why', text: '1' }, 'text'],
    ['EXIT_EARLY', { feedback: 'why' }, 'feedback'],
    ['EXIT_EARLY', { input: 1 }, 'input'],
    ['EXIT_EARLY', { text: '1' }, 'text'],
  ])('%s with %j is rejected and names the field', async (action, fields, named) => {
    await expect(decide(review, { action, ...fields })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining(`${action} does not use the field "${named}"`),
    })
  })

  it.each([
    { action: 'EDIT', ...edited },
    { action: 'REJECT', feedback: 'why' },
    { action: 'REJECT' },
    { action: 'EXIT_EARLY' },
    { action: 'EXIT_EARLY', feedback: undefined },
  ])('%j is accepted with its id and its reviewer', async (verdict) => {
    const decision = { ...verdict, id: 'd1', decidedBy: 'ann' }
    expect(await decide(review, decision)).toEqual(decision)
  })

  it.each(['CONTINUE', 'REJECT', 'EXIT_EARLY'])('%s never drops a typed text', async (action) => {
    await expect(decide(review, { action, revisedOutput: '9' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining(`${action} does not use the field`),
    })
  })
})

describe('an EDIT of a tool call with an integer beyond 2^53', () => {
  const review = (input: object): DecidableReview => {
    const tool = defineTool({ name: 'pay', description: 'Pays', input, execute: () => 'paid' })
    const checkInput = async (edited: unknown) => {
      const decoded = await tool.readInput(edited)
      return decoded.ok ? [] : decoded.problems
    }
    return {
      reviewId: 'r1',
      kind: 'TOOL_CALL',
      timing: 'DURING_EXECUTION',
      approval: { checkEdit: checkInput, inputSchema: tool.inputSchema },
    }
  }
  const verdict = { action: 'EDIT', revisedOutput: '{"id":7256000000000000001}' }

  it('An EDIT of a tool call with an integer beyond 2^53 says that the tool cannot take the integer as a number, and how it can be sent', async () => {
    await expect(decide(review(Type.Object({ id: Type.Number() })), verdict)).rejects.toMatchObject(
      {
        code: 'BAD_REQUEST',
        message:
          'Cannot decide review "r1": input/id: must be a number between -9007199254740991 and 9007199254740991, got 7256000000000000001; a tool can declare a string or BigInt for longer ones',
      },
    )
  })

  it.each([Type.String(), Type.BigInt(), Type.Unknown()])(
    'An EDIT of a tool call with an integer beyond 2^53 is recorded with its digits as text if the tool accepts them (%#)',
    async (id) => {
      expect(await decide(review(Type.Object({ id })), verdict)).toEqual({
        action: 'EDIT',
        input: { id: '7256000000000000001' },
      })
    },
  )
})

describe('[ENS-G18] an EDIT of a question', () => {
  const question = (schema: TSchema): DecidableReview => {
    const { jsonSchema, read } = schemaReader(foreignSchema(schema).schema, { action: 'Test' })
    const checkAnswer = async (answer: unknown) => {
      const decoded = await read(answer)
      return decoded.ok ? [] : decoded.problems
    }
    return {
      reviewId: 'r1',
      kind: 'QUESTION',
      timing: 'DURING_EXECUTION',
      approval: { checkEdit: checkAnswer, inputSchema: jsonSchema },
    }
  }
  const answer = (schema: TSchema, revisedOutput: string): Promise<unknown> =>
    decide(question(schema), { action: 'EDIT', revisedOutput })

  it.each(['Germany', '"Germany"', '42', 'null', '{"a":1}', ' yes '])(
    'An EDIT of a question takes the text %j as it is when the answer is a text',
    async (text) => {
      expect(await answer(Type.String(), text)).toEqual({ action: 'EDIT', input: text })
    },
  )

  it.each([
    [Type.Integer(), '42', 42],
    [Type.Boolean(), 'true', true],
    [Type.Object({ city: Type.String() }), '{"city":"Bonn"}', { city: 'Bonn' }],
    [Type.Enum(['red', 'blue']), 'red', 'red'],
    [Type.Enum(['red', 'blue']), '"red"', 'red'],
    [Type.Enum(['1', '2']), '2', '2'],
    [Type.Union([Type.String(), Type.Integer()]), '42', 42],
    [Type.Union([Type.String(), Type.Integer()]), 'Germany', 'Germany'],
  ])('An EDIT of a question with the schema %j reads %j as %j', async (schema, text, value) => {
    expect(await answer(schema, text)).toEqual({ action: 'EDIT', input: value })
  })

  it.each([
    [Type.Integer(), 'many', 'answer: must be an integer, got "many"'],
    [Type.Integer(), '1.5', 'answer: must be an integer, got 1.5'],
    [Type.Object({ city: Type.String() }), '{"city":7}', 'answer/city: must be a string, got 7'],
  ])(
    'An EDIT of a question with the schema %j rejects %j and names the answer',
    async (schema, text, problem) => {
      await expect(answer(schema, text)).rejects.toMatchObject({
        code: 'BAD_REQUEST',
        message: `Cannot decide review "r1": ${problem}`,
      })
    },
  )
})
