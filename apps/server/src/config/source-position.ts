/** Finds positions in the files of a project, as `path:line:column`. */
import { spawnSync } from 'node:child_process'
import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Finds the origin of an error while loading `configPath`: the position of a syntax error, otherwise the innermost call
 * in a file in or below the directory of the config file. Returns undefined when the error has no such position.
 */
export function findErrorPosition(error: unknown, configPath: string): string | undefined {
  if (!(error instanceof Error) || error.stack === undefined) return undefined
  if (error instanceof SyntaxError) {
    return findSyntaxErrorPosition(error.stack) ?? findSyntaxErrorPosition(checkSyntax(configPath))
  }
  return findCallPosition(error.stack, dirname(configPath))
}

/**
 * Finds the position in `source` of the property with this name, as `line:column`. Returns undefined when there are
 * none or several.
 */
export function findPropertyPosition(source: string, name: string): string | undefined {
  const escaped = name.replaceAll(/[^\w]/g, String.raw`\$&`)
  const pattern = new RegExp(String.raw`(?<![\w$.])["']?${escaped}["']?\s*:`, 'g')
  const [match, ...others] = source.matchAll(pattern)
  if (match === undefined || others.length > 0) return undefined
  const before = source.slice(0, match.index).split('\n')
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`
}

/** Reads the position of a syntax error: Node prints it, the line and a caret before the message. */
function findSyntaxErrorPosition(stack: string): string | undefined {
  const [, url = '', line, caret] =
    /^(file:\/\/\S+|\/\S+|[A-Z]:\\\S+):(\d+)\n(?:[^\n]*\n){1,3}?([ \t]*)\^/.exec(stack) ?? []
  if (line === undefined) return undefined
  return `${toPath(url)}:${line}:${(caret ?? '').length + 1}`
}

/** Returns the output of `node --check`, which has the position that the error of an import lacks. */
function checkSyntax(path: string): string {
  return spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' }).stderr
}

function findCallPosition(stack: string, folder: string): string | undefined {
  for (const [, url = '', position = ''] of stack.matchAll(
    /^\s+at (?:.*\()?(file:\/\/[^\s)]+?):(\d+:\d+)\)?$/gm,
  )) {
    const path = toPath(url)
    const isOwn = path.startsWith(folder + sep) && !path.includes(`${sep}node_modules${sep}`)
    if (isOwn) return `${path}:${position}`
  }
  return undefined
}

/** Converts a URL to a path. A module that was imported again has a query in its URL. */
function toPath(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*$/, '')) : url
}
