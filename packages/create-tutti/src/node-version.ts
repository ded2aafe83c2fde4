/** Pure: checks the version of Node. This file must run on Node 14. */

/** Oldest version of Node that all packages of Tutti support: the first one that runs TypeScript files directly. */
const NEEDED = '22.18.0'

/** Returns why this version of Node cannot run the program and the project that it creates; undefined when it can. */
export function findNodeProblem(version: string): string | undefined {
  if (!isBefore(version, NEEDED)) return undefined
  return `create-tutti needs Node ${shortenVersion(NEEDED)} or later, but this is Node ${version}. Install a current Node: https://nodejs.org`
}

function isBefore(version: string, other: string): boolean {
  const [numbers, others] = [parseVersion(version), parseVersion(other)]
  const at = numbers.findIndex((number, index) => number !== others[index])
  return at !== -1 && (numbers[at] ?? 0) < (others[at] ?? 0)
}

function parseVersion(version: string): readonly number[] {
  return version.split('.', 3).map((part) => Number.parseInt(part, 10))
}

function shortenVersion(version: string): string {
  return version.replace(/\.0$/, '')
}
