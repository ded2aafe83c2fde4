/** The environment of the server: the one file that reads it. Every problem is reported at once. */
import { TuttiError } from '@tutti/core'

import { readApiKeys, type EnvironmentKey } from './api-keys.ts'
import { readTelemetry, telemetrySecrets, type TelemetryEnvironment } from './telemetry-env.ts'
import { LOG_LEVELS, type LogLevel } from '../log/log.ts'

/** What the environment says. */
export interface Environment {
  /** Address to listen on. */
  readonly host: string
  /** Port to listen on; 0 is any free one. */
  readonly port: number
  /** Path of the config file; undefined looks for `tutti.config.*` in the working directory. */
  readonly configPath: string | undefined
  /** What this process does: everything, all but executing runs, or executing runs. */
  readonly role: Role
  /** Directory of the embedded store. */
  readonly dataDir: string
  /** When a commit of the embedded store is on disk: before it is answered, or soon after. */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Postgres that takes the place of the embedded store, with its password; undefined for none. */
  readonly databaseUrl: string | undefined
  /** The same database without a pooler in between, to listen on; undefined when there is none. */
  readonly databaseListenUrl: string | undefined
  /** Keys of which every request must carry one. */
  readonly apiKeys: readonly EnvironmentKey[]
  /** Signs tickets; undefined for a secret that the store creates. */
  readonly ticketSecret: string | undefined
  /** Values that no log, error or event may show. */
  readonly secrets: readonly string[]
  /** Providers whose key variable is set. */
  readonly providers: readonly Provider[]
  /** The least of what is logged. */
  readonly logLevel: LogLevel
  /** Model of the sample ensemble, such as `openai:gpt-5-mini`. */
  readonly sampleModel: string | undefined
  /** Where traces are sent. */
  readonly telemetry: TelemetryEnvironment
}

/** The variables of this process. */
export const VARIABLES: NodeJS.ProcessEnv = process.env

/** What the environment says to the commands that talk to a server. */
export interface ClientEnvironment {
  /** Address of the server; undefined when nothing is said. */
  readonly url: string | undefined
  readonly apiKey: string | undefined
}

/** Reads what the commands need that talk to a server. Whether it fits is said where it is used. */
export function readClientEnvironment(variables: NodeJS.ProcessEnv): ClientEnvironment {
  return { url: text(variables, 'TUTTI_URL'), apiKey: text(variables, 'TUTTI_API_KEY') }
}

/** What a process does. All but `all` need a store that processes can share. */
export type Role = 'all' | 'api' | 'worker'

/** A model provider that the sample ensemble can use. */
export type Provider = 'anthropic' | 'openai'

const PROVIDER_KEYS: Readonly<Record<Provider, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
}

const MAX_PORT = 65_535

/** The control API demands as many; it cannot be loaded here, where every command starts. */
const MIN_TICKET_SECRET_LENGTH = 32

/**
 * Reads the environment.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every variable that does not fit and what would.
 */
export function readEnvironment(variables: NodeJS.ProcessEnv = VARIABLES): Environment {
  const problems: string[] = []
  const apiKeys = readApiKeys(text(variables, 'TUTTI_API_KEYS'), problems)
  const telemetry = readTelemetry((name) => text(variables, name), problems)
  const environment: Environment = {
    host: text(variables, 'HOST') ?? '127.0.0.1',
    port: readPort(text(variables, 'PORT'), problems),
    configPath: text(variables, 'TUTTI_CONFIG'),
    role: readRole(variables, problems),
    dataDir: text(variables, 'TUTTI_DATA_DIR') ?? '.tutti',
    synchronous: readSynchronous(text(variables, 'TUTTI_SQLITE_SYNC'), problems),
    databaseUrl: readDatabase(variables, 'DATABASE_URL', problems),
    databaseListenUrl: readListenUrl(variables, problems),
    apiKeys,
    ticketSecret: readTicketSecret(text(variables, 'TUTTI_TICKET_SECRET'), problems),
    secrets: [
      ...listSecrets(variables, apiKeys),
      ...telemetrySecrets(telemetry.headers, [telemetry.tracesUrl]),
    ],
    providers: (['anthropic', 'openai'] as const).filter(
      (provider) => text(variables, PROVIDER_KEYS[provider]) !== undefined,
    ),
    logLevel: readLogLevel(text(variables, 'LOG_LEVEL'), problems),
    sampleModel: text(variables, 'TUTTI_MODEL'),
    telemetry,
  }
  if (problems.length === 0) return environment
  throw new TuttiError(
    'CONFIG_INVALID',
    `Cannot start:\n${problems.map((p) => `  ${p}`).join('\n')}`,
    {
      details: { problems },
    },
  )
}

