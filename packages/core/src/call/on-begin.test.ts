import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { fakeClock, type FakeClock } from '../../../../tooling/test-kit/clock.ts'
import { settle } from '../../../../tooling/test-kit/wait.ts'
import { sleep } from '../clock.ts'
import { defineTool } from '../definition/define-tool.ts'
import { TuttiError } from '../errors.ts'
import { ToolResult } from '../tool/tool-result.ts'
import { BEGIN } from '../tool/begin.ts'
import { runTool } from './run-tool.ts'

import Type from 'typebox'

import type { ApprovalAnswer, ApprovalRequest, Reviewer } from '../tool/approval.ts'
import type { AgentTool } from '../tool/tool.ts'
import type { RunToolOptions } from './options.ts'

let clock: FakeClock
let seen: string[]

beforeEach(() => {
  clock = fakeClock()
  seen = []
})

afterEach(() => {
  if (clock.pending > 0) throw new Error(`${clock.pending} timers were left`)
})

const input = Type.Object({ n: Type.Number() })

function tool(settings: Partial<Parameters<typeof defineTool>[0]> = {}): AgentTool {
  return defineTool({
    name: 'work',
    description: 'Works',
    input,
    timeoutMs: 100,
    execute: ({ n }) => {
      seen.push(`body ${n}`)
      return 'done'
    },
    ...settings,
  })
}

const call = { id: 'c1', name: 'work', arguments: '{"n":1}' }

const noting: RunToolOptions['onBegin'] = ({ id }, { name }) => {
  seen.push(`begin ${id} ${name}`)
}

const deciding = (decide: (request: ApprovalRequest) => Promise<ApprovalAnswer>): Reviewer => ({
  decide(request) {
    seen.push(`asked ${request.hasBegun}`)
    return decide(request)
  },
})

const yes = deciding(() => Promise.resolve({ action: 'CONTINUE' }))

