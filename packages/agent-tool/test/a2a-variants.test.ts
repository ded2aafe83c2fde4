/** Tests the connector with each binding and version of A2A, against servers of the A2A SDK. */
import { AgentError } from '@tutti/agent-call/internal'
import { expect, test, vi } from 'vitest'

import { a2aConnector } from '../src/a2a/a2a-connector.ts'
import { hurriedCall } from './a2a-hurried-call.ts'
import { sdkAgent, VARIANTS, type Work } from './a2a-sdk-agent.ts'
import { askOnce, sendTurn } from './test-call.ts'

const variants = VARIANTS.flatMap((variant) =>
  [true, false].map((streaming) => ({ ...variant, streaming })),
)

test.each(variants)(
  'The A2A connector returns the artifacts of a completed task ($version $binding, streaming $streaming)',
  async ({ streaming, ...variant }) => {
    const agent = await sdkAgent(
      (work) => {
        work.task()
        work.status('TASK_STATE_WORKING')
        work.artifact('a', [{ text: 'Hello, ' }])
        work.artifact('a', [{ text: work.text }], { append: true, lastChunk: true })
        work.status('TASK_STATE_COMPLETED')
      },
      { variant, streaming },
    )
    const { answer } = await askOnce(a2aConnector({ url: agent.url }), 'world', hurriedCall())
    expect(answer).toEqual({
      kind: 'end',
      state: 'completed',
      output: 'Hello, world',
      text: 'Hello, world',
    })
  },
)

test.each(variants)(
  'The A2A connector answers a question in the same task ($version $binding, streaming $streaming)',
  async ({ streaming, ...variant }) => {
    const seen: unknown[] = []
    const agent = await sdkAgent(
      (work) => {
        seen.push([work.context.task?.id, work.message['taskId'], work.text])
        work.task()
        if (work.context.task === undefined) {
          work.status('TASK_STATE_INPUT_REQUIRED', 'Which colour?')
          return
        }
        work.artifact('a', [{ text: `It is ${work.text}` }])
        work.status('TASK_STATE_COMPLETED')
      },
      { variant, streaming },
    )
    const connector = a2aConnector({ url: agent.url })
    const session = await connector.connect(hurriedCall())
    const first = await sendTurn(session, 'paint it', 0)
    expect(first.answer).toMatchObject({ state: 'input_required', question: 'Which colour?' })
    const second = await sendTurn(session, 'blue', 1)
    expect(second.answer).toMatchObject({ state: 'completed', output: 'It is blue' })
    const [, [taskId, sentId, text]] = seen as [unknown, unknown[]]
    expect({ sentId, text }).toEqual({ sentId: taskId, text: 'blue' })
    expect(taskId).toEqual(expect.any(String))
  },
)

test.each(variants)(
  'The A2A connector cancels the task ($version $binding, streaming $streaming)',
  async ({ streaming, ...variant }) => {
    const working = Promise.withResolvers<Work>()
    const agent = await sdkAgent(
      async (work) => {
        work.task('TASK_STATE_WORKING')
        working.resolve(work)
        await new Promise((resolve) => {
          work.cancelled.addEventListener('abort', resolve)
        })
      },
      { variant, streaming },
    )
    const call = hurriedCall({ mode: 'streaming' })
    const connector = a2aConnector({ url: agent.url })
    const session = await connector.connect(call)
    const updates = session.send({ input: 'run until cancelled', index: 0 })[Symbol.asyncIterator]()
    await updates.next()
    const { context } = await working.promise
    await session.cancel(AbortSignal.timeout(10_000))
    expect(agent.cancelled).toEqual([context.taskId])
    call.abort()
    await updates.return?.()
  },
)

test.each(variants)(
  'The A2A connector reports a failed task with its partial output ($version $binding, streaming $streaming)',
  async ({ streaming, ...variant }) => {
    const agent = await sdkAgent(
      (work) => {
        work.task('TASK_STATE_WORKING')
        work.artifact('a', [{ text: 'Half of it' }])
        work.status('TASK_STATE_FAILED', 'The quota is used up')
      },
      { variant, streaming },
    )
    const connector = a2aConnector({ url: agent.url })
    const failure = await askOnce(connector, 'go', hurriedCall()).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(AgentError)
    expect(failure).toMatchObject({
      message: 'The agent failed: The quota is used up',
      failureType: 'agent_failed',
      retryable: false,
      partial: 'Half of it',
    })
  },
)

test.each(variants)(
  'The A2A connector reports an executor that throws as a failure of the agent ($version $binding, streaming $streaming)',
  async ({ streaming, ...variant }) => {
    // The server of the SDK logs caught errors there.
    vi.spyOn(console, 'error').mockReturnValue()
    const agent = await sdkAgent(
      (work) => {
        work.task('TASK_STATE_WORKING')
        throw new Error('out of paper')
      },
      { variant, streaming },
    )
    const connector = a2aConnector({ url: agent.url })
    const failure = await askOnce(connector, 'go', hurriedCall()).catch((error: unknown) => error)
    expect(failure).toMatchObject({ failureType: 'agent_failed', retryable: false })
    expect(String(failure)).toContain('out of paper')
    vi.restoreAllMocks()
  },
)

test.each(variants)(
  'The A2A connector accepts an answer without a task ($version $binding, streaming $streaming)',
  async ({ streaming, ...variant }) => {
    const contexts: unknown[] = []
    const agent = await sdkAgent(
      (work) => {
        contexts.push(work.context.contextId)
        work.reply([{ text: `You said ${work.text}` }])
      },
      { variant, streaming },
    )
    const connector = a2aConnector({ url: agent.url })
    const session = await connector.connect(hurriedCall())
    const { answer } = await sendTurn(session, 'hi', 0)
    expect(answer).toMatchObject({ state: 'open', output: 'You said hi' })
    await sendTurn(session, 'again', 1)
    const [first, second] = contexts
    expect(first).toEqual(expect.any(String))
    expect(second).toBe(first)
  },
)

test.each(VARIANTS)(
  'The A2A connector resubscribes to a running task whose stream was reset ($version $binding)',
  async (variant) => {
    let streams = 0
    const agent = await sdkAgent(
      async (work) => {
        work.task('TASK_STATE_WORKING')
        work.artifact('a', [{ text: 'one, ' }])
        await agent.requested('subscribe')
        work.artifact('a', [{ text: 'two' }], { append: true })
        work.status('TASK_STATE_COMPLETED')
      },
      {
        variant,
        before(request, response, next) {
          const isStream = /stream/i.test(`${request.path} ${request.body?.method}`)
          if (isStream) {
            streams += 1
            const write = response.write.bind(response)
            response.write = (piece: unknown) => {
              const isCut = String(piece).includes('one, ')
              return write(piece, () => isCut && response.socket?.resetAndDestroy())
            }
          }
          next()
        },
      },
    )
    const connector = a2aConnector({ url: agent.url })
    const { answer } = await askOnce(connector, 'go', hurriedCall({ mode: 'streaming' }))
    expect(answer).toMatchObject({ state: 'completed', output: 'one, two' })
    expect(streams).toBe(1)
  },
)
