import { describe, expect, it } from 'vitest'

import { agent } from '../agent.ts'
import { task } from '../task.ts'
import { contextText, firstMessages, renderTask } from './prompt.ts'

const writer = agent({ role: 'Writer', goal: 'Write clearly', background: 'You wrote ten books.' })
const text = { description: 'Write about jazz', expectedOutput: 'One page' }
const research = {
  taskName: 'research',
  agentRole: 'Researcher',
  description: 'Research jazz',
  output: 'It began in New Orleans.',
}
const dates = { ...research, taskName: 'dates', agentRole: 'Historian', output: '1917' }

describe('the first messages of a task', () => {
  it('are who the agent is, then what it is asked, its sections in order', () => {
    expect(firstMessages(writer, text, [research, dates])).toEqual([
      {
        role: 'system',
        content: [
          'You are Writer.',
          'You wrote ten books.',
          'Your personal goal is: Write clearly',
          'Work until the task is done, then answer with the final result only, complete in itself.',
        ].join('\n'),
      },
      {
        role: 'user',
        content: [
          '## Context from Previous Tasks',
          '### Researcher: Research jazz',
          'It began in New Orleans.',
          '---',
          '### Historian: Research jazz',
          '1917',
          '---',
          '',
          '## Task',
          'Write about jazz',
          '',
          '## Expected Output',
          'One page',
        ].join('\n'),
      },
    ])
  })

  it('have no context section without context, and no background line without background', () => {
    const [system, user] = firstMessages(agent({ role: 'Writer', goal: 'Write' }), text, [])
    expect(user?.content).toBe('## Task\nWrite about jazz\n\n## Expected Output\nOne page')
    expect(system?.content.split('\n')).toEqual([
      'You are Writer.',
      'Your personal goal is: Write',
      expect.stringContaining('final result only'),
    ])
  })
})

it('contextText of nothing is empty', () => {
  expect(contextText([])).toBe('')
})

describe('renderTask', () => {
  it('puts the inputs into both texts and changes nothing of the task', () => {
    const made = task({ description: 'Write about {topic}', expectedOutput: '{pages} pages' })
    expect(renderTask(made, { topic: 'jazz', pages: '3' })).toEqual({
      description: 'Write about jazz',
      expectedOutput: '3 pages',
    })
    expect(made.description).toBe('Write about {topic}')
  })
})
