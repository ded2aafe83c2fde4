/** Pure check of the Node version. */
import { findingsFor, type Finding } from '../../checks/finding.ts'

/** Version of Node, and its requirement. */
export interface NodeFacts {
  /** Running version, such as `24.1.0`. */
  readonly version: string
  /** Supported range, such as `>=22.18`. */
  readonly needed: string
}

/** Checks that the version of Node is supported. */
export function checkNode({ version, needed }: NodeFacts): Finding {
  const { ok, problem } = findingsFor('node')
  const least = needed.replace(/^\D+/, '')
  if (isBelow(version, least)) {
    return problem(
      `Node ${version} is too old, expected ${needed}`,
      'Install a current Node: https://nodejs.org',
    )
  }
  return ok(`Node ${version}`)
}

function isBelow(version: string, least: string): boolean {
  const [have, want] = [parseVersion(version), parseVersion(least)]
  for (const [index, wanted] of want.entries()) {
    const part = have[index] ?? 0
    if (part !== wanted) return part < wanted
  }
  return false
}

function parseVersion(version: string): readonly number[] {
  return version.split(/[.-]/, 3).map(Number)
}
