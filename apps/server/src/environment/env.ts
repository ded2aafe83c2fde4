/** Reads the environment variables of the program; no other file does. All problems are reported together. */
import { TuttiError } from '@tutti/core'

import {
  CLIENT,
  CLIENT_VARIABLES,
  NATS,
  PROVIDER_KEYS,
  SERVER_VARIABLES,
  SETTINGS,
  type ProcessVariables,
} from './env-table.ts'
import { TELEMETRY, toTelemetry, type TelemetryEnvironment } from './telemetry-env.ts'

import type { Values, Variable, VariableTable } from './variable.ts'

/** Settings of the server from environment variables; `SETTINGS` describes each. */
export interface Environment extends Values<typeof SETTINGS> {
  /** NATS as the dispatcher of runs; undefined for the store itself. */
  readonly nats: NatsEnvironment | undefined
  /** Values to redact from logs, errors and events. */
  readonly secrets: readonly string[]
  /** Providers whose key variable is set. */
  readonly providers: readonly Provider[]
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

/** A model provider that the sample ensemble can use. */
export type Provider = keyof typeof PROVIDER_KEYS

/** Environment variables of this process. */
export const VARIABLES: ProcessVariables = process.env

/** Reads the settings of the client commands, without validating them. */
export function readClientEnvironment(variables: ProcessVariables): Values<typeof CLIENT> {
  return readValues(CLIENT, variables, [])
}

/**
 * Reads the environment.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every invalid variable and the expected value.
 */
export function readEnvironment(variables: ProcessVariables = VARIABLES): Environment {
  const problems: string[] = []
  const settings = readValues(SETTINGS, variables, problems)
  const { servers, prefix, replicas } = readValues(NATS, variables, problems)
  const telemetry = toTelemetry(readValues(TELEMETRY, variables, problems), problems)
  if (!isSet(variables, SETTINGS.databaseUrl.name)) {
    if (settings.role !== 'all') {
      problems.push(
        `${SETTINGS.role.name} "${settings.role}" needs DATABASE_URL: processes share their runs in Postgres, ` +
          'and the embedded store belongs to one process',
      )
    }
    for (const [{ name }, reason] of NEED_DATABASE) {
      if (isSet(variables, name)) problems.push(`${name} is set without DATABASE_URL; ${reason}`)
    }
  }
  if (problems.length > 0) {
    throw new TuttiError(
      'CONFIG_INVALID',
      `Cannot start:\n${problems.map((p) => `  ${p}`).join('\n')}`,
      { details: { problems } },
    )
  }
  return {
    ...settings,
    nats: servers === undefined ? undefined : { servers, prefix, replicas: Number(replicas) },
    secrets: listSecrets(variables),
    providers: PROVIDERS.filter((provider) => isSet(variables, PROVIDER_KEYS[provider].name)),
    telemetry,
  }
}

// NOTE: the keys of a literal.
const PROVIDERS = Object.keys(PROVIDER_KEYS) as readonly Provider[]

const NEED_DATABASE: readonly (readonly [Variable, string])[] = [
  [SETTINGS.databaseListenUrl, 'it must be another address of that database'],
  [SETTINGS.databaseReadUrl, 'it must be another address of that database'],
  [NATS.servers, 'NATS only dispatches the runs of Postgres'],
]

/** Reads the variables of a table. The value of an invalid one is that of its fallback. */
function readValues<Rows extends VariableTable>(
  rows: Rows,
  variables: ProcessVariables,
  problems: string[],
): Values<Rows> {
  const values = Object.entries(rows).map(([key, { name, fallback, parse }]) => {
    const readDefault = (): unknown =>
      fallback === undefined ? undefined : parse(fallback, { name, problems })
    const text = readText(variables, name)
    const value = text === undefined ? undefined : parse(text, { name, problems })
    return [key, value ?? readDefault()]
  })
  // NOTE: each value is what the parser of its row returns.
  return Object.fromEntries(values) as Values<Rows>
}

/** Returns the value of a variable; an empty one counts as not set. */
function readText(variables: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = variables[name]?.trim()
  return value === '' ? undefined : value
}

/** Whether a variable is set. `name` may also be a key variable that only LangChain reads. */
export function isSet(variables: ProcessVariables, name: string): boolean {
  return readText(variables, name) !== undefined
}

/** Names of variables that hold a secret. */
const SECRET_NAME = /_(?:KEY|TOKEN|SECRET|PASSWORD)$/i

/** Lists the values of variables with a secret name, and the secrets in the values of others, such as passwords of URLs. */
export function listSecrets(variables: ProcessVariables): readonly string[] {
  const named = Object.keys(variables)
    .filter((name) => SECRET_NAME.test(name))
    .map((name) => readText(variables, name))
  const contained = [...SERVER_VARIABLES, ...CLIENT_VARIABLES].flatMap(
    ({ name, listSecrets: list }) => {
      const text = readText(variables, name)
      return text === undefined ? [] : list?.(text)
    },
  )
  return [...new Set([...named, ...contained].filter((secret) => secret !== undefined))]
}
