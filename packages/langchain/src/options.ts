/** Source of a LangChain model, and settings of its calls. */
import { systemClock, type Clock } from '@tutti/core'
import { findExcessProblems, MAX_TIMER_MS, suggest } from '@tutti/core/internal'

import { hasStructuredMode, providerFacts, PROVIDERS, type ModelIdentity } from './providers.ts'

import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

/**
 * Source of the model: `provider:model` such as `anthropic:claude-sonnet-4-5`, an instance, or a function that
 * creates one at the first use.
 */
export type LangchainSource =
  | string
  | BaseChatModel
  | (() => BaseChatModel | Promise<BaseChatModel>)

/** Options for creating and calling a model. */
export interface LangchainModelOptions {
  /** Provider of the model, for a source that is not a string. @default the one that the model reports */
  readonly provider?: string
  /** Provider's name of the model, for a source that is not a string. Both are required for a function. */
  readonly name?: string
  /** Randomness, from 0; the upper end is the provider's. @default the provider's */
  readonly temperature?: number
  /** Maximum length of an answer in tokens, at least 1. @default the provider's; for Anthropic, LangChain's */
  readonly maxTokens?: number
  /**
   * Time limit of one call from its start to the whole answer, in milliseconds; 0 for none.
   * @default 600000
   */
  readonly timeoutMs?: number
  /**
   * Whether the model receives the schema of an answer and follows it. @default true for models of
   * OpenAI and Anthropic that are known by name to have such a mode, false for all others
   */
  readonly structuredOutput?: boolean
  /** API key. @default the provider's variable, such as `ANTHROPIC_API_KEY` */
  readonly apiKey?: string
  /**
   * Address of an OpenAI-compatible service (up to and with `/v1`), of an Anthropic-compatible one (without
   * `/v1`), of Groq, Gemini or Ollama. For other providers use `modelOptions`. @default `OPENAI_BASE_URL` or
   * `ANTHROPIC_BASE_URL`, else the provider's own address
   */
  readonly baseUrl?: string
  /** Further fields for the constructor of the LangChain class, except `maxRetries`; they take precedence. */
  readonly modelOptions?: Readonly<Record<string, unknown>>
  /** Clock for the limit. @default systemClock */
  readonly clock?: Clock
}

/** Settings for creating the model. */
export type ResolvedSource =
  | { readonly kind: 'named'; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: 'made'; readonly make: () => BaseChatModel | Promise<BaseChatModel> }

/** Options with all defaults applied. */
export interface ResolvedOptions {
  readonly identity: ModelIdentity
  readonly source: ResolvedSource
  readonly timeoutMs: number
  readonly structuredOutput: boolean
  /** Texts that no message may contain. */
  readonly secrets: readonly string[]
  readonly clock: Clock
}

const DEFAULTS = {
  /** The default of both providers' clients. Theirs ends with the first byte, ours with the last. */
  timeoutMs: 600_000,
} as const

/** Options for creating a model, which are not allowed for an instance. */
const MAKING = ['temperature', 'maxTokens', 'apiKey', 'baseUrl', 'modelOptions'] as const

/**
 * Applies defaults and validates the options.
 *
 * @throws {TypeError} naming every problem.
 */
export function resolveOptions(
  source: LangchainSource,
  options: LangchainModelOptions,
): ResolvedOptions {
  const problems: string[] = []
  const identity = identify(source, options)
  if (identity.provider === '') problems.push(missing('provider', source))
  if (identity.name === '') problems.push(missing('name', source))
  const named = typeof source === 'string'
  problems.push(...(named ? namedProblems(identity, options) : listModelProblems(options)))
  problems.push(...callProblems(options))
  if (problems.length > 0) {
    const list = [...new Set(problems)].join('; ')
    throw new TypeError(`Cannot create model ${formatLabel(source, identity)}: ${list}`)
  }
  return {
    identity,
    source: named
      ? { kind: 'named', fields: toFields(identity, options) }
      : resolveModelSource(source),
    timeoutMs: options.timeoutMs ?? DEFAULTS.timeoutMs,
    structuredOutput: options.structuredOutput ?? hasStructuredMode(identity),
    secrets: options.apiKey === undefined ? [] : [options.apiKey],
    clock: options.clock ?? systemClock,
  }
}

function identify(source: LangchainSource, options: LangchainModelOptions): ModelIdentity {
  const { provider, name } = options
  const found = { provider: '', name: '', ...readIdentity(source) }
  return { provider: provider ?? found.provider, name: name ?? found.name }
}

