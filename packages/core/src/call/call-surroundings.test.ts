/** Tests of the context of a body: remaining limits, trace, questions and reports. */
import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../../../tooling/test-kit/clock.ts'
import { defineTool } from '../definition/define-tool.ts'
import { runTool } from './run-tool.ts'
import Type from 'typebox'

import type { TimedAgentReport } from '../tool/agent-report.ts'
import type { ApprovalAnswer, ApprovalRequest, Reviewer } from '../tool/approval.ts'
import type { AgentTool, ToolContext } from '../tool/tool.ts'
import type { RunToolOptions } from './options.ts'

type Body = (context: ToolContext) => Promise<string> | string

function tool(body: Body, timeoutMs = 30_000): AgentTool {
  return defineTool({
    name: 'look',
    description: 'Looks round',
    input: Type.Object({}),
    timeoutMs,
    execute: (_, context) => body(context),
  })
}

function run(body: Body, options: RunToolOptions = {}): ReturnType<typeof runTool> {
  return runTool(tool(body), { id: 'c', name: 'look', arguments: '{}' }, options)
}

/** Returns the JSON text of a value. */
async function seen(
  body: (context: ToolContext) => unknown,
  options: RunToolOptions = {},
): Promise<unknown> {
  const { result } = await run(async (context) => JSON.stringify(await body(context)), options)
  if (!result.success) throw new Error(result.errorMessage)
  return JSON.parse(result.output)
}

describe('context.remaining', () => {
  const left = { timeMs: 50_000, costUsd: 0.5, tokens: 100 }

  it('context.remaining returns the limits of the caller, capped by the time limit of the call', async () => {
    const clock = fakeClock()
    const body: Body = async ({ remaining }) => {
      await clock.advance(10_000)
      return JSON.stringify(remaining())
    }
    const { result } = await run(body, { clock, remaining: () => left })
    expect(JSON.parse(result.output)).toEqual({ ...left, timeMs: 20_000 })
    const short = { ...left, timeMs: 100 }
    expect(await seen(({ remaining }) => remaining(), { remaining: () => short })).toEqual(short)
  })

  it('context.remaining has no limit except the time limit of the tool by default', async () => {
    const { result } = await run(({ remaining }) =>
      String(remaining().costUsd + remaining().tokens),
    )
    expect(result.output).toBe('Infinity')
  })

  it('context.remaining caps the limits of a step by those of the whole call', async () => {
    const inner = tool(({ remaining }) => JSON.stringify(remaining()), 60_000)
    const outer = await seen(async ({ callTool }) => (await callTool(inner, {})).result.output, {
      remaining: () => ({ ...left, timeMs: Infinity }),
      clock: fakeClock(),
    })
    expect(JSON.parse(String(outer))).toEqual({ ...left, timeMs: 30_000 })
  })
})

describe('context.traceparent', () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  it('context.traceparent continues the trace of the caller with one new span', async () => {
    const both = await seen((context) => `${context.traceparent} ${context.traceparent}`, {
      traceparent,
    })
    const [one, again] = String(both).split(' ')
    expect(one).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/)
    expect(again).toBe(one)
    expect(one).not.toBe(traceparent)
  })

  it('context.traceparent calls a function with the id of the call, lazily and once', async () => {
    const asked: string[] = []
    const given = (callId: string): string => {
      asked.push(callId)
      return traceparent
    }
    const both = await seen((context) => [context.traceparent, context.traceparent], {
      traceparent: given,
    })
    expect(both).toEqual([traceparent, traceparent])
    expect(asked).toEqual(['c'])
    await seen(() => true, { traceparent: given })
    expect(asked).toEqual(['c'])
  })

  it('context.traceparent gives a step a separate span', async () => {
    const inner = tool((context) => String(context.traceparent))
    const given = (callId: string): string => `of ${callId}`
    const outer = await seen(
      async (context) => {
        const step = await context.callTool(inner, {}, { step: 'first' })
        return [context.traceparent, step.result.output]
      },
      { traceparent: given },
    )
    expect(outer).toEqual(['of c', 'of c/first'])
  })

  it('context.traceparent passes on tracestate, but never without traceparent', async () => {
    const tracestate = 'vendor=1'
    const both = { traceparent, tracestate }
    expect(await seen((context) => context.tracestate ?? null, both)).toBe(tracestate)
    expect(await seen((context) => context.tracestate ?? null, { tracestate })).toBe(null)
    expect(await seen((context) => context.tracestate ?? null, { traceparent })).toBe(null)
  })

  it('context.traceparent is undefined without a trace', async () => {
    expect(await seen((context) => context.traceparent === undefined)).toBe(true)
  })
})