describe('[CORE-R7] onBegin', () => {
  it('onBegin is called once, before the body, with the call and its tool', async () => {
    const outcome = await runTool(tool(), call, { clock, onBegin: noting })
    expect(outcome).toMatchObject({ end: 'finished', result: { output: 'done' } })
    expect(seen).toEqual(['begin c1 work', 'body 1'])
  })

  it('onBegin is not called when the arguments are invalid', async () => {
    const bad = { ...call, arguments: '{"n":"many"}' }
    const { result } = await runTool(tool(), bad, { clock, onBegin: noting })
    expect(result.success).toBe(false)
    expect(seen).toEqual([])
  })

  it('onBegin is called after the approval, and the reviewer sees that the call has not begun', async () => {
    await runTool(tool({ requireApproval: true }), call, { clock, onBegin: noting, reviewer: yes })
    expect(seen).toEqual(['asked false', 'begin c1 work', 'body 1'])
  })

  it.each<ApprovalAnswer>([
    { action: 'REJECT' },
    { action: 'EXIT_EARLY' },
    { action: 'EDIT', input: { n: 'no' } },
  ])('onBegin is not called when the reviewer answers $action', async (answer) => {
    const reviewer = deciding(() => Promise.resolve(answer))
    await runTool(tool({ requireApproval: true }), call, { clock, onBegin: noting, reviewer })
    expect(seen).toEqual(['asked false'])
  })

  it('onBegin is not called when the call is cancelled during the review', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const reviewer = deciding(() => new Promise(() => undefined))
    const options = { clock, onBegin: noting, reviewer, signal }
    const running = runTool(tool({ requireApproval: true }), call, options)
    await settle()
    controller.abort()
    expect((await running).end).toBe('cancelled')
    expect(seen).toEqual(['asked false'])
  })

  it('onBegin is not called when the call is cancelled while its input is read', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const read = Promise.withResolvers<{ readonly value: { n: number } }>()
    const slow = defineTool({
      name: 'work',
      description: 'Works',
      input: {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: () => read.promise,
          jsonSchema: { input: () => input, output: () => input },
        },
      },
      execute: () => {
        seen.push('body')
        return 'done'
      },
    })
    const running = runTool(slow, call, { clock, onBegin: noting, signal })
    await settle()
    controller.abort()
    await settle()
    read.resolve({ value: { n: 1 } })
    expect((await running).end).toBe('cancelled')
    await settle()
    expect(seen).toEqual([])
  })

  it('onBegin is not called when the time limit passed while the input was read', async () => {
    const read = Promise.withResolvers<void>()
    const made = tool()
    const slow: AgentTool = {
      ...made,
      async call(given, context) {
        await read.promise
        return made.call(given, context)
      },
    }
    const late = Object.assign(slow.call, { [BEGIN]: true })
    const running = runTool({ ...slow, call: late }, call, { clock, onBegin: noting })
    await clock.advance(100)
    expect((await running).end).toBe('timed_out')
    read.resolve()
    await settle()
    expect(seen).toEqual([])
  })

  it('onBegin is called before a question from inside the body, and the reviewer sees that the call has begun', async () => {
    const asking = tool({
      async execute(_, { requestApproval }) {
        await requestApproval('May I?')
        return 'done'
      },
    })
    await runTool(asking, call, { clock, onBegin: noting, reviewer: yes })
    expect(seen).toEqual(['begin c1 work', 'asked true'])
  })

  it('onBegin is not called for steps, whose questions count as begun', async () => {
    const part = tool({ name: 'part', requireApproval: true })
    const whole = tool({
      execute: async (_, { callTool }) => (await callTool(part, { n: 2 })).result,
    })
    await runTool(whole, call, { clock, onBegin: noting, reviewer: yes })
    expect(seen).toEqual(['begin c1 work', 'asked true', 'body 2'])
  })

  it('onBegin is called at once for a tool that was not created by this package', async () => {
    const made = tool({ requireApproval: true })
    const other: AgentTool = {
      ...made,
      async call(given, context) {
        seen.push('other body')
        return made.call(given, context)
      },
    }
    await runTool(other, call, { clock, onBegin: noting, reviewer: yes })
    expect(seen).toEqual(['begin c1 work', 'other body', 'asked true', 'body 1'])
  })

  it('onBegin delays the body and pauses the time limit until its promise settles', async () => {
    const begun = Promise.withResolvers<void>()
    const slow = tool({
      execute: async (_, { signal }) => {
        seen.push('body')
        await sleep(clock, 90, signal)
        return 'done'
      },
    })
    const running = runTool(slow, call, { clock, onBegin: () => begun.promise })
    await clock.advance(10_000)
    expect(seen).toEqual([])
    begun.resolve()
    await clock.advance(90)
    expect((await running).end).toBe('finished')
  })

  it.each([
    ['another implementation', true],
    ['this package', false],
  ])(
    'onBegin delays the body until its promise settles, also for a tool of %s',
    async (_, isOther) => {
      const made = tool()
      const other = { ...made, call: () => Promise.resolve(ToolResult.success('other')) }
      const begun = Promise.withResolvers<void>()
      let ended = false
      const running = runTool(isOther ? other : made, call, {
        clock,
        onBegin: () => begun.promise,
      }).then((outcome) => {
        ended = true
        return outcome
      })
      await clock.advance(1_000)
      expect(ended).toBe(false)
      begun.resolve()
      expect((await running).end).toBe('finished')
    },
  )

  it.each<readonly [string, () => void | Promise<void>]>([
    [
      'throws',
      () => {
        throw new Error('No more')
      },
    ],
    ['rejects', () => Promise.reject(new Error('No more'))],
  ])(
    'onBegin prevents the body when it %s: the call ends as if the body had thrown',
    async (_, onBegin) => {
      const outcome = await runTool(tool(), call, { clock, onBegin })
      expect(outcome).toMatchObject({ end: 'threw', result: { errorMessage: 'No more' } })
      expect(seen).toEqual([])
    },
  )

  it('onBegin prevents the body when it ends the run early', async () => {
    const early = new TuttiError('EXIT_EARLY', 'Enough')
    const outcome = await runTool(tool(), call, { clock, onBegin: () => Promise.reject(early) })
    expect(outcome).toMatchObject({ end: 'exit_early', error: early })
  })

  it('onBegin prevents the body when the call is cancelled before its promise settles', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const begun = Promise.withResolvers<void>()
    const running = runTool(tool(), call, { clock, signal, onBegin: () => begun.promise })
    await settle()
    controller.abort()
    await settle()
    begun.resolve()
    expect((await running).end).toBe('cancelled')
    expect(seen).toEqual([])
  })

  it('onBegin prevents the body when the call is abandoned before its promise settles', async () => {
    const controller = new AbortController()
    const { signal } = controller
    const begun = Promise.withResolvers<void>()
    const running = runTool(tool(), call, { clock, signal, onBegin: () => begun.promise })
    await settle()
    controller.abort()
    await clock.advance(5_000)
    expect((await running).end).toBe('abandoned')
    begun.resolve()
    await settle()
    expect(seen).toEqual([])
  })
})
