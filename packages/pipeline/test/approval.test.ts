/** Approval of pipelines and of their steps: each by its own settings, all by the same reviewer. */
import { describe, expect, it } from 'vitest'

import { defineTool, Type } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { branch, mapEach, parallel, pipeline } from '../src/index.ts'
import { call } from './call.ts'
import { failOnUnhandledRejections } from './leaks.ts'
import { textTool } from './text-tools.ts'

import type { AgentTool, ApprovalRequest, Reviewer } from '@tutti/core'
import type { ApprovalAnswer, StandardToolSchema } from '@tutti/core/internal'

failOnUnhandledRejections()

interface Script extends Reviewer {
  readonly requests: ApprovalRequest[]
}

/** A reviewer that answers from a list and records its requests. */
function createReviewer(...answers: readonly ApprovalAnswer[]): Script {
  const requests: ApprovalRequest[] = []
  return {
    requests,
    decide(request) {
      const answer = answers[requests.length]
      requests.push(request)
      return answer === undefined
        ? Promise.reject(new Error('Nothing more is scripted'))
        : Promise.resolve(answer)
    },
  }
}

const YES: ApprovalAnswer = { action: 'CONTINUE' }

const forecast = defineTool({
  name: 'forecast',
  description: 'Forecasts',
  input: Type.Object({ city: Type.String(), days: Type.Integer({ default: 3 }) }),
  execute: ({ city, days }) => `${city} ${days}`,
})
const careful = textTool('careful', (text) => `${text}!`, { requireApproval: true })

describe('the approval of a pipeline', () => {
  it('The approval of a pipeline is requested once, before the first step', async () => {
    const reviewer = createReviewer(YES)
    const tool = pipeline([forecast, textTool('b')], { name: 'p', requireApproval: true })
    const { result } = await call(tool, { city: 'Bonn' }, { reviewer })
    expect(result.output).toBe('Bonn 3>b')
    expect(reviewer.requests).toMatchObject([
      {
        toolName: 'p',
        callId: 'c',
        description: 'Call tool: p\nInput: {"city":"Bonn"}',
        input: { city: 'Bonn' },
        inputSchema: forecast.inputSchema,
      },
    ])
  })

  it('The approval of a pipeline is not requested for invalid input', async () => {
    const reviewer = createReviewer(YES)
    const tool = pipeline([forecast], { requireApproval: true })
    expect((await call(tool, {}, { reviewer })).result.success).toBe(false)
    expect(reviewer.requests).toEqual([])
  })

  it('The approval of a pipeline can be described from the decoded input of the first step', async () => {
    const reviewer = createReviewer(YES, YES)
    const describeInput = ({ city, days }: { city: string; days: number }): string =>
      `${city} for ${days.toFixed(0)} days`
    const requireApproval = { describe: describeInput, timeoutMs: 7, onTimeout: 'FAIL' } as const
    await call(pipeline([forecast], { requireApproval }), { city: 'Bonn' }, { reviewer })
    await call(pipeline([forecast], { requireApproval }), { city: 'Bonn', days: '5' }, { reviewer })
    expect(reviewer.requests).toMatchObject([
      { description: 'Bonn for 3 days', timeoutMs: 7, onTimeout: 'FAIL' },
      { description: 'Bonn for 5 days' },
    ])
  })

  it('The approval of a pipeline can be described from the decoded items of a list', async () => {
    const reviewer = createReviewer(YES)
    const describeItems = (input: unknown): string => JSON.stringify(input)
    const tool = mapEach(forecast, { requireApproval: { describe: describeItems } })
    await call(tool, { items: [{ city: 'Bonn' }, { city: 'Ulm', days: '1' }] }, { reviewer })
    expect(reviewer.requests[0]?.description).toBe(
      '[{"city":"Bonn","days":3},{"city":"Ulm","days":1}]',
    )
  })

  it('The approval of a pipeline can edit the input, which the first step then decodes', async () => {
    const readings: unknown[] = []
    const jsonSchema = (): Record<string, unknown> => ({ type: 'object' })
    const measuring: StandardToolSchema<{ text: string }, { length: number }> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate(value) {
          readings.push(value)
          const { text } = value as { text?: string }
          return text === undefined
            ? { issues: [{ message: 'is required', path: ['text'] }] }
            : { value: { length: text.length } }
        },
        jsonSchema: { input: jsonSchema, output: jsonSchema },
      },
    }
    const measure = defineTool({
      name: 'measure',
      description: 'Measures',
      input: measuring,
      execute: ({ length }) => String(length),
    })
    const reviewer = createReviewer({ action: 'EDIT', input: { text: 'abcd' } })
    const tool = pipeline([measure], { requireApproval: true })
    const { result } = await call(tool, { text: 'a' }, { reviewer })
    expect(result.output).toBe('4')
    expect(readings.every((value) => 'text' in Object(value))).toBe(true)
    expect(await reviewer.requests[0]?.checkEdit({})).toMatchObject([{ path: '/text' }])
  })

  it('The approval of a pipeline can edit text', async () => {
    const reviewer = createReviewer({ action: 'EDIT', input: { input: 'y' } })
    const tool = pipeline([textTool('a')], { requireApproval: true })
    expect((await call(tool, { input: 'x' }, { reviewer })).result.output).toBe('y>a')
  })

  it('The approval of a pipeline runs no step when it is rejected', async () => {
    const reviewer = createReviewer({ action: 'REJECT', feedback: 'Not today' })
    const tool = pipeline([forecast], { name: 'p', requireApproval: true })
    const { result, steps } = await call(tool, { city: 'Bonn' }, { reviewer })
    expect(result.errorMessage).toBe('The reviewer rejected the call of "p": Not today')
    expect(steps).toEqual([])
  })
})

