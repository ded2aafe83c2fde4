/** Reads the used subset of compose.yaml: merge keys, and variables as an engine substitutes them. */
import { parse } from 'yaml'

export interface ComposeService {
  readonly image: string
  readonly command?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly environment?: Readonly<Record<string, string>>
  readonly profiles?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly tmpfs?: readonly string[]
  readonly secrets?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly stop_grace_period?: string
  readonly deploy?: {
    readonly replicas?: number
    readonly resources?: { readonly limits?: { readonly cpus?: string; readonly memory?: string } }
  }
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, ComposeService>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, { readonly environment: string }>>
}

/** Reads the file with these variables. @throws {Error} naming a required variable that is not set. */
export function readCompose(
  text: string,
  variables: Readonly<Record<string, string>>,
): ComposeFile {
  const filled: unknown = parse(
    text,
    (_key: unknown, value: unknown) => (typeof value === 'string' ? fill(value, variables) : value),
    { merge: true },
  )
  // NOTE: the test of this file checks what it uses.
  return filled as ComposeFile
}

/** `${NAME:?problem}` is required; `${NAME:-other}` has a default. */
function fill(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{[^}]*\}/g, (found) => {
    const [, name = '', kind, other = ''] = /^\$\{(\w+)(?::([?-])(.*))?\}$/.exec(found) ?? []
    const value = variables[name] ?? ''
    if (value !== '' || kind === undefined) return value
    if (kind === '-') return other
    throw new Error(`${name} is not set: ${other}`)
  })
}
