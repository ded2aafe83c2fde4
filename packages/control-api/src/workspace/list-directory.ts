/** Lists a directory of the workspace. */
import { opendir } from 'node:fs/promises'

import { TuttiError } from '@tutti/core'

import {
  assertStillInside,
  openInside,
  statInside,
  toWorkspaceError,
  type Opened,
  type Root,
} from './open-inside.ts'
import { isReachable, formatPath } from './workspace-names.ts'

import type { WorkspaceEntry } from '@tutti/protocol/internal'

/** Maximum number of entries in a listed directory. */
const MAX_ENTRIES = 10_000

/**
 * Returns the files and subdirectories of a directory: directories first, each sorted by name. Hidden entries, links that
 * lead out of the workspace and special files are left out.
 *
 * @throws {TuttiError} like `openInside`; PAYLOAD_TOO_LARGE when the directory has more than `maxEntries` entries, 10,000
 * by default.
 */
export async function listDirectory(
  root: Root,
  path: string,
  { maxEntries = MAX_ENTRIES }: { readonly maxEntries?: number } = {},
): Promise<readonly WorkspaceEntry[]> {
  const opened = await openInside(root, path, 'directory')
  try {
    const names = await readNames(opened, path, maxEntries)
    const entries = await Promise.all(names.map((name) => readEntry(root, opened, name)))
    await assertStillInside(root, opened, path)
    return entries.filter((entry) => entry !== undefined).toSorted(compareEntries)
  } catch (error) {
    throw toWorkspaceError(error, path)
  } finally {
    await opened.handle.close()
  }
}

async function readNames(
  { path }: Opened,
  shownPath: string,
  maxEntries: number,
): Promise<readonly string[]> {
  const names: string[] = []
  for await (const { name } of await opendir(path)) {
    if (isReachable(name)) names.push(name)
    if (names.length <= maxEntries) continue
    const message = `Directory "${formatPath(shownPath)}" has more than ${maxEntries} entries`
    throw new TuttiError('PAYLOAD_TOO_LARGE', message)
  }
  return names
}

async function readEntry(
  root: Root,
  opened: Opened,
  name: string,
): Promise<WorkspaceEntry | undefined> {
  const stats = await statInside(root, opened, name)
  if (stats === undefined) return undefined
  const instant = formatFileTime(stats.mtimeMs)
  const changed = instant === undefined ? {} : { lastModified: instant }
  if (stats.isDirectory()) return { name, type: 'directory', ...changed }
  return stats.isFile() ? { name, type: 'file', size: stats.size, ...changed } : undefined
}

/** Formats a file time; undefined if its year does not have four digits, since file times can be arbitrary. */
export function formatFileTime(ms: number): string | undefined {
  const isWritable = ms >= Date.parse('0000-01-01T00:00Z') && ms < Date.UTC(10_000, 0, 1)
  return isWritable ? new Date(ms).toISOString() : undefined
}

function compareEntries(a: WorkspaceEntry, b: WorkspaceEntry): number {
  if (a.type !== b.type) return a.type === 'directory' ? -1 : 1
  return a.name < b.name ? -1 : 1
}
