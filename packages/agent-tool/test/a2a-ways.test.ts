/** Each rule over each way of A2A, against servers of its own SDK. */
import { AgentError } from '@tutti/agent-call'
import { expect, test, vi } from 'vitest'

import { a2aConnector } from '../src/a2a/a2a-connector.ts'
import { hurriedCall } from './a2a-surroundings.ts'
import { sdkAgent, WAYS, type Work } from './a2a-sdk-agent.ts'
import { askOnce, sendTurn } from './test-call.ts'

const ways = WAYS.flatMap((way) => [true, false].map((streaming) => ({ ...way, streaming })))

test.each(ways)(
  'a completed task gives its artifacts ($version $binding, streaming $streaming)',
  async ({ streaming, ...way }) => {
    const agent = await sdkAgent(
      (work) => {
        work.task()
        work.status('TASK_STATE_WORKING')
        work.artifact('a', [{ text: 'Hello, ' }])
        work.artifact('a', [{ text: work.text }], { append: true, lastChunk: true })
        work.status('TASK_STATE_COMPLETED')
      },
      { way, streaming },
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

test.each(ways)(
  'a question is answered in the same task ($version $binding, streaming $streaming)',
  async ({ streaming, ...way }) => {
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
      { way, streaming },
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

test.each(ways)(
  'a cancel reaches the task ($version $binding, streaming $streaming)',
  async ({ streaming, ...way }) => {
    const working = Promise.withResolvers<Work>()
    const agent = await sdkAgent(
      async (work) => {
        work.task('TASK_STATE_WORKING')
        working.resolve(work)
        await new Promise((resolve) => {
          work.cancelled.addEventListener('abort', resolve)
        })
      },
      { way, streaming },
    )
    const call = hurriedCall({ mode: 'streaming' })
    const connector = a2aConnector({ url: agent.url })
    const session = await connector.connect(call)
    const updates = session.send({ input: 'go on for ever', index: 0 })[Symbol.asyncIterator]()
    await updates.next()
    const { context } = await working.promise
    await session.cancel(AbortSignal.timeout(10_000))
    expect(agent.cancelled).toEqual([context.taskId])
    call.abort()
    await updates.return?.()
  },
)

test.each(ways)(
  'a failed task is a failure with what it had made ($version $binding, streaming $streaming)',
  async ({ streaming, ...way }) => {
    const agent = await sdkAgent(
      (work) => {
        work.task('TASK_STATE_WORKING')
        work.artifact('a', [{ text: 'Half of it' }])
        work.status('TASK_STATE_FAILED', 'The quota is used up')
      },
      { way, streaming },
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

test.each(ways)(
  'an executor that throws is a failure of the agent ($version $binding, streaming $streaming)',
  async ({ streaming, ...way }) => {
    // The server of the SDK writes there what it caught.
    vi.spyOn(console, 'error').mockReturnValue()
    const agent = await sdkAgent(
      (work) => {
        work.task('TASK_STATE_WORKING')
        throw new Error('out of paper')
      },
      { way, streaming },
    )
    const connector = a2aConnector({ url: agent.url })
    const failure = await askOnce(connector, 'go', hurriedCall()).catch((error: unknown) => error)
    expect(failure).toMatchObject({ failureType: 'agent_failed', retryable: false })
    expect(String(failure)).toContain('out of paper')
    vi.restoreAllMocks()
  },
)

test.each(ways)(
  'an agent may answer without a task ($version $binding, streaming $streaming)',
  async ({ streaming, ...way }) => {
    const contexts: unknown[] = []
    const agent = await sdkAgent(
      (work) => {
        contexts.push(work.context.contextId)
        work.reply([{ text: `You said ${work.text}` }])
      },
      { way, streaming },
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

test.each(WAYS)(
  'a running task whose stream was cut off is taken up again ($version $binding)',
  async (way) => {
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
        way,
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
