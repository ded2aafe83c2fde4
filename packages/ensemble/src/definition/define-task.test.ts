import { defineTextTool, TuttiError, Type, type AgentTool } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { scriptedModel } from '../../test/testing.ts'
import { agent } from './agent.ts'
import { task } from './define-task.ts'
import { DEFAULT_EXPECTED_OUTPUT, DEFAULT_MAX_ITERATIONS } from './task.ts'

const tool = (name: string): AgentTool =>
  defineTextTool({ name, description: `The ${name}`, execute: (text) => text })

describe('task', () => {
  it('task() fills in defaults', () => {
    const made = task({ description: 'Research the history of jazz' })
    expect(made).toStrictEqual({
      name: 'research-the-history-of-jazz',
      description: 'Research the history of jazz',
      expectedOutput: DEFAULT_EXPECTED_OUTPUT,
      agent: { role: 'Researcher', tools: [] },
      tools: [],
      context: [],
      maxIterations: 25,
      outputRetries: 3,
      retries: 0,
      memory: [],
    })
    expect(DEFAULT_MAX_ITERATIONS).toBe(25)
  })

  it('task() keeps the given values', () => {
    const model = scriptedModel([])
    const writer = agent({ role: 'Writer', goal: 'Write well' })
    const made = task({
      name: 'Write It',
      description: 'Do it',
      expectedOutput: 'A page',
      agent: writer,
      model,
      maxIterations: 1,
    })
    expect(made).toMatchObject({ name: 'Write It', expectedOutput: 'A page', maxIterations: 1 })
    expect(made.agent).toBe(writer)
    expect(made.model).toBe(model)
  })

  it('task() lists its own tools first, then those of its agent', () => {
    const made = task({
      description: 'Do it',
      tools: [tool('own')],
      agent: agent({ role: 'Writer', goal: 'Write', tools: [tool('brought')] }),
    })
    expect(made.tools.map(({ name }) => name)).toEqual(['own', 'brought'])
  })

  it('task() accepts tasks and names of tasks as context', () => {
    const first = task({ name: 'first', description: 'Do it' })
    expect(task({ description: 'Go on', context: [first, 'second'] }).context).toEqual([
      'first',
      'second',
    ])
  })

  it('task() does not change when its definition changes later', () => {
    const tools = [tool('one')]
    const context = ['a']
    const made = task({ description: 'Do it', tools, context })
    tools.push(tool('two'))
    context.push('b')
    expect(made.tools).toHaveLength(1)
    expect(made.context).toEqual(['a'])
  })
})

describe('the default name of a task', () => {
  it.each([
    ['Research the history of jazz', 'research-the-history-of-jazz'],
    ['  Write, then (re)write!  ', 'write-then-re-write'],
    ['Summarise {topic} for {{reader}}', 'summarise-topic-for-reader'],
    ['Übersetze Käse ins Französische', 'übersetze-käse-ins-französische'],
    ['翻译这段文字', '翻译这段文字'],
    ['हिन्दी में लिखो', 'हिन्दी-में-लिखो'],
    ['Write 3 pages by 2026-05-01', 'write-3-pages-by-2026-05-01'],
    ['🎷🎺', 'task'],
    ['… !', 'task'],
    [
      'One two three four five six seven eight nine ten eleven',
      'one-two-three-four-five-six-seven-eight-nine-ten',
    ],
    [`${'x'.repeat(50)} more`, 'x'.repeat(50)],
    ['x'.repeat(51), 'task'],
  ])('The default name of a task with the description %j is %j', (description, name) => {
    expect(task({ description }).name).toBe(name)
    expect(name.length).toBeLessThanOrEqual(50)
  })
})

describe('task with an invalid definition', () => {
  it('task() names every problem of an invalid definition at once', () => {
    const make = (): unknown =>
      task({
        name: ' ',
        description: '\n',
        maxIterations: 0,
        tools: [tool('a'), tool('b'), tool('a')],
        agent: agent({ role: 'Writer', goal: 'Write', tools: [tool('b')] }),
      })
    const problems = [
      'name must not be blank',
      'description must not be blank',
      'maxIterations must be an integer >= 1, got 0',
      'two tools are named "a"',
      'two tools are named "b"',
    ]
    expect(make).toThrow(TuttiError)
    expect(make).toThrow(`Cannot create task " ": ${problems.join('; ')}`)
    expect(make).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID', details: { problems } }))
  })

  it('[ENS-O8] task() rejects an output schema whose limits exclude each other', () => {
    const output = Type.Object({ score: Type.Integer({ minimum: 5, maximum: 3 }) })
    expect(() => task({ name: 'rate', description: 'Rate', output })).toThrow(
      'Cannot create task "rate": Cannot use output schema: ' +
        '/properties/score/minimum must be at most maximum (3), got 5',
    )
  })

  it('task() accepts a copy of a task with a change, including the tools of its agent', () => {
    const own = tool('own')
    const writer = agent({ role: 'Writer', goal: 'Write', tools: [tool('shared')] })
    const made = task({ name: 'write', description: 'Write', agent: writer, tools: [own] })
    const copy = task({ ...made, maxIterations: 3 })
    expect(copy).toEqual({ ...made, maxIterations: 3 })
    expect(made.maxIterations).toBe(25)
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'task() rejects a maxIterations of %d',
    (maxIterations) => {
      expect(() => task({ description: 'Do it', maxIterations })).toThrow(
        `maxIterations must be an integer >= 1, got ${maxIterations}`,
      )
    },
  )
})

it('task() rejects a value in place of a tool, and names it', () => {
  const notTool = { name: 'x' } as never
  const writer = agent({ role: 'Writer', tools: [notTool] })
  expect(() =>
    task({ description: 'Do it', tools: [tool('own'), notTool], agent: writer }),
  ).toThrow(
    'tools[1] must be a tool, such as one of defineTool(), got {"name":"x"}; tools of its agent[0] must be a tool',
  )
})

it('task() rejects a tool with the name of the delegation tool if its agent may delegate', () => {
  const definition = { description: 'Do it', tools: [tool('delegate_task')] }
  const lead = agent({ role: 'Lead', goal: 'Lead', allowDelegation: true })
  expect(() => task({ ...definition, agent: lead })).toThrow(
    'the tool name "delegate_task" is reserved for delegation',
  )
  expect(task(definition).tools).toHaveLength(1)
})
