/** Checks the folder for a new project. */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, relative } from 'node:path'

/** Entries of a folder that still counts as empty. */
const IGNORED = ['.git', '.DS_Store']

/** Lists the entries of a folder; none when it does not exist. */
export function listEntries(folder: string): readonly string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder).filter((name) => !IGNORED.includes(name))
}

/** Returns why a project cannot be written to `folder`; undefined when no problem is found. */
export function findTargetProblem(folder: string, cwd: string): string | undefined {
  const shown = relative(cwd, folder) || folder
  const existing = findExisting(folder)
  if (!statSync(existing).isDirectory()) {
    return `Cannot create a project at "${shown}": "${existing}" is a file`
  }
  try {
    accessSync(existing, constants.W_OK | constants.X_OK)
    return undefined
  } catch {
    return `Cannot create a project at "${shown}": no permission to write to "${existing}"`
  }
}

/** Returns the path, or its nearest ancestor that exists. */
function findExisting(path: string): string {
  return existsSync(path) ? path : findExisting(dirname(path))
}
