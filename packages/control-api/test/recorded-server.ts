/** An ensemble whose models record their prompts, to observe the effects of submissions. */
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, priceList, task } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import { scriptedModel } from '@tutti/testing'

import { openServer, type TestServer, type TestServerOptions } from './open-server.ts'

/** A control API over the ensemble `studio`. */
export interface RecordedServer extends TestServer {
  /** Prompts of the models, in order. */
  readonly asked: readonly ModelRequest[]
  /** Returns the first prompt of the task with a description. */
  promptOf(description: string): string
}

/** Returns the description of the task in a prompt. */
function taskIn({ messages }: ModelRequest): string {
  const prompt = messages.find(({ role }) => role === 'user')?.content ?? ''
  return /## Task\n(.*)/.exec(prompt)?.[1] ?? ''
}

/** Serves `studio`: a researcher and a writer; tools `search` and `calculator`, models `main` and `opus`. */
export async function openRecordedServer(options: TestServerOptions = {}): Promise<RecordedServer> {
  const asked: ModelRequest[] = []
  const speaker = (name: string) =>
    scriptedModel(
      (request) => {
        asked.push(request)
        return answerTo(request, name)
      },
      { name },
    )
  const [main, opus] = [speaker('main'), speaker('opus')]
  const [search, calculator] = [tool('search'), tool('calculator')]
  const researcher = task({
    name: 'researcher',
    description: 'Research {topic}',
    tools: [calculator],
  })
  const writer = task({ name: 'writer', description: 'Write it up', context: [researcher] })
  const filer = task({ name: 'filer', description: 'File it', handler: async () => 'filed' })
  const models = modelCatalog({ main, opus })
  const tools = toolCatalog([search, calculator])
  const prices = priceList({
    'scripted:main': { inputPerMillion: 1, outputPerMillion: 2 },
    'scripted:opus': { inputPerMillion: 3, outputPerMillion: 4 },
  })
  const api = await openServer({
    ensembles: [
      ensemble({ name: 'studio', tasks: [researcher, writer], model: main }),
      ensemble({ name: 'archive', tasks: [filer] }),
    ],
    models,
    tools,
    ...options,
    limits: { models, tools, prices, ...options.limits },
  })
  return {
    ...api,
    asked,
    promptOf(description) {
      const request = asked.find((one) => taskIn(one) === description)
      return request?.messages.find(({ role }) => role === 'user')?.content ?? ''
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  }
}

function tool(name: string) {
  return defineTool({
    name,
    description: `The ${name}`,
    input: Type.Object({ for: Type.Optional(Type.String()) }),
    execute: ({ for: what = '' }) => `${name} says ${'x'.repeat(50)}${what}`,
  })
}

/** Calls every tool once, returns JSON for a schema, fails for a broken task, and otherwise returns its role and prompt. */
function answerTo(request: ModelRequest, name: string) {
  const { messages, tools } = request
  const last = messages.at(-1)
  const hasCalled = messages.some(({ role }) => role === 'tool')
  const delegate = tools.find((one) => one.name === 'delegate_task')
  if (delegate !== undefined && !hasCalled) {
    const roles = [...JSON.stringify(request).matchAll(/Researcher \(\w+\)/g)].map(([role]) => role)
    return {
      toolCalls: [...new Set(roles)].map((agentRole) => ({
        name: 'delegate_task',
        arguments: { agentRole, taskDescription: `Research for ${agentRole}` },
      })),
    }
  }
  if (tools.length > 0 && !hasCalled) {
    return { toolCalls: tools.map((one) => ({ name: one.name, arguments: { for: 'me' } })) }
  }
  if (taskIn(request).includes('broken')) throw new Error('The model cannot read this')
  const text = messages.map(({ content }) => content).join('\n')
  if (/"city"/.test(text))
    return last?.content.includes('cannot be used') ? '{"city":"Bonn"}' : '{}'
  if (/"never"/.test(text)) return 'I cannot'
  return `${name} did ${taskIn(request)}`
}
