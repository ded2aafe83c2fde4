/** `GET /api/runs/compare`. */
import { apiKey } from '@tutti/control-api'
import { defineTool, Type } from '@tutti/core'
import { agent, ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { eventsOf, openServer, type TestServer, type TestServerOptions } from './open-server.ts'

import type { ForkRunBody, RunAccepted, RunComparison } from '@tutti/protocol'

/** Serves a team that looks up a word and writes about it; the model repeats what it reads. */
function openTeam(options: TestServerOptions = {}): Promise<TestServer> {
  const lookUp = defineTool({
    name: 'look_up',
    description: 'Looks up a word',
    input: Type.Object({ word: Type.String() }),
    idempotent: true,
    execute: ({ word }) => `about ${word}`,
  })
  const model = scriptedModel(({ messages, tools }) => {
    const asked = messages.map(({ content }) => content).join('\n')
    const word = /Find (\w+)/.exec(asked)?.[1] ?? 'nothing'
    if (tools.length === 0) return `Text: ${asked}`
    if (messages.at(-1)?.role === 'tool') return `Found ${word}`
    return { toolCalls: [{ name: 'look_up', arguments: { word } }] }
  })
  const team = ensemble({
    name: 'office',
    model,
    tasks: [
      task({ name: 'find', description: 'Find {word}', tools: [lookUp] }),
      task({ name: 'write', description: 'Write to {person}', context: ['find'] }),
    ],
  })
  return openServer({ ensembles: [team], ...options })
}

async function waitForEnd(api: TestServer, response: Response): Promise<string> {
  expect(response.status).toBe(202)
  const { runId } = (await response.json()) as RunAccepted
  await eventsOf(await api.get(`/api/runs/${runId}/events`))
  return runId
}

const INPUTS = { word: 'tea', person: 'Eve' }

async function submit(api: TestServer, inputs: Record<string, string> = INPUTS): Promise<string> {
  return waitForEnd(api, await api.post('/api/runs', { inputs }))
}

async function fork(api: TestServer, runId: string, body: ForkRunBody): Promise<string> {
  return waitForEnd(api, await api.post(`/api/runs/${runId}/fork`, body))
}

async function compare(api: TestServer, a: string, b: string): Promise<RunComparison> {
  const response = await api.get(`/api/runs/compare?a=${a}&b=${b}`)
  expect(response.status).toBe(200)
  return (await response.json()) as RunComparison
}

describe('a comparison of two runs', () => {
  it('A comparison of two runs aligns tasks by name and tool calls by tool, with outputs, usage and differences', async () => {
    await using api = await openTeam()
    const [a, b] = [await submit(api), await submit(api, { ...INPUTS, word: 'milk' })]
    const result = await compare(api, a, b)
    expect(result.relation).toBeUndefined()
    expect(result.a).toMatchObject({
      runId: a,
      status: 'COMPLETED',
      ensemble: 'office',
      modelCalls: 3,
      toolCalls: 1,
    })
    expect(result.inputs).toEqual([
      { name: 'word', a: { text: 'tea', bytes: 3 }, b: { text: 'milk', bytes: 4 } },
    ])
    const [find, write] = result.tasks
    expect(find).toMatchObject({
      name: 'find',
      a: {
        index: 1,
        status: 'COMPLETED',
        attempt: 1,
        modelCalls: 2,
        toolCalls: 1,
        output: { text: 'Found tea', bytes: 9 },
        description: { text: 'Find tea' },
      },
      b: { output: { text: 'Found milk' }, description: { text: 'Find milk' } },
      sameOutput: false,
      sameDescription: false,
    })
    expect(find?.calls).toEqual([
      {
        a: {
          toolName: 'look_up',
          input: { text: '{"word":"tea"}', bytes: 14 },
          outcome: 'SUCCESS',
          durationMs: expect.any(Number),
          attempt: 1,
          iterationIndex: 0,
        },
        b: expect.objectContaining({ input: { text: '{"word":"milk"}', bytes: 15 } }),
        sameInput: false,
      },
    ])
    expect(write).toMatchObject({ name: 'write', sameDescription: true, calls: [] })
    const detail = await api.detail(b)
    expect(result.b.tokens).toBe(detail.metrics.totalTokens)
    expect(result.difference).toMatchObject({
      tokens: result.b.tokens - result.a.tokens,
      durationMs: (result.b.durationMs ?? NaN) - (result.a.durationMs ?? NaN),
      modelCalls: 0,
      toolCalls: 0,
    })
  })

  it('A comparison of two runs names the relation of a fork, and counts only what the fork did itself', async () => {
    await using api = await openTeam()
    const parent = await submit(api)
    const overrides = { taskOverrides: { write: { description: 'Sing to {person}' } } }
    const child = await fork(api, parent, { at: { task: 'write' }, ...overrides })
    const result = await compare(api, parent, child)
    expect(result.relation).toBe('PARENT')
    expect(result.b).toMatchObject({ parent: { runId: parent }, modelCalls: 1, toolCalls: 0 })
    const [find, write] = result.tasks
    expect(find).toMatchObject({
      a: { modelCalls: 2, toolCalls: 1 },
      b: { reused: true, modelCalls: 0, toolCalls: 0, tokens: 0 },
      sameOutput: true,
      sameDescription: true,
    })
    expect(find?.a?.reused).toBeUndefined()
    expect(find?.calls).toMatchObject([{ b: { reused: true }, sameInput: true }])
    expect(write).toMatchObject({ sameDescription: false, sameOutput: false })
    expect(write?.b?.reused).toBeUndefined()
    expect(result.difference).toMatchObject({ modelCalls: -2, toolCalls: -1 })

    const other = await fork(api, parent, { at: { task: 'write' } })
    expect((await compare(api, child, parent)).relation).toBe('CHILD')
    expect((await compare(api, child, other)).relation).toBe('SIBLINGS')
    expect(await compare(api, parent, parent)).toMatchObject({
      relation: 'SAME',
      inputs: [],
      difference: { tokens: 0, durationMs: 0, modelCalls: 0, toolCalls: 0 },
    })
  })

  it('A comparison of two runs marks everything as reused in a frozen replay, and only tool calls with live models', async () => {
    await using api = await openTeam()
    const parent = await submit(api)
    const replay = async (mode: string): Promise<string> =>
      waitForEnd(api, await api.post(`/api/runs/${parent}/replay`, { mode }))
    const frozen = await compare(api, parent, await replay('frozen'))
    expect(frozen).toMatchObject({
      relation: 'PARENT',
      b: { parent: { replay: 'frozen' }, modelCalls: 0, toolCalls: 0, tokens: 0 },
    })
    for (const { b, sameOutput } of frozen.tasks) {
      expect([b?.reused, sameOutput]).toEqual([true, true])
    }
    const live = await compare(api, parent, await replay('models'))
    expect(live.b).toMatchObject({ modelCalls: 3, toolCalls: 0 })
    expect(live.tasks[0]).toMatchObject({ calls: [{ b: { reused: true }, sameInput: true }] })
    expect(live.tasks[0]?.b?.reused).toBeUndefined()
  })

  it('A comparison of two runs shows a task that exists in one run only', async () => {
    await using api = await openTeam()
    const a = await submit(api)
    const tasks = [
      { name: 'write', description: 'Write' },
      { name: 'check', description: 'Check' },
    ]
    const b = await waitForEnd(api, await api.post('/api/runs', { tasks }))
    const result = await compare(api, a, b)
    const sides = result.tasks.map((one) => [one.name, one.a !== undefined, one.b !== undefined])
    expect(sides).toEqual([
      ['find', true, false],
      ['write', true, true],
      ['check', false, true],
    ])
    expect(result.tasks[0]).not.toHaveProperty('sameOutput')
    expect(result.tasks[0]?.calls).toMatchObject([{ a: { toolName: 'look_up' } }])
    expect(result.tasks[0]?.calls[0]).not.toHaveProperty('b')
  })

  it('A comparison of two runs names the task that delegated another one', async () => {
    const boss = scriptedModel(({ messages, tools }) => {
      const isBoss = tools.some(({ name }) => name === 'delegate_task')
      if (!isBoss || messages.at(-1)?.role === 'tool') return 'Done'
      const call = { agentRole: 'Writer', taskDescription: 'Write it' }
      return { toolCalls: [{ name: 'delegate_task', arguments: call }] }
    })
    const team = ensemble({
      name: 'office',
      workflow: 'HIERARCHICAL',
      model: boss,
      tasks: [
        task({
          name: 'write',
          description: 'Write',
          agent: agent({ role: 'Writer', goal: 'Text' }),
        }),
      ],
    })
    await using api = await openServer({ ensembles: [team] })
    const [a, b] = [await submit(api, {}), await submit(api, {})]
    const { tasks } = await compare(api, a, b)
    const delegated = tasks.filter((one) => one.a?.delegatedBy !== undefined)
    expect(delegated).toHaveLength(1)
    expect(delegated[0]).toMatchObject({ sameOutput: true, sameDescription: true })
    expect(delegated[0]?.b?.delegatedBy).toBe(delegated[0]?.a?.delegatedBy)
  })

  it('A comparison of two runs cuts and marks long outputs, and still compares them in full', async () => {
    const long = 'é'.repeat(40_000)
    const model = scriptedModel(({ messages }) =>
      messages.some(({ content }) => content?.includes('other')) ? `${long}b` : `${long}a`,
    )
    const team = ensemble({
      name: 'office',
      model,
      tasks: [task({ name: 'write', description: 'Write {style}' })],
    })
    await using api = await openServer({ ensembles: [team] })
    const [a, b] = [await submit(api, { style: 'plain' }), await submit(api, { style: 'other' })]
    const { tasks } = await compare(api, a, b)
    expect(tasks[0]).toMatchObject({
      a: { output: { bytes: 80_001, cut: true } },
      sameOutput: false,
    })
    expect(tasks[0]?.a?.output?.text).toBe('é'.repeat(16_384))
  })

  it('A comparison of two runs removes secrets before it cuts texts', async () => {
    const secret = 'sk-0123456789abcdef'
    await using api = await openTeam({
      redactor: {
        text: (text) => text.replaceAll(secret, '[redacted]'),
        value: <T>(value: T): T =>
          JSON.parse(JSON.stringify(value).replaceAll(secret, '[redacted]')) as T,
      },
    })
    const [a, b] = [await submit(api), await submit(api, { ...INPUTS, person: secret })]
    const result = await compare(api, a, b)
    expect(JSON.stringify(result)).not.toContain(secret)
    expect(result.inputs).toMatchObject([{ name: 'person', b: { text: '[redacted]' } }])
  })

  it('A comparison of two runs is refused for an unknown run, without both ids, and without runs:read', async () => {
    const [writer, reader] = ['writer-key-of-some-length', 'reader-key-of-some-length']
    await using api = await openTeam({
      apiKeys: [
        apiKey(writer, { name: 'ann', scopes: ['runs:write'] }),
        apiKey(reader, { name: 'rob', scopes: ['runs:read'] }),
      ],
    })
    const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
    const post = await api.post('/api/runs', { inputs: INPUTS }, bearer(writer).headers)
    const { runId } = (await post.json()) as RunAccepted
    const refused = await api.get(`/api/runs/compare?a=${runId}&b=${runId}`, bearer(writer))
    expect(refused.status).toBe(403)
    for (const [query, status, error] of [
      [`a=${runId}&b=none`, 404, 'RUN_NOT_FOUND'],
      [`a=none&b=${runId}`, 404, 'RUN_NOT_FOUND'],
      [`a=${runId}`, 400, 'BAD_REQUEST'],
      ['', 400, 'BAD_REQUEST'],
      [`a=${runId}&b=${runId}&c=1`, 400, 'BAD_REQUEST'],
    ] as const) {
      const response = await api.get(`/api/runs/compare?${query}`, bearer(reader))
      expect([response.status, await response.json()]).toMatchObject([status, { error }])
    }
    const named = await api.post('/api/runs', { runId: 'compare' }, bearer(writer).headers)
    expect([named.status, await named.json()]).toMatchObject([400, { error: 'BAD_REQUEST' }])
  })
})
