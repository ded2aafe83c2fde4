/** Pure: whether this version of Node will do. */
import { findingsOf, type Finding } from './finding.ts'

/** From which version on Node runs TypeScript files as they are. */
const TYPESCRIPT = '22.18.0'

/** What is known of Node and of what it has to run. */
export interface NodeFacts {
  /** Such as `24.1.0`. */
  readonly version: string
  /** What the package asks for, such as `>=22.13`. */
  readonly needed: string
  readonly configPath?: string | undefined
}

/** Checks the version of Node. */
export function checkNode({ version, needed, configPath = '' }: NodeFacts): Finding {
  const { ok, problem } = findingsOf('node')
  const least = needed.replace(/^\D+/, '')
  if (isBelow(version, least)) {
    return problem(
      `Node ${version} is too old, wanted ${needed}`,
      'Install a current Node: https://nodejs.org',
    )
  }
  if (/\.m?ts$/.test(configPath) && isBelow(version, TYPESCRIPT)) {
    return problem(
      `Node ${version} cannot load a config file in TypeScript, wanted ${TYPESCRIPT} or later`,
      'Install a newer Node, or write the config in JavaScript',
    )
  }
  return ok(`Node ${version}`)
}

function isBelow(version: string, least: string): boolean {
  const [have, want] = [numbersOf(version), numbersOf(least)]
  for (const [index, wanted] of want.entries()) {
    const part = have[index] ?? 0
    if (part !== wanted) return part < wanted
  }
  return false
}

function numbersOf(version: string): readonly number[] {
  return version.split(/[.-]/, 3).map(Number)
}
