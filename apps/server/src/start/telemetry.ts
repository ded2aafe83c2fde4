/**
 * Traces of the runs that this process executes. Nothing of OpenTelemetry is loaded unless traces are to be sent
 * somewhere; what is sent waits in a queue with a bound, and a collector that does not answer costs spans, and one
 * warning.
 */
import { errorMessage, type Logger } from '@tutti/core'

import { programVersion } from '../cli/program-version.ts'
import { DEFAULT_TRACES_URL, type SamplerChoice } from '../environment/telemetry-env.ts'

import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace-base'
import type { ModelCatalog } from '@tutti/ensemble'
import type { RunTracing } from '@tutti/telemetry'
import type { TelemetryConfig, TuttiConfig } from '../config/config.ts'
import type { Environment } from '../environment/env.ts'

/** What traces are made with. */
export interface TelemetryParts {
  readonly models: ModelCatalog
  readonly logger: Logger
}

/** Traces runs as config and environment say; undefined when nobody wants that. */
export async function tracingOf(
  { telemetry = {} }: Pick<TuttiConfig, 'telemetry'>,
  environment: Pick<Environment, 'telemetry' | 'role'>,
  { models, logger }: TelemetryParts,
): Promise<RunTracing | undefined> {
  const target = targetOf(telemetry, environment)
  if (target === undefined) return undefined
  const [{ BatchSpanProcessor, ...sdk }, { OTLPTraceExporter }, resources, tutti] =
    await Promise.all([
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@tutti/telemetry'),
    ])
  const { url, headers } = target
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers } })
  return tutti.traceRuns({
    processor: new BatchSpanProcessor(watched(exporter, url, logger)),
    resource: resources.defaultResource().merge(
      resources.resourceFromAttributes({
        'service.name': 'tutti',
        'service.version': programVersion(),
        'tutti.role': environment.role,
        ...target.resource,
      }),
    ),
    sampler: samplerOf(target.sampler, sdk),
    captureContent: telemetry.captureContent === true,
    modelNames: (label) => {
      const model = models.find(label)
      if (model === undefined) return undefined
      return { provider: tutti.providerName(model.provider), model: model.name }
    },
    onError: (error) => {
      logger.warn('The spans of a run could not be made', { error })
    },
  })
}

interface Target {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: SamplerChoice
}

/** Where traces are sent; undefined for nowhere. What the config says wins over the environment. */
function targetOf(
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
      given.sampleRatio === undefined ? sampler : { asksParent: true, ratio: given.sampleRatio },
  }
}

function samplerOf(
  { asksParent, ratio }: SamplerChoice,
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
  return asksParent ? new ParentBasedSampler({ root }) : root
}

/** Says once that nothing arrives, and once that it does again. */
function watched(exporter: SpanExporter, url: string, logger: Logger): SpanExporter {
  let isLost = false
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const { error } = result
        const isSent = error === undefined
        if (!isSent && !isLost) {
          const reason = errorMessage(error)
          const { origin } = new URL(url)
          logger.warn('Traces do not reach their collector and are lost', { url: origin, reason })
        }
        if (isSent && isLost) logger.info('Traces reach their collector again')
        isLost = !isSent
        done(result)
      })
    },
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    shutdown: () => exporter.shutdown(),
  }
}
