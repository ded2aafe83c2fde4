/** Reports each file that this process imports, and each missing file that it tries to import. */
import { statSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { fileURLToPath } from 'node:url'

import type { SeenFile } from './dev-messages.ts'

/** Paths of installed packages, which are not part of the project. */
const INSTALLED = /[/\\]node_modules[/\\]/

/**
 * Starts reporting. Returns false if this version of Node has no module hooks, which came with 22.15.
 *
 * A file is reported with its signature before it is read, so that a change right afterwards is noticed.
 */
export function reportImportedFiles(report: (file: SeenFile) => void): boolean {
  // NOTE: the types describe a newer Node than the oldest supported one.
  const { registerHooks } = nodeModule as Partial<typeof nodeModule>
  if (registerHooks === undefined) return false
  const seen = new Set<string>()
  const reportOnce = (url: string): void => {
    const path = findProjectPath(url)
    if (path === undefined || seen.has(path)) return
    seen.add(path)
    report({ path, signature: readFileSignature(path) })
  }
  registerHooks({
    resolve(specifier, context, nextResolve) {
      try {
        return nextResolve(specifier, context)
      } catch (error) {
        // The user may create the missing file next.
        if (/^\.{1,2}\//.test(specifier) && context.parentURL !== undefined) {
          reportOnce(new URL(specifier, context.parentURL).href)
        }
        throw error
      }
    },
    load(url, context, nextLoad) {
      reportOnce(url)
      return nextLoad(url, context)
    },
  })
  return true
}

/** Returns the path of a file of the project; undefined for every other module. */
function findProjectPath(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined
  const path = fileURLToPath(new URL(url))
  return INSTALLED.test(path) || url.startsWith(PROGRAM) ? undefined : path
}

/** Folder of the built program, which loads parts of itself on demand. */
const PROGRAM = new URL('.', import.meta.url).href

/** Returns a text that differs between two states of a file, and is `none` for a missing file. */
export function readFileSignature(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats === undefined ? 'none' : `${stats.mtimeNs}:${stats.size}:${stats.ino}`
}
