/**
 * All environment variables of the `tutti` program, each in one row. `env.ts` reads them; the help of the commands,
 * `docs/reference/environment.md` and `tutti doctor` list them. Those of OpenTelemetry are in `telemetry-env.ts`. A variable
 * without a row cannot be read, because {@link ProcessVariables} has no other names.
 */
import { listKeySecrets, readApiKeys } from './api-keys.ts'
import { TELEMETRY } from './telemetry-env.ts'
import {
  addProblem,
  integerTo,
  listPasswords,
  oneOf,
  parseDatabaseUrl,
  parseList,
  parseNatsUrls,
  parseText,
  type Variable,
  type VariableTable,
} from './variable.ts'
import { LOG_LEVELS } from './log-level.ts'

/** Minimum length of a ticket secret; as in the control API, which is too large to load here for every command. */
const MIN_TICKET_SECRET_LENGTH = 32

/** Settings of the server. */
export const SETTINGS = {
  host: { name: 'HOST', fallback: '127.0.0.1', meaning: 'address to listen on', parse: parseText },
  port: {
    name: 'PORT',
    fallback: '7329',
    meaning: 'port to listen on; 0 selects a free one',
    parse: integerTo(65_535),
  },
  configPath: {
    name: 'TUTTI_CONFIG',
    byDefault: 'tutti.config.ts',
    meaning: 'path of the config file',
    parse: parseText,
  },
  dataDir: {
    name: 'TUTTI_DATA_DIR',
    fallback: '.tutti',
    meaning: 'directory of the embedded store',
    parse: parseText,
  },
  synchronous: {
    name: 'TUTTI_SQLITE_SYNC',
    fallback: 'full',
    meaning:
      'full: confirmed writes are on disk; normal: faster, but a power failure loses the last writes',
    parse: oneOf(['FULL', 'NORMAL']),
  },
  databaseUrl: {
    name: 'DATABASE_URL',
    meaning: 'postgres://user:password@host:5432/database instead of the embedded store',
    parse: parseDatabaseUrl,
    listSecrets: listPasswords,
  },
  databaseListenUrl: {
    name: 'DATABASE_LISTEN_URL',
    meaning:
      'the same database without its pooler; required if DATABASE_URL points to a pooler in transaction mode',
    parse: parseDatabaseUrl,
    listSecrets: listPasswords,
  },
  databaseReadUrl: {
    name: 'DATABASE_READ_URL',
    byDefault: 'DATABASE_URL',
    meaning: 'a replica of the same database, for lists and searches, which may then lag behind',
    parse: parseDatabaseUrl,
    listSecrets: listPasswords,
  },
  role: {
    name: 'TUTTI_ROLE',
    fallback: 'all',
    meaning:
      'role of this process: api (accepts and shows runs), worker (executes them) or all; api and worker need DATABASE_URL',
    parse: oneOf(['all', 'api', 'worker']),
  },
  buildId: {
    name: 'TUTTI_BUILD_ID',
    byDefault: 'a digest of the code of all ensembles',
    meaning: 'id of the build of this process, such as a commit',
    parse: parseText,
  },
  buildShare: {
    name: 'TUTTI_BUILD_SHARE',
    fallback: '100',
    meaning:
      'percentage of new runs that the build of this process gets while older builds live, from 0 to 100; tutti builds share changes it later',
    parse: integerTo(100),
  },
  resumePolicy: {
    name: 'TUTTI_RESUME_POLICY',
    fallback: 'strict',
    byDefault: 'strict; compatible with tutti dev',
    meaning:
      'runs of other code that this process continues: strict (no begun task differs), compatible (begun tasks differ in texts only) or latest (all)',
    parse: oneOf(['strict', 'compatible', 'latest']),
  },
  compatibleBuilds: {
    name: 'TUTTI_COMPATIBLE_BUILDS',
    fallback: '',
    byDefault: 'none',
    meaning: 'builds whose runs this process continues in addition, separated by commas',
    parse: parseList,
  },
  apiKeys: {
    name: 'TUTTI_API_KEYS',
    fallback: '',
    byDefault: 'none',
    meaning:
      'API keys, separated by commas; every request must carry one: KEY, NAME:KEY or NAME:SCOPE+SCOPE+role=ROLE:KEY; instead of a key its hash, as sha256:HEX',
    parse: (text, { problems }) => readApiKeys(text, problems),
    listSecrets: (text) => listKeySecrets(readApiKeys(text, [])),
  },
  ticketSecret: {
    name: 'TUTTI_TICKET_SECRET',
    byDefault: 'created in the store',
    meaning: `secret that signs tickets for browsers, at least ${MIN_TICKET_SECRET_LENGTH} characters; the same in every process of a server`,
    parse: (secret, parsing) =>
      secret.length >= MIN_TICKET_SECRET_LENGTH
        ? secret
        : addProblem(
            parsing,
            `must have at least ${MIN_TICKET_SECRET_LENGTH} characters, got ${secret.length}`,
          ),
  },
  logLevel: {
    name: 'LOG_LEVEL',
    fallback: 'info',
    meaning:
      'lowest level to log: debug (every request), info (starts and ends of runs), warn or error',
    parse: oneOf(LOG_LEVELS),
  },
  sampleModel: {
    name: 'TUTTI_MODEL',
    byDefault: 'depends on the provider',
    meaning: 'model of the sample ensembles, such as openai:gpt-5-mini',
    parse: parseText,
  },
} as const satisfies VariableTable

