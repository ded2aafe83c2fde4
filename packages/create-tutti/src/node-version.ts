/** Pure: checks the version of Node. This file must run on Node 14. */

/** Oldest version of Node that runs this program, as for all packages of Tutti. */
const NEEDED = '22.13.0'

/** Oldest version of Node that runs a project: the first one that runs TypeScript files directly. */
const NEEDED_BY_PROJECTS = '22.18.0'

/** Returns why this version of Node cannot run the program; undefined when it can. */
export function findNodeProblem(version: string): string | undefined {
  if (!isBefore(version, NEEDED)) return undefined
  return `create-tutti needs Node ${shortenVersion(NEEDED)} or later, but this is Node ${version}. Install a current Node: https://nodejs.org`
}

/** Returns why this version of Node cannot run a new project; undefined when it can. */
export function findProjectNodeProblem(version: string): string | undefined {
  if (!isBefore(version, NEEDED_BY_PROJECTS)) return undefined
  return `The project needs Node ${shortenVersion(NEEDED_BY_PROJECTS)} or later, which runs TypeScript directly; this is Node ${version}.`
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
