/** Tests of tasks for each item of a list. */
import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, task } from '../src/index.ts'
import { describeCode } from '../src/internal.ts'
import { packTexts } from '../src/run/reduce-items.ts'
import { startRecorded } from './recorded-run.ts'
import { scriptedModel } from './testing.ts'
import { eventsOf, watchRun } from './watch-run.ts'

const Topics = Type.Array(Type.Object({ id: Type.String(), title: Type.String() }))
const LIST = [
  { id: 'a', title: 'Tides' },
  { id: 'b', title: 'Fog' },
]

const topics = task({ name: 'topics', description: 'List', output: Topics, handler: () => LIST })

/** Returns a model that answers with the line of its task. */
function echo() {
  return scriptedModel(({ messages }) => {
    const text = messages.at(-1)?.content ?? ''
    return /^Write .*/m.exec(text)?.[0] ?? 'nothing'
  })
}

const write = task({
  name: 'write',
  description: 'Write about {topic.title} in {tone}',
  context: [],
  forEach: { over: topics, as: 'topic', key: ({ id }) => id },
})

describe('[ENS-P12] a task with forEach', () => {
  it('A task with forEach adds a task for each item of an earlier output, and its output is their list', async () => {
    const last = task({
      name: 'last',
      description: 'End',
      context: [write],
      handler: ({ context }) => context[0]?.output ?? '',
    })
    const team = ensemble({ name: 'team', model: echo(), tasks: [topics, write, last] })
    const { events, ended } = watchRun(team, { inputs: { tone: 'prose' } })
    const result = await ended
    const lines = ['Write about Tides in prose', 'Write about Fog in prose']
    expect(result.output).toBe(JSON.stringify(lines))
    expect(result.outputOf(write)).toEqual(lines)
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual([
      'topics',
      'write',
      'last',
      'write/a',
      'write/b',
    ])
    expect(eventsOf(events, 'ensemble_started')[0]?.tasks[1]).toMatchObject({
      name: 'write',
      description: 'Write about {topic.title} in prose',
      context: ['topics'],
    })
  })

  it('A task with forEach maps an input, whose keys are the indexes', async () => {
    const shout = task({
      name: 'shout',
      description: 'Shout {item}',
      forEach: { over: 'words' },
      handler: ({ inputs }) => (inputs['item'] ?? '').toUpperCase(),
    })
    const team = ensemble({ name: 'team', tasks: [shout] })
    const result = await team.run({ words: '["x","y"]' })
    expect(result.outputOf(shout)).toEqual(['X', 'Y'])
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['shout', 'shout/0', 'shout/1'])
    await expect(team.run({})).rejects.toMatchObject({ code: 'INPUT_MISSING' })
    await expect(team.run({ words: 'x, y' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message:
        'Cannot run "team": /inputs/words must be a JSON list: task "shout" has a task for each of its items',
      details: { problems: [{ path: '/inputs/words' }] },
    })
  })

  it('[ENS-E1] An input with another number of items than its task allows is refused before the run begins', async () => {
    const shout = task({
      name: 'shout',
      description: 'Shout {item}',
      forEach: { over: 'words', maxItems: 2, until: { succeeded: 2 } },
      handler: () => 'x',
    })
    const team = ensemble({ name: 'team', tasks: [shout] })
    await expect(team.run({ words: '["x","y","z"]' })).rejects.toThrow(
      '/inputs/words does not fit: task "shout" has a task for each of its items, and maxItems is 2, got 3 items',
    )
    await expect(team.run({ words: '["x"]' })).rejects.toThrow(
      'and until.succeeded is 2, got 1 items',
    )
  })

  it('A key can be the path of a field, and an item without it is refused before any task begins', async () => {
    const shout = task({
      name: 'shout',
      description: 'Shout {item.text}',
      forEach: { over: 'lines', key: 'by.id' },
      handler: ({ inputs }) => `${inputs['item.text']}!`,
    })
    const team = ensemble({ name: 'team', tasks: [shout] })
    const lines = [
      { text: 'a', by: { id: 'ada' } },
      { text: 'b', by: { id: 7 } },
    ]
    const result = await team.run({ lines: JSON.stringify(lines) })
    expect(result.tasks.map(({ taskName }) => taskName)).toEqual(['shout', 'shout/ada', 'shout/7'])
    const other = await team.run({ lines: '[{"text":"a","by":{"id":"x"}},{"text":"b","by":"x"}]' })
    expect(other.error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message: 'Cannot map: item 1 has no text or number at its key "by.id"',
    })
    expect(other.tasks).toEqual([])
  })

  it('[ENS-E1] The inputs of a task with forEach are those of the tasks of its items and of its reduction', async () => {
    const join = task({ name: 'join', description: 'Join {items} for {reader}' })
    const lines = task({
      name: 'lines',
      description: 'Write about {item.title}',
      expectedOutput: 'A line in {tone}',
      forEach: { over: 'list', collect: { reduce: join, maxTokens: 10 } },
    })
    const team = ensemble({ name: 'team', model: echo(), tasks: [lines] })
    await expect(team.run({ lisst: '[]' })).rejects.toThrow(
      '/inputs/lisst is not a known input (known: tone, list, reader). Did you mean "list"?; ' +
        'missing inputs: tone, list, reader',
    )
  })

  it('[ENS-P10] Texts that are too large together are refused before they are rendered', async () => {
    const grow = task({
      name: 'grow',
      description: 'Grow {text} {text}',
      handler: () => 'x',
      forEach: { over: 'list' },
    })
    const team = ensemble({ name: 'team', tasks: [grow] })
    const inputs = { list: JSON.stringify(Array.from({ length: 100 }, () => 1)) }
    const { error } = await team.run({ ...inputs, text: 'x'.repeat(320_000) })
    expect(error).toMatchObject({
      code: 'INPUT_TOO_LARGE',
      message:
        'Cannot add tasks: the texts of 100 tasks would have 64004900 bytes, at most 64000000 are allowed',
    })
  })

  it('A task with forEach and collect has the failures in its output', async () => {
    const half = task({
      name: 'half',
      description: 'Halve {item}',
      output: Type.Object({ half: Type.Number() }),
      forEach: { over: 'numbers', onError: 'collect' },
      handler({ inputs }) {
        if (inputs['item'] === '0') throw new Error('Zero')
        return { half: Number(inputs['item']) / 2 }
      },
    })
    const result = await ensemble({ name: 'team', tasks: [half] }).run({ numbers: '[4,0]' })
    expect(result.outputOf(half)).toEqual([
      { key: '0', ok: true, output: { half: 2 } },
      { key: '1', ok: false, error: { code: 'TASK_FAILED', message: 'Zero' } },
    ])
  })

  it('A task with forEach and outputs has each output under its key, without those that failed', async () => {
    const halveBy = (onError: 'fail' | 'continue') =>
      task({
        name: 'half',
        description: 'Halve {item.n}',
        output: Type.Number(),
        forEach: { over: 'numbers', key: 'id', collect: 'outputs', onError },
        handler({ inputs }) {
          if (inputs['item.n'] === '0') throw new Error('Zero')
          return Number(inputs['item.n']) / 2
        },
      })
    const numbers = '[{"id":"b","n":4},{"id":"__proto__","n":2},{"id":"a","n":0}]'
    const [strict, lax] = [halveBy('fail'), halveBy('continue')]
    const failed = await ensemble({ name: 'team', tasks: [strict] }).run({ numbers })
    expect(failed.error?.message).toBe('Zero')
    const last = task({
      name: 'last',
      description: 'End',
      context: [lax],
      handler: ({ context }) => context[0]?.output ?? '',
    })
    const result = await ensemble({ name: 'team', tasks: [lax, last] }).run({ numbers })
    expect(result.output).toBe('{"b":2,"__proto__":1}')
    expect(Object.entries(result.outputOf(lax) ?? {})).toEqual([
      ['b', 2],
      ['__proto__', 1],
    ])
    expect(lax.outputReader?.schema).toMatchObject({
      type: 'object',
      additionalProperties: { type: 'number' },
    })
    expect(await lax.outputReader?.read('[1]')).toMatchObject({ ok: false })
    const none = await ensemble({ name: 'team', tasks: [lax] }).run({ numbers: '[]' })
    expect(none.outputOf(lax)).toEqual({})
  })

  it('A task with forEach and outputs has each failure under its key with onError collect', async () => {
    const half = task({
      name: 'half',
      description: 'Halve {item}',
      forEach: { over: 'numbers', collect: 'outputs', onError: 'collect' },
      handler({ inputs }) {
        if (inputs['item'] === '0') throw new Error('Zero')
        return 'half'
      },
    })
    const result = await ensemble({ name: 'team', tasks: [half] }).run({ numbers: '[4,0]' })
    expect(result.outputOf(half)).toEqual({
      0: { ok: true, output: 'half' },
      1: { ok: false, error: { code: 'TASK_FAILED', message: 'Zero' } },
    })
    expect(() =>
      task({
        name: 'half',
        description: 'Halve {item}',
        forEach: { over: 'numbers', collect: 'output' as 'outputs' },
      }),
    ).toThrow("forEach.collect must be 'list', 'outputs' or { reduce: task, maxTokens }")
  })

  it('[ENS-P11] A map by key leaves out the tasks that it has cancelled', async () => {
    const item = task({ name: 'item', description: 'Do {item}', handler: ({ inputs }) => inputs })
    const grow = task({
      name: 'grow',
      description: 'Grow',
      handler: ({ map }) =>
        map(['a', 'b', 'c'], item, {
          key: (name) => name,
          maxParallel: 1,
          until: { succeeded: 2 },
          collect: 'outputs',
        }),
    })
    const { output } = await ensemble({ name: 'team', tasks: [grow] }).run()
    expect(Object.keys(JSON.parse(output))).toEqual(['a', 'b'])
  })

  it('A task with forEach continues after an interruption without repeating its completed tasks', async () => {
    const model = echo()
    const team = ensemble({ name: 'team', model, maxConcurrentTasks: 1, tasks: [topics, write] })
    const whole = startRecorded(team, { inputs: { tone: 'prose' } })
    const { output } = await whole.handle.result
    const first = whole.steps.findIndex(({ kind }) => kind === 'delegation_ended')
    const from = { events: [], steps: whole.steps.slice(0, first + 1) }
    const count = model.requests.length
    const again = startRecorded(team, { inputs: { tone: 'prose' }, from })
    expect((await again.handle.result).output).toBe(output)
    expect(model.requests.length - count).toBe(1)
  })

  it('[ENS-W8] A task with forEach is checked when it is created, and its model when its ensemble is', () => {
    expect(() =>
      task({
        name: 'x',
        description: 'Do {it}',
        forEach: { over: 'list', as: 'not a name', key: 'a..b', maxParallel: 0, maxFailures: 1 },
      }),
    ).toThrow(
      'Cannot create task "x": forEach.as must be the name of a template variable, got "not a name"; ' +
        'forEach.key must be the path of a field, such as "author.id", got "a..b"; ' +
        "forEach.maxParallel must be an integer >= 1, got 0; forEach.maxFailures needs onError 'continue' or 'collect'",
    )
    expect(() =>
      task({
        name: 'x',
        description: 'Do {it}',
        forEach: {
          over: 'list',
          maxItems: 2,
          until: { succeeded: 3 },
          collect: { reduce: topics, maxTokens: 0, as: '?' },
        },
      }),
    ).toThrow(
      'Cannot create task "x": forEach.collect.as must be the name of a template variable, got "?"; ' +
        'forEach.until.succeeded must be at most maxItems, which is 2, got 3; ' +
        'forEach.collect.maxTokens must be a number >= 1, got 0',
    )
    expect(() =>
      ensemble({ name: 'team', tasks: [topics, write] }).start({ tone: 'kind' }),
    ).toThrow('task "write" has no model')
  })

  it('[ENS-V2] The digest of an ensemble covers the list and the task of each item', () => {
    const digestOf = (description: string, maxItems = 9): string =>
      describeCode(
        ensemble({
          name: 'team',
          model: echo(),
          tasks: [topics, task({ name: 'w', description, forEach: { over: topics, maxItems } })],
        }),
      ).digest
    expect(digestOf('Do {item}')).toBe(digestOf('Do {item}'))
    expect(digestOf('Do {item}', 8)).not.toBe(digestOf('Do {item}'))
    expect(digestOf('Do {{item}}')).not.toBe(digestOf('Do {item}'))
  })
})