/** The value of a variable; one that is empty counts as not set. */
function text(variables: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = variables[name]?.trim()
  return value === '' ? undefined : value
}

function readPort(value: string | undefined, problems: string[]): number {
  if (value === undefined) return 7329
  if (/^\d+$/.test(value) && Number(value) <= MAX_PORT) return Number(value)
  problems.push(`PORT must be a number from 0 to ${MAX_PORT}, got "${value}"`)
  return 0
}

const ROLES: readonly Role[] = ['all', 'api', 'worker']

function readRole(variables: NodeJS.ProcessEnv, problems: string[]): Role {
  const given = text(variables, 'TUTTI_ROLE') ?? 'all'
  const role = ROLES.find((known) => known === given)
  if (role === undefined) {
    problems.push(`TUTTI_ROLE must be "all", "api" or "worker", got "${given}"`)
    return 'all'
  }
  if (role !== 'all' && text(variables, 'DATABASE_URL') === undefined) {
    problems.push(
      `TUTTI_ROLE "${role}" needs DATABASE_URL: processes share their runs in Postgres, ` +
        'and the embedded store belongs to one process',
    )
  }
  return role
}

function readSynchronous(
  given: string | undefined = 'full',
  problems: string[],
): Environment['synchronous'] {
  const level = (['FULL', 'NORMAL'] as const).find((known) => known === given.toUpperCase())
  if (level === undefined) {
    problems.push(`TUTTI_SQLITE_SYNC must be "full" or "normal", got "${given}"`)
  }
  return level ?? 'FULL'
}

function readLogLevel(given: string | undefined = 'info', problems: string[]): LogLevel {
  const level = LOG_LEVELS.find((known) => known === given.toLowerCase())
  if (level === undefined) {
    problems.push(`LOG_LEVEL must be ${LOG_LEVELS.join(', ')}, got "${given}"`)
  }
  return level ?? 'info'
}

/** The address of a database. It holds a password, so no problem shows it. */
function readDatabase(
  variables: NodeJS.ProcessEnv,
  name: string,
  problems: string[],
): string | undefined {
  const url = text(variables, name)
  if (url !== undefined && !(/^postgres(?:ql)?:\/\/./.test(url) && URL.canParse(url))) {
    problems.push(`${name} must be a URL such as postgres://user:password@host:5432/database`)
  }
  return url
}

function readTicketSecret(secret: string | undefined, problems: string[]): string | undefined {
  if (secret !== undefined && secret.length < MIN_TICKET_SECRET_LENGTH) {
    problems.push(
      `TUTTI_TICKET_SECRET must have at least ${MIN_TICKET_SECRET_LENGTH} characters, got ${secret.length}`,
    )
  }
  return secret
}

/** Names of variables that hold a secret. */
const SECRET_NAME = /_(?:KEY|TOKEN|SECRET|PASSWORD)$/i

/** Lists the values of variables with a secret name, the keys, and the passwords of the databases. */
export function listSecrets(
  variables: NodeJS.ProcessEnv,
  apiKeys: readonly EnvironmentKey[] = [],
): readonly string[] {
  const named = Object.keys(variables).filter((name) => SECRET_NAME.test(name))
  const passwords = ['DATABASE_URL', 'DATABASE_LISTEN_URL'].flatMap((name) =>
    listPasswords(text(variables, name)),
  )
  const secrets = [
    ...apiKeys.flatMap(({ key, sha256 }) => [key, sha256, sha256?.toLowerCase()]),
    ...named.map((name) => text(variables, name)),
    ...passwords,
  ]
  return [...new Set(secrets.filter((secret) => secret !== undefined))]
}

/** Lists the passwords of a URL, both encoded and decoded. */
function listPasswords(url: string | undefined): readonly string[] {
  if (url === undefined || !URL.canParse(url)) return []
  const { password, searchParams } = new URL(url)
  const inQuery = searchParams.get('password') ?? ''
  return [password, decoded(password), inQuery].filter((text) => text !== '')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function readListenUrl(variables: NodeJS.ProcessEnv, problems: string[]): string | undefined {
  const url = readDatabase(variables, 'DATABASE_LISTEN_URL', problems)
  if (url !== undefined && text(variables, 'DATABASE_URL') === undefined) {
    problems.push(
      'DATABASE_LISTEN_URL is set without DATABASE_URL; it names the same database, past a pooler',
    )
  }
  return url
}
