/**
 * The environment of a program: what it needs to start, what was asked for, and nothing else, so that
 * the secrets of this process stay in it.
 */

/** Which variables a program gets. */
export interface EnvironmentOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly inheritEnv?: readonly string[] | true
}

/** An environment as processes have it. */
export type Variables = Readonly<Record<string, string | undefined>>

/**
 * What programs need to find others, their user's files, the language and the time zone. The names are
 * spelled out, since to list the variables of a process takes longer than to ask for all of these.
 */
const NEEDED = [
  'PATH',
  'HOME',
  'TMPDIR',
  'TZ',
  'LANG',
  'LC_ALL',
  'LC_ADDRESS',
  'LC_COLLATE',
  'LC_CTYPE',
  'LC_IDENTIFICATION',
  'LC_MEASUREMENT',
  'LC_MESSAGES',
  'LC_MONETARY',
  'LC_NAME',
  'LC_NUMERIC',
  'LC_PAPER',
  'LC_TELEPHONE',
  'LC_TIME',
]

/** The same on Windows, where many programs do not start without the first six. */
const NEEDED_ON_WINDOWS = [
  'PATH',
  'PATHEXT',
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'WINDIR',
  'COMSPEC',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'HOMEDRIVE',
  'HOMEPATH',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
]

/** Whose environment is passed on, and on which platform. */
export interface EnvironmentOrigin {
  readonly variables: Variables
  readonly platform: NodeJS.Platform
}

/** The environment of a program; what is listed in `env` wins over what is inherited. */
export function environmentOf(
  { env = {}, inheritEnv = [] }: EnvironmentOptions,
  { variables, platform }: EnvironmentOrigin,
): Record<string, string> {
  const needed = platform === 'win32' ? NEEDED_ON_WINDOWS : NEEDED
  const names = inheritEnv === true ? Object.keys(variables) : [...needed, ...inheritEnv]
  // Windows tells names apart by their letters alone; of two, a program would get either.
  const fold = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
  const listed = new Set(Object.keys(env).map(fold))
  const result: Record<string, string> = {}
  for (const name of names) {
    const value = variables[name]
    if (value !== undefined && !listed.has(fold(name))) result[name] = value
  }
  return { ...result, ...env }
}

/** Everything that is wrong with the options. */
export function environmentProblems(options: EnvironmentOptions): readonly string[] {
  const { env = {}, inheritEnv = [] } = options
  const problems: string[] = []
  for (const [name, value] of Object.entries(env)) {
    if (!isName(name)) problems.push(`env has the name ${JSON.stringify(name)}`)
    if (typeof value !== 'string' || value.includes('\0')) {
      problems.push(`env.${name} must be a text without NUL characters`)
    }
  }
  const isList = Array.isArray(inheritEnv) && inheritEnv.every((name) => isName(name))
  if (inheritEnv !== true && !isList) {
    problems.push(`inheritEnv must be true or names, got ${JSON.stringify(inheritEnv)}`)
  }
  return problems
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && /^[^=\0]+$/.test(name)
}
