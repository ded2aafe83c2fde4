/** Pure: which versions of Node will do. Written so that Node 14 can run it. */

/** The oldest Node that runs this program: the one that all packages of Tutti need. */
const NEEDED = '22.13.0'

/** The oldest Node that runs a project: from here on it runs TypeScript files as they are. */
const NEEDED_BY_PROJECTS = '22.18.0'

/** What is wrong with this Node, in a sentence; undefined when it will do. */
export function nodeProblem(version: string): string | undefined {
  if (!isBefore(version, NEEDED)) return undefined
  return `create-tutti needs Node ${short(NEEDED)} or later, and this is Node ${version}. Get a newer one from https://nodejs.org`
}

/** What stands between this Node and a new project, in a sentence. */
export function projectNodeProblem(version: string): string | undefined {
  if (!isBefore(version, NEEDED_BY_PROJECTS)) return undefined
  return `The project needs Node ${short(NEEDED_BY_PROJECTS)} or later, which runs TypeScript as it is; this is Node ${version}.`
}

function isBefore(version: string, other: string): boolean {
  const [numbers, others] = [numbersOf(version), numbersOf(other)]
  const at = numbers.findIndex((number, index) => number !== others[index])
  return at !== -1 && (numbers[at] ?? 0) < (others[at] ?? 0)
}

function numbersOf(version: string): readonly number[] {
  return version.split('.', 3).map((part) => Number.parseInt(part, 10))
}

function short(version: string): string {
  return version.replace(/\.0$/, '')
}
