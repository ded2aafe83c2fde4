/**
 * Reads the dashboard's built files into memory when the server starts. Requests look files up by their
 * whole name, so no part of a request becomes a path on disk.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

type Bytes = Uint8Array<ArrayBuffer>

/** A built dashboard. */
export interface Dashboard {
  /** Content of `index.html`. */
  readonly page: Bytes
  /** All other files. */
  readonly files: readonly DashboardFile[]
}

/** A file that the page loads. */
export interface DashboardFile {
  /** Path in the URL without the leading slash, such as `assets/index-DKaX9_-q.js`. */
  readonly name: string
  readonly bytes: Bytes
}

const PAGE = 'index.html'

/** Matches names that are the same in a path, in a URL and in a pattern of the router. */
const PLAIN_NAME = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/

/**
 * Reads all files in a folder and its subfolders except hidden files and links.
 *
 * @throws {TuttiError} CONFIG_INVALID when the folder cannot be read, has no `index.html`, or has a file whose name
 * would be encoded in a URL.
 */
export async function readDashboard(folder: string): Promise<Dashboard> {
  const names = (await listFiles(folder)).filter((name) => !/(?:^|\/)\./.test(name))
  if (!names.includes(PAGE)) throw invalid(folder, `there is no ${PAGE}`)
  const odd = names.filter((name) => !PLAIN_NAME.test(name))
  if (odd.length > 0) {
    const wanted = 'names must consist of letters, digits, ".", "_" and "-"'
    throw invalid(folder, `${wanted}, got ${odd.map((name) => `"${name}"`).join(', ')}`)
  }
  const files = await Promise.all(
    names
      .filter((name) => name !== PAGE)
      .toSorted()
      .map(async (name) => ({ name, bytes: await readBytes(folder, name) })),
  )
  return { page: await readBytes(folder, PAGE), files }
}

async function listFiles(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => relative(folder, join(parentPath, name)).replaceAll(sep, '/'))
  } catch (error) {
    throw invalid(folder, errorMessage(error), error)
  }
}

async function readBytes(folder: string, name: string): Promise<Bytes> {
  try {
    return await readFile(join(folder, name))
  } catch (error) {
    throw invalid(folder, errorMessage(error), error)
  }
}

function invalid(folder: string, why: string, cause?: unknown): TuttiError {
  const message = `Cannot serve the dashboard from "${folder}": ${why}`
  return new TuttiError('CONFIG_INVALID', message, { cause })
}
