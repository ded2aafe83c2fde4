/** Where in the files of a project an error comes from, as `path:line:column`. */
import { spawnSync } from 'node:child_process'
import { dirname, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Finds the place that an error of loading `configPath` comes from: of a syntax error the place in the file, else the
 * innermost call in a file beside the config file or below it. Undefined when the error does not say.
 */
export function positionOfError(error: unknown, configPath: string): string | undefined {
  if (!(error instanceof Error) || error.stack === undefined) return undefined
  if (error instanceof SyntaxError) {
    return positionOfSyntaxError(error.stack) ?? positionOfSyntaxError(checkedByNode(configPath))
  }
  return positionOfCall(error.stack, dirname(configPath))
}

/**
 * Finds the only place in `source` where a property has this name; undefined when there are several, as it cannot be
 * said which one is meant.
 */
export function positionOfProperty(source: string, name: string): string | undefined {
  const escaped = name.replaceAll(/[^\w]/g, String.raw`\$&`)
  const pattern = new RegExp(String.raw`(?<![\w$.])["']?${escaped}["']?\s*:`, 'g')
  const [match, ...others] = source.matchAll(pattern)
  if (match === undefined || others.length > 0) return undefined
  const before = source.slice(0, match.index).split('\n')
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`
}

/** Node puts the place, the line and a caret before the message of a syntax error. */
function positionOfSyntaxError(stack: string): string | undefined {
  const [, url = '', line, caret] =
    /^(file:\/\/\S+|\/\S+|[A-Z]:\\\S+):(\d+)\n(?:[^\n]*\n){1,3}?([ \t]*)\^/.exec(stack) ?? []
  if (line === undefined) return undefined
  return `${toPath(url)}:${line}:${(caret ?? '').length + 1}`
}

/** Returns the output of `node --check`: only there does the error of an import have a position. */
function checkedByNode(path: string): string {
  return spawnSync(process.execPath, ['--check', path], { encoding: 'utf8' }).stderr
}

function positionOfCall(stack: string, folder: string): string | undefined {
  for (const [, url = '', place = ''] of stack.matchAll(
    /^\s+at (?:.*\()?(file:\/\/[^\s)]+?):(\d+:\d+)\)?$/gm,
  )) {
    const path = toPath(url)
    const isOwn = path.startsWith(folder + sep) && !path.includes(`${sep}node_modules${sep}`)
    if (isOwn) return `${path}:${place}`
  }
  return undefined
}

/** A module that was imported again has a query in its URL. */
function toPath(url: string): string {
  return url.startsWith('file:') ? fileURLToPath(url.replace(/[?#].*$/, '')) : url
}
