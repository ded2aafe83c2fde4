/**
 * The environment variables of the `tutti` program, as its help and its documentation tell of them; `env.ts` reads
 * them. A test holds the two together.
 */

/** One variable. */
export interface VariableDoc {
  readonly name: string
  /** What it is when it is not set. */
  readonly byDefault: string
  readonly meaning: string
}

/** Variables of the server. */
export const SERVER_VARIABLES: readonly VariableDoc[] = [
  { name: 'HOST', byDefault: '127.0.0.1', meaning: 'address to listen on' },
  { name: 'PORT', byDefault: '7329', meaning: 'port to listen on, 0 for any free one' },
  { name: 'TUTTI_CONFIG', byDefault: 'tutti.config.ts', meaning: 'path of the config file' },
  { name: 'TUTTI_DATA_DIR', byDefault: '.tutti', meaning: 'directory of the embedded store' },
  {
    name: 'TUTTI_SQLITE_SYNC',
    byDefault: 'full',
    meaning:
      'full: what is answered is on disk; normal: faster, but a power cut takes the last moments',
  },
  {
    name: 'DATABASE_URL',
    byDefault: 'none',
    meaning: 'postgres://user:password@host:5432/database instead of the embedded store',
  },
  {
    name: 'DATABASE_LISTEN_URL',
    byDefault: 'none',
    meaning: 'the same database without a pooler, when DATABASE_URL leads to one',
  },
  {
    name: 'TUTTI_ROLE',
    byDefault: 'all',
    meaning:
      'what this process does: all, api takes and shows runs, worker executes them; api and worker need DATABASE_URL',
  },
  {
    name: 'TUTTI_API_KEYS',
    byDefault: 'none',
    meaning:
      'keys that requests must carry, separated by commas: KEY, NAME:KEY or NAME:SCOPE+SCOPE+role=ROLE:KEY; in place of a key its hash, as sha256:HEX',
  },
  {
    name: 'TUTTI_TICKET_SECRET',
    byDefault: 'created in the store',
    meaning:
      'secret that signs tickets, at least 32 characters; the same in every process of a server',
  },
  {
    name: 'LOG_LEVEL',
    byDefault: 'info',
    meaning:
      'the least of what is logged: debug with every request, info with what becomes of runs, warn or error',
  },
  {
    name: 'TUTTI_MODEL',
    byDefault: 'that of the provider',
    meaning: 'model of the sample ensemble, such as openai:gpt-5-mini',
  },
  {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    byDefault: 'none',
    meaning:
      'collector that traces are sent to, as JSON over HTTP; also OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_SDK_DISABLED',
  },
  {
    name: 'ANTHROPIC_API_KEY, OPENAI_API_KEY',
    byDefault: 'none',
    meaning: 'keys of providers; others have the variables that LangChain gives them',
  },
]

/** Variables of the commands that talk to a server. */
export const CLIENT_VARIABLES: readonly VariableDoc[] = [
  {
    name: 'TUTTI_URL',
    byDefault: 'http://127.0.0.1:7329',
    meaning: 'address of the server that commands talk to',
  },
  { name: 'TUTTI_API_KEY', byDefault: 'none', meaning: 'key that they show' },
  { name: 'NO_COLOR', byDefault: 'not set', meaning: 'set to anything: no colours' },
]

/** The variables as lines of a help, at most 100 columns wide. */
export function variableHelp(variables: readonly VariableDoc[]): string {
  return variables
    .map(({ name, byDefault, meaning }) => {
      const text = byDefault === 'none' ? meaning : `${meaning} (${byDefault})`
      const head =
        name.length < INDENT - 3 ? `  ${name}`.padEnd(INDENT) : `  ${name}\n${' '.repeat(INDENT)}`
      return head + wrapped(text).join(`\n${' '.repeat(INDENT)}`)
    })
    .join('\n')
}

const INDENT = 18

const WIDTH = 80

function wrapped(text: string): readonly string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? ''
    if (last !== '' && last.length + word.length >= WIDTH) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}
