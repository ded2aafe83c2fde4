/** Pure: what the environment says of OpenTelemetry, by the names that OpenTelemetry has given it. */

/** What the environment says of traces. */
export interface TelemetryEnvironment {
  /** Whether nothing is to be sent, whatever else is said. */
  readonly isDisabled: boolean
  /** Address that takes traces; undefined when none is named. */
  readonly tracesUrl: string | undefined
  /** Headers of what is sent there; their values are secrets. */
  readonly headers: Readonly<Record<string, string>>
  readonly serviceName: string | undefined
  /** More attributes of this process. */
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: SamplerChoice
}

/** Which traces are recorded. */
export interface SamplerChoice {
  /** Whether who asks decides about the traces that it begins. */
  readonly asksParent: boolean
  /** How many of the others: 1 is all. */
  readonly ratio: number
}

/** Reads a variable; one that is empty counts as not set. */
export type ReadVariable = (name: string) => string | undefined

const EVERYTHING: SamplerChoice = { asksParent: true, ratio: 1 }

/** Where a collector on this machine listens. @see https://opentelemetry.io/docs/specs/otlp/#otlphttp-default-port */
export const DEFAULT_TRACES_URL = 'http://localhost:4318/v1/traces'

/**
 * Reads the variables, and adds what does not fit to `problems`. No problem shows a header.
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
      `OTEL_EXPORTER_OTLP_PROTOCOL must be "http/json" or "http/protobuf": traces are sent as JSON over HTTP, got "${protocol}"`,
    )
  }
  return {
    isDisabled: read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none',
    tracesUrl: readUrl(read, problems),
    headers: {
      ...pairsOf(read, 'OTEL_EXPORTER_OTLP_HEADERS', problems),
      ...pairsOf(read, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', problems),
    },
    serviceName: read('OTEL_SERVICE_NAME'),
    resource: pairsOf(read, 'OTEL_RESOURCE_ATTRIBUTES', problems),
    sampler: readSampler(read, problems),
  }
}

/** The address of traces as it is, or made of the address of everything. */
function readUrl(read: ReadVariable, problems: string[]): string | undefined {
  const own = httpUrl(read, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', problems)
  if (own !== undefined) return own
  const all = httpUrl(read, 'OTEL_EXPORTER_OTLP_ENDPOINT', problems)
  return all === undefined ? undefined : `${all.replace(/\/$/, '')}/v1/traces`
}

function httpUrl(read: ReadVariable, name: string, problems: string[]): string | undefined {
  const url = read(name)
  if (url === undefined || (/^https?:\/\/./.test(url) && URL.canParse(url))) return url
  problems.push(`${name} must be a URL such as http://localhost:4318`)
  return undefined
}

/** `key=value,key=value`, with what is percent-encoded in the values decoded. */
function pairsOf(
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
      problems.push(`${name} must be a list such as key=value,key=value, with values URL-encoded`)
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
  const asksParent = given.startsWith(PARENT)
  const name = asksParent ? given.slice(PARENT.length) : given
  const sampler = SAMPLERS.find((known) => known === name)
  if (sampler === undefined) {
    const known = SAMPLERS.flatMap((one) => [one, `${PARENT}${one}`])
    problems.push(`OTEL_TRACES_SAMPLER must be one of ${known.join(', ')}, got "${given}"`)
    return EVERYTHING
  }
  if (sampler === 'always_off') return { asksParent, ratio: 0 }
  return { asksParent, ratio: sampler === 'always_on' ? 1 : readRatio(read, problems) }
}

function readRatio(read: ReadVariable, problems: string[]): number {
  const given = read('OTEL_TRACES_SAMPLER_ARG') ?? '1'
  const ratio = Number(given)
  if (ratio >= 0 && ratio <= 1) return ratio
  problems.push(`OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1, got "${given}"`)
  return 1
}

/** Values that no log, error or event may show: those of the headers, with and without what says their kind. */
export function telemetrySecrets(
  headers: Readonly<Record<string, string>>,
  urls: readonly (string | undefined)[],
): readonly string[] {
  const values = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)])
  const passwords = urls.flatMap((url) =>
    url !== undefined && URL.canParse(url) ? [decoded(new URL(url).password) ?? ''] : [],
  )
  return [...new Set([...values, ...passwords])].filter((secret) => secret.length >= MIN_SECRET)
}

/** Shorter texts, such as `Basic`, are no secrets; to take them out would only spoil what is shown. */
const MIN_SECRET = 8
