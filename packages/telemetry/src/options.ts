/** Options of tracing. */
import { MAX_COUNT } from '@tutti/protocol/internal'

import type { Sampler, ReadableSpan, SpanProcessor } from '@opentelemetry/sdk-trace-base'

/** Returns the provider and the name of a model; unknown parts are omitted. */
export type ModelNames = (
  label: string,
) => { readonly provider?: string | undefined; readonly model?: string | undefined } | undefined

/** Settings of {@link traceRuns}. Only `processor` is required. */
export interface TraceRunsOptions {
  /**
   * Receives each span when it has ended, such as a `BatchSpanProcessor` with an exporter. Its `onStart` is not called,
   * because a span is created when its end is known. Exceptions that it throws are passed to `onError`.
   */
  readonly processor: Pick<SpanProcessor, 'onEnd' | 'forceFlush' | 'shutdown'>
  /** Resource of the spans, as `resourceFromAttributes` creates it. @default `service.name: tutti` */
  readonly resource?: ReadableSpan['resource']
  /**
   * Decides whether a new trace, or the trace of the caller, is recorded. @default the flag of the caller's
   * `traceparent`; every new trace
   */
  readonly sampler?: Sampler
  /** Whether spans contain what models, tools and people say, which may be private. @default false */
  readonly captureContent?: boolean
  /**
   * Maximum number of tasks with spans that one task adds, such as by `forEach`; in a run, ten times as many. Others are
   * counted on the span of the task that added them, with their usage. As many failed attempts of them have a span.
   *
   * @default 100
   */
  readonly maxAddedTasks?: number
  /**
   * Resolves the name of a model in events: an alias of a catalog, or `provider:name`, such as
   * `anthropic:claude-haiku-4-5`. If it returns undefined, provider and model are read from the name.
   */
  readonly modelNames?: ModelNames
  /** Removes secrets from a text. Events of a server are already redacted. @default returns the text unchanged */
  readonly redact?: (text: string) => string
  /** Called with errors of tracing, which never affect runs. @default errors are ignored */
  readonly onError?: (error: unknown) => void
}

/** Options with their defaults applied. */
export type ResolvedTraceRunsOptions = Required<Omit<TraceRunsOptions, 'sampler'>> & {
  readonly sampler: Sampler | undefined
}

/** Applies defaults. @throws {RangeError} if `maxAddedTasks` is not a count. */
export function resolveTraceRunsOptions(options: TraceRunsOptions): ResolvedTraceRunsOptions {
  const { processor, sampler, resource = ownResource(), captureContent = false } = options
  const { redact = (text) => text, maxAddedTasks = MAX_ADDED_TASKS } = options
  if (!Number.isSafeInteger(maxAddedTasks) || maxAddedTasks < 0 || maxAddedTasks > MAX_COUNT) {
    throw new RangeError(
      `maxAddedTasks must be a whole number from 0 to ${MAX_COUNT}, got ${maxAddedTasks}`,
    )
  }
  const modelNames: ModelNames = (label) => options.modelNames?.(label) ?? namesInLabel(label)
  const { onError = () => undefined } = options
  return {
    processor,
    sampler,
    resource,
    captureContent,
    maxAddedTasks,
    modelNames,
    redact,
    onError,
  }
}

/** Default of `maxAddedTasks`. */
const MAX_ADDED_TASKS = 100

/** LangChain's name of a provider → that of the GenAI conventions, where they differ. */
const PROVIDERS: Readonly<Record<string, string>> = {
  'google-genai': 'gcp.gemini',
  'google-vertexai': 'gcp.vertex_ai',
  google: 'gcp.gen_ai',
  mistralai: 'mistral_ai',
  bedrock: 'aws.bedrock',
  azure_openai: 'azure.ai.openai',
  xai: 'x_ai',
}

/** Returns the name of a provider in the GenAI conventions. */
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
