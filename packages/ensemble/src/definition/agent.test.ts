import { describe, expect, it } from 'vitest'

import { agent, synthesizeAgent } from './agent.ts'

describe('agent', () => {
  it('is what its author wrote, with no tools when none are named', () => {
    expect(agent({ role: 'Writer', goal: 'Write well', background: 'Ten years' })).toStrictEqual({
      role: 'Writer',
      goal: 'Write well',
      background: 'Ten years',
      tools: [],
    })
  })
})

describe('the agent of a task that names none', () => {
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
  ])('of %j is a %s, by the first known verb of its first eight words', (description, role) => {
    expect(synthesizeAgent(description)).toEqual({ role, goal: description, tools: [] })
  })

  it('goes by the first of several verbs', () => {
    expect(synthesizeAgent('Review and edit').role).toBe('Reviewer')
    expect(synthesizeAgent('Edit and review').role).toBe('Editor')
  })
})
