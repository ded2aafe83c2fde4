/** Submissions with inputs, overrides and task graphs, over REST and WebSocket with the same result. */
import { describe, expect, it } from 'vitest'

import { eventsOf } from './open-server.ts'
import { openRecordedServer, type RecordedServer } from './recorded-server.ts'

import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'

const INPUTS = { inputs: { topic: 'AI' } }

/** Outcome of a submission. */
interface Ended {
  readonly ack: object
  readonly events: readonly LoggedRunEvent[]
}

async function overRest(api: RecordedServer, body: object): Promise<Ended> {
  const response = await api.post('/api/runs', body)
  const { runId, ...ack } = (await response.json()) as { runId: string }
  if (response.status !== 202) return { ack, events: [] }
  return { ack, events: await eventsOf(await api.get(`/api/runs/${runId}/events`)) }
}

async function overWebSocket(api: RecordedServer, body: object): Promise<Ended> {
  await using socket = api.connect()
  await socket.next('hello')
  socket.send({ type: 'run_request', requestId: 'q', ...body })
  const answer = await Promise.race([socket.next('run_ack'), socket.next('error')])
  if (answer.type === 'error') {
    const { type: _type, requestId: _id, ...refusal } = answer
    return { ack: refusal, events: [] }
  }
  const { type: _, requestId, runId, ...ack } = answer
  expect(requestId).toBe('q')
  if (runId === undefined) {
    const { status, tasks, ...refusal } = ack
    expect([status, tasks]).toEqual(['REJECTED', 0])
    return { ack: refusal, events: [] }
  }
  await socket.next('run_result')
  return { ack, events: socket.events.filter((event) => event.runId === runId) }
}

function resultOf(events: readonly LoggedRunEvent[]): RunEventOf<'run_result'> {
  const last = events.at(-1)
  if (last?.type !== 'run_result') throw new Error('The run has not ended')
  return last
}

/** Returns the parts of an outcome that do not vary: without ids and times. */
function toComparable({ ack, events }: Ended): object {
  const result = resultOf(events)
  return {
    ack,
    status: result.status,
    code: result.code,
    outputs: Object.fromEntries(result.outputs.map(({ taskName, output }) => [taskName, output])),
    metrics: result.metrics,
    types: events
      .filter(({ type }) => type !== 'token')
      .map(({ type }) => type)
      .toSorted(),
  }
}

interface Case {
  readonly rule: string
  readonly body: object
  readonly story: object
  /** Further expectations of the events or the prompts. */
  readonly also?: (api: RecordedServer, events: readonly LoggedRunEvent[]) => void
}

