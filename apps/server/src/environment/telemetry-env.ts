/** Pure: the standard environment variables of OpenTelemetry. */
import {
  addProblem,
  decodePercents,
  listPasswords,
  oneOf,
  parseText,
  type Parsing,
  type Values,
  type VariableTable,
} from './variable.ts'

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

/** Address of a collector on this machine. @see https://opentelemetry.io/docs/specs/otlp/#otlphttp-default-port */
export const DEFAULT_TRACES_URL = 'http://localhost:4318/v1/traces'

/** Values of OTEL_TRACES_SAMPLER. */
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

/** Export of traces. @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
export const TELEMETRY = {
  isDisabled: {
    name: 'OTEL_SDK_DISABLED',
    fallback: 'false',
    meaning: 'true: no traces are sent',
    parse: (text) => text.toLowerCase() === 'true',
  },
  exporter: {
    name: 'OTEL_TRACES_EXPORTER',
    fallback: 'otlp',
    meaning: 'none: no traces are sent',
    parse: oneOf(['otlp', 'none']),
  },
  endpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    meaning: 'collector that receives traces, below /v1/traces',
    parse: parseText,
    listSecrets: listPasswords,
  },
  tracesEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    byDefault: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    meaning: 'complete address that receives traces',
    parse: parseText,
    listSecrets: listPasswords,
  },
  protocol: {
    name: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    byDefault: 'http/json',
    meaning: 'any protocol over HTTP; traces are sent as JSON',
    parse: parseText,
  },
  tracesProtocol: {
    name: 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
    byDefault: 'OTEL_EXPORTER_OTLP_PROTOCOL',
    meaning: 'the same for traces',
    parse: parseText,
  },
  headers: {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    fallback: '',
    byDefault: 'none',
    meaning: 'headers for the collector, as key=value,key=value with URL-encoded values',
    parse: parsePairs,
    listSecrets: listHeaderSecrets,
  },
  tracesHeaders: {
    name: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
    fallback: '',
    byDefault: 'none',
    meaning: 'additional headers for traces',
    parse: parsePairs,
    listSecrets: listHeaderSecrets,
  },
  serviceName: {
    name: 'OTEL_SERVICE_NAME',
    byDefault: 'tutti',
    meaning: 'name of this service in traces',
    parse: parseText,
  },
  resource: {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    fallback: '',
    byDefault: 'none',
    meaning: 'additional resource attributes, as key=value,key=value with URL-encoded values',
    parse: parsePairs,
  },
  sampler: {
    name: 'OTEL_TRACES_SAMPLER',
    fallback: 'parentbased_always_on',
    meaning: `traces to record: ${SAMPLERS.join(', ')}`,
    parse: oneOf(SAMPLERS),
  },
  ratio: {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    fallback: '1',
    meaning: 'share of the traces that a traceidratio sampler records, from 0 to 1',
    parse: parseRatio,
  },
} as const satisfies VariableTable

/**
 * Returns the settings, and adds problems of their values. Variables for traces take precedence over those for all
 * signals, which are then not checked: other programs may need them in another form.
 */
export function toTelemetry(
  values: Values<typeof TELEMETRY>,
  problems: string[],
): TelemetryEnvironment {
  const { isDisabled, exporter, headers, tracesHeaders, serviceName, resource } = values
  const { sampler, ratio } = values
  if (values.tracesProtocol !== undefined) {
    checkProtocol(values.tracesProtocol, { name: TELEMETRY.tracesProtocol.name, problems })
  } else if (values.protocol !== undefined) {
    checkProtocol(values.protocol, { name: TELEMETRY.protocol.name, problems })
  }
  return {
    isDisabled: isDisabled || exporter === 'none',
    tracesUrl: readTracesUrl(values, problems),
    headers: { ...headers, ...tracesHeaders },
    serviceName,
    resource,
    sampler: {
      followsParent: sampler.startsWith('parentbased_'),
      ratio: sampler.endsWith('always_off') ? 0 : sampler.endsWith('always_on') ? 1 : ratio,
    },
  }
}

/** Returns the address for traces, or derives it from the address for all signals. */
function readTracesUrl(
  { endpoint, tracesEndpoint }: Values<typeof TELEMETRY>,
  problems: string[],
): string | undefined {
  if (tracesEndpoint !== undefined) {
    return parseHttpUrl(tracesEndpoint, { name: TELEMETRY.tracesEndpoint.name, problems })
  }
  if (endpoint === undefined) return undefined
  const url = parseHttpUrl(endpoint, { name: TELEMETRY.endpoint.name, problems })
  return url === undefined ? undefined : `${url.replace(/\/$/, '')}/v1/traces`
}

/** Parses the address of a collector. It can contain a password, so no problem shows it. */
function parseHttpUrl(url: string, parsing: Parsing): string | undefined {
  if (/^https?:\/\/./.test(url) && URL.canParse(url)) return url
  return addProblem(parsing, 'must be a URL such as http://localhost:4318')
}

function checkProtocol(protocol: string, parsing: Parsing): void {
  if (protocol.startsWith('http/')) return
  addProblem(
    parsing,
    `must start with "http/", as traces are sent as JSON over HTTP, got "${protocol}"`,
  )
}

/** Parses `key=value,key=value`, with percent-encoded values. They can be secrets, so no problem shows them. */
function parsePairs(text: string, parsing: Parsing): Readonly<Record<string, string>> | undefined {
  const pairs: Record<string, string> = {}
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const at = pair.indexOf('=')
    const key = pair.slice(0, Math.max(0, at)).trim()
    const value = decodePercents(pair.slice(at + 1).trim())
    if (key === '' || value === undefined) {
      return addProblem(
        parsing,
        'must be a list such as key=value,key=value with URL-encoded values',
      )
    }
    pairs[key] = value
  }
  return pairs
}

/** Parses the share of the traces to record. */
function parseRatio(text: string, parsing: Parsing): number | undefined {
  const ratio = Number(text)
  if (ratio >= 0 && ratio <= 1) return ratio
  return addProblem(parsing, `must be a number from 0 to 1, got "${text}"`)
}

/** Lists the secrets in a variable with headers. */
function listHeaderSecrets(text: string): readonly string[] {
  return listTelemetrySecrets(parsePairs(text, { name: '', problems: [] }) ?? {}, [])
}

/** Lists the values to redact: of headers, with and without their scheme, and passwords of URLs. */
export function listTelemetrySecrets(
  headers: Readonly<Record<string, string>>,
  urls: readonly (string | undefined)[],
): readonly string[] {
  const values = Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)])
  const passwords = urls.flatMap((url) => (url === undefined ? [] : listPasswords(url)))
  return [...new Set([...values, ...passwords])].filter(
    (secret) => secret.length >= MIN_SECRET_LENGTH,
  )
}

/** Minimum length of a secret: redacting shorter texts, such as `Basic`, would only garble the output. */
const MIN_SECRET_LENGTH = 8
