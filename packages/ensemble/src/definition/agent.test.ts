import { describe, expect, it } from 'vitest'

import { agent, synthesizeAgent } from './agent.ts'

describe('agent', () => {
  it('agent() returns the definition, with no tools by default', () => {
    expect(agent({ role: 'Writer', goal: 'Write well', background: 'Ten years' })).toStrictEqual({
      role: 'Writer',
      goal: 'Write well',
      background: 'Ten years',
      tools: [],
    })
  })
})

describe('synthesizeAgent', () => {
  it.each([
    ['Research the history of jazz', 'Researcher'],
    ['SUMMARIZE the paper', 'Summarizer'],
    ['Please, carefully: write a poem', 'Writer'],
    ['You should now go there and then finally plan it', 'Agent'],
    ['One two three four five six seven plan', 'Planner'],
    ['Do something', 'Agent'],
    ['A researcher writes', 'Agent'],
    ['Use the constructor', 'Agent'],
    ['', 'Agent'],
  ])(
    'synthesizeAgent gives %j the role %s, by the first known verb of its first eight words',
    (description, role) => {
      expect(synthesizeAgent(description)).toStrictEqual({ role, tools: [] })
    },
  )

  it('synthesizeAgent uses the first of several verbs', () => {
    expect(synthesizeAgent('Review and edit').role).toBe('Reviewer')
    expect(synthesizeAgent('Edit and review').role).toBe('Editor')
  })
})
