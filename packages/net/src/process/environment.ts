/**
 * The environment of a child process: the variables that programs need to start and those that the options name. All
 * others are withheld, so that the secrets of this process do not reach the child.
 */

/** The options that select variables. */
export interface EnvironmentOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly inheritEnv?: readonly string[] | true
}

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>

/**
 * Variables that programs need to find other programs, the user's files, the language and the time zone. The names are
 * listed because enumerating the variables of a process is slower than reading these.
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

/** The same variables on Windows, where many programs do not start without the first six. */
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

/** The process whose variables are inherited. */
export interface EnvironmentOrigin {
  readonly variables: Variables
  readonly platform: NodeJS.Platform
}

/** Returns the environment of a child process. Variables of `env` replace inherited ones. */
export function buildEnvironment(
  { env = {}, inheritEnv = [] }: EnvironmentOptions,
  { variables, platform }: EnvironmentOrigin,
): Record<string, string> {
  const needed = platform === 'win32' ? NEEDED_ON_WINDOWS : NEEDED
  const names = inheritEnv === true ? Object.keys(variables) : [...needed, ...inheritEnv]
  // Names on Windows are case-insensitive; of two spellings, a program would get either.
  const fold = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
  const listed = new Set(Object.keys(env).map(fold))
  const result: Record<string, string> = {}
  for (const name of names) {
    const value = variables[name]
    if (value !== undefined && !listed.has(fold(name))) result[name] = value
  }
  return { ...result, ...env }
}

/** Returns every problem of the options. */
export function findEnvironmentProblems(options: EnvironmentOptions): readonly string[] {
  const { env = {}, inheritEnv = [] } = options
  const problems: string[] = []
  for (const [name, value] of Object.entries(env)) {
    if (!isName(name)) problems.push(`env contains the invalid name ${JSON.stringify(name)}`)
    if (typeof value !== 'string' || value.includes('\0')) {
      problems.push(`env.${name} must be a string without NUL characters`)
    }
  }
  const isList = Array.isArray(inheritEnv) && inheritEnv.every((name) => isName(name))
  if (inheritEnv !== true && !isList) {
    problems.push(`inheritEnv must be true or an array of names, got ${JSON.stringify(inheritEnv)}`)
  }
  return problems
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && /^[^=\0]+$/.test(name)
}
