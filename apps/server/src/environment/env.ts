/** Reads the environment variables of the program; no other file does. All problems are reported together. */
import { TuttiError } from '@tutti/core'
import type { ResumePolicy } from '@tutti/runs'

import { readApiKeys, type EnvironmentKey } from './api-keys.ts'
import { readTelemetry, listTelemetrySecrets, type TelemetryEnvironment } from './telemetry-env.ts'
import { LOG_LEVELS, type LogLevel } from '../log/log.ts'

/** Settings of the server from environment variables. */
export interface Environment {
  /** Address to listen on. */
  readonly host: string
  /** Port to listen on; 0 selects a free one. */
  readonly port: number
  /** Path of the config file; if undefined, the server looks for `tutti.config.*` in the working directory. */
  readonly configPath: string | undefined
  /** Role of this process. */
  readonly role: Role
  /** Directory of the embedded store. */
  readonly dataDir: string
  /** Whether a commit of the embedded store is on disk before it is confirmed (FULL), or soon after (NORMAL). */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** URL of Postgres, including its password; undefined for the embedded store. */
  readonly databaseUrl: string | undefined
  /** URL of the same database without its pooler, for notifications; undefined when there is no pooler. */
  readonly databaseListenUrl: string | undefined
  /** URL of a replica of the same database, for lists and searches; undefined when there is none. */
  readonly databaseReadUrl: string | undefined
  /** NATS as the dispatcher of runs; undefined for the store itself. */
  readonly nats: NatsEnvironment | undefined
  /** Keys, one of which every request must carry. */
  readonly apiKeys: readonly EnvironmentKey[]
  /** Secret that signs tickets; undefined for a secret that the store creates. */
  readonly ticketSecret: string | undefined
  /** Values to redact from logs, errors and events. */
  readonly secrets: readonly string[]
  /** Providers whose key variable is set. */
  readonly providers: readonly Provider[]
  /** Lowest level to log. */
  readonly logLevel: LogLevel
  /** Model of the sample ensembles, such as `openai:gpt-5-mini`; undefined for the default. */
  readonly sampleModel: string | undefined
  /** Id of the build of this process; undefined for a digest of its code. */
  readonly buildId: string | undefined
  /** Percentage of new runs that the build of this process gets while older builds live. */
  readonly buildShare: number
  /** Whether this process continues runs that other code has begun. */
  readonly resumePolicy: ResumePolicy
  /** Builds whose runs this process continues in addition. */
  readonly compatibleBuilds: readonly string[]
  /** Export of traces. */
  readonly telemetry: TelemetryEnvironment
}

/** A NATS cluster. */
export interface NatsEnvironment {
  /** URLs of its servers, separated by commas, including their passwords. */
  readonly servers: string
  readonly prefix: string
  readonly replicas: number
}

/** Environment variables of this process. */
export const VARIABLES: NodeJS.ProcessEnv = process.env

/** Settings of the client commands from environment variables. */
export interface ClientEnvironment {
  /** Address of the server; undefined when it is not set. */
  readonly url: string | undefined
  readonly apiKey: string | undefined
}

/** Reads the settings of the client commands, without validating them. */
export function readClientEnvironment(variables: NodeJS.ProcessEnv): ClientEnvironment {
  return { url: readText(variables, 'TUTTI_URL'), apiKey: readText(variables, 'TUTTI_API_KEY') }
}

/** Role of a process: everything (`all`), everything but executing runs (`api`), or executing runs (`worker`). */
export type Role = 'all' | 'api' | 'worker'

/** A model provider that the sample ensemble can use. */
export type Provider = 'anthropic' | 'openai'

const PROVIDER_KEYS: Readonly<Record<Provider, string>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
}

const MAX_PORT = 65_535

/** Same minimum as in the control API, which is too large to load here for every command. */
const MIN_TICKET_SECRET_LENGTH = 32

