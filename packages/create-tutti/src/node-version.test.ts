import { describe, expect, it } from 'vitest'

import { nodeProblem, projectNodeProblem } from './node-version.ts'

describe('nodeProblem', () => {
  it.each(['14.21.3', '20.19.0', '22.12.9', '22.2.13'])('says what is wrong with %s', (version) => {
    expect(nodeProblem(version)).toBe(
      `create-tutti needs Node 22.13 or later, and this is Node ${version}. Get a newer one from https://nodejs.org`,
    )
  })

  it.each(['22.13.0', '22.13.1', '22.100.0', '23.0.0', '100.0.0', '26.0.0-nightly2026'])(
    'takes %s',
    (version) => {
      expect(nodeProblem(version)).toBeUndefined()
    },
  )
})

describe('projectNodeProblem', () => {
  it('asks for a Node that runs TypeScript', () => {
    expect(projectNodeProblem('22.17.9')).toContain('22.18')
    expect(projectNodeProblem('22.18.0')).toBeUndefined()
  })
})
