/** Pure: reads the standard environment variables of OpenTelemetry. */

/** Settings of traces from environment variables. */
export interface TelemetryEnvironment {
  /** Whether no traces are sent, regardless of all other settings. */
  readonly isDisabled: boolean
  /** Address that receives traces; undefined when it is not set. */
  readonly tracesUrl: string | undefined
  /** Headers of the requests; their values are secrets. */
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string | undefined
  /** Additional resource attributes. */
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: SamplerChoice
}

/** Selection of the traces to record. */
export interface SamplerChoice {
  /** Whether the caller decides about the traces that it has started. */
  readonly followsParent: boolean
  /** Share of the other traces to record, from 0 to 1. */
  readonly ratio: number
}

/** Reads a variable; an empty one counts as not set. */
export type ReadVariable = (name: string) => string | undefined

const EVERYTHING: SamplerChoice = { followsParent: true, ratio: 1 }

/** Address of a collector on this machine. @see https://opentelemetry.io/docs/specs/otlp/#otlphttp-default-port */
export const DEFAULT_TRACES_URL = 'http://localhost:4318/v1/traces'

/**
 * Reads the variables, and adds their problems to `problems`. No problem contains a header.
 *
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function readTelemetry(read: ReadVariable, problems: string[]): TelemetryEnvironment {
  const exporter = read('OTEL_TRACES_EXPORTER') ?? 'otlp'
  if (exporter !== 'otlp' && exporter !== 'none') {
    problems.push(`OTEL_TRACES_EXPORTER must be "otlp" or "none", got "${exporter}"`)
  }
  const protocol = read('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? read('OTEL_EXPORTER_OTLP_PROTOCOL')
  if (protocol !== undefined && !protocol.startsWith('http/')) {
    problems.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL must start with "http/", as traces are sent as JSON over HTTP, got "${protocol}"`,
    )
  }
  return {
    isDisabled: read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none',
    tracesUrl: readUrl(read, problems),
    headers: {
      ...readPairs(read, 'OTEL_EXPORTER_OTLP_HEADERS', problems),
      ...readPairs(read, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', problems),
    },
    serviceName: read('OTEL_SERVICE_NAME'),
    resource: readPairs(read, 'OTEL_RESOURCE_ATTRIBUTES', problems),
    sampler: readSampler(read, problems),
  }
}

/** Returns the address for traces, or derives it from the address for all signals. */
function readUrl(read: ReadVariable, problems: string[]): string | undefined {
  const own = readHttpUrl(read, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', problems)
  if (own !== undefined) return own
  const all = readHttpUrl(read, 'OTEL_EXPORTER_OTLP_ENDPOINT', problems)
  return all === undefined ? undefined : `${all.replace(/\/$/, '')}/v1/traces`
}

function readHttpUrl(read: ReadVariable, name: string, problems: string[]): string | undefined {
  const url = read(name)
  if (url === undefined || (/^https?:\/\/./.test(url) && URL.canParse(url))) return url
  problems.push(`${name} must be a URL such as http://localhost:4318`)
  return undefined
}

/** Parses `key=value,key=value`, with percent-encoded values. */
function readPairs(
  read: ReadVariable,
  name: string,
  problems: string[],
): Readonly<Record<string, string>> {
  const pairs: Record<string, string> = {}
  for (const pair of (read(name) ?? '').split(',')) {
    if (pair.trim() === '') continue
    const at = pair.indexOf('=')
    const key = pair.slice(0, Math.max(0, at)).trim()
    const value = decoded(pair.slice(at + 1).trim())
    if (key === '' || value === undefined) {
      problems.push(`${name} must be a list such as key=value,key=value with URL-encoded values`)
      return {}
    }
    pairs[key] = value
  }
  return pairs
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const

const PARENT = 'parentbased_'

function readSampler(read: ReadVariable, problems: string[]): SamplerChoice {
  const given = read('OTEL_TRACES_SAMPLER') ?? `${PARENT}always_on`
  const followsParent = given.startsWith(PARENT)
  const name = followsParent ? given.slice(PARENT.length) : given
  const sampler = SAMPLERS.find((known) => known === name)
  if (sampler === undefined) {
    const known = SAMPLERS.flatMap((one) => [one, `${PARENT}${one}`])
    problems.push(`OTEL_TRACES_SAMPLER must be one of ${known.join(', ')}, got "${given}"`)
    return EVERYTHING
  }
  if (sampler === 'always_off') return { followsParent, ratio: 0 }
  return { followsParent, ratio: sampler === 'always_on' ? 1 : readRatio(read, problems) }
}

function readRatio(read: ReadVariable, problems: string[]): number {
  const given = read('OTEL_TRACES_SAMPLER_ARG') ?? '1'
  const ratio = Number(given)
  if (ratio >= 0 && ratio <= 1) return ratio
  problems.push(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, got "${given}"`)
  return 1
}

/** Lists the values to redact: of headers, with and without their scheme, and passwords of URLs. */
export function listTelemetrySecrets(
  headers: Readonly<Record<string, string>>,
  urls: readonly (string | undefined)[],
): readonly string[] {
  const values = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)])
  const passwords = urls.flatMap((url) =>
    url !== undefined && URL.canParse(url) ? [decoded(new URL(url).password) ?? ''] : [],
  )
  return [...new Set([...values, ...passwords])].filter(
    (secret) => secret.length >= MIN_SECRET_LENGTH,
  )
}

/** Minimum length of a secret: redacting shorter texts, such as `Basic`, would only garble the output. */
const MIN_SECRET_LENGTH = 8