/**
 * Reads the environment.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every invalid variable and the expected value.
 */
export function readEnvironment(variables: NodeJS.ProcessEnv = VARIABLES): Environment {
  const problems: string[] = []
  const apiKeys = readApiKeys(readText(variables, 'TUTTI_API_KEYS'), problems)
  const telemetry = readTelemetry((name) => readText(variables, name), problems)
  const environment: Environment = {
    host: readText(variables, 'HOST') ?? '127.0.0.1',
    port: readPort(readText(variables, 'PORT'), problems),
    configPath: readText(variables, 'TUTTI_CONFIG'),
    role: readRole(variables, problems),
    dataDir: readText(variables, 'TUTTI_DATA_DIR') ?? '.tutti',
    synchronous: readSynchronous(readText(variables, 'TUTTI_SQLITE_SYNC'), problems),
    databaseUrl: readDatabase(variables, 'DATABASE_URL', problems),
    databaseListenUrl: readOtherUrl(variables, 'DATABASE_LISTEN_URL', problems),
    databaseReadUrl: readOtherUrl(variables, 'DATABASE_READ_URL', problems),
    nats: readNats(variables, problems),
    apiKeys,
    ticketSecret: readTicketSecret(readText(variables, 'TUTTI_TICKET_SECRET'), problems),
    secrets: [
      ...listSecrets(variables, apiKeys),
      ...listTelemetrySecrets(telemetry.headers, [telemetry.tracesUrl]),
    ],
    providers: (['anthropic', 'openai'] as const).filter(
      (provider) => readText(variables, PROVIDER_KEYS[provider]) !== undefined,
    ),
    logLevel: readLogLevel(readText(variables, 'LOG_LEVEL'), problems),
    sampleModel: readText(variables, 'TUTTI_MODEL'),
    buildId: readText(variables, 'TUTTI_BUILD_ID'),
    buildShare: readBuildShare(readText(variables, 'TUTTI_BUILD_SHARE'), problems),
    resumePolicy: readResumePolicy(readText(variables, 'TUTTI_RESUME_POLICY'), problems),
    compatibleBuilds: splitList(readText(variables, 'TUTTI_COMPATIBLE_BUILDS')),
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

/** Returns the value of a variable; an empty one counts as not set. */
function readText(variables: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = variables[name]?.trim()
  return value === '' ? undefined : value
}

function readPort(value: string | undefined, problems: string[]): number {
  if (value === undefined) return 7329
  if (/^\d+$/.test(value) && Number(value) <= MAX_PORT) return Number(value)
  problems.push(`PORT must be a number from 0 to ${MAX_PORT}, got "${value}"`)
  return 0
}

const ALL_RUNS = 100

const ROLES: readonly Role[] = ['all', 'api', 'worker']

function readBuildShare(given: string | undefined, problems: string[]): number {
  if (given === undefined) return ALL_RUNS
  const share = /^\d{1,3}$/.test(given) ? Number(given) : Infinity
  if (share <= ALL_RUNS) return share
  problems.push(`TUTTI_BUILD_SHARE must be an integer from 0 to ${ALL_RUNS}, got "${given}"`)
  return ALL_RUNS
}

function readRole(variables: NodeJS.ProcessEnv, problems: string[]): Role {
  const given = readText(variables, 'TUTTI_ROLE') ?? 'all'
  const role = ROLES.find((known) => known === given)
  if (role === undefined) {
    problems.push(`TUTTI_ROLE must be "all", "api" or "worker", got "${given}"`)
    return 'all'
  }
  if (role !== 'all' && readText(variables, 'DATABASE_URL') === undefined) {
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

/** Values of TUTTI_RESUME_POLICY; copied, because the client commands do not load the package of runs. */
const POLICIES: readonly ResumePolicy[] = ['strict', 'compatible', 'latest']

function readResumePolicy(given: string | undefined = 'strict', problems: string[]): ResumePolicy {
  const policy = POLICIES.find((known) => known === given)
  if (policy !== undefined) return policy
  problems.push(`TUTTI_RESUME_POLICY must be "strict", "compatible" or "latest", got "${given}"`)
  return 'strict'
}

/** Returns the elements of a list that is separated by commas. */
function splitList(given: string | undefined = ''): readonly string[] {
  return given
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function readLogLevel(given: string | undefined = 'info', problems: string[]): LogLevel {
  const level = LOG_LEVELS.find((known) => known === given.toLowerCase())
  if (level === undefined) {
    problems.push(`LOG_LEVEL must be ${LOG_LEVELS.join(', ')}, got "${given}"`)
  }
  return level ?? 'info'
}

/** Reads the URL of a database. It contains a password, so no problem shows it. */
function readDatabase(
  variables: NodeJS.ProcessEnv,
  name: string,
  problems: string[],
): string | undefined {
  const url = readText(variables, name)
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

/** Reads the cluster. Its URLs contain passwords, so no problem shows them. */
function readNats(variables: NodeJS.ProcessEnv, problems: string[]): NatsEnvironment | undefined {
  const servers = readText(variables, 'NATS_URL')
  if (servers === undefined) return undefined
  if (!splitList(servers).every(isServerUrl)) {
    problems.push(
      'NATS_URL must be URLs such as nats://user:password@host:4222, separated by commas',
    )
  }
  if (readText(variables, 'DATABASE_URL') === undefined) {
    problems.push('NATS_URL is set without DATABASE_URL; NATS only dispatches the runs of Postgres')
  }
  const prefix = readText(variables, 'TUTTI_NATS_PREFIX') ?? 'tutti'
  if (!/^[A-Za-z0-9_-]{1,32}$/.test(prefix)) {
    problems.push(`TUTTI_NATS_PREFIX must be 1 to 32 letters, digits, "_" or "-", got "${prefix}"`)
  }
  const replicas = readText(variables, 'TUTTI_NATS_REPLICAS') ?? '1'
  if (!['1', '3', '5'].includes(replicas)) {
    problems.push(`TUTTI_NATS_REPLICAS must be 1, 3 or 5, got "${replicas}"`)
  }
  return { servers, prefix, replicas: Number(replicas) }
}

function isServerUrl(url: string): boolean {
  return /^(?:nats|tls):\/\/[^/]+\/?$/.test(url) && URL.canParse(url)
}

/** Names of variables that hold a secret. */
const SECRET_NAME = /_(?:KEY|TOKEN|SECRET|PASSWORD)$/i

/** Lists the values of variables with a secret name, the keys, and the passwords of the databases. */
export function listSecrets(
  variables: NodeJS.ProcessEnv,
  apiKeys: readonly EnvironmentKey[] = [],
): readonly string[] {
  const named = Object.keys(variables).filter((name) => SECRET_NAME.test(name))
  const databases = ['DATABASE_URL', ...OTHER_URLS].map((name) => readText(variables, name))
  const passwords = [...databases, ...splitList(readText(variables, 'NATS_URL'))].flatMap(
    listPasswords,
  )
  const secrets = [
    ...apiKeys.flatMap(({ key, sha256 }) => [key, sha256, sha256?.toLowerCase()]),
    ...named.map((name) => readText(variables, name)),
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

/** Variables with another address of the database in DATABASE_URL. */
const OTHER_URLS = ['DATABASE_LISTEN_URL', 'DATABASE_READ_URL'] as const

function readOtherUrl(
  variables: NodeJS.ProcessEnv,
  name: (typeof OTHER_URLS)[number],
  problems: string[],
): string | undefined {
  const url = readDatabase(variables, name, problems)
  if (url !== undefined && readText(variables, 'DATABASE_URL') === undefined) {
    problems.push(
      `${name} is set without DATABASE_URL; it must be another address of that database`,
    )
  }
  return url
}
