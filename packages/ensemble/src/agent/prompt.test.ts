import { describe, expect, it } from 'vitest'

import { agent } from '../definition/agent.ts'
import { DEFAULT_EXPECTED_OUTPUT } from '../definition/task.ts'
import { task } from '../definition/define-task.ts'
import { renderDirectives } from '../steering/directives.ts'
import { renderTask } from '../definition/task-text.ts'
import { renderContext, createFirstMessages, type PromptParts } from './prompt.ts'

const writer = agent({ role: 'Writer', goal: 'Write clearly', background: 'You wrote ten books.' })
const text = { description: 'Write about jazz', expectedOutput: 'One page' }
const research = {
  taskName: 'research',
  agentRole: 'Researcher',
  description: 'Research jazz',
  output: 'It began in New Orleans.',
}
const dates = { ...research, taskName: 'dates', agentRole: 'Historian', output: '1917' }

/** Returns the texts of the first messages with these parts and no others. */
function messages(parts: Partial<PromptParts> = {}): readonly string[] {
  return createFirstMessages({
    agent: writer,
    text,
    history: [],
    context: [],
    notes: { memories: [] },
    attempt: 1,
    revision: undefined,
    directives: [],
    outputFormat: undefined,
    ...parts,
  }).map(({ content }) => content)
}

const memories = [
  { scope: 'facts', text: 'Jazz is old' },
  { scope: 'style', text: 'Be brief' },
]
const urgent = { id: 'd', content: 'Mention Coltrane', priority: 'NORMAL', createdAt: 0 } as const

it('[ENS-L29] The conversation before the run comes between the system message and the task', () => {
  const history = [
    { role: 'user', content: 'What is jazz?' },
    { role: 'assistant', content: 'Music', toolCalls: [] },
  ] as const
  expect(messages({ history }).slice(1, 3)).toEqual(['What is jazz?', 'Music'])
  expect(messages({ history })).toHaveLength(4)
})

describe('[ENS-L30] the instructions of a task', () => {
  const plain = { text: { description: 'Hello {you}', expectedOutput: DEFAULT_EXPECTED_OUTPUT } }

  it('The instructions of a task are the system message, and the description comes as it is', () => {
    const { instructions } = { instructions: 'Talk like a {pirate}' }
    expect(messages({ ...plain, instructions })).toEqual([instructions, 'Hello {you}'])
  })

  it('The instructions of a task send no system message when they are empty', () => {
    expect(messages({ ...plain, instructions: '' })).toEqual(['Hello {you}'])
  })

  it('The instructions of a task keep the sections that say more than the description', () => {
    const parts = { instructions: 'x', context: [research], directives: [urgent] }
    const [, user = ''] = messages(parts)
    expect(user).toMatch(
      /^## Context from .*## Active Directives.*\n\nWrite about jazz\n\n## Expected Output\nOne page$/s,
    )
  })
})

describe('[ENS-L22] the first messages of a task', () => {
  it('The first messages of a task are the role of the agent and the task', () => {
    expect(messages()).toEqual([
      [
        'You are Writer.',
        'You wrote ten books.',
        'Your personal goal is: Write clearly',
        'Work until the task is done, then answer with the final result only, complete in itself.',
      ].join('\n'),
      '## Task\nWrite about jazz\n\n## Expected Output\nOne page',
    ])
  })

  it('The first messages of a task have all sections in order', () => {
    const [, user] = messages({
      context: [research, dates],
      notes: { memories, improvement: 'Suggestions:\n- Be bold' },
      attempt: 3,
      revision: { feedback: 'Too dry', output: 'Jazz is a style.' },
      directives: [urgent],
      outputFormat: 'JSON only',
    })
    expect(user).toBe(
      [
        '## Memory: facts\nJazz is old',
        '## Memory: style\nBe brief',
        '## Context from Previous Tasks\n### Researcher: Research jazz\nIt began in New Orleans.\n---\n' +
          '### Historian: Research jazz\n1917\n---',
        '## Task Improvement Notes\nSuggestions:\n- Be bold',
        '## Revision Instructions (Attempt 3)\nA reviewer sent your last answer back: Too dry\n\n' +
          'Your last answer was:\nJazz is a style.',
        `## Active Directives\n${renderDirectives([urgent])}`,
        '## Task\nWrite about jazz',
        '## Expected Output\nOne page',
        '## Output Format\nJSON only',
      ].join('\n\n'),
    )
  })

  it('The first messages of a task omit a missing background, and include the form of the answer', () => {
    const plain = agent({ role: 'Writer', goal: 'Write', responseFormat: 'a haiku' })
    expect(messages({ agent: plain })[0]?.split('\n')).toEqual([
      'You are Writer.',
      'Your personal goal is: Write',
      expect.stringContaining('final result only'),
      'Put your answer in this form: a haiku',
    ])
  })

  it('The first messages of a task name no goal if the agent has none', () => {
    expect(messages({ agent: agent({ role: 'Writer' }) })[0]).toBe(
      'You are Writer.\nWork until the task is done, then answer with the final result only, complete in itself.',
    )
  })

  it('The first messages of a task say that a revision without a reason was not accepted', () => {
    const [, user] = messages({ revision: { feedback: ' ', output: 'Jazz.' } })
    expect(user).toContain('back: It was not accepted.\n')
  })
})

it('[ENS-L22] renderContext returns an empty text without tasks', () => {
  expect(renderContext([])).toBe('')
})

describe('[ENS-L22] renderTask', () => {
  it('renderTask fills in the inputs of the run and leaves the task unchanged', () => {
    const made = task({ description: 'Write about {topic}', expectedOutput: '{pages} pages' })
    expect(renderTask(made, { topic: 'jazz', pages: '3' })).toEqual({
      description: 'Write about jazz',
      expectedOutput: '3 pages',
    })
    expect(made.description).toBe('Write about {topic}')
  })
})
