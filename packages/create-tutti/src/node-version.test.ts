import { describe, expect, it } from 'vitest'

import { findNodeProblem } from './node-version.ts'

describe('findNodeProblem', () => {
  it.each(['14.21.3', '20.19.0', '22.17.9', '22.2.18'])('findNodeProblem rejects %s', (version) => {
    expect(findNodeProblem(version)).toBe(
      `create-tutti needs Node 22.18 or later, but this is Node ${version}. Install a current Node: https://nodejs.org`,
    )
  })

  it.each(['22.18.0', '22.18.1', '22.100.0', '23.0.0', '100.0.0', '26.0.0-nightly2026'])(
    'findNodeProblem accepts %s',
    (version) => {
      expect(findNodeProblem(version)).toBeUndefined()
    },
  )
})
