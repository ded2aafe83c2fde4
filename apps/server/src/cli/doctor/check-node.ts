/** Pure check of the Node version. */
import { findingsFor, type Finding } from '../../checks/finding.ts'

/** First version of Node that runs TypeScript files directly. */
const TYPESCRIPT = '22.18.0'

/** Version of Node, and its requirements. */
export interface NodeFacts {
  /** Running version, such as `24.1.0`. */
  readonly version: string
  /** Supported range, such as `>=22.13`. */
  readonly needed: string
  readonly configPath?: string | undefined
}

/** Checks that the version of Node is supported and can load the config file. */
export function checkNode({ version, needed, configPath = '' }: NodeFacts): Finding {
  const { ok, problem } = findingsFor('node')
  const least = needed.replace(/^\D+/, '')
  if (isBelow(version, least)) {
    return problem(
      `Node ${version} is too old, expected ${needed}`,
      'Install a current Node: https://nodejs.org',
    )
  }
  if (/\.m?ts$/.test(configPath) && isBelow(version, TYPESCRIPT)) {
    return problem(
      `Node ${version} cannot load a config file in TypeScript, expected ${TYPESCRIPT} or later`,
      'Install a newer Node, or write the config in JavaScript',
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
