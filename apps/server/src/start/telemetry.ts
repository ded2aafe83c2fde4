/**
 * Exports traces of the runs that this process executes. OpenTelemetry is loaded only if traces are exported. Spans wait
 * in a bounded queue; if the collector does not respond, they are lost, with one warning.
 */
import type { Logger } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { programVersion } from '../program-version.ts'
import { DEFAULT_TRACES_URL, type SamplerChoice } from '../environment/telemetry-env.ts'

import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace-base'
import type { ModelCatalog } from '@tutti/ensemble'
import type { RunTracing } from '@tutti/telemetry'
import type { TelemetryConfig, TuttiConfig } from '../config/config.ts'
import type { Environment } from '../environment/env.ts'

/** Dependencies of the export. */
export interface TelemetryParts {
  readonly models: ModelCatalog
  readonly logger: Logger
}

/** Creates the tracing that config and environment describe; undefined when they disable it. */
export async function createTracing(
  { telemetry = {} }: Pick<TuttiConfig, 'telemetry'>,
  environment: Pick<Environment, 'telemetry' | 'role'>,
  { models, logger }: TelemetryParts,
): Promise<RunTracing | undefined> {
  const target = findTarget(telemetry, environment)
  if (target === undefined) return undefined
  const [
    { BatchSpanProcessor, ...sdk },
    { OTLPTraceExporter },
    resources,
    tutti,
    { providerName },
  ] = await Promise.all([
    import('@opentelemetry/sdk-trace-base'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@tutti/telemetry'),
    import('@tutti/telemetry/internal'),
  ])
  const { url, headers } = target
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers } })
  return tutti.traceRuns({
    processor: new BatchSpanProcessor(logFailures(exporter, url, logger)),
    resource: resources.defaultResource().merge(
      resources.resourceFromAttributes({
        'service.name': 'tutti',
        'service.version': programVersion(),
        'tutti.role': environment.role,
        ...target.resource,
      }),
    ),
    sampler: createSampler(target.sampler, sdk),
    captureContent: telemetry.captureContent === true,
    ...(telemetry.maxAddedTasks === undefined ? {} : { maxAddedTasks: telemetry.maxAddedTasks }),
    modelNames: (label) => {
      const model = models.find(label)
      if (model === undefined) return undefined
      return { provider: providerName(model.provider), model: model.name }
    },
    onError: (error) => {
      logger.warn('Failed to create the spans of a run', { error })
    },
  })
}

interface Target {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: SamplerChoice
}

/** Returns the receiver of traces; undefined for none. The config takes precedence over the environment. */
function findTarget(
  { traces }: TelemetryConfig,
  { telemetry }: Pick<Environment, 'telemetry'>,
): Target | undefined {
  const { isDisabled, tracesUrl, headers, serviceName, resource, sampler } = telemetry
  if (isDisabled || traces === false) return undefined
  const given = typeof traces === 'object' ? traces : {}
  const url = given.url ?? tracesUrl ?? (traces === undefined ? undefined : DEFAULT_TRACES_URL)
  if (url === undefined) return undefined
  const name = given.serviceName ?? serviceName
  return {
    url,
    headers: { ...headers, ...given.headers },
    resource: { ...resource, ...(name === undefined ? {} : { 'service.name': name }) },
    sampler:
      given.sampleRatio === undefined ? sampler : { followsParent: true, ratio: given.sampleRatio },
  }
}

function createSampler(
  { followsParent, ratio }: SamplerChoice,
  {
    ParentBasedSampler,
    TraceIdRatioBasedSampler,
    AlwaysOnSampler,
  }: Pick<
    typeof import('@opentelemetry/sdk-trace-base'),
    'ParentBasedSampler' | 'TraceIdRatioBasedSampler' | 'AlwaysOnSampler'
  >,
): Sampler {
  const root = ratio === 1 ? new AlwaysOnSampler() : new TraceIdRatioBasedSampler(ratio)
  return followsParent ? new ParentBasedSampler({ root }) : root
}

/** Wraps an exporter to log once when the collector becomes unreachable, and once when it is back. */
function logFailures(exporter: SpanExporter, url: string, logger: Logger): SpanExporter {
  let isLost = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { error } = result
        const isSent = error === undefined
        if (!isSent && !isLost) {
          const reason = errorMessage(error)
          const { origin } = new URL(url)
          logger.warn('Traces are lost: the collector is unreachable', { url: origin, reason })
        }
        if (isSent && isLost) logger.info('The trace collector is reachable again')
        isLost = !isSent
        done(result)
      })
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  }
}
