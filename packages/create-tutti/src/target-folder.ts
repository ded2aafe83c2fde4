/** Looks at the folder where a project is to go. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, relative } from 'node:path'

/** What may be in a folder that still counts as empty: a repository that was made first. */
const NOTHING = ['.git', '.DS_Store']

/** What is in the folder already; nothing when it is not there. */
export function entriesOf(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).filter((name) => !NOTHING.includes(name))
}

/** Why no project can be written at `folder`, in a sentence; undefined when it can, as far as can be seen. */
export function folderProblem(folder: string, cwd: string): string | undefined {
  const shown = relative(cwd, folder) || folder
  const there = nearestThere(folder)
  if (!statSync(there).isDirectory()) {
    return `Cannot create a project at "${shown}": "${there}" is a file`
  }
  try {
    accessSync(there, constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return `Cannot create a project at "${shown}": this user may not write to "${there}"`
  }
}

/** The folder itself, or the nearest one above it that is there. */
function nearestThere(path: string): string {
  return existsSync(path) ? path : nearestThere(dirname(path))
}
