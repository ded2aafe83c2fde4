/** Conversations of runs over both stores. */
import { ensemble, task } from '@tutti/ensemble'
import type { ChatModel, ModelRequest } from '@tutti/ensemble/adapter'
import { toRunMessages, runStateAfter } from '@tutti/protocol'
import { createRunService, type RunService, type RunSubmission } from '@tutti/runs'
import { fakeClock, scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { cancel } from './commands.ts'
import { STORES } from './stores.ts'
import { allEvents, openRuns, startRuns, temporaryDirectory } from './waiting-ensemble.ts'

/** The conversation that a request shows its model: everything between the system message and the task. */
function readConversation({ messages }: ModelRequest): readonly string[] {
  return messages.slice(1, -1).map(({ role, content }) => `${role}: ${content}`)
}

/** Answers with the conversation that it was shown. */
function parrot(): ChatModel {
  return scriptedModel((request) => readConversation(request).join('; ') || 'Nothing yet')
}

const chat = (model = parrot()) =>
  ensemble({
    name: 'chat',
    tasks: [
      task({ name: 'think', description: 'Think about {message}' }),
      task({ name: 'answer', description: 'Answer {message}' }),
    ],
    inputs: ['tone'],
    model,
  })

/** Submits a run and returns its state at its end. */
async function say(service: RunService, message: string, more: RunSubmission = {}) {
  const { runId } = await service.submit({ inputs: { message }, threadId: 'thread-a', ...more })
  const state = runStateAfter(await allEvents(service, runId))
  return { runId, state, answer: state.tasks.at(-1)?.output }
}

describe.each(Object.entries(STORES))('a thread in the %s store', (_, openStore) => {
  it('[RUNS-H6] A thread gives each run the messages of the earlier ones, oldest first', async () => {
    await using store = await openStore()
    const service = await startRuns(await store.open(), [chat()])
    await service.threads.create({ threadId: 'thread-a', tags: {} })
    expect((await say(service, 'One')).answer).toBe('Nothing yet')
    expect((await say(service, 'Two')).answer).toBe('user: One; assistant: Nothing yet')
    const third = await say(service, 'Three')
    expect(third.answer).toBe(
      'user: One; assistant: Nothing yet; user: Two; assistant: user: One; assistant: Nothing yet',
    )
    const { request, threadId } = (await service.record(third.runId)) ?? {}
    expect([threadId, request?.history?.length]).toEqual(['thread-a', 4])
    const first = await service.threads.runs({ threadId: 'thread-a', limit: 9, maxBytes: 1e6 })
    await service.delete(first.runs.at(-1)?.runId ?? '')
    expect((await say(service, 'Four')).answer).toMatch(/^user: Two; assistant: user: One/)
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-H2] A thread waits for the answer of a run that ends while its thread is read', async () => {
    await using store = await openStore()
    const answer = Promise.withResolvers<void>()
    const quick = parrot()
    const slow: ChatModel = {
      ...quick,
      async *stream(request, options) {
        if (request.messages.at(-1)?.content.includes('Answer One') === true) await answer.promise
        yield* quick.stream(request, options)
      },
    }
    const storage = await store.open()
    const reads: unknown[] = []
    const threads = new Proxy(storage.threads, {
      get(part, key) {
        if (key !== 'runs') return Reflect.get(part, key).bind(part)
        // The newest run ends between the first read of its messages and the creation of the next one.
        return async (query: Parameters<typeof part.runs>[0]) => {
          const page = await part.runs(query)
          reads.push(page.runs[0]?.status)
          if (reads.length === 2) {
            answer.resolve()
            await allEvents(service, first.runId)
          }
          return page
        }
      },
    })
    const service = await startRuns(
      new Proxy(storage, {
        get: (part, key) => (key === 'threads' ? threads : Reflect.get(part, key)),
      }),
      [chat(slow)],
    )
    await service.threads.create({ threadId: 'thread-a', tags: {} })
    const first = await service.submit({ inputs: { message: 'One' }, threadId: 'thread-a' })
    expect((await say(service, 'Two')).answer).toBe('user: One; assistant: Nothing yet')
    expect(reads.slice(1)).toEqual([expect.stringMatching('ACCEPTED|RUNNING'), 'COMPLETED'])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-H7] A thread shows a run as the messages that its events show', async () => {
    await using store = await openStore()
    const service = await startRuns(await store.open(), [chat()])
    await service.threads.create({ threadId: 'thread-a', tags: {} })
    const said = [
      await say(service, 'One'),
      await say(service, 'Two', { inputs: { message: 'Two', tone: 'polite' } }),
      await say(service, '', { inputs: {}, tasks: [{ description: 'Say hello' }] }),
    ]
    const { runs } = await service.threads.runs({ threadId: 'thread-a', limit: 9, maxBytes: 1e6 })
    expect(
      runs.map(({ userMessage, assistantMessage }) => ({ userMessage, assistantMessage })),
    ).toEqual(said.map(({ state }) => toRunMessages(state)).toReversed())
    expect(runs.map(({ userMessage }) => userMessage)).toEqual([
      'Say hello',
      '{"message":"Two","tone":"polite"}',
      'One',
    ])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-H7] A thread shows a cancelled run with the text that it had written', async () => {
    await using store = await openStore()
    const begun = Promise.withResolvers<void>()
    const quick = scriptedModel(() => 'Hm')
    const slow: ChatModel = {
      provider: 'slow',
      name: 'slow',
      async *stream(request, options) {
        if (request.messages.at(-1)?.content.includes('Answer Tell me') !== true) {
          yield* quick.stream(request, options)
          return
        }
        yield { type: 'text', text: 'Once upon' }
        begun.resolve()
        await new Promise((resolve) => {
          options.signal.addEventListener('abort', resolve)
        })
      },
    }
    const service = await startRuns(await store.open(), [chat(slow)])
    await service.threads.create({ threadId: 'thread-a', tags: {} })
    const { runId } = await service.submit({
      inputs: { message: 'Tell me' },
      threadId: 'thread-a',
    })
    await begun.promise
    await cancel(service, runId)
    const state = runStateAfter(await allEvents(service, runId))
    const expected = { userMessage: 'Tell me', assistantMessage: 'Once upon' }
    expect([state.status, toRunMessages(state)]).toEqual(['CANCELLED', expected])
    const { runs } = await service.threads.runs({ threadId: 'thread-a', limit: 9, maxBytes: 1e6 })
    expect(runs).toMatchObject([{ status: 'CANCELLED', ...expected }])
    const next = await service.submit({ inputs: { message: 'More' }, threadId: 'thread-a' })
    expect((await service.record(next.runId))?.request?.history).toEqual([
      { role: 'user', content: 'Tell me' },
      { role: 'assistant', content: 'Once upon' },
    ])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-H8] A thread gives a resumed run the messages that it was stored with', async () => {
    await using store = await openStore()
    const before = await startRuns(await store.open(), [chat()])
    await before.threads.create({ threadId: 'thread-a', tags: {} })
    const first = await say(before, 'One')
    await before.close({ drainTimeoutMs: 0 })
    const accepting = createRunService(await store.open(), [chat()], { executes: false })
    const { runId } = await accepting.submit({ inputs: { message: 'Two' }, threadId: 'thread-a' })
    await accepting.delete(first.runId)
    await accepting.close({ drainTimeoutMs: 0 })
    const after = await startRuns(await store.open(), [chat()], { maxHistoryRuns: 0 })
    const state = runStateAfter(await allEvents(after, runId))
    expect(state.tasks.at(-1)?.output).toBe('user: One; assistant: Nothing yet')
    await after.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-H1] A thread accepts one of many concurrent submissions, and repeats of it', async () => {
    await using store = await openStore()
    const service = createRunService(await store.open(), [chat()], { executes: false })
    await service.threads.create({ threadId: 'thread-a', tags: {} })
    const submit = (idempotencyKey: string) =>
      service.submit({ inputs: { message: 'Hi' }, threadId: 'thread-a', idempotencyKey })
    const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map(submit))
    const accepted = results.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(accepted).toHaveLength(1)
    expect(results.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))).toEqual([
      'THREAD_BUSY',
      'THREAD_BUSY',
      'THREAD_BUSY',
    ])
    const key = ['a', 'b', 'c', 'd'][results.findIndex(({ status }) => status === 'fulfilled')]
    expect((await submit(key ?? '')).runId).toBe(accepted[0]?.runId)
    await service.close({ drainTimeoutMs: 0 })
  })
})

