import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import Type from 'typebox'

import { fakeClock, type FakeClock } from '../../../../tooling/test-kit/clock.ts'
import { settle } from '../../../../tooling/test-kit/wait.ts'
import { sleep } from '../clock.ts'
import { defineTextTool, defineTool } from '../definition/define-tool.ts'
import { createToolMetrics } from '../metrics.ts'
import { ToolResult } from '../tool/tool-result.ts'
import { toOutcomeText } from './model-text.ts'
import { runTool } from './run-tool.ts'

import type { ApprovalAnswer, ApprovalRequest, Reviewer } from '../tool/approval.ts'
import type { AgentTool, ToolContext } from '../tool/tool.ts'

const Order = Type.Object({ item: Type.String(), count: Type.Integer({ minimum: 1 }) })

let clock: FakeClock
let requests: ApprovalRequest[]

beforeEach(() => {
  clock = fakeClock()
  requests = []
})

afterEach(() => {
  if (clock.pending > 0) throw new Error(`${clock.pending} timers were left`)
})

describe('a tool that declares requireApproval', () => {
  const execute = vi.fn<(order: { item: string; count: number }) => string>(
    ({ item, count }) => `Ordered ${count} ${item}`,
  )
  const order = defineTool({
    name: 'order',
    description: 'Orders goods',
    input: Order,
    requireApproval: true,
    execute,
  })
  const call = { id: 'c1', name: 'order', arguments: '{"item":"tea","count":2}' }

  beforeEach(() => {
    execute.mockClear()
  })

  it('A tool that declares requireApproval exposes requireApproval', () => {
    expect(order.requireApproval).toBe(true)
  })

  it('A tool that declares requireApproval asks before the body runs, with the input of the body', async () => {
    const reviewer = answering({ action: 'CONTINUE' })
    const { result } = await runTool(order, call, {
      clock,
      reviewer,
      agentRole: 'Buyer',
      taskName: 'shop',
      runId: 'run-1',
    })
    expect(result).toEqual(ToolResult.success('Ordered 2 tea'))
    expect(requests).toEqual([
      {
        description: 'Call tool: order\nInput: {"item":"tea","count":2}',
        toolName: 'order',
        callId: 'c1',
        agentRole: 'Buyer',
        taskName: 'shop',
        runId: 'run-1',
        input: { item: 'tea', count: 2 },
        inputSchema: Order,
        hasBegun: false,
        isRepeatable: true,
        asksForAnswer: false,
        checkEdit: expect.any(Function),
        timeoutMs: 300_000,
        onTimeout: 'EXIT_EARLY',
      },
    ])
  })

  it('A tool that declares requireApproval does not ask about invalid input', async () => {
    const bad = { ...call, arguments: '{"count":0}' }
    const { result } = await runTool(order, bad, {
      clock,
      reviewer: answering({ action: 'CONTINUE' }),
    })
    expect(result.success).toBe(false)
    expect(requests).toEqual([])
  })

  it('A tool that declares requireApproval runs with the replaced input after EDIT', async () => {
    const reviewer = answering({ action: 'EDIT', input: { item: 'tea', count: 1 } })
    const { result } = await runTool(order, call, { clock, reviewer })
    expect(result.output).toBe('Ordered 1 tea')
  })

  it('[CORE-A3] A tool that requires approval has the replaced input in its outcome and in its text for the model', async () => {
    const reviewer = answering({ action: 'EDIT', input: { item: 'tea', count: 1 } })
    const outcome = await runTool(order, call, { clock, reviewer })
    const input = { item: 'tea', count: 1 }
    expect(outcome.edits).toEqual([{ toolName: 'order', isStep: false, input }])
    expect(toOutcomeText(outcome)).toBe(
      'A reviewer changed the input of this call to {"item":"tea","count":1}. The result is of the changed input.\n\nOrdered 1 tea',
    )
    expect(toOutcomeText(outcome, 7)).toMatch(/input\.\n\nOrdered\n\[truncated: 13 /)
  })

  it('[CORE-A3] A tool that declares requireApproval has the replaced input in its text for the model also if the result is the input', async () => {
    const echo = defineTextTool({
      name: 'echo',
      description: 'Repeats',
      requireApproval: true,
      execute: (input) => input,
    })
    const reviewer = answering({ action: 'EDIT', input: 'tea' })
    const asked = { id: 'call-1', name: 'echo', arguments: '{"input":"gin"}' }
    expect(toOutcomeText(await runTool(echo, asked, { clock, reviewer }))).toBe(
      'A reviewer changed the input of this call to "tea". The result is of the changed input.\n\ntea',
    )
  })

  it.each<readonly [string, ApprovalAnswer]>([
    ['CONTINUE', { action: 'CONTINUE' }],
    ['REJECT', { action: 'REJECT' }],
    ['an EDIT to the same input', { action: 'EDIT', input: { item: 'tea', count: 2 } }],
    ['an invalid EDIT', { action: 'EDIT', input: { item: 'tea', count: 0 } }],
  ])(
    '[CORE-A3] A tool that declares requireApproval has no replaced input after %s',
    async (_, answer) => {
      const outcome = await runTool(order, call, { clock, reviewer: answering(answer) })
      expect(outcome).not.toHaveProperty('edits')
      expect(toOutcomeText(outcome)).not.toContain('changed')
    },
  )

  it('[CORE-A3] A tool that declares requireApproval has the replaced input also if its body fails, and in the call that it is a step of', async () => {
    const broken = defineTool({
      name: 'broken',
      description: 'Fails',
      input: Order,
      requireApproval: true,
      execute: () => {
        throw new Error('Sold out')
      },
    })
    const whole = asking(async ({ callTool }) => {
      await callTool(broken, { item: 'tea', count: 2 })
    })
    const reviewer = answering({ action: 'EDIT', input: { item: 'tea', count: 1 } })
    const failed = await runTool(broken, { ...call, name: 'broken' }, { clock, reviewer })
    expect(toOutcomeText(failed)).toMatch(/^A reviewer changed .+\n\nError: Sold out$/)
    expect(toOutcomeText(await runTool(whole, CALL, { clock, reviewer }))).toMatch(
      /^A reviewer changed the input of the call of "broken", a step of this call, to \{"item":"tea","count":1\}\./,
    )
  })

  it('[CORE-A3] A tool that declares requireApproval cuts a replaced input of any length', async () => {
    const item = 'x'.repeat(200_000)
    const outcome = await runTool(order, call, {
      clock,
      reviewer: answering({ action: 'EDIT', input: { item, count: 1 } }),
    })
    expect(toOutcomeText(outcome, 100).length).toBeLessThan(51_000)
  })

  it('A tool that declares requireApproval fails with the problems of an invalid edit, which the reviewer can request first', async () => {
    const reviewer = answering({ action: 'EDIT', input: { item: 'tea', count: 0 } })
    const outcome = await runTool(order, call, { clock, reviewer })
    expect(outcome).toMatchObject({
      end: 'finished',
      result: ToolResult.failure('Invalid edited input for "order": /count must be >= 1, got 0'),
    })
    expect(execute).not.toHaveBeenCalled()
    expect(await requests[0]?.checkEdit({ item: 'tea' })).toMatchObject([{ path: '/count' }])
    expect(await requests[0]?.checkEdit({ item: 'tea', count: 1 })).toEqual([])
  })

  it('A tool that declares requireApproval returns a failure to the model after REJECT', async () => {
    const metrics = createToolMetrics()
    const reviewer = answering({ action: 'REJECT', feedback: 'Too dear' })
    const outcome = await runTool(order, call, { clock, reviewer, metrics })
    expect(outcome).toMatchObject({
      end: 'finished',
      result: ToolResult.failure('The reviewer rejected the call of "order": Too dear'),
    })
    expect(outcome).not.toHaveProperty('error')
    expect(execute).not.toHaveBeenCalled()
    expect(metrics.snapshot()).toMatchObject([{ failure: 1, error: 0 }])
  })

  it('A tool that declares requireApproval ends with exit_early after EXIT_EARLY, and is not counted', async () => {
    const metrics = createToolMetrics()
    const reviewer = answering({ action: 'EXIT_EARLY' })
    const outcome = await runTool(order, call, { clock, reviewer, metrics })
    expect(outcome).toMatchObject({
      end: 'exit_early',
      error: { code: 'EXIT_EARLY', details: { timedOut: false } },
    })
    expect(execute).not.toHaveBeenCalled()
    expect(metrics.snapshot()).toEqual([])
  })

  it('[CORE-A1] A tool that declares requireApproval is misconfigured without a reviewer and never approved', async () => {
    const outcome = await runTool(order, call, { clock })
    expect(outcome).toMatchObject({
      end: 'misconfigured',
      error: { code: 'TOOL_CONFIGURATION' },
      result: ToolResult.failure('Tool "order" requires approval, but no reviewer is configured'),
    })
    expect(execute).not.toHaveBeenCalled()
  })

  it.each([
    ['rejects', () => Promise.reject(new Error('Line is dead'))],
    [
      'throws',
      () => {
        throw new Error('Line is dead')
      },
    ],
  ])(
    '[CORE-A1] A tool that declares requireApproval fails when the reviewer %s',
    async (_, decide) => {
      const outcome = await runTool(order, call, { clock, reviewer: { decide } })
      expect(outcome).toMatchObject({
        end: 'threw',
        result: ToolResult.failure('Review of tool "order" failed: Line is dead'),
      })
      expect(execute).not.toHaveBeenCalled()
    },
  )

  it.each([[undefined], [null], [{}], [{ action: 'YES' }], ['CONTINUE']])(
    '[CORE-A1] A tool that declares requireApproval does not count the answer %j as approval',
    async (answer) => {
      const outcome = await runTool(order, call, { clock, reviewer: answering(answer as never) })
      expect(outcome.result).toEqual(
        ToolResult.failure('The reviewer of tool "order" returned no valid decision'),
      )
      expect(execute).not.toHaveBeenCalled()
    },
  )

  it('A tool that declares requireApproval uses the description and the time limit of its author', async () => {
    const own = defineTool({
      name: 'order',
      description: 'Orders goods',
      input: Order,
      requireApproval: {
        describe: ({ item }) => `Spend money on ${item}?`,
        timeoutMs: 50,
        onTimeout: 'FAIL',
      },
      execute,
    })
    const running = runTool(own, call, { clock, reviewer: silent })
    await clock.advance(50)
    expect(requests[0]?.description).toBe('Spend money on tea?')
    expect(await running).toMatchObject({
      end: 'finished',
      result: ToolResult.failure('Tool "order" was not approved within 50 ms'),
    })
  })

  it('An approval requires the role of its author, or else the default one', async () => {
    const roleOf = async (requiredRole?: string, byDefault?: string): Promise<unknown> => {
      const own = defineTool({
        name: 'order',
        description: 'Orders goods',
        input: Order,
        requireApproval: requiredRole === undefined ? true : { requiredRole },
        execute,
      })
      const reviewer = answering({ action: 'CONTINUE' })
      const approvalDefaults = byDefault === undefined ? {} : { requiredRole: byDefault }
      await runTool(own, call, { clock, reviewer, approvalDefaults })
      return requests.at(-1)?.requiredRole
    }
    expect(await roleOf('cfo')).toBe('cfo')
    expect(await roleOf('cfo', 'lead')).toBe('cfo')
    expect(await roleOf(undefined, 'lead')).toBe('lead')
    expect(await roleOf()).toBeUndefined()
  })

  it('A tool that declares requireApproval shows the first 200 characters of a long input', async () => {
    const long = { ...call, arguments: JSON.stringify({ item: 'x'.repeat(900), count: 1 }) }
    await runTool(order, long, { clock, reviewer: answering({ action: 'CONTINUE' }) })
    expect(requests[0]?.description).toHaveLength('Call tool: order\nInput: '.length + 201)
    expect(requests[0]?.description).toMatch(/^Call tool: order\nInput: \{"item":"x+…$/)
  })
})

describe('context.requestApproval', () => {
  it('context.requestApproval returns CONTINUE and EDIT, with an edit that the schema of the tool has read', async () => {
    const seen: unknown[] = []
    const tool = asking(async (context) => {
      seen.push(await context.requestApproval('Go on?'))
    })
    await runTool(tool, CALL, { clock, reviewer: answering({ action: 'CONTINUE' }) })
    await runTool(tool, CALL, { clock, reviewer: answering({ action: 'EDIT', input: 'other' }) })
    expect(seen).toEqual([
      { action: 'CONTINUE', timedOut: false },
      { action: 'EDIT', input: 'other' },
    ])
  })

  it('[CORE-A3] context.requestApproval shows the model an EDIT, and not an answer to a question', async () => {
    const reviewer = answering({ action: 'EDIT', input: 'other' })
    const approving = asking(async (context) => {
      await context.requestApproval('Go on?')
    })
    const questioning = asking(async (context) => {
      await context.requestAnswer('Where to?')
    })
    expect((await runTool(approving, CALL, { clock, reviewer })).edits).toMatchObject([
      { input: 'other' },
    ])
    expect(await runTool(questioning, CALL, { clock, reviewer })).not.toHaveProperty('edits')
  })

  it('context.requestApproval lets a body check whether a reviewer exists', async () => {
    const seen: boolean[] = []
    const tool = asking(async (context) => {
      seen.push(context.hasReviewer)
    })
    await runTool(tool, CALL, { clock })
    await runTool(tool, CALL, { clock, reviewer: silent })
    expect(seen).toEqual([false, true])
  })

  it.each([
    ['CONTINUE', { action: 'CONTINUE', timedOut: true }, 'finished'],
    ['EXIT_EARLY', undefined, 'exit_early'],
    ['FAIL', undefined, 'finished'],
  ] as const)(
    'context.requestApproval applies the timeout action without an answer: %s',
    async (onTimeout, decision, end) => {
      let seen: unknown
      const tool = asking(async (context) => {
        seen = await context.requestApproval('Go on?', { timeoutMs: 1_000, onTimeout })
      })
      const running = runTool(tool, CALL, { clock, reviewer: silent })
      await clock.advance(999)
      expect(clock.pending).toBe(1)
      await clock.advance(1)
      const outcome = await running
      expect(outcome.end).toBe(end)
      expect(outcome.result.success).toBe(onTimeout === 'CONTINUE')
      if (end === 'exit_early') expect(outcome.error?.details).toEqual({ timedOut: true })
      expect(seen).toEqual(decision)
    },
  )

  it('context.requestApproval waits five minutes and then exits early by default', async () => {
    const running = runTool(
      asking((context) => context.requestApproval('Go on?')),
      CALL,
      {
        clock,
        reviewer: silent,
      },
    )
    await clock.advance(299_999)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    expect(await running).toMatchObject({ end: 'exit_early' })
  })

  it('[CORE-A2] context.requestApproval pauses the time limit of the tool while the reviewer decides', async () => {
    const answer = Promise.withResolvers<ApprovalAnswer>()
    const tool = asking(
      async (context) => {
        await sleep(clock, 60)
        await context.requestApproval('Go on?', { timeoutMs: Infinity })
        await sleep(clock, 60)
      },
      { timeoutMs: 100 },
    )
    const running = runTool(tool, CALL, { clock, reviewer: { decide: () => answer.promise } })
    await clock.advance(100_000)
    answer.resolve({ action: 'CONTINUE' })
    await clock.advance(39)
    expect(clock.pending).toBe(2)
    await clock.advance(1)
    expect(await running).toMatchObject({ end: 'timed_out', durationMs: 100_040 })
    await clock.advance(1_000)
  })

  it('[CORE-A2] context.requestApproval resumes the time limit when both of two concurrent questions are answered', async () => {
    const first = Promise.withResolvers<ApprovalAnswer>()
    const second = Promise.withResolvers<ApprovalAnswer>()
    const answers = [first.promise, second.promise]
    const tool = asking(
      async (context) => {
        await Promise.all([
          context.requestApproval('One?', { timeoutMs: Infinity }),
          context.requestApproval('Two?', { timeoutMs: Infinity }),
        ])
      },
      { timeoutMs: 100 },
    )
    const decide = (): Promise<ApprovalAnswer> => answers.shift() ?? Promise.reject(new Error())
    const running = runTool(tool, CALL, { clock, reviewer: { decide } })
    await settle()
    first.resolve({ action: 'CONTINUE' })
    await clock.advance(10_000)
    second.resolve({ action: 'CONTINUE' })
    expect(await running).toMatchObject({ end: 'finished', durationMs: 10_000 })
  })

  it('context.requestApproval stops waiting after a cancel and notifies the reviewer that the answer is not needed', async () => {
    const controller = new AbortController()
    let given: AbortSignal | undefined
    const reviewer: Reviewer = {
      decide(_, signal) {
        given = signal
        return new Promise(() => undefined)
      },
    }
    const running = runTool(
      asking((context) => context.requestApproval('Go on?')),
      CALL,
      {
        clock,
        reviewer,
        signal: controller.signal,
      },
    )
    await settle()
    expect(given?.aborted).toBe(false)
    controller.abort()
    expect(await running).toMatchObject({ end: 'cancelled' })
    expect(given?.aborted).toBe(true)
  })

  it('context.requestApproval does not ask after a cancel', async () => {
    const controller = new AbortController()
    const tool = asking(async (context) => {
      controller.abort()
      await context.requestApproval('Go on?')
    })
    await runTool(tool, CALL, { clock, reviewer: silent, signal: controller.signal })
    expect(requests).toEqual([])
  })
})

const CALL = { id: 'c1', name: 'ask', arguments: '{"input":"x"}' }

const silent: Reviewer = {
  decide(request) {
    requests.push(request)
    return new Promise(() => undefined)
  },
}

function answering(answer: ApprovalAnswer): Reviewer {
  return {
    decide(request) {
      requests.push(request)
      return Promise.resolve(answer)
    },
  }
}

function asking(
  body: (context: ToolContext<string>) => Promise<unknown>,
  settings: { readonly timeoutMs?: number } = {},
): AgentTool {
  return defineTextTool({
    name: 'ask',
    description: 'Asks',
    ...settings,
    async execute(_, context) {
      await body(context)
      return 'ok'
    },
  })
}
