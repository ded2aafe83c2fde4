/** Descriptions of the server, over REST and WebSocket. */
import { defineTextTool, defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer, type TestServer } from './open-server.ts'

/** Sends a `state_query` and returns its reply or error. */
async function queryState(api: TestServer, query: object): Promise<unknown> {
  await using socket = api.connect()
  await socket.next('hello')
  socket.send({ type: 'state_query', requestId: 'q', ...query })
  const answer = await Promise.race([socket.next('state_response'), socket.next('error')])
  if (answer.type === 'state_response') return answer.data
  const { type: _type, requestId: _id, ...body } = answer
  return body
}

async function getBody(api: TestServer, path: string): Promise<unknown> {
  return (await api.get(path)).json()
}

describe('capabilities', () => {
  const shout = defineTextTool({ name: 'shout', description: 'Shouts', execute: (text) => text })
  const measure = defineTool({
    name: 'measure',
    description: 'Measures',
    input: Type.Object({ hertz: Type.Number() }),
    execute: () => '',
  })
  const model = scriptedModel(() => '')
  const listen = task({ name: 'listen', description: 'Hear {song}', expectedOutput: 'In {words}' })
  const write = task({
    name: 'write',
    description: 'Write of {song} for {reader}',
    context: [listen],
    tools: [measure, shout],
  })
  const critics = ensemble({ name: 'critics', description: 'Hear', tasks: [listen, write], model })
  const mute = ensemble({
    name: 'mute',
    description: 'Says nothing',
    tasks: [task({ name: 'rest', description: 'Rest' })],
    model,
  })

  it('Capabilities include the tools and the variables of the tasks of items and of their reduction', async () => {
    const join = task({ name: 'join', description: 'Join {items} for {reader}', tools: [shout] })
    const each = task({
      name: 'each',
      description: 'Hear {item}',
      tools: [measure],
      forEach: { over: 'songs', collect: { reduce: join, maxTokens: 9 } },
    })
    await using api = await openServer({
      ensembles: [ensemble({ name: 'each', tasks: [each], model })],
    })
    expect(await getBody(api, '/api/capabilities')).toMatchObject({
      ensembles: [
        {
          variables: ['songs', 'reader'],
          tasks: [{ tools: ['measure', 'shout'], variables: ['songs', 'reader'] }],
        },
      ],
    })
  })

  it('Capabilities include the tools with their schemas, the models, and each ensemble with its variables', async () => {
    await using api = await openServer({
      ensembles: [critics, mute],
      tools: toolCatalog([measure, shout]),
      models: modelCatalog({ small: model, large: model }),
    })
    const { provider } = model
    const tasks = [
      {
        name: 'listen',
        description: 'Hear {song}',
        tools: [],
        variables: ['song', 'words'],
      },
      {
        name: 'write',
        description: 'Write of {song} for {reader}',
        tools: ['measure', 'shout'],
        variables: ['song', 'reader'],
      },
    ]
    expect(await getBody(api, '/api/capabilities')).toEqual({
      tools: [
        {
          name: 'measure',
          description: 'Measures',
          inputSchema: {
            type: 'object',
            required: ['hertz'],
            properties: { hertz: { type: 'number' } },
          },
        },
        {
          name: 'shout',
          description: 'Shouts',
          inputSchema: {
            type: 'object',
            required: ['input'],
            properties: { input: { type: 'string' } },
          },
        },
      ],
      modelTiers: [],
      profiles: [],
      models: [
        { alias: 'small', provider },
        { alias: 'large', provider },
      ],
      sharedTasks: [
        { name: 'critics', description: 'Hear' },
        { name: 'mute', description: 'Says nothing' },
      ],
      sharedTools: [
        { name: 'measure', description: 'Measures' },
        { name: 'shout', description: 'Shouts' },
      ],
      preconfiguredTasks: tasks,
      ensembles: [
        {
          name: 'critics',
          description: 'Hear',
          workflow: 'PARALLEL',
          variables: ['song', 'words', 'reader'],
          tasks,
        },
        {
          name: 'mute',
          description: 'Says nothing',
          workflow: 'SEQUENTIAL',
          variables: [],
          tasks: [{ name: 'rest', description: 'Rest', tools: [], variables: [] }],
        },
      ],
    })
  })
})

describe('state_query', () => {
  it('state_query returns the bodies of the REST routes while a run executes, and after its end', async () => {
    await using api = await openServer()
    const runId = await api.submit()
    await api.submit()
    for await (const batch of api.runs.follow({ runId, from: 0 })) {
      if (batch.some(({ type }) => type === 'tool_called' || type === 'task_completed')) break
    }
    const same = async (): Promise<void> => {
      for (const [query, path] of [
        [{ query: 'capabilities' }, '/api/capabilities'],
        [{ query: 'run_detail', runId }, `/api/runs/${runId}`],
        [{ query: 'runs' }, '/api/runs'],
        [{ query: 'runs', filter: { limit: 1, offset: 1 } }, '/api/runs?limit=1&offset=1'],
        [{ query: 'runs', filter: { status: 'COMPLETED' } }, '/api/runs?status=COMPLETED'],
        [{ query: 'runs', filter: { tag: 'a:b' } }, '/api/runs?tag=a:b'],
      ] as const) {
        expect(await queryState(api, query)).toEqual(await getBody(api, path))
      }
    }
    // Both runs wait in their tools, so their state does not change.
    await api.runs.list({ limit: 1, offset: 0 })
    await waitForTools(api)
    await same()
    api.play()
    const { runs } = await api.runs.list({ limit: 9, offset: 0 })
    for (const run of runs) await eventsOf(await api.get(`/api/runs/${run.runId}/events`))
    await same()
  })

  it('state_query returns the errors of the REST routes', async () => {
    await using api = await openServer()
    expect(await queryState(api, { query: 'run_detail', runId: 'run-none' })).toEqual(
      await getBody(api, '/api/runs/run-none'),
    )
    const problems = async (body: Promise<unknown>) => {
      // NOTE: the error of an invalid request has problems.
      const { error, problems: all } = (await body) as {
        readonly error: string
        readonly problems: readonly { readonly path: string; readonly message: string }[]
      }
      return [error, ...all.map(({ path, message }) => [path.split('/').at(-1), message])]
    }
    for (const [filter, query] of [
      [{ limit: -1 }, 'limit=-1'],
      [{ status: 'SLEEPING' }, 'status=SLEEPING'],
      [{ offset: 1, colour: 'red' }, 'offset=1&colour=red'],
    ] as const) {
      expect(await problems(queryState(api, { query: 'runs', filter }))).toEqual(
        await problems(getBody(api, `/api/runs?${query}`)),
      )
    }
    expect(await problems(queryState(api, { query: 'run_detail' }))).toMatchObject([
      'BAD_REQUEST',
      ['runId', 'is required'],
    ])
  })
})

/** Resolves when every run has called its tool. */
async function waitForTools(api: TestServer): Promise<void> {
  const { runs } = await api.runs.list({ limit: 9, offset: 0 })
  for (const { runId } of runs) {
    let turns = 0
    for await (const batch of api.runs.follow({ runId, from: 0 })) {
      turns += batch.filter(({ type }) => type === 'llm_iteration_completed').length
      if (turns === 2) break
    }
  }
}