function readIdentity(source: LangchainSource): Partial<ModelIdentity> {
  if (typeof source === 'function') return {}
  if (typeof source === 'string') {
    const colon = source.indexOf(':')
    return colon < 0 ? {} : { provider: source.slice(0, colon), name: source.slice(colon + 1) }
  }
  return { provider: source._llmType(), name: readModelName(source) }
}

/** Most LangChain classes keep the name in `model`, older ones in `modelName`. */
function readModelName(model: BaseChatModel): string {
  if ('model' in model && typeof model.model === 'string') return model.model
  if ('modelName' in model && typeof model.modelName === 'string') return model.modelName
  return model.getName()
}

function missing(what: 'provider' | 'name', source: LangchainSource): string {
  if (typeof source !== 'string') return `${what} must be set in the options`
  return 'expected provider:name, for example openai:gpt-5'
}

function formatLabel(source: LangchainSource, { provider, name }: ModelIdentity): string {
  if (typeof source === 'string') return JSON.stringify(source)
  return JSON.stringify([provider, name].filter((part) => part !== '').join(':'))
}

function namedProblems(identity: ModelIdentity, options: LangchainModelOptions): string[] {
  const { baseUrl, apiKey, maxTokens, temperature } = options
  const problems: string[] = []
  if (identity.provider !== '' && providerFacts(identity.provider) === undefined) {
    problems.push(unknownProvider(identity.provider))
  }
  for (const key of ['provider', 'name'] as const) {
    if (options[key] !== undefined) problems.push(`${key} is already part of the string`)
  }
  if (apiKey?.trim() === '') problems.push('apiKey must not be blank')
  if (maxTokens !== undefined && !isInteger(maxTokens, 1)) {
    problems.push(`maxTokens must be an integer >= 1, got ${maxTokens}`)
  }
  problems.push(...findExcessProblems({ maxTokens, temperature }))
  if (temperature !== undefined && !(Number.isFinite(temperature) && temperature >= 0)) {
    problems.push(`temperature must be a number >= 0, got ${temperature}`)
  }
  if (baseUrl === undefined) return problems
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? '')) {
    problems.push(`baseUrl must be an http or https address, got ${JSON.stringify(baseUrl)}`)
  }
  if (providerFacts(identity.provider)?.addressFields === undefined) {
    problems.push(
      `baseUrl is not known for ${identity.provider}; give its own field in modelOptions`,
    )
  }
  return problems
}

/** Provider of the models of a family, whose name is often used instead. */
const PROVIDER_OF_FAMILY: ReadonlyMap<string, string> = new Map([
  ['claude', 'anthropic'],
  ['gemini', 'google-genai'],
  ['gpt', 'openai'],
  ['grok', 'xai'],
  ['vertex', 'google-vertexai'],
  ['vertexai', 'google-vertexai'],
])

function unknownProvider(provider: string): string {
  const names = Object.keys(PROVIDERS)
  const meant = PROVIDER_OF_FAMILY.get(provider.toLowerCase()) ?? suggest(provider, names)
  const hint = meant === undefined ? `known: ${names.join(', ')}` : `did you mean "${meant}"?`
  return `LangChain has no provider "${provider}" (${hint})`
}

function listModelProblems(options: LangchainModelOptions): string[] {
  return MAKING.filter((key) => options[key] !== undefined).map(
    (key) => `${key} must be set on the LangChain model itself`,
  )
}

function callProblems({ timeoutMs = 0, modelOptions = {} }: LangchainModelOptions): string[] {
  const problems: string[] = []
  if (!(timeoutMs >= 0 && timeoutMs <= MAX_TIMER_MS)) {
    problems.push(`timeoutMs must be from 0 to ${MAX_TIMER_MS}, got ${timeoutMs}`)
  }
  if ('maxRetries' in modelOptions) {
    problems.push(
      'modelOptions must not hold maxRetries: the engine retries and reports it in events',
    )
  }
  return problems
}

function isInteger(value: number, least: number): boolean {
  return Number.isSafeInteger(value) && value >= least
}

function toFields(
  { provider, name }: ModelIdentity,
  { temperature, maxTokens, apiKey, baseUrl, modelOptions = {} }: LangchainModelOptions,
): Readonly<Record<string, unknown>> {
  const { limitField = 'maxTokens', addressFields } = providerFacts(provider) ?? {}
  const given = { temperature, [limitField]: maxTokens, apiKey }
  return {
    model: name,
    maxRetries: 0,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...modelOptions,
    ...(baseUrl === undefined ? {} : addressFields?.(baseUrl, modelOptions)),
  }
}

function resolveModelSource(source: Exclude<LangchainSource, string>): ResolvedSource {
  return { kind: 'made', make: typeof source === 'function' ? source : () => source }
}