const CASES: readonly Case[] = [
  {
    rule: 'a submission with inputs fills the template variables',
    body: INPUTS,
    story: {
      ack: { status: 'ACCEPTED', tasks: 2, workflow: 'PARALLEL' },
      status: 'COMPLETED',
      outputs: { researcher: 'main did Research AI', writer: 'main did Write it up' },
    },
  },
  {
    rule: 'a submission can have the conversation before the run',
    body: {
      ...INPUTS,
      history: [
        { role: 'user', content: 'Is {it} raining?' },
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'c1', name: 'look', arguments: '{}' }],
        },
        { role: 'tool', toolCallId: 'c1', content: 'rain' },
        { role: 'assistant', content: 'Yes' },
      ],
    },
    story: { status: 'COMPLETED' },
    also: (api) => {
      const conversations = api.asked.map(({ messages }) => messages.slice(1, 5))
      expect(conversations).not.toEqual([])
      for (const conversation of conversations) {
        expect(conversation).toEqual([
          { role: 'user', content: 'Is {it} raining?' },
          {
            role: 'assistant',
            content: '',
            toolCalls: [{ id: 'c1', name: 'look', arguments: '{}' }],
          },
          { role: 'tool', toolCallId: 'c1', toolName: 'look', content: 'rain' },
          { role: 'assistant', content: 'Yes', toolCalls: [] },
        ])
      }
    },
  },
  {
    rule: 'a submission can name another ensemble',
    body: { ensemble: 'archive' },
    story: {
      ack: { status: 'ACCEPTED', tasks: 1, workflow: 'SEQUENTIAL' },
      outputs: { filer: 'filed' },
    },
  },
  {
    rule: 'overrides change texts, model, turns and context of a task by its name, ignoring case',
    body: {
      ...INPUTS,
      taskOverrides: {
        Researcher: {
          description: 'Look at {topic} in {place}',
          expectedOutput: 'A list',
          model: 'opus',
          maxIterations: 3,
          additionalContext: 'The Act was adopted',
        },
      },
      inputs: { topic: 'AI', place: 'Bonn' },
    },
    story: {
      outputs: { researcher: 'opus did Look at AI in Bonn', writer: 'main did Write it up' },
    },
    also: (api) => {
      expect(api.promptOf('Look at AI in Bonn')).toMatch(
        /## Additional Context\nThe Act was adopted\n\n## Task\n.*\n\n## Expected Output\nA list/,
      )
      expect(api.promptOf('Write it up')).not.toContain('The Act')
    },
  },
  {
    rule: 'overrides find a task by the start of its description',
    body: { ...INPUTS, taskOverrides: { 'write it': { model: 'opus' } } },
    story: { outputs: { researcher: 'main did Research AI', writer: 'opus did Write it up' } },
  },
  {
    rule: 'overrides add and remove tools',
    body: {
      ...INPUTS,
      taskOverrides: { researcher: { tools: { add: ['search'], remove: ['calculator'] } } },
    },
    story: { metrics: { totalToolCalls: 1 } },
    also: (_, events) => {
      const called = events.flatMap((event) => (event.type === 'tool_called' ? event.toolName : []))
      expect(called).toEqual(['search'])
    },
  },
  {
    rule: 'a task graph replaces the tasks of the ensemble',
    body: {
      tasks: [
        { description: 'Look {where}', tools: ['search', 'calculator'], model: 'opus' },
        { name: 'sum', description: 'Sum up', additionalContext: 'Be brief' },
      ],
      inputs: { where: 'here' },
    },
    story: {
      ack: { status: 'ACCEPTED', tasks: 2, workflow: 'SEQUENTIAL' },
      outputs: { 'look-where': 'opus did Look here', sum: 'main did Sum up' },
      metrics: { totalToolCalls: 2 },
    },
    also: (api) => {
      expect(api.promptOf('Sum up')).toContain('## Additional Context\nBe brief')
    },
  },
  {
    rule: 'a task of a request can be plain chat',
    body: {
      tasks: [{ description: '{message}', instructions: 'Answer in {French}' }],
      history: [{ role: 'assistant', content: 'Bonjour' }],
      inputs: { message: 'Is {this} jazz?' },
    },
    story: { status: 'COMPLETED' },
    also: (api) => {
      expect(api.asked[0]?.messages.slice(0, 3)).toEqual([
        { role: 'system', content: 'Answer in {French}' },
        { role: 'assistant', content: 'Bonjour', toolCalls: [] },
        { role: 'user', content: 'Is {this} jazz?' },
      ])
    },
  },
  {
    rule: 'a task graph with context is PARALLEL, with references by name and by index',
    body: {
      tasks: [
        { name: 'a', description: 'A', context: ['$b', '$2'] },
        { name: 'b', description: 'B' },
        { name: 'c', description: 'C', context: ['$1'] },
      ],
    },
    story: {
      ack: { status: 'ACCEPTED', tasks: 3, workflow: 'PARALLEL' },
      outputs: { a: 'main did A', b: 'main did B', c: 'main did C' },
    },
    also: (api, events) => {
      const begun = events.flatMap((event) => (event.type === 'task_started' ? event.taskName : []))
      expect(begun).toEqual(['b', 'c', 'a'])
      expect(api.promptOf('A')).toMatch(/main did B[^]*main did C/)
    },
  },
  {
    rule: 'a task graph can set the workflow',
    body: {
      tasks: [
        { name: 'a', description: 'A' },
        { name: 'b', description: 'B', context: ['$a'] },
      ],
      options: { workflow: 'SEQUENTIAL' },
    },
    story: { ack: { status: 'ACCEPTED', tasks: 2, workflow: 'SEQUENTIAL' } },
  },
  {
    rule: 'a task graph can have a manager, with any task names',
    body: {
      tasks: [
        { name: 'a', description: 'Research a' },
        { name: 'b', description: 'Research b' },
      ],
      options: { workflow: 'HIERARCHICAL' },
    },
    story: { ack: { status: 'ACCEPTED', tasks: 2, workflow: 'HIERARCHICAL' }, status: 'COMPLETED' },
    also: (_, events) => {
      const roles = events.flatMap((event) =>
        event.type === 'delegation_completed' ? [event.workerRole] : [],
      )
      expect(roles).toEqual(['Researcher (a)', 'Researcher (b)'])
    },
  },
  {
    rule: 'a task graph enforces an output schema, with a correction',
    body: {
      tasks: [
        {
          name: 'a',
          description: 'Where',
          outputSchema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
          },
        },
      ],
    },
    story: { status: 'COMPLETED', outputs: { a: '{"city":"Bonn"}' } },
    also: (_, events) => {
      expect(events.find(({ type }) => type === 'task_completed')).toMatchObject({
        structuredOutput: { city: 'Bonn' },
      })
      expect(events.filter(({ type }) => type === 'llm_iteration_completed')).toHaveLength(2)
    },
  },
  {
    rule: 'a task graph fails with OUTPUT_INVALID when corrections fail',
    body: {
      tasks: [{ name: 'a', description: 'A', outputSchema: { required: ['never'] } }],
    },
    story: { status: 'FAILED', code: 'OUTPUT_INVALID', outputs: {} },
  },
  {
    rule: 'a task graph has a task for each item of an input, and collects their failures',
    body: {
      inputs: {
        tone: 'prose',
        topics:
          '[{"id":"fog","title":"Fog"},{"id":"x","title":"broken"},{"id":"sand","title":"Sand"}]',
      },
      tasks: [
        {
          name: 'lines',
          description: 'Write about {topic.title} in {tone}',
          model: 'opus',
          forEach: {
            over: 'topics',
            as: 'topic',
            key: 'id',
            maxItems: 3,
            maxParallel: 2,
            maxFailures: 1,
            onError: 'collect',
          },
        },
        { name: 'page', description: 'Write the page', context: ['$lines'] },
      ],
    },
    story: {
      ack: { status: 'ACCEPTED', tasks: 2, workflow: 'PARALLEL' },
      status: 'COMPLETED',
      outputs: {
        lines: JSON.stringify([
          { key: 'fog', ok: true, output: 'opus did Write about Fog in prose' },
          {
            key: 'x',
            ok: false,
            error: { code: 'MODEL_FAILED', message: 'The model cannot read this' },
          },
          { key: 'sand', ok: true, output: 'opus did Write about Sand in prose' },
        ]),
        page: 'main did Write the page',
        'lines/fog': 'opus did Write about Fog in prose',
        'lines/sand': 'opus did Write about Sand in prose',
      },
    },
    also: (api, events) => {
      const started = events.flatMap((event) =>
        event.type === 'task_started' ? event.taskName : [],
      )
      expect(started.toSorted()).toEqual(['lines', 'lines/fog', 'lines/sand', 'lines/x', 'page'])
      const failed = events.flatMap((event) =>
        event.type === 'task_failed' ? [[event.taskName, event.code]] : [],
      )
      expect(failed).toEqual([['lines/x', 'MODEL_FAILED']])
      expect(api.promptOf('Write the page')).toContain('"key":"sand","ok":true')
    },
  },
  {
    rule: 'a task graph maps the output of a task, and a reduction combines the outputs',
    body: {
      tasks: [
        {
          name: 'places',
          description: 'Name places',
          outputSchema: { type: 'array', items: { type: 'object', required: ['city'] } },
        },
        {
          name: 'lines',
          description: 'Visit {item.city}',
          forEach: {
            over: '$places',
            collect: { reduce: { name: 'join', description: 'Join these' }, maxTokens: 100 },
          },
        },
      ],
    },
    story: {
      status: 'COMPLETED',
      outputs: {
        lines: 'main did Join these',
        'lines/0': 'main did Visit Bonn',
        'lines/reduce-join-1-0': 'main did Join these',
      },
    },
  },
  {
    rule: 'a task graph has an ensemble of the server as a task, for each item of a list',
    body: {
      inputs: { harbors: '["Emden"]' },
      tasks: [
        {
          name: 'guides',
          ensemble: 'studio',
          inputs: { topic: '{harbor}' },
          forEach: { over: 'harbors', as: 'harbor', collect: 'outputs' },
        },
        { name: 'page', description: 'Write a page', context: ['$guides'] },
      ],
      taskOverrides: { 'guides/0/writer': { model: 'opus' } },
    },
    story: {
      ack: { status: 'ACCEPTED', tasks: 2, workflow: 'PARALLEL' },
      status: 'COMPLETED',
      outputs: {
        guides: '{"0":"opus did Write it up"}',
        'guides/0/researcher': 'main did Research Emden',
        'guides/0/writer': 'opus did Write it up',
        page: 'main did Write a page',
      },
    },
  },
  {
    rule: 'a task graph and overrides can be combined',
    body: {
      tasks: [{ name: 'a', description: 'A' }],
      taskOverrides: { a: { model: 'opus' } },
    },
    story: { outputs: { a: 'opus did A' } },
  },
]