describe('the messages of a run in a thread', () => {
  it('[RUNS-H6] The messages of a run in a thread are those of the newest runs that fit the limits', async () => {
    await using store = await STORES.embedded()
    const long = 'x'.repeat(400)
    const model = scriptedModel(() => 'Yes')
    const service = await startRuns(await store.open(), [chat(model)], {
      maxHistoryRuns: 3,
      maxHistoryBytes: 500,
    })
    await service.threads.create({ threadId: 'thread-a', tags: {} })
    const read = async (message: string) => {
      const { runId } = await say(service, message)
      return (await service.record(runId))?.request?.history?.map(({ content }) => content)
    }
    expect(await read('1')).toBe(undefined)
    expect(await read('2')).toEqual(['1', 'Yes'])
    expect(await read('3')).toEqual(['1', 'Yes', '2', 'Yes'])
    expect(await read('4')).toEqual(['1', 'Yes', '2', 'Yes', '3', 'Yes'])
    expect(await read(long)).toEqual(['2', 'Yes', '3', 'Yes', '4', 'Yes'])
    expect(await read('6')).toEqual([long, 'Yes'])
    expect(await read('7')).toEqual(['6', 'Yes'])
    await service.close({ drainTimeoutMs: 0 })
  })

  it('The messages of a run in a thread cannot be combined with messages of the request', async () => {
    await using store = await STORES.embedded()
    const service = await startRuns(await store.open(), [chat()])
    await service.threads.create({ threadId: 'thread-a', tags: {} })
    const both = { inputs: { message: 'Hi' }, threadId: 'thread-a', history: [] }
    await expect(service.submit(both)).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message:
        'Invalid request body: /history cannot be combined with threadId: the thread has the messages of its earlier runs',
    })
    await service.close({ drainTimeoutMs: 0 })
  })

  it('[RUNS-S8] The messages of a run in a thread are deleted with the thread when it has no runs and exceeds the retention', async () => {
    using directory = temporaryDirectory()
    const clock = fakeClock()
    const service = await openRuns(directory.path, [chat()], { clock, maxRetainedRuns: 1 })
    await service.threads.create({ threadId: 'thread-a', tags: {} })
    await service.threads.create({ threadId: 'thread-b', tags: {} })
    await clock.advance(60_000)
    expect(await service.threads.get('thread-a')).toBe(undefined)
    expect(await service.threads.get('thread-b')).toMatchObject({ runCount: 0 })
    await service.close({ drainTimeoutMs: 0 })
  })
})
