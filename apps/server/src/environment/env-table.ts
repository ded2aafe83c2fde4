/**
 * The environment variables of the `tutti` program, for its help and its documentation. `env.ts` reads them.
 */

/** Documentation of one variable. */
export interface VariableDoc {
  readonly name: string
  /** Value of a variable that is not set. */
  readonly byDefault: string
  /** Description, without a final period. */
  readonly meaning: string
}

/** Variables that the server reads. */
export const SERVER_VARIABLES: readonly VariableDoc[] = [
  { name: 'HOST', byDefault: '127.0.0.1', meaning: 'address to listen on' },
  { name: 'PORT', byDefault: '7329', meaning: 'port to listen on; 0 selects a free one' },
  { name: 'TUTTI_CONFIG', byDefault: 'tutti.config.ts', meaning: 'path of the config file' },
  { name: 'TUTTI_DATA_DIR', byDefault: '.tutti', meaning: 'directory of the embedded store' },
  {
    name: 'TUTTI_SQLITE_SYNC',
    byDefault: 'full',
    meaning:
      'full: confirmed writes are on disk; normal: faster, but a power failure loses the last writes',
  },
  {
    name: 'DATABASE_URL',
    byDefault: 'none',
    meaning: 'postgres://user:password@host:5432/database instead of the embedded store',
  },
  {
    name: 'DATABASE_LISTEN_URL',
    byDefault: 'none',
    meaning:
      'the same database without its pooler; required if DATABASE_URL points to a pooler in transaction mode',
  },
  {
    name: 'DATABASE_READ_URL',
    byDefault: 'DATABASE_URL',
    meaning: 'a replica of the same database, for lists and searches, which may then lag behind',
  },
  {
    name: 'NATS_URL',
    byDefault: 'none',
    meaning:
      'nats://user:password@host:4222, several separated by commas: NATS JetStream dispatches the runs of Postgres',
  },
  {
    name: 'TUTTI_NATS_REPLICAS',
    byDefault: '1',
    meaning:
      'number of servers that store each offer of a run: 1, 3 or 5; 3 survive the loss of one',
  },
  {
    name: 'TUTTI_NATS_PREFIX',
    byDefault: 'tutti',
    meaning: 'first part of all subjects; databases that share a cluster need different ones',
  },
  {
    name: 'TUTTI_ROLE',
    byDefault: 'all',
    meaning:
      'role of this process: api (accepts and shows runs), worker (executes them) or all; api and worker need DATABASE_URL',
  },
  {
    name: 'TUTTI_BUILD_ID',
    byDefault: 'a digest of the code of all ensembles',
    meaning: 'id of the build of this process, such as a commit',
  },
  {
    name: 'TUTTI_BUILD_SHARE',
    byDefault: '100',
    meaning:
      'percentage of new runs that the build of this process gets while older builds live, from 0 to 100; tutti builds share changes it later',
  },
  {
    name: 'TUTTI_RESUME_POLICY',
    byDefault: 'strict; compatible with tutti dev',
    meaning:
      'runs of other code that this process continues: strict (no begun task differs), compatible (begun tasks differ in texts only) or latest (all)',
  },
  {
    name: 'TUTTI_COMPATIBLE_BUILDS',
    byDefault: 'none',
    meaning: 'builds whose runs this process continues in addition, separated by commas',
  },
  {
    name: 'TUTTI_API_KEYS',
    byDefault: 'none',
    meaning:
      'keys, one of which every request must carry, separated by commas: KEY, NAME:KEY or NAME:SCOPE+SCOPE+role=ROLE:KEY; instead of a key its hash, as sha256:HEX',
  },
  {
    name: 'TUTTI_TICKET_SECRET',
    byDefault: 'created in the store',
    meaning:
      'secret that signs tickets for browsers, at least 32 characters; the same in every process of a server',
  },
  {
    name: 'LOG_LEVEL',
    byDefault: 'info',
    meaning:
      'lowest level to log: debug (every request), info (starts and ends of runs), warn or error',
  },
  {
    name: 'TUTTI_MODEL',
    byDefault: 'depends on the provider',
    meaning: 'model of the sample ensembles, such as openai:gpt-5-mini',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    byDefault: 'none',
    meaning:
      'collector that receives traces as JSON over HTTP; also OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_SDK_DISABLED',
  },
  {
    name: 'ANTHROPIC_API_KEY, OPENAI_API_KEY',
    byDefault: 'none',
    meaning: 'keys of providers; for other providers, the variables that LangChain reads',
  },
]

/** Variables that the client commands read. */
export const CLIENT_VARIABLES: readonly VariableDoc[] = [
  {
    name: 'TUTTI_URL',
    byDefault: 'http://127.0.0.1:7329',
    meaning: 'address of the server that commands call',
  },
  { name: 'TUTTI_API_KEY', byDefault: 'none', meaning: 'key that commands send' },
  { name: 'NO_COLOR', byDefault: 'not set', meaning: 'any value turns colors off' },
]

/** Formats the variables as lines of a help text, at most 100 columns wide. */
export function formatVariableHelp(variables: readonly VariableDoc[]): string {
  return variables
    .map(({ name, byDefault, meaning }) => {
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