describe('the approval of a step', () => {
  it.each<[string, AgentTool, unknown, string]>([
    ['of a pipeline', pipeline([textTool('a'), careful]), { input: 'x' }, 'c/2:careful'],
    [
      'of nested pipelines',
      pipeline([pipeline([pipeline([careful])])]),
      { input: 'x' },
      'c/1:careful/1:careful/1:careful',
    ],
    ['of a branch', branch({ when: () => true, yes: careful }), { input: 'x' }, 'c/yes'],
    ['of branches', parallel({ b: careful }), { input: 'x' }, 'c/b'],
    ['of an item', mapEach(careful), { items: ['x'] }, 'c/#0'],
  ])(
    'The approval of a step is requested from the reviewer of the call: %s',
    async (_, tool, input, callId) => {
      const reviewer = createReviewer(YES)
      const { result } = await call(tool, input, { reviewer })
      expect(result.output).toContain('!')
      expect(reviewer.requests).toMatchObject([{ toolName: 'careful', callId }])
    },
  )

  it('The approval of a step fails the step when it is rejected', async () => {
    const refuse = { action: 'REJECT' } as const
    const { result } = await call(
      pipeline([careful, textTool('b')]),
      { input: 'x' },
      { reviewer: createReviewer(refuse) },
    )
    expect(result.errorMessage).toBe('The reviewer rejected the call of "careful"')
    const goesOn = await call(
      pipeline([careful, textTool('b')], { errorStrategy: 'CONTINUE_ON_FAILURE' }),
      { input: 'x' },
      { reviewer: createReviewer(refuse) },
    )
    expect(goesOn.result.output).toBe('The reviewer rejected the call of "careful">b')
  })

  it('The approval of a step ends the pipeline when it ends the run', async () => {
    const reviewer = createReviewer({ action: 'EXIT_EARLY' })
    const tool = pipeline([careful, textTool('b')], { errorStrategy: 'CONTINUE_ON_FAILURE' })
    const { end, steps } = await call(tool, { input: 'x' }, { reviewer })
    expect(end).toBe('exit_early')
    expect(steps).toEqual(['c/1:careful careful exit_early'])
  })

  it('The approval of a step is a misconfiguration, not an approval, without a reviewer', async () => {
    const tool = pipeline([careful, textTool('b')], { errorStrategy: 'CONTINUE_ON_FAILURE' })
    const { end, error } = await call(tool, { input: 'x' })
    expect(end).toBe('misconfigured')
    expect(error?.message).toBe('Tool "careful" requires approval, but no reviewer is configured')
  })

  it('The approval of a step pauses the time limits of all enclosing pipelines', async () => {
    const clock = fakeClock()
    const reviewer: Reviewer = {
      async decide() {
        await sleep(clock, 200_000)
        return YES
      },
    }
    const tool = pipeline([pipeline([careful], { timeoutMs: 500 })], { timeoutMs: 1_000 })
    const running = call(tool, { input: 'x' }, { clock, reviewer })
    await clock.advance(200_000)
    expect((await running).result.output).toBe('x!')
  })
})
