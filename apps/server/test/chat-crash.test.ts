/** Tests clients of chat APIs with the built server, which is killed and started again. */
import { describe, expect, it } from 'vitest'

import { testDatabase } from '../../../tooling/postgres/test-database.ts'
import { openAiClient, openPlainChat } from '../../../packages/control-api/test/plain-chat.ts'
import { POLLING, recordSteps, numbers } from './recorded-steps.ts'

import type { ServerProcess } from './server-process.ts'

const LIMIT_MS = 120_000

describe('a client of a chat API over kill -9', { timeout: LIMIT_MS }, () => {
  it('[GW-C1] A client of a chat API over kill -9 joins its message again with useChat, with each tool call once', async () => {
    using files = recordSteps()
    files.hold(3)
    const first = await files.start({})
    const chat = openPlainChat(first.url, { id: 'chat', model: 'crew' })
    const lost = chat.sendMessage({ text: 'tea' })
    await expect.poll(() => toolOutputs(chat.lastMessage)).toEqual(['did 1', 'did 2'])
    const runId = chat.lastMessage?.id ?? ''
    await first.end('SIGKILL')
    await lost
    expect(chat.status).toBe('error')
    files.release(3)
    await using second = await files.start({})
    const late = openPlainChat(second.url, { id: 'chat', model: 'crew' })
    late.messages = chat.messages
    await late.resumeStream()
    expect(numbers(files.steps(runId), 'end')).toEqual([1, 2, 3, 4])
    expect(late.messages.map(({ id, role }) => [id === runId, role])).toEqual([
      [false, 'user'],
      [true, 'assistant'],
    ])
    expect(toolOutputs(late.lastMessage)).toEqual(['did 1', 'did 2', 'did 3', 'did 4'])
    expect(late.lastMessage?.parts.at(-1)).toMatchObject({ type: 'text', text: 'All done' })
    expect(late.lastMessage?.metadata).toMatchObject({ status: 'COMPLETED' })
  })

  it.each([
    ['a chat completion', 'chat'],
    ['a synchronous response', 'responses'],
  ] as const)(
    '[GW-G7] A client of a chat API over kill -9 loses %s without an idempotency key',
    async (_, kind) => {
      using files = recordSteps()
      files.hold(2)
      const first = await files.start({})
      const client = openAiClient(first.url)
      const lost = (
        kind === 'chat'
          ? client.chat.completions.create({
              model: 'crew',
              messages: [{ role: 'user', content: 'tea' }],
            })
          : client.responses.create({ model: 'crew', input: 'tea' })
      ).catch((error: unknown) => error)
      const find = async () => (await first.client().runs.list()).runs[0]?.runId
      await expect.poll(find).toBeDefined()
      const runId = (await find()) ?? ''
      await files.untilBegun(runId, 2)
      await first.end('SIGKILL')
      expect(await lost).toBeInstanceOf(Error)
      await using second = await files.start({})
      const statusOf = async () => (await second.client().runs.get(runId)).status
      await expect.poll(statusOf).toBe('CANCELLED')
      expect(numbers(files.steps(runId), 'end')).toEqual([1])
    },
  )

  it('[GW-G7] A client of a chat API over kill -9 loses a chat completion that another process of its store has taken over', async () => {
    await using database = await testDatabase()
    using files = recordSteps()
    files.hold(2)
    const environment = { DATABASE_URL: database.url }
    const first = await files.start(environment)
    const lost = openAiClient(first.url)
      .chat.completions.create({ model: 'crew', messages: [{ role: 'user', content: 'tea' }] })
      .catch((error: unknown) => error)
    const find = async () => (await first.client().runs.list()).runs[0]?.runId
    await expect.poll(find, POLLING).toBeDefined()
    const runId = (await find()) ?? ''
    const before = await files.untilBegun(runId, 2)
    await using second = await files.start(environment)
    await first.end('SIGKILL')
    expect(await lost).toBeInstanceOf(Error)
    await files.untilBegun(runId, 2, [before])
    const detail = async () => (await second.client().runs.get(runId)).cancel
    await expect.poll(detail, { ...POLLING, timeout: 90_000 }).toEqual({ cause: 'CLIENT_LEFT' })
    expect(numbers(files.steps(runId), 'end')).toEqual([1])
  })

  it('[GW-K9] A client of a chat API over kill -9 gets the completion of its idempotency key', async () => {
    using files = recordSteps()
    files.hold(3)
    const first = await files.start({})
    const create = ({ url }: ServerProcess) =>
      openAiClient(url).chat.completions.create(
        { model: 'crew', messages: [{ role: 'user', content: 'tea' }] },
        { headers: { 'idempotency-key': 'tea-1' } },
      )
    const lost = create(first).catch((error: unknown) => error)
    const find = async () => (await first.client().runs.list()).runs[0]?.runId
    await expect.poll(find).toBeDefined()
    const runId = (await find()) ?? ''
    await files.untilBegun(runId, 3)
    await first.end('SIGKILL')
    expect(await lost).toBeInstanceOf(Error)
    files.release(3)
    await using second = await files.start({})
    const completion = await create(second)
    expect(completion.id).toBe(`chatcmpl-${runId}`)
    expect(completion.choices[0]?.message.content).toBe('All done')
    expect(numbers(files.steps(runId), 'end')).toEqual([1, 2, 3, 4])
  })
})

function toolOutputs(message: ReturnType<typeof openPlainChat>['lastMessage']): readonly unknown[] {
  return (
    message?.parts.flatMap((part) =>
      'output' in part && part.output !== undefined ? [part.output] : [],
    ) ?? []
  )
}