describe('context.requestAnswer', () => {
  const asked: ApprovalRequest[] = []
  const reviewer = (answer: ApprovalAnswer): Reviewer => ({
    async decide(request) {
      asked.push(request)
      return answer
    },
  })

  it('context.requestAnswer returns the answer of the reviewer, by default as text', async () => {
    const answer = await seen(({ requestAnswer }) => requestAnswer('Which city?'), {
      reviewer: reviewer({ action: 'EDIT', input: 'Bonn' }),
    })
    expect(answer).toEqual({ answered: true, value: 'Bonn' })
    expect(asked.at(-1)).toMatchObject({
      description: 'Which city?',
      input: null,
      inputSchema: { type: 'string' },
    })
  })

  it('context.requestAnswer coerces an answer that matches its schema, as for inputs', async () => {
    const schema = Type.Object({ days: Type.Integer() })
    const ask: Body = async ({ requestAnswer }) => {
      const answer = await requestAnswer('How long?', { schema })
      return answer.answered ? String(answer.value.days + 1) : 'none'
    }
    const fits = await run(ask, { reviewer: reviewer({ action: 'EDIT', input: { days: '3' } }) })
    expect(fits.result.output).toBe('4')
    expect(await asked.at(-1)?.checkEdit({ days: 'x' })).toMatchObject([{ path: '/days' }])
    const misfit = await run(ask, { reviewer: reviewer({ action: 'EDIT', input: { days: 'x' } }) })
    expect(misfit.result.errorMessage).toContain('Invalid answer for "look"')
  })

  it('context.requestAnswer distinguishes a timeout and continuing without an answer from an answer', async () => {
    const passed = await seen(({ requestAnswer }) => requestAnswer('?'), {
      reviewer: reviewer({ action: 'CONTINUE' }),
    })
    expect(passed).toEqual({ answered: false, timedOut: false })
    const clock = fakeClock()
    const silent = run(
      async ({ requestAnswer }) =>
        JSON.stringify(await requestAnswer('?', { timeoutMs: 100, onTimeout: 'CONTINUE' })),
      { clock, reviewer: { decide: () => new Promise(() => undefined) } },
    )
    await clock.advance(100)
    expect(JSON.parse((await silent).result.output)).toEqual({ answered: false, timedOut: true })
  })

  it('context.requestAnswer fails when the reviewer rejects the question, with the feedback in the details', async () => {
    let details: unknown
    const { result } = await run(
      async ({ requestAnswer }) => {
        await requestAnswer('?').catch((error: unknown) => {
          details = error instanceof Error && 'details' in error ? error.details : undefined
          throw error
        })
        return 'never'
      },
      { reviewer: reviewer({ action: 'REJECT', feedback: 'Ask somebody else' }) },
    )
    expect(result.errorMessage).toContain('Ask somebody else')
    expect(details).toEqual({ feedback: 'Ask somebody else' })
  })

  it('context.requestAnswer reports a misconfiguration without a reviewer', async () => {
    const { end } = await run(async ({ requestAnswer }) => JSON.stringify(await requestAnswer('?')))
    expect(end).toBe('misconfigured')
  })
})

describe('context.reportAgent', () => {
  const progress = {
    type: 'agent_tool_progress',
    retry_index: 0,
    chunk_index: 0,
    chunk: 'x',
    accumulated_cost_usd: 0,
  } as const

  it('context.reportAgent passes a report to the listener at once, with its time', async () => {
    const told: TimedAgentReport[] = []
    const clock = fakeClock()
    await run(
      ({ reportAgent }) => {
        reportAgent(progress)
        return String(told.length)
      },
      { clock, onAgentReport: ({ id }, report) => id === 'c' && told.push(report) },
    )
    expect(told).toEqual([{ ...progress, timestamp_ms: clock.now() }])
  })

  it('context.reportAgent ignores reports after the end of the call, and a listener that throws', async () => {
    let late: (() => void) | undefined
    let count = 0
    const { result } = await run(
      ({ reportAgent }) => {
        late = () => reportAgent(progress)
        late()
        return 'done'
      },
      {
        onAgentReport() {
          count += 1
          throw new Error('No')
        },
      },
    )
    late?.()
    expect([result.output, count]).toEqual(['done', 1])
  })
})
