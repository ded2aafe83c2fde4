/** A Tutti server in this process with one ensemble and one tool. It is also an A2A agent and an MCP server. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { serveControlApi } from '@tutti/control-api'
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { createRunService, sqliteRunStorage } from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'

// To use a real model: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const model = scriptedModel(({ messages }) => {
  const [, subject = 'nothing'] = /line about (\w+)/.exec(messages.at(-1)?.content ?? '') ?? []
  return `O ${subject}, the evening is long`
})

const poet = ensemble({
  name: 'poet',
  description: 'Writes a line about anything',
  tasks: [task({ name: 'write', description: 'Write a line about {subject}' })],
  model,
})

const countWords = defineTool({
  name: 'count_words',
  description: 'Counts the words of a text',
  input: Type.Object({ text: Type.String() }),
  output: Type.Object({ words: Type.Integer() }),
  execute: ({ text }) => ({ words: text.split(' ').length }),
})

/** A running server. Disposing it stops it. */
export interface Server extends AsyncDisposable {
  readonly url: string
}

/** Starts the server on a free port, with a store that is deleted when the server stops. */
export async function startServer(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'tutti-example-'))
  const tools = toolCatalog([countWords])
  const runs = createRunService(await sqliteRunStorage(folder), [poet], { tools })
  const api = await serveControlApi({ runs, tools, models: modelCatalog({}) }, { port: 0 })
  await runs.start()
  return {
    url: api.url,
    async [Symbol.asyncDispose]() {
      await api.close()
      await runs.close({ drainTimeoutMs: 0 })
      await rm(folder, { recursive: true })
    },
  }
}
