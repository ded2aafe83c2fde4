/** Tells of each file that this process imports from now on, and of those that it looks for and does not find. */
import { statSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

import type { SeenFile } from './dev-messages.ts'

/** Code that nobody edits here: packages, and this program. */
const NOT_OURS = /[/\\]node_modules[/\\]/

/**
 * Begins to tell. False where this version of Node has no hooks: they came with 22.15.
 *
 * A file is told of with its state before it is read, so that a change right after is seen.
 */
export function tellImportedFiles(tell: (file: SeenFile) => void): boolean {
  // NOTE: the types are those of a newer Node than the oldest that this program runs on.
  const { registerHooks } = nodeModule as Partial<typeof nodeModule>
  if (registerHooks === undefined) return false
  const seen = new Set<string>()
  const see = (url: string): void => {
    const path = ownPath(url)
    if (path === undefined || seen.has(path)) return
    seen.add(path)
    tell({ path, signature: signatureOf(path) })
  }
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context)
      } catch (error) {
        // It may be written next.
        if (/^\.{1,2}\//.test(specifier) && context.parentURL !== undefined) {
          see(new URL(specifier, context.parentURL).href)
        }
        throw error
      }
    },
    load(url, context, nextLoad) {
      see(url)
      return nextLoad(url, context)
    },
  })
  return true
}

/** The path of a file that people edit; undefined for everything else. */
function ownPath(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined
  const path = fileURLToPath(new URL(url))
  return NOT_OURS.test(path) || url.startsWith(PROGRAM) ? undefined : path
}

/** Folder of the built program, which loads parts of itself when they are used. */
const PROGRAM = new URL('.', import.meta.url).href

/** What tells one state of a file from another; the same for every file that is not there. */
export function signatureOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats === undefined ? 'none' : `${stats.mtimeNs}:${stats.size}:${stats.ino}`
}
