/** How runs are traced. */
import type { Sampler, ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base'

/** Who a model is; what is not known is left out. */
export type ModelNames = (
  label: string,
) => { readonly provider?: string | undefined; readonly model?: string | undefined } | undefined

/** Options of tracing. */
export interface TraceRunsOptions {
  /**
   * Takes each span when it has ended, such as a `BatchSpanProcessor` over an exporter. Its `onStart` is not called: a
   * span is made when its end is known. What it throws is told to `onError`.
   */
  readonly processor: Pick<SpanProcessor, 'onEnd' | 'forceFlush' | 'shutdown'>
  /** Where spans come from, as `resourceFromAttributes` makes it. @default `service.name: tutti` */
  readonly resource?: ReadableSpan['resource']
  /**
   * Whether a new trace is recorded, and one that a run is asked for in. @default what the caller's `traceparent`
   * says; every new one
   */
  readonly sampler?: Sampler
  /** Whether spans hold what models, tools and people say. It may be private. @default false */
  readonly captureContent?: boolean
  /**
   * Who is behind the name that events give a model: an alias of a catalog, or `provider:name`, such as
   * `anthropic:claude-haiku-4-5`. What it does not know is read from the name.
   */
  readonly modelNames?: ModelNames
  /** Takes out of a text what nobody is to read. Events of a server come without it. @default nothing is taken out */
  readonly redact?: (text: string) => string
  /** Told of what failed while spans were made or handed on. Runs never notice. @default nobody is told */
  readonly onError?: (error: unknown) => void
}

/** The same with every value present, but for the sampler. */
export type ResolvedTraceRunsOptions = Required<Omit<TraceRunsOptions, 'sampler'>> & {
  readonly sampler: Sampler | undefined
}

/** Fills options. */
export function resolveTraceRunsOptions(options: TraceRunsOptions): ResolvedTraceRunsOptions {
  const { processor, sampler, resource = ownResource(), captureContent = false } = options
  const { redact = (text) => text } = options
  const modelNames: ModelNames = (label) => options.modelNames?.(label) ?? namesInLabel(label)
  const { onError = () => undefined } = options
  return { processor, sampler, resource, captureContent, modelNames, redact, onError }
}

/** Providers as the GenAI conventions name them, where that is not the name that LangChain has. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'google-genai': 'gcp.gemini',
  'google-vertexai': 'gcp.vertex_ai',
  google: 'gcp.gen_ai',
  mistralai: 'mistral_ai',
  bedrock: 'aws.bedrock',
  azure_openai: 'azure.ai.openai',
  xai: 'x_ai',
}

/** The name of a provider in the GenAI conventions. */
export function providerName(provider: string): string {
  return PROVIDERS[provider] ?? provider
}

const namesInLabel: ModelNames = (label) => {
  const at = label.indexOf(':')
  if (at <= 0) return undefined
  return { provider: providerName(label.slice(0, at)), model: label.slice(at + 1) }
}

function ownResource(attributes = { 'service.name': 'tutti' }): ReadableSpan['resource'] {
  const resource: ReadableSpan['resource'] = {
    attributes,
    merge: (other) => ownResource({ ...attributes, ...other?.attributes }),
    getRawAttributes: () => Object.entries(attributes),
  }
  return resource
}
