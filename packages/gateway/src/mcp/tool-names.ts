/** Pure: names of shared ensembles for MCP clients. */

/** Maximum length of a name for model providers; MCP allows 128. */
const MAX_LENGTH = 64

/** Prefix of a name that another tool has already. */
const PREFIX = 'run_'

/**
 * Assigns each of `names` a unique name that MCP and model providers accept and that is not in `taken`. Other
 * characters become `_`; a clash gets the prefix `run_`, then a number.
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