describe.each(CASES)('$rule', ({ body, story, also }) => {
  it('A submission is accepted over REST and over WebSocket alike, and the ensemble is unchanged', async () => {
    await using api = await openRecordedServer()
    const before = await (await api.get('/api/capabilities')).json()
    const first = await overRest(api, body)
    expect(toComparable(first)).toMatchObject(story)
    also?.(api, first.events)
    expect(toComparable(await overWebSocket(api, body))).toEqual(toComparable(first))
    expect(await (await api.get('/api/capabilities')).json()).toEqual(before)
    expect(toComparable(await overRest(api, INPUTS))).toMatchObject({
      ack: { tasks: 2, workflow: 'PARALLEL' },
      outputs: { researcher: 'main did Research AI', writer: 'main did Write it up' },
    })
    expect(api.errors).toEqual([])
  })
})

const task = (fields: object) => ({ tasks: [{ name: 'a', description: 'A', ...fields }] })

const REFUSED: readonly [body: object, refusal: object][] = [
  [
    { ...INPUTS, taskOverrides: { foobar: {} } },
    {
      error: 'INVALID_TASK_OVERRIDE',
      message: "No task matching 'foobar'. Available: [researcher, writer]",
      problems: [{ path: '/taskOverrides/foobar' }],
    },
  ],
  [
    { ...INPUTS, taskOverrides: { researcher: { tools: { remove: ['search'] } } } },
    { error: 'INVALID_TOOL', problems: [{ path: '/taskOverrides/researcher/tools/remove/0' }] },
  ],
  [
    { ensemble: 'archive', taskOverrides: { filer: { maxIterations: 2 } } },
    { error: 'INVALID_TASK_OVERRIDE', message: expect.stringContaining('has a handler') },
  ],
  [
    task({ tools: ['foobar'] }),
    {
      error: 'INVALID_TOOL',
      message: "Unknown tool 'foobar'. Available: [search, calculator]",
      problems: [{ path: '/tasks/0/tools/0' }],
    },
  ],
  [
    task({ model: 'gpt-4' }),
    {
      error: 'INVALID_MODEL',
      message: "Unknown model 'gpt-4'. Available: [main, opus]",
      problems: [{ path: '/tasks/0/model' }],
    },
  ],
  [
    {
      tasks: [
        { name: 'researcher', description: 'A', context: ['$writer'] },
        { name: 'writer', description: 'B', context: ['$researcher'] },
      ],
    },
    {
      error: 'CIRCULAR_DEPENDENCY',
      message: 'Tasks form a cycle: researcher → writer → researcher',
    },
  ],
  [
    task({ outputSchema: { properties: { n: { type: 'text' } } } }),
    {
      error: 'BAD_REQUEST',
      message:
        'Invalid output schema: /properties/n/type must be a JSON type or a list of them, got "text"',
      problems: [{ path: '/tasks/0/outputSchema' }],
    },
  ],
  [
    task({ outputSchema: JSON.parse(`{"const":${'['.repeat(200)}${']'.repeat(200)}}`) }),
    { error: 'BAD_REQUEST', problems: [{}] },
  ],
  [task({ context: ['$z'] }), { error: 'BAD_REQUEST', problems: [{ path: '/tasks/0/context/0' }] }],
  [
    {
      tasks: [
        { name: 'a', description: 'A' },
        { name: 'b', description: 'B', forEach: { over: '$a', as: 'b c', key: '.' } },
        { name: 'b/0', description: 'C', forEach: { over: '$z' } },
      ],
    },
    {
      error: 'BAD_REQUEST',
      problems: [
        { path: '/tasks/2/name' },
        { path: '/tasks/1/forEach/over' },
        { path: '/tasks/1/forEach/as' },
        { path: '/tasks/1/forEach/key' },
        { path: '/tasks/2/forEach/over' },
      ],
    },
  ],
  [
    {
      tasks: [
        { name: 'plan', ensemble: 'studios' },
        { ensemble: 'studio', inputs: { topc: 'x', topic: '$plan.name' }, model: 'opus' },
        { name: 'a', description: 'A', context: ['$a'] },
      ],
      taskOverrides: { 'plan/writer': {}, 'studio/wrter': {} },
    },
    {
      error: 'INVALID_ENSEMBLE',
      problems: [
        { path: '/tasks/0/ensemble' },
        { path: '/tasks/1/model' },
        { path: '/tasks/1/inputs/topc' },
        { path: '/tasks/2/context/0' },
        { path: '/taskOverrides/studio~1wrter' },
      ],
    },
  ],
  [
    { tasks: [{ name: 'plan', inputs: {} }] },
    { error: 'BAD_REQUEST', problems: [{ path: '/tasks/0/description' }] },
  ],
  [
    task({ forEach: { over: 'list', maxItems: 10_001, maxItem: 3 } }),
    {
      error: 'BAD_REQUEST',
      problems: [{ path: '/tasks/0/forEach/maxItems' }, { path: '/tasks/0/forEach/maxItem' }],
    },
  ],
  [
    { ...task({ forEach: { over: 'list', maxItems: 1 } }), inputs: { list: '[1,2]' } },
    {
      error: 'BAD_REQUEST',
      message:
        'Cannot run "studio": /inputs/list does not fit: task "a" has a task for each of its items, and maxItems is 1, got 2 items',
      problems: [{ path: '/inputs/list' }],
    },
  ],
  [
    { ...INPUTS, taskOverrides: { writer: { description: 'For {reader} in {place}' } } },
    {
      error: 'BAD_REQUEST',
      message: 'Cannot run "studio": missing inputs: reader, place',
      problems: [{ path: '/inputs/reader' }, { path: '/inputs/place' }],
    },
  ],
  [
    { ...INPUTS, options: { workflow: 'SEQUENTIAL', verbose: 'yes', captureMode: 'SOME' } },
    {
      error: 'BAD_REQUEST',
      problems: [{ path: '/options/verbose' }, { path: '/options/captureMode' }],
    },
  ],
  [{ tasks: [] }, { error: 'BAD_REQUEST', problems: [{ path: '/tasks' }] }],
  [{ taskOverrides: {} }, { error: 'BAD_REQUEST', problems: [{ path: '/taskOverrides' }] }],
  [{ ...INPUTS, webhooks: ['crm'] }, { error: 'INVALID_WEBHOOK' }],
]

describe('an invalid submission', () => {
  it.each(REFUSED)(
    'An invalid submission is refused over REST and over WebSocket alike: %j',
    async (body, refusal) => {
      await using api = await openRecordedServer()
      const { ack } = await overRest(api, body)
      expect(ack).toMatchObject(refusal)
      const told = await overWebSocket(api, body)
      // An invalid field makes the message invalid, not its body.
      expect({ ...told.ack, message: '' }).toEqual({ ...ack, message: '' })
      expect((await api.runs.list({ limit: 1, offset: 0 })).total).toBe(0)
      expect([api.asked, api.errors]).toEqual([[], []])
    },
  )
})