describe('[ENS-P13] a reduce', () => {
  const join = task({
    name: 'join',
    description: 'Join {items}',
    handler: ({ inputs }) => (inputs['items'] ?? '').replaceAll('\n\n---\n\n', '+'),
  })

  it('A reduce combines the outputs of forEach in levels within its token budget', async () => {
    const letters = task({
      name: 'letters',
      description: 'Write {item}',
      handler: ({ inputs }) => `${inputs['item']}${'.'.repeat(11)}`,
      forEach: { over: 'list', collect: { reduce: join, maxTokens: 8 } },
    })
    const team = ensemble({ name: 'team', tasks: [letters] })
    const { events, ended } = watchRun(team, { inputs: { list: '["a","b","c","d"]' } })
    const result = await ended
    // Two texts of 12 characters and their separator are 31 of 32 characters; their join has 25.
    expect(result.error?.message).toBe(
      'Cannot reduce: level 2 got 2 texts of 13 tokens and returned 2 of 13, neither fewer texts nor fewer tokens; ' +
        'more than maxTokens 8 cannot be combined',
    )
    const joined = eventsOf(events, 'delegation_started').map(({ workerTask }) => workerTask)
    const joins = ['1-0', '1-1', '2-0', '2-1'].map((at) => `letters/reduce-join-${at}`)
    expect(joined.slice(4)).toEqual(joins)
    const wide = task({
      name: 'letters',
      description: 'Write {item}',
      handler: ({ inputs }) => inputs['item'] ?? '',
      forEach: { over: 'list', collect: { reduce: join, maxTokens: 4 } },
    })
    const done = await ensemble({ name: 'team', tasks: [wide] }).run({ list: '["a","b","c","d"]' })
    expect(done.output).toBe('a+b+c+d')
    expect(done.outputOf(wide)).toBe('a+b+c+d')
  })

  it('A reduce continues while its outputs get fewer or shorter, for up to ten levels', async () => {
    const run = async (shorten: (text: string) => string) => {
      const cut = task({
        name: 'cut',
        description: 'Cut {items}',
        handler: ({ inputs }) => shorten(inputs['items'] ?? ''),
      })
      const grow = task({
        name: 'grow',
        description: 'Grow',
        handler: ({ reduce }) => reduce(['a'.repeat(40), 'b'.repeat(40)], cut, { maxTokens: 5 }),
      })
      const { events, ended } = watchRun(ensemble({ name: 'team', tasks: [grow] }))
      const { output, error } = await ended
      return { output, error: error?.message, cuts: eventsOf(events, 'delegation_started').length }
    }
    const half = await run((text) => text.slice(0, text.length / 2))
    expect(half).toEqual({ output: 'aaaaa\n\n-', error: undefined, cuts: 2 * 3 + 1 })
    const slow = await run((text) => text.slice(2))
    expect(slow).toEqual({
      output: '',
      error: 'Cannot reduce: 2 texts are left after 10 levels with maxTokens 5',
      cuts: 20,
    })
    const longer = await run((text) => `${text}!`)
    expect(longer.error).toContain('level 1 got 2 texts of 20 tokens and returned 2 of 21')
    expect(longer.cuts).toBe(2)
  })

  it('packTexts fills groups by size, keeps the order, and leaves longer texts alone', () => {
    const texts = ['aaaa', 'bb', 'cccccccccccccccc', 'd', 'eeee']
    expect(packTexts(texts, 15)).toEqual(['aaaa\n\n---\n\neeee', 'bb\n\n---\n\nd', texts[2]])
  })

  it('A reduce without items or with an invalid budget is refused', async () => {
    const grow = task({
      name: 'grow',
      description: 'Grow',
      handler: ({ reduce }) => reduce([], join, { maxTokens: 0 }),
    })
    const { error } = await ensemble({ name: 'team', tasks: [grow] }).run()
    expect(error).toMatchObject({
      code: 'CONSTRAINT_VIOLATION',
      message: 'Cannot reduce: maxTokens must be a number >= 1, got 0; there are no items',
    })
  })
})
