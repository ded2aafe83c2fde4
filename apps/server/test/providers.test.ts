import { createClient } from '@tutti/client'
import { ensemble, task } from '@tutti/ensemble'
import { langchainModel } from '@tutti/langchain'
import { anthropicStub, openaiStub, type ProviderStub } from '@tutti/langchain/testing'
import { describe, expect, it } from 'vitest'

import { KEY, openClientServer } from './client-server.ts'
import { ServerProcess, temporaryDirectory } from './server-process.ts'

/** Replies of a real model to the first and the second task of the sample ensemble. */
const SCRIPT = [
  {
    text: 'I will search.',
    toolCalls: [{ id: 'call_1', name: 'search_library', arguments: { query: 'AI safety' } }],
    usage: { inputTokens: 120, outputTokens: 15 },
  },
  {
    text: '- Safety is engineering, says the library.',
    usage: { inputTokens: 180, outputTokens: 9 },
  },
  { text: '# Brief\nSafety is engineering.', usage: { inputTokens: 90, outputTokens: 8 } },
]

describe('a server with a provider key', () => {
  it.each<[string, (script: typeof SCRIPT) => Promise<ProviderStub>, (url: string) => object]>([
    ['OpenAI', openaiStub, (url) => ({ OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: url })],
    [
      'Anthropic',
      anthropicStub,
      (url) => ({ ANTHROPIC_API_KEY: 'sk-test', ANTHROPIC_BASE_URL: url }),
    ],
  ])(
    'A server with a provider key executes the same run on %s, through its real wire format',
    async (_, stub, variables) => {
      using data = temporaryDirectory()
      await using provider = await stub(SCRIPT)
      await using server = await ServerProcess.start({
        TUTTI_DATA_DIR: data.path,
        ...variables(provider.baseUrl),
      })
      expect(server.output).not.toContain('scripted')
      const client = server.client()
      const { runId } = await client.runs.submit({ inputs: { topic: 'AI safety' } })
      const texts: string[] = []
      for await (const event of client.runs.events(runId)) {
        if (event.type === 'token') texts.push(event.token)
      }
      expect(texts.join('')).toBe(SCRIPT.map(({ text }) => text).join(''))
      expect(await client.runs.get(runId)).toMatchObject({
        status: 'COMPLETED',
        tasks: [
          { name: 'researcher', tokenCount: 324, toolCallCount: 1, output: SCRIPT[1]?.text },
          { name: 'writer', tokenCount: 98, toolCallCount: 0, output: SCRIPT[2]?.text },
        ],
        metrics: { totalTokens: 422, totalToolCalls: 1 },
      })
      const { body } = await provider.request(1)
      expect(JSON.stringify(body)).toContain('ai-safety-goals')
      expect(server.errors).not.toMatch(/"level":"(?:warn|error)"/)
    },
  )

  it('A server with a provider key fails a run when the provider rejects the key, without showing the key', async () => {
    using data = temporaryDirectory()
    await using provider = await openaiStub(() => ({ status: 401, message: 'Incorrect API key' }))
    await using server = await ServerProcess.start({
      TUTTI_DATA_DIR: data.path,
      OPENAI_API_KEY: 'sk-very-secret',
      OPENAI_BASE_URL: provider.baseUrl,
    })
    const client = server.client()
    const { runId } = await client.runs.submit({ inputs: { topic: 'AI safety' } })
    const result = await client.runs.result(runId)
    expect(result).toMatchObject({
      status: 'FAILED',
      error: expect.stringMatching(/Incorrect API key[\s\S]*OPENAI_API_KEY/),
    })
    const { tasks } = await client.runs.get(runId)
    expect(tasks.map(({ status }) => status)).toEqual(['FAILED', 'SKIPPED'])
    expect(JSON.stringify([result, tasks]) + server.errors + server.output).not.toContain(
      'very-secret',
    )
  })
})

describe('a thread', () => {
  it('A thread continues on Anthropic after an empty answer', async () => {
    await using provider = await anthropicStub(['Hello', '', 'Still here'])
    const chat = ensemble({
      name: 'chat',
      model: langchainModel('anthropic:claude-sonnet-4-5', {
        apiKey: 'k-12345678',
        baseUrl: provider.baseUrl,
      }),
      tasks: [
        task({
          name: 'chat',
          description: '{message}',
          instructions: 'You chat.',
          allowEmptyOutput: true,
        }),
      ],
    })
    await using server = await openClientServer({ more: [chat] })
    const { runs, threads } = createClient({ baseUrl: server.url, apiKey: KEY })
    await threads.create({ threadId: 'th1' })
    const body = { ensemble: 'chat', threadId: 'th1', inputs: { message: 'hello' } }
    const ends = [await runs.run(body), await runs.run(body), await runs.run(body)]
    expect(ends.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED'])
    expect(provider.requests).toHaveLength(3)
    const { messages } = (await provider.request(2)).body
    expect(JSON.stringify(messages)).not.toContain('""')
  })
})
