/** Pure: names under which MCP clients call what is shared. */

/** Longest name: what model providers take; MCP itself allows 128. */
const MAX_LENGTH = 64

/** What a name begins with that a tool of the catalog has already. */
const PREFIX = 'run_'

/**
 * A name for each of `names` that MCP and model providers take, and that is none of `taken` nor of another:
 * other characters become `_`, and a clash gets the prefix `run_` and then a number.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
 */
export function assignToolNames(
  names: readonly string[],
  taken: readonly string[],
): ReadonlyMap<string, string> {
  const used = new Set(taken)
  const given = new Map<string, string>()
  for (const name of names) {
    const fit = findFreeName(fitName(name), used)
    used.add(fit)
    given.set(name, fit)
  }
  return given
}

function fitName(name: string): string {
  const fit = name.replaceAll(/[^\w-]+/g, '_').slice(0, MAX_LENGTH)
  return /[a-z\d]/i.test(fit) ? fit : 'ensemble'
}

function findFreeName(name: string, used: ReadonlySet<string>): string {
  if (!used.has(name)) return name
  const prefixed = `${PREFIX}${name}`.slice(0, MAX_LENGTH)
  for (let number = 1; ; number += 1) {
    const behind = number === 1 ? '' : `_${number}`
    const fit = `${prefixed.slice(0, MAX_LENGTH - behind.length)}${behind}`
    if (!used.has(fit)) return fit
  }
}
