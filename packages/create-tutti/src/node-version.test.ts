import { describe, expect, it } from 'vitest'

import { findNodeProblem, findProjectNodeProblem } from './node-version.ts'

describe('findNodeProblem', () => {
  it.each(['14.21.3', '20.19.0', '22.12.9', '22.2.13'])('findNodeProblem rejects %s', (version) => {
    expect(findNodeProblem(version)).toBe(
      `create-tutti needs Node 22.13 or later, but this is Node ${version}. Install a current Node: https://nodejs.org`,
    )
  })

  it.each(['22.13.0', '22.13.1', '22.100.0', '23.0.0', '100.0.0', '26.0.0-nightly2026'])(
    'findNodeProblem accepts %s',
    (version) => {
      expect(findNodeProblem(version)).toBeUndefined()
    },
  )
})

describe('findProjectNodeProblem', () => {
  it('findProjectNodeProblem requires a Node that runs TypeScript', () => {
    expect(findProjectNodeProblem('22.17.9')).toContain('22.18')
    expect(findProjectNodeProblem('22.18.0')).toBeUndefined()
  })
})