/** A NATS cluster. */
export const NATS = {
  servers: {
    name: 'NATS_URL',
    meaning:
      'nats://user:password@host:4222, several separated by commas: NATS JetStream dispatches the runs of Postgres',
    parse: parseNatsUrls,
    listSecrets: (text) => parseList(text).flatMap(listPasswords),
  },
  replicas: {
    name: 'TUTTI_NATS_REPLICAS',
    fallback: '1',
    meaning:
      'number of servers that store each offer of a run: 1, 3 or 5; 3 survive the loss of one',
    parse: oneOf(['1', '3', '5']),
  },
  prefix: {
    name: 'TUTTI_NATS_PREFIX',
    fallback: 'tutti',
    meaning: 'first part of all subjects; databases that share a cluster need different ones',
    parse: (prefix, parsing) =>
      /^[A-Za-z0-9_-]{1,32}$/.test(prefix)
        ? prefix
        : addProblem(parsing, `must be 1 to 32 letters, digits, "_" or "-", got "${prefix}"`),
  },
} as const satisfies VariableTable

/** Keys of the model providers that the sample ensembles can use. */
export const PROVIDER_KEYS = {
  anthropic: {
    name: 'ANTHROPIC_API_KEY',
    meaning: 'key of Anthropic; for other providers, the variables that LangChain reads',
    parse: parseText,
  },
  openai: { name: 'OPENAI_API_KEY', meaning: 'key of OpenAI', parse: parseText },
} as const satisfies VariableTable

/** Settings of the client commands. */
export const CLIENT = {
  url: {
    name: 'TUTTI_URL',
    byDefault: 'http://127.0.0.1:7329',
    meaning: 'address of the server that commands call',
    parse: parseText,
  },
  apiKey: { name: 'TUTTI_API_KEY', meaning: 'key that commands send', parse: parseText },
} as const satisfies VariableTable

/** Conventions of terminals and package managers, which are read where they apply. */
const CONVENTIONS = {
  noColor: { name: 'NO_COLOR', meaning: 'any value turns colors off', parse: parseText },
  term: {
    name: 'TERM',
    meaning: 'dumb: no colors, no live view, no questions; linux: only ASCII symbols',
    parse: parseText,
  },
  ci: {
    name: 'CI',
    meaning: 'any value but false and 0 turns the live view off',
    parse: parseText,
  },
  visual: { name: 'VISUAL', byDefault: 'EDITOR', meaning: 'editor for reviews', parse: parseText },
  editor: {
    name: 'EDITOR',
    byDefault: 'vi; notepad on Windows',
    meaning: 'editor for reviews',
    parse: parseText,
  },
  windowsTerminal: {
    name: 'WT_SESSION',
    meaning: 'set by Windows Terminal, which shows Unicode symbols',
    parse: parseText,
  },
  terminalProgram: {
    name: 'TERM_PROGRAM',
    meaning: 'set by terminals that show Unicode symbols on Windows',
    parse: parseText,
  },
  npmScript: {
    name: 'npm_lifecycle_event',
    meaning: 'set by package managers: the process stops when the package manager has ended',
    parse: parseText,
  },
} as const satisfies VariableTable

type Row = {
  [Rows in keyof typeof TABLES]: (typeof TABLES)[Rows][keyof (typeof TABLES)[Rows]]
}[keyof typeof TABLES]

const TABLES = {
  settings: SETTINGS,
  nats: NATS,
  telemetry: TELEMETRY,
  providers: PROVIDER_KEYS,
  client: CLIENT,
  conventions: CONVENTIONS,
}

/** The environment of a process, restricted to the variables in this file. */
export type ProcessVariables = { readonly [Name in Row['name']]?: string | undefined }

/** Variables that the server reads. */
export const SERVER_VARIABLES: readonly Variable[] = [
  SETTINGS,
  NATS,
  TELEMETRY,
  PROVIDER_KEYS,
].flatMap((table) => Object.values<Variable>(table))

/** Variables that the client commands read. */
export const CLIENT_VARIABLES: readonly Variable[] = Object.values<Variable>({
  ...CLIENT,
  ...CONVENTIONS,
})

/** Returns the default of a variable as the documentation shows it. */
export function describeDefault({ byDefault, fallback = 'none' }: Variable): string {
  return byDefault ?? fallback
}

/** Formats the variables as lines of a help text, at most 100 columns wide. */
export function formatVariableHelp(variables: readonly Variable[]): string {
  return variables
    .map((variable) => {
      const { name, meaning } = variable
      const byDefault = describeDefault(variable)
      const text = byDefault === 'none' ? meaning : `${meaning} (${byDefault})`
      const head =
        name.length < INDENT - 3 ? `  ${name}`.padEnd(INDENT) : `  ${name}\n${' '.repeat(INDENT)}`
      return head + wrapText(text).join(`\n${' '.repeat(INDENT)}`)
    })
    .join('\n')
}

const INDENT = 18

const WIDTH = 80

function wrapText(text: string): readonly string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length >= WIDTH) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
