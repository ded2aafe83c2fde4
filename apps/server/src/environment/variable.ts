/** Pure: the form of a row in the table of environment variables, and parsers for their values. */

/** Name of a variable, and the list that receives its problems. */
export interface Parsing {
  readonly name: string
  readonly problems: string[]
}

/** Parses a trimmed, nonempty text. Returns undefined after it has added a problem. */
export type Parse<Value> = (text: string, parsing: Parsing) => Value | undefined

/** A row: the documentation of a variable, and how it is read. */
export interface Variable {
  readonly name: string
  /** Text that is read when the variable is not set. @default none: its value is undefined */
  readonly fallback?: string
  /** Default as the documentation shows it. @default `fallback`, or "none" */
  readonly byDefault?: string
  /** Description, without a final period. */
  readonly meaning: string
  readonly parse: Parse<unknown>
  /** Lists the secrets in a value. @default none; a variable with the name of a secret is redacted as a whole */
  readonly listSecrets?: (text: string) => readonly string[]
}

/** Variables by the names of their settings. */
export type VariableTable = Readonly<Record<string, Variable>>

/** Parsed values of a table. A variable that is not set and has no fallback is undefined. */
export type Values<Rows extends VariableTable> = {
  readonly [Key in keyof Rows]:
    | NonNullable<ReturnType<Rows[Key]['parse']>>
    | (Rows[Key] extends { readonly fallback: string } ? never : undefined)
}

/** Adds a problem; `reason` continues the name of the variable. */
export function addProblem({ name, problems }: Parsing, reason: string): undefined {
  problems.push(`${name} ${reason}`)
  return undefined
}

/** Accepts any text. */
export function parseText(text: string): string {
  return text
}

/** Parses a list that is separated by commas. */
export function parseList(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** Parses an integer from 0 to `max`. */
export function integerTo(max: number): Parse<number> {
  return (text, parsing) =>
    /^\d+$/.test(text) && Number(text) <= max
      ? Number(text)
      : addProblem(parsing, `must be an integer from 0 to ${max}, got "${text}"`)
}

/** Parses one of the choices, regardless of case. */
export function oneOf<const Choice extends string>(choices: readonly Choice[]): Parse<Choice> {
  const quoted = choices.map((choice) => `"${choice.toLowerCase()}"`)
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
  return (text, parsing) =>
    choices.find((choice) => choice.toLowerCase() === text.toLowerCase()) ??
    addProblem(parsing, `must be ${expected}, got "${text}"`)
}

/** Parses the URL of a Postgres database. It contains a password, so no problem shows it. */
export function parseDatabaseUrl(url: string, parsing: Parsing): string | undefined {
  if (/^postgres(?:ql)?:\/\/./.test(url) && URL.canParse(url)) return url
  return addProblem(parsing, 'must be a URL such as postgres://user:password@host:5432/database')
}

/** Parses the URLs of NATS servers. They contain passwords, so no problem shows them. */
export function parseNatsUrls(urls: string, parsing: Parsing): string | undefined {
  if (parseList(urls).every(isNatsUrl)) return urls
  return addProblem(
    parsing,
    'must be URLs such as nats://user:password@host:4222, separated by commas',
  )
}

function isNatsUrl(url: string): boolean {
  return /^(?:nats|tls):\/\/[^/]+\/?$/.test(url) && URL.canParse(url)
}

/** Lists the passwords of a URL, both encoded and decoded. */
export function listPasswords(url: string): readonly string[] {
  if (!URL.canParse(url)) return []
  const { password, searchParams } = new URL(url)
  const inQuery = searchParams.get('password') ?? ''
  return [password, decodePercents(password) ?? '', inQuery].filter((text) => text !== '')
}

/** Decodes a percent-encoded text; undefined when its encoding is invalid. */
export function decodePercents(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
